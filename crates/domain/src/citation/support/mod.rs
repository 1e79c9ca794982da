//! How well a source supports a claim, and the words of the source that do.
//!
//! Exact checks come first: every number in digits, month and name of the claim must stand somewhere in the sources,
//! and no denial may stand on one side only; otherwise the score is below the threshold. Similarity decides the rest:
//! the share of the claim's words and of their neighbourhood in the best one or two sentences of the source, units,
//! quantifiers, opposites, and values that stand in other sentences. A logistic model over all features gives the
//! score. Its fitting, and the errors that it catches and misses, are described in `tools/calibrate/README.md` and
//! `docs/quality.md`.

mod fact;
pub mod features;
mod model;
mod polarity;

use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use self::fact::facts;
pub(super) use self::fact::is_name;
use self::features::Comparison;
pub use self::model::SUPPORT_THRESHOLD;
use self::model::{DOUBTFUL_FROM, MODEL};
use self::polarity::Claim;
use super::source::{PreparedSource, SourceParts};
use super::verification::Ruling;
use crate::sentence::sentences;
use crate::span::Span;

/// Something exact in the claim that the source does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Missing {
    /// Its kind.
    pub kind: MissingKind,
    /// As the claim writes it.
    pub text: String,
}

/// Kinds of exact words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingKind {
    /// A number in digits.
    Number,
    /// A month.
    Date,
    /// A capitalised word that does not owe its capital to the start of a sentence.
    Name,
}

/// The exact words of a source that best support a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quote {
    /// The words, as they stand in the source.
    pub text: String,
    /// Where they start, in code points: of the source's text, until [`Quote::shifted`].
    pub start: usize,
    /// Where they end, exclusive.
    pub end: usize,
}

impl Quote {
    /// The same quote with its range `offset` code points further on.
    ///
    /// A source's text is a slice of its document; shifting by the code point at which the slice starts
    /// gives the range in the document.
    #[must_use]
    pub fn shifted(self, offset: usize) -> Self {
        let Span { start, end } = Span::new(self.start, self.end).shifted(offset);
        Self { text: self.text, start, end }
    }
}

/// How well one or more sources support a claim.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Support {
    /// Probability that the sources support the claim, 0 to 1; 0 when they share no word with it.
    pub score: f32,
    /// The best words, absent when the sources share no term with the claim.
    pub quote: Option<Quote>,
    /// Numbers, dates and names of the claim that none of the sources holds.
    pub missing: Vec<Missing>,
    /// Whether a denial stands in the claim or in the sources, and not in the other.
    pub is_turned: bool,
    /// The ruling of a model that was asked because the score leaves the claim in doubt.
    pub ruling: Option<Ruling>,
}

impl Support {
    /// Whether the support is enough for level `supported`. A missing fact, or a denial on one side only, puts the
    /// score below the threshold.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        match self.ruling {
            Some(ruling) => ruling == Ruling::Supported,
            None => self.score >= SUPPORT_THRESHOLD && self.missing.is_empty() && !self.is_turned,
        }
    }

    /// Whether words alone cannot decide that this claim is supported: nothing exact is missing, no denial stands on
    /// one side only, most words are there, and the claim is no sentence of the source.
    #[must_use]
    pub fn is_doubtful(&self, claim: &str) -> bool {
        let is_repeated = || self.quote.as_ref().is_some_and(|quote| repeats(&quote.text, claim));
        self.missing.is_empty() && !self.is_turned && self.score >= DOUBTFUL_FROM && !is_repeated()
    }
}

/// Whether the quote, or a sentence of it, is the claim word for word.
fn repeats(quote: &str, claim: &str) -> bool {
    let claim: Vec<String> = words(claim).collect();
    let is_claim = |text: &str| words(text).eq(claim.iter().cloned());
    is_claim(quote) || sentences(quote).iter().filter_map(|sentence| quote.get(sentence.words())).any(is_claim)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.unicode_words().map(str::to_lowercase)
}

/// Judges support. The built-in judge is [`LexicalScorer`]; a semantic one may take its place.
pub trait SupportScorer {
    /// How well the sources at these indices (from 0) together support the claim.
    ///
    /// Must be a pure function of its arguments and ignore an index without a source.
    fn support(&self, claim: &str, sources: &[usize]) -> Support;
}

/// The built-in judge of support.
#[derive(Debug, Clone, Copy)]
pub struct LexicalScorer<'s> {
    sources: &'s [PreparedSource],
}

impl<'s> LexicalScorer<'s> {
    /// A judge over these sources.
    #[must_use]
    pub const fn new(sources: &'s [PreparedSource]) -> Self {
        Self { sources }
    }
}

impl LexicalScorer<'_> {
    fn cited<'s>(&'s self, sources: &[usize]) -> Vec<&'s SourceParts> {
        sources.iter().filter_map(|index| self.sources.get(*index)).map(PreparedSource::parts).collect()
    }

    /// The features of the score, in the order of [`features::NAMES`]: for the calibration tool.
    #[must_use]
    pub fn features(&self, claim: &str, sources: &[usize]) -> [f32; features::COUNT] {
        let claim = Claim::of(claim);
        Comparison::new(&claim, &facts(&claim), &self.cited(sources)).features()
    }
}

impl SupportScorer for LexicalScorer<'_> {
    fn support(&self, claim: &str, sources: &[usize]) -> Support {
        let claim = Claim::of(claim);
        let facts = facts(&claim);
        let comparison = Comparison::new(&claim, &facts, &self.cited(sources));
        let missing = comparison.missing();
        let score = if comparison.shares_nothing() { 0.0 } else { MODEL.probability(&comparison.features()) };
        let is_turned = comparison.is_turned();
        // Nothing that agrees makes up for a wrong number, date or name, or for a "not".
        let score = if missing.is_empty() && !is_turned { score } else { score * SUPPORT_THRESHOLD };
        Support { score, quote: comparison.quote(), missing, is_turned, ruling: None }
    }
}
