//! Stored documents that get vectors of another model, from their stored chunks.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use serde_json::Value;

use super::{
    Payload,
    batch::{Batch, ClaimHandle},
    embed::{InSpace, readable},
    failure::is_transient,
    prepare::{name_of, unreadable},
    process::Processor,
};
use crate::{
    domain::{
        contextual::with_sentence,
        fingerprint::{Hash, content_hash},
        job::Stage,
        split::{FrontComposer, Window, embedding_text},
    },
    providers::Embedder,
    service::ServiceError,
    store::{BareChunk, ClaimedItem, FilledItem, ItemFailure, NewVector, ProfileId, VectorBatch, VectorOutcome},
};

/// What the items of a job say that fills this space.
#[must_use]
pub fn reembedding_payload(profile: ProfileId) -> Value {
    serde_json::to_value(Payload::V3 { profile: profile.0 }).expect("a payload of plain values is JSON")
}

/// Whether an item is a stored document that is to be embedded anew.
pub(super) fn is_to_be_reembedded(item: &ClaimedItem) -> bool {
    item.payload.get("profile").is_some()
}

/// A chunk with what is embedded for it.
struct Composed {
    chunk: BareChunk,
    hash: Hash,
    text: String,
}

/// A document of the claim.
struct Stored {
    item: i32,
    document: Option<uuid::Uuid>,
    chunks: Vec<Composed>,
}

impl Processor {
    /// Gives the chunks of stored documents vectors in the space that the items name.
    pub(super) async fn reembed(&self, batch: &Batch<'_>, items: Vec<ClaimedItem>) -> Result<(), ServiceError> {
        // The items of a job all name the same space.
        let Some(first) = items.first() else { return Ok(()) };
        let everything = || items.iter().map(|item| item.ordinal);
        let profile = match serde_json::from_value(first.payload.clone()) {
            Ok(Payload::V3 { profile }) => ProfileId(profile),
            Ok(Payload::V1 { .. } | Payload::V2 { .. }) => {
                let failure = unreadable(first.ordinal, "it names no space");
                return self.fail_all(batch.handle, everything(), &failure).await;
            }
            Err(error) => {
                let failure = unreadable(first.ordinal, &error.to_string());
                return self.fail_all(batch.handle, everything(), &failure).await;
            }
        };
        let Some(embedder) = self.embedders.of(profile) else {
            return self.fail_all(batch.handle, everything(), &model_missing()).await;
        };
        let mut groups = vec![self.read_stored(batch, profile, &items).await?];
        while let Some(group) = groups.pop() {
            match self.fill(batch, (profile, embedder), &group).await {
                Ok(()) => {}
                // A document that a model refuses for good fails alone.
                Err(error) if !is_transient(&error) && group.len() > 1 => {
                    groups.extend(group.into_iter().map(|document| vec![document]));
                }
                Err(error) => {
                    let items: Vec<i32> = group.iter().map(|document| document.item).collect();
                    self.retry_or_fail(batch, &items, &(&error).into()).await?;
                }
            }
        }
        Ok(())
    }

    /// The documents with those of their chunks that have no vector in the space.
    async fn read_stored(
        &self,
        batch: &Batch<'_>,
        profile: ProfileId,
        items: &[ClaimedItem],
    ) -> Result<Vec<Stored>, ServiceError> {
        let started = Instant::now();
        let sources: Vec<String> = items.iter().map(|item| item.source.clone()).collect();
        let (documents, chunks) =
            self.store.bare_chunks(batch.handle.tenant, batch.collection.id, profile, &sources).await?;
        let (embedder, window) = (Arc::clone(&self.embedder), batch.plan.window);
        let composed = tokio::task::spawn_blocking(move || compose(chunks, embedder.as_ref(), window))
            .await
            .expect("composing a title and a text does not panic");
        let mut by_source: HashMap<String, Vec<Composed>> = HashMap::new();
        for chunk in composed {
            by_source.entry(chunk.chunk.source.clone()).or_default().push(chunk);
        }
        let documents: HashMap<String, uuid::Uuid> = documents.into_iter().collect();
        let stored: Vec<Stored> = items
            .iter()
            .map(|item| Stored {
                item: item.ordinal,
                document: documents.get(&item.source).copied(),
                chunks: by_source.remove(&item.source).unwrap_or_default(),
            })
            .collect();
        batch.meter.add(Stage::Load, stored.len(), started);
        Ok(stored)
    }

