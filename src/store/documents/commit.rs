//! Stores a batch of documents in one transaction, from the check of the claim's fencing token to the settlement of its
//! items.
//!
//! A reader sees each document either in its old or in its new version, never in between. An item is settled in the
//! transaction that stores its document, so a document cannot be stored twice, and an item cannot be settled without
//! its document being stored. Locks are taken in the order items, collection, its indexes, documents (by source),
//! statistics (by term).

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    fingerprint::Hash, identity::TenantId, job::ReadingNotes, lexical::bm25::Weigher, split::embedding_text,
    storage::Growth,
};
use crate::store::{
    AttachedTo, ClaimHandle, Collection, Documents, FetchRecord, ItemKey, NewChunk, NewJobItem, StoreError, Tx,
    access::storage::{own_quotas, settle_growth},
    collections::index,
    documents::acl,
    documents::attached,
    documents::storage::{StorageChanges, trim},
    documents::write::{Written, write_documents},
    jobs::settle,
};

/// A document that is ready to be stored.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// Item that it belongs to.
    pub(crate) item: ItemKey,
    /// Position in the queue: a newer upload of the same source wins.
    pub(crate) position: i64,
    /// Identity to use if the source is new.
    pub(crate) new_id: Uuid,
    /// Source: the caller's own name for the document.
    pub(crate) source: String,
    /// URI that it was read from.
    pub(crate) uri: String,
    /// Loader that read it.
    pub(crate) loader: String,
    /// When it was uploaded or fetched.
    pub(crate) fetched_at: OffsetDateTime,
    /// Fetch record, if it was fetched.
    pub(crate) fetch: Option<FetchRecord>,
    /// SHA-256 of its bytes.
    pub(crate) content_hash: Hash,
    /// Hash of all inputs that determine the stored result.
    pub(crate) fingerprint: Hash,
    /// Title.
    pub(crate) title: String,
    /// Media type.
    pub(crate) media_type: String,
    /// Caller's own metadata object.
    pub(crate) metadata: Value,
    /// Extracted text.
    pub(crate) text: String,
    /// Layout data that a later split needs in addition to the text.
    pub(crate) layout: Value,
    /// Splitter with its settings.
    pub(crate) splitter: String,
    /// Number of texts that had to be sent to the embedding model.
    pub(crate) embedding_calls: i32,
    /// Its chunks, at least one.
    pub(crate) chunks: Vec<NewChunk>,
    /// Weighs their terms.
    pub(crate) weigher: Weigher,
    /// Whether some of its chunks still lack a vector: its item then goes on to its second phase.
    pub(crate) awaits_vectors: bool,
    /// Remarks on its reading.
    pub(crate) reading: ReadingNotes,
    /// The message that it was found in, if it was.
    pub(crate) attached_to: Option<AttachedTo>,
    /// Documents that were found in it, to be queued once it is stored.
    pub(crate) attachments: Vec<NewJobItem>,
}

impl NewDocument {
    /// The text of one of its chunks.
    #[must_use]
    pub(crate) fn text_of(&self, chunk: &NewChunk) -> &str {
        self.text.get(chunk.bytes.clone()).unwrap_or_default()
    }

    /// BM25 weights of one of its chunks, by ascending term id.
    pub(in crate::store) fn weights_of(&self, chunk: &NewChunk) -> Vec<(i32, f32)> {
        let sentence = chunk.context.as_ref().map(|(sentence, _)| sentence.as_str());
        self.weigher.weigh(&embedding_text(&chunk.indexed_front, sentence, self.text_of(chunk)))
    }

    /// Returns the number of its chunks without a vector.
    pub(in crate::store) fn unembedded_chunks(&self) -> usize {
        self.chunks.iter().filter(|chunk| chunk.embedding.is_none()).count()
    }
}

/// An item whose document is already stored with the same result.
#[derive(Clone, Copy, Debug)]
pub struct UnchangedItem {
    /// The item.
    pub item: ItemKey,
    /// The document.
    pub document_id: Uuid,
    /// The version that was compared.
    pub version: i32,
    /// Position of the item in the queue. The document takes it over, because this upload is the newest one that asked
    /// for its content.
    pub position: i64,
}

/// Documents of a tenant, ready to be committed.
#[derive(Debug)]
pub struct CommitBatch<'a> {
    /// Owner of the documents.
    pub tenant: TenantId,
    /// Collection to store in; its average length must be the one that the weights were computed with.
    pub collection: &'a Collection,
    /// Documents to store; their sources are distinct.
    pub documents: &'a [NewDocument],
    /// Items whose document is already stored with the same result.
    pub unchanged: &'a [UnchangedItem],
    /// New payload of an item whose document is stored and still lacks vectors.
    pub embed_work: &'a Value,
    /// The job that builds the stored documents into the next index, if there is one.
    pub follow_up: FollowUp<'a>,
    /// Time of the settlement.
    pub now: OffsetDateTime,
}

