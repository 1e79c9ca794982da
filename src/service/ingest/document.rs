//! Turns a claimed item into pieces of text: all steps that need neither a model nor the database.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use serde_json::Value;
use time::OffsetDateTime;

use super::{
    batch::Batch,
    extraction::extract_here,
    job_metrics::JobMetrics,
    layout::Layout,
    piece::{PieceFronts, PreparedPiece},
    pipeline::Processor,
    work::Upload,
};
use crate::{
    domain::{
        contextual::{Contextual, beside_sentence},
        file_name::{embedded_title, name_of, title_of},
        fingerprint::{Hash, content_hash, fingerprint, hex},
        identity::EmbeddingProfile,
        job::{ReadingNotes, Stage},
        lexical::analyzer::ANALYZER_VERSION,
        split::{Outline, SplitSource, SplitterSettings, TokenCounter, Window, split},
    },
    extract::{Attachment, ExtractError, Extracted},
    service::ServiceError,
    store::{AttachedTo, ClaimedItem, CollectionSettings, FetchRecord, ItemFailure, ItemKey},
};

/// Incremented when extraction or splitting changes, so that stored documents are rebuilt on their next upload.
const SPLIT_VERSION: u32 = 22;

/// A document without its content.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) item: ItemKey,
    pub(super) position: i64,
    pub(super) source: String,
    pub(super) uri: String,
    pub(super) title: Option<String>,
    pub(super) media_type: String,
    /// Media type that was requested for the URL.
    pub(super) requested_media_type: Option<String>,
    pub(super) metadata: Value,
    pub(super) loader: String,
    /// Set for a document that was fetched.
    pub(super) fetch: Option<FetchRecord>,
    /// Set for a document that was found in a message.
    pub(super) attached_to: Option<AttachedTo>,
}

/// An item whose payload could be read.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) origin: Origin,
    /// When it was submitted or fetched, if not just now.
    pub(super) fetched_at: Option<OffsetDateTime>,
    pub(super) content: Vec<u8>,
    pub(super) content_hash: Hash,
    pub(super) fingerprint: Hash,
}

/// A document in pieces.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) described: Described,
    pub(super) title: String,
    pub(super) media_type: String,
    pub(super) text: String,
    /// The data that is needed, in addition to the text, to split the document again.
    pub(super) layout: Value,
    pub(super) splitter: String,
    pub(super) pieces: Vec<PreparedPiece>,
    /// Remarks on its reading.
    pub(super) reading: ReadingNotes,
    /// Documents that were found in it.
    pub(super) attachments: Vec<Attachment>,
}

/// The parameters that decide how documents are split.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitPlan {
    pub(super) settings: SplitterSettings,
    /// That of the embedder, less what sentences take of it.
    pub(super) window: Window,
    /// How sentences are written for the pieces, if they are.
    pub(super) contextual: Option<Contextual>,
    /// Hash of the writers of these sentences.
    pub(super) writers: Hash,
}

impl SplitPlan {
    /// For documents of a collection with these settings.
    pub(super) fn new(settings: CollectionSettings, window: Window, writers: Hash) -> Self {
        let contextual = settings.context;
        let window = contextual.map_or(window, |_| beside_sentence(window));
        Self { settings: settings.splitter, window, contextual, writers }
    }

    /// Everything, except the document itself, that decides how the document is stored.
    pub(super) fn fingerprint(&self, profile: &EmbeddingProfile) -> String {
        let written = self.contextual.map(|_| format!(" context {}", hex(&self.writers))).unwrap_or_default();
        format!(
            "{SPLIT_VERSION} {ANALYZER_VERSION} {:?} {} {} {} {}{written}",
            self.settings, self.window.tokens, self.window.special_tokens, profile.model, profile.dimension
        )
    }
}

/// Metadata of a document and the parameters of its processing: together with its content, they decide what is stored.
pub(super) struct Description<'a> {
    pub(super) uri: &'a str,
    pub(super) title: Option<&'a str>,
    pub(super) media_type: &'a str,
    pub(super) metadata: &'a Value,
    pub(super) settings: String,
}

