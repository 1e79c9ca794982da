//! Builds the stored form of documents: their chunks with vectors and BM25 weights.

use time::OffsetDateTime;

use super::{batch::ClaimHandle, document::Prepared, embed::Embedded, pipeline::Processor};
use crate::{
    domain::lexical::{
        analyzer::Analyzer,
        bm25::{ReferenceLength, TermCounts, document_weights},
        term_id::TermSalt,
    },
    service::ServiceError,
    store::{Collection, NewChunk, NewDocument},
};

impl Processor {
    pub(super) fn count_terms(collection: &Collection, embedded: &[Embedded]) -> Vec<Vec<TermCounts>> {
        let analyzer = Analyzer::of(collection.language);
        let salt = TermSalt::new(collection.index.as_bytes());
        embedded
            .iter()
            .map(|document| {
                let pieces = document.prepared.pieces.iter();
                pieces.map(|piece| TermCounts::of_text(analyzer, salt, piece.indexed_text())).collect()
            })
            .collect()
    }

    pub(super) async fn first_reference(
        &self,
        handle: ClaimHandle,
        collection: &Collection,
        counted: &[Vec<TermCounts>],
    ) -> Result<f32, ServiceError> {
        let lengths = counted.iter().flatten().map(|terms| u64::from(terms.length()));
        let (chunks, total) = lengths.fold((0, 0), |(chunks, total), length| (chunks + 1, total + length));
        let average = ReferenceLength::of(total, chunks).map_or(1.0, |reference| narrow(reference.terms));
        let chunks = i64::try_from(chunks).unwrap_or(i64::MAX);
        let reference =
            self.store.collections().first_reference_length(handle.tenant, collection.index, average, chunks).await?;
        Ok(reference.unwrap_or(average))
    }

    pub(super) fn weigh(
        &self,
        collection: &Collection,
        embedded: &[Embedded],
        counted: &[Vec<TermCounts>],
    ) -> Vec<NewDocument> {
        let now = self.context.clock.now();
        embedded
            .iter()
            .zip(counted)
            .map(|(document, counts)| self.new_document(document, counts, collection.average_length, now))
            .collect()
    }

    fn new_document(
        &self,
        document: &Embedded,
        counts: &[TermCounts],
        average: f32,
        now: OffsetDateTime,
    ) -> NewDocument {
        let Prepared { described, title, media_type, text, layout, splitter, pieces } = &document.prepared;
        let chunks = pieces
            .iter()
            .zip(counts)
            .zip(&document.vectors)
            .map(|((piece, terms), vector)| NewChunk {
                start_char: int(piece.piece.start),
                end_char: int(piece.piece.end),
                page: piece.page.and_then(|page| i32::try_from(page).ok()),
                heading: piece.piece.heading_path.clone(),
                tokens: int(piece.piece.tokens),
                text: piece.text.clone(),
                context: piece.context.clone(),
                length: i32::try_from(terms.length()).unwrap_or(i32::MAX),
                weights: document_weights(terms, f64::from(average)),
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
            chunks,
        }
    }
}

fn int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[expect(clippy::cast_possible_truncation, reason = "an average length; rounding is intended")]
fn narrow(value: f64) -> f32 {
    value as f32
}
