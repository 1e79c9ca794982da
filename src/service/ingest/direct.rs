//! Stores small documents that a client waits for before they are accepted: they are embedded, and written together with
//! their jobs, which are over then. Uploads that arrive together share all of it.
//!
//! Whatever is not fit for that, fails or takes long is left to the queue (`acceptance.rs`): nothing has been written of it.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use uuid::Uuid;

use super::{
    acceptance::Upload,
    batch::Target,
    document::{Described, Prepared, SplitPlan, describe},
    embed::{Vectors, attach, texts_of},
    job_metrics::JobMetrics,
    pipeline::Processor,
    work::{Work, build_work},
};
use crate::{
    domain::{
        identity::TenantId,
        job::{Indexing, Stage},
    },
    extract::needs_isolation,
    service::{ServiceError, error_chain, together::Together},
    store::{
        ClaimedItem, DirectBatch, DirectUpload, FollowUp, ItemKey, Makers, NewJobItem, Phase, ReportedJob,
        UnchangedItem,
    },
};

/// Largest document that is stored so: others wait while it is embedded.
const SMALL_BYTES: usize = 16 * 1024;
/// Most bytes of the documents that are stored together: the built-in model embeds them in a fraction of a second.
const SHARED_BYTES: usize = 48 * 1024;
/// Longest wait for the embedding model. A document is not kept before it has answered.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time for which documents go through the queue after the model took longer.
const REST: Duration = Duration::from_secs(10);

/// The outcome of an upload.
pub(super) enum Direct {
    /// It is stored, but may not be on the disk yet.
    Stored(Box<ReportedJob>),
    /// It is left to the queue.
    Left(Box<Upload>),
    /// It is left to the queue, and may be stored all the same: the database was lost while it was being written.
    InDoubt(Box<Upload>),
}

/// Stores uploads directly.
#[derive(Clone)]
pub(super) struct DirectStorage {
    processor: Processor,
    rounds: Together<(TenantId, String), Upload, Direct>,
    /// Until then the model is considered slow.
    rests_until: Arc<Mutex<Option<Instant>>>,
}

impl DirectStorage {
    /// With the models and the store of a worker.
    pub(super) fn new(processor: Processor) -> Self {
        Self { processor, rounds: Together::default(), rests_until: Arc::default() }
    }

    /// Stores the document of an upload if it can be done soon, together with those of others that arrive now. Returns `None`
    /// if the work broke off: it is not known what became of the upload.
    pub(super) async fn store(&self, upload: Upload) -> Option<Direct> {
        if Entry::of(&upload).is_none() || self.rests() {
            return Some(Direct::Left(Box::new(upload)));
        }
        let (key, storage) = ((upload.tenant(), upload.collection.clone()), self.clone());
        let round = move |uploads| {
            let storage = storage.clone();
            async move { Box::pin(storage.store_round(uploads)).await }
        };
        self.rounds.call(key, upload, round).await
    }

    /// Stores uploads of a tenant into one collection.
    async fn store_round(&self, uploads: Vec<Upload>) -> Vec<Direct> {
        let mut stored = match self.try_round(&uploads).await {
            Ok(stored) => stored,
            Err(error) => {
                tracing::debug!(
                    error = error_chain(&error),
                    "documents were not stored at once; they go through the queue"
                );
                let is_in_doubt = matches!(&error, ServiceError::Store(error) if error.is_transient());
                let left = |upload| if is_in_doubt { Direct::InDoubt(upload) } else { Direct::Left(upload) };
                return uploads.into_iter().map(Box::new).map(left).collect();
            }
        };
        let outcome = |upload: Upload| match stored.remove(&upload.job) {
            Some(job) => Direct::Stored(Box::new(job)),
            None => Direct::Left(Box::new(upload)),
        };
        uploads.into_iter().map(outcome).collect()
    }

    /// Returns the finished jobs of those uploads that are stored.
    async fn try_round(&self, uploads: &[Upload]) -> Result<HashMap<Uuid, ReportedJob>, ServiceError> {
        let Some(first) = uploads.first() else { return Ok(HashMap::new()) };
        let (tenant, processor) = (first.tenant(), &self.processor);
        let found = processor.store.collections().collection_by_name(tenant, &first.collection).await?;
        let Some((collection, settings)) = found else { return Ok(HashMap::new()) };
        let Some(processor) = processor.bound_to(&collection) else { return Ok(HashMap::new()) };
        let plan = processor.plan(settings);
        let entries = entries_of(uploads, collection.indexing);
        if plan.contextual.is_some() || entries.is_empty() {
            return Ok(HashMap::new());
        }
        let metrics = Arc::new(JobMetrics::of(entries.iter().map(Entry::item_and_size)));
        let makers: Makers = entries.iter().filter_map(Entry::maker).collect();
        let target = Target { tenant, collection: &collection, makers: &makers, metrics: &metrics };
        let round = Round { processor: &processor, target, plan };
        let ready = round.prepare(&entries).await?;
        let (started, texts) = (Instant::now(), texts_of(&ready.split));
        let Ok(vectors) = tokio::time::timeout(PATIENCE, processor.vectors_of(&target, &texts)).await else {
            self.rest();
            return Ok(HashMap::new());
        };
        let items = ready.split.iter().map(|document| document.described.origin.item);
        metrics.add(Stage::Embed, items, started);
        let jobs = round.write(&entries, ready, vectors?).await?;
        processor.signal.stored_directly();
        Ok(jobs.into_iter().map(|reported| (reported.job.id, reported)).collect())
    }

    fn rests(&self) -> bool {
        let until = *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    fn rest(&self) {
        *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + REST);
    }
}

