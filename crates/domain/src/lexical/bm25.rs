//! BM25 in two halves whose inner product is the score.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
//! the parameters and the non-negative inverse document frequency that Lucene made customary:
//!
//! ```text
//! score(query, chunk) = Σ over query terms of  idf(term) · weight(term, chunk)
//! idf    = ln(1 + (N − df + 0.5) / (df + 0.5))
//! weight = tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / reference length))
//! ```
//!
//! The formula has the average length of the collection where this one has a fixed [`REFERENCE_LENGTH`]. A weight
//! thus depends on its chunk alone: it never goes stale, and is the same whichever collection the chunk stands in.

use std::collections::{BTreeMap, HashMap};

use super::analyzer::Analyzer;
use super::language::Language;
use super::question_words::{joined_words, without_auxiliaries};
use super::term_id::{TermId, TermSalt};

/// How soon further occurrences of a term stop counting. Dimensionless.
pub const K1: f64 = 1.2;

/// How far a chunk's length discounts its terms: 0 not at all, 1 fully.
pub const B: f64 = 0.75;

/// Number of terms of a chunk whose length neither raises nor lowers its weights.
///
/// About what a full chunk has. Chunks have a largest size, so that averages differ little between collections, and
/// ranks hardly depend on this number (docs/decisions/0024-bm25-over-collections.md has the measurement).
pub const REFERENCE_LENGTH: f64 = 80.0;

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
/// Of a chunk with more than [`MAX_SPARSE_ELEMENTS`] distinct terms (a chunk of that size is a dump, not prose) the
/// heaviest are kept. The vector's indices count from 1, as pgvector's text format does; its Rust client counts from 0.
#[must_use]
pub fn document_weights(terms: &TermCounts) -> Vec<(TermId, f32)> {
    let saturation = K1 * (1.0 - B + B * f64::from(terms.length) / REFERENCE_LENGTH);
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

/// Weighs the terms of texts that are stored in one index.
#[derive(Debug, Clone, Copy)]
pub struct Weigher {
    language: Language,
    salt: TermSalt,
}

impl Weigher {
    /// For the index that these bytes name, whose words are stemmed in this language.
    #[must_use]
    pub fn new(language: Language, index: &[u8]) -> Self {
        Self { language, salt: TermSalt::new(index) }
    }

    /// The weights of a text, by ascending term id.
    #[must_use]
    pub fn weigh(&self, text: &str) -> Vec<(TermId, f32)> {
        document_weights(&TermCounts::of_text(Analyzer::of(self.language), self.salt, text))
    }
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

/// The stems of a query, with the number of their occurrences.
///
/// Stems and not ids, because each collection has ids of its own, and a word is as rare as it is in all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryStems {
    counts: BTreeMap<String, u32>,
    /// Its words in another form, its verbs of two words written as one: each with the stem of the word that it is a form of, if
    /// it is one. One that no chunk holds is no word.
    joined: BTreeMap<String, Option<String>>,
}

impl QueryStems {
    /// Analyses a query as a chunk would be analysed.
    #[must_use]
    pub fn of_text(analyzer: &Analyzer, query: &str) -> Self {
        Self::of_texts(analyzer, &[query])
    }

    /// Analyses several wordings of one query, whose occurrences are added. BM25 is a sum over terms, so a chunk's score
    /// is the sum of its scores for each wording.
    #[must_use]
    pub fn of_texts(analyzer: &Analyzer, wordings: &[&str]) -> Self {
        let mut stems = Self::default();
        for wording in wordings {
            let asked = without_auxiliaries(analyzer, wording);
            analyzer.for_each_index_term(&asked, |stem| *stems.counts.entry(stem.to_owned()).or_default() += 1);
            stems.joined.extend(joined_words(analyzer, &asked).into_iter().map(|joined| (joined.stem, joined.form_of)));
        }
        stems.joined.retain(|stem, _| !stems.counts.contains_key(stem));
        stems
    }

    /// The ids of the stems in the collection that the salt belongs to.
    pub fn ids(&self, salt: TermSalt) -> impl Iterator<Item = TermId> + '_ {
        self.counts.keys().chain(self.joined.keys()).map(move |stem| salt.term_id(stem))
    }
}

/// A collection that a query is asked over.
#[derive(Debug, Clone, Copy)]
pub struct AskedCollection<'a> {
    /// The query in the language of the collection.
    pub stems: &'a QueryStems,
    /// The salt of its term ids.
    pub salt: TermSalt,
    /// Number of its chunks.
    pub chunks: u64,
    /// Number of chunks that hold a term; a term without an entry is in none.
    pub document_frequencies: &'a HashMap<TermId, u64>,
}

impl AskedCollection<'_> {
    /// The id of a stem, and the number of chunks that hold it.
    fn frequency(&self, stem: &str) -> (TermId, u64) {
        let id = self.salt.term_id(stem);
        (id, self.document_frequencies.get(&id).copied().unwrap_or(0))
    }

    fn holds(&self, stem: &str) -> bool {
        self.frequency(stem).1 > 0
    }
}

