//! An answer that is begun while a model still grades, over all passages of the first round. It stands if each source that
//! it cites is then graded correct, and if its citations hold. Otherwise it is dropped, and its cost recorded.

use std::sync::Arc;

use super::{
    AskError, AskWarning, GeneratedBy, GradedHit, VoidReason,
    context::AskContext,
    currency,
    draft::Assignment,
    emit::Emitter,
    evidence_pool::by_worth,
    model_call::{self, ModelCall, ReplyPiece, RunningCall},
    prompt_sources::PromptSources,
    record::{AttemptTrace, Refinement, Stage},
    retrieve,
    state::{GradedRound, LoopState},
    validate::{self, Judgement},
    verify,
};
use crate::{
    domain::{
        citation::{Attempt, CitedAnswer, Draft, Marker, marker::markers},
        corrective::Grade,
        markdown::blocks,
        prompt,
        span::IndexedText,
    },
    metrics::Metrics,
    providers::chat::{CallRole, ChatReply},
    service::retrieval::Hit,
};

/// An answer that was begun before its sources were graded.
pub(super) struct EarlyDraft<'a> {
    sources: Vec<Hit>,
    refinements: Vec<Refinement>,
    /// `None` once its reply was read to the end.
    call: Option<RunningCall<'a>>,
    has_stood: bool,
    metrics: &'a Metrics,
}

/// An early draft that stands, with its author.
pub(super) struct ConfirmedDraft {
    pub(super) answer: CitedAnswer,
    pub(super) by: GeneratedBy,
}

/// Begins an answer if the passages are likely to contain it, and if the budget allows for its being useless.
///
/// # Errors
/// When the database fails.
pub(super) async fn begin<'a>(
    ask: &'a AskContext,
    state: &LoopState,
    round: &GradedRound,
) -> Result<Option<EarlyDraft<'a>>, AskError> {
    let Some(chain) = ask.models.generate.as_ref().filter(|_| may_begin(ask, state, round)) else { return Ok(None) };
    let mut chosen = round.hits.clone();
    chosen.sort_by(by_worth);
    let sources = retrieve::with_grades(&chosen, retrieve::group(ask, &chosen).await?);
    let evidence = retrieve::with_whole_lists(ask, sources.to_vec()).await?;
    let shown = PromptSources::of(ask, state, &evidence);
    let prompt_sources = shown.sources();
    let call = ModelCall {
        role: CallRole::Generate,
        messages: prompt::answer::messages(ask.question(), &prompt_sources),
        sources: &prompt_sources,
        format: None,
    };
    let Some(reserved) = model_call::reserve_with_spare(ask, chain, call).await? else { return Ok(None) };
    let (refinements, metrics) = (shown.refinements.clone(), &ask.services.metrics);
    let sources = evidence.into_iter().map(|graded| graded.hit).collect();
    Ok(Some(EarlyDraft { sources, refinements, call: Some(reserved.start()), has_stood: false, metrics }))
}

/// Only in the first round, and if enough calls remain to continue as if no early draft had been tried.
fn may_begin(ask: &AskContext, state: &LoopState, round: &GradedRound) -> bool {
    let execution = &ask.request.execution;
    let answerability = (!round.hits.is_empty()).then_some(round.answerability);
    let is_wanted = execution.speculation.begins(answerability) && !execution.dry_run;
    let (calls, verify) = (ask.step_calls(), ask.models.calls_to_verify());
    // This one, verified; then another query and its grades; then the answer and its retry, both verified.
    let needed = 1 + verify + calls.rewrite + calls.grade + 2 * (calls.generate + verify);
    is_wanted && state.is_first_round() && ask.budget.llm_calls_left().is_none_or(|left| left >= needed)
}

