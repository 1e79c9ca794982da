//! The complete trace of an ask, as a request may ask to see it.

use serde::Serialize;
use tokio::time::Instant;

use crate::{
    domain::{
        budget::Usage,
        citation::{CitationError, Doubt, ReadRuling, Ruling},
        corrective::Step,
        cost::NanoUsd,
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
pub(crate) struct Trace {
    /// The stages of retrieval that were requested.
    pub(crate) stages: Stages,
    /// The message and the question made of it, if it has a history.
    pub(crate) conversation: Option<ConversationTrace>,
    /// The plan.
    pub(crate) plan: Option<Plan>,
    /// Steps that the loop decided on.
    pub(crate) steps: Vec<Step>,
    /// Rounds of retrieval and grading: of the question, then of each rewritten query.
    pub(crate) rounds: Vec<RoundTrace>,
    /// Searches for the sub-questions of the plan, with the calibrated grades for each.
    pub(crate) planned: Vec<RoundTrace>,
    /// Sources of which the answering model was shown a part.
    pub(crate) refinements: Vec<Refinement>,
    /// Model calls.
    pub(crate) calls: Vec<CallTrace>,
    /// Model calls that no model answered.
    pub(crate) failed_calls: Vec<FailedCallTrace>,
    /// Drafts and their errors.
    pub(crate) attempts: Vec<AttemptTrace>,
}

/// How the message of a conversation became a question.
#[derive(Clone, Debug)]
pub(crate) struct ConversationTrace {
    /// The part of the message that asks.
    pub(crate) message: String,
    /// The question that was searched for; the message where it stands alone.
    pub(crate) question: String,
    /// Its author.
    pub(crate) by: CondensedBy,
    /// The document that the last answer was taken from, as its caller names it.
    pub(crate) document: Option<String>,
}

/// One round.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrace {
    /// The query that was searched.
    pub(crate) query: String,
    /// Passages that no earlier round had found.
    pub(crate) new: usize,
    /// Best BM25 score over the query's idf mass.
    pub(crate) evidence: f64,
    /// Probability that one of the passages answers the question.
    pub(crate) answerability: f32,
    /// How vectors were searched.
    pub(crate) scan: Option<VectorScan>,
    /// Figures of each stage of retrieval.
    pub(crate) stages: StageTrace,
    /// The passages with the grader's verdicts.
    pub(crate) verdicts: Vec<GradedHit>,
    /// Aspects of the question that no correct passage holds.
    pub(crate) missing: Vec<String>,
}

/// A source that was shown to the model in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refinement {
    /// The source.
    pub(crate) urn: String,
    /// Its length in bytes.
    pub(crate) bytes: usize,
    /// Bytes of it that the model was shown.
    pub(crate) kept: usize,
}

/// One model call that was answered.
#[derive(Clone, Debug)]
pub(crate) struct CallTrace {
    /// The role in which the model was called.
    pub(crate) role: CallRole,
    /// The model that answered.
    pub(crate) model: ModelName,
    /// Tokens.
    pub(crate) usage: Usage,
    /// Their cost.
    pub(crate) cost: NanoUsd,
    /// Temperature and seed as they were sent.
    pub(crate) sampling: Sampling,
    /// Time it took, failed attempts included.
    pub(crate) duration_ms: f64,
    /// Whether the reply was cut because its tokens were used up.
    pub(crate) is_cut: bool,
    /// Whether the reply was discarded: it was begun over sources that the grades did not confirm.
    pub(crate) is_discarded: bool,
    /// Whether the reply could not be used, in whole or in part.
    pub(crate) is_unusable: bool,
    /// Models that were called before and did not answer.
    pub(crate) failed: Vec<FailedAttempt>,
}

/// The figures of a call that the trace of the API and the audit both contain.
#[derive(Serialize)]
pub(crate) struct CallFigures<'c> {
    role: &'static str,
    provider: &'c str,
    model: &'c str,
    prompt_tokens: u64,
    completion_tokens: u64,
    estimated: bool,
    cost_usd: f64,
    temperature: Option<f32>,
    seed: Option<u64>,
    discarded: bool,
}

impl CallTrace {
    /// Its figures.
    pub(crate) fn figures(&self) -> CallFigures<'_> {
        CallFigures {
            role: self.role.as_str(),
            provider: &self.model.provider,
            model: &self.model.model,
            prompt_tokens: self.usage.prompt_tokens,
            completion_tokens: self.usage.completion_tokens,
            estimated: self.usage.is_estimated,
            cost_usd: self.cost.usd(),
            temperature: self.sampling.temperature,
            seed: self.sampling.seed,
            discarded: self.is_discarded,
        }
    }
}

/// One model call that no model answered.
#[derive(Clone, Debug)]
pub(crate) struct FailedCallTrace {
    /// The role in which the model was called.
    pub(crate) role: CallRole,
    /// The failure of each model.
    pub(crate) attempts: Vec<FailedAttempt>,
}

/// One draft.
#[derive(Clone, Debug)]
pub(crate) struct AttemptTrace {
    /// 1 or 2.
    pub(crate) attempt: u8,
    /// Its author.
    pub(crate) by: GeneratedBy,
    /// Its errors.
    pub(crate) errors: Vec<CitationError>,
    /// A model's rulings on the claims for which the scorer is uncertain; empty if no model was called.
    pub(crate) rulings: Vec<RulingTrace>,
    /// Probability that the best sentence answers the question, where the built-in answerer quotes.
    pub(crate) confidence: Option<f32>,
}

/// A claim that was sent to a model. Serialised as the trace shows it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RulingTrace {
    /// Its position in the draft, in code points.
    pub(crate) span: Span,
    /// The scorer's probability that its sources support it.
    pub(crate) support: f32,
    /// The model's ruling; `None` if its reply contains none.
    pub(crate) ruling: Option<Ruling>,
    /// The model's reason, in its words.
    pub(crate) reason: String,
}

impl RoundTrace {
    /// A round of which no passage counts as new yet.
    pub(in crate::service::ask) fn of(query: &str, found: &Retrieved, hits: &[GradedHit], answerability: f32) -> Self {
        Self {
            query: query.to_owned(),
            new: 0,
            evidence: found.evidence,
            answerability,
            scan: found.scan,
            stages: found.stages,
            verdicts: hits.to_vec(),
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
    pub(crate) fn failed_attempts(&self) -> impl Iterator<Item = &FailedAttempt> {
        let before_success = self.calls.iter().flat_map(|call| &call.failed);
        before_success.chain(self.failed_calls.iter().flat_map(|call| &call.attempts))
    }
}
