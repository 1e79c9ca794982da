//! One claimed batch from bytes to settled items.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use super::{
    Settings,
    batch::{Batch, ClaimHandle, Tries},
    build::index_dropped,
    contextual::ContextWriter,
    embed::{Embedded, Failed},
    embed_stored::{model_missing, model_missing_for_stored},
    failure::{collection_gone, is_refusal},
    load::PART_BYTES,
    meter::Meter,
    prepare::{Described, Prepared, SplitPlan, describe},
    work::{ItemsByWork, Upload, Work, build_work},
};
use crate::{
    domain::job::{Indexing, Stage},
    extract::needs_isolation,
    providers::{Embedder, outbound::Outbound},
    service::{ServiceError, context::Context, embedders::Embedders},
    store::{
        BatchOutcome, BuildBatch, Claim, ClaimedItem, Collection, CommitBatch, FollowUp, ItemFailure, Phase, Store,
        StoredAs, UnchangedItem,
    },
};

/// What a worker needs to turn a claim into stored documents.
#[derive(Clone)]
pub struct Processor {
    pub(super) store: Store,
    pub(super) embedders: Embedders,
    /// That of the index that is worked on.
    pub(super) embedder: Arc<dyn Embedder>,
    /// Fetches documents by URL.
    pub(super) outbound: Arc<Outbound>,
    /// Says how chunks relate to their document, for collections that want it.
    pub(super) writer: ContextWriter,
    pub(super) settings: Settings,
    pub(super) context: Context,
}

impl Processor {
    /// Ingest with this store and these embedders.
    #[must_use]
    pub fn new(
        store: Store,
        embedders: Embedders,
        outbound: Arc<Outbound>,
        writer: ContextWriter,
        settings: Settings,
        context: Context,
    ) -> Self {
        let embedder = Arc::clone(embedders.primary().1);
        Self { store, embedders, embedder, outbound, writer, settings, context }
    }

    /// Works through a claim. Every item is settled, put back, or left to whoever holds it now.
    pub(super) async fn process(&self, claim: Claim, meter: &Arc<Meter>) -> Result<(), ServiceError> {
        let (handle, tries, phase) = (ClaimHandle::of(&claim), Tries::of(&claim), claim.phase);
        let found = self.store.collection_by_id(claim.tenant, claim.collection_id).await?;
        let Some(active) = found else {
            return self.fail_all(handle, tries.keys().copied(), &collection_gone()).await;
        };
        let items = ItemsByWork::of(claim.items);
        // The items of a job that builds an index all do.
        let is_build = !items.builds.is_empty();
        let target =
            if is_build { self.store.collection_with_next_index(claim.tenant, &active.0).await? } else { Some(active) };
        let Some((collection, settings)) = target else {
            return self.fail_all(handle, tries.keys().copied(), &index_dropped()).await;
        };
        let Some(embedder) = self.embedders.of(collection.profile_id) else {
            let failure = if phase == Phase::Embed { model_missing_for_stored() } else { model_missing() };
            return self.fail_all(handle, tries.keys().copied(), &failure).await;
        };
        let bound = Self { embedder: Arc::clone(embedder), ..self.clone() };
        let plan = SplitPlan::new(settings, embedder.window(), *self.writer.models());
        let indexing = if is_build { Indexing::Complete } else { claim.indexing };
        let collection = &collection;
        bound.work_on(&Batch { handle, collection, rebuilt: None, plan, indexing, tries: &tries, meter }, items).await
    }

    async fn work_on(&self, batch: &Batch<'_>, items: ItemsByWork) -> Result<(), ServiceError> {
        let started = Instant::now();
        let ItemsByWork { uploads, fetches, embeds, builds, unreadable } = items;
        let ClaimHandle { tenant, job_id, fence } = batch.handle;
        self.store.fail_items(tenant, job_id, fence, &unreadable, self.context.clock.now()).await?;
        self.embed_stored(batch, &embeds).await?;
        self.build(batch, builds).await?;
        let profile = self.embedder.profile();
        let describe = |(item, upload): (ClaimedItem, Upload)| describe(item, upload, batch.plan, profile);
        let described: Vec<Described> = uploads.into_iter().map(describe).collect();
        batch.meter.add(Stage::Load, described.len(), started);
        self.process_documents(batch, described, Vec::new()).await?;
        self.process_fetched(batch, fetches).await
    }

    /// Works on documents whose content is there; `unchanged` are those of which that is known already.
    pub(super) async fn process_documents(
        &self,
        batch: &Batch<'_>,
        described: Vec<Described>,
        mut unchanged: Vec<UnchangedItem>,
    ) -> Result<(), ServiceError> {
        let Batch { handle, collection, plan, meter, .. } = *batch;
        let started = Instant::now();
        let (equal, changed) = self.leave_out_unchanged(handle, collection, described).await?;
        meter.add(Stage::Load, 0, started);
        unchanged.extend(equal);
        let (apart, here): (Vec<Described>, Vec<Described>) =
            changed.into_iter().partition(|document| needs_isolation(&document.content, &document.origin.media_type));
        self.note_risk(batch, true).await?;
        let mut prepared = self.keep_prepared(handle, self.prepare_here(here, plan, meter).await).await?;
        for document in apart {
            // A file may hold a thousand times the text that its size promises.
            if prepared.iter().map(|document| document.text.len()).sum::<usize>() >= PART_BYTES {
                self.complete(batch, std::mem::take(&mut prepared), std::mem::take(&mut unchanged)).await?;
                self.note_risk(batch, true).await?;
            }
            prepared.extend(self.keep_prepared(handle, self.prepare_apart(document, plan, meter).await).await?);
        }
        self.complete(batch, prepared, unchanged).await
    }