impl EarlyDraft<'_> {
    /// Collects the reply while other work is done.
    pub(super) async fn write_during<Output>(&mut self, work: impl Future<Output = Output>) -> Output {
        match &mut self.call {
            Some(call) => call.read_ahead_during(work).await,
            None => work.await,
        }
    }

    /// Reads the draft to its end and returns it if it stands, given the grades in the state. Its words are sent while it
    /// has cited only correct sources; if it is dropped after that, they are declared void.
    ///
    /// # Errors
    /// When a model that verifies its claims cannot be called within the limits, or the time limit is reached.
    pub(super) async fn confirm(
        mut self,
        ask: &AskContext,
        emitter: &mut Emitter,
        state: &LoopState,
    ) -> Result<Option<ConfirmedDraft>, AskError> {
        let Some(mut call) = self.call.take() else { return Ok(None) };
        let sources = graded(state, std::mem::take(&mut self.sources));
        emitter.emit_sources(&sources).await;
        let assignment = Assignment::new(ask, state, &sources);
        // It was begun before it was known which documents were found beside those that replaced them.
        let is_current = currency::current(ask, &sources, &sources).len() == sources.len();
        let reply = if is_current { read(&mut call, emitter, &assignment).await } else { None };
        let Some(reply) = reply else {
            call.discard();
            emitter.emit_void(VoidReason::NotConfirmed).await;
            return Ok(None);
        };
        ask.record.enter(Stage::Validate);
        let draft = assignment.read(&reply.text);
        let accepted = if is_confirmed(&draft, &sources) {
            let verified = verify::verify(ask, draft, &sources, Attempt::First).await?;
            match validate::validate(&verified.draft, ask.models.level, Attempt::First) {
                Judgement::Accepted(answer) => Some((answer, verified.rulings)),
                Judgement::NonAnswer | Judgement::Retry { .. } | Judgement::Rejected(_) => None,
            }
        } else {
            None
        };
        ask.record.enter(Stage::Generate);
        let Some((answer, rulings)) = accepted else {
            call.discard_reply(&reply);
            emitter.emit_void(VoidReason::NotConfirmed).await;
            return Ok(None);
        };
        call.note_used(&reply);
        self.has_stood = true;
        emitter.emit_accepted(&answer).await;
        let by = GeneratedBy::of(&reply);
        ask.record.set_sources(sources);
        ask.record.note_refinements(std::mem::take(&mut self.refinements));
        ask.record.note_cut(AskWarning::of_cut(&reply, ask.budget.limits().completion_tokens));
        ask.record.note_attempt(AttemptTrace {
            attempt: Attempt::First.number(),
            by: by.clone(),
            errors: Vec::new(),
            rulings,
            confidence: None,
        });
        Ok(Some(ConfirmedDraft { answer, by }))
    }
}

impl Drop for EarlyDraft<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            call.discard();
        }
        self.metrics.note_early_draft(self.has_stood);
    }
}

/// Reads a reply and sends its words. `None` as soon as it cites a source that is not correct, or if no model answered.
async fn read(call: &mut RunningCall<'_>, emitter: &mut Emitter, assignment: &Assignment<'_>) -> Option<ChatReply> {
    let mut text = String::new();
    loop {
        match call.next().await {
            Ok(ReplyPiece::Words(words)) => {
                text.push_str(&words);
                if words.contains(']') && !cites_only_correct(&markers_of(&text), assignment.sources) {
                    return None;
                }
                emitter.emit_words(&words, &assignment.basis).await;
            }
            Ok(ReplyPiece::Void) => {
                text.clear();
                emitter.emit_void(VoidReason::ProviderFailed).await;
            }
            Ok(ReplyPiece::Whole(reply)) => return Some(*reply),
            Err(error) => {
                tracing::debug!(%error, "the answer begun early is dropped");
                return None;
            }
        }
    }
}

/// The markers of what has arrived of a draft.
fn markers_of(text: &str) -> Vec<Marker> {
    markers(&IndexedText::new(text), &blocks(text)).valid
}

/// The sources with their grades: of those of its passages, the best.
fn graded(state: &LoopState, sources: Vec<Hit>) -> Arc<[GradedHit]> {
    let graded = |hit: Hit| {
        let known: Vec<&GradedHit> = hit.keys().filter_map(|key| state.pool.known(key)).collect();
        let best = known.into_iter().min_by(|one, two| by_worth(one, two))?.clone();
        Some(GradedHit { hit, ..best })
    };
    sources.into_iter().filter_map(graded).collect()
}

/// Whether a draft cites something, and nothing but correct sources.
fn is_confirmed(draft: &Draft, sources: &[GradedHit]) -> bool {
    !draft.markers().is_empty() && cites_only_correct(draft.markers(), sources)
}

fn cites_only_correct(markers: &[Marker], sources: &[GradedHit]) -> bool {
    markers.iter().all(|marker| {
        let source = usize::try_from(marker.number).ok().and_then(|number| sources.get(number.checked_sub(1)?));
        source.is_some_and(|source| source.verdict.grade == Grade::Correct)
    })
}
