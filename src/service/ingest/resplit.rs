//! Stored documents that are split again, from their stored text.

use std::{collections::HashMap, sync::Arc, time::Instant};

use serde_json::Value;

use super::{
    Payload,
    batch::{Batch, ClaimHandle},
    layout::Layout,
    prepare::{Described, Origin, SplitPlan},
    process::Processor,
};
use crate::{
    domain::{
        identity::EmbeddingProfile,
        job::{Indexing, Stage},
    },
    extract::Extracted,
    service::ServiceError,
    store::{ClaimedItem, ItemFailure, ReadDocument, StoredDocument, UnchangedItem},
};

/// What the items of a job say that splits stored documents again, for the chunking beside the active one.
#[must_use]
pub fn resplitting_payload() -> Value {
    serde_json::to_value(Payload::V5 {}).expect("a payload of plain values is JSON")
}

/// Tells the items that are stored documents to be split again.
pub(super) fn is_to_be_resplit() -> impl Fn(&ClaimedItem) -> bool {
    let payload = resplitting_payload();
    move |item| item.payload == payload
}

/// What is to be done with a stored document.
enum Again {
    /// It is stored as it would be.
    Nothing(UnchangedItem),
    /// It is to be split.
    Split(Box<(Described, Extracted)>),
}

impl Processor {
    /// Splits stored documents by the settings of the chunking beside the active one of their collection. What is equal
    /// of the chunks has its vectors already.
    pub(super) async fn resplit(&self, batch: &Batch<'_>, items: Vec<ClaimedItem>) -> Result<(), ServiceError> {
        if items.is_empty() {
            return Ok(());
        }
        let ClaimHandle { tenant, .. } = batch.handle;
        let Some((collection, split_by)) = self.store.collection_beside(tenant, batch.collection).await? else {
            return self.fail_all(batch.handle, items.iter().map(|item| item.ordinal), &dropped()).await;
        };
        let plan = SplitPlan::new(split_by, self.embedder.window(), *self.writer.models());
        let batch = Batch { collection: &collection, plan, indexing: Indexing::Complete, ..*batch };
        Self { companions: Arc::default(), ..self.clone() }.split_beside(&batch, &items).await
    }

    async fn split_beside(&self, batch: &Batch<'_>, items: &[ClaimedItem]) -> Result<(), ServiceError> {
        let ClaimHandle { tenant, job_id, fence } = batch.handle;
        let started = Instant::now();
        let sources: Vec<String> = items.iter().map(|item| item.source.clone()).collect();
        let set = (batch.collection.id, batch.collection.chunking);
        let stored = self.store.stored_documents(tenant, set, &sources).await?;
        let mut by_source: HashMap<String, StoredDocument> =
            stored.into_iter().map(|document| (document.source.clone(), document)).collect();
        let read_as: HashMap<i32, ReadDocument> = items
            .iter()
            .filter_map(|item| Some((item.ordinal, ReadDocument::of(by_source.get(&item.source)?))))
            .collect();
        let (mut unchanged, mut changed, mut failures) = (Vec::new(), Vec::new(), Vec::new());
        for item in items {
            let document = by_source.remove(&item.source).ok_or_else(gone);
            match document.and_then(|document| read(item, document, batch.plan, self.embedder.profile())) {
                Ok(Again::Nothing(document)) => unchanged.push(document),
                Ok(Again::Split(document)) => changed.push(*document),
                Err(failure) => failures.push(ItemFailure { ordinal: item.ordinal, ..failure }),
            }
        }
        batch.meter.add(Stage::Load, items.len(), started);
        let batch = &Batch { beside: Some(&read_as), ..*batch };
        self.note_risk(batch, true).await?;
        let changed = changed.into_iter().map(|(described, extracted)| (described, Some(Ok(extracted)))).collect();
        self.store.fail_items(tenant, job_id, fence, &failures, self.context.clock.now()).await?;
        let done = self.prepare_in_background(changed, batch.plan, batch.meter).await;
        let prepared = self.keep_prepared(batch.handle, done).await?;
        self.complete(batch, prepared, unchanged).await
    }
}

/// The document as if it came anew. Whoever stores it compares its version.
fn read(
    item: &ClaimedItem,
    document: StoredDocument,
    plan: SplitPlan,
    profile: &EmbeddingProfile,
) -> Result<Again, ItemFailure> {
    let (item, position) = (item.ordinal, item.position);
    let StoredDocument { id, version, source, uri, loader, fetched_at, fetch, .. } = document;
    let layout = Layout::read(document.layout).map_err(|error| unreadable_layout(&error))?;
    let Layout { given_title, found_title, declared, requested, splitter, headings, pages } = layout;
    let origin = Origin {
        item,
        position,
        source,
        uri,
        title: given_title,
        media_type: declared,
        requested_media_type: requested,
        metadata: document.metadata,
        loader,
        fetch,
    };
    let request_hash = origin.request_hash(plan, profile);
    let mut described = origin.describe_read(document.content_hash, plan, profile);
    if Some(described.fingerprint) == document.fingerprint {
        return Ok(Again::Nothing(UnchangedItem { item, document_id: id, version, position }));
    }
    described.fetched_at = Some(fetched_at);
    if let Some(fetch) = &mut described.origin.fetch {
        fetch.request_hash = request_hash;
    }
    let (text, media_type) = (document.text, document.media_type);
    let extracted = Extracted { text, title: found_title, media_type, splitter, headings, pages };
    Ok(Again::Split(Box::new((described, extracted))))
}

fn unreadable_layout(error: &serde_json::Error) -> ItemFailure {
    let message = format!(
        "this version of the service cannot read the stored headings and pages of the document ({error}), which splitting \
         needs; it keeps its chunks, and keeps a cut-over back; retry the job with the release that stored it"
    );
    ItemFailure { ordinal: 0, stage: Stage::Load, cause: "payload_version", message }
}

fn dropped() -> ItemFailure {
    let message = "the collection has no chunking beside the active one to split this document for: it was dropped, or \
                   the job is from before there were any; send POST /v1/collections/{name}/resplit";
    ItemFailure { ordinal: 0, stage: Stage::Load, cause: "chunking_dropped", message: message.to_owned() }
}

fn gone() -> ItemFailure {
    let message = "this document was deleted before it was split again";
    ItemFailure { ordinal: 0, stage: Stage::Load, cause: "document_deleted", message: message.to_owned() }
}
