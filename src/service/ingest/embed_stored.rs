//! Computes the missing vectors of documents that are already stored and can be found lexically.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use super::{
    batch::Batch,
    embed::{Groups, readable},
    failure::IngestFailure,
    piece::TextToEmbed,
    pipeline::Processor,
};
use crate::{
    domain::{
        file_name::embedded_title,
        fingerprint::{Hash, content_hash},
        job::Stage,
        split::{FrontComposer, Window},
    },
    providers::Embedder,
    service::ServiceError,
    store::{
        ClaimedItem, FilledItem, ItemFailure, ItemKey, NewVector, ReadDocument, StoredVector, UnembeddedChunk,
        VectorBatch, VectorOutcome,
    },
};

/// Number of vectors that are computed and stored together: at most this many are wasted when a worker is lost.
const ROUND_CHUNKS: usize = 256;

/// The state of a document whose vectors could not be made.
const BY_WORDS: &str = "The document is stored and found by its words only";

/// A chunk, and the text that is embedded in front of it.
struct Composed {
    chunk: UnembeddedChunk,
    front: String,
    /// Hash of the text that is embedded.
    hash: Hash,
}

impl Composed {
    fn new(chunk: UnembeddedChunk, front: String) -> Self {
        let mut composed = Self { chunk, front, hash: Hash::default() };
        composed.hash = content_hash(composed.to_embed().compose().as_bytes());
        composed
    }

    fn to_embed(&self) -> TextToEmbed<'_> {
        let UnembeddedChunk { text, context, .. } = &self.chunk;
        TextToEmbed { front: &self.front, sentence: context.as_deref(), piece: text }
    }
}

/// A document of the claim with its chunks that have no vector.
struct Stored {
    item: ItemKey,
    document: Option<uuid::Uuid>,
    chunks: Vec<Composed>,
}

impl Processor {
    /// Computes the vectors that stored documents lack, in rounds; each round is stored when it is complete. A document
    /// that the model refuses permanently fails alone.
    pub(super) async fn embed_stored(&self, batch: &Batch<'_>, items: &[ClaimedItem]) -> Result<(), ServiceError> {
        if items.is_empty() {
            return Ok(());
        }
        let mut groups = Groups::of(in_rounds(self.read_stored(batch, items).await?));
        while let Some(group) = groups.next() {
            if let Err(error) = self.fill(batch, &group).await
                && let Some(failed) = groups.failed(group, &error, |document| document.item)
            {
                let items: Vec<ItemKey> = failed.iter().map(|document| document.item).collect();
                self.retry_or_fail(batch, &items, &failure_of_stored(&error)).await?;
            }
        }
        Ok(())
    }

    async fn read_stored(&self, batch: &Batch<'_>, items: &[ClaimedItem]) -> Result<Vec<Stored>, ServiceError> {
        let started = Instant::now();
        let sources: Vec<String> = items.iter().map(|item| item.source.clone()).collect();
        let (documents, chunks) =
            self.store.documents().unembedded_chunks(batch.handle.tenant, batch.collection, &sources).await?;
        let (embedder, window) = (Arc::clone(&self.embedder), batch.plan.window);
        let composed = tokio::task::spawn_blocking(move || compose(chunks, embedder.as_ref(), window))
            .await
            .expect("composing a title and a text does not panic");
        let mut by_source: HashMap<String, Vec<Composed>> = HashMap::new();
        for chunk in composed {
            by_source.entry(chunk.chunk.source.clone()).or_default().push(chunk);
        }
        let documents: HashMap<&str, &ReadDocument> =
            documents.iter().map(|document| (document.source.as_str(), document)).collect();
        let stored: Vec<Stored> = items
            .iter()
            .map(|item| {
                let document = documents.get(item.source.as_str());
                // The worker that replaced a document also computes its vectors: the replacement may be another item of
                // this claim.
                let is_current = document.is_some_and(|document| item.stored_version == Some(document.version));
                let chunks = if is_current { by_source.remove(&item.source) } else { None };
                Stored {
                    item: item.key,
                    document: document.map(|document| document.id),
                    chunks: chunks.unwrap_or_default(),
                }
            })
            .collect();
        batch.metrics.add(Stage::Load, stored.iter().map(|document| document.item), started);
        Ok(stored)
    }

