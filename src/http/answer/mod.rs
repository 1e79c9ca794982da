//! The body of an answer in the API.

mod finding;
mod form;
mod usage;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    number::hundredths as round,
    schema::{AbstainReasonSchema, PassageReasonSchema, ValidationLevelSchema},
    source::SourceBody,
};
use crate::{
    domain::{
        answering::{GivenPassage, PassageReason},
        citation::{Citation, CitedAnswer, Level, Quote},
        corrective::AbstainReason,
        planning::Plan,
        spelling::Correction,
    },
    service::ask::{AskOutcome, AskReport, EvidenceFound, GeneratedBy, GradedHit, TimingsMs},
};

pub(super) use finding::{ContradictionBody, FindingBody};
pub(super) use usage::UsageBody;

/// An answer, or an abstention with its reason.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Answer)]
pub(super) struct AnswerBody {
    /// Id of this ask.
    id: Uuid,
    /// Outcome of the ask.
    outcome: OutcomeBody,
    /// Reason for an abstention.
    #[schema(value_type = Option<AbstainReasonSchema>)]
    reason: Option<AbstainReason>,
    /// The question that was made of the last message, where it leans on the messages before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "And for interns? (days paid leave)")]
    standalone_question: Option<String>,
    /// A courtesy in return, where the message asks nothing (`no_question`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "You are welcome. Ask whenever something else comes up.")]
    reply: Option<&'static str>,
    /// The parts of the question that the documents do not answer; with an abstention, the aspects that no correct passage
    /// holds; with `clarify`, what the asker would have to say.
    #[schema(example = json!([]))]
    missing: Vec<String>,
    /// Words of the question that no document of the collections holds; with an abstention only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(nullable = false, example = json!(["sabbatical"]))]
    unknown_terms: Vec<String>,
    /// Words of the question that were read as others: no document holds them, and they are likely typing errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(nullable = false)]
    corrected: Vec<CorrectionBody>,
    /// The plan for answering the question. Included with `dry_run` only; the trace always contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Map<String, Value>>, nullable = false, example = json!({"type": "lookup", "strategy": "direct", "sub_questions": [], "by": "built_in"}))]
    plan: Option<Plan>,
    /// The answer, or the passages, with `[^N]` markers; null without either. `[^N]` cites `sources[N - 1]`.
    #[schema(example = "Everyone has 28 days of paid leave a year. [^1]")]
    answer: Option<String>,
    /// The passages that `answer` consists of, in its order; with the outcome `passages` only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(nullable = false)]
    passages: Vec<PassageBody>,
    /// One per marker, in order of appearance.
    citations: Vec<CitationBody>,
    /// Sources in marker order, then passages that were found but not used.
    sources: Vec<SourceBody>,
    /// How well the passages found answer the question.
    evidence: EvidenceBody,
    /// How the answer was checked.
    validation: ValidationBody,
    /// Model that wrote the answer; `extractive` is the built-in one.
    model: Option<String>,
    /// Provider of that model.
    provider: Option<String>,
    /// Whether the answer came from the cache.
    cache_hit: bool,
    /// Calls, tokens and cost of this ask.
    usage: UsageBody,
    /// Time spent per stage, in milliseconds.
    timings_ms: TimingsBody,
    /// The full trace of the ask, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Map<String, Value>>, nullable = false)]
    trace: Option<Value>,
}

/// How an ask ended.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Outcome)]
pub(super) enum OutcomeBody {
    /// The answer passed its check and covers the whole question.
    Answered,
    /// The answer passed its check but lacks a part of what was asked; `missing` names that part.
    Partial,
    /// No sentence answers the question (what to do, a comparison, a summary, a list, an explanation), and no model writes
    /// an answer: `answer` quotes whole passages, and `passages` tells why each is there.
    Passages,
    /// The documents do not answer the question; `reason` gives the cause.
    Abstained,
    /// The messages do not tell what is asked for; `missing` says what the asker would have to say. Only where a model
    /// makes the last message a question that stands alone.
    Clarify,
    /// Stopped before generation, as requested with `dry_run`.
    DryRun,
}

impl OutcomeBody {
    /// How an ask ended.
    pub(super) fn of(report: &AskReport) -> Self {
        match report.outcome {
            AskOutcome::Answered { .. } if report.missing.is_empty() => Self::Answered,
            AskOutcome::Answered { .. } => Self::Partial,
            AskOutcome::Passages { .. } => Self::Passages,
            AskOutcome::Abstained(_) | AskOutcome::NoQuestion { .. } => Self::Abstained,
            AskOutcome::Unclear => Self::Clarify,
            AskOutcome::DryRun => Self::DryRun,
        }
    }
}

