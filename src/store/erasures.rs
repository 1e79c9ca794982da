//! Traces of documents that were deleted, and the receipts of their erasure.

use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{citation::Urn, identity::TenantId, security_event::SecurityEvent};
use crate::store::{Store, StoreError, Tx, security_events::record};

/// Source of an item whose document was erased.
const ERASED: &str = "(erased)";

/// Traces of documents that were deleted, and the receipts of their erasure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Erasures<'s> {
    pub(in crate::store) store: &'s Store,
}

/// Documents whose traces are erased.
#[derive(Clone, Debug)]
pub(crate) struct Traces {
    /// Their collection.
    pub(crate) collection: Uuid,
    /// Its name.
    pub(crate) collection_name: String,
    /// Their sources; `None` for the whole collection.
    pub(crate) sources: Option<Vec<String>>,
    /// Their identities.
    pub(crate) documents: Vec<Uuid>,
    /// Their versions.
    pub(crate) versions: u64,
}

/// Numbers of rows that an erasure removed, or removed the names from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Erased {
    /// Documents.
    pub(crate) documents: u64,
    /// Versions of them, the last included.
    pub(crate) versions: u64,
    /// Chunks.
    pub(crate) chunks: u64,
    /// Vectors.
    pub(crate) vectors: u64,
    /// Cached answers that were written from them.
    pub(crate) answers: u64,
    /// Uploads that waited or were kept for a retry.
    pub(crate) uploads: u64,
    /// Lines in jobs that named them.
    pub(crate) job_items: u64,
    /// Replies kept for repeated requests.
    pub(crate) replies: u64,
    /// Rows of the audit of asks.
    pub(crate) asks: u64,
}

/// Something that an erasure leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remainder {
    /// Where it is.
    pub(crate) place: String,
    /// Its content about the erased things.
    pub(crate) holds: String,
    /// When it goes; `None` where that is not known here, or never.
    #[serde(with = "time::serde::rfc3339::option")]
    pub(crate) until: Option<OffsetDateTime>,
}

/// A receipt.
#[derive(Clone, Debug)]
pub(crate) struct ErasureRow {
    /// Its identity; sorts by time.
    pub(crate) id: Uuid,
    /// When it was done.
    pub(crate) erased_at: OffsetDateTime,
    /// Name of the key that asked for it.
    pub(crate) key_id: Option<String>,
    /// The erased things, as `kind:id`.
    pub(crate) subject: Vec<String>,
    /// Rows that are gone.
    pub(crate) erased: Erased,
    /// The remains in other places.
    pub(crate) remains: Vec<Remainder>,
}

/// Asks that were answered from erased documents.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftAsks {
    /// Their number.
    pub(crate) number: u64,
    /// When the latest was received.
    pub(crate) latest: Option<OffsetDateTime>,
}

impl Erasures<'_> {
    /// Finds a document that is stored, with what was found in it.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn find_document(&self, tenant: TenantId, id: Uuid) -> Result<Option<Traces>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let found = sqlx::query!(
            "SELECT c.collection_id, c.name, d.source FROM document d JOIN collection c USING (tenant_id, collection_id)
             WHERE d.tenant_id = $1 AND d.document_id = $2",
            tenant.0,
            id,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let Some(found) = found else { return Ok(None) };
        self.find(tenant, found.collection_id, found.name, Some(found.source)).await.map(Some)
    }

    /// Finds the documents of a collection, or what is stored under one source of it with what was found in that.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn find(
        &self,
        tenant: TenantId,
        collection: Uuid,
        collection_name: String,
        source: Option<String>,
    ) -> Result<Traces, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            "SELECT document_id, source, version FROM document
             WHERE tenant_id = $1 AND collection_id = $2 AND ($3::text IS NULL OR source = $3 OR attached_to = $3)",
            tenant.0,
            collection,
            source,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(Traces {
            collection,
            collection_name,
            versions: rows.iter().map(|row| u64::from(row.version.unsigned_abs())).sum(),
            documents: rows.iter().map(|row| row.document_id).collect(),
            sources: source.map(|source| rows.into_iter().map(|row| row.source).chain([source]).collect()),
        })
    }

    /// Erases the traces in jobs and in replies that are kept, and on request the asks that were answered from these
    /// documents. Returns the numbers of those rows, and the asks that are left. The event is recorded here if no deletion
    /// of documents recorded it.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is erased then.
    pub(crate) async fn erase_traces(
        &self,
        tenant: TenantId,
        traces: &Traces,
        with_asks: bool,
        event: Option<&SecurityEvent>,
    ) -> Result<(Erased, LeftAsks), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let (job_items, jobs) = match &traces.sources {
            Some(sources) => unname_items(&mut transaction, tenant, traces, sources).await?,
            None => delete_jobs(&mut transaction, tenant, traces.collection).await?,
        };
        let replies =
            sqlx::query!("DELETE FROM idempotency_key WHERE tenant_id = $1 AND job_id = ANY ($2)", tenant.0, &jobs)
                .execute(&mut *transaction)
                .await?
                .rows_affected();
        let asks = if with_asks { delete_asks(&mut transaction, tenant, traces).await? } else { 0 };
        let left = left_asks(&mut transaction, tenant, traces).await?;
        if let Some(event) = event {
            record(&mut transaction, event).await?;
        }
        transaction.commit().await?;
        Ok((Erased { job_items, replies, asks, ..Erased::default() }, left))
    }

    /// Keeps a receipt.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn insert(&self, tenant: TenantId, row: &ErasureRow) -> Result<(), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        sqlx::query!(
            "INSERT INTO erasure (tenant_id, erasure_id, erased_at, key_id, subject, erased, remains)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            tenant.0,
            row.id,
            row.erased_at,
            row.key_id,
            &row.subject,
            Json(&row.erased) as _,
            Json(&row.remains) as _,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Receipts of a tenant, newest first: those before `before`, or the one with the id `id`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn list(
        &self,
        tenant: TenantId,
        id: Option<Uuid>,
        before: Option<Uuid>,
        limit: i64,
    ) -> Result<Vec<ErasureRow>, StoreError> {
        let mut reading = self.store.begin_first_read(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT erasure_id, erased_at, key_id, subject, erased AS "erased: Json<Erased>", remains AS "remains: Json<Vec<Remainder>>"
               FROM erasure WHERE tenant_id = $1 AND ($2::uuid IS NULL OR erasure_id = $2) AND ($3::uuid IS NULL OR erasure_id < $3)
               ORDER BY erasure_id DESC LIMIT $4"#,
            tenant.0,
            id,
            before,
            limit,
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        Ok(rows
            .into_iter()
            .map(|row| ErasureRow {
                id: row.erasure_id,
                erased_at: row.erased_at,
                key_id: row.key_id,
                subject: row.subject,
                erased: row.erased.0,
                remains: row.remains.0,
            })
            .collect())
    }
}