    /// The documents that could be read and split; the others fail.
    pub(super) async fn keep_prepared(
        &self,
        handle: ClaimHandle,
        documents: Vec<Result<Prepared, ItemFailure>>,
    ) -> Result<Vec<Prepared>, ServiceError> {
        let (mut prepared, mut failures) = (Vec::new(), Vec::new());
        for document in documents {
            match document {
                Ok(document) => prepared.push(document),
                Err(failure) => failures.push(failure),
            }
        }
        self.store.fail_items(handle.tenant, handle.job_id, handle.fence, &failures, self.context.clock.now()).await?;
        Ok(prepared)
    }

    /// The rest of the way of documents that are split.
    pub(super) async fn complete(
        &self,
        batch: &Batch<'_>,
        prepared: Vec<Prepared>,
        unchanged: Vec<UnchangedItem>,
    ) -> Result<(), ServiceError> {
        if batch.plan.contextual.is_none() {
            return self.embed_and_store(batch, prepared, &unchanged).await;
        }
        self.note_risk(batch, false).await?;
        self.commit(batch, Vec::new(), &unchanged).await?;
        self.store_with_contexts(batch, prepared).await
    }

    /// The way of documents whose pieces are complete.
    pub(super) async fn embed_and_store(
        &self,
        batch: &Batch<'_>,
        prepared: Vec<Prepared>,
        unchanged: &[UnchangedItem],
    ) -> Result<(), ServiceError> {
        let started = Instant::now();
        let (embedded, failed) = self.embed(batch, prepared).await?;
        batch.meter.add(Stage::Embed, embedded.len(), started);
        self.note_risk(batch, false).await?;
        for Failed { items, error } in failed {
            self.retry_or_fail(batch, &items, &(&error).into()).await?;
        }
        let started = Instant::now();
        let stored = embedded.len();
        self.commit(batch, embedded, unchanged).await?;
        batch.meter.add(Stage::Store, stored, started);
        Ok(())
    }

    /// Sets aside the documents that are stored already just as they would be stored now.
    async fn leave_out_unchanged(
        &self,
        handle: ClaimHandle,
        collection: &Collection,
        described: Vec<Described>,
    ) -> Result<(Vec<UnchangedItem>, Vec<Described>), ServiceError> {
        let sources: Vec<String> = described.iter().map(|document| document.origin.source.clone()).collect();
        let stored = self.store.stored_as(handle.tenant, collection.id, &sources).await?;
        let by_source: HashMap<&str, &StoredAs> = stored.iter().map(|row| (row.source.as_str(), row)).collect();
        let (mut unchanged, mut changed) = (Vec::new(), Vec::new());
        for document in described {
            match by_source.get(document.origin.source.as_str()) {
                Some(stored) if stored.fingerprint == document.fingerprint => unchanged.push(UnchangedItem {
                    item: document.origin.item,
                    document_id: stored.document_id,
                    version: stored.version,
                    position: document.origin.position,
                }),
                _ => changed.push(document),
            }
        }
        Ok((unchanged, changed))
    }

    /// Stores the documents, those of one source one after the other.
    async fn commit(
        &self,
        batch: &Batch<'_>,
        embedded: Vec<Embedded>,
        mut unchanged: &[UnchangedItem],
    ) -> Result<(), ServiceError> {
        for run in in_runs(embedded) {
            self.commit_run(batch, run, std::mem::take(&mut unchanged)).await?;
        }
        Ok(())
    }

    /// Stores documents of different sources; with one that Postgres refuses, one by one, so that it fails alone.
    async fn commit_run(
        &self,
        batch: &Batch<'_>,
        embedded: Vec<Embedded>,
        unchanged: &[UnchangedItem],
    ) -> Result<(), ServiceError> {
        if embedded.is_empty() && unchanged.is_empty() {
            return Ok(());
        }
        let landing = self.commit_once(batch, &embedded, unchanged).await;
        let is_refused = landing.as_ref().is_err_and(is_refusal);
        if !is_refused || embedded.len() + unchanged.len() == 1 {
            return self.conclude(batch, embedded, unchanged, landing).await;
        }
        if !unchanged.is_empty() {
            let landing = self.commit_once(batch, &[], unchanged).await;
            self.conclude(batch, Vec::new(), unchanged, landing).await?;
        }
        for document in embedded {
            let alone = vec![document];
            let landing = self.commit_once(batch, &alone, &[]).await;
            self.conclude(batch, alone, &[], landing).await?;
        }
        Ok(())
    }

