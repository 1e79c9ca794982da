//! One claimed batch from bytes to settled items.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use time::OffsetDateTime;

use super::{
    Settings,
    embed::{Embedded, Failed},
    failure::{collection_gone, ignore_refusal, is_refusal},
    load::is_to_be_fetched,
    meter::Meter,
    prepare::{Described, Prepared, SplitPlan, describe},
};
use crate::{
    domain::{
        job::Stage,
        lexical::{
            analyzer::Analyzer,
            bm25::{ReferenceLength, TermCounts, document_weights},
            reweigh::reweigh,
            term_id::TermSalt,
        },
    },
    providers::{Embedder, outbound::Outbound},
    service::{ServiceError, context::Context},
    store::{BatchOutcome, Claim, ClaimedItem, Collection, CommitBatch, NewChunk, NewDocument, Store},
};

/// What a worker needs to turn a claim into stored documents.
#[derive(Clone)]
pub struct Processor {
    pub(super) store: Store,
    pub(super) embedder: Arc<dyn Embedder>,
    /// Fetches documents by URL.
    pub(super) outbound: Arc<Outbound>,
    pub(super) settings: Settings,
    pub(super) context: Context,
}

impl Processor {
    /// Ingest with this store and embedder.
    #[must_use]
    pub const fn new(
        store: Store,
        embedder: Arc<dyn Embedder>,
        outbound: Arc<Outbound>,
        settings: Settings,
        context: Context,
    ) -> Self {
        Self { store, embedder, outbound, settings, context }
    }

    /// Works through a claim. Every item is settled, put back, or left to whoever holds it now.
    pub(super) async fn process(&self, claim: Claim, meter: &Arc<Meter>) -> Result<(), ServiceError> {
        let started = Instant::now();
        let handle = ClaimHandle { tenant: claim.tenant, job_id: claim.job_id, fence: claim.fence };
        let tries: HashMap<i32, Tries> = claim.items.iter().map(|item| (item.ordinal, Tries::of(item))).collect();
        let found = self.store.collection_by_id(claim.tenant, claim.collection_id).await?;
        let Some((collection, splitter)) = found else {
            return self.fail_all(handle, tries.keys().copied(), &collection_gone()).await;
        };
        let plan = SplitPlan { settings: splitter, window: self.embedder.window() };
        let batch = Batch { handle, collection: &collection, plan, tries: &tries, meter };
        if collection.profile != *self.embedder.profile() {
            let items: Vec<i32> = tries.keys().copied().collect();
            return self.retry_or_fail(&batch, &items, &(&super::foreign_profile(&collection)).into()).await;
        }
        let (fetched, given): (Vec<ClaimedItem>, Vec<ClaimedItem>) =
            claim.items.into_iter().partition(is_to_be_fetched);
        let described = self.describe_all(&batch, given).await?;
        meter.add(Stage::Load, described.len(), started);
        self.process_documents(&batch, described, Vec::new()).await?;
        self.process_fetched(&batch, fetched).await
    }

    /// Works on documents whose content is there; `unchanged` are those of which that is known already.
    pub(super) async fn process_documents(
        &self,
        batch: &Batch<'_>,
        described: Vec<Described>,
        mut unchanged: Vec<(i32, uuid::Uuid)>,
    ) -> Result<(), ServiceError> {
        let Batch { handle, collection, plan, meter, .. } = *batch;
        let started = Instant::now();
        let (equal, changed) = self.leave_out_unchanged(handle, collection, described).await?;
        meter.add(Stage::Load, 0, started);
        unchanged.extend(equal);
        self.note_risk(batch, true).await?;
        let (prepared, failures) = self.prepare_all(changed, plan, meter).await;
        self.store.fail_items(handle.tenant, handle.job_id, handle.fence, &failures, self.context.clock.now()).await?;
        let started = Instant::now();
        let (embedded, failed) = self.embed_apart(handle, collection, prepared).await;
        meter.add(Stage::Embed, embedded.len(), started);
        self.note_risk(batch, false).await?;
        for Failed { items, error } in failed {
            self.retry_or_fail(batch, &items, &(&error).into()).await?;
        }
        let started = Instant::now();
        let stored = embedded.len();
        self.commit(batch, embedded, &unchanged).await?;
        meter.add(Stage::Store, stored, started);
        Ok(())
    }

