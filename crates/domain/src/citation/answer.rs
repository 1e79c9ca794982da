//! The answer that has been checked.

use serde::Serialize;

use super::claim::{Role, Statement};
use super::draft::Draft;
use super::support::{ClaimVerdict, Quote, Support};
use super::validator::{Attempt, CitationError, Level, Proof};
use crate::span::Span;

/// One marker of an answer, resolved. A marker that occurs twice makes two citations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Citation {
    /// The number in the marker, from 1.
    pub marker: u32,
    /// Where the marker stands in the answer, in code points.
    pub span: Span,
    /// Where the sentence that it stands in is, in code points, without the markers at its ends.
    pub claim: Span,
    /// Index of the source among the answer's sources, from 0: the marker less one.
    pub source_index: usize,
    /// How well the source supports the sentence, or the part of it that ends at the marker, from 0 to 1.
    pub support: f32,
    /// The words of the source that support it best.
    pub quote: Option<Quote>,
}

/// A factual sentence of an answer and the sources that cover it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// Where it stands in the answer, in code points, without the markers at its ends.
    pub span: Span,
    /// The numbers of the sources that cover it, ascending; empty for an uncited claim.
    pub markers: Vec<u32>,
    /// How well these sources together support it, from 0 to 1; 0 for an uncited claim.
    pub support: f32,
    /// Whether they support it; an uncited claim is unsupported.
    pub verdict: ClaimVerdict,
}

impl Claim {
    /// A claim with the judgement of the sources that cover it, if any do.
    pub(super) fn new(statement: &Statement, markers: &[u32], support: Option<&Support>) -> Self {
        Self {
            span: statement.span,
            markers: markers.to_vec(),
            support: support.map_or(0.0, |support| support.score),
            verdict: support.map_or(ClaimVerdict::Unsupported, Support::verdict),
        }
    }
}

/// An answer that passed the validator at its level.
///
/// Nothing else can make one: the constructor asks for a proof that only the validator has.
///
/// ```compile_fail
/// use domain::citation::CitedAnswer;
/// let forged = CitedAnswer { text: String::new() };
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CitedAnswer {
    text: String,
    citations: Vec<Citation>,
    claims: Vec<Claim>,
    admissions: Vec<String>,
    level: Level,
    attempt: Attempt,
    warnings: Vec<CitationError>,
}

impl CitedAnswer {
    pub(super) fn new(
        _proof: Proof,
        draft: &Draft,
        level: Level,
        attempt: Attempt,
        warnings: Vec<CitationError>,
    ) -> Self {
        Self {
            text: draft.text().to_owned(),
            citations: draft.citations().to_vec(),
            claims: draft.claims(),
            admissions: draft.words_of(Role::Ignorance),
            level,
            attempt,
            warnings,
        }
    }

    /// The answer, byte for byte as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its citations, in order of appearance.
    #[must_use]
    pub fn citations(&self) -> &[Citation] {
        &self.citations
    }

    /// Its factual sentences, in order of appearance.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Statements that the sources lack something: these sentences, in order of appearance, without markers.
    #[must_use]
    pub fn admissions(&self) -> &[String] {
        &self.admissions
    }

    /// The level at which it was checked.
    #[must_use]
    pub const fn effective_level(&self) -> Level {
        self.level
    }

    /// Faults that a stricter level would have refused, in order of appearance.
    #[must_use]
    pub fn warnings(&self) -> &[CitationError] {
        &self.warnings
    }

    /// How many drafts it took: 1 or 2.
    #[must_use]
    pub const fn attempts(&self) -> u8 {
        self.attempt.number()
    }
}