impl Description<'_> {
    pub(super) fn hash(&self, content_hash: &[u8]) -> Hash {
        fingerprint(&[
            content_hash,
            self.uri.as_bytes(),
            self.title.unwrap_or_default().as_bytes(),
            self.media_type.as_bytes(),
            self.metadata.to_string().as_bytes(),
            self.settings.as_bytes(),
        ])
    }
}

impl Origin {
    /// Describes the data that would be stored for it.
    pub(super) fn describe(self, content: Vec<u8>, plan: SplitPlan, profile: &EmbeddingProfile) -> Described {
        let described = self.describe_read(content_hash(&content), plan, profile);
        Described { content, ..described }
    }

    /// The same for a document whose content was read before.
    pub(super) fn describe_read(self, content_hash: Hash, plan: SplitPlan, profile: &EmbeddingProfile) -> Described {
        let fingerprint = self.description(&self.media_type, plan, profile).hash(&content_hash);
        Described { origin: self, fetched_at: None, content: Vec::new(), content_hash, fingerprint }
    }

    /// Hash of the request for its URL.
    pub(super) fn request_hash(&self, plan: SplitPlan, profile: &EmbeddingProfile) -> Hash {
        let requested = self.requested_media_type.as_deref().unwrap_or_default();
        self.description(requested, plan, profile).hash(&[])
    }

    fn description<'a>(&'a self, media_type: &'a str, plan: SplitPlan, profile: &EmbeddingProfile) -> Description<'a> {
        Description {
            uri: &self.uri,
            title: self.title.as_deref(),
            media_type,
            metadata: &self.metadata,
            settings: plan.fingerprint(profile),
        }
    }
}

/// Describes the data that would be stored for an upload.
pub(super) fn describe(item: ClaimedItem, upload: Upload, plan: SplitPlan, profile: &EmbeddingProfile) -> Described {
    let Upload { uri, title, media_type, metadata, loader, attached_to } = upload;
    let origin = Origin {
        item: item.key,
        position: item.position,
        source: item.source,
        uri,
        title,
        media_type,
        requested_media_type: None,
        metadata,
        loader,
        fetch: None,
        attached_to,
    };
    origin.describe(item.content, plan, profile)
}

/// The failure of an item that a different version of the service queued.
pub(super) fn unreadable(reason: &str) -> ItemFailure {
    ItemFailure {
        stage: Stage::Load,
        cause: "payload_version",
        message: format!("this version of the service cannot read the queued document ({reason}); send it again"),
    }
}

impl Processor {
    /// Extracts and splits text documents in a single step.
    pub(super) async fn extract_and_split(
        &self,
        batch: &Batch<'_>,
        documents: Vec<Described>,
    ) -> Result<Vec<Prepared>, ServiceError> {
        self.split(batch, documents.into_iter().map(|document| (document, None)).collect()).await
    }

    /// Extracts a document with a child process, and splits it.
    pub(super) async fn extract_isolated_and_split(
        &self,
        batch: &Batch<'_>,
        mut document: Described,
    ) -> Result<Vec<Prepared>, ServiceError> {
        self.note_risk(batch, true).await?;
        let content = std::mem::take(&mut document.content);
        let started = Instant::now();
        let extracted = self.settings.extraction.extract_apart(&content, &document.origin.media_type).await;
        batch.metrics.add(Stage::Extract, extracted.is_ok().then_some(document.origin.item), started);
        self.split(batch, vec![(document, Some(extracted))]).await
    }

    /// Splits documents whose text is available, and extracts the text of the others first. Documents that cannot be
    /// read or split fail.
    pub(super) async fn split(
        &self,
        batch: &Batch<'_>,
        documents: Vec<(Described, Option<Result<Extracted, ExtractError>>)>,
    ) -> Result<Vec<Prepared>, ServiceError> {
        self.note_risk(batch, true).await?;
        let (split, failures) = self.read_and_split(batch.plan, batch.metrics, documents).await;
        self.fail_each(batch, &failures).await?;
        Ok(split)
    }

