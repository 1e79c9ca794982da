//! The report of an ask.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    context::AskContext,
    evidence_pool::{EvidenceFound, GradedHit},
    record::Trace,
    state::LoopState,
};
use crate::{
    domain::{
        answering::GivenPassage,
        budget::Spent,
        citation::{CitationError, CitedAnswer, Level},
        corrective::AbstainReason,
        planning::Plan,
        spelling::Correction,
    },
    providers::chat::{CallRole, ChatReply},
};

/// The author of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GeneratedBy {
    /// Model.
    pub model: String,
    /// Its provider.
    pub provider: String,
}

impl GeneratedBy {
    /// The model that gave a reply.
    pub(super) fn of(reply: &ChatReply) -> Self {
        Self { model: reply.model.model.clone(), provider: reply.model.provider.clone() }
    }
}

/// The outcome of an ask. An answer is included only if it passed the validator.
#[derive(Clone, Debug)]
pub(crate) enum AskOutcome {
    /// With a checked answer.
    Answered {
        /// The answer.
        answer: CitedAnswer,
        /// Its author.
        by: GeneratedBy,
    },
    /// With checked passages instead of an answer: no sentence answers the question.
    Passages {
        /// The quoted passages.
        answer: CitedAnswer,
        /// Their author.
        by: GeneratedBy,
        /// Why each is given.
        passages: Vec<GivenPassage>,
    },
    /// The documents do not answer the question.
    Abstained(AbstainReason),
    /// The message greets or thanks.
    NoQuestion {
        /// A courtesy in return.
        reply: &'static str,
    },
    /// The conversation does not tell what is asked for; `missing` of the report says what it lacks.
    Unclear,
    /// Stopped before generation, as requested.
    DryRun,
}

impl AskOutcome {
    /// The text that was written, if any was, with its author.
    #[must_use]
    pub(crate) const fn written(&self) -> Option<(&CitedAnswer, &GeneratedBy)> {
        match self {
            Self::Answered { answer, by } | Self::Passages { answer, by, .. } => Some((answer, by)),
            Self::Abstained(_) | Self::NoQuestion { .. } | Self::Unclear | Self::DryRun => None,
        }
    }

    /// Why nothing was answered, if the documents or the message gave no reason to.
    #[must_use]
    pub(crate) const fn abstain_reason(&self) -> Option<AbstainReason> {
        match self {
            Self::Abstained(reason) => Some(*reason),
            Self::NoQuestion { .. } => Some(AbstainReason::NoQuestion),
            Self::Answered { .. } | Self::Passages { .. } | Self::Unclear | Self::DryRun => None,
        }
    }

    /// The passages that it consists of; none of an answer.
    pub(super) fn passages(&self) -> &[GivenPassage] {
        if let Self::Passages { passages, .. } = self { passages } else { &[] }
    }
}

/// Everything about a finished ask.
#[derive(Clone, Debug)]
pub(crate) struct AskReport {
    /// Identity of this ask.
    pub id: Uuid,
    /// How it ended.
    pub outcome: AskOutcome,
    /// The question that was made of it and its history, if one was.
    pub standalone: Option<String>,
    /// Sources in marker order, then those that were found but not used.
    pub sources: Vec<GradedHit>,
    /// Whether the passages found are sufficient.
    pub evidence: EvidenceFound,
    /// Calls, tokens and cost.
    pub usage: Spent,
    /// Time spent in each stage.
    pub timings: TimingsMs,
    /// The requested level.
    pub level: Level,
    /// The applied level.
    pub effective_level: Level,
    /// Warnings about the answer for the caller.
    pub warnings: Vec<AskWarning>,
    /// With an answer, the sub-questions that the documents do not answer; with an abstention, the aspects of the question
    /// that no correct passage holds; with an unclear message, what the asker would have to say.
    pub missing: Vec<String>,
    /// With an abstention, the words of the question that no document of the collections holds.
    pub unknown_words: Vec<String>,
    /// Words of the question that were read as others, because no document holds them.
    pub corrections: Vec<Correction>,
    /// The plan; of a dry run only.
    pub plan: Option<Plan>,
    /// Whether it is a cached answer.
    pub is_cache_hit: bool,
    /// The complete trace.
    pub trace: Trace,
}

