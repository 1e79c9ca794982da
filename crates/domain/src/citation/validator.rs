//! The strict validator: a pure function from a draft, a level and an attempt to a verdict.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use super::answer::CitedAnswer;
use super::claim::Role;
use super::draft::Draft;
use super::exempt::Lapse;
use super::fault_detail;
use super::retry_prompt::RetryPrompt;
use super::support::{ClaimVerdict, Contradiction, Support};
use crate::span::Span;

/// How strictly an answer is checked, from lax to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing is an error; everything found is a warning.
    Off,
    /// Malformed and out-of-range markers are errors; an answer without markers passes.
    Structural,
    /// A factual sentence that no marker covers is an error as well.
    #[default]
    Cited,
    /// A claim that its cited sources do not support is an error as well.
    Supported,
}

impl Level {
    /// The name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Structural => "structural",
            Self::Cited => "cited",
            Self::Supported => "supported",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A name that is no validation level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a validation level is one of off, structural, cited, supported")]
pub struct UnknownLevel;

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        [Self::Off, Self::Structural, Self::Cited, Self::Supported]
            .into_iter()
            .find(|level| level.as_str() == name)
            .ok_or(UnknownLevel)
    }
}

/// Which draft of the answer is judged. The two values are the whole retry budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attempt {
    /// The first draft: faults earn a retry.
    First,
    /// The second and last: faults end the request.
    Retry,
}

impl Attempt {
    /// 1 or 2.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Retry => 2,
        }
    }
}

/// Kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The answer holds nothing but white space.
    EmptyAnswer,
    /// Begins like a marker and is none.
    Malformed,
    /// Names a source that does not exist.
    OutOfRange,
    /// A factual sentence without a citation.
    UncitedClaim,
    /// A claim that its cited sources do not support.
    UnsupportedClaim,
}

impl ErrorKind {
    /// The name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EmptyAnswer => "empty_answer",
            Self::Malformed => "malformed",
            Self::OutOfRange => "out_of_range",
            Self::UncitedClaim => "uncited_claim",
            Self::UnsupportedClaim => "unsupported_claim",
        }
    }

    /// The laxest level at which it is an error; below, it is a warning.
    #[must_use]
    pub const fn refused_from(self) -> Level {
        match self {
            Self::EmptyAnswer | Self::Malformed | Self::OutOfRange => Level::Structural,
            Self::UncitedClaim => Level::Cited,
            Self::UnsupportedClaim => Level::Supported,
        }
    }
}

/// A fault of an answer. Below the level that refuses its kind, the same value is a warning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CitationError {
    /// The kind of fault.
    pub kind: ErrorKind,
    /// Description of the fault for people. Holds of the answer only numbers, dates, names, and what no source holds, cut
    /// to a few words.
    pub detail: String,
    /// The number of the marker at fault, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<u32>,
    /// Where in the answer, in code points; absent when the answer is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// How well the cited sources support the claim, 0 to 1; only of a claim that they do not support enough.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "as_written")]
    pub support: Option<f32>,
    /// Whether the cited sources contradict the claim or merely do not say it; only of an unsupported claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<ClaimVerdict>,
    /// The words of a source that contradict the claim; only of a contradicted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<Contradiction>,
}

impl CitationError {
    /// A fault of this kind that concerns no claim.
    fn new(kind: ErrorKind, detail: String, span: Option<Span>) -> Self {
        Self { kind, detail, marker: None, span, support: None, verdict: None, contradiction: None }
    }
}

/// Serialises the digits of the `f32` itself: converted to a JSON value it would get those of a longer number.
#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde hands the field over like this")]
fn as_written<S: Serializer>(number: &Option<f32>, serializer: S) -> Result<S::Ok, S::Error> {
    number.and_then(|number| number.to_string().parse::<f64>().ok()).serialize(serializer)
}

/// The outcome of validating a draft.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It may leave the service.
    Accept(CitedAnswer),
    /// The model gets one more attempt with this prompt.
    Retry(RetryPrompt),
    /// The request ends here, with these faults.
    Reject(Vec<CitationError>),
}

/// The right to make a [`CitedAnswer`]; its private field keeps it inside this module.
pub(super) struct Proof(());

/// The faults of a draft at a level.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// Faults that the level refuses, in order of appearance.
    pub errors: Vec<CitationError>,
    /// Faults that a stricter level would refuse.
    pub warnings: Vec<CitationError>,
}

/// The faults of a draft, by whether the level refuses them.
#[must_use]
pub fn findings(draft: &Draft, level: Level) -> Findings {
    let is_error = |fault: &CitationError| level >= fault.kind.refused_from();
    let (errors, warnings) = faults(draft).into_iter().partition(is_error);
    Findings { errors, warnings }
}

