//! Grading: by a model where one is configured, and by calibrated features where none is, or where they are sure of enough
//! correct passages.

use super::{
    AskError, GradedBy, GradedHit, SkipCause,
    context::AskContext,
    early_draft::{self, EarlyDraft},
    model_call::{self, ModelCall, ReservedCall},
    state::{GradedRound, LoopState},
};
use crate::{
    domain::{
        corrective::{Evidence, Grade, Round, Step},
        evidence::{Question, TermMask, passage::PassageEvidence},
        grading::{Verdict, calibrated, features, missing, reply},
        lexical::analyzer::Analyzer,
        prompt,
        subject::AskedSubjects,
    },
    providers::chat::{CallRole, ChatChain},
    service::{
        ServiceError,
        retrieval::{Hit, Retrieved},
    },
};

/// Grades of the calibrated features, in the order of the passages, with the evidence that they rest on.
pub(super) struct BuiltInGrades {
    pub(super) verdicts: Vec<Verdict>,
    pub(super) answerability: f32,
    evidence: Vec<PassageEvidence>,
}

/// The query that found the passages of a round.
#[derive(Clone, Copy)]
pub(super) enum RoundQuery<'q> {
    /// The asking part of the question.
    Asked,
    /// A variation of its words by the built-in rewriter. It has fewer words than the question, so that a passage is not
    /// held against it: every passage would match.
    Varied(&'q str),
    /// Another wording by a model. A passage may answer it in words that the question does not use.
    Reworded(&'q str),
}

impl<'q> RoundQuery<'q> {
    /// The query that was searched.
    pub(super) fn text(self, ask: &'q AskContext) -> &'q str {
        match self {
            Self::Asked => ask.asked(),
            Self::Varied(query) | Self::Reworded(query) => query,
        }
    }
}

/// Grades passages with respect to the question, and to the wording that found them. While a model grades, an answer
/// may be begun.
///
/// # Errors
/// When the call is not allowed, or the time limit is reached. If no model answers, the calibrated grades apply.
#[tracing::instrument(target = "cited::trace", skip_all)]
pub(super) async fn grade<'a>(
    ask: &'a AskContext,
    state: &LoopState,
    found: &Retrieved,
    query: RoundQuery<'_>,
) -> Result<(GradedRound, Option<EarlyDraft<'a>>), AskError> {
    let mut round = grade_built_in(state, found, query);
    let early_draft = match &ask.models.grade {
        Some(chain) => grade_by_model(ask, chain, state, query, &mut round).await?,
        None => None,
    };
    if round.missing.is_empty() && !round.is_complete {
        round.missing = uncovered(state, &round);
    }
    Ok((round, early_draft))
}

/// Grades passages by the calibrated features.
pub(super) fn built_in(analyzer: &Analyzer, question: &Question, found: &Retrieved) -> BuiltInGrades {
    graded_by(calibrated::grade, analyzer, question, found)
}

/// Grades passages of the document that the last answer of the conversation was taken from.
pub(super) fn continued(analyzer: &Analyzer, question: &Question, found: &Retrieved) -> Vec<Verdict> {
    graded_by(calibrated::grade_continued, analyzer, question, found).verdicts
}

/// Passages about another subject than the question names are incorrect, and make the others no better or worse.
fn graded_by(
    grade: fn(&Question, &[features::Passage<'_>], &[PassageEvidence]) -> calibrated::GradedRound,
    analyzer: &Analyzer,
    question: &Question,
    found: &Retrieved,
) -> BuiltInGrades {
    let subjects = AskedSubjects::of(question, found.hits.iter().map(Hit::label));
    let (others, own): (Vec<&Hit>, Vec<&Hit>) =
        found.hits.iter().partition(|hit| hit.is_elsewhere(analyzer, &subjects));
    let of_own = with_passages(own.iter().copied(), Some(found), |passages| {
        let evidence = features::evidence_of(analyzer, question, passages);
        let graded = grade(question, passages, &evidence);
        let of_hits = graded.verdicts.into_iter().zip(&evidence).zip(&own);
        let verdicts = of_hits.map(|((verdict, evidence), hit)| {
            let is_of_name = subjects.said_of_it(evidence.mask()).is_some_and(|share| share <= 0.0);
            let says_little = is_of_name || subjects.is_in_passing(hit.label(), &hit.passage.heading);
            if says_little { verdict.of_name_alone() } else { verdict }
        });
        BuiltInGrades { verdicts: verdicts.collect(), answerability: graded.answerability.probability, evidence }
    });
    if others.is_empty() {
        return of_own;
    }
    let mut graded = of_own.verdicts.into_iter().zip(of_own.evidence);
    let is_other = |hit: &Hit| others.iter().any(|other| std::ptr::eq(*other, hit));
    let all = found.hits.iter().filter_map(|hit| {
        if is_other(hit) { Some((Verdict::elsewhere(), PassageEvidence::default())) } else { graded.next() }
    });
    let (verdicts, evidence) = all.unzip();
    BuiltInGrades { verdicts, answerability: of_own.answerability, evidence }
}

/// Finds the parts of each passage that are relevant to the question.
pub(super) fn evidence_in<'h>(
    analyzer: &Analyzer,
    question: &Question,
    hits: impl IntoIterator<Item = &'h Hit>,
) -> Vec<PassageEvidence> {
    with_passages(hits, None, |passages| features::evidence_of(analyzer, question, passages))
}

/// Prepares passages for the features, with their titles, and with what is known of the search that found them.
fn with_passages<'h, Output>(
    hits: impl IntoIterator<Item = &'h Hit>,
    found: Option<&Retrieved>,
    read: impl FnOnce(&[features::Passage<'_>]) -> Output,
) -> Output {
    let titled: Vec<(String, &Hit)> = hits.into_iter().map(|hit| (hit.judged_title(), hit)).collect();
    let passages: Vec<_> = titled.iter().map(|(title, hit)| passage_of(hit, title, found)).collect();
    read(&passages)
}

fn passage_of<'p>(hit: &'p Hit, title: &'p str, found: Option<&Retrieved>) -> features::Passage<'p> {
    features::Passage {
        title,
        text: &hit.passage.text,
        dense: hit.dense.map(narrow).or_else(|| found.and_then(Retrieved::dense_floor)),
        lexical: hit.lexical.map_or(0.0, narrow),
        among: found.and_then(|found| found.sizes.get(&hit.passage.collection).copied()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "scores were single precision before they were fused")]
pub(super) fn narrow(score: f64) -> f32 {
    score as f32
}

/// Grades a round by the calibrated features: with respect to the question, or to the wording of a model if that grade is
/// better. A passage that answers a part of the question contributes to the answer.
fn grade_built_in(state: &LoopState, found: &Retrieved, query: RoundQuery<'_>) -> GradedRound {
    let asked = built_in(state.analyzer, &state.question, found);
    let reworded = match query {
        RoundQuery::Reworded(query) => Some(built_in(state.analyzer, &found.weigh(state.analyzer, query), found)),
        RoundQuery::Asked | RoundQuery::Varied(_) => None,
    };
    let answerability = reworded.iter().map(|reworded| reworded.answerability).fold(asked.answerability, f32::max);
    let mut hits: Vec<GradedHit> = Vec::with_capacity(found.hits.len());
    for (position, ((hit, verdict), evidence)) in found.hits.iter().zip(asked.verdicts).zip(&asked.evidence).enumerate()
    {
        let is_clear = verdict.is_clear && !context_says_more(state, hit, evidence);
        let mut verdict = Verdict { is_clear, ..verdict };
        let reworded = reworded.as_ref().and_then(|reworded| reworded.verdicts.get(position));
        let part = state.sub_questions.better(hit.passage.key, verdict.grade);
        let continued = state.continuation.verdict(hit.passage.key);
        for other in reworded.into_iter().chain(part).chain(continued) {
            if other.is_better_than(&verdict) {
                verdict = other.clone();
            }
        }
        let graded = GradedHit { hit: hit.clone(), verdict, by: GradedBy::BuiltIn };
        hits.push(match state.pool.known(hit.passage.key) {
            Some(known) if keeps_grade(known, &graded, query) => GradedHit { hit: hit.clone(), ..known.clone() },
            _ => graded,
        });
    }
    let terms = asked.evidence.iter().map(PassageEvidence::mask).collect();
    GradedRound { hits, answerability, terms, missing: Vec::new(), is_complete: false }
}

/// The sub-questions without evidence, and the weighty words of the question that no correct passage holds; where none is
/// correct, those that no doubtful one holds either, or that the passage lacks which holds most, if there are any.
fn uncovered(state: &LoopState, round: &GradedRound) -> Vec<String> {
    let question = &state.question;
    let of = |grade: Grade| {
        let is_of = move |(hit, _): &(&GradedHit, &TermMask)| hit.verdict.grade == grade;
        round.hits.iter().zip(&round.terms).filter(is_of).map(|(_, mask)| *mask)
    };
    let mut words = missing::uncovered(question, of(Grade::Correct));
    if of(Grade::Correct).next().is_none() {
        let held = |mask: &&TermMask| question.terms.weight_of(**mask);
        let nearest = round.terms.iter().max_by(|one, two| held(one).total_cmp(&held(two))).copied();
        let is_doubtful = of(Grade::Ambiguous).next().is_some();
        let beside = missing::uncovered(question, of(Grade::Ambiguous).chain(nearest.filter(|_| !is_doubtful)));
        if !beside.is_empty() {
            words = beside;
        }
    }
    let parts = state.plan.as_ref().filter(|plan| plan.is_decomposed()).map(|plan| plan.sub_questions.as_slice());
    let open = state.sub_questions.unanswered().iter().filter_map(|place| parts?.get(*place).cloned());
    open.chain(words).collect()
}

/// Whether a passage keeps the grade of an earlier round. A model's is final; a calibrated one is replaced if the passage
/// answers another wording of the question better.
fn keeps_grade(known: &GradedHit, now: &GradedHit, query: RoundQuery<'_>) -> bool {
    let is_reworded = matches!(query, RoundQuery::Reworded(_));
    known.by == GradedBy::Model || !is_reworded || !now.verdict.is_better_than(&known.verdict)
}

/// Whether the context of a passage mentions terms of the question that the passage itself does not. The features use
/// the passage alone; a model is shown both.
fn context_says_more(state: &LoopState, hit: &Hit, evidence: &PassageEvidence) -> bool {
    let context = hit.passage.context.as_deref();
    context.is_some_and(|context| state.question.terms.mask_of(state.analyzer, context) & !evidence.mask() != 0)
}

/// Sends the passages that no model has graded yet to one, all in one call. The calibrated grades spare the call only by
/// being sure of enough correct passages: what they take for incorrect, a model may judge otherwise.
async fn grade_by_model<'a>(
    ask: &'a AskContext,
    chain: &'a ChatChain,
    state: &LoopState,
    query: RoundQuery<'_>,
    round: &mut GradedRound,
) -> Result<Option<EarlyDraft<'a>>, AskError> {
    if !round.hits.iter().any(is_open) || is_surely_enough(ask, state, &round.hits) {
        return Ok(None);
    }
    // The answer comes first: a grade without a call left to answer would be of no use.
    let to_leave = ask.step_calls().generate;
    if ask.budget.llm_calls_left().is_some_and(|left| left <= to_leave) {
        ask.record.warn_skipped(CallRole::Grade, SkipCause::NoCallLeft);
        return Ok(None);
    }
    let (reserved, shown) = reserve(ask, chain, state, query, &round.hits).await?;
    // An answer begun early is optional: a failure to begin it does not end the ask.
    let mut early_draft = early_draft::begin(ask, state, round).await.unwrap_or_else(|error| {
        tracing::debug!(%error, "no answer is begun early");
        None
    });
    let grading = reserved.complete_or_skip();
    let reply = match &mut early_draft {
        Some(draft) => draft.write_during(grading).await?,
        None => grading.await?,
    };
    if let Some(reply) = reply {
        let verdicts = reply::read(&reply.text, shown);
        let unread = reply::count_missing(&verdicts);
        if let Some(cause) = SkipCause::of_verdicts(unread, verdicts.len()) {
            ask.record.warn_skipped(CallRole::Grade, cause);
        }
        if unread == verdicts.len() {
            return Ok(early_draft);
        }
        for (hit, verdict) in round.hits.iter_mut().filter(|hit| is_open(hit)).zip(verdicts) {
            hit.verdict = Verdict { probability: verdict.probability.or(hit.verdict.probability), ..verdict };
            hit.by = GradedBy::Model;
        }
        let missing = missing::read(&reply.text);
        round.is_complete = unread == 0 && missing.as_ref().is_some_and(Vec::is_empty);
        round.missing = missing.unwrap_or_default();
    }
    Ok(early_draft)
}

/// Reserves the grading of the passages that are open, the best of them if one prompt cannot hold all. Returns how many
/// it holds.
async fn reserve<'a>(
    ask: &'a AskContext,
    chain: &'a ChatChain,
    state: &LoopState,
    query: RoundQuery<'_>,
    hits: &[GradedHit],
) -> Result<(ReservedCall<'a>, usize), AskError> {
    let open: Vec<&GradedHit> = hits.iter().filter(|hit| is_open(hit)).collect();
    let urns: Vec<String> = open.iter().map(|hit| hit.hit.urn().to_string()).collect();
    let sources: Vec<prompt::Source<'_>> = open.iter().zip(&urns).map(|(hit, urn)| hit.to_be_judged(urn)).collect();
    let wordings = wordings(state, query);
    let mut shown = sources.as_slice();
    loop {
        let call = ModelCall {
            role: CallRole::Grade,
            messages: prompt::grade::messages(ask.question(), &wordings, shown),
            sources: shown,
            format: Some(prompt::grade::format()),
        };
        match model_call::reserve(ask, chain, call).await {
            Err(AskError::Service(ServiceError::Budget(exceeded)))
                if exceeded.is_of_one_prompt() && shown.len() > 1 =>
            {
                shown = shown.get(..shown.len() / 2).unwrap_or_default();
            }
            reserved => return Ok((reserved?, shown.len())),
        }
    }
}

/// Wordings other than the question for which the passages were searched: the parts of the question, and the query of
/// the round.
fn wordings<'q>(state: &'q LoopState, query: RoundQuery<'q>) -> Vec<&'q str> {
    let planned = state.plan.iter().flat_map(|plan| plan.sub_questions.iter().map(String::as_str));
    let reworded = match query {
        RoundQuery::Reworded(query) => Some(query),
        RoundQuery::Asked | RoundQuery::Varied(_) => None,
    };
    planned.chain(reworded).collect()
}

/// Whether a model may still grade a passage.
fn is_open(hit: &GradedHit) -> bool {
    hit.by == GradedBy::BuiltIn
}

/// Whether the passages that are surely correct are enough to answer from, whatever a model says of the doubtful ones.
fn is_surely_enough(ask: &AskContext, state: &LoopState, hits: &[GradedHit]) -> bool {
    let least = |hit: &GradedHit| if hit.verdict.is_clear { hit.verdict.grade } else { Grade::Ambiguous };
    let grades: Vec<Grade> = hits.iter().map(least).collect();
    state.step_after(ask, Round::of(&grades, hits.len())) == Step::Generate { over: Evidence::Correct }
}
