//! Documents by URL: fetched, and from there on like any other.

use std::{collections::HashMap, sync::Arc, time::Instant};

use serde_json::Value;
use tokio::task::JoinSet;

use super::{
    Payload,
    batch::Batch,
    failure::Trouble,
    prepare::{Described, Description, Origin, SplitPlan, unreadable},
    process::Processor,
};
use crate::{
    domain::job::Stage,
    extract::MediaType,
    providers::outbound::{Fetched, FetchedDocument, OutboundError, Validators},
    service::ServiceError,
    store::{ClaimedItem, EarlierFetch, FetchRecord, UnchangedItem},
};

/// Documents of a claim that are fetched at once. Each may be as large as the operator allows.
const FETCHES: usize = 4;
/// What has been fetched or extracted is worked on when it has so many bytes, so that memory does not grow with a claim.
pub(super) const PART_BYTES: usize = 2 * 1024 * 1024;

/// What became of a URL.
enum Loaded {
    /// A document.
    Document(Box<Described>),
    /// What is stored is what is there.
    Unchanged(UnchangedItem),
    /// Nothing.
    Failed(Trouble),
}

/// A document of a claim that is yet to be fetched.
struct Fetch {
    item: i32,
    position: i64,
    source: String,
    url: String,
    title: Option<String>,
    media_type: Option<String>,
    metadata: Value,
    loader: String,
}

/// Whether an item is to be fetched. One whose payload cannot be read is not.
pub(super) fn is_to_be_fetched(item: &ClaimedItem) -> bool {
    item.payload.get("url").is_some()
}

impl Processor {
    /// Fetches the documents of a claim and works on them in parts.
    pub(super) async fn process_fetched(&self, batch: &Batch<'_>, items: Vec<ClaimedItem>) -> Result<(), ServiceError> {
        if items.is_empty() {
            return Ok(());
        }
        let sources: Vec<String> = items.iter().map(|item| item.source.clone()).collect();
        let earlier = self.store.earlier_fetches(batch.handle.tenant, batch.collection.id, &sources).await?;
        let earlier: Arc<HashMap<String, EarlierFetch>> =
            Arc::new(earlier.into_iter().map(|fetch| (fetch.source.clone(), fetch)).collect());
        let mut waiting = items.into_iter();
        // Dropped with this future, when the lease is lost or the job is cancelled: fetches end with it.
        let mut fetching = JoinSet::new();
        let (mut part, mut unchanged, mut bytes) = (Vec::new(), Vec::new(), 0);
        loop {
            while fetching.len() < FETCHES
                && let Some(item) = waiting.next()
            {
                let (processor, plan, earlier) = (self.clone(), batch.plan, Arc::clone(&earlier));
                fetching.spawn(async move {
                    let (ordinal, started) = (item.ordinal, Instant::now());
                    (ordinal, processor.load(item, plan, &earlier).await, started)
                });
            }
            let Some(done) = fetching.join_next().await else { break };
            let (item, loaded, started) = done.expect("a fetch neither panics nor is it cancelled");
            batch.meter.add(Stage::Load, usize::from(!matches!(loaded, Loaded::Failed(_))), started);
            match loaded {
                Loaded::Document(document) => {
                    bytes += document.content.len();
                    part.push(*document);
                }
                Loaded::Unchanged(document) => unchanged.push(document),
                Loaded::Failed(trouble) => self.retry_or_fail(batch, &[item], &trouble).await?,
            }
            if bytes >= PART_BYTES {
                bytes = 0;
                self.process_documents(batch, std::mem::take(&mut part), std::mem::take(&mut unchanged)).await?;
            }
        }
        self.process_documents(batch, part, unchanged).await
    }

    async fn load(&self, item: ClaimedItem, plan: SplitPlan, earlier: &HashMap<String, EarlierFetch>) -> Loaded {
        let item = match read(item) {
            Ok(item) => item,
            Err(trouble) => return Loaded::Failed(trouble),
        };
        let description = Description {
            uri: &item.url,
            title: item.title.as_deref(),
            media_type: item.media_type.as_deref().unwrap_or_default(),
            metadata: &item.metadata,
            settings: plan.fingerprint(self.embedder.profile()),
        };
        let request_hash = description.hash(&[]);
        // What the server calls unchanged is so only if the same was asked for the last time.
        let earlier = earlier.get(&item.source).filter(|earlier| earlier.fetch.request_hash == request_hash);
        let validators = earlier.map(|earlier| Validators {
            etag: earlier.fetch.etag.clone(),
            last_modified: earlier.fetch.last_modified.clone(),
        });
        let validators = validators.unwrap_or_default();
        match self.outbound.fetch(&item.url, &validators, self.settings.fetch_max_bytes).await {
            Ok(Fetched::Document(document)) => {
                Loaded::Document(Box::new(self.described(item, document, plan, request_hash)))
            }
            Ok(Fetched::Unchanged) => match earlier {
                Some(earlier) => Loaded::Unchanged(UnchangedItem {
                    item: item.item,
                    document_id: earlier.document_id,
                    version: earlier.version,
                    position: item.position,
                }),
                // Never: without an earlier fetch there was nothing to compare with.
                None => Loaded::Failed(Trouble::of_fetch(&OutboundError::Status { status: 304, retry_after: None })),
            },
            Err(error) => Loaded::Failed(Trouble::of_fetch(&error)),
        }
    }

    fn described(
        &self,
        item: Fetch,
        document: FetchedDocument,
        plan: SplitPlan,
        request_hash: crate::domain::fingerprint::Hash,
    ) -> Described {
        let Fetch { item, position, source, url, title, media_type, metadata, loader } = item;
        let FetchedDocument { content, content_type, validators, url: place } = document;
        let name = place.path().rsplit('/').next().unwrap_or_default().to_owned();
        let requested_media_type = media_type.clone();
        let media_type = media_type.unwrap_or_else(|| MediaType::choose(&name, content_type));
        let Validators { etag, last_modified } = validators;
        let fetch = FetchRecord { etag, last_modified, request_hash };
        let origin = Origin {
            item,
            position,
            source,
            uri: url,
            title,
            media_type,
            requested_media_type,
            metadata,
            loader,
            fetch: Some(fetch),
        };
        origin.describe(content, plan, self.embedder.profile())
    }
}

fn read(item: ClaimedItem) -> Result<Fetch, Trouble> {
    let ClaimedItem { ordinal, position, source, payload, .. } = item;
    match serde_json::from_value(payload) {
        Ok(Payload::V2 { url, title, media_type, metadata, loader }) => {
            Ok(Fetch { item: ordinal, position, source, url, title, media_type, metadata, loader })
        }
        Ok(Payload::V1 { .. } | Payload::V3 { .. } | Payload::V4 {} | Payload::V5 {}) => {
            Err(Trouble::for_good(unreadable(ordinal, "it has no url")))
        }
        Err(error) => Err(Trouble::for_good(unreadable(ordinal, &error.to_string()))),
    }
}
