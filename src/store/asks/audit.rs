//! The audit log: one row per ask, read page by page and deleted after a retention period.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{PgPool, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    audit::AuditOutcome,
    citation::{CitationError, Level},
    corrective::Grade,
    fingerprint::{Hash, hex},
    identity::TenantId,
};
use crate::store::{Asks, StoreError, group_writer::Recorded};

/// Most rows that one sweep statement deletes, so that it never holds many locks.
const SWEEP_ROWS: i64 = 5_000;

/// A row of the audit log. The fields have the names of the table's columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AuditRow {
    /// Owner.
    pub(crate) tenant_id: Uuid,
    /// Identity of the ask.
    pub(crate) ask_id: Uuid,
    /// Time of the ask.
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) asked_at: OffsetDateTime,
    /// Identity of the request.
    pub(crate) request_id: Option<String>,
    /// Id of the API key that sent the ask.
    pub(crate) key_id: Option<String>,
    /// Outcome of the ask.
    pub(crate) outcome: AuditOutcome,
    /// Reason for the outcome, if there is one.
    pub(crate) reason: Option<String>,
    /// The question, if the deployment keeps questions.
    pub(crate) question: Option<String>,
    /// SHA-256 of the question.
    pub(crate) question_sha256: Digest,
    /// Collections that were to be searched.
    pub(crate) collections: Vec<String>,
    /// Whether the answer was streamed.
    pub(crate) is_stream: bool,
    /// Requested level.
    pub(crate) level: Level,
    /// Applied level.
    pub(crate) effective_level: Level,
    /// Number of drafts that were generated.
    pub(crate) drafts: u8,
    /// Citation errors of the last draft.
    pub(crate) errors: Vec<CitationError>,
    /// Kinds of warnings.
    pub(crate) warnings: Vec<String>,
    /// Provider that wrote the answer.
    pub(crate) provider: Option<String>,
    /// Model that wrote the answer.
    pub(crate) model: Option<String>,
    /// Identifies the deployment's instructions to the models; `None` if there are none.
    pub(crate) instructions_sha256: Option<Digest>,
    /// All providers that were involved in the ask.
    pub(crate) providers: Vec<String>,
    /// Model calls.
    pub(crate) calls: Value,
    /// Temperature as sent with the last draft.
    pub(crate) temperature: Option<f32>,
    /// Seed as sent with the last draft.
    pub(crate) seed: Option<u64>,
    /// Number of chat model calls.
    pub(crate) llm_calls: u32,
    /// Prompt tokens.
    pub(crate) prompt_tokens: u64,
    /// Completion tokens.
    pub(crate) completion_tokens: u64,
    /// Whether some token counts are local estimates.
    pub(crate) is_estimated: bool,
    /// Cost in billionths of a US dollar.
    pub(crate) cost_nano_usd: u64,
    /// Search queries, if the deployment keeps questions.
    pub(crate) queries: Vec<String>,
    /// URNs of the sources in marker order.
    pub(crate) sources: Vec<String>,
    /// Citations of the answer.
    pub(crate) citations: Vec<AuditCitation>,
    /// Grades of the passages that were found.
    pub(crate) grades: Vec<AuditGrade>,
    /// Whether the answer came from the cache.
    pub(crate) is_cache_hit: bool,
    /// SHA-256 of the answer's text.
    pub(crate) answer_sha256: Option<Digest>,
    /// The answer, if the deployment keeps answers.
    pub(crate) answer: Option<String>,
    /// Milliseconds by stage.
    pub(crate) timings_ms: Value,
}

/// A citation as stored in the audit log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AuditCitation {
    /// Number in the marker.
    pub(crate) marker: u32,
    /// The passage.
    pub(crate) urn: String,
    /// Score of how well the passage supports its claim.
    pub(crate) support: f32,
}

/// The grade of a passage as stored in the audit log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AuditGrade {
    /// The passage.
    pub(crate) urn: String,
    /// Its grade.
    pub(crate) grade: Grade,
    /// The grader: a model or the built-in one.
    pub(crate) by: String,
}

/// A SHA-256 in the form that Postgres reads and writes `bytea`: `\x` and hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Digest(String);