/// An upload that is stored directly, with its document.
struct Entry<'a> {
    upload: &'a Upload,
    item: &'a NewJobItem,
}

impl Entry<'_> {
    /// The document of an upload whose kind is stored directly.
    fn of(upload: &Upload) -> Option<Entry<'_>> {
        let [item] = upload.items.as_slice() else { return None };
        let is_plain = upload.webhook.is_none() && item.acl.is_none();
        let is_small = item.phase == Phase::Store && item.content.bytes() <= SMALL_BYTES;
        (is_plain && is_small).then_some(Entry { upload, item })
    }

    const fn key(&self) -> ItemKey {
        ItemKey { job: self.upload.job, ordinal: 0 }
    }

    fn maker(&self) -> Option<(Uuid, Vec<i32>)> {
        Some((self.upload.job, self.upload.principals.clone()?))
    }

    fn as_written(&self) -> DirectUpload<'_> {
        let Upload { job, event, caller, principals, arrived_at, .. } = self.upload;
        DirectUpload {
            job: *job,
            created_by: caller.key_id.as_deref(),
            maker_principals: principals.as_deref(),
            created_at: *arrived_at,
            key: self.upload.key(),
            event,
            source: &self.item.source,
            bytes: self.item.content.bytes() as u64,
        }
    }

    fn item_and_size(&self) -> (ItemKey, usize) {
        (self.key(), self.item.content.bytes())
    }

    /// As a worker would have claimed it.
    fn claimed(&self) -> ClaimedItem {
        ClaimedItem {
            key: self.key(),
            position: 0,
            source: self.item.source.clone(),
            payload: self.item.payload.clone(),
            content: self.item.content.kept().to_vec(),
            stored_version: None,
            attempts: 1,
            failures: 0,
            is_suspected: false,
        }
    }
}

/// The uploads that one transaction can store: each source and each name once, and no more than others can wait for.
fn entries_of(uploads: &[Upload], indexing: Indexing) -> Vec<Entry<'_>> {
    let (mut entries, mut sources, mut names, mut bytes) = (Vec::new(), HashSet::new(), HashSet::new(), 0);
    for entry in uploads.iter().filter_map(Entry::of) {
        bytes += entry.item.content.bytes();
        let is_complete = entry.upload.indexing.unwrap_or(indexing) == Indexing::Complete;
        let is_named_anew = entry.upload.key().is_none_or(|name| names.insert(name.key));
        if bytes <= SHARED_BYTES && is_complete && is_named_anew && sources.insert(entry.item.source.as_str()) {
            entries.push(entry);
        }
    }
    entries
}

/// Documents that are stored together.
struct Round<'a> {
    processor: &'a Processor,
    target: Target<'a>,
    plan: SplitPlan,
}

/// Documents as far as they can be prepared without a model.
struct Ready {
    split: Vec<Prepared>,
    /// Those that are stored already.
    unchanged: Vec<UnchangedItem>,
}

impl Round<'_> {
    /// Reads and splits the documents. Those that would need a process of their own, or cannot be read, are left out.
    async fn prepare(&self, entries: &[Entry<'_>]) -> Result<Ready, ServiceError> {
        let started = Instant::now();
        let described: Vec<Described> = entries.iter().filter_map(|entry| self.describe(entry)).collect();
        self.target.metrics.add(Stage::Load, described.iter().map(|document| document.origin.item), started);
        let mut unchanged = Vec::new();
        let changed = self.processor.leave_out_unchanged(&self.target, described, &mut unchanged).await?;
        let changed = changed.into_iter().map(|document| (document, None)).collect();
        let (mut split, _) = self.processor.read_and_split(self.plan, self.target.metrics, changed).await;
        split.retain(|document| document.attachments.is_empty());
        Ok(Ready { split, unchanged })
    }

    fn describe(&self, entry: &Entry<'_>) -> Option<Described> {
        let claimed = entry.claimed();
        let Ok(Work::Upload(upload)) = Work::read(claimed.payload.clone()) else { return None };
        let is_isolated = needs_isolation(&claimed.content, &upload.media_type);
        (!is_isolated).then(|| describe(claimed, upload, self.plan, self.processor.embedder.profile()))
    }

    /// Writes the documents with the jobs of their uploads, all of them or none.
    async fn write(
        &self,
        entries: &[Entry<'_>],
        Ready { split, mut unchanged }: Ready,
        vectors: Vectors,
    ) -> Result<Vec<ReportedJob>, ServiceError> {
        let Self { processor, target: Target { tenant, collection, metrics, .. }, .. } = *self;
        let started = Instant::now();
        let items: Vec<ItemKey> = split.iter().map(|document| document.described.origin.item).collect();
        let embedded = attach(vectors, split);
        let ready: HashSet<Uuid> =
            items.iter().chain(unchanged.iter().map(|found| &found.item)).map(|item| item.job).collect();
        let uploads: Vec<DirectUpload<'_>> =
            entries.iter().filter(|entry| ready.contains(&entry.upload.job)).map(Entry::as_written).collect();
        if uploads.is_empty() {
            return Ok(Vec::new());
        }
        let mut documents = processor.new_documents(collection, embedded);
        let batch = DirectBatch {
            tenant,
            collection,
            uploads: &uploads,
            documents: &mut documents,
            unchanged: &mut unchanged,
            follow_up: FollowUp { job: processor.context.ids.next(), payload: &build_work() },
            now: processor.context.clock.now().truncate_to_microsecond(),
        };
        let work = || {
            metrics.add(Stage::Store, items, started);
            let taken = metrics.take();
            let works = taken.works();
            taken.stored();
            works
        };
        Ok(processor.store.documents().store_uploads(batch, work).await?.unwrap_or_default())
    }
}
