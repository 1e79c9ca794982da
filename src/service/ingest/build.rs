//! Building the next index of a collection from stored documents.

use std::{collections::HashMap, time::Instant};

use super::{
    batch::Batch,
    document::{Described, Origin, SplitPlan},
    layout::Layout,
    pipeline::Processor,
};
use crate::{
    domain::{
        identity::EmbeddingProfile,
        job::{ReadingNotes, Stage},
    },
    extract::Extracted,
    service::ServiceError,
    store::{ClaimedItem, ItemFailure, ItemKey, ReadDocument, StoredDocument, UnchangedItem},
};

/// The remaining work on a stored document.
enum Rebuilt {
    /// The index already holds the document as it would be built.
    Unchanged(UnchangedItem),
    /// The document must be split.
    Changed(Box<(Described, Extracted)>),
}

impl Processor {
    /// Splits stored documents by the settings of the next index; from there on they are processed like an upload.
    /// Chunks whose text is already embedded in any index of the model use that vector. `batch` is that of the next
    /// index.
    pub(super) async fn build(&self, batch: &Batch<'_>, items: Vec<ClaimedItem>) -> Result<(), ServiceError> {
        if items.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        let sources: Vec<String> = items.iter().map(|item| item.source.clone()).collect();
        let stored = self.store.collections().stored_documents(batch.handle.tenant, batch.collection, &sources).await?;
        let mut by_source: HashMap<String, StoredDocument> =
            stored.into_iter().map(|document| (document.source.clone(), document)).collect();
        let read_as: HashMap<ItemKey, ReadDocument> =
            items.iter().filter_map(|item| Some((item.key, ReadDocument::of(by_source.get(&item.source)?)))).collect();
        let (mut unchanged, mut changed, mut failures) = (Vec::new(), Vec::new(), Vec::new());
        for item in &items {
            let document = by_source.remove(&item.source).ok_or_else(gone);
            match document.and_then(|document| rebuild(item, document, batch.plan, self.embedder.profile())) {
                Ok(Rebuilt::Unchanged(document)) => unchanged.push(document),
                Ok(Rebuilt::Changed(document)) => changed.push(*document),
                Err(failure) => failures.push((item.key, failure)),
            }
        }
        batch.metrics.add(Stage::Load, items.iter().map(|item| item.key), started);
        let batch = &Batch { rebuilt: Some(&read_as), ..*batch };
        self.fail_each(batch, &failures).await?;
        let changed = changed.into_iter().map(|(described, extracted)| (described, Some(Ok(extracted)))).collect();
        let split = self.split(batch, changed).await?;
        self.finish(batch, split, unchanged).await
    }
}

/// The document as if it were uploaded now. The commit that stores it compares its version.
fn rebuild(
    item: &ClaimedItem,
    document: StoredDocument,
    plan: SplitPlan,
    profile: &EmbeddingProfile,
) -> Result<Rebuilt, ItemFailure> {
    let (item, position) = (item.key, item.position);
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
        // Its row says so already.
        attached_to: None,
    };
    let request_hash = origin.request_hash(plan, profile);
    let mut described = origin.describe_read(document.content_hash, plan, profile);
    if Some(described.fingerprint) == document.fingerprint {
        return Ok(Rebuilt::Unchanged(UnchangedItem { item, document_id: id, version, position }));
    }
    described.fetched_at = Some(fetched_at);
    if let Some(fetch) = &mut described.origin.fetch {
        fetch.request_hash = request_hash;
    }
    let (text, media_type) = (document.text, document.media_type);
    let notes = ReadingNotes::default();
    let attachments = Vec::new();
    let extracted = Extracted { text, title: found_title, media_type, splitter, headings, pages, notes, attachments };
    Ok(Rebuilt::Changed(Box::new((described, extracted))))
}

fn unreadable_layout(error: &serde_json::Error) -> ItemFailure {
    let message = format!(
        "this version of the service cannot read the stored headings and pages of the document ({error}), which splitting \
         needs; it stays as it is in the active index, and the next one is incomplete without it; retry the job with the \
         release that stored it"
    );
    ItemFailure { stage: Stage::Load, cause: "payload_version", message }
}

pub(super) fn index_dropped() -> ItemFailure {
    let message = "the collection has no index next to the active one to build this document into: it was dropped; send \
                   POST /v1/collections/{name}/indexes to make one";
    ItemFailure { stage: Stage::Load, cause: "index_dropped", message: message.to_owned() }
}

fn gone() -> ItemFailure {
    let message = "this document was deleted before it was built into the next index";
    ItemFailure { stage: Stage::Load, cause: "document_deleted", message: message.to_owned() }
}
