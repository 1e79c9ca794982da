//! The complete trace of an ask, as a request may ask to see it.

use serde::Serialize;
use tokio::time::Instant;

use crate::{
    domain::{
        budget::Usage,
        citation::{CitationError, Doubt, ReadRuling, Ruling},
        corrective::Step,
        cost::NanoUsd,
        grading::Grade,
        planning::Plan,
        span::Span,
    },
    providers::{
        FailedAttempt,
        chat::{CallRole, ChatReply, ModelName, Sampling},
    },
    service::{
        ask::{CondensedBy, GeneratedBy, GradedHit},
        retrieval::{Retrieved, StageTrace, Stages},
    },
    store::VectorScan,
};

/// The steps, rounds, calls and drafts of an ask, each in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The stages of retrieval that were requested.
    pub stages: Stages,
    /// The message and the question made of it, if it has a history.
    pub conversation: Option<ConversationTrace>,
    /// The plan.
    pub plan: Option<Plan>,
    /// Steps that the loop decided on.
    pub steps: Vec<Step>,
    /// Rounds of retrieval and grading: of the question, then of each rewritten query.
    pub rounds: Vec<RoundTrace>,
    /// Searches for the sub-questions of the plan, with the calibrated grades for each.
    pub planned: Vec<RoundTrace>,
    /// Sources of which the answering model was shown a part.
    pub refinements: Vec<Refinement>,
    /// Model calls.
    pub calls: Vec<CallTrace>,
    /// Model calls that no model answered.
    pub failed_calls: Vec<FailedCallTrace>,
    /// Drafts and their errors.
    pub attempts: Vec<AttemptTrace>,
}

/// How the message of a conversation became a question.
#[derive(Clone, Debug)]
pub struct ConversationTrace {
    /// The part of the message that asks.
    pub message: String,
    /// The question that was searched for; the message where it stands alone.
    pub question: String,
    /// Its author.
    pub by: CondensedBy,
}

/// One round.
#[derive(Clone, Debug)]
pub struct RoundTrace {
    /// The query that was searched.
    pub query: String,
    /// Passages that no earlier round had found.
    pub new: usize,
    /// Best BM25 score over the query's idf mass.
    pub evidence: f64,
    /// Probability that one of the passages answers the question.
    pub answerability: f32,
    /// How vectors were searched.
    pub scan: Option<VectorScan>,
    /// Figures of each stage of retrieval.
    pub stages: StageTrace,
    /// The grader's verdicts.
    pub verdicts: Vec<VerdictTrace>,
    /// Aspects of the question that no correct passage holds.
    pub missing: Vec<String>,
}

/// One verdict.
#[derive(Clone, Debug)]
pub struct VerdictTrace {
    /// The passage.
    pub hit: GradedHit,
    /// Its grade.
    pub grade: Grade,
}

/// A source that was shown to the model in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refinement {
    /// The source.
    pub urn: String,
    /// Its length in bytes.
    pub bytes: usize,
    /// Bytes of it that the model was shown.
    pub kept: usize,
}

/// One model call that was answered.
#[derive(Clone, Debug)]
pub struct CallTrace {
    /// The role in which the model was called.
    pub role: CallRole,
    /// The model that answered.
    pub model: ModelName,
    /// Tokens.
    pub usage: Usage,
    /// Their cost.
    pub cost: NanoUsd,
    /// Temperature and seed as they were sent.
    pub sampling: Sampling,
    /// Time it took, failed attempts included.
    pub duration_ms: f64,
    /// Whether the reply was cut because its tokens were used up.
    pub is_cut: bool,
    /// Whether the reply was discarded: it was begun over sources that the grades did not confirm.
    pub is_discarded: bool,
    /// Whether the reply could not be used, in whole or in part.
    pub is_unusable: bool,
    /// Models that were called before and did not answer.
    pub failed: Vec<FailedAttempt>,
}

/// One model call that no model answered.
#[derive(Clone, Debug)]
pub struct FailedCallTrace {
    /// The role in which the model was called.
    pub role: CallRole,
    /// The failure of each model.
    pub attempts: Vec<FailedAttempt>,
}

/// One draft.
#[derive(Clone, Debug)]
pub struct AttemptTrace {
    /// 1 or 2.
    pub attempt: u8,
    /// Its author.
    pub by: GeneratedBy,
    /// Its errors.
    pub errors: Vec<CitationError>,
    /// A model's rulings on the claims for which the scorer is uncertain; empty if no model was called.
    pub rulings: Vec<RulingTrace>,
}

/// A claim that was sent to a model. Serialised as the trace shows it.
#[derive(Clone, Debug, Serialize)]
pub struct RulingTrace {
    /// Its position in the draft, in code points.
    pub span: Span,
    /// The scorer's probability that its sources support it.
    pub support: f32,
    /// The model's ruling; `None` if its reply contains none.
    pub ruling: Option<Ruling>,
    /// The model's reason, in its words.
    pub reason: String,
}

impl RoundTrace {
    /// A round of which no passage counts as new yet.
    pub(in crate::service::ask) fn of(query: &str, found: &Retrieved, hits: &[GradedHit], answerability: f32) -> Self {
        let verdict = |hit: &GradedHit| VerdictTrace { grade: hit.verdict.grade, hit: hit.clone() };
        Self {
            query: query.to_owned(),
            new: 0,
            evidence: found.evidence,
            answerability,
            scan: found.scan,
            stages: found.stages,
            verdicts: hits.iter().map(verdict).collect(),
            missing: Vec::new(),
        }
    }
}

impl CallTrace {
    /// A call whose reply arrived and is used.
    pub(in crate::service::ask) fn of(role: CallRole, started: Instant, reply: &ChatReply) -> Self {
        Self {
            role,
            model: reply.model.clone(),
            usage: reply.usage,
            cost: reply.cost,
            sampling: reply.sampling,
            duration_ms: started.elapsed().as_secs_f64() * 1_000.0,
            is_cut: reply.is_cut(),
            is_discarded: false,
            is_unusable: false,
            failed: reply.failed.clone(),
        }
    }
}

impl AttemptTrace {
    /// The rulings alone.
    pub(in crate::service::ask) fn rulings(&self) -> impl Iterator<Item = Option<Ruling>> {
        self.rulings.iter().map(|trace| trace.ruling)
    }
}

impl RulingTrace {
    pub(in crate::service::ask) fn new(doubt: &Doubt, read: Option<ReadRuling>) -> Self {
        let (ruling, reason) = read.map(|read| (read.ruling, read.reason)).unzip();
        Self { span: doubt.span, support: doubt.score, ruling, reason: reason.unwrap_or_default() }
    }
}

impl Trace {
    /// Attempts of all calls that failed, in order.
    pub fn failed_attempts(&self) -> impl Iterator<Item = &FailedAttempt> {
        let before_success = self.calls.iter().flat_map(|call| &call.failed);
        before_success.chain(self.failed_calls.iter().flat_map(|call| &call.attempts))
    }
}
