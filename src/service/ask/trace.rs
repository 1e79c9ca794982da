//! The whole path of an ask, for whoever asks for it.

use serde::Serialize;

use super::{pool::GradedHit, report::GeneratedBy};
use crate::{
    domain::{
        budget::Usage,
        citation::{CitationError, Doubt, Ruling},
        corrective::Step,
        cost::NanoUsd,
        grading::Grade,
        numbered_verdicts::Read,
        planning::Plan,
        span::Span,
    },
    providers::{
        FailedAttempt,
        chat::{CallRole, ModelName, Sampling},
    },
    service::retrieval::{Retrieved, StageTrace, Stages},
    store::VectorScan,
};

/// What was tried, in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Which stages of retrieval were to run.
    pub stages: Stages,
    /// How the question was gone about.
    pub plan: Option<Plan>,
    /// Steps that the loop decided on.
    pub steps: Vec<Step>,
    /// Rounds of retrieval and grading.
    pub rounds: Vec<RoundTrace>,
    /// Sources of which the answering model was shown a part.
    pub refinements: Vec<Refinement>,
    /// Model calls.
    pub calls: Vec<CallTrace>,
    /// Model calls that nobody answered.
    pub failed_calls: Vec<FailedCallTrace>,
    /// Drafts and what was wrong with them.
    pub attempts: Vec<AttemptTrace>,
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
    /// What each stage of retrieval did.
    pub stages: StageTrace,
    /// What the grader said.
    pub verdicts: Vec<VerdictTrace>,
}

/// One verdict.
#[derive(Clone, Debug)]
pub struct VerdictTrace {
    /// The passage.
    pub hit: GradedHit,
    /// Its grade.
    pub grade: Grade,
}

/// What was left of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refinement {
    /// The source.
    pub urn: String,
    /// Its length in bytes.
    pub bytes: usize,
    /// What the model was shown of it, in bytes.
    pub kept: usize,
}

/// One model call that was answered.
#[derive(Clone, Debug)]
pub struct CallTrace {
    /// What for.
    pub role: CallRole,
    /// Who answered.
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
    /// Whether the reply was thrown away: it was begun over sources that the grades did not confirm.
    pub is_discarded: bool,
    /// Models that were asked before and did not answer.
    pub failed: Vec<FailedAttempt>,
}

/// One model call that nobody answered.
#[derive(Clone, Debug)]
pub struct FailedCallTrace {
    /// What for.
    pub role: CallRole,
    /// What happened to each model.
    pub attempts: Vec<FailedAttempt>,
}

/// One draft.
#[derive(Clone, Debug)]
pub struct AttemptTrace {
    /// 1 or 2.
    pub attempt: u8,
    /// Who wrote it.
    pub by: GeneratedBy,
    /// What was wrong with it.
    pub errors: Vec<CitationError>,
    /// What a model says of the claims about which the scorer is not sure; empty if none was asked.
    pub rulings: Vec<RulingTrace>,
}

/// A claim that was put before a model. Serialised as the trace shows it.
#[derive(Clone, Debug, Serialize)]
pub struct RulingTrace {
    /// Where it stands in the draft, in code points.
    pub span: Span,
    /// The scorer's probability that its sources support it.
    pub support: f32,
    /// What the model says; `None` if its reply does not tell.
    pub ruling: Option<Ruling>,
    /// Why, in the model's words.
    pub reason: String,
}

impl AttemptTrace {
    /// The rulings alone.
    pub(super) fn rulings(&self) -> impl Iterator<Item = Option<Ruling>> {
        self.rulings.iter().map(|told| told.ruling)
    }
}

impl RulingTrace {
    pub(super) fn new(doubt: &Doubt, read: Option<Read<Ruling>>) -> Self {
        let (ruling, reason) = read.map(|read| (read.verdict, read.reason)).unzip();
        Self { span: doubt.span, support: doubt.score, ruling, reason: reason.unwrap_or_default() }
    }
}

impl Trace {
    /// Attempts of all calls that failed, in order.
    pub fn failed_attempts(&self) -> impl Iterator<Item = &FailedAttempt> {
        let before_success = self.calls.iter().flat_map(|call| &call.failed);
        before_success.chain(self.failed_calls.iter().flat_map(|call| &call.attempts))
    }

    pub(super) fn note_step(&mut self, step: Step) {
        self.steps.push(step);
    }

    pub(super) fn note_round(
        &mut self,
        query: &str,
        found: &Retrieved,
        answerability: f32,
        graded: &[GradedHit],
        new: usize,
    ) {
        let verdicts = graded.iter().map(|hit| VerdictTrace { grade: hit.verdict.grade, hit: hit.clone() }).collect();
        self.rounds.push(RoundTrace {
            query: query.to_owned(),
            new,
            evidence: found.evidence,
            answerability,
            scan: found.scan,
            stages: found.stages,
            verdicts,
        });
    }
}