/// A job that is queued in the same transaction as the documents it processes.
#[derive(Clone, Copy, Debug)]
pub struct FollowUp<'a> {
    /// Its identity.
    pub job: Uuid,
    /// Payload of its items.
    pub payload: &'a Value,
}

impl CommitBatch<'_> {
    /// Returns the items that the batch settles.
    pub(in crate::store) fn items(&self) -> Vec<ItemKey> {
        let unchanged = self.unchanged.iter().map(|unchanged| unchanged.item);
        self.documents.iter().map(|document| document.item).chain(unchanged).collect()
    }
}

/// Result of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// Stored and settled.
    Settled,
    /// The claim is no longer held; nothing was written.
    LeaseLost,
    /// Another index of the collection is active now, or the index does not exist any more; nothing was written, the
    /// documents must be processed again for the current index.
    IndexChanged,
    /// A document that was unchanged has been replaced, or one is neither written nor there; nothing was written, the items must be
    /// checked again.
    DocumentsChanged,
    /// The collection does not exist any more; nothing was written.
    CollectionGone,
}

impl Documents<'_> {
    /// Stores documents and settles their items, all of which the claim must hold. Writers of one index wait for each other
    /// until the commit, so it is not flushed: the end of the claim, which is recorded next, flushes it for all.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is written then.
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub async fn commit_batch(&self, claim: ClaimHandle, batch: &CommitBatch<'_>) -> Result<BatchOutcome, StoreError> {
        let mut transaction = self.store.begin_unflushed(batch.tenant).await?;
        if !settle::holds_lease(&mut transaction, claim, &batch.items()).await? {
            return Ok(BatchOutcome::LeaseLost);
        }
        let written = match write_documents(&mut transaction, batch).await? {
            Ok(written) => written,
            Err(outcome) => return Ok(outcome),
        };
        acl::take_over(&mut transaction, batch, &written.new_documents()).await?;
        if !settle::settle_items(&mut transaction, batch, &written).await? {
            return Ok(BatchOutcome::DocumentsChanged);
        }
        self.complete(&mut transaction, batch, written).await?;
        transaction.commit().await?;
        Ok(BatchOutcome::Settled)
    }

    /// Does what follows from the documents that a transaction has written: queues them for the next index and what was found
    /// in them, and writes the counters, which other writers wait for from here to the commit.
    pub(in crate::store) async fn complete(
        &self,
        transaction: &mut Tx,
        batch: &CommitBatch<'_>,
        written: Written,
    ) -> Result<(), StoreError> {
        let replaced = written.replaced_documents();
        let Written { stored, bytes, changes, .. } = written;
        let documents: Vec<Uuid> = stored.values().map(|row| row.document_id).collect();
        index::queue_for_next(transaction, batch, &documents).await?;
        attached::follow(transaction, batch, &stored).await?;
        let documents = changes.documents.max(0).unsigned_abs();
        changes.apply(transaction, batch.tenant, batch.collection.index).await?;
        self.count_storage(transaction, batch, &replaced, (documents, bytes)).await
    }
}

impl Documents<'_> {
    /// Counts the bytes that were stored, of which so many documents are new, deletes former versions that are too many, and
    /// refuses all of it if the tenant would keep more than it may.
    async fn count_storage(
        &self,
        transaction: &mut Tx,
        batch: &CommitBatch<'_>,
        replaced: &[Uuid],
        (documents, bytes): (u64, i64),
    ) -> Result<(), StoreError> {
        if bytes == 0 {
            return Ok(());
        }
        let (tenant, deployment) = (batch.tenant, *self.store.quotas);
        let mut storage = StorageChanges { bytes, ..StorageChanges::default() };
        if !replaced.is_empty() {
            storage.count_replaced(transaction, tenant, replaced).await?;
            if let Some(keep) = own_quotas(transaction, tenant).await?.or(deployment).former_versions {
                trim(transaction, tenant, replaced, keep, &mut storage).await?;
            }
        }
        let bytes = (storage.bytes + storage.former_bytes).max(0).unsigned_abs();
        let quotas = storage.apply(transaction, tenant, batch.collection.id).await?.or(deployment);
        settle_growth(transaction, tenant, quotas, Growth { documents, bytes, collections: 0 }).await
    }
}