    async fn fill(&self, batch: &Batch<'_>, documents: &[Stored]) -> Result<(), ServiceError> {
        let chunks: Vec<&Composed> = documents.iter().flat_map(|document| &document.chunks).collect();
        let mut made = Made::default();
        let mut rest = chunks.as_slice();
        loop {
            let (round, after) = rest.split_at(rest.len().min(ROUND_CHUNKS));
            let vectors = self.vectors_of_round(batch, round, &mut made).await?;
            if after.is_empty() {
                let (whole, cut): (Vec<&Stored>, Vec<&Stored>) =
                    documents.iter().partition(|document| !made.has_missed(document));
                let failure = too_long(self.embedder.as_ref());
                self.fail_all(batch.handle, cut.iter().map(|document| document.item), &failure).await?;
                self.store_round(batch, &vectors, &whole, Some(&mut made)).await?;
                return Ok(());
            }
            let everything: Vec<&Stored> = documents.iter().collect();
            if !self.store_round(batch, &vectors, &everything, None).await? {
                return Ok(());
            }
            rest = after;
        }
    }

    async fn vectors_of_round(
        &self,
        batch: &Batch<'_>,
        chunks: &[&Composed],
        made: &mut Made,
    ) -> Result<Vec<NewVector>, ServiceError> {
        self.note_risk(batch, true).await?;
        let started = Instant::now();
        let texts: Vec<_> = chunks.iter().map(|chunk| (chunk.hash, chunk.to_embed())).collect();
        let found = self.vectors_of(&batch.target(), &readable(self.embedder.as_ref(), texts.clone())).await?;
        batch.metrics.add(Stage::Embed, [], started);
        self.note_risk(batch, false).await?;
        made.missed.extend(texts.iter().map(|(hash, _)| *hash).filter(|hash| !found.by_hash.contains_key(hash)));
        made.new.extend(found.new);
        Ok(new_vectors(chunks, &found.by_hash))
    }

    /// Stores the computed vectors of these documents; with `made` they were the last ones, and the items are settled.
    /// Returns false when nothing more is to be computed: the items are back in the queue, or have failed.
    async fn store_round(
        &self,
        batch: &Batch<'_>,
        vectors: &[NewVector],
        documents: &[&Stored],
        made: Option<&mut Made>,
    ) -> Result<bool, ServiceError> {
        let started = Instant::now();
        let is_last = made.is_some();
        let mut nothing = Made::default();
        let made = made.unwrap_or(&mut nothing);
        let items: Vec<FilledItem> = documents.iter().map(|document| made.item(document)).collect();
        let stored = self
            .store
            .documents()
            .store_vectors(&VectorBatch {
                claim: batch.handle,
                collection: batch.collection,
                vectors,
                items: &items,
                is_last,
                now: self.context.clock.now(),
            })
            .await?;
        let items: Vec<ItemKey> = items.iter().map(|filled| filled.item).collect();
        match stored {
            VectorOutcome::Settled => {
                let passed = || items.iter().copied().filter(|_| is_last);
                batch.metrics.add(Stage::Embed, passed(), Instant::now());
                batch.metrics.add(Stage::Store, passed(), started);
                if is_last && batch.metrics.is_shared() {
                    self.finish_jobs(batch.handle.tenant, batch.metrics).await?;
                }
                return Ok(true);
            }
            VectorOutcome::CollectionGone => {
                self.fail_all(batch.handle, items.into_iter(), &collection_gone()).await?;
            }
            // Some were deleted or cancelled, or now have other chunks; the remaining ones return to the queue.
            VectorOutcome::LeaseLost | VectorOutcome::IndexChanged => {
                self.store.jobs().take_back_loss(batch.handle, &items).await?;
                self.store.jobs().release_items(batch.handle, &items, false, self.context.clock.now()).await?;
            }
        }
        Ok(false)
    }
}

/// A failure of documents that can be found lexically in the meantime.
fn failure_of_stored(error: &ServiceError) -> IngestFailure {
    let mut failed = IngestFailure::from(error);
    let message = &mut failed.failure.message;
    *message = format!("{message}. {BY_WORDS}; retry the job, and its vectors are made.");
    failed
}

