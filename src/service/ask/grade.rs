//! Grading: calibrated features decide the clear cases, a model the uncertain ones.

use super::{
    AskError, GradedBy, GradedHit, SkipCause,
    context::AskContext,
    early_draft::{self, EarlyDraft},
    model_call::{self, ModelCall},
    state::{GradedRound, LoopState},
};
use crate::{
    domain::{
        evidence::{Inquiry, passage::PassageEvidence},
        grading::{Verdict, calibrated, features, reply},
        lexical::analyzer::Analyzer,
        prompt,
    },
    providers::chat::{CallRole, ChatChain},
    service::retrieval::{Hit, Retrieved},
};

/// Grades of the calibrated features, in the order of the passages, with the evidence that they rest on.
pub(super) struct BuiltInGrades {
    pub(super) verdicts: Vec<Verdict>,
    answerability: f32,
    evidence: Vec<PassageEvidence>,
}

/// Grades passages with respect to the question, not to the query that found them. While a model grades, an answer may
/// be begun.
///
/// # Errors
/// When the model fails, or the call is not allowed.
pub(super) async fn grade<'a>(
    ask: &'a AskContext,
    state: &LoopState,
    found: &Retrieved,
) -> Result<(GradedRound, Option<EarlyDraft<'a>>), AskError> {
    let (mut hits, answerability) = grade_built_in(state, found);
    let early_draft = match &ask.models.grade {
        Some(chain) => grade_by_model(ask, chain, state, &mut hits).await?,
        None => None,
    };
    Ok((GradedRound { hits, answerability }, early_draft))
}

/// Grades passages by the calibrated features.
pub(super) fn built_in(analyzer: &Analyzer, question: &Inquiry, hits: &[Hit]) -> BuiltInGrades {
    with_passages(hits, |passages| {
        let evidence = features::evidence_of(analyzer, question, passages);
        let graded = calibrated::grade(question, passages, &evidence);
        BuiltInGrades { verdicts: graded.verdicts, answerability: graded.answerability.probability, evidence }
    })
}

/// Finds the parts of each passage that are relevant to the question.
pub(super) fn evidence_in<'h>(
    analyzer: &Analyzer,
    question: &Inquiry,
    hits: impl IntoIterator<Item = &'h Hit>,
) -> Vec<PassageEvidence> {
    with_passages(hits, |passages| features::evidence_of(analyzer, question, passages))
}

/// Prepares passages for the features, with their titles.
fn with_passages<'h, Output>(
    hits: impl IntoIterator<Item = &'h Hit>,
    read: impl FnOnce(&[features::Passage<'_>]) -> Output,
) -> Output {
    let titled: Vec<(String, &Hit)> = hits.into_iter().map(|hit| (hit.title(), hit)).collect();
    let passages: Vec<_> = titled.iter().map(|(title, hit)| passage_of(hit, title)).collect();
    read(&passages)
}

fn passage_of<'p>(hit: &'p Hit, title: &'p str) -> features::Passage<'p> {
    features::Passage {
        title,
        text: &hit.passage.text,
        dense: hit.dense.map(narrow),
        lexical: hit.lexical.map_or(0.0, narrow),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "scores were single precision before they were fused")]
fn narrow(score: f64) -> f32 {
    score as f32
}

/// A passage of an earlier round keeps its grade; one that answers a part of the question contributes to the answer.
fn grade_built_in(state: &LoopState, found: &Retrieved) -> (Vec<GradedHit>, f32) {
    let BuiltInGrades { verdicts, answerability, evidence } = built_in(state.analyzer, &state.question, &found.hits);
    let graded = |((hit, verdict), evidence): ((&Hit, Verdict), &PassageEvidence)| {
        if let Some(known) = state.pool.known(hit.passage.key) {
            return GradedHit { hit: hit.clone(), ..known.clone() };
        }
        let better = state.sub_questions.better(hit.passage.key, verdict.grade);
        let is_clear = verdict.is_clear && !context_says_more(state, hit, evidence);
        let verdict = better.cloned().unwrap_or(Verdict { is_clear, ..verdict });
        GradedHit { hit: hit.clone(), verdict, by: GradedBy::BuiltIn }
    };
    (found.hits.iter().zip(verdicts).zip(&evidence).map(graded).collect(), answerability)
}

/// Whether the context of a passage mentions terms of the question that the passage itself does not. The features use
/// the passage alone; a model is shown both.
fn context_says_more(state: &LoopState, hit: &Hit, evidence: &PassageEvidence) -> bool {
    let context = hit.passage.context.as_deref();
    context.is_some_and(|context| state.question.terms.mask_of(state.analyzer, context) & !evidence.mask() != 0)
}

/// Sends the passages about which the features are uncertain to a model, all in one call.
async fn grade_by_model<'a>(
    ask: &'a AskContext,
    chain: &'a ChatChain,
    state: &LoopState,
    hits: &mut [GradedHit],
) -> Result<Option<EarlyDraft<'a>>, AskError> {
    let doubtful: Vec<&GradedHit> = hits.iter().filter(|hit| is_doubtful(hit)).collect();
    if doubtful.is_empty() {
        return Ok(None);
    }
    // If the budget has no call left, the calibrated verdicts apply.
    if ask.budget.llm_calls_left() == Some(0) {
        ask.record.warn_skipped(CallRole::Grade, SkipCause::NoCallLeft);
        return Ok(None);
    }
    let urns: Vec<String> = doubtful.iter().map(|hit| hit.hit.urn().to_string()).collect();
    let sources: Vec<prompt::Source<'_>> = doubtful.iter().zip(&urns).map(|(hit, urn)| hit.to_be_judged(urn)).collect();
    let call = ModelCall {
        role: CallRole::Grade,
        messages: prompt::grade::messages(&ask.request.question, &sources),
        sources: &sources,
        format: Some(prompt::grade::format()),
    };
    let reserved = model_call::reserve(ask, chain, call).await?;
    // An answer begun early is optional: a failure to begin it does not end the ask.
    let mut early_draft = early_draft::begin(ask, state, hits).await.unwrap_or_else(|error| {
        tracing::debug!(%error, "no answer is begun early");
        None
    });
    let grading = reserved.complete();
    let reply = match &mut early_draft {
        Some(draft) => draft.write_during(grading).await?,
        None => grading.await?,
    };
    let verdicts = reply::read(&reply.text, doubtful.len());
    for (hit, verdict) in hits.iter_mut().filter(|hit| is_doubtful(hit)).zip(verdicts) {
        hit.verdict = Verdict { probability: verdict.probability.or(hit.verdict.probability), ..verdict };
        hit.by = GradedBy::Model;
    }
    Ok(early_draft)
}

fn is_doubtful(hit: &GradedHit) -> bool {
    hit.by == GradedBy::BuiltIn && !hit.verdict.is_clear
}
