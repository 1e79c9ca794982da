//! An answer begun while a model still grades. It is used only if the grades confirm exactly the sources that it was
//! given; then it is the answer that would have been asked for afterwards, byte for byte. Otherwise it is thrown away,
//! and what it cost is told.

use std::{
    collections::VecDeque,
    pin::pin,
    sync::{Mutex, PoisonError},
};

use futures::{FutureExt, StreamExt, stream};
use tokio::time::Instant;

use super::{
    AskError, GradedHit,
    call::Call,
    pool::Pool,
    run::{Ask, graded},
    trace::{CallTrace, FailedCallTrace, Refinement},
};
use crate::{
    domain::{
        budget::Usage,
        citation::PreparedSource,
        corrective::{Evidence, Round, Step, next_step},
        cost::NanoUsd,
        identity::ChunkKey,
        prompt,
        speculation::{self, Speculation},
    },
    providers::{
        ProvidersUnavailable,
        chat::{CallRole, ChatEvent, ChatReply, ChatStream, ModelName, Sampling},
    },
    service::retrieval::Hit,
};

/// An answer that was begun over sources that are likely to be confirmed.
pub(super) struct EarlyDraft {
    /// The passages that it takes for granted, in order.
    passages: Vec<ChunkKey>,
    sources: Vec<(usize, Hit)>,
    refinements: Vec<Refinement>,
    /// Locked by nobody: a stream alone could not be shared between threads, as an ask under way has to be.
    events: Mutex<ChatStream>,
    /// What came already. No more than a reply of limited length.
    heard: VecDeque<Result<ChatEvent, ProvidersUnavailable>>,
    is_over: bool,
    started: Instant,
    /// Who is asked first.
    model: ModelName,
    prompt_tokens: u32,
    most_cost: NanoUsd,
}

impl EarlyDraft {
    /// Lets the draft be written until something else is done.
    pub(super) async fn go_on_beside<Output>(&mut self, work: impl Future<Output = Output>) -> Output {
        let mut work = pin!(work);
        let events = self.events.get_mut().unwrap_or_else(PoisonError::into_inner);
        loop {
            tokio::select! {
                biased;
                output = &mut work => return output,
                event = events.next(), if !self.is_over => match event {
                    Some(event) => self.heard.push_back(event),
                    None => self.is_over = true,
                },
            }
        }
    }
}

