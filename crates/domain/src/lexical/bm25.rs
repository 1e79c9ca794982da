//! BM25 in two halves whose inner product is the score.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
//! the parameters and the non-negative inverse document frequency that Lucene made customary:
//!
//! ```text
//! score(query, chunk) = Σ over query terms of  idf(term) · weight(term, chunk)
//! idf    = ln(1 + (N − df + 0.5) / (df + 0.5))
//! weight = tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average length))
//! ```
//!
//! The weight needs the average length of the collection at the time of writing; see
//! [`ReferenceLength`] for how that is kept from going stale.

use std::collections::HashMap;

use super::analyzer::Analyzer;
use super::term_id::{TermId, TermSalt};

/// How soon further occurrences of a term stop counting. Dimensionless.
pub const K1: f64 = 1.2;

/// How far a chunk's length discounts its terms: 0 not at all, 1 fully.
pub const B: f64 = 0.75;

/// Largest number of non-zero elements that pgvector accepts in a `sparsevec`.
pub const MAX_SPARSE_ELEMENTS: usize = 16_000;

/// The terms of one text: how often each occurs, and how many occurrences there are in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermCounts {
    counts: Vec<(TermId, u32)>,
    length: u32,
}

impl TermCounts {
    /// Analyses `text` as part of the collection that `salt` belongs to.
    #[must_use]
    pub fn of_text(analyzer: &Analyzer, salt: TermSalt, text: &str) -> Self {
        let mut ids = Vec::with_capacity(text.len() / 10);
        analyzer.for_each_index_term(text, |term| ids.push(salt.term_id(term)));
        Self::of_ids(ids)
    }

    pub(super) fn of_ids(mut ids: Vec<TermId>) -> Self {
        ids.sort_unstable();
        let counts = ids
            .chunk_by(|left, right| left == right)
            .filter_map(|run| run.first().map(|id| (*id, saturating_u32(run.len()))))
            .collect();
        Self { counts, length: saturating_u32(ids.len()) }
    }

    /// Distinct terms and their numbers of occurrences, by ascending id.
    #[must_use]
    pub fn counts(&self) -> &[(TermId, u32)] {
        &self.counts
    }

    /// Number of term occurrences: the length that BM25 means, in terms without stop words.
    #[must_use]
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Distinct term ids, ascending: the content of the `int[]` under GIN.
    #[must_use]
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TermId> + '_ {
        self.counts.iter().map(|(id, _)| *id)
    }
}

fn saturating_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The document side: one weight per distinct term, by ascending term id.
///
/// `average_length` is the collection's reference length in terms; a value that is not positive
/// switches length normalisation off. Of a chunk with more than [`MAX_SPARSE_ELEMENTS`] distinct
/// terms (a chunk of that size is a dump, not prose) the heaviest are kept. The vector's indices
/// count from 1, as pgvector's text format does; its Rust client counts from 0.
#[must_use]
pub fn document_weights(terms: &TermCounts, average_length: f64) -> Vec<(TermId, f32)> {
    let relative_length = if average_length > 0.0 { f64::from(terms.length) / average_length } else { 1.0 };
    let saturation = K1 * (1.0 - B + B * relative_length);
    let mut weights: Vec<(TermId, f32)> = terms
        .counts
        .iter()
        .map(|(id, count)| {
            let frequency = f64::from(*count);
            (*id, narrow(frequency * (K1 + 1.0) / (frequency + saturation)))
        })
        .collect();
    keep_heaviest(&mut weights);
    weights
}

/// Cuts `weights` to [`MAX_SPARSE_ELEMENTS`], heaviest first, lower id on ties; order is kept.
fn keep_heaviest(weights: &mut Vec<(TermId, f32)>) {
    if weights.len() > MAX_SPARSE_ELEMENTS {
        weights.sort_unstable_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        weights.truncate(MAX_SPARSE_ELEMENTS);
        weights.sort_unstable_by_key(|(id, _)| *id);
    }
}

/// The database stores and multiplies single precision.
#[expect(clippy::cast_possible_truncation, reason = "weights are small; rounding is intended")]
fn narrow(weight: f64) -> f32 {
    weight as f32
}

#[expect(clippy::cast_precision_loss, reason = "counts far above 2^53 do not occur")]
fn widen(count: u64) -> f64 {
    count as f64
}

/// Inverse document frequency of a term that occurs in `document_frequency` of `chunks` chunks.
///
/// Never negative; largest for a term that none holds. A frequency above the number of chunks
/// (statistics read while chunks are deleted) counts as that number.
#[must_use]
pub fn inverse_document_frequency(chunks: u64, document_frequency: u64) -> f64 {
    let frequency = widen(document_frequency.min(chunks));
    (1.0 + (widen(chunks) - frequency + 0.5) / (frequency + 0.5)).ln()
}

/// One distinct term of a query against one collection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct QueryTerm {
    /// The salted id.
    pub id: TermId,
    /// Number of chunks of the collection that hold the term; 0 if it is unknown there.
    pub document_frequency: u64,
    /// Inverse document frequency times the number of occurrences in the query.
    pub weight: f64,
}