impl Digest {
    /// Hexadecimal digits alone.
    #[must_use]
    pub(crate) fn hex(&self) -> &str {
        self.0.strip_prefix("\\x").unwrap_or(&self.0)
    }
}

impl From<Hash> for Digest {
    fn from(hash: Hash) -> Self {
        Self(format!("\\x{}", hex(&hash)))
    }
}

/// Filter for rows of the audit log.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditFilter {
    /// Only the row of this ask.
    pub(crate) ask_id: Option<Uuid>,
    /// Only asks that searched nothing but collections with these names.
    pub(crate) among: Option<Vec<String>>,
    /// Only rows that sort before this ask, that is, older ones.
    pub(crate) before: Option<Uuid>,
    /// Only with this outcome.
    pub(crate) outcome: Option<AuditOutcome>,
    /// Only asks of this request.
    pub(crate) request_id: Option<String>,
    /// Only asks sent with this key.
    pub(crate) key_id: Option<String>,
    /// Only asks in which this provider was involved.
    pub(crate) provider: Option<String>,
    /// Only asked at this time or later.
    pub(crate) asked_from: Option<OffsetDateTime>,
    /// Only asked before this time.
    pub(crate) asked_before: Option<OffsetDateTime>,
}

impl Recorded for AuditRow {
    const RECORD: &'static str = "audit rows";

    async fn insert(pool: &PgPool, rows: &[&Self]) -> Result<(), sqlx::Error> {
        sqlx::query!("SELECT write_ask_audit($1)", Json(rows) as _).execute(pool).await?;
        Ok(())
    }
}

impl Asks<'_> {
    /// Writes a row, in one statement with the rows of other asks that end at the same time; a second row of the same
    /// ask is ignored.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn write_audit(&self, row: Arc<AuditRow>) -> Result<(), StoreError> {
        self.store.audit.write(row).await
    }

    /// Rows of a tenant, newest first.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn audit(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        limit: i64,
    ) -> Result<Vec<AuditRow>, StoreError> {
        let mut reading = self.store.begin_first_read(tenant).await?;
        let rows = sqlx::query_scalar!(
            r#"SELECT to_jsonb(a) AS "row!: Json<AuditRow>" FROM ask_audit a
               WHERE a.tenant_id = $1 AND ($2::uuid IS NULL OR a.ask_id = $2) AND ($3::uuid IS NULL OR a.ask_id < $3)
                 AND ($4::text IS NULL OR a.outcome = $4) AND ($5::text IS NULL OR a.key_id = $5)
                 AND ($6::text IS NULL OR $6 = ANY (a.providers) OR a.provider = $6)
                 AND ($7::timestamptz IS NULL OR a.asked_at >= $7) AND ($8::timestamptz IS NULL OR a.asked_at < $8)
                 AND ($10::text IS NULL OR a.request_id = $10)
                 AND ($11::text[] IS NULL OR a.collections <@ $11)
               ORDER BY a.ask_id DESC LIMIT $9"#,
            tenant.0,
            filter.ask_id,
            filter.before,
            filter.outcome.map(AuditOutcome::as_str),
            filter.key_id,
            filter.provider,
            filter.asked_from,
            filter.asked_before,
            limit,
            filter.request_id,
            filter.among.as_deref(),
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        Ok(rows.into_iter().map(|Json(row)| row).collect())
    }

    /// Deletes some of the rows older than `before`, of every tenant, and returns how many. One call may leave older
    /// rows in the table: call it again until it returns 0.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn forget_audit(&self, before: OffsetDateTime) -> Result<u64, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        // A BRIN index can only be read by bitmap scans.
        sqlx::query!("SET LOCAL enable_bitmapscan = on").execute(&mut *transaction).await?;
        let forgotten = sqlx::query!(
            "DELETE FROM ask_audit WHERE (tenant_id, ask_id) IN
                 (SELECT tenant_id, ask_id FROM ask_audit WHERE asked_at < $1 LIMIT $2)",
            before,
            SWEEP_ROWS,
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        transaction.commit().await?;
        Ok(forgotten)
    }
}
