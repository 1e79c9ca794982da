//! The audit: a row per ask, read page by page, forgotten after a while.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    audit::AuditOutcome,
    citation::{CitationError, Level},
    fingerprint::{Hash, hex},
    identity::TenantId,
};
use crate::store::{Asks, StoreError};

/// Rows that the sweep deletes at once, so that it never holds many locks.
const SWEEP_ROWS: i64 = 5_000;

/// A row of the audit. Its members are the columns of the table and bear their names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AuditRow {
    /// Owner.
    pub tenant_id: Uuid,
    /// Identity of the ask.
    pub ask_id: Uuid,
    /// When it came in.
    #[serde(with = "time::serde::rfc3339")]
    pub asked_at: OffsetDateTime,
    /// Identity of the request.
    pub request_id: Option<String>,
    /// Which key asked.
    pub key_id: Option<String>,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// Why it ended so.
    pub reason: Option<String>,
    /// The question, where questions are kept.
    pub question: Option<String>,
    /// Of the question.
    pub question_sha256: Digest,
    /// Where the answer was to come from.
    pub collections: Vec<String>,
    /// Whether the answer went out piece by piece.
    pub is_stream: bool,
    /// Level asked for.
    pub level: Level,
    /// Level applied.
    pub effective_level: Level,
    /// Drafts made.
    pub drafts: u8,
    /// What was wrong with the last of them.
    pub errors: Vec<CitationError>,
    /// Kinds of warnings.
    pub warnings: Vec<String>,
    /// Who wrote the answer.
    pub provider: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// All providers that had to do with it.
    pub providers: Vec<String>,
    /// Model calls.
    pub calls: Value,
    /// Temperature as sent with the last draft.
    pub temperature: Option<f32>,
    /// Seed as sent with the last draft.
    pub seed: Option<u64>,
    /// Calls of a chat model.
    pub llm_calls: u32,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Whether some tokens were counted here.
    pub is_estimated: bool,
    /// Billionths of a US dollar.
    pub cost_nano_usd: u64,
    /// What was searched, where questions are kept.
    pub queries: Vec<String>,
    /// URNs of the sources in marker order.
    pub sources: Vec<String>,
    /// Citations of the answer.
    pub citations: Vec<AuditCitation>,
    /// Whether the answer came from the cache.
    pub is_cache_hit: bool,
    /// Of the answer's text.
    pub answer_sha256: Option<Digest>,
    /// The answer, where answers are kept.
    pub answer: Option<String>,
    /// Milliseconds by stage.
    pub timings_ms: Value,
}

/// A citation as the audit keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditCitation {
    /// Number in the marker.
    pub marker: u32,
    /// The passage.
    pub urn: String,
    /// How well it supports its claim.
    pub support: f32,
}

/// A SHA-256 in the form that Postgres reads and writes `bytea`: `\x` and hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest(String);

impl Digest {
    /// Hexadecimal digits alone.
    #[must_use]
    pub fn hex(&self) -> &str {
        self.0.strip_prefix("\\x").unwrap_or(&self.0)
    }
}

impl From<Hash> for Digest {
    fn from(hash: Hash) -> Self {
        Self(format!("\\x{}", hex(&hash)))
    }
}

/// Which rows of the audit.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only this one.
    pub ask_id: Option<Uuid>,
    /// Only those that sort before this one: older ones.
    pub before: Option<Uuid>,
    /// Only with this outcome.
    pub outcome: Option<AuditOutcome>,
    /// Only asked with this key.
    pub key_id: Option<String>,
    /// Only those that this provider had to do with.
    pub provider: Option<String>,
    /// Only asked at this time or later.
    pub asked_from: Option<OffsetDateTime>,
    /// Only asked before this time.
    pub asked_before: Option<OffsetDateTime>,
}

impl Asks<'_> {
    /// Writes a row, together with those of other asks that end now; a second one of the same ask is left out.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn write_audit(&self, row: Arc<AuditRow>) -> Result<(), StoreError> {
        self.store.audit.write(row).await
    }

    /// Rows of a tenant, newest first.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn audit(&self, tenant: TenantId, filter: &AuditFilter, limit: i64) -> Result<Vec<AuditRow>, StoreError> {
        let mut reading = self.store.begin_read(tenant).await?;
        let rows = sqlx::query_scalar!(
            r#"SELECT to_jsonb(a) AS "row!: Json<AuditRow>" FROM ask_audit a
               WHERE a.tenant_id = $1 AND ($2::uuid IS NULL OR a.ask_id = $2) AND ($3::uuid IS NULL OR a.ask_id < $3)
                 AND ($4::text IS NULL OR a.outcome = $4) AND ($5::text IS NULL OR a.key_id = $5)
                 AND ($6::text IS NULL OR $6 = ANY (a.providers) OR a.provider = $6)
                 AND ($7::timestamptz IS NULL OR a.asked_at >= $7) AND ($8::timestamptz IS NULL OR a.asked_at < $8)
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
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        Ok(rows.into_iter().map(|Json(row)| row).collect())
    }

    /// Deletes some rows older than this, of every tenant; how many. Fewer than there are: to be called again.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn forget_audit(&self, before: OffsetDateTime) -> Result<u64, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        // Bitmap scans are what a BRIN index is read by.
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
