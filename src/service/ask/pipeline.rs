//! The processing of a question, from its plan to its record.
//!
//! ```text
//! plan ─ retrieve ─┬─ grade ─ next_step ─┬─ rewrite, retrieve ──┐
//!                  │    │                ├─ search the web ─────┤
//!                  │    └────────────────│──────────────────────┘
//!                  │                     ├─ abstain ──────────────────────┬─ report ─ record
//!                  │                     └─ generate ─ verify ─ validate ─┤
//!                  │                           └─ retry, once ─┘          │
//!                  └─ the same answer again, from the cache ──────────────┘
//! ```
//!
//! - Before it the message of a conversation becomes a question that [stands alone](super::condense), and a message that
//!   asks nothing is answered with a courtesy.
//! - [`AskContext`] does not change: request, services, limits, deadline, and the [record](super::record) that stages
//!   write to. [`LoopState`] is the whole state of the loop; it is changed here and read by the stages.
//! - A stage is a function: it takes the context and the parts of the state that it needs, and returns its result. Each
//!   is in a file of its name.
//! - [`next_step`](crate::domain::corrective::next_step) decides what is done next. An answerer that finds no answer in the
//!   sources ends the ask as an abstention too.
//! - Models are called through [`model_call`](super::model_call) alone, which keeps the limits and the day's cost.
//! - A draft may be [begun early](super::early_draft), while a model still grades. It is dropped and its cost recorded
//!   unless each source that it cites is graded correct.
//! - The record becomes the trace of the report, the row of the audit and the entry of the cache. A result is returned
//!   only when its row is written. The row of an ask that is dropped before its end is written by [`AuditGuard`].

use std::sync::Arc;

use tracing::Instrument;

use super::{
    AskError, AskOutcome, AskReport, AskWarning, FailedAsk, GradedBy, GradedHit, Rejection, VoidReason,
    audit::AuditGuard,
    beside::with_those_beside,
    cache::{self, CacheClaim},
    condense,
    context::AskContext,
    continuation::Continuation,
    currency,
    draft::{Assignment, DraftRequest, Retry},
    early_draft::{ConfirmedDraft, EarlyDraft},
    emit::Emitter,
    generate,
    grade::{self, RoundQuery},
    plan,
    record::{AttemptTrace, RoundTrace, Stage, Trace},
    report::{Findings, RejectedDraft},
    retrieve::{self, Corpus},
    rewrite::{self, Rewording},
    state::{LoopState, PlannedRetrieval},
    validate::{self, Judgement},
    verify, web, withdrawal,
};
use crate::{
    domain::{
        conversation,
        corrective::{AbstainReason, Evidence, Fallback, Step},
        planning::Plan,
        spelling,
    },
    service::{ServiceError, retrieval::Retrieved},
    spans,
};

/// Answers a question within its time limit, and records the outcome.
pub(super) async fn run(ask: &AskContext, emitter: Emitter) -> Result<AskReport, FailedAsk> {
    // On the stack of its callers the future of a whole ask would be too large.
    Box::pin(conclude(ask, emitter)).instrument(spans::ask(ask.request.level.as_str())).await
}

async fn conclude(ask: &AskContext, mut emitter: Emitter) -> Result<AskReport, FailedAsk> {
    let audit = AuditGuard::new(ask);
    let mut claim = None;
    let answering = Box::pin(answer(ask, &mut emitter, &mut claim));
    let work = async {
        tokio::select! {
            result = answering => result,
            withdrawn = withdrawal::withdrawn(ask) => Err(withdrawn),
        }
    };
    let result = tokio::time::timeout_at(ask.deadline, work).await.unwrap_or_else(|_| Err(ask.deadline_reached()));
    let recorded = audit.finish(result, claim).await;
    recorded.map_err(|error| {
        let trace = ask.record.take_trace();
        // The trace tells of what was withdrawn.
        let trace = if matches!(error, AskError::Withdrawn) { Trace::default() } else { trace };
        FailedAsk { id: ask.id, error, trace: Box::new(trace) }
    })
}

