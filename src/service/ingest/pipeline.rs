//! Ingest from a claim to settled items.
//!
//! Each stage takes documents and returns those that passed it; it settles, or puts back, the items of the others.
//!
//! | stage | file |
//! |---|---|
//! | fetch documents by URL | `fetch.rs` |
//! | extract text, and split it | `document.rs`, `extraction.rs` |
//! | contextualise: a sentence for each chunk | `contextual/` |
//! | embed | `embed.rs` |
//! | store, and settle the items | `bm25.rs`, `commit.rs` |
//!
//! Stored documents enter half-way: those that lack vectors (`embed_stored.rs`), and those that are built into the next
//! index of their collection (`build.rs`).

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use uuid::Uuid;

use super::{
    IngestParts, Settings, Signal,
    batch::{Batch, Target, Tries},
    build::index_dropped,
    contextual::ContextWriter,
    document::{Described, Prepared, SplitPlan, describe},
    embed_stored::{model_missing, model_missing_for_stored},
    failure::collection_gone,
    fetch::PART_BYTES,
    job_metrics::JobMetrics,
    work::{ItemsByWork, Upload},
};
use crate::{
    domain::{
        fingerprint::fingerprint,
        job::{Indexing, Stage},
    },
    extract::needs_isolation,
    providers::{Embedder, outbound::Outbound},
    service::{ServiceError, context::Context, embedders::Embedders},
    store::{Claim, ClaimedItem, Collection, CollectionSettings, ItemKey, Phase, Store, StoredAs, UnchangedItem},
};

/// Documents that get their sentences, and are stored, together: writing sentences is slow, and a document is visible
/// only afterwards.
const CONTEXT_GROUP: usize = 16;

/// The store, models and settings that a worker needs to turn a claim into stored documents.
#[derive(Clone)]
pub(crate) struct Processor {
    pub(super) store: Store,
    pub(super) embedders: Embedders,
    /// The profile of the index that is being processed.
    pub(super) embedder: Arc<dyn Embedder>,
    /// Fetches documents by URL.
    pub(super) outbound: Arc<Outbound>,
    /// Writes sentences on how chunks relate to their document, for collections that want them.
    pub(super) writer: ContextWriter,
    pub(super) settings: Settings,
    pub(super) context: Context,
    /// Tells those who wait.
    pub(super) signal: Arc<Signal>,
}

impl Processor {
    /// Processes with these components and settings.
    #[must_use]
    pub(crate) fn new(
        parts: IngestParts,
        outbound: Arc<Outbound>,
        writer: ContextWriter,
        settings: Settings,
        signal: Arc<Signal>,
    ) -> Self {
        let IngestParts { store, embedders, context } = parts;
        let embedder = Arc::clone(embedders.primary().1);
        Self { store, embedders, embedder, outbound, writer, settings, context, signal }
    }

    /// Processes a claim, for the index that its items go into. Every item is settled, returned to the queue, or left
    /// to the worker that now holds it.
    pub(super) async fn process(&self, claim: Claim, metrics: &Arc<JobMetrics>) -> Result<(), ServiceError> {
        let (handle, tries) = (claim.handle, Tries::of(&claim));
        let found = self.store.collections().collection_by_id(handle.tenant, claim.collection_id).await?;
        let Some(active) = found else {
            return self.fail_all(handle, tries.keys().copied(), &collection_gone()).await;
        };
        let items = ItemsByWork::of(claim.items);
        // The items of a job that builds an index all do.
        let is_build = !items.builds.is_empty();
        let target = if is_build {
            self.store.collections().collection_with_next_index(handle.tenant, &active.0).await?
        } else {
            Some(active)
        };
        let Some((collection, settings)) = target else {
            return self.fail_all(handle, tries.keys().copied(), &index_dropped()).await;
        };
        let Some(bound) = self.bound_to(&collection) else {
            let failure = if handle.phase == Phase::Embed { model_missing_for_stored() } else { model_missing() };
            return self.fail_all(handle, tries.keys().copied(), &failure).await;
        };
        let mut jobs: Vec<Uuid> = tries.keys().map(|item| item.job).collect();
        jobs.sort_unstable();
        jobs.dedup();
        let makers = &self.store.documents().makers(handle.tenant, &jobs).await?;
        let plan = bound.plan(settings);
        let indexing = if is_build { Indexing::Complete } else { claim.indexing };
        let collection = &collection;
        let rebuilt = None;
        bound
            .work_on(&Batch { handle, collection, rebuilt, plan, indexing, tries: &tries, makers, metrics }, items)
            .await
    }

    /// The same for the documents of an index, by its model; `None` where that is not configured.
    pub(super) fn bound_to(&self, collection: &Collection) -> Option<Self> {
        let embedder = self.embedders.of(collection.profile_id)?;
        Some(Self { embedder: Arc::clone(embedder), ..self.clone() })
    }

    /// How documents are split for an index with these settings.
    pub(super) fn plan(&self, settings: CollectionSettings) -> SplitPlan {
        SplitPlan::new(settings, self.embedder.window(), *self.writer.models())
    }

    async fn work_on(&self, batch: &Batch<'_>, items: ItemsByWork) -> Result<(), ServiceError> {
        let ItemsByWork { uploads, fetches, embeds, builds, unreadable } = items;
        self.fail_each(batch, &unreadable).await?;
        self.embed_stored(batch, &embeds).await?;
        self.build(batch, builds).await?;
        self.ingest(batch, self.describe_all(batch, uploads), Vec::new()).await?;
        self.fetch(batch, fetches).await
    }