    /// Says what would be stored for each item; those that cannot be read fail.
    async fn describe_all(&self, batch: &Batch<'_>, items: Vec<ClaimedItem>) -> Result<Vec<Described>, ServiceError> {
        let (mut described, mut failures) = (Vec::new(), Vec::new());
        for item in items {
            match describe(item, batch.plan, self.embedder.profile()) {
                Ok(document) => described.push(document),
                Err(failure) => failures.push(failure),
            }
        }
        let ClaimHandle { tenant, job_id, fence } = batch.handle;
        self.store.fail_items(tenant, job_id, fence, &failures, self.context.clock.now()).await?;
        Ok(described)
    }

    /// Sets aside the documents that are stored already just as they would be stored now.
    async fn leave_out_unchanged(
        &self,
        handle: ClaimHandle,
        collection: &Collection,
        described: Vec<Described>,
    ) -> Result<(Vec<(i32, uuid::Uuid)>, Vec<Described>), ServiceError> {
        let sources: Vec<String> = described.iter().map(|document| document.source.clone()).collect();
        let stored = self.store.stored_as(handle.tenant, collection.id, &sources).await?;
        let by_source: HashMap<&str, (&[u8], uuid::Uuid)> =
            stored.iter().map(|row| (row.source.as_str(), (row.fingerprint.as_slice(), row.document_id))).collect();
        let (mut unchanged, mut changed) = (Vec::new(), Vec::new());
        for document in described {
            match by_source.get(document.source.as_str()) {
                Some((fingerprint, id)) if *fingerprint == document.fingerprint => unchanged.push((document.item, *id)),
                _ => changed.push(document),
            }
        }
        Ok((unchanged, changed))
    }

    /// Stores the documents; with one that Postgres refuses, one by one, so that it fails alone.
    async fn commit(
        &self,
        batch: &Batch<'_>,
        embedded: Vec<Embedded>,
        unchanged: &[(i32, uuid::Uuid)],
    ) -> Result<(), ServiceError> {
        let Batch { handle, collection, .. } = *batch;
        if embedded.is_empty() && unchanged.is_empty() {
            return Ok(());
        }
        let items: Vec<i32> = embedded.iter().map(|document| document.prepared.described.item).collect();
        match self.commit_once(handle, collection.clone(), &embedded, unchanged).await {
            Err(error) if is_refusal(&error) && embedded.len() + unchanged.len() > 1 => {
                self.commit_once(handle, collection.clone(), &[], unchanged).await.map(drop).or_else(ignore_refusal)?;
                for document in embedded {
                    let item = document.prepared.described.item;
                    let result = self.commit_once(handle, collection.clone(), &[document], &[]).await;
                    if let Err(error) = result {
                        self.retry_or_fail(batch, &[item], &(&error).into()).await?;
                    }
                }
                Ok(())
            }
            Err(error) => self.retry_or_fail(batch, &items, &(&error).into()).await,
            Ok(Landing::Settled) => Ok(()),
            Ok(Landing::NotHeld) => self.commit_what_is_held(handle, collection.clone(), embedded, unchanged).await,
        }
    }