    async fn fill(
        &self,
        batch: &Batch<'_>,
        space: (ProfileId, &Arc<dyn Embedder>),
        documents: &[Stored],
    ) -> Result<(), ServiceError> {
        let ClaimHandle { tenant, job_id, fence } = batch.handle;
        self.note_risk(batch, true).await?;
        let started = Instant::now();
        let chunks = documents.iter().flat_map(|document| &document.chunks);
        let texts = readable(space.1.as_ref(), chunks.map(|chunk| (chunk.hash, chunk.text.as_str())).collect());
        let made = self.vectors_in(tenant, space, &texts).await?;
        batch.meter.add(Stage::Embed, documents.len(), started);
        self.note_risk(batch, false).await?;
        let started = Instant::now();
        let (whole, cut): (Vec<&Stored>, Vec<&Stored>) = documents
            .iter()
            .partition(|document| document.chunks.iter().all(|chunk| made.vectors.contains_key(&chunk.hash)));
        self.fail_all(batch.handle, cut.iter().map(|document| document.item), &too_long(space.1.as_ref())).await?;
        let (vectors, items) = settled(&whole, &made);
        let stored = self
            .store
            .store_vectors(&VectorBatch {
                tenant,
                job_id,
                fence,
                collection: batch.collection.id,
                profile: space.0,
                vectors: &vectors,
                items: &items,
                now: self.context.clock.now(),
            })
            .await?;
        let items: Vec<i32> = items.iter().map(|item| item.ordinal).collect();
        match stored {
            VectorOutcome::Settled => batch.meter.add(Stage::Store, whole.len(), started),
            VectorOutcome::SpaceGone => self.fail_all(batch.handle, items.into_iter(), &space_gone()).await?,
            // Some were deleted or cancelled; what is left waits again.
            VectorOutcome::LeaseLost => {
                self.store.is_not_lost(tenant, job_id, fence, &items).await?;
                self.store.release_items(tenant, job_id, fence, (&items, false), self.context.clock.now()).await?;
            }
        }
        Ok(())
    }
}

/// What ingest embeds for these chunks: the same text has the same hash, and is not embedded twice.
fn compose(chunks: Vec<BareChunk>, embedder: &dyn Embedder, window: Window) -> Vec<Composed> {
    let counter = |text: &str| embedder.count(text);
    let mut fronts: HashMap<&str, FrontComposer<'_>> = HashMap::new();
    let mut texts = Vec::with_capacity(chunks.len());
    for chunk in &chunks {
        // A title that is only the name is not embedded, see split_document.
        let title = if chunk.title == name_of(&chunk.source) { "" } else { chunk.title.as_str() };
        let front = fronts.entry(&chunk.source).or_insert_with(|| FrontComposer::new(title, window, &counter));
        let composed = embedding_text(&front.compose(&chunk.heading), &chunk.text);
        let sentence = chunk.context.as_deref();
        texts.push(match sentence {
            Some(sentence) => with_sentence(&composed, &chunk.text, sentence),
            None => composed,
        });
    }
    chunks
        .into_iter()
        .zip(texts)
        .map(|(chunk, text)| Composed { hash: content_hash(text.as_bytes()), text, chunk })
        .collect()
}

fn settled(documents: &[&Stored], made: &InSpace) -> (Vec<NewVector>, Vec<FilledItem>) {
    let (mut vectors, mut items) = (Vec::new(), Vec::new());
    // A text that several documents share was embedded once.
    let mut counted: HashSet<Hash> = HashSet::new();
    for document in documents {
        let mut calls = 0;
        for Composed { chunk, hash, .. } in &document.chunks {
            let Some(vector) = made.vectors.get(hash) else { continue };
            calls += i32::from(made.new.contains(hash) && counted.insert(*hash));
            vectors.push(NewVector { key: chunk.key, version: chunk.version, hash: *hash, vector: vector.clone() });
        }
        items.push(FilledItem {
            ordinal: document.item,
            document: document.document,
            chunks: i32::try_from(document.chunks.len()).unwrap_or(i32::MAX),
            embedding_calls: calls,
        });
    }
    (vectors, items)
}

fn model_missing() -> ItemFailure {
    let message = "this service is not configured for the embedding model; configure it for every service and worker, \
                   and retry the job";
    ItemFailure { ordinal: 0, stage: Stage::Embed, cause: "embedding_model_missing", message: message.to_owned() }
}

fn space_gone() -> ItemFailure {
    let message = "the embedding profile was dropped, or the collection deleted, before this document had its vectors";
    ItemFailure { ordinal: 0, stage: Stage::Store, cause: "profile_dropped", message: message.to_owned() }
}

fn too_long(embedder: &dyn Embedder) -> ItemFailure {
    let message = format!(
        "chunks of this document are longer than the {} tokens that the embedding model reads; use a model with a \
         larger window, or make a collection with smaller chunks",
        embedder.window().tokens
    );
    ItemFailure { ordinal: 0, stage: Stage::Embed, cause: "window_exceeded", message }
}
