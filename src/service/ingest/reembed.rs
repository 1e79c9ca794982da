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
    embed::readable,
    failure::{Trouble, is_transient},
    prepare::{embedded_title, unreadable},
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
    store::{
        BareChunk, ClaimedItem, FilledItem, Half, ItemFailure, NewVector, ProfileId, ReadDocument, VectorBatch,
        VectorOutcome,
    },
};

/// Vectors that are made and stored together: what a worker that is lost in the midst of it does in vain.
const ROUND_CHUNKS: usize = 256;

/// What a failure in the second half of an item means.
const BY_WORDS: &str = "The document is stored and found by its words only";

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
pub(super) struct Stored {
    item: i32,
    document: Option<uuid::Uuid>,
    chunks: Vec<Composed>,
}

/// Which vectors are to be made.
pub(super) struct Target<'a> {
    /// The space that a document is done with.
    pub(super) space: (ProfileId, &'a Arc<dyn Embedder>),
    /// Spaces in which it gets vectors too, where they can be made.
    pub(super) besides: &'a [ProfileId],
    /// For which half of an item.
    pub(super) half: Half,
}

impl Target<'_> {
    fn spaces(&self) -> Vec<ProfileId> {
        std::iter::once(self.space.0).chain(self.besides.iter().copied()).collect()
    }

    /// What a failure means for a document that may be found by its words meanwhile.
    fn trouble(&self, error: &ServiceError) -> Trouble {
        let mut trouble = Trouble::from(error);
        if self.half == Half::Vectors {
            let message = &mut trouble.failure.message;
            *message = format!("{message}. {BY_WORDS}; retry the job, and its vectors are made.");
        }
        trouble
    }
}

impl Processor {
    /// Gives the chunks of stored documents vectors in the space that the items name.
    pub(super) async fn reembed(&self, batch: &Batch<'_>, items: Vec<ClaimedItem>) -> Result<(), ServiceError> {
        // The items of a job all name the same space.
        let Some(first) = items.first() else { return Ok(()) };
        let everything = || items.iter().map(|item| item.ordinal);
        let profile = match serde_json::from_value(first.payload.clone()) {
            Ok(Payload::V3 { profile }) => ProfileId(profile),
            Ok(Payload::V1 { .. } | Payload::V2 { .. } | Payload::V4 {} | Payload::V5 {}) => {
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
        let target = Target { space: (profile, embedder), besides: &[], half: Half::Document };
        let documents = self.read_stored(batch, &target, &items).await?;
        self.fill_apart(batch, &target, documents).await
    }

    /// Gives documents their vectors in rounds that are stored as they are made. One that a model refuses for good
    /// fails alone.
    pub(super) async fn fill_apart(
        &self,
        batch: &Batch<'_>,
        target: &Target<'_>,
        documents: Vec<Stored>,
    ) -> Result<(), ServiceError> {
        let mut groups = in_rounds(documents);
        while let Some(group) = groups.pop() {
            match self.fill(batch, target, &group).await {
                Ok(()) => {}
                Err(error) if !is_transient(&error) && group.len() > 1 => {
                    groups.extend(group.into_iter().map(|document| vec![document]));
                }
                Err(error) => {
                    let items: Vec<i32> = group.iter().map(|document| document.item).collect();
                    self.retry_or_fail(batch, &items, &target.trouble(&error)).await?;
                }
            }
        }
        Ok(())
    }

    /// The documents with those of their chunks that have no vector in one of the spaces or another.
    pub(super) async fn read_stored(
        &self,
        batch: &Batch<'_>,
        target: &Target<'_>,
        items: &[ClaimedItem],
    ) -> Result<Vec<Stored>, ServiceError> {
        let started = Instant::now();
        let sources: Vec<String> = items.iter().map(|item| item.source.clone()).collect();
        let (documents, chunks) =
            self.store.bare_chunks(batch.handle.tenant, batch.collection.id, &target.spaces(), &sources).await?;
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
                // Whoever replaced a document sees to its vectors: it may be another item of the same claim.
                let is_meant = |document: &&ReadDocument| item.stored_version.is_none_or(|it| it == document.version);
                let is_current = document.is_some_and(is_meant);
                let chunks = if is_current { by_source.remove(&item.source) } else { None };
                Stored {
                    item: item.ordinal,
                    document: document.map(|document| document.id),
                    chunks: chunks.unwrap_or_default(),
                }
            })
            .collect();
        batch.meter.add(Stage::Load, stored.len(), started);
        Ok(stored)
    }

    async fn fill(&self, batch: &Batch<'_>, target: &Target<'_>, documents: &[Stored]) -> Result<(), ServiceError> {
        let chunks: Vec<&Composed> = documents.iter().flat_map(|document| &document.chunks).collect();
        let mut made = Made::default();
        let mut rest = chunks.as_slice();
        loop {
            let (round, after) = rest.split_at(rest.len().min(ROUND_CHUNKS));
            let vectors = self.vectors_of_round(batch, target, round, &mut made).await?;
            if after.is_empty() {
                let (whole, cut): (Vec<&Stored>, Vec<&Stored>) =
                    documents.iter().partition(|document| !made.has_missed(document));
                let failure = too_long(target.space.1.as_ref());
                self.fail_all(batch.handle, cut.iter().map(|document| document.item), &failure).await?;
                self.store_round(batch, target, &vectors, &whole, Some(&mut made)).await?;
                return Ok(());
            }
            let everything: Vec<&Stored> = documents.iter().collect();
            if !self.store_round(batch, target, &vectors, &everything, None).await? {
                return Ok(());
            }
            rest = after;
        }
    }

