//! The features of the reranker.

use crate::evidence::{QuestionTerms, TermMask};
use crate::lexical::analyzer::Analyzer;
use crate::sentence::{Sentence, sentences};

/// Number of features.
pub const COUNT: usize = 3;

/// Words of a passage from which its title counts in full.
const FULL: usize = 24;

/// Names of the features in the order of [`Features::values`], for the calibration tool: the fused score, and
/// the share of the query's known idf mass in the one sentence that holds most of it, and in title and headings.
pub const NAMES: [&str; COUNT] = ["fused", "sentence", "title"];

/// A passage of the fused list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passage<'p> {
    /// Title of its document, with the heading path if there is one.
    pub title: &'p str,
    /// Its text.
    pub text: &'p str,
    /// Whether it stands under a heading.
    pub is_section: bool,
    /// Fused score, scaled to 0 to 1.
    pub fused: f64,
}

/// The features of one passage.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Values in the order of [`NAMES`], all 0 to 1.
    pub values: [f64; COUNT],
    /// If the passage has the entry of an option that the query names: the share of the rest of the query in title and
    /// headings; of a setting 1. Not learned: the queries of the sets name neither.
    pub entry: Option<f64>,
    /// Whether a sentence of the passage defines the thing that the query asks to define.
    pub defines: bool,
    /// Whether the query names identifiers, and the passage or its title holds them all.
    pub identified: bool,
    /// The same of names that hardly any passage holds.
    pub named: bool,
}

/// Features of all passages, in their order.
#[must_use]
pub fn of_passages(analyzer: &Analyzer, query: &QuestionTerms, passages: &[Passage<'_>]) -> Vec<Features> {
    let mass = Mass::of(query);
    let (identifiers, rare) = (query.identifiers(), query.rare_names());
    let of_passage = |passage: &Passage<'_>| {
        let titled = query.mask_of(analyzer, passage.title);
        let of_setting = query.has_named_entry(passage.text).then_some(1.0);
        let entry = of_setting.or_else(|| query.entry_share(titled, passage.text).map(f64::from));
        let defines = query.is_defined_in(passage.text);
        let places = query.places_in(analyzer, passage.text);
        let held = titled | mask_of(&places);
        let identified = identifiers != 0 && held & identifiers == identifiers;
        let named = rare != 0 && held & rare == rare;
        let said = if passage.is_section { fullness(passage.text) } else { 1.0 };
        let title = mass.share(titled) * said;
        Features {
            values: [passage.fused, mass.best_share(&places, passage.text), title],
            entry,
            defines,
            identified,
            named,
        }
    };
    passages.iter().map(of_passage).collect()
}

/// The terms at places of a text.
fn mask_of(places: &[(usize, usize)]) -> TermMask {
    places.iter().fold(0, |mask, (_, term)| mask | 1 << term)
}

/// How much the title of a passage says about it, 0 to 1: below a heading may stand a few words, "See also: tar(1)".
fn fullness(text: &str) -> f64 {
    let words = text.split_whitespace().take(FULL).count();
    f64::from(u32::try_from(words).unwrap_or(u32::MAX)) / f64::from(u32::try_from(FULL).unwrap_or(u32::MAX))
}

/// The weight of the query's terms that the collections hold: no passage can have the others.
struct Mass<'q> {
    query: &'q QuestionTerms,
    known: f32,
}

impl<'q> Mass<'q> {
    fn of(query: &'q QuestionTerms) -> Self {
        Self { query, known: query.mass() - query.weight_of(query.unknown()) }
    }

    fn share(&self, mask: TermMask) -> f64 {
        // A passage may hold a term that the statistics do not know yet, or no longer.
        if self.known > 0.0 { f64::from(self.query.weight_of(mask) / self.known).min(1.0) } else { 0.0 }
    }

    /// The share of the sentence that holds most, of a text that holds terms at these places.
    fn best_share(&self, places: &[(usize, usize)], text: &str) -> f64 {
        let all = mask_of(places);
        if all.count_ones() < 2 {
            // Some sentence holds all of it: no need to find out which.
            return self.share(all);
        }
        let mut rest = places;
        let share = |sentence: Sentence| {
            let (here, after) = rest.split_at(rest.partition_point(|(start, _)| *start < sentence.range.end));
            rest = after;
            self.share(mask_of(here))
        };
        sentences(text).into_iter().map(share).fold(0.0, f64::max)
    }
}