/// Takes the names and findings of documents out of the lines of jobs; returns their number and the jobs.
async fn unname_items(
    transaction: &mut Tx,
    tenant: TenantId,
    traces: &Traces,
    sources: &[String],
) -> Result<(u64, Vec<Uuid>), StoreError> {
    let rows = sqlx::query!(
        "UPDATE job_item i SET source = $5, message = NULL, contexts = NULL, context_gaps = NULL, reading = NULL
         FROM job j WHERE i.tenant_id = $1 AND j.tenant_id = $1 AND j.job_id = i.job_id
           AND (i.document_id = ANY ($2) OR (j.collection_id = $3 AND i.source = ANY ($4))
                OR (j.collection_id = $3 AND i.ordinal >= 1000000000 -- found in one of these
                    AND EXISTS (SELECT FROM unnest($4::text[]) AS message WHERE starts_with(i.source, message || '/'))))
           AND i.state NOT IN ('queued', 'running')
         RETURNING i.job_id",
        tenant.0,
        &traces.documents,
        traces.collection,
        sources,
        ERASED,
    )
    .fetch_all(&mut **transaction)
    .await?;
    let number = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    Ok((number, rows.into_iter().map(|row| row.job_id).collect()))
}

/// Deletes the jobs of a collection with their items; returns the number of items, and the jobs.
async fn delete_jobs(transaction: &mut Tx, tenant: TenantId, collection: Uuid) -> Result<(u64, Vec<Uuid>), StoreError> {
    let jobs = sqlx::query_scalar!(
        "DELETE FROM job WHERE tenant_id = $1 AND collection_id = $2 RETURNING job_id",
        tenant.0,
        collection
    )
    .fetch_all(&mut **transaction)
    .await?;
    let items = sqlx::query!("DELETE FROM job_item WHERE tenant_id = $1 AND job_id = ANY ($2)", tenant.0, &jobs)
        .execute(&mut **transaction)
        .await?
        .rows_affected();
    Ok((items, jobs))
}

/// Texts of which one stands in the URN of each passage of these documents.
fn urn_parts(traces: &Traces) -> Vec<String> {
    match traces.sources {
        Some(_) => traces.documents.iter().map(|document| format!("/{document}@")).collect(),
        None => vec![Urn::start_in(&traces.collection_name)],
    }
}

async fn delete_asks(transaction: &mut Tx, tenant: TenantId, traces: &Traces) -> Result<u64, StoreError> {
    // The role that serves requests may delete nothing of the audit itself.
    let deleted = sqlx::query_scalar!(r#"SELECT erase_asks($1, $2) AS "number!""#, tenant.0, &urn_parts(traces))
        .fetch_one(&mut **transaction)
        .await?;
    Ok(deleted.unsigned_abs())
}

async fn left_asks(transaction: &mut Tx, tenant: TenantId, traces: &Traces) -> Result<LeftAsks, StoreError> {
    let left = sqlx::query!(
        r#"SELECT count(*) AS "number!", max(a.asked_at) AS latest FROM ask_audit a WHERE a.tenant_id = $1
           AND EXISTS (SELECT FROM unnest($2::text[]) AS part
                       WHERE strpos(array_to_string(a.sources, ' '), part) > 0 OR strpos(a.grades::text, part) > 0)"#,
        tenant.0,
        &urn_parts(traces),
    )
    .fetch_one(&mut **transaction)
    .await?;
    Ok(LeftAsks { number: left.number.unsigned_abs(), latest: left.latest })
}
