//! Submitted documents, and the form in which they wait in the queue.

use serde_json::Value;

use super::work::{Fetch, Upload, Work};
use crate::{
    domain::{
        access::Acl,
        fingerprint::{Hash, content_hash, fingerprint},
        job::Indexing,
    },
    store::{NewJobItem, Phase},
};

/// A document as it was submitted.
#[derive(Clone, Debug)]
pub(crate) struct IncomingDocument {
    /// The caller's own name for it.
    pub(crate) source: String,
    /// Where it was read from, if that differs from the source.
    pub(crate) uri: Option<String>,
    /// Title, if the caller gave one.
    pub(crate) title: Option<String>,
    /// The caller's own object.
    pub(crate) metadata: Value,
    /// How it came.
    pub(crate) loader: &'static str,
    /// The people who may see it; `None` keeps the list of the stored document, and gives a new one that of its collection.
    pub(crate) acl: Option<Acl>,
    /// The content, or its location.
    pub(crate) content: Content,
}

/// The content of a document.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// These bytes.
    Given {
        /// Media type of the bytes, as far as it is known from the sender or the name.
        media_type: String,
        /// The content itself.
        bytes: Vec<u8>,
    },
    /// Content that a worker fetches from a URL.
    At {
        /// An http or https URL.
        url: String,
        /// Media type, if the caller knows it better than the server.
        media_type: Option<String>,
    },
}

impl Content {
    /// Bytes that are queued with the document.
    pub(super) const fn size(&self) -> usize {
        match self {
            Self::Given { bytes, .. } => bytes.len(),
            Self::At { .. } => 0,
        }
    }
}

/// A request to ingest documents.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    /// The collection that receives the documents.
    pub(crate) collection: String,
    /// When they become searchable; `None` uses the setting of the collection.
    pub(crate) indexing: Option<Indexing>,
    /// The documents, each with a source of its own.
    pub(crate) documents: Vec<IncomingDocument>,
    /// The client's name for the request (Idempotency-Key).
    pub(crate) key: Option<String>,
    /// URL that is notified when the job ends.
    pub(crate) webhook: Option<String>,
    /// Whether the caller waits for the end of the job.
    pub(crate) is_awaited: bool,
}

impl Submission {
    /// Hash of everything that the request asks for: a repeated request has the same hash.
    pub(super) fn hash(&self) -> Hash {
        let webhook = self.webhook.as_deref().unwrap_or_default();
        let indexing = self.indexing.map_or("", Indexing::as_str);
        let mut parts: Vec<Vec<u8>> =
            [self.collection.as_str(), webhook, indexing].map(|part| part.as_bytes().to_vec()).to_vec();
        for document in &self.documents {
            let IncomingDocument { source, uri, title, metadata, loader, acl, content } = document;
            let described = match content {
                Content::Given { media_type, .. } => {
                    serde_json::json!([source, uri, title, media_type, metadata, loader, acl])
                }
                Content::At { url, media_type } => {
                    serde_json::json!([source, uri, title, media_type, metadata, loader, acl, url])
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

/// Schemes of URIs that hold a script or a page, which a browser would run.
const RUN: [&str; 4] = ["blob:", "data:", "javascript:", "vbscript:"];

/// The URI of a document that is given none: its source, as a path if it would be run as a link (RFC 3986, section 4.2).
fn uri_of(source: &str) -> String {
    let begins = source.trim_start_matches(|sign: char| sign.is_whitespace() || sign.is_control()).to_ascii_lowercase();
    if RUN.iter().any(|scheme| begins.starts_with(scheme)) { format!("./{source}") } else { source.to_owned() }
}

/// A document in its queued form.
pub(super) fn queue_item(document: IncomingDocument) -> NewJobItem {
    let IncomingDocument { source, uri, title, metadata, loader, acl, content } = document;
    let loader = loader.to_owned();
    let (work, content, phase) = match content {
        Content::Given { media_type, bytes } => {
            let uri = uri.unwrap_or_else(|| uri_of(&source));
            (Work::Upload(Upload { uri, title, media_type, metadata, loader, attached_to: None }), bytes, Phase::Store)
        }
        Content::At { url, media_type } => {
            (Work::Fetch(Fetch { url, title, media_type, metadata, loader }), Vec::new(), Phase::Fetch)
        }
    };
    NewJobItem { source, payload: work.store(), content: content.into(), phase, acl }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_would_be_run_is_a_path() {
        for (source, expected) in [
            ("javascript:alert(1)", "./javascript:alert(1)"),
            (" \u{1}DATA:text/html,x", "./ \u{1}DATA:text/html,x"),
            ("notes/javascript:1.md", "notes/javascript:1.md"),
            ("https://jars.example/a", "https://jars.example/a"),
            ("s3://jars/a", "s3://jars/a"),
        ] {
            assert_eq!(uri_of(source), expected);
        }
    }
}
