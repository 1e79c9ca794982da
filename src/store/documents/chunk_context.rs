//! Sentences that relate chunks to their documents: those already stored, those just written, and the work they took.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use crate::domain::{
    cost::NanoUsd,
    fingerprint::{Hash, hex},
    identity::TenantId,
};
use crate::store::{ClaimHandle, Documents, ItemKey, StoreError, Tx, signed};

/// A document that is being processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentOrigin<'a> {
    /// The claim that it belongs to.
    pub(crate) claim: ClaimHandle,
    /// Its item.
    pub(crate) item: ItemKey,
    /// Collection that it is stored in.
    pub(crate) collection: Uuid,
    /// Source: the caller's own name for the document.
    pub(crate) source: &'a str,
    /// SHA-256 of its bytes.
    pub(crate) content_hash: &'a Hash,
}

/// Chunks that should have a sentence but have none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContextGaps {
    /// Number of chunks indexed without a sentence.
    pub(crate) without: u32,
    /// Number of chunks left out of the index.
    pub(crate) left_out: u32,
    /// Typed cause of the latest failure.
    pub(crate) cause: String,
    /// Description of the failure and its remedy.
    pub(crate) message: String,
}

/// Work and cost of writing sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextWork {
    /// Calls to chat models, including calls that got no answer.
    pub(crate) calls: u64,
    /// Sentences that these calls produced.
    pub(crate) written: u64,
    /// Sentences that were reused.
    pub(crate) reused: u64,
    /// Prompt tokens.
    pub(crate) prompt_tokens: u64,
    /// Completion tokens.
    pub(crate) completion_tokens: u64,
    /// Cost of the calls.
    pub(crate) cost: NanoUsd,
    /// Whether some token counts are local estimates because a provider did not report them.
    pub(crate) has_estimates: bool,
    /// Chunks of stored documents that were indexed without a sentence; not part of the recorded work.
    pub(crate) without: u64,
    /// Chunks of stored documents that were left out of the index; not part of it either.
    pub(crate) left_out: u64,
}

impl ContextWork {
    /// Returns the sum of both.
    #[must_use]
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            written: self.written + other.written,
            reused: self.reused + other.reused,
            prompt_tokens: self.prompt_tokens + other.prompt_tokens,
            completion_tokens: self.completion_tokens + other.completion_tokens,
            cost: self.cost.plus(other.cost),
            has_estimates: self.has_estimates || other.has_estimates,
            without: self.without + other.without,
            left_out: self.left_out + other.left_out,
        }
    }
}

/// Results of the work on a document so far, recorded so that the work is not done twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextsSoFar {
    /// Sentences just written.
    pub(crate) sentences: Vec<(Hash, String)>,
    /// Chunks without a sentence, as far as known.
    pub(crate) gaps: Option<ContextGaps>,
    /// Work since the last record.
    pub(crate) work: ContextWork,
}