    /// The same, with the reasons for which documents cannot be read or split.
    pub(super) async fn read_and_split(
        &self,
        plan: SplitPlan,
        metrics: &Arc<JobMetrics>,
        documents: Vec<(Described, Option<Result<Extracted, ExtractError>>)>,
    ) -> (Vec<Prepared>, Vec<(ItemKey, ItemFailure)>) {
        let (embedder, metrics) = (Arc::clone(&self.embedder), Arc::clone(metrics));
        let work = move || -> Vec<Result<Prepared, (ItemKey, ItemFailure)>> {
            let documents = documents.into_iter().map(|(document, extracted)| {
                let extracted = extracted.unwrap_or_else(|| {
                    let started = Instant::now();
                    let extracted = extract_here(&document.content, &document.origin.media_type);
                    metrics.add(Stage::Extract, extracted.is_ok().then_some(document.origin.item), started);
                    extracted
                });
                let item = document.origin.item;
                let document = Described { content: Vec::new(), ..document };
                let prepared = prepare(document, extracted, plan, &|text: &str| embedder.count(text), &metrics);
                prepared.map_err(|failure| (item, failure))
            });
            documents.collect()
        };
        let done = tokio::task::spawn_blocking(work).await.expect("panics of single documents are contained");
        let (mut split, mut failures) = (Vec::new(), Vec::new());
        for document in done {
            match document {
                Ok(document) => split.push(document),
                Err(failure) => failures.push(failure),
            }
        }
        (split, failures)
    }
}

/// Splits an extracted document; a panic on hostile input fails this document only.
fn prepare(
    described: Described,
    extracted: Result<Extracted, ExtractError>,
    plan: SplitPlan,
    counter: &dyn TokenCounter,
    metrics: &JobMetrics,
) -> Result<Prepared, ItemFailure> {
    let extracted = extracted.map_err(|error| ItemFailure {
        stage: Stage::Extract,
        cause: error.cause.as_str(),
        message: error.message,
    })?;
    catch_unwind(AssertUnwindSafe(|| split_document(described, extracted, plan, counter, metrics))).unwrap_or_else(
        |_| {
            Err(ItemFailure {
                stage: Stage::Split,
                cause: "crashed",
                message: "this document broke the splitter; it is a defect of the service, please report it".to_owned(),
            })
        },
    )
}

fn split_document(
    described: Described,
    extracted: Extracted,
    plan: SplitPlan,
    counter: &dyn TokenCounter,
    metrics: &JobMetrics,
) -> Result<Prepared, ItemFailure> {
    let started = Instant::now();
    let layout = Layout::of(&described, &extracted).store();
    let Extracted { text, title, media_type, splitter, headings, pages, mut notes, mut attachments } = extracted;
    if described.origin.attached_to.is_some() {
        // The message that the caller sent has brought them, and named those that are not read.
        attachments.clear();
        notes.unread_attachments.clear();
    }
    let source = &described.origin.source;
    let own = || title.map(|title| title_of(title, source));
    let title = described.origin.title.clone().or_else(own).unwrap_or_else(|| name_of(source));
    let embedded_title = embedded_title(&title, &described.origin.source).to_owned();
    let settings = SplitterSettings { kind: plan.settings.kind.or(splitter), ..plan.settings };
    let outline =
        if headings.is_empty() { Outline::of(settings.kind, &text) } else { Outline::from_headings(&text, headings) };
    let source = SplitSource { text: &text, title: &embedded_title, outline: &outline, pages: &pages };
    let pieces = split(&source, &settings, plan.window, counter);
    if pieces.is_empty() {
        return Err(ItemFailure {
            stage: Stage::Split,
            cause: "empty",
            message: "the document holds nothing to index".to_owned(),
        });
    }
    let mut fronts = PieceFronts::new((&embedded_title, &title), plan.window, counter);
    let pieces = pieces.into_iter().map(|piece| fronts.prepare(piece, &text, &pages)).collect();
    metrics.add(Stage::Split, [described.origin.item], started);
    let splitter = lineage(&settings, plan.window);
    Ok(Prepared { described, title, media_type, text, layout, splitter, pieces, reading: notes, attachments })
}

/// How a document was split, as its chunks say.
fn lineage(settings: &SplitterSettings, window: Window) -> String {
    let SplitterSettings { kind, unit, size, overlap } = settings;
    let overlap = overlap.map(|overlap| format!(" overlap={overlap}")).unwrap_or_default();
    format!("{} size={size} unit={}{overlap} window={}", kind.as_str(), unit.as_str(), window.tokens)
}