/// A passage that is given instead of an answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GivenPassage)]
pub(super) struct PassageBody {
    /// Index of its source in `sources`, from 0.
    source_index: usize,
    /// Why it is given.
    #[schema(value_type = PassageReasonSchema)]
    reason: PassageReason,
    /// Which of the things compared it is about; null if it is about both, or nothing is compared.
    #[schema(example = json!(null))]
    about: Option<String>,
}

/// A word of the question that was read as another.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Correction)]
pub(super) struct CorrectionBody {
    /// As the question writes it.
    #[schema(example = "vaccation")]
    from: String,
    /// As the documents write it.
    #[schema(example = "vacation")]
    to: String,
}

/// A citation: a marker that has been checked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Citation)]
pub(super) struct CitationBody {
    /// Number in the marker.
    #[schema(example = 1)]
    marker: u32,
    /// Position of the marker in the answer: start and end in Unicode code points.
    #[schema(value_type = [usize; 2], example = json!([43, 47]))]
    span: (usize, usize),
    /// Position of the sentence it supports in the answer: start and end in Unicode code points.
    #[schema(value_type = [usize; 2], example = json!([0, 42]))]
    claim: (usize, usize),
    /// Index of the source in `sources`, from 0.
    source_index: usize,
    /// Permanent name of the cited passage; empty for a passage that a check was sent.
    urn: String,
    /// Page on which the quote begins; null where none is known.
    #[schema(example = 4)]
    page: Option<i32>,
    /// How well the source supports the claim, 0 to 1.
    support: f32,
    /// The words of the source that best support the claim.
    quote: Option<QuoteBody>,
}

/// How well the passages found in all rounds answer the question.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Evidence)]
pub(super) struct EvidenceBody {
    /// Probability that a passage of the best round answers the question, 0 to 1; null if nothing was found.
    #[schema(example = 0.97)]
    answerability: Option<f32>,
    /// Passages graded correct, each counted once.
    #[schema(example = 3)]
    correct: usize,
    /// Passages graded ambiguous.
    #[schema(example = 1)]
    ambiguous: usize,
    /// Passages graded incorrect.
    #[schema(example = 4)]
    incorrect: usize,
    /// Probability that the best sentence of a quoted answer answers the question, 0 to 1; null where a model wrote the
    /// answer, or nothing was quoted.
    #[schema(example = 0.42)]
    confidence: Option<f32>,
}

/// Words of a document.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Quote)]
pub(super) struct QuoteBody {
    /// The quoted words.
    text: String,
    /// Start of the quote in the document's text, in Unicode code points.
    start: usize,
    /// End of the quote, exclusive, in Unicode code points.
    end: usize,
}

/// How an answer was checked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Validation)]
pub(in crate::http) struct ValidationBody {
    /// Whether the answer passed; also true if there was nothing to check.
    pub(super) ok: bool,
    /// Validation level that was requested.
    #[schema(value_type = ValidationLevelSchema)]
    pub(super) level: Level,
    /// Validation level that was applied.
    #[schema(value_type = ValidationLevelSchema)]
    pub(super) effective_level: Level,
    /// Number of drafts generated: 1 or 2; 0 if nothing was generated.
    pub(super) attempts: u8,
    /// Findings that a stricter level would have refused, and other notices such as `length_cut` and `mode_fallback`.
    pub(super) warnings: Vec<FindingBody>,
    /// Faults of the answer; always empty in a 200 response, see the 422.
    pub(super) errors: Vec<FindingBody>,
}

/// Time spent per stage, in milliseconds.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Timings)]
pub(super) struct TimingsBody {
    /// Making the question stand alone.
    condense: f64,
    /// Planning.
    plan: f64,
    /// Searching.
    retrieve: f64,
    /// Grading passages.
    grade: f64,
    /// Making further queries.
    rewrite: f64,
    /// Writing the answer.
    generate: f64,
    /// Checking the answer.
    validate: f64,
    /// The whole ask.
    total: f64,
}