impl Ask<'_> {
    /// Begins an answer if the grades can be told well enough, and the budget can bear that it is for nothing.
    pub(super) async fn begin_early_draft(&mut self, hits: &[GradedHit]) -> Result<Option<EarlyDraft>, AskError> {
        let Some(chain) = self.answerers.clone().filter(|_| self.may_speculate()) else { return Ok(None) };
        let Some(chosen) = self.likely_evidence(hits) else { return Ok(None) };
        let sources = self.group(&chosen).await?;
        let evidence = graded(&chosen, sources.clone());
        let shown = self.shown(&evidence);
        let prompt_sources = shown.sources();
        let call = Call {
            role: CallRole::Generate,
            messages: prompt::answer::messages(&self.request.question, &prompt_sources),
            sources: &prompt_sources,
            format: None,
        };
        let size = self.size_of(&chain, &call);
        let Some(model) = chain.names().next().cloned() else { return Ok(None) };
        let refinements = shown.refinements.clone();
        let Some((request, allowance)) = self.reserve_on_chance(&chain, call).await? else { return Ok(None) };
        let events = if self.listener.is_some() {
            chain.stream(request, allowance)
        } else {
            let reply = async move { chain.complete(&request, allowance).await };
            stream::once(reply.map(|reply| reply.map(|reply| ChatEvent::Done(Box::new(reply))))).boxed()
        };
        Ok(Some(EarlyDraft {
            passages: keys(&chosen),
            sources,
            refinements,
            events: Mutex::new(events),
            heard: VecDeque::new(),
            is_over: false,
            started: Instant::now(),
            model,
            prompt_tokens: size.prompt_tokens,
            most_cost: size.most_cost,
        }))
    }

    /// In the first round only, and if the calls suffice to go on as if nothing had been tried.
    fn may_speculate(&self) -> bool {
        let is_wanted = self.request.execution.speculation != Speculation::Off && !self.request.execution.dry_run;
        let calls = self.state(&self.rounds).calls;
        // This one; then another query and its grades; then the answer and its retry, both verified.
        let needed = 1 + calls.rewrite + calls.grade + 2 * (calls.generate + self.calls_to_verify());
        is_wanted && self.rounds.is_empty() && self.budget.llm_calls_left().is_none_or(|left| left >= needed)
    }

    /// The passages that the answer will be written from, if the grades turn out as they most likely will.
    fn likely_evidence(&self, hits: &[GradedHit]) -> Option<Vec<GradedHit>> {
        let grades = speculation::guess(self.request.execution.speculation, hits.iter().map(|hit| &hit.verdict))?;
        let mut pool = Pool::default();
        let guessed = hits.iter().zip(&grades).map(|(hit, grade)| {
            let mut hit = hit.clone();
            hit.verdict.grade = *grade;
            hit
        });
        let new = pool.add(guessed.collect());
        let step = next_step(&self.state(&[Round::of(&grades, new)]));
        (step == Step::Generate { over: Evidence::Correct }).then(|| pool.evidence(Evidence::Correct))
    }

    /// The sources of the early draft if these are its passages; otherwise it is thrown away.
    pub(super) fn confirmed_sources(&mut self, chosen: &[GradedHit]) -> Option<Vec<(usize, Hit)>> {
        let draft = self.early_draft.as_mut().filter(|draft| draft.passages == keys(chosen));
        let sources = draft.map(|draft| std::mem::take(&mut draft.sources));
        if sources.is_none() {
            self.discard_early_draft();
        }
        sources
    }

    /// Tells what came of a confirmed draft already, then the rest as it comes.
    pub(super) async fn hear_out(
        &mut self,
        draft: EarlyDraft,
        prepared: &[PreparedSource],
    ) -> Result<ChatReply, AskError> {
        self.trace.refinements = draft.refinements;
        let rest = draft.events.into_inner().unwrap_or_else(PoisonError::into_inner);
        let events = stream::iter(draft.heard).chain(rest).boxed();
        self.read_aloud(CallRole::Generate, draft.started, events, prepared).await
    }

    /// Ends an early draft that nobody needs, and books what it cost.
    pub(super) fn discard_early_draft(&mut self) {
        let Some(mut draft) = self.early_draft.take() else { return };
        match draft.heard.pop_back() {
            Some(Ok(ChatEvent::Done(reply))) => {
                self.budget.note_waste(reply.usage, reply.cost);
                self.note_call(CallRole::Generate, draft.started, &reply);
                if let Some(call) = self.trace.calls.last_mut() {
                    call.is_discarded = true;
                }
            }
            Some(Err(error)) => {
                self.trace.failed_calls.push(FailedCallTrace { role: CallRole::Generate, attempts: error.attempts });
            }
            _ => self.break_off(draft),
        }
    }

    /// Ends a call that is under way.
    fn break_off(&mut self, draft: EarlyDraft) {
        let before = self.budget.spent();
        drop(draft.events);
        let mut after = self.budget.spent();
        // A reply that had begun is settled with what came of it; of any other the provider may bill all.
        if after.unsettled == before.unsettled {
            self.budget.write_off(draft.most_cost);
            after = self.budget.spent();
        }
        let prompt_tokens = u64::from(draft.prompt_tokens) + after.prompt_tokens;
        let usage = Usage {
            prompt_tokens: prompt_tokens.saturating_sub(before.prompt_tokens),
            completion_tokens: after.completion_tokens.saturating_sub(before.completion_tokens),
            is_estimated: true,
        };
        let cost = after.cost.minus(before.cost);
        self.budget.note_waste(usage, cost);
        self.trace.calls.push(CallTrace {
            role: CallRole::Generate,
            model: draft.model,
            usage,
            cost,
            sampling: Sampling::default(),
            duration_ms: draft.started.elapsed().as_secs_f64() * 1_000.0,
            is_cut: false,
            is_discarded: true,
            failed: Vec::new(),
        });
    }
}

fn keys(chosen: &[GradedHit]) -> Vec<ChunkKey> {
    chosen.iter().map(|graded| graded.hit.passage.key).collect()
}