/// The part of a report that is in neither the outcome nor the record.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) sources: Vec<GradedHit>,
    pub(super) evidence: EvidenceFound,
    pub(super) missing: Vec<String>,
    pub(super) unknown_words: Vec<String>,
    pub(super) plan: Option<Plan>,
}

impl AskReport {
    /// The report of an ask that ends in this state.
    pub(super) fn new(ask: &AskContext, state: &LoopState, outcome: AskOutcome) -> Self {
        let is_abstention = matches!(outcome, AskOutcome::Abstained(_));
        let findings = Findings {
            sources: sources(ask, state),
            evidence: state.pool.found(state.answerability),
            missing: if is_abstention { state.missing.clone() } else { Vec::new() },
            unknown_words: if is_abstention { state.unknown_words(ask) } else { Vec::new() },
            plan: state.plan.clone().filter(|_| ask.request.execution.dry_run),
        };
        Self::with(ask, outcome, findings)
    }

    /// The report of an ask that ends now. Moves the trace out of the record.
    pub(super) fn with(ask: &AskContext, outcome: AskOutcome, findings: Findings) -> Self {
        let Findings { sources, evidence, missing, unknown_words, plan } = findings;
        Self {
            id: ask.id,
            outcome,
            standalone: ask.standalone().map(|standalone| standalone.text.clone()),
            sources,
            evidence,
            usage: ask.budget.spent(),
            timings: ask.record.timings(),
            level: ask.request.level,
            effective_level: ask.models.level,
            warnings: ask.record.warnings(),
            missing,
            unknown_words,
            corrections: ask.corrections().to_vec(),
            plan,
            is_cache_hit: false,
            trace: ask.record.take_trace(),
        }
    }
}

/// Sources in marker order, then those that were found but not used.
fn sources(ask: &AskContext, state: &LoopState) -> Vec<GradedHit> {
    state.pool.sources(ask.record.sources().to_vec(), ask.request.top_k)
}

/// A warning about an answer for the caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AskWarning {
    /// None of the models can cite, so the answer was not required to have citations.
    ModeFallback {
        /// The models.
        models: Vec<String>,
    },
    /// The answer is truncated at the model's token limit.
    LengthCut {
        /// The model.
        model: String,
        /// Most tokens that it was allowed.
        tokens: u32,
    },
    /// The model wrote `[N]` for `[^N]`, and its markers were rewritten.
    MarkersNormalised {
        /// The model.
        model: String,
    },
    /// A configured model that should have been used was not; the built-in implementation did its work.
    ModelSkipped {
        /// Its role.
        role: CallRole,
        /// The reason.
        cause: SkipCause,
    },
    /// The conversation has messages that instruct the assistant, which are not followed.
    InstructionsIgnored,
    /// A document that was found was replaced by another one.
    SourceReplaced {
        /// Its source.
        source: String,
        /// Source of the document that replaced it; `None` if it says by itself that it was replaced.
        by: Option<String>,
        /// Whether the answer may cite it all the same, since no other document says as much.
        is_used: bool,
    },
    /// The documents were insufficient, and the web could not be searched.
    WebSearchFailed {
        /// The reason.
        detail: String,
    },
}

/// Reasons why a configured model was not used for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SkipCause {
    /// The remaining calls of the budget are needed for the answer.
    NoCallLeft,
    /// Its reply could not be used.
    UnusableReply,
    /// Its reply has no verdict on some of the items that it was to judge.
    UnreadVerdicts {
        /// Items without a verdict.
        missing: usize,
        /// All items.
        of: usize,
    },
    /// It could not be reached, was too slow, or refused.
    Failed,
    /// The call would have exceeded a limit of the ask or of the day.
    OverLimit,
}

