//! Fetches documents by URL; afterwards they are processed like any other.

use std::{collections::HashMap, sync::Arc, time::Instant};

use tokio::task::JoinSet;

use super::{
    batch::Batch,
    document::{Described, Description, Origin, SplitPlan},
    failure::IngestFailure,
    pipeline::Processor,
    work::Fetch,
};
use crate::{
    domain::{fingerprint::Hash, identity::TenantId, job::Stage},
    extract::MediaType,
    providers::outbound::{Fetched, FetchedDocument, OutboundError, Validators},
    service::ServiceError,
    store::{ClaimedItem, EarlierFetch, FetchRecord, UnchangedItem},
};

/// Concurrent fetches of a claim. Each document may be as large as the operator allows.
const FETCHES: usize = 4;
/// Bytes of fetched or extracted content after which it is processed, so that memory does not grow with a claim.
pub(super) const PART_BYTES: usize = 2 * 1024 * 1024;

/// Outcome of fetching a URL.
enum Loaded {
    /// A document.
    Document(Box<Described>),
    /// The content at the URL is the content that is stored.
    Unchanged(UnchangedItem),
    /// Nothing.
    Failed(IngestFailure),
}

impl Processor {
    /// Fetches the documents of a claim and processes them in parts.
    pub(super) async fn fetch(&self, batch: &Batch<'_>, items: Vec<(ClaimedItem, Fetch)>) -> Result<(), ServiceError> {
        if items.is_empty() {
            return Ok(());
        }
        let sources: Vec<String> = items.iter().map(|(item, _)| item.source.clone()).collect();
        let earlier =
            self.store.documents().earlier_fetches(batch.handle.tenant, batch.collection.id, &sources).await?;
        let mut earlier: HashMap<String, EarlierFetch> =
            earlier.into_iter().map(|fetch| (fetch.source.clone(), fetch)).collect();
        // Of hidden documents the server would be told what it said then, and the maker that it still says so.
        let ids: Vec<_> = earlier.values().map(|fetch| fetch.document_id).collect();
        for maker in batch.makers.distinct() {
            let visible = self.store.documents().visible(batch.handle.tenant, &ids, maker).await?;
            earlier.retain(|_, fetch| visible.contains(&fetch.document_id));
        }
        let earlier = Arc::new(earlier);
        let mut waiting = items.into_iter();
        // Dropped with this future when the lease is lost or the job is cancelled; that ends the fetches too.
        let mut fetching = JoinSet::new();
        let (mut part, mut unchanged, mut bytes) = (Vec::new(), Vec::new(), 0);
        loop {
            while fetching.len() < FETCHES
                && let Some((item, work)) = waiting.next()
            {
                let (processor, plan, earlier) = (self.clone(), batch.plan, Arc::clone(&earlier));
                let tenant = batch.handle.tenant;
                fetching.spawn(async move {
                    let (key, started) = (item.key, Instant::now());
                    (key, processor.load(tenant, item, work, plan, &earlier).await, started)
                });
            }
            let Some(done) = fetching.join_next().await else { break };
            let (item, loaded, started) = done.expect("a fetch neither panics nor is it cancelled");
            batch.metrics.add(Stage::Load, Some(item).filter(|_| !matches!(loaded, Loaded::Failed(_))), started);
            match loaded {
                Loaded::Document(document) => {
                    bytes += document.content.len();
                    part.push(*document);
                }
                Loaded::Unchanged(document) => unchanged.push(document),
                Loaded::Failed(failure) => self.retry_or_fail(batch, &[item], &failure).await?,
            }
            if bytes >= PART_BYTES {
                bytes = 0;
                self.ingest(batch, std::mem::take(&mut part), std::mem::take(&mut unchanged)).await?;
            }
        }
        self.ingest(batch, part, unchanged).await
    }

    async fn load(
        &self,
        tenant: TenantId,
        item: ClaimedItem,
        work: Fetch,
        plan: SplitPlan,
        earlier: &HashMap<String, EarlierFetch>,
    ) -> Loaded {
        let description = Description {
            uri: &work.url,
            title: work.title.as_deref(),
            media_type: work.media_type.as_deref().unwrap_or_default(),
            metadata: &work.metadata,
            settings: plan.fingerprint(self.embedder.profile()),
        };
        let request_hash = description.hash(&[]);
        // A reply of "not modified" counts only if the previous request asked for the same.
        let earlier = earlier.get(&item.source).filter(|earlier| earlier.fetch.request_hash == request_hash);
        let validators = earlier.map(|earlier| Validators {
            etag: earlier.fetch.etag.clone(),
            last_modified: earlier.fetch.last_modified.clone(),
        });
        let validators = validators.unwrap_or_default();
        match self.outbound.fetch_for(tenant, &work.url, &validators, self.settings.fetch_max_bytes).await {
            Ok(Fetched::Document(document)) => {
                Loaded::Document(Box::new(self.described(item, work, document, plan, request_hash)))
            }
            Ok(Fetched::Unchanged) => match earlier {
                Some(earlier) => Loaded::Unchanged(UnchangedItem {
                    item: item.key,
                    document_id: earlier.document_id,
                    version: earlier.version,
                    position: item.position,
                }),
                // Cannot happen: without an earlier fetch there was nothing to compare with.
                None => {
                    Loaded::Failed(IngestFailure::of_fetch(&OutboundError::Status { status: 304, retry_after: None }))
                }
            },
            Err(error) => Loaded::Failed(IngestFailure::of_fetch(&error)),
        }
    }

    fn described(
        &self,
        item: ClaimedItem,
        work: Fetch,
        document: FetchedDocument,
        plan: SplitPlan,
        request_hash: Hash,
    ) -> Described {
        let Fetch { url, title, media_type, metadata, loader } = work;
        let FetchedDocument { content, content_type, validators, url: place } = document;
        let name = place.path().rsplit('/').next().unwrap_or_default().to_owned();
        let requested_media_type = media_type.clone();
        let media_type = media_type.unwrap_or_else(|| MediaType::choose(&name, content_type));
        let Validators { etag, last_modified } = validators;
        let fetch = FetchRecord { etag, last_modified, request_hash };
        let origin = Origin {
            item: item.key,
            position: item.position,
            source: item.source,
            uri: url,
            title,
            media_type,
            requested_media_type,
            metadata,
            loader,
            fetch: Some(fetch),
            attached_to: None,
        };
        origin.describe(content, plan, self.embedder.profile())
    }
}