    /// Runs the stages for documents whose content is available; `unchanged` are those that are known to be stored
    /// already.
    pub(super) async fn ingest(
        &self,
        batch: &Batch<'_>,
        documents: Vec<Described>,
        mut unchanged: Vec<UnchangedItem>,
    ) -> Result<(), ServiceError> {
        if documents.is_empty() && unchanged.is_empty() {
            return Ok(());
        }
        let changed = self.leave_out_unchanged(&batch.target(), documents, &mut unchanged).await?;
        let (isolated, others): (Vec<Described>, Vec<Described>) =
            changed.into_iter().partition(|document| needs_isolation(&document.content, &document.origin.media_type));
        let mut split = self.extract_and_split(batch, others).await?;
        for document in isolated {
            // A file may hold a thousand times the text that its size promises; and it takes its time, for which documents of
            // others do not wait.
            if batch.metrics.is_shared()
                || split.iter().map(|document| document.text.len()).sum::<usize>() >= PART_BYTES
            {
                self.finish(batch, std::mem::take(&mut split), std::mem::take(&mut unchanged)).await?;
            }
            split.extend(self.extract_isolated_and_split(batch, document).await?);
        }
        self.finish(batch, split, unchanged).await
    }

    /// Runs the stages for documents that are already split.
    pub(super) async fn finish(
        &self,
        batch: &Batch<'_>,
        split: Vec<Prepared>,
        mut unchanged: Vec<UnchangedItem>,
    ) -> Result<(), ServiceError> {
        if batch.plan.contextual.is_some() {
            // These need no sentences, and do not wait for the sentences of others.
            self.commit(batch, Vec::new(), &std::mem::take(&mut unchanged)).await?;
        }
        for group in groups(batch, split) {
            let situated = self.contextualise(batch, group).await?;
            let embedded = self.embed(batch, situated).await?;
            self.commit(batch, embedded, &std::mem::take(&mut unchanged)).await?;
        }
        Ok(())
    }

    fn describe_all(&self, batch: &Batch<'_>, uploads: Vec<(ClaimedItem, Upload)>) -> Vec<Described> {
        let started = Instant::now();
        let profile = self.embedder.profile();
        let describe = |(item, upload): (ClaimedItem, Upload)| describe(item, upload, batch.plan, profile);
        let described: Vec<Described> = uploads.into_iter().map(describe).collect();
        batch.metrics.add(Stage::Load, described.iter().map(|document| document.origin.item), started);
        described
    }

    /// Separates the documents that are already stored exactly as they would be stored now. One that its maker may not see
    /// is stored anew under another fingerprint: that nothing has changed would tell its content to somebody who guesses.
    pub(super) async fn leave_out_unchanged(
        &self,
        target: &Target<'_>,
        documents: Vec<Described>,
        unchanged: &mut Vec<UnchangedItem>,
    ) -> Result<Vec<Described>, ServiceError> {
        let started = Instant::now();
        let sources: Vec<String> = documents.iter().map(|document| document.origin.source.clone()).collect();
        let stored = self.store.documents().stored_as(target.tenant, target.collection.id, &sources).await?;
        let by_source: HashMap<&str, &StoredAs> = stored.iter().map(|row| (row.source.as_str(), row)).collect();
        let mut changed = Vec::new();
        let is_same = |document: &Described| {
            let stored = by_source.get(document.origin.source.as_str());
            stored.filter(|stored| stored.fingerprint == document.fingerprint).map(|stored| stored.document_id)
        };
        let hidden = self.hidden(target, &documents, is_same).await?;
        for mut document in documents {
            match by_source.get(document.origin.source.as_str()) {
                Some(stored) if hidden.contains(&document.origin.item) => {
                    document.fingerprint = fingerprint(&[&document.fingerprint, &stored.fingerprint]);
                    changed.push(document);
                }
                Some(stored) if stored.fingerprint == document.fingerprint => unchanged.push(UnchangedItem {
                    item: document.origin.item,
                    document_id: stored.document_id,
                    version: stored.version,
                    position: document.origin.position,
                }),
                _ => changed.push(document),
            }
        }
        target.metrics.add(Stage::Load, [], started);
        Ok(changed)
    }

    /// Items whose stored document, if `stored` names one, is hidden from those who made their jobs.
    async fn hidden(
        &self,
        target: &Target<'_>,
        documents: &[Described],
        stored: impl Fn(&Described) -> Option<Uuid>,
    ) -> Result<HashSet<ItemKey>, ServiceError> {
        let mut hidden = HashSet::new();
        for maker in target.makers.distinct() {
            let theirs = documents.iter().map(|document| (document.origin.item, stored(document)));
            let theirs: Vec<(ItemKey, Uuid)> = theirs
                .filter(|(item, _)| target.makers.of(item.job) == Some(maker))
                .filter_map(|(item, document)| Some((item, document?)))
                .collect();
            if theirs.is_empty() {
                continue;
            }
            let ids: Vec<Uuid> = theirs.iter().map(|(_, document)| *document).collect();
            let visible = self.store.documents().visible(target.tenant, &ids, maker).await?;
            hidden.extend(theirs.into_iter().filter(|(_, document)| !visible.contains(document)).map(|(item, _)| item));
        }
        Ok(hidden)
    }
}

/// Groups the documents that are stored together: all of them, or few at a time where they wait for sentences. Returns
/// at least one group, so that unchanged documents are settled, unless they have been.
fn groups(batch: &Batch<'_>, split: Vec<Prepared>) -> Vec<Vec<Prepared>> {
    if batch.plan.contextual.is_none() {
        return vec![split];
    }
    let mut groups = Vec::new();
    let mut waiting = split.into_iter().peekable();
    while waiting.peek().is_some() {
        groups.push(waiting.by_ref().take(CONTEXT_GROUP).collect());
    }
    groups
}