impl AnswerBody {
    /// The body of a report, with `trace` if it was requested.
    pub(super) fn new(report: AskReport, trace: Option<Value>) -> Self {
        let drafts = report.trace.attempts.last().map_or(0, |attempt| attempt.attempt);
        let validation = ValidationBody::before_drafts(&report);
        let mut body = Self {
            id: report.id,
            outcome: OutcomeBody::of(&report),
            reason: report.outcome.abstain_reason(),
            standalone_question: report.standalone,
            reply: None,
            missing: report.missing,
            unknown_terms: report.unknown_words,
            corrected: report.corrections.into_iter().map(CorrectionBody::from).collect(),
            plan: report.plan,
            answer: None,
            passages: Vec::new(),
            citations: Vec::new(),
            sources: Vec::new(),
            evidence: EvidenceBody::new(
                report.evidence,
                report.trace.attempts.last().and_then(|draft| draft.confidence),
            ),
            validation,
            model: None,
            provider: None,
            cache_hit: report.is_cache_hit,
            usage: UsageBody::from(&report.usage),
            timings_ms: TimingsBody::from(&report.timings),
            trace,
        };
        match report.outcome {
            AskOutcome::Answered { answer, by } => {
                body.write(&answer, by, &report.sources);
            }
            AskOutcome::Passages { answer, by, passages } => {
                body.passages = passages.into_iter().map(PassageBody::from).collect();
                body.write(&answer, by, &report.sources);
            }
            AskOutcome::Abstained(_) => body.validation.attempts = drafts,
            AskOutcome::NoQuestion { reply } => body.reply = Some(reply),
            AskOutcome::Unclear | AskOutcome::DryRun => {}
        }
        body.sources =
            report.sources.into_iter().map(|graded| SourceBody::new(graded.hit, Some(graded.verdict.grade))).collect();
        body
    }

    /// Adds what was written, with its citations.
    fn write(&mut self, answer: &CitedAnswer, by: GeneratedBy, sources: &[GradedHit]) {
        self.citations = answer.citations().iter().map(|citation| CitationBody::new(citation, sources)).collect();
        self.validation.attempts = answer.attempts();
        self.validation.warnings.extend(answer.warnings().iter().map(FindingBody::from));
        self.answer = Some(answer.text().to_owned());
        self.model = Some(by.model);
        self.provider = Some(by.provider);
    }
}

impl ValidationBody {
    /// The result of an ask as far as it is known without a draft.
    fn before_drafts(report: &AskReport) -> Self {
        Self {
            ok: true,
            level: report.level,
            effective_level: report.effective_level,
            attempts: 0,
            warnings: report.warnings.iter().map(FindingBody::from).collect(),
            errors: Vec::new(),
        }
    }
}

impl From<&TimingsMs> for TimingsBody {
    fn from(timings: &TimingsMs) -> Self {
        let TimingsMs { condense, plan, retrieve, grade, rewrite, generate, validate, total } = *timings;
        Self {
            condense: round(condense),
            plan: round(plan),
            retrieve: round(retrieve),
            grade: round(grade),
            rewrite: round(rewrite),
            generate: round(generate),
            validate: round(validate),
            total: round(total),
        }
    }
}

impl From<GivenPassage> for PassageBody {
    fn from(passage: GivenPassage) -> Self {
        let GivenPassage { source_index, reason, about } = passage;
        Self { source_index, reason, about }
    }
}

impl From<Correction> for CorrectionBody {
    fn from(correction: Correction) -> Self {
        let Correction { from, to } = correction;
        Self { from, to }
    }
}

impl EvidenceBody {
    fn new(found: EvidenceFound, confidence: Option<f32>) -> Self {
        let EvidenceFound { answerability, correct, ambiguous, incorrect } = found;
        Self { answerability, correct, ambiguous, incorrect, confidence }
    }
}

impl CitationBody {
    pub(super) fn new(citation: &Citation, sources: &[GradedHit]) -> Self {
        let hit = sources.get(citation.source_index).map(|graded| &graded.hit);
        let urn = hit.map(|hit| hit.urn().to_string()).unwrap_or_default();
        Self { page: hit.and_then(|hit| hit.page_of(citation)), ..Self::of(citation, urn) }
    }

    /// A citation of the source with this name.
    pub(super) fn of(citation: &Citation, urn: String) -> Self {
        Self {
            marker: citation.marker,
            span: citation.span.into(),
            claim: citation.claim.into(),
            source_index: citation.source_index,
            urn,
            page: None,
            support: citation.support,
            quote: citation.quote.clone().map(QuoteBody::from),
        }
    }
}

impl From<Quote> for QuoteBody {
    fn from(quote: Quote) -> Self {
        let Quote { text, start, end } = quote;
        Self { text, start, end }
    }
}