    /// What is left to be done with documents when a commit of them has ended like this.
    async fn conclude(
        &self,
        batch: &Batch<'_>,
        embedded: Vec<Embedded>,
        unchanged: &[UnchangedItem],
        landing: Result<Landing, ServiceError>,
    ) -> Result<(), ServiceError> {
        match landing {
            Ok(Landing::Settled) => Ok(()),
            Ok(Landing::NotHeld) => self.commit_what_is_held(batch, embedded, unchanged).await,
            Err(error) => {
                let items: Vec<i32> = items_of(&embedded, unchanged).collect();
                self.retry_or_fail(batch, &items, &(&error).into()).await
            }
        }
    }

    /// Stores the documents of a claim that lost some of its items: deleted or cancelled meanwhile. With the
    /// whole claim lost there is nothing to do.
    async fn commit_what_is_held(
        &self,
        batch: &Batch<'_>,
        mut embedded: Vec<Embedded>,
        unchanged: &[UnchangedItem],
    ) -> Result<(), ServiceError> {
        let items: Vec<i32> = items_of(&embedded, unchanged).collect();
        let ClaimHandle { tenant, job_id, fence } = batch.handle;
        let held = self.store.held_items(tenant, job_id, fence).await?;
        let held: HashSet<i32> = held.into_iter().collect();
        embedded.retain(|document| held.contains(&document.prepared.described.origin.item));
        let unchanged: Vec<_> = unchanged.iter().filter(|unchanged| held.contains(&unchanged.item)).copied().collect();
        if !embedded.is_empty() || !unchanged.is_empty() {
            // What is lost in this moment comes back when the lease ends.
            self.commit_once(batch, &embedded, &unchanged).await?;
        }
        // It may have been this process that was taken for lost.
        Ok(self.store.take_back_loss(tenant, job_id, fence, &items).await?)
    }

    async fn commit_once(
        &self,
        batch: &Batch<'_>,
        embedded: &[Embedded],
        unchanged: &[UnchangedItem],
    ) -> Result<Landing, ServiceError> {
        let (handle, mut collection) = (batch.handle, batch.collection.clone());
        let counted = Self::count_terms(&collection, embedded);
        loop {
            if !embedded.is_empty() && collection.average_length <= 0.0 {
                collection.average_length = self.first_reference(handle, &collection, &counted).await?;
            }
            let documents = self.weigh(&collection, embedded, &counted);
            let items = || {
                documents.iter().map(|document| document.item).chain(unchanged.iter().map(|unchanged| unchanged.item))
            };
            let commit = CommitBatch {
                tenant: handle.tenant,
                job_id: handle.job_id,
                fence: handle.fence,
                collection: &collection,
                documents: &documents,
                unchanged,
                embed_work: &Work::Embed.store(),
                follow_up: FollowUp { job: self.context.ids.next(), payload: &build_work() },
                now: self.context.clock.now(),
            };
            let outcome = match batch.rebuilt {
                None => self.store.commit_batch(&commit).await?,
                Some(read) => self.store.commit_build(&BuildBatch { batch: commit, read }).await?,
            };
            match outcome {
                BatchOutcome::Settled => return Ok(Landing::Settled),
                BatchOutcome::LeaseLost => return Ok(Landing::NotHeld),
                BatchOutcome::CollectionGone => {
                    self.fail_all(handle, items(), &collection_gone()).await?;
                    return Ok(Landing::Settled);
                }
                // Whoever claims the documents next makes them for what there is now.
                BatchOutcome::IndexChanged | BatchOutcome::DocumentsChanged => {
                    let ClaimHandle { tenant, job_id, fence } = handle;
                    let items: Vec<i32> = items().collect();
                    let now = self.context.clock.now();
                    self.store.release_items(tenant, job_id, fence, (&items, false), now).await?;
                    return Ok(Landing::Settled);
                }
                BatchOutcome::WeightsStale => {
                    let renewed = self.store.reference_length(handle.tenant, collection.index).await?;
                    collection.average_length = renewed.unwrap_or(collection.average_length);
                }
            }
        }
    }
}

/// The documents in their order, cut before each whose source comes again: one statement writes a row only once.
fn in_runs(documents: Vec<Embedded>) -> Vec<Vec<Embedded>> {
    let (mut runs, mut run, mut sources) = (Vec::new(), Vec::new(), HashSet::new());
    for document in documents {
        let source = document.prepared.described.origin.source.clone();
        if sources.contains(&source) {
            runs.push(std::mem::take(&mut run));
            sources.clear();
        }
        sources.insert(source);
        run.push(document);
    }
    runs.push(run);
    runs
}

fn items_of(embedded: &[Embedded], unchanged: &[UnchangedItem]) -> impl Iterator<Item = i32> {
    let embedded = embedded.iter().map(|document| document.prepared.described.origin.item);
    embedded.chain(unchanged.iter().map(|unchanged| unchanged.item))
}

/// Whether a batch could be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Landing {
    /// Each item is settled.
    Settled,
    /// The claim no longer holds all the items; nothing was written.
    NotHeld,
}
