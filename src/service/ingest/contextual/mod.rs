//! Contextual chunks: each gets a sentence that describes how it relates to its document, and is embedded and indexed
//! with it.

mod writer;

use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

use futures::future::join_all;

use self::writer::Unwritten;
pub(crate) use self::writer::{ContextSettings, ContextWriter};
use super::{batch::Batch, document::Prepared, failure::IngestFailure, piece::PreparedPiece, pipeline::Processor};
use crate::{
    domain::{
        contextual::{Contextual, Excerpt, Occasion, OnFailure, excerpts, fit},
        file_name::embedded_title,
        fingerprint::{Hash, fingerprint},
        job::Stage,
        prompt::context::{Shared, cost, overhead},
    },
    service::ServiceError,
    store::{ContextGaps, ContextWork, ContextsSoFar, DocumentOrigin, ItemFailure, ItemKey, MAX_CLAIMS, StoreError},
};

/// Number of sentences that are stored together: at most this many are lost with their worker.
const KEPT_TOGETHER: usize = 32;
/// Margin, since the estimates of the parts do not add up to the estimate of the whole.
const SLACK: u32 = 16;

/// A document for which sentences are being written.
struct Situated<'d> {
    origin: DocumentOrigin<'d>,
    keys: Vec<Hash>,
    sentences: HashMap<Hash, String>,
    /// Whether the next transient failure is the last one allowed.
    is_last_try: bool,
}

impl Processor {
    /// Writes sentences for the pieces of documents whose index requires them. Documents that fail permanently, or as
    /// their collection demands, are settled here; the others are returned.
    pub(super) async fn contextualise(
        &self,
        batch: &Batch<'_>,
        documents: Vec<Prepared>,
    ) -> Result<Vec<Prepared>, ServiceError> {
        let Some(contextual) = batch.plan.contextual else { return Ok(documents) };
        self.note_risk(batch, false).await?;
        let started = Instant::now();
        let done = join_all(documents.into_iter().map(|document| self.situate(batch, contextual, document))).await;
        let mut situated = Vec::with_capacity(done.len());
        for document in done {
            match document {
                Ok(document) => situated.push(document),
                Err((item, failure)) => self.retry_or_fail(batch, &[item], &failure).await?,
            }
        }
        let items = situated.iter().map(|document| document.described.origin.item);
        batch.metrics.add(Stage::Chunk, items, started);
        Ok(situated)
    }

    async fn situate(
        &self,
        batch: &Batch<'_>,
        contextual: Contextual,
        document: Prepared,
    ) -> Result<Prepared, (ItemKey, IngestFailure)> {
        let item = document.described.origin.item;
        let prompt_tokens = self.writer.prompt_tokens();
        let planned = tokio::task::spawn_blocking(move || {
            let shown = shown_with(&document, prompt_tokens);
            (document, shown)
        });
        let (mut document, shown) = planned.await.expect("planning what is shown does not panic");
        let of_store = |error: StoreError| (item, IngestFailure::from(&ServiceError::from(error)));
        let mut situated = self.begin(batch, &document).await.map_err(of_store)?;
        let refusal = self.write_missing(&mut situated, &document, &shown).await.map_err(of_store)?;
        let Situated { sentences, keys, is_last_try, .. } = situated;
        if let Some(refusal) = &refusal
            && (contextual.on_failure == OnFailure::Abort || (refusal.is_transient && !is_last_try))
        {
            return Err((item, refusal.as_failure()));
        }
        self.attach(&mut document, &keys, &sentences);
        if let Some(refusal) = refusal {
            let gaps = leave_gaps(&mut document, contextual.on_failure, &refusal);
            let so_far = ContextsSoFar { gaps: Some(gaps), ..ContextsSoFar::default() };
            let origin = origin(batch, &document);
            self.store.documents().note_contexts(&origin, &so_far).await.map_err(of_store)?;
            if document.pieces.is_empty() {
                return Err((item, IngestFailure::permanent(refusal.failure())));
            }
        }
        Ok(document)
    }