/// Runs the corrective loop. Leaves in `claim` the claim of an answer that may be cached.
async fn answer(
    ask: &AskContext,
    emitter: &mut Emitter,
    claim: &mut Option<CacheClaim>,
) -> Result<AskReport, AskError> {
    ask.check_models()?;
    admit(ask).await?;
    let corpus = retrieve::find_corpus(ask).await?;
    emitter.emit_begun();
    if ask.request.has_instructions {
        ask.record.warn(AskWarning::InstructionsIgnored);
    }
    let message = &ask.request.question;
    // A model that condenses may have asked back, so that "yes" is an answer.
    let reacts = !ask.request.history.is_empty() && ask.models.condense.is_none();
    let to_reaction = || conversation::reply_to_reaction(message).filter(|_| reacts);
    if let Some(reply) = conversation::reply_to_courtesy(message).or_else(to_reaction) {
        return Ok(AskReport::with(ask, AskOutcome::NoQuestion { reply }, Findings::default()));
    }
    match condense::condense(ask, &corpus).await? {
        condense::CondenseOutcome::Question => {}
        condense::CondenseOutcome::Unclear(missing) => {
            let findings = Findings { missing: vec![missing], ..Findings::default() };
            return Ok(AskReport::with(ask, AskOutcome::Unclear, findings));
        }
        condense::CondenseOutcome::Nothing => {
            let outcome = AskOutcome::NoQuestion { reply: conversation::reply_to_remark(message) };
            return Ok(AskReport::with(ask, outcome, Findings::default()));
        }
    }
    let mut state = LoopState::new(ask, &corpus);
    let mut early_draft = None;
    loop {
        let step = state.next_step(ask);
        ask.record.note_step(step);
        if !matches!(step, Step::Generate { .. }) {
            early_draft = None;
        }
        match step {
            Step::Retrieve => {
                let (plan, first) = first_retrieval(ask, &corpus, &mut state).await?;
                ask.record.note_plan(&plan);
                ask.record.note_planned(first.rounds);
                let (continuation, hits) = Continuation::search(ask, &corpus).await?;
                state.continuation = continuation;
                let mut found = state.begin(plan, first.found, first.sub_questions);
                retrieve::add(&mut found, hits.into_iter());
                if let Some(report) = cache::recall(ask, emitter, (&corpus, &mut found), claim).await? {
                    return Ok(report);
                }
                early_draft = grade_round(ask, &mut state, &found, RoundQuery::Asked).await?;
            }
            Step::Rewrite => {
                let rewritten = rewrite::rewrite(ask, &state).await?;
                let Some(Rewording { query, by }) = state.add_query(rewritten) else { continue };
                let found = retrieve::retrieve(ask, &corpus, &query).await?;
                let worded = match by {
                    GradedBy::BuiltIn => RoundQuery::Varied(&query),
                    GradedBy::Model => RoundQuery::Reworded(&query),
                };
                early_draft = grade_round(ask, &mut state, &found, worded).await?;
            }
            Step::Search => {
                state.fallback = Fallback::Used;
                if let Some(found) = web::search(ask, &state).await? {
                    early_draft = grade_round(ask, &mut state, &found, RoundQuery::Asked).await?;
                }
            }
            Step::Abstain { reason } => return Ok(AskReport::new(ask, &state, AskOutcome::Abstained(reason))),
            Step::Generate { over } => return answer_from(ask, emitter, &state, over, early_draft).await,
        }
    }
}

/// Counts the ask against the limits of its caller.
async fn admit(ask: &AskContext) -> Result<(), ServiceError> {
    if ask.models.have_price() {
        ask.services.access.count_paid_ask(&ask.caller)?;
    }
    ask.services.quotas.count_ask(&ask.caller).await
}

/// Plans and searches. If the passages show that words of the question are misspelt, it is corrected and searched again.
async fn first_retrieval(
    ask: &AskContext,
    corpus: &Corpus,
    state: &mut LoopState,
) -> Result<(Plan, PlannedRetrieval), AskError> {
    let plan = plan::plan(ask).await?;
    let first = retrieve::retrieve_as_planned(ask, corpus, &plan).await?;
    state.weigh(&first.found);
    if !ask.knows_words() {
        return Ok((plan, first));
    }
    let passages = first.found.hits.iter().map(|hit| hit.passage.text.as_str());
    // The vocabulary of the tokenizer holds the common words of English whole.
    let is_word = |word: &str| ask.services.embedder.count(word) == 1;
    let mut corrections = spelling::corrections(state.analyzer, &state.question, passages, is_word);
    let uncorrected = spelling::uncorrected(state.analyzer, &state.question, &corrections, is_word);
    if !uncorrected.is_empty() {
        let farther = retrieve::farther(ask, corpus).await?;
        let passages = farther.hits.iter().map(|hit| hit.passage.text.as_str());
        corrections.extend(spelling::corrections_from_afar(&uncorrected, passages));
    }
    if corrections.is_empty() {
        return Ok((plan, first));
    }
    let plan = plan.corrected(&corrections);
    ask.correct(corrections);
    state.ask_for(ask.asked());
    let again = retrieve::retrieve_as_planned(ask, corpus, &plan).await?;
    state.weigh(&again.found);
    Ok((plan, again))
}

/// Grades the passages of a query and adds them to the state. Returns the draft that was begun meanwhile, if one was.
async fn grade_round<'a>(
    ask: &'a AskContext,
    state: &mut LoopState,
    found: &Retrieved,
    query: RoundQuery<'_>,
) -> Result<Option<EarlyDraft<'a>>, AskError> {
    withdrawal::note_found(ask, &found.hits);
    ask.record.enter(Stage::Grade);
    let (graded, early_draft) = grade::grade(ask, state, found, query).await?;
    let mut round = RoundTrace::of(query.text(ask), found, &graded.hits, graded.answerability);
    round.missing.clone_from(&graded.missing);
    round.new = state.add_round(found, graded);
    ask.record.note_round(round);
    Ok(early_draft)
}