impl SkipCause {
    /// The cause for which `missing` of the verdicts asked for are not the model's, if there is one.
    pub(in crate::service) const fn of_verdicts(missing: usize, of: usize) -> Option<Self> {
        match missing {
            0 => None,
            missing if missing == of => Some(Self::UnusableReply),
            missing => Some(Self::UnreadVerdicts { missing, of }),
        }
    }

    /// Whether a model replied, and its reply was of no use, in whole or in part.
    pub(super) const fn is_of_reply(self) -> bool {
        matches!(self, Self::UnusableReply | Self::UnreadVerdicts { .. })
    }
}

impl AskWarning {
    /// The warning of a reply that was cut at the token limit, if it was.
    pub(super) fn of_cut(reply: &ChatReply, tokens: u32) -> Option<Self> {
        reply.is_cut().then(|| Self::LengthCut { model: reply.model.to_string(), tokens })
    }

    /// The name in the API.
    #[must_use]
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::ModeFallback { .. } => "mode_fallback",
            Self::LengthCut { .. } => "length_cut",
            Self::MarkersNormalised { .. } => "markers_normalised",
            Self::ModelSkipped { .. } => "model_skipped",
            Self::InstructionsIgnored => "instructions_ignored",
            Self::SourceReplaced { .. } => "source_replaced",
            Self::WebSearchFailed { .. } => "web_search_failed",
        }
    }
}

/// Milliseconds by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct TimingsMs {
    /// Making the message of a conversation a question that stands alone.
    pub condense: f64,
    /// Planning by a model.
    pub plan: f64,
    /// Retrieval, all rounds.
    pub retrieve: f64,
    /// Grading, all rounds.
    pub grade: f64,
    /// Rewriting.
    pub rewrite: f64,
    /// Generation, both attempts.
    pub generate: f64,
    /// Validation.
    pub validate: f64,
    /// From the first to the last.
    pub total: f64,
}

impl TimingsMs {
    /// Seconds by stage, of those that ran, and of all as `total`.
    pub(super) fn seconds(&self) -> Vec<(&'static str, f64)> {
        let Self { condense, plan, retrieve, grade, rewrite, generate, validate, total } = *self;
        let stages = [
            ("condense", condense),
            ("plan", plan),
            ("retrieve", retrieve),
            ("grade", grade),
            ("rewrite", rewrite),
            ("generate", generate),
            ("validate", validate),
            ("total", total),
        ];
        stages.into_iter().filter(|(_, ms)| *ms > 0.0).map(|(stage, ms)| (stage, ms / 1_000.0)).collect()
    }
}

/// An answer that failed validation twice.
#[derive(Clone, Debug)]
pub(crate) struct Rejection {
    /// Errors of the last draft.
    pub errors: Vec<CitationError>,
    /// The last draft.
    pub draft: String,
    /// Drafts that were made.
    pub attempts: u8,
    /// The requested level.
    pub level: Level,
    /// Warnings about the draft for the caller.
    pub warnings: Vec<AskWarning>,
    /// Its author.
    pub by: GeneratedBy,
    /// Sources in marker order, then those that were found but not used.
    pub sources: Vec<GradedHit>,
    /// Calls, tokens and cost.
    pub usage: Spent,
}

/// The last draft of an ask, which did not pass.
pub(super) struct RejectedDraft {
    pub(super) errors: Vec<CitationError>,
    pub(super) text: String,
    pub(super) attempts: u8,
    pub(super) by: GeneratedBy,
}

impl Rejection {
    pub(super) fn new(ask: &AskContext, state: &LoopState, draft: RejectedDraft) -> Self {
        let RejectedDraft { errors, text, attempts, by } = draft;
        Self {
            errors,
            draft: text,
            attempts,
            level: ask.request.level,
            warnings: ask.record.warnings(),
            by,
            sources: sources(ask, state),
            usage: ask.budget.spent(),
        }
    }
}
