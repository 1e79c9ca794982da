//! Documents as columns, so that one statement can insert many.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::documents::commit::NewDocument;

/// One list per column of the table, in the order of the documents.
#[derive(Default)]
pub(in crate::store) struct DocumentColumns<'d> {
    pub(in crate::store) ids: Vec<Uuid>,
    pub(in crate::store) positions: Vec<i64>,
    pub(in crate::store) sources: Vec<String>,
    pub(in crate::store) uris: Vec<String>,
    pub(in crate::store) loaders: Vec<String>,
    pub(in crate::store) fetched_at: Vec<OffsetDateTime>,
    pub(in crate::store) content_hashes: Vec<Vec<u8>>,
    pub(in crate::store) fingerprints: Vec<Vec<u8>>,
    pub(in crate::store) titles: Vec<String>,
    pub(in crate::store) media_types: Vec<String>,
    pub(in crate::store) metadata: Vec<&'d Value>,
    pub(in crate::store) texts: Vec<&'d str>,
    pub(in crate::store) characters: Vec<i32>,
    pub(in crate::store) chunks: Vec<i32>,
    pub(in crate::store) etags: Vec<Option<String>>,
    pub(in crate::store) last_modified: Vec<Option<String>>,
    pub(in crate::store) request_hashes: Vec<Option<Vec<u8>>>,
    pub(in crate::store) unembedded_chunks: Vec<i32>,
    pub(in crate::store) layouts: Vec<&'d Value>,
    pub(in crate::store) attached_to: Vec<Option<String>>,
}

impl<'d> DocumentColumns<'d> {
    /// The columns of these documents.
    pub(in crate::store) fn of(documents: impl Iterator<Item = &'d NewDocument>) -> Self {
        let mut columns = Self::default();
        for document in documents {
            columns.push(document);
        }
        columns
    }

    fn push(&mut self, new: &'d NewDocument) {
        let fetch = new.fetch.as_ref();
        self.ids.push(new.new_id);
        self.positions.push(new.position);
        self.sources.push(new.source.clone());
        self.uris.push(new.uri.clone());
        self.loaders.push(new.loader.clone());
        self.fetched_at.push(new.fetched_at);
        self.content_hashes.push(new.content_hash.to_vec());
        self.fingerprints.push(new.fingerprint.to_vec());
        self.titles.push(new.title.clone());
        self.media_types.push(new.media_type.clone());
        self.metadata.push(&new.metadata);
        self.texts.push(&new.text);
        self.characters.push(count(new.text.chars().count()));
        self.chunks.push(count(new.chunks.len()));
        self.etags.push(fetch.and_then(|fetch| fetch.etag.clone()));
        self.last_modified.push(fetch.and_then(|fetch| fetch.last_modified.clone()));
        self.request_hashes.push(fetch.map(|fetch| fetch.request_hash.to_vec()));
        self.unembedded_chunks.push(count(new.unembedded_chunks()));
        self.layouts.push(&new.layout);
        self.attached_to.push(new.attached_to.as_ref().map(|message| message.source.clone()));
    }
}

/// Converts a count to the integer type of its column.
pub(in crate::store) fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