/// Judges a draft. Equal arguments give equal verdicts, byte for byte.
#[must_use]
pub fn validate(draft: &Draft, level: Level, attempt: Attempt) -> Verdict {
    let Findings { errors, warnings } = findings(draft, level);
    if errors.is_empty() {
        return Verdict::Accept(CitedAnswer::new(Proof(()), draft, level, attempt, warnings));
    }
    match attempt {
        Attempt::First => Verdict::Retry(RetryPrompt::new(draft, level, errors)),
        Attempt::Retry => Verdict::Reject(errors),
    }
}

/// All faults that any level objects to, in order of appearance.
pub(super) fn faults(draft: &Draft) -> Vec<CitationError> {
    if draft.text().trim().is_empty() {
        let detail = "the answer is empty".to_owned();
        return vec![CitationError::new(ErrorKind::EmptyAnswer, detail, None)];
    }
    let mut faults = marker_faults(draft);
    let marked: Vec<Span> = faults.iter().filter_map(|fault| fault.span).collect();
    faults.extend(claim_faults(draft, &marked));
    faults.extend(draft.lapses().iter().map(|lapse| lapse_fault(draft, lapse)));
    if draft.lapses().is_empty() && draft.is_marked() {
        faults.extend(says_nothing(draft));
    }
    faults.sort_by_key(|fault| (fault.span, fault.kind));
    faults
}

/// Malformed and out-of-range markers, ordered by position.
fn marker_faults(draft: &Draft) -> Vec<CitationError> {
    let malformed = draft
        .malformed()
        .iter()
        .map(|marker| CitationError::new(ErrorKind::Malformed, marker.fault.to_string(), Some(marker.span)));
    let sources = match draft.sources() {
        0 => "there are no sources".to_owned(),
        1 => "there is 1 source".to_owned(),
        count => format!("there are {count} sources"),
    };
    let out_of_range = draft.out_of_range().map(|marker| {
        let detail = format!("source {} does not exist; {sources}", marker.number);
        let fault = CitationError::new(ErrorKind::OutOfRange, detail, Some(marker.span));
        CitationError { marker: Some(marker.number), ..fault }
    });
    let mut faults: Vec<_> = malformed.chain(out_of_range).collect();
    faults.sort_by_key(|fault| fault.span);
    faults
}

/// Claims without citation or support. `marked` are the spans of faulty markers, ordered.
fn claim_faults(draft: &Draft, marked: &[Span]) -> Vec<CitationError> {
    let text = draft.indexed_text();
    let mut faults = Vec::new();
    for (statement, numbers, support) in draft.judged().filter(|(statement, ..)| statement.role == Role::Claim) {
        let sentence = text.span(&statement.bytes);
        let first_inside = marked.partition_point(|marker| marker.start < sentence.start);
        // The faulty marker was meant to cover this sentence and is reported already.
        let has_faulty_marker = marked.get(first_inside).is_some_and(|marker| sentence.contains(*marker));
        let fault = match support {
            None if has_faulty_marker => None,
            None => Some((ErrorKind::UncitedClaim, "no marker covers this statement".to_owned())),
            Some(support) => {
                fault_detail::unsupported(numbers, support).map(|detail| (ErrorKind::UnsupportedClaim, detail))
            }
        };
        faults.extend(fault.map(|(kind, detail)| CitationError {
            kind,
            detail,
            marker: numbers.first().copied(),
            span: Some(statement.span),
            support: support.map(|support| support.score),
            verdict: support.map(Support::verdict),
            contradiction: support.and_then(|support| support.contradiction.clone()),
        }));
    }
    faults
}

/// Something stated outside of the claims that no source holds, or not those that are cited for it.
fn lapse_fault(draft: &Draft, lapse: &Lapse) -> CitationError {
    let (kind, holder) = if lapse.cited.is_empty() {
        (ErrorKind::UncitedClaim, "no source holds".to_owned())
    } else {
        (ErrorKind::UnsupportedClaim, format!("{} does not hold", fault_detail::marker_list(&lapse.cited)))
    };
    let detail = format!("{}, which {holder}", fault_detail::stated(lapse));
    let fault = CitationError::new(kind, detail, Some(draft.indexed_text().span(&lapse.bytes)));
    CitationError { marker: lapse.cited.first().copied(), ..fault }
}

/// An answer whose words all escape the check: one code block, one heading, a bare "Yes.".
///
/// Each of these is no claim when other sentences are present. Alone it is the answer, and it needs a citation unless
/// it admits ignorance or asks back, with no code besides. To repeat the question is not to ask back.
fn says_nothing(draft: &Draft) -> Option<CitationError> {
    let has = |roles: &[Role]| draft.statements().iter().any(|statement| roles.contains(&statement.role));
    let admits = has(&[Role::Ignorance, Role::Question]) && !has(&[Role::Code]) && !draft.repeats_question();
    if admits || has(&[Role::Claim]) || !draft.citations().is_empty() {
        return None;
    }
    let first = draft.statements().first()?;
    let last = draft.statements().last()?;
    let detail = "the answer holds no sentence that cites a source".to_owned();
    let span = draft.indexed_text().span(&(first.bytes.start..last.bytes.end));
    Some(CitationError::new(ErrorKind::UncitedClaim, detail, Some(span)))
}