/// A term in one of the collections asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Holder {
    /// Position of the collection among those asked.
    pub collection: usize,
    /// The id that the term has there.
    pub id: TermId,
    /// Number of chunks of the collection that hold the term, at least 1.
    pub document_frequency: u64,
}

/// One distinct term of a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct QueryTerm {
    /// The collections that hold it, in the order in which they are asked.
    pub holders: Vec<Holder>,
    /// Number of chunks of all collections that hold it; 0 if none does.
    pub document_frequency: u64,
    /// Inverse document frequency times the number of occurrences in the query.
    pub weight: f64,
}

/// The query side of BM25 against all collections asked, as if they were one.
///
/// Sizes and document frequencies are summed, so that scores compare across the collections and splitting a corpus
/// over several changes no score. Only the ids of a term differ from one collection to the next.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryProfile {
    /// All distinct terms of the query, by stem, unknown ones included.
    pub(super) terms: Vec<QueryTerm>,
    /// Number of chunks of all collections.
    pub(super) chunks: u64,
    /// See [`QueryProfile::idf_mass`].
    pub(super) idf_mass: f64,
}

impl QueryProfile {
    /// Weighs the terms of a query by how many chunks of all these collections hold them.
    #[must_use]
    pub fn new(collections: &[AskedCollection<'_>]) -> Self {
        let chunks = collections.iter().map(|asked| asked.chunks).sum();
        let mut by_stem: BTreeMap<&str, (u32, QueryTerm)> = BTreeMap::new();
        for (place, asked) in collections.iter().enumerate() {
            let joined = asked.stems.joined.keys().filter(|stem| asked.holds(stem)).map(|stem| (stem, &1));
            for (stem, count) in asked.stems.counts.iter().chain(joined) {
                let (occurrences, term) = by_stem.entry(stem).or_default();
                *occurrences = (*occurrences).max(*count);
                let (id, document_frequency) = asked.frequency(stem);
                if document_frequency > 0 {
                    term.document_frequency += document_frequency;
                    term.holders.push(Holder { collection: place, id, document_frequency });
                }
            }
        }
        let words: BTreeMap<&str, &str> = collections
            .iter()
            .flat_map(|asked| &asked.stems.joined)
            .filter_map(|(form, word)| Some((form.as_str(), word.as_deref()?)))
            .collect();
        let frequency = |stem: &str| by_stem.get(stem).map_or(0, |(_, term)| term.document_frequency);
        let frequencies: Vec<u64> =
            by_stem.keys().map(|stem| frequency(stem).max(words.get(stem).map_or(0, |word| frequency(word)))).collect();
        for ((occurrences, term), frequency) in by_stem.values_mut().zip(frequencies) {
            term.weight = f64::from(*occurrences) * inverse_document_frequency(chunks, frequency);
        }
        let weight = |stem: &String| by_stem.get(stem.as_str()).map_or(0.0, |(_, term)| term.weight);
        let masses = collections.iter().map(|asked| asked.stems.counts.keys().map(weight).sum::<f64>());
        let idf_mass = masses.min_by(f64::total_cmp).unwrap_or_default();
        Self { terms: by_stem.into_values().map(|(_, term)| term).collect(), chunks, idf_mass }
    }

    /// Number of chunks in the collections.
    #[must_use]
    pub const fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Weight of every term that a collection holds, under each of its ids, ascending: the query's `sparsevec`.
    #[must_use]
    pub fn weights(&self) -> Vec<(TermId, f32)> {
        let known =
            self.terms.iter().flat_map(|term| term.holders.iter().map(|holder| (holder.id, narrow(term.weight))));
        let mut weights: Vec<(TermId, f32)> = known.collect();
        weights.sort_by(|left, right| left.0.cmp(&right.0).then(right.1.total_cmp(&left.1)));
        weights.dedup_by_key(|(id, _)| *id);
        keep_heaviest(&mut weights);
        weights
    }

    /// Sum of the weights of all terms, those that no chunk holds included: how much there was to be found. See
    /// [`evidence_score`]. Where the collections have several languages, the least of the sums that their own stems
    /// have: no chunk holds the words of two languages.
    #[must_use]
    pub const fn idf_mass(&self) -> f64 {
        self.idf_mass
    }
}

/// The share of a query that its best chunk holds, from 0 to `K1 + 1`.
///
/// `best_score` is the highest BM25 score of `query` in the collections. About 1 means that every
/// term of the query occurs once in a chunk of usual length; a query whose terms are foreign to
/// the collections stays far below, which a raw score does not show. A query without terms gets 0.
#[must_use]
pub fn evidence_score(best_score: f64, query: &QueryProfile) -> f64 {
    let mass = query.idf_mass();
    if mass > 0.0 { (best_score / mass).clamp(0.0, K1 + 1.0) } else { 0.0 }
}

#[cfg(test)]
#[path = "bm25_tests.rs"]
mod tests;