    /// Loads the sentences that are known for a document.
    async fn begin<'d>(&self, batch: &Batch<'d>, document: &'d Prepared) -> Result<Situated<'d>, StoreError> {
        let origin = origin(batch, document);
        let keys = keys(document, self.writer.models());
        let sentences = self.store.documents().known_contexts(&origin, &keys, batch.makers.of(origin.item.job)).await?;
        if !sentences.is_empty() {
            let reused = keys.iter().filter(|key| sentences.contains_key(*key)).count();
            let work = ContextWork { reused: u64::try_from(reused).unwrap_or(u64::MAX), ..ContextWork::default() };
            self.store.documents().note_contexts(&origin, &ContextsSoFar { work, ..ContextsSoFar::default() }).await?;
        }
        let tries = batch.tries.get(&document.described.origin.item);
        let is_last_try =
            tries.is_some_and(|tries| tries.failures + 1 >= self.settings.max_attempts || tries.claims >= MAX_CLAIMS);
        Ok(Situated { origin, keys, sentences, is_last_try })
    }

    /// Has the missing sentences written; returns the reason why some are still missing, if any are.
    async fn write_missing(
        &self,
        document: &mut Situated<'_>,
        prepared: &Prepared,
        shown: &[Excerpt],
    ) -> Result<Option<Unwritten>, StoreError> {
        let mut refusal = None;
        let title = shown_title(prepared);
        for excerpt in shown {
            let asked: Vec<(Hash, &str)> = document.missing(prepared, excerpt);
            if asked.is_empty() {
                continue;
            }
            let shared = Shared::new(title, &prepared.text, &excerpt.parts);
            // The first call runs alone: once a provider has read the shared part of the prompt, it can cache it.
            let (first, others) = asked.split_at(1);
            for run in std::iter::once(first).chain(others.chunks(KEPT_TOGETHER)) {
                let passages: Vec<&str> = run.iter().map(|(_, passage)| *passage).collect();
                let (results, work) = self.writer.write(document.origin.claim.tenant, &shared, &passages).await;
                let (mut sentences, mut failure) = (Vec::new(), None);
                for ((key, _), result) in run.iter().zip(results) {
                    match result {
                        Ok(Ok(sentence)) => sentences.push((*key, sentence)),
                        Ok(Err(unwritten)) => refusal = Some(worse(refusal, unwritten)),
                        Err(error) => failure = Some(error),
                    }
                }
                document.sentences.extend(sentences.iter().cloned());
                let so_far = ContextsSoFar { sentences, work, gaps: None };
                self.store.documents().note_contexts(&document.origin, &so_far).await?;
                // Returns the error only now, after the other sentences of the run are stored.
                if let Some(error) = failure {
                    return Err(error);
                }
                let is_enough =
                    |refusal: &Unwritten| refusal.is_about_all || (refusal.is_transient && !document.is_last_try);
                if refusal.as_ref().is_some_and(is_enough) {
                    return Ok(refusal);
                }
            }
        }
        Ok(refusal)
    }

    fn attach(&self, document: &mut Prepared, keys: &[Hash], sentences: &HashMap<Hash, String>) {
        let (window, counter) = (self.embedder.window(), |text: &str| self.embedder.count(text));
        let Prepared { pieces, text, .. } = document;
        for (piece, key) in pieces.iter_mut().zip(keys) {
            if let Some(sentence) = sentences.get(key) {
                piece.situate(text, fit(sentence, window, &counter), *key);
            }
        }
    }
}

