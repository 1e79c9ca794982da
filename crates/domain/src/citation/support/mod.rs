//! How well a source supports a claim, and the words of the source that do.
//!
//! The score is the probability that the sources support the claim: a logistic model over the share of the claim's
//! words and of their neighbourhood in the best one or two sentences, what is missing, units, quantifiers, opposites,
//! denials and values that stand in other sentences. Exact checks limit it: every number in digits, month and name of
//! the claim must stand somewhere in the sources, and nothing may be reversed; otherwise the score stays below the
//! threshold. Its fitting, and the errors that it catches and misses, are described in `tools/calibrate/README.md` and
//! `docs/quality.md`.

mod bound;
mod calculation;
mod cells;
mod computed;
mod condition;
mod contradiction;
mod crossed;
mod deed;
mod fact;
pub mod features;
mod figures;
mod foreign;
mod misplaced;
mod model;
mod nearest;
mod order;
mod place;
mod polarity;
mod qualifier;
mod quotation;
mod rearranged;
mod reason;
mod restated;
mod reversal;
mod roles;
mod scorer;
mod word;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

pub(super) use self::calculation::calculated;
pub use self::contradiction::{Contradiction, ContradictionKind};
pub(super) use self::fact::is_name;
use self::model::DOUBTFUL_FROM;
pub use self::model::SUPPORT_THRESHOLD;
pub(super) use self::qualifier::Requalified;
pub use self::scorer::LexicalScorer;
use super::verification::Ruling;
use crate::sentence::sentences;

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
    /// A month, or a day of the week.
    Date,
    /// A capitalised word that does not owe its capital to the start of a sentence.
    Name,
}

/// The exact words of a source that best support a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The words, as they stand in the source.
    pub text: String,
    /// Where they start, in code points of the document that the source is a slice of.
    pub start: usize,
    /// Where they end, exclusive.
    pub end: usize,
}

/// How well one or more sources support a claim.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Support {
    /// Probability that the sources support the claim, 0 to 1; 0 when they share no word with it.
    pub score: f32,
    /// The best words, absent when the sources share no term with the claim.
    pub quote: Option<Quote>,
    /// Numbers, dates and names of the claim that none of the sources holds, and numbers and dates that they hold only
    /// far from its other words.
    pub missing: Vec<Missing>,
    /// The way in which the sources reverse the claim, if they do.
    pub reversal: Option<Reversal>,
    /// The place that contradicts the claim, if words show it.
    pub contradiction: Option<Contradiction>,
    /// Whether the claim is in another language than its sources, so that words tell nothing but its numbers.
    pub is_foreign: bool,
    /// The ruling of a model that was asked because the score leaves the claim in doubt.
    pub ruling: Option<Ruling>,
}

/// Ways in which a source reverses a claim that it shares its words with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reversal {
    /// A denial stands in one of them and not in the other.
    Denial,
    /// The source has the opposite of a word of the claim.
    Opposite,
    /// One is about all and the other about some, or one about nothing else.
    Quantity,
    /// A number counts something else in the source.
    Unit,
    /// The same verb, number or deed is qualified otherwise: may for must, at least for at most.
    Qualifier(Requalified),
}

/// The judgement of a claim against its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// They support it.
    Supported,
    /// They say something else about the same.
    Contradicted,
    /// They do not say it.
    Unsupported,
}

impl Support {
    /// The judgement of the claim at level `supported`.
    #[must_use]
    pub fn verdict(&self) -> ClaimVerdict {
        let is_enough = match self.ruling {
            Some(ruling) => ruling == Ruling::Supported,
            None => self.score >= SUPPORT_THRESHOLD,
        };
        match &self.contradiction {
            _ if is_enough => ClaimVerdict::Supported,
            Some(_) => ClaimVerdict::Contradicted,
            None => ClaimVerdict::Unsupported,
        }
    }

    /// Whether the support is enough for level `supported`.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.verdict() == ClaimVerdict::Supported
    }

    /// Whether words alone cannot decide that this claim is supported: nothing exact is missing, no denial stands on
    /// one side only, most words are there, and the claim is no sentence of the source; or it is in another language, and no
    /// number is missing.
    #[must_use]
    pub fn is_doubtful(&self, claim: &str) -> bool {
        if self.is_foreign {
            return self.missing.is_empty() && self.score < SUPPORT_THRESHOLD;
        }
        let is_repeated = || self.quote.as_ref().is_some_and(|quote| repeats(&quote.text, claim));
        let is_decided = !self.missing.is_empty() || self.reversal == Some(Reversal::Denial);
        !is_decided && self.score >= DOUBTFUL_FROM && !is_repeated()
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
