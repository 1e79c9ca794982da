//! What is handed in, and how it waits.

use serde_json::Value;

use super::work::{Fetch, Upload, Work};
use crate::{
    domain::{
        fingerprint::{Hash, content_hash, fingerprint},
        job::Indexing,
    },
    store::NewJobItem,
};

/// A document as it was handed in.
#[derive(Clone, Debug)]
pub struct IncomingDocument {
    /// Caller's own name for it.
    pub source: String,
    /// Where it was read from, if that is something else.
    pub uri: Option<String>,
    /// Title, if the caller gave one.
    pub title: Option<String>,
    /// Caller's own object.
    pub metadata: Value,
    /// How it came.
    pub loader: &'static str,
    /// What it holds, or where that is.
    pub content: Content,
}

/// What a document holds.
#[derive(Clone, Debug)]
pub enum Content {
    /// These bytes.
    Given {
        /// What they are, as far as the sender or the name knows.
        media_type: String,
        /// They themselves.
        bytes: Vec<u8>,
    },
    /// What a worker fetches from a URL.
    At {
        /// An http or https URL.
        url: String,
        /// What it is, if the caller knows better than the server.
        media_type: Option<String>,
    },
}

impl Content {
    /// Bytes that wait with the document.
    pub(super) const fn size(&self) -> usize {
        match self {
            Self::Given { bytes, .. } => bytes.len(),
            Self::At { .. } => 0,
        }
    }
}

/// What a request asks to ingest.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Where the documents go.
    pub collection: String,
    /// When they can be found; `None`: as the collection says.
    pub indexing: Option<Indexing>,
    /// The documents, each with a source of its own.
    pub documents: Vec<IncomingDocument>,
    /// How the client named the request (Idempotency-Key).
    pub key: Option<String>,
    /// URL that is told when the job ends.
    pub webhook: Option<String>,
}

impl Submission {
    /// Hash of everything that the request asks for: a repetition asks for the same.
    pub(super) fn hash(&self) -> Hash {
        let webhook = self.webhook.as_deref().unwrap_or_default();
        let indexing = self.indexing.map_or("", Indexing::as_str);
        let mut parts: Vec<Vec<u8>> =
            [self.collection.as_str(), webhook, indexing].map(|part| part.as_bytes().to_vec()).to_vec();
        for document in &self.documents {
            let IncomingDocument { source, uri, title, metadata, loader, content } = document;
            let described = match content {
                Content::Given { media_type, .. } => {
                    serde_json::json!([source, uri, title, media_type, metadata, loader])
                }
                Content::At { url, media_type } => {
                    serde_json::json!([source, uri, title, media_type, metadata, loader, url])
                }
            };
            parts.push(described.to_string().into_bytes());
            if let Content::Given { bytes, .. } = content {
                parts.push(content_hash(bytes).to_vec());
            }
        }
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        fingerprint(&parts)
    }
}

/// A document as it waits.
pub(super) fn queue_item(document: IncomingDocument) -> NewJobItem {
    let IncomingDocument { source, uri, title, metadata, loader, content } = document;
    let loader = loader.to_owned();
    let (work, content) = match content {
        Content::Given { media_type, bytes } => {
            let uri = uri.unwrap_or_else(|| source.clone());
            (Work::Upload(Upload { uri, title, media_type, metadata, loader }), bytes)
        }
        Content::At { url, media_type } => {
            (Work::Fetch(Fetch { url, title, media_type, metadata, loader }), Vec::new())
        }
    };
    NewJobItem { source, payload: work.store(), content }
}