/// Documents that are processed together, the first ones last.
fn in_rounds(documents: Vec<Stored>) -> Vec<Vec<Stored>> {
    let (mut rounds, mut chunks): (Vec<Vec<Stored>>, usize) = (Vec::new(), 0);
    for document in documents.into_iter().rev() {
        let size = document.chunks.len();
        if let Some(round) = rounds.last_mut().filter(|_| chunks + size <= ROUND_CHUNKS) {
            round.push(document);
            chunks += size;
        } else {
            rounds.push(vec![document]);
            chunks = size;
        }
    }
    rounds
}

/// The work that a model has done for documents so far.
#[derive(Default)]
struct Made {
    /// Texts that were sent to the model and are not yet counted for a document.
    new: HashSet<Hash>,
    /// Texts that are too long for the model.
    missed: HashSet<Hash>,
}

impl Made {
    fn has_missed(&self, document: &Stored) -> bool {
        document.chunks.iter().any(|chunk| self.missed.contains(&chunk.hash))
    }

    /// A text that several documents share is counted for the first.
    fn item(&mut self, document: &Stored) -> FilledItem {
        let calls = document.chunks.iter().filter(|chunk| self.new.remove(&chunk.hash)).count();
        FilledItem {
            item: document.item,
            document: document.document,
            chunks: i32::try_from(document.chunks.len()).unwrap_or(i32::MAX),
            embedding_calls: i32::try_from(calls).unwrap_or(i32::MAX),
        }
    }
}

fn new_vectors(chunks: &[&Composed], by_hash: &HashMap<Hash, StoredVector>) -> Vec<NewVector> {
    let new = |Composed { chunk, hash, .. }: &&Composed| {
        let vector = by_hash.get(hash)?.clone();
        Some(NewVector { key: chunk.key, version: chunk.version, hash: *hash, vector })
    };
    chunks.iter().filter_map(new).collect()
}

/// The text that ingest embeds for these chunks: an equal text has an equal hash, and is not embedded twice.
fn compose(chunks: Vec<UnembeddedChunk>, embedder: &dyn Embedder, window: Window) -> Vec<Composed> {
    let counter = |text: &str| embedder.count(text);
    let mut fronts: HashMap<&str, FrontComposer<'_>> = HashMap::new();
    let mut composed = Vec::with_capacity(chunks.len());
    for chunk in &chunks {
        let title = embedded_title(&chunk.title, &chunk.source);
        let front = fronts.entry(&chunk.source).or_insert_with(|| FrontComposer::new(title, window, &counter));
        composed.push(front.compose(&chunk.heading, chunk.table_header.as_deref()).text);
    }
    chunks.into_iter().zip(composed).map(|(chunk, front)| Composed::new(chunk, front)).collect()
}

/// Error: the index requires a model that this process does not have.
pub(super) fn model_missing() -> ItemFailure {
    let message = "this service is not configured for the embedding model; configure it for every service and worker, \
                   and retry the job";
    ItemFailure { stage: Stage::Embed, cause: "embedding_model_missing", message: message.to_owned() }
}

/// The same error for documents that can be found lexically in the meantime.
pub(super) fn model_missing_for_stored() -> ItemFailure {
    let failure = model_missing();
    ItemFailure { message: format!("{}. {BY_WORDS} until then.", failure.message), ..failure }
}

fn collection_gone() -> ItemFailure {
    let message = "the collection was deleted before this document had its vectors";
    ItemFailure { stage: Stage::Store, cause: ItemFailure::COLLECTION_DELETED, message: message.to_owned() }
}

fn too_long(embedder: &dyn Embedder) -> ItemFailure {
    let message = format!(
        "chunks of this document are longer than the {} tokens that the embedding model reads now; it was configured \
         with a larger window when they were made. {BY_WORDS}; build an index with the window of now: \
         POST /v1/collections/{{name}}/indexes",
        embedder.window().tokens
    );
    ItemFailure { stage: Stage::Embed, cause: "window_exceeded", message }
}