impl Situated<'_> {
    /// The pieces of an excerpt that have no sentence, each once.
    fn missing<'p>(&self, prepared: &'p Prepared, excerpt: &Excerpt) -> Vec<(Hash, &'p str)> {
        let pieces = prepared.pieces.iter().zip(&self.keys);
        let shown = pieces.skip(excerpt.pieces.start).take(excerpt.pieces.len());
        let mut seen = HashSet::new();
        shown
            .filter(|(_, key)| !self.sentences.contains_key(*key) && seen.insert(**key))
            .map(|(piece, key)| (*key, piece.text(&prepared.text)))
            .collect()
    }
}

impl Unwritten {
    fn failure(&self) -> ItemFailure {
        ItemFailure { stage: Stage::Chunk, cause: self.cause, message: self.message.clone() }
    }

    fn as_failure(&self) -> IngestFailure {
        if self.is_transient {
            IngestFailure::transient(self.failure(), self.retry_after)
        } else {
            IngestFailure::permanent(self.failure())
        }
    }
}

/// The reason that decides the outcome of the document: a transient one, if the document may be retried.
fn worse(one: Option<Unwritten>, other: Unwritten) -> Unwritten {
    match one {
        Some(one) if one.is_transient || !other.is_transient => one,
        _ => other,
    }
}

fn origin<'d>(batch: &Batch<'d>, document: &'d Prepared) -> DocumentOrigin<'d> {
    DocumentOrigin {
        claim: batch.handle,
        item: document.described.origin.item,
        collection: batch.collection.id,
        source: &document.described.origin.source,
        content_hash: &document.described.content_hash,
    }
}

/// Counts the pieces without a sentence, and removes these pieces where the collection's settings require that. The
/// document is then not stored under the identity that it would have with all of them, so an identical upload is
/// processed again.
fn leave_gaps(document: &mut Prepared, on_failure: OnFailure, refusal: &Unwritten) -> ContextGaps {
    let bare = document.pieces.iter().filter(|piece| piece.context.is_none()).count();
    let bare = u32::try_from(bare).unwrap_or(u32::MAX);
    let described = &mut document.described;
    described.fingerprint = fingerprint(&[&described.fingerprint, b"without contexts", &bare.to_le_bytes()]);
    if let Some(fetch) = &mut described.origin.fetch {
        (fetch.etag, fetch.last_modified) = (None, None);
    }
    let is_left_out = on_failure == OnFailure::Skip;
    if is_left_out {
        document.pieces.retain(|piece| piece.context.is_some());
    }
    ContextGaps {
        without: if is_left_out { 0 } else { bare },
        left_out: if is_left_out { bare } else { 0 },
        cause: refusal.cause.to_owned(),
        message: refusal.message.clone(),
    }
}

/// Selects the excerpts of the document that are shown with each of its pieces.
fn shown_with(document: &Prepared, prompt_tokens: u32) -> Vec<Excerpt> {
    let starts: Vec<usize> = document.pieces.iter().map(|piece| piece.piece.bytes.start).collect();
    let largest = document.pieces.iter().map(|piece| cost(piece.text(&document.text))).max().unwrap_or(0);
    let taken = overhead(shown_title(document)).saturating_add(largest).saturating_add(SLACK);
    excerpts(&document.text, &starts, prompt_tokens.saturating_sub(taken), &cost)
}

/// A title that is only the file name is omitted, so that the same bytes under another name have the same sentences.
fn shown_title(document: &Prepared) -> &str {
    embedded_title(&document.title, &document.described.origin.source)
}

fn keys(document: &Prepared, models: &Hash) -> Vec<Hash> {
    let mut seen: HashMap<Hash, u32> = HashMap::new();
    let title = shown_title(document);
    let key_of = |piece: &PreparedPiece| {
        let heading_path = &piece.piece.heading_path;
        let first = Occasion { models, title, heading_path, piece: piece.text(&document.text), earlier: 0 };
        let earlier = seen.entry(first.key()).or_default();
        let key = Occasion { earlier: *earlier, ..first }.key();
        *earlier = earlier.saturating_add(1);
        key
    };
    document.pieces.iter().map(key_of).collect()
}