    /// Stores the documents of a claim that lost some of its items: deleted or cancelled meanwhile. With the
    /// whole claim lost there is nothing to do.
    async fn commit_what_is_held(
        &self,
        handle: ClaimHandle,
        collection: Collection,
        mut embedded: Vec<Embedded>,
        unchanged: &[(i32, uuid::Uuid)],
    ) -> Result<(), ServiceError> {
        let ended = embedded.iter().map(|document| document.prepared.described.item);
        let items: Vec<i32> = ended.chain(unchanged.iter().map(|(item, _)| *item)).collect();
        let held = self.store.held_items(handle.tenant, handle.job_id, handle.fence).await?;
        let held: HashSet<i32> = held.into_iter().collect();
        embedded.retain(|document| held.contains(&document.prepared.described.item));
        let unchanged: Vec<_> = unchanged.iter().filter(|(item, _)| held.contains(item)).copied().collect();
        if !embedded.is_empty() || !unchanged.is_empty() {
            // What is lost in this moment comes back when the lease ends.
            self.commit_once(handle, collection, &embedded, &unchanged).await?;
        }
        // It may have been this process that was taken for lost.
        let ClaimHandle { tenant, job_id, fence } = handle;
        Ok(self.store.is_not_lost(tenant, job_id, fence, &items).await?)
    }

    async fn commit_once(
        &self,
        handle: ClaimHandle,
        mut collection: Collection,
        embedded: &[Embedded],
        unchanged: &[(i32, uuid::Uuid)],
    ) -> Result<Landing, ServiceError> {
        let counted = Self::count_terms(&collection, embedded);
        loop {
            if !embedded.is_empty() && collection.average_length <= 0.0 {
                collection.average_length = self.first_reference(handle, &collection, &counted).await?;
            }
            let documents = self.weigh(&collection, embedded, &counted);
            let batch = CommitBatch {
                tenant: handle.tenant,
                job_id: handle.job_id,
                fence: handle.fence,
                collection: &collection,
                documents: &documents,
                unchanged,
                now: self.context.clock.now(),
            };
            match self.store.commit_batch(&batch).await? {
                BatchOutcome::Settled => return Ok(Landing::Settled),
                BatchOutcome::LeaseLost => return Ok(Landing::NotHeld),
                BatchOutcome::CollectionGone => {
                    let items =
                        documents.iter().map(|document| document.item).chain(unchanged.iter().map(|(item, _)| *item));
                    self.fail_all(handle, items, &collection_gone()).await?;
                    return Ok(Landing::Settled);
                }
                BatchOutcome::WeightsStale => {
                    let renewed = self.store.collection_by_id(handle.tenant, collection.id).await?;
                    collection = renewed.map_or(collection, |(collection, _)| collection);
                }
            }
        }
    }

    fn count_terms(collection: &Collection, embedded: &[Embedded]) -> Vec<Vec<TermCounts>> {
        let analyzer = Analyzer::of(collection.language);
        let salt = TermSalt::new(collection.id.as_bytes());
        embedded
            .iter()
            .map(|document| {
                let pieces = document.prepared.pieces.iter();
                pieces.map(|piece| TermCounts::of_text(analyzer, salt, piece.indexed_text())).collect()
            })
            .collect()
    }

    async fn first_reference(
        &self,
        handle: ClaimHandle,
        collection: &Collection,
        counted: &[Vec<TermCounts>],
    ) -> Result<f32, ServiceError> {
        let lengths = counted.iter().flatten().map(|terms| u64::from(terms.length()));
        let (chunks, total) = lengths.fold((0, 0), |(chunks, total), length| (chunks + 1, total + length));
        let average = ReferenceLength::of(total, chunks).map_or(1.0, |reference| narrow(reference.terms));
        let chunks = i64::try_from(chunks).unwrap_or(i64::MAX);
        let reference = self.store.first_reference_length(handle.tenant, collection.id, average, chunks).await?;
        Ok(reference.unwrap_or(average))
    }

    fn weigh(&self, collection: &Collection, embedded: &[Embedded], counted: &[Vec<TermCounts>]) -> Vec<NewDocument> {
        let now = self.context.clock.now();
        embedded
            .iter()
            .zip(counted)
            .map(|(document, counts)| self.new_document(document, counts, collection.average_length, now))
            .collect()
    }

