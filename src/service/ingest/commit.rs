//! Storing the documents of a batch, and settling their items in the same transaction.

use std::{collections::HashSet, time::Instant};

use super::{
    batch::Batch,
    embed::Embedded,
    failure::{collection_gone, is_refusal},
    job_metrics::JobMetrics,
    pipeline::Processor,
    work::{Work, build_work},
};
use crate::{
    domain::{identity::TenantId, job::Stage},
    service::ServiceError,
    store::{BatchOutcome, BuildBatch, CommitBatch, FollowUp, ItemKey, NewDocument, StoreError, UnchangedItem},
};

impl Processor {
    /// Stores the documents; those with the same source one after the other.
    pub(super) async fn commit(
        &self,
        batch: &Batch<'_>,
        embedded: Vec<Embedded>,
        mut unchanged: &[UnchangedItem],
    ) -> Result<(), ServiceError> {
        let started = Instant::now();
        let items: Vec<ItemKey> = embedded.iter().map(|document| document.prepared.described.origin.item).collect();
        for run in in_runs(embedded) {
            let documents = self.new_documents(batch.collection, run);
            self.commit_run(batch, documents, std::mem::take(&mut unchanged)).await?;
        }
        batch.metrics.add(Stage::Store, items, started);
        if batch.metrics.is_shared() {
            // Nobody waits for the rest of a claim that is others'.
            self.finish_jobs(batch.handle.tenant, batch.metrics).await?;
        }
        Ok(())
    }

    /// Records the work on the jobs of a claim, ends those whose last item is settled, and tells those who wait for them.
    pub(super) async fn finish_jobs(&self, tenant: TenantId, metrics: &JobMetrics) -> Result<(), StoreError> {
        let taken = metrics.take();
        let works = taken.works();
        if works.is_empty() {
            return Ok(());
        }
        let over = self.store.jobs().finish_jobs(tenant, &works, self.context.clock.now()).await?;
        taken.stored();
        metrics.close(&over);
        for (job, _) in works {
            self.signal.settled(job);
        }
        Ok(())
    }

    /// Stores documents of different sources. If Postgres rejects one, stores them one by one, so that it fails alone.
    async fn commit_run(
        &self,
        batch: &Batch<'_>,
        documents: Vec<NewDocument>,
        unchanged: &[UnchangedItem],
    ) -> Result<(), ServiceError> {
        if documents.is_empty() && unchanged.is_empty() {
            return Ok(());
        }
        let landing = self.commit_once(batch, &documents, unchanged).await;
        let is_refused = landing.as_ref().is_err_and(is_refusal);
        if !is_refused || documents.len() + unchanged.len() == 1 {
            return self.conclude(batch, documents, unchanged, landing).await;
        }
        if !unchanged.is_empty() {
            let landing = self.commit_once(batch, &[], unchanged).await;
            self.conclude(batch, Vec::new(), unchanged, landing).await?;
        }
        for document in documents {
            let alone = vec![document];
            let landing = self.commit_once(batch, &alone, &[]).await;
            self.conclude(batch, alone, &[], landing).await?;
        }
        Ok(())
    }

    /// Determines the remaining work on documents after a commit with this outcome.
    async fn conclude(
        &self,
        batch: &Batch<'_>,
        documents: Vec<NewDocument>,
        unchanged: &[UnchangedItem],
        landing: Result<Landing, ServiceError>,
    ) -> Result<(), ServiceError> {
        match landing {
            Ok(Landing::Settled) => Ok(()),
            Ok(Landing::NotHeld) => self.commit_what_is_held(batch, documents, unchanged).await,
            Err(error) => {
                let items: Vec<ItemKey> = items_of(&documents, unchanged).collect();
                self.retry_or_fail(batch, &items, &(&error).into()).await
            }
        }
    }

    /// Stores the documents of a claim that has lost some of its items, which were deleted or cancelled meanwhile. If
    /// the whole claim is lost there is nothing to do.
    async fn commit_what_is_held(
        &self,
        batch: &Batch<'_>,
        mut documents: Vec<NewDocument>,
        unchanged: &[UnchangedItem],
    ) -> Result<(), ServiceError> {
        let items: Vec<ItemKey> = items_of(&documents, unchanged).collect();
        let held = self.store.jobs().held_items(batch.handle).await?;
        let held: HashSet<ItemKey> = held.into_iter().collect();
        documents.retain(|document| held.contains(&document.item));
        let unchanged: Vec<_> = unchanged.iter().filter(|unchanged| held.contains(&unchanged.item)).copied().collect();
        if !documents.is_empty() || !unchanged.is_empty() {
            // Items that are lost at this moment return to the queue when the lease ends.
            self.commit_once(batch, &documents, &unchanged).await?;
        }
        // This process may be the one that was considered lost.
        Ok(self.store.jobs().take_back_loss(batch.handle, &items).await?)
    }

    async fn commit_once(
        &self,
        batch: &Batch<'_>,
        documents: &[NewDocument],
        unchanged: &[UnchangedItem],
    ) -> Result<Landing, ServiceError> {
        let items =
            || documents.iter().map(|document| document.item).chain(unchanged.iter().map(|unchanged| unchanged.item));
        let commit = CommitBatch {
            tenant: batch.handle.tenant,
            collection: batch.collection,
            documents,
            unchanged,
            embed_work: &Work::Embed.store(),
            follow_up: FollowUp { job: self.context.ids.next(), payload: &build_work() },
            now: self.context.clock.now(),
        };
        let outcome = match batch.rebuilt {
            None => self.store.documents().commit_batch(batch.handle, &commit).await?,
            Some(read) => {
                self.store.collections().commit_build(batch.handle, &BuildBatch { batch: commit, read }).await?
            }
        };
        match outcome {
            BatchOutcome::Settled => {}
            BatchOutcome::LeaseLost => return Ok(Landing::NotHeld),
            BatchOutcome::CollectionGone => self.fail_all(batch.handle, items(), &collection_gone()).await?,
            // The worker that claims the documents next builds them for the current state.
            BatchOutcome::IndexChanged | BatchOutcome::DocumentsChanged => {
                let items: Vec<ItemKey> = items().collect();
                let now = self.context.clock.now();
                self.store.jobs().release_items(batch.handle, &items, false, now).await?;
            }
        }
        Ok(Landing::Settled)
    }
}

/// Splits the documents, in their order, before each repeated source: one statement writes a row only once.
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

fn items_of(documents: &[NewDocument], unchanged: &[UnchangedItem]) -> impl Iterator<Item = ItemKey> {
    let stored = documents.iter().map(|document| document.item);
    stored.chain(unchanged.iter().map(|unchanged| unchanged.item))
}

/// Outcome of storing a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Landing {
    /// Each item is settled.
    Settled,
    /// The claim no longer holds all the items; nothing was written.
    NotHeld,
}