/// Answers from the passages with these grades, or abstains because they do not answer the question.
async fn answer_from(
    ask: &AskContext,
    emitter: &mut Emitter,
    state: &LoopState,
    over: Evidence,
    early_draft: Option<EarlyDraft<'_>>,
) -> Result<AskReport, AskError> {
    ask.record.enter(Stage::Generate);
    if let Some(draft) = early_draft
        && let Some(ConfirmedDraft { answer, by }) = draft.confirm(ask, emitter, state).await?
    {
        return Ok(answered(ask, state, AskOutcome::Answered { answer, by }));
    }
    let found = state.pool.hits();
    let evidence = state.sub_questions.take_turns(state.pool.evidence(over));
    let evidence = state.continuation.alone(ask, evidence);
    let chosen = with_those_beside(ask, currency::current(ask, &evidence, found), found);
    let sources = retrieve::with_grades(&chosen, retrieve::group(ask, &chosen).await?);
    // Passages that were joined may tell how their documents begin.
    let sources = currency::current(ask, &sources, &sources);
    let sources = retrieve::completed(ask, &state.question, sources).await?;
    let sources: Arc<[GradedHit]> = retrieve::with_whole_lists(ask, sources).await?.into();
    // A source that was completed may be of another document: the notes of the latest release.
    withdrawal::note_found(ask, sources.iter().map(|graded| &graded.hit));
    ask.record.set_sources(Arc::clone(&sources));
    if ask.request.execution.dry_run {
        return Ok(AskReport::new(ask, state, AskOutcome::DryRun));
    }
    emitter.emit_sources(&sources).await;
    let assignment = Assignment::new(ask, state, &sources);
    match write(ask, emitter, &assignment).await? {
        WriteOutcome::Accepted(outcome) => Ok(answered(ask, state, outcome)),
        WriteOutcome::NothingToQuote => {
            Ok(AskReport::new(ask, state, AskOutcome::Abstained(AbstainReason::LowSupport)))
        }
        WriteOutcome::Declined => Ok(AskReport::new(ask, state, AskOutcome::Abstained(AbstainReason::ModelDeclined))),
        WriteOutcome::Rejected(draft) => Err(AskError::Rejected(Box::new(Rejection::new(ask, state, draft)))),
    }
}

fn answered(ask: &AskContext, state: &LoopState, outcome: AskOutcome) -> AskReport {
    let missing = outcome.written().map_or_else(Vec::new, |(answer, _)| plan::missing(state, answer));
    AskReport { missing, ..AskReport::new(ask, state, outcome) }
}

/// How the writing of an answer ended.
enum WriteOutcome {
    /// An answer, or passages.
    Accepted(AskOutcome),
    /// The sources contain nothing to quote.
    NothingToQuote,
    /// The model found no answer in the sources.
    Declined,
    Rejected(RejectedDraft),
}

/// Has an answer written and checks it, at most twice: source N of the prompt is marker N.
async fn write(ask: &AskContext, emitter: &mut Emitter, assignment: &Assignment<'_>) -> Result<WriteOutcome, AskError> {
    let mut request = DraftRequest::First;
    loop {
        let has_declined = matches!(request, DraftRequest::SecondLook(_));
        ask.record.enter(Stage::Generate);
        let attempt = request.attempt();
        let written = match generate::draft(ask, emitter, assignment, request).await {
            Ok(Some(written)) => written,
            Ok(None) => return Ok(WriteOutcome::NothingToQuote),
            // A second look is taken only as far as the limits allow.
            Err(AskError::Service(ServiceError::Budget(_))) if has_declined => return Ok(WriteOutcome::Declined),
            Err(error) => return Err(error),
        };
        ask.record.enter(Stage::Validate);
        let verified = verify::verify(ask, assignment.read(&written.text), assignment.sources, attempt).await?;
        let judgement = validate::validate(&verified.draft, ask.models.level, attempt);
        ask.record.note_attempt(AttemptTrace {
            attempt: attempt.number(),
            by: written.by.clone(),
            errors: judgement.errors().to_vec(),
            rulings: verified.rulings,
            confidence: written.confidence,
        });
        ask.record.enter(Stage::Generate);
        match judgement {
            Judgement::Accepted(answer) => {
                emitter.emit_accepted(&answer).await;
                return Ok(WriteOutcome::Accepted(written.outcome(answer)));
            }
            Judgement::NonAnswer => {
                emitter.emit_void(VoidReason::NonAnswer).await;
                match generate::second_look(ask, assignment, attempt, written) {
                    Some(second_look) => request = DraftRequest::SecondLook(second_look),
                    None => return Ok(WriteOutcome::Declined),
                }
            }
            Judgement::Retry { errors, prompt } => {
                emitter.emit_void(VoidReason::CitationValidation(errors)).await;
                request = DraftRequest::Retry(Retry { draft: written.text, prompt });
            }
            Judgement::Rejected(errors) if has_declined => {
                emitter.emit_void(VoidReason::CitationValidation(errors)).await;
                return Ok(WriteOutcome::Declined);
            }
            Judgement::Rejected(errors) => {
                emitter.emit_void(VoidReason::CitationValidation(errors.clone())).await;
                let draft = RejectedDraft { errors, text: written.text, attempts: attempt.number(), by: written.by };
                return Ok(WriteOutcome::Rejected(draft));
            }
        }
    }
}