    fn new_document(
        &self,
        document: &Embedded,
        counts: &[TermCounts],
        average: f32,
        now: OffsetDateTime,
    ) -> NewDocument {
        let Prepared { described, title, media_type, text, splitter, pieces } = &document.prepared;
        let chunks = pieces
            .iter()
            .zip(counts)
            .zip(&document.vectors)
            .map(|((piece, terms), vector)| NewChunk {
                start_char: int(piece.piece.start),
                end_char: int(piece.piece.end),
                page: piece.page.and_then(|page| i32::try_from(page).ok()),
                heading: piece.piece.heading_path.clone(),
                tokens: int(piece.piece.tokens),
                text: piece.text.clone(),
                length: i32::try_from(terms.length()).unwrap_or(i32::MAX),
                weights: document_weights(terms, f64::from(average)),
                embedding_hash: piece.embedding_hash,
                embedding: vector.clone(),
            })
            .collect();
        NewDocument {
            item: described.item,
            position: described.position,
            new_id: self.context.ids.next(),
            source: described.source.clone(),
            uri: described.uri.clone(),
            loader: described.loader.clone(),
            fetched_at: now,
            fetch: described.fetch.clone(),
            content_hash: described.content_hash,
            fingerprint: described.fingerprint,
            title: title.clone(),
            media_type: media_type.clone(),
            metadata: described.metadata.clone(),
            text: text.clone(),
            splitter: splitter.clone(),
            embedding_calls: document.embedding_calls,
            chunks,
        }
    }

    /// Makes a collection's weights again when its average length has drifted.
    pub(super) async fn maintain(
        &self,
        handle: ClaimHandle,
        collection: uuid::Uuid,
        job_has_ended: bool,
    ) -> Result<(), ServiceError> {
        let lengths = self.store.collection_lengths(handle.tenant, collection).await?;
        let reference = ReferenceLength { terms: f64::from(lengths.reference), chunks: lengths.chunks_at_reference };
        let Some(current) = ReferenceLength::of(lengths.total_length, lengths.chunks) else { return Ok(()) };
        let is_due = reference.needs_reweighing(current) || (job_has_ended && reference.has_drifted(current));
        if lengths.reference > 0.0 && is_due {
            tracing::info!(collection_id = %collection, "weighing the collection again for its new average length");
            self.store.reweigh(handle.tenant, collection, reweigh).await?;
        }
        Ok(())
    }
}

/// Whether a batch could be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Landing {
    /// Each item is settled.
    Settled,
    /// The claim no longer holds all the items; nothing was written.
    NotHeld,
}

/// Documents that are worked on together, and what that needs.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) handle: ClaimHandle,
    pub(super) collection: &'a Collection,
    pub(super) plan: SplitPlan,
    /// How often each item was tried.
    pub(super) tries: &'a HashMap<i32, Tries>,
    pub(super) meter: &'a Arc<Meter>,
}

impl Batch<'_> {
    /// The item that is alone in the claim because it may be what ends its workers.
    pub(super) fn suspect(&self) -> Option<i32> {
        self.tries.iter().find(|(_, tries)| tries.is_suspected).map(|(item, _)| *item)
    }
}

/// How often an item was tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tries {
    /// Claims, this one included.
    pub(super) claims: i32,
    /// Claims that ended in a failure of its own that may pass.
    pub(super) failures: i32,
    /// Whether it may be what ends its workers: it is alone in its claim.
    pub(super) is_suspected: bool,
}

impl Tries {
    const fn of(item: &ClaimedItem) -> Self {
        Self { claims: item.attempts, failures: item.failures, is_suspected: item.is_suspected }
    }
}

/// Which claim is being worked on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClaimHandle {
    pub(super) tenant: crate::domain::identity::TenantId,
    pub(super) job_id: uuid::Uuid,
    pub(super) fence: i64,
}

fn int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[expect(clippy::cast_possible_truncation, reason = "an average length; rounding is intended")]
fn narrow(value: f64) -> f32 {
    value as f32
}
