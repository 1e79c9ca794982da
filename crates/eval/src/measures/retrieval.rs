//! Measures of retrieval over the queries of a set.

use std::hash::Hash;

use serde::Serialize;

use super::metrics::{Judgements, mean, ndcg_at, recall_at};

/// Ranked documents that the deepest measure looks at.
pub const DEPTH: usize = 100;
/// Ranked documents that a reader would look at.
const FIRST_PAGE: usize = 10;

/// One query, measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryFigures {
    ndcg_at_10: f64,
    recall_at_10: f64,
    recall_at_100: f64,
    duration_ms: f64,
}

impl QueryFigures {
    /// Measures a ranking of documents, best first. A document that is there several times, because
    /// several of its chunks were found, counts at its best place. `None` if nothing is relevant.
    #[must_use]
    pub fn of<K: Eq + Hash>(ranked: &[K], judgements: &Judgements<K>, duration_ms: f64) -> Option<Self> {
        Some(Self {
            ndcg_at_10: ndcg_at(FIRST_PAGE, ranked, judgements)?,
            recall_at_10: recall_at(FIRST_PAGE, ranked, judgements)?,
            recall_at_100: recall_at(DEPTH, ranked, judgements)?,
            duration_ms,
        })
    }
}

/// Retrieval over all queries of a set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RetrievalFigures {
    /// Queries measured.
    pub queries: usize,
    /// Mean normalised discounted cumulated gain of the first ten documents.
    pub ndcg_at_10: f64,
    /// Mean share of the relevant documents among the first ten.
    pub recall_at_10: f64,
    /// Mean share of the relevant documents among the first hundred.
    pub recall_at_100: f64,
    /// Median duration of a search.
    pub median_ms: f64,
}

impl RetrievalFigures {
    /// Sums up queries; `None` if there are none.
    #[must_use]
    pub fn of(queries: &[QueryFigures]) -> Option<Self> {
        Some(Self {
            queries: queries.len(),
            ndcg_at_10: mean(queries.iter().map(|query| query.ndcg_at_10))?,
            recall_at_10: mean(queries.iter().map(|query| query.recall_at_10))?,
            recall_at_100: mean(queries.iter().map(|query| query.recall_at_100))?,
            median_ms: median(queries.iter().map(|query| query.duration_ms))?,
        })
    }
}

/// The middle value, the lower of two.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use domain::lexical::{
        analyzer::Analyzer,
        bm25::{AskedCollection, QueryProfile, QueryStems, TermCounts, document_weights},
        term_id::TermSalt,
    };

    use super::*;

    /// Documents in two chunks each; what is relevant to a query shares its words.
    const CHUNKS: [(&str, &str); 6] = [
        ("tea", "Green tea and black tea come from one plant."),
        ("tea", "Water for green tea must not boil."),
        ("coffee", "Coffee is roasted; water for coffee boils."),
        ("coffee", "Espresso is pressed."),
        ("milk", "Milk comes last."),
        ("milk", "Some take oat milk with black tea."),
    ];

    fn rank(query: &str) -> Vec<&'static str> {
        let (analyzer, salt) = (Analyzer::english(), TermSalt::new(b"c"));
        let counted: Vec<_> =
            CHUNKS.iter().map(|(name, text)| (*name, TermCounts::of_text(analyzer, salt, text))).collect();
        let frequencies = counted.iter().flat_map(|(_, counts)| counts.ids()).fold(
            std::collections::HashMap::new(),
            |mut frequencies: std::collections::HashMap<i32, u64>, id| {
                *frequencies.entry(id).or_default() += 1;
                frequencies
            },
        );
        let stems = QueryStems::of_text(analyzer, query);
        let asked = AskedCollection { stems: &stems, salt, chunks: 6, document_frequencies: &frequencies };
        let profile = QueryProfile::new(&[asked]);
        let weights: std::collections::HashMap<i32, f32> = profile.weights().into_iter().collect();
        let mut scored: Vec<(f32, &str)> = counted
            .iter()
            .map(|(name, counts)| {
                let score = |(id, weight): &(i32, f32)| weights.get(id).map_or(0.0, |query| query * weight);
                (document_weights(counts).iter().map(score).sum(), *name)
            })
            .filter(|(score, _)| *score > 0.0)
            .collect();
        scored.sort_by(|left, right| right.0.total_cmp(&left.0));
        scored.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn chunks_count_for_their_documents() {
        let ranked = rank("green tea");
        assert_eq!(ranked, ["tea", "tea", "milk"]);
        let judgements = Judgements::from([("tea", 1), ("milk", 1)]);
        let first = QueryFigures::of(&ranked, &judgements, 3.0).expect("judged");
        assert!((first.ndcg_at_10 - 1.0).abs() < 1e-9, "the second chunk of tea takes no place: {first:?}");
        let missed = QueryFigures::of(&rank("espresso"), &Judgements::from([("milk", 1)]), 1.0).expect("judged");
        let figures = RetrievalFigures::of(&[first, missed]).expect("two queries");
        assert_eq!(figures.queries, 2);
        for value in [figures.ndcg_at_10, figures.recall_at_10, figures.recall_at_100] {
            assert!((value - 0.5).abs() < 1e-9, "{figures:?}");
        }
        assert!((figures.median_ms - 1.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_to_measure() {
        assert_eq!(QueryFigures::of(&["tea"], &Judgements::from([("tea", 0)]), 1.0), None);
        assert_eq!(RetrievalFigures::of(&[]), None);
        assert_eq!(median(std::iter::empty()), None);
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
    }
}
