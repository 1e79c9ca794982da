//! Builds the stored form of documents: their chunks with vectors and BM25 weights.

use time::OffsetDateTime;

use super::{attachment::attached_item, document::Prepared, embed::Embedded, pipeline::Processor};
use crate::{
    domain::lexical::{
        analyzer::Analyzer,
        bm25::{TermCounts, document_weights},
        term_id::TermSalt,
    },
    store::{Collection, NewChunk, NewDocument},
};

impl Processor {
    pub(super) fn weigh(&self, collection: &Collection, embedded: &[Embedded]) -> Vec<NewDocument> {
        let analyzer = Analyzer::of(collection.language);
        let salt = TermSalt::new(collection.index.as_bytes());
        let count = |text: &str| TermCounts::of_text(analyzer, salt, text);
        let now = self.context.clock.now();
        embedded.iter().map(|document| self.new_document(document, count, now)).collect()
    }

    fn new_document(
        &self,
        document: &Embedded,
        count: impl Fn(&str) -> TermCounts,
        now: OffsetDateTime,
    ) -> NewDocument {
        let Prepared { described, title, media_type, text, layout, splitter, pieces, reading, attachments } =
            &document.prepared;
        let chunks = pieces
            .iter()
            .zip(&document.vectors)
            .map(|(piece, vector)| NewChunk {
                start_char: int(piece.piece.start),
                end_char: int(piece.piece.end),
                page: piece.page.and_then(|page| i32::try_from(page).ok()),
                heading: piece.piece.heading_path.clone(),
                table_header: piece.piece.table_header.clone(),
                tokens: int(piece.piece.tokens),
                text: piece.text.clone(),
                context: piece.context.clone(),
                weights: document_weights(&count(piece.indexed_text())),
                embedding_hash: piece.embedding_hash,
                embedding: vector.clone(),
            })
            .collect();
        NewDocument {
            item: described.origin.item,
            position: described.origin.position,
            new_id: self.context.ids.next(),
            source: described.origin.source.clone(),
            uri: described.origin.uri.clone(),
            loader: described.origin.loader.clone(),
            fetched_at: described.fetched_at.unwrap_or(now),
            fetch: described.origin.fetch.clone(),
            content_hash: described.content_hash,
            fingerprint: described.fingerprint,
            title: title.clone(),
            media_type: media_type.clone(),
            metadata: described.origin.metadata.clone(),
            text: text.clone(),
            layout: layout.clone(),
            splitter: splitter.clone(),
            embedding_calls: document.embedding_calls,
            awaits_vectors: document.vectors.iter().any(Option::is_none),
            reading: reading.clone(),
            attached_to: described.origin.attached_to.clone(),
            attachments: attachments.iter().map(|attachment| attached_item(described, attachment)).collect(),
            chunks,
        }
    }
}

fn int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
