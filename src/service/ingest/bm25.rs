//! Builds the stored form of documents.

use time::OffsetDateTime;

use super::{
    attachment::attached_item,
    document::{Described, Prepared},
    embed::Embedded,
    pipeline::Processor,
};
use crate::{
    domain::lexical::bm25::Weigher,
    store::{Collection, NewChunk, NewDocument},
};

impl Processor {
    /// The stored form of documents. They are consumed: a large one is not held twice.
    pub(super) fn new_documents(&self, collection: &Collection, embedded: Vec<Embedded>) -> Vec<NewDocument> {
        let weigher = Weigher::new(collection.language, collection.index.as_bytes());
        let now = self.context.clock.now();
        embedded.into_iter().map(|document| self.new_document(document, weigher, now)).collect()
    }

    fn new_document(&self, document: Embedded, weigher: Weigher, now: OffsetDateTime) -> NewDocument {
        let Embedded { prepared, vectors, embedding_calls } = document;
        let Prepared { described, title, media_type, text, layout, splitter, pieces, reading, attachments } = prepared;
        let awaits_vectors = vectors.iter().any(Option::is_none);
        let chunks = pieces
            .into_iter()
            .zip(vectors)
            .map(|(piece, vector)| NewChunk {
                bytes: piece.piece.bytes,
                start_char: int(piece.piece.start),
                end_char: int(piece.piece.end),
                page: piece.page.and_then(|page| i32::try_from(page).ok()),
                tokens: int(piece.piece.tokens),
                heading: piece.piece.heading_path,
                table_header: piece.piece.table_header,
                indexed_front: piece.fronts.indexed,
                context: piece.context,
                embedding_hash: piece.embedding_hash,
                embedding: vector,
            })
            .collect();
        let attachments = attachments.into_iter().map(|attachment| attached_item(&described, attachment)).collect();
        let Described { origin, fetched_at, content_hash, fingerprint, .. } = described;
        NewDocument {
            item: origin.item,
            position: origin.position,
            new_id: self.context.ids.next(),
            source: origin.source,
            uri: origin.uri,
            loader: origin.loader,
            fetched_at: fetched_at.unwrap_or(now),
            fetch: origin.fetch,
            content_hash,
            fingerprint,
            title,
            media_type,
            metadata: origin.metadata,
            text,
            layout,
            splitter,
            embedding_calls,
            awaits_vectors,
            reading,
            attached_to: origin.attached_to,
            attachments,
            chunks,
            weigher,
        }
    }
}

fn int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