    async fn vectors_of_round(
        &self,
        batch: &Batch<'_>,
        target: &Target<'_>,
        chunks: &[&Composed],
        made: &mut Made,
    ) -> Result<Vec<NewVector>, ServiceError> {
        self.note_risk(batch, true).await?;
        let started = Instant::now();
        let texts: Vec<(Hash, &str)> = chunks.iter().map(|chunk| (chunk.hash, chunk.text.as_str())).collect();
        let (profile, embedder) = target.space;
        let fitting = readable(embedder.as_ref(), texts.clone());
        let found = self.vectors_in(batch, target.space, &fitting).await?;
        let besides = self.vectors_beside(batch, target.besides, &texts).await;
        batch.meter.add(Stage::Embed, 0, started);
        self.note_risk(batch, false).await?;
        made.missed.extend(texts.iter().map(|(hash, _)| *hash).filter(|hash| !found.vectors.contains_key(hash)));
        made.new.extend(found.new);
        let spaces = std::iter::once((profile, &found.vectors)).chain(target.besides.iter().copied().zip(&besides));
        let of_space = |(profile, vectors)| new_vectors(profile, chunks, vectors);
        Ok(spaces.flat_map(of_space).collect())
    }

    /// Stores what was made for these documents; with `made` that was the last of it, and they are settled. False when
    /// nothing more is to be made: they wait again, or have failed.
    async fn store_round(
        &self,
        batch: &Batch<'_>,
        target: &Target<'_>,
        vectors: &[NewVector],
        documents: &[&Stored],
        made: Option<&mut Made>,
    ) -> Result<bool, ServiceError> {
        let ClaimHandle { tenant, job_id, fence } = batch.handle;
        let started = Instant::now();
        let is_last = made.is_some();
        let mut nothing = Made::default();
        let made = made.unwrap_or(&mut nothing);
        let items: Vec<FilledItem> = documents.iter().map(|document| made.item(document)).collect();
        let stored = self
            .store
            .store_vectors(&VectorBatch {
                tenant,
                job_id,
                fence,
                collection: batch.collection.id,
                spaces: &target.spaces(),
                fills_all: target.half == Half::Vectors,
                vectors,
                items: &items,
                is_last,
                now: self.context.clock.now(),
            })
            .await?;
        let passed = if is_last { items.len() } else { 0 };
        let items: Vec<i32> = items.iter().map(|item| item.ordinal).collect();
        match stored {
            VectorOutcome::Settled => {
                batch.meter.add(Stage::Embed, passed, Instant::now());
                batch.meter.add(Stage::Store, passed, started);
                return Ok(true);
            }
            VectorOutcome::SpaceGone => self.fail_all(batch.handle, items.into_iter(), &space_gone()).await?,
            // Some were deleted or cancelled, or are to get vectors in another space; what is left waits again.
            VectorOutcome::LeaseLost | VectorOutcome::SpacesChanged => {
                self.store.take_back_loss(tenant, job_id, fence, &items).await?;
                self.store.release_items(tenant, job_id, fence, (&items, false), self.context.clock.now()).await?;
            }
        }
        Ok(false)
    }
}

/// Documents that are worked on together, the first ones last.
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

/// What a model did for documents so far.
#[derive(Default)]
struct Made {
    /// Texts that it was asked for, until they are counted for a document.
    new: HashSet<Hash>,
    /// Texts that it cannot read whole.
    missed: HashSet<Hash>,
}

impl Made {
    fn has_missed(&self, document: &Stored) -> bool {
        document.chunks.iter().any(|chunk| self.missed.contains(&chunk.hash))
    }

    /// A text that several documents share counts for the first.
    fn item(&mut self, document: &Stored) -> FilledItem {
        let calls = document.chunks.iter().filter(|chunk| self.new.remove(&chunk.hash)).count();
        FilledItem {
            ordinal: document.item,
            document: document.document,
            chunks: i32::try_from(document.chunks.len()).unwrap_or(i32::MAX),
            embedding_calls: i32::try_from(calls).unwrap_or(i32::MAX),
        }
    }
}

fn new_vectors(profile: ProfileId, chunks: &[&Composed], vectors: &HashMap<Hash, Vec<f32>>) -> Vec<NewVector> {
    let new = |Composed { chunk, hash, .. }: &&Composed| {
        let vector = vectors.get(hash)?.clone();
        Some(NewVector { profile, key: chunk.key, version: chunk.version, hash: *hash, vector })
    };
    chunks.iter().filter_map(new).collect()
}

/// What ingest embeds for these chunks: the same text has the same hash, and is not embedded twice.
fn compose(chunks: Vec<BareChunk>, embedder: &dyn Embedder, window: Window) -> Vec<Composed> {
    let counter = |text: &str| embedder.count(text);
    let mut fronts: HashMap<&str, FrontComposer<'_>> = HashMap::new();
    let mut texts = Vec::with_capacity(chunks.len());
    for chunk in &chunks {
        let title = embedded_title(&chunk.title, &chunk.source);
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

/// The same for documents that are found by their words meanwhile.
pub(super) fn model_missing_for_vectors() -> ItemFailure {
    let failure = model_missing();
    ItemFailure { message: format!("{}. {BY_WORDS} until then.", failure.message), ..failure }
}

/// The collection is embedded with a model that this process does not have.
pub(super) fn model_missing() -> ItemFailure {
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