impl Documents<'_> {
    /// Returns those of the wanted sentences that exist already: written earlier for this document, for the stored
    /// version of it, or for a document with the same bytes, as far as a caller who is these principals may see them.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn known_contexts(
        &self,
        origin: &DocumentOrigin<'_>,
        wanted: &[Hash],
        caller: Option<&[i32]>,
    ) -> Result<HashMap<Hash, String>, StoreError> {
        let keys: Vec<Vec<u8>> = wanted.iter().map(|key| key.to_vec()).collect();
        let mut transaction = self.store.begin(origin.claim.tenant).await?;
        let stored = sqlx::query!(
            r#"WITH near AS (
                   SELECT document_id FROM document WHERE tenant_id = $1 AND collection_id = $2 AND source = $3
                       AND may_see(allowed, denied, $6)
                   UNION SELECT document_id FROM document WHERE tenant_id = $1 AND content_hash = $4
                       AND may_see(allowed, denied, $6))
               SELECT c.context_key AS "key!", c.context AS "context!"
               FROM near JOIN chunk c ON c.tenant_id = $1 AND c.document_id = near.document_id
               WHERE c.context_key = ANY ($5) AND c.context IS NOT NULL
               ORDER BY c.document_id, c.ordinal"#,
            origin.claim.tenant.0,
            origin.collection,
            origin.source,
            origin.content_hash.as_slice(),
            &keys,
            caller,
        )
        .fetch_all(&mut *transaction)
        .await?;
        let written = sqlx::query_scalar!(
            r#"SELECT contexts AS "contexts: Json<HashMap<String, String>>" FROM job_item
               WHERE tenant_id = $1 AND job_id = $2 AND ordinal = $3"#,
            origin.claim.tenant.0,
            origin.item.job,
            origin.item.ordinal
        )
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let mut known: HashMap<Hash, String> =
            stored.into_iter().filter_map(|row| Some((Hash::try_from(row.key).ok()?, row.context))).collect();
        if let Some(Json(mut written)) = written.flatten() {
            known.extend(wanted.iter().filter_map(|key| Some((*key, written.remove(&hex(key))?))));
        }
        Ok(known)
    }

    /// Stores sentences with the item until it is settled, and adds up the work they took. The work is counted even if
    /// the claim is lost; the sentences are not stored then.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is stored then.
    pub(crate) async fn note_contexts(
        &self,
        origin: &DocumentOrigin<'_>,
        so_far: &ContextsSoFar,
    ) -> Result<(), StoreError> {
        let sentences: HashMap<String, &String> =
            so_far.sentences.iter().map(|(key, sentence)| (hex(key), sentence)).collect();
        let mut transaction = self.store.begin(origin.claim.tenant).await?;
        sqlx::query!(
            "UPDATE job_item SET contexts = COALESCE(contexts, '{}') || $5, context_gaps = $6
             WHERE tenant_id = $1 AND job_id = $2 AND ordinal = $3 AND fence = $4 AND state = 'running'",
            origin.claim.tenant.0,
            origin.item.job,
            origin.item.ordinal,
            origin.claim.fence,
            Json(sentences) as Json<HashMap<String, &String>>,
            so_far.gaps.as_ref().map(Json) as Option<Json<&ContextGaps>>,
        )
        .execute(&mut *transaction)
        .await?;
        let work = &so_far.work;
        sqlx::query!(
            "INSERT INTO job_context (tenant_id, job_id, calls, written, reused, prompt_tokens, completion_tokens, cost_nano_usd, has_estimates)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             ON CONFLICT (tenant_id, job_id) DO UPDATE SET
                 calls = job_context.calls + EXCLUDED.calls, written = job_context.written + EXCLUDED.written,
                 reused = job_context.reused + EXCLUDED.reused,
                 prompt_tokens = job_context.prompt_tokens + EXCLUDED.prompt_tokens,
                 completion_tokens = job_context.completion_tokens + EXCLUDED.completion_tokens,
                 cost_nano_usd = job_context.cost_nano_usd + EXCLUDED.cost_nano_usd,
                 has_estimates = job_context.has_estimates OR EXCLUDED.has_estimates",
            origin.claim.tenant.0,
            origin.item.job,
            signed(work.calls),
            signed(work.written),
            signed(work.reused),
            signed(work.prompt_tokens),
            signed(work.completion_tokens),
            signed(work.cost.nano_usd()),
            work.has_estimates,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Returns the work that the sentences of jobs took, where any were asked for, and the number of chunks of their stored
/// documents that have none.
pub(in crate::store) async fn of_jobs(
    transaction: &mut Tx,
    tenant: TenantId,
    jobs: &[Uuid],
) -> Result<Vec<(Uuid, ContextWork)>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT job_id, calls, written, reused, prompt_tokens, completion_tokens, cost_nano_usd, has_estimates,
                  (SELECT COALESCE(sum((context_gaps->>'without')::bigint), 0)::bigint FROM job_item i WHERE i.tenant_id = $1
                       AND i.job_id = c.job_id AND context_gaps IS NOT NULL AND i.state = 'succeeded') AS "without!",
                  (SELECT COALESCE(sum((context_gaps->>'left_out')::bigint), 0)::bigint FROM job_item i WHERE i.tenant_id = $1
                       AND i.job_id = c.job_id AND context_gaps IS NOT NULL AND i.state = 'succeeded') AS "left_out!"
           FROM job_context c WHERE tenant_id = $1 AND job_id = ANY ($2)"#,
        tenant.0,
        jobs
    )
    .fetch_all(&mut **transaction)
    .await?;
    let works = rows.into_iter().map(|row| {
        let work = ContextWork {
            calls: row.calls.unsigned_abs(),
            written: row.written.unsigned_abs(),
            reused: row.reused.unsigned_abs(),
            prompt_tokens: row.prompt_tokens.unsigned_abs(),
            completion_tokens: row.completion_tokens.unsigned_abs(),
            cost: NanoUsd::new(row.cost_nano_usd.unsigned_abs()),
            has_estimates: row.has_estimates,
            without: row.without.unsigned_abs(),
            left_out: row.left_out.unsigned_abs(),
        };
        (row.job_id, work)
    });
    Ok(works.collect())
}