/// The query side of BM25 against one collection.
///
/// A query over several collections has one of these per collection: ids are salted by collection
/// and a term may be rare in one and common in another.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryProfile {
    /// All distinct terms of the query, by ascending id, unknown ones included.
    terms: Vec<QueryTerm>,
    chunks: u64,
}

impl QueryProfile {
    /// Joins the query's terms with the collection's statistics.
    ///
    /// `chunks` is the number of chunks in the collection. A term that `document_frequencies` does
    /// not name is one that no chunk holds.
    #[must_use]
    pub fn new(query: &TermCounts, chunks: u64, document_frequencies: &HashMap<TermId, u64>) -> Self {
        let terms = query
            .counts
            .iter()
            .map(|(id, occurrences)| {
                let document_frequency = document_frequencies.get(id).copied().unwrap_or(0);
                let weight = f64::from(*occurrences) * inverse_document_frequency(chunks, document_frequency);
                QueryTerm { id: *id, document_frequency, weight }
            })
            .collect();
        Self { terms, chunks }
    }

    /// Number of chunks in the collection.
    #[must_use]
    pub const fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Weight of every term that the collection holds, by ascending id: the query's `sparsevec`.
    #[must_use]
    pub fn weights(&self) -> Vec<(TermId, f32)> {
        let mut weights: Vec<(TermId, f32)> = self.known_terms().map(|term| (term.id, narrow(term.weight))).collect();
        keep_heaviest(&mut weights);
        weights
    }

    /// Sum of the weights of all terms, those that no chunk holds included: how much there was to
    /// be found. See [`evidence_score`].
    #[must_use]
    pub fn idf_mass(&self) -> f64 {
        self.terms.iter().map(|term| term.weight).sum()
    }

    /// Terms that the collection holds, by ascending id.
    pub(super) fn known_terms(&self) -> impl Iterator<Item = &QueryTerm> {
        self.terms.iter().filter(|term| term.document_frequency > 0)
    }
}

/// The share of a query that its best chunk holds, from 0 to `K1 + 1`.
///
/// `best_score` is the highest BM25 score of `query` in its collection. About 1 means that every
/// term of the query occurs once in a chunk of average length; a query whose terms are foreign to
/// the collection stays far below, which a raw score does not show. A query without terms gets 0.
#[must_use]
pub fn evidence_score(best_score: f64, query: &QueryProfile) -> f64 {
    let mass = query.idf_mass();
    if mass > 0.0 { (best_score / mass).clamp(0.0, K1 + 1.0) } else { 0.0 }
}

/// Relative change of the average length beyond which stored weights are computed again while
/// documents still come in.
///
/// Measured on seven collections: an average that is off by 10 % moves nDCG@10 by less than 0.006,
/// one that is off by 20 % by up to 0.016.
const MAX_DRIFT: f64 = 0.10;

/// The same at the end of a job: the weights that it leaves may stay unchanged for years.
///
/// An average that is off by 5 % moves nDCG@10 by less than 0.004 on the same collections.
const MAX_SETTLED_DRIFT: f64 = 0.05;

/// The average chunk length that a collection's stored weights were computed with.
///
/// The true average moves with every upload, and following it would rewrite the whole collection
/// each time. A reference is kept instead and renewed by [`ReferenceLength::needs_reweighing`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceLength {
    /// Terms per chunk, positive.
    pub terms: f64,
    /// Number of chunks that the average was taken over.
    pub chunks: u64,
}

impl ReferenceLength {
    /// The average of `chunks` chunks of `total_terms` terms in all; none without a single term.
    ///
    /// A collection's first reference is that of the first batch written to it: weights need one
    /// before there is a second batch to average with.
    #[must_use]
    pub fn of(total_terms: u64, chunks: u64) -> Option<Self> {
        (total_terms > 0 && chunks > 0).then(|| Self { terms: widen(total_terms) / widen(chunks), chunks })
    }

    /// Whether the collection, now at `current`, should be weighed again with that as reference.
    ///
    /// It should when the number of chunks has at least doubled, or halved, since the reference was taken and the
    /// average has moved by more than 10 %. Each round is thus paid for by as many inserts or deletes as there are
    /// chunks to rewrite, and the total stays in O(n log n).
    #[must_use]
    pub fn needs_reweighing(self, current: Self) -> bool {
        let has_doubled = current.chunks >= self.chunks.saturating_mul(2);
        let has_halved = current.chunks <= self.chunks / 2;
        (has_doubled || has_halved) && self.drift(current) > MAX_DRIFT
    }

    /// Whether the collection, now at `current`, should be weighed again at the end of a job.
    ///
    /// It should when the average has moved by more than 5 %, whatever the number of chunks: a collection that began
    /// with its short documents, or whose documents were replaced, would otherwise be ranked by an outdated average
    /// until it has doubled. Chunks have a largest length, so that the average of many moves that far only if a
    /// proportionate number of them has changed.
    #[must_use]
    pub fn has_drifted(self, current: Self) -> bool {
        self.drift(current) > MAX_SETTLED_DRIFT
    }

    /// Relative distance of the averages.
    fn drift(self, current: Self) -> f64 {
        (current.terms - self.terms).abs() / self.terms
    }
}

#[cfg(test)]
#[path = "bm25_tests.rs"]
mod tests;
