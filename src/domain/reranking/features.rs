//! What the reranker looks at.

use crate::domain::evidence::{QuestionTerms, TermMask};
use crate::domain::lexical::analyzer::Analyzer;
use crate::domain::sentence::sentences;

/// Number of features.
pub const COUNT: usize = 4;

/// Names of the features in the order of [`Features::values`], for the calibration tool.
pub const NAMES: [&str; COUNT] = [
    // Fused score, 0 to 1.
    "fused",
    // Share of the query's known idf mass in the one sentence that holds most of it.
    "sentence",
    // Share of neighbouring query terms that are near each other in the text, nearer ones more.
    "proximity",
    // Share in title and headings.
    "title",
];

/// A passage of the fused list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passage<'p> {
    /// Title of its document, with the heading path if there is one.
    pub title: &'p str,
    /// Its text.
    pub text: &'p str,
    /// Fused score, scaled to 0 to 1.
    pub fused: f64,
}

/// What the reranker knows of one passage.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Values in the order of [`NAMES`], all 0 to 1.
    pub values: [f64; COUNT],
}

/// Features of all passages, in their order.
#[must_use]
pub fn of_passages(analyzer: &Analyzer, query: &QuestionTerms, passages: &[Passage<'_>]) -> Vec<Features> {
    let found: Vec<Found> = passages.iter().map(|passage| Found::of(analyzer, query, passage)).collect();
    let mass = Mass::of(query);
    passages
        .iter()
        .zip(&found)
        .map(|(passage, found)| {
            let values =
                [passage.fused, mass.best_share(&found.sentences), found.proximity(query), mass.share(found.title)];
            Features { values }
        })
        .collect()
}

/// The weight of the query's terms that the collections hold: what they lack no passage can have.
struct Mass<'q> {
    query: &'q QuestionTerms,
    known: f32,
}

impl<'q> Mass<'q> {
    fn of(query: &'q QuestionTerms) -> Self {
        Self { query, known: query.mass() - query.weight_of(query.unknown()) }
    }

    fn share(&self, mask: TermMask) -> f64 {
        // A term may be found that the statistics do not know yet, or no longer.
        if self.known > 0.0 { f64::from(self.query.weight_of(mask) / self.known).min(1.0) } else { 0.0 }
    }

    fn best_share(&self, sentences: &[TermMask]) -> f64 {
        sentences.iter().map(|mask| self.share(*mask)).fold(0.0, f64::max)
    }
}

/// Where a passage holds terms of the query.
struct Found {
    title: TermMask,
    sentences: Vec<TermMask>,
    /// Place among the text's terms and position among the query's, ascending by place.
    places: Vec<(usize, usize)>,
}

impl Found {
    fn of(analyzer: &Analyzer, query: &QuestionTerms, passage: &Passage<'_>) -> Self {
        let mut found = Self { title: 0, sentences: Vec::new(), places: Vec::new() };
        let mut length = 0;
        for sentence in sentences(passage.text) {
            let mut mask = 0;
            analyzer.for_each_term(passage.text.get(sentence.words()).unwrap_or_default(), |stem, _| {
                if let Some(position) = query.position(stem) {
                    found.places.push((length, position));
                    mask |= 1 << position;
                }
                length += 1;
            });
            found.sentences.push(mask);
        }
        analyzer.for_each_term(passage.title, |stem, _| {
            if let Some(position) = query.position(stem) {
                found.title |= 1 << position;
            }
        });
        found
    }

    /// Each pair of query terms that follow one another counts as its lighter term, divided by the terms
    /// from one to the other where the text has them nearest.
    fn proximity(&self, query: &QuestionTerms) -> f64 {
        let (mut near, mut all) = (0.0, 0.0);
        for (position, pair) in query.terms().windows(2).enumerate() {
            if pair.iter().any(|term| term.document_frequency == 0) {
                continue;
            }
            let weight = f64::from(pair.iter().map(|term| term.weight).fold(f32::INFINITY, f32::min));
            all += weight;
            if let Some(distance) = self.nearest(position, position + 1) {
                near += weight / f64::from(distance);
            }
        }
        if all > 0.0 { near / all } else { 0.0 }
    }

    /// Terms from an occurrence of one to the nearest of the other: 1 if they are side by side.
    fn nearest(&self, one: usize, other: usize) -> Option<u32> {
        let (mut last_one, mut last_other, mut nearest) = (None, None, None);
        for (place, position) in &self.places {
            if *position == one {
                last_one = Some(*place);
            } else if *position == other {
                last_other = Some(*place);
            } else {
                continue;
            }
            if let (Some(one), Some(other)) = (last_one, last_other) {
                let distance = one.abs_diff(other);
                nearest = Some(nearest.map_or(distance, |nearest: usize| nearest.min(distance)));
            }
        }
        nearest.and_then(|distance| u32::try_from(distance.max(1)).ok())
    }
}
