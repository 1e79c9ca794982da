//! The only way to call a chat model: a call is within the limits of the ask, is charged to its tenant's day, ends at
//! its deadline, and is in the record.

use std::{collections::VecDeque, pin::pin};

use futures::{FutureExt, StreamExt, stream};
use tokio::time::Instant;

use super::{
    AskError, AskWarning, SkipCause,
    context::AskContext,
    record::{CallTrace, FailedCallTrace},
};
use crate::{
    domain::{
        budget::{Allowance, BudgetExceeded, Chat, ChatSize, Limits, Usage},
        citation::loose_marker,
        prompt::{self, Message, ReplyFormat, tokens},
    },
    providers::{
        ProvidersUnavailable,
        chat::{CallRole, ChatChain, ChatEvent, ChatReply, ChatRequest, ChatStream, Sampling},
    },
    service::ServiceError,
};

/// Most tokens of a query or of few verdicts; an answer may use the whole limit.
const SHORT_REPLY_TOKENS: u32 = 512;
/// Most tokens of a verdict, with its reason, as JSON.
const VERDICT_TOKENS: u32 = 64;

/// The content of a call.
pub(in crate::service) struct ModelCall<'a> {
    pub(in crate::service) role: CallRole,
    pub(in crate::service) messages: Vec<Message>,
    /// Sources among the messages.
    pub(in crate::service) sources: &'a [prompt::Source<'a>],
    /// The format of the reply, unless it is prose.
    pub(in crate::service) format: Option<ReplyFormat>,
}

/// Calls the models of a role whose work the built-in implementation can do instead. `None`, with a warning, if no model
/// answered, or if a limit or the day does not allow the call.
///
/// # Errors
/// When the time limit is reached, or the database fails.
pub(super) async fn complete_or_skip(
    ask: &AskContext,
    chain: &ChatChain,
    call: ModelCall<'_>,
) -> Result<Option<ChatReply>, AskError> {
    let role = call.role;
    match reserve(ask, chain, call).await {
        Ok(reserved) => reserved.complete_or_skip().await,
        Err(AskError::Service(ServiceError::Budget(exceeded))) => {
            tracing::debug!(role = role.as_str(), %exceeded, "the model of the role is not called; the built-in one stands in");
            ask.record.warn_skipped(role, SkipCause::OverLimit);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Reserves a call: its size within the limits of the ask, and its highest possible cost on its tenant's day.
///
/// # Errors
/// When one of them does not allow it, or the database fails; nothing is reserved then.
pub(super) async fn reserve<'a>(
    ask: &'a AskContext,
    chain: &'a ChatChain,
    call: ModelCall<'_>,
) -> Result<ReservedCall<'a>, AskError> {
    let reserved = ReservedCall::within_limits(ask, chain, call)?;
    ask.daily_account.reserve(reserved.size.most_cost).await?;
    Ok(reserved)
}

/// Reserves a call whose reply may be useless, and on the day the same cost again for the call that would replace it.
/// `None` if that would exceed a limit.
///
/// # Errors
/// When the database fails; nothing is reserved then.
pub(super) async fn reserve_with_spare<'a>(
    ask: &'a AskContext,
    chain: &'a ChatChain,
    call: ModelCall<'_>,
) -> Result<Option<ReservedCall<'a>>, AskError> {
    let Ok(reserved) = ReservedCall::within_limits(ask, chain, call) else { return Ok(None) };
    let is_reserved = ask.daily_account.reserve_with_spare(reserved.size.most_cost).await?;
    Ok(is_reserved.then_some(reserved))
}

/// A call that may be sent. Dropped before it is sent, it does not count as a call.
pub(super) struct ReservedCall<'a> {
    ask: &'a AskContext,
    chain: &'a ChatChain,
    role: CallRole,
    request: ChatRequest,
    /// Number of sources that the reply may cite.
    sources: usize,
    size: ChatSize,
    allowance: Unsent,
}

/// The allowance of a call that was not sent yet; returned if the call is never sent.
struct Unsent(Option<Allowance<Chat>>);

impl Unsent {
    fn send(mut self) -> Allowance<Chat> {
        self.0.take().expect("only this takes it, once")
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        if let Some(allowance) = self.0.take() {
            allowance.take_back();
        }
    }
}

impl<'a> ReservedCall<'a> {
    fn within_limits(
        ask: &'a AskContext,
        chain: &'a ChatChain,
        mut call: ModelCall<'_>,
    ) -> Result<Self, BudgetExceeded> {
        if let Some(instructions) = ask.services.instructions.of(call.role) {
            instructions.add_to(&mut call.messages);
        }
        let size = size_of(ask.budget.limits(), chain, &call);
        let allowance = Unsent(Some(ask.budget.reserve_chat(size)?));
        let sources = call.sources.len();
        Ok(Self { ask, chain, role: call.role, request: request_of(ask, call), sources, size, allowance })
    }

    async fn complete(self) -> Result<ChatReply, AskError> {
        let Self { ask, chain, role, request, allowance, .. } = self;
        let started = Instant::now();
        match chain.complete(&request, allowance.send()).await {
            Ok(reply) => {
                ask.record.note_call(CallTrace::of(role, started, &reply));
                Ok(reply)
            }
            Err(error) => Err(failed(ask, role, error)),
        }
    }

    /// Waits for the reply of a role whose work the built-in implementation can do instead, for half of the time that is
    /// left: the other half is for those that come after it. `None`, with a warning, if no model answered.
    ///
    /// # Errors
    /// When the time limit is reached.
    pub(super) async fn complete_or_skip(mut self) -> Result<Option<ChatReply>, AskError> {
        let (ask, role, now) = (self.ask, self.role, Instant::now());
        self.request.deadline = now + ask.deadline.saturating_duration_since(now) / 2;
        match self.complete().await {
            Ok(reply) => Ok(Some(reply)),
            Err(AskError::Providers(error)) => {
                tracing::warn!(role = role.as_str(), %error, "no model of the role answered; the built-in one stands in");
                ask.record.warn_skipped(role, SkipCause::Failed);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Sends the call and reads its reply in pieces; the whole reply is one piece if the ask is not streamed, or if its
    /// markers may have to be rewritten.
    pub(super) fn start(self) -> RunningCall<'a> {
        let Self { ask, chain, role, request, sources, size, allowance } = self;
        let allowance = allowance.send();
        let is_in_pieces = ask.is_stream && !chain.has_loose_markers();
        let events = if is_in_pieces {
            chain.stream(request, allowance)
        } else {
            let models = chain.clone();
            let reply = async move { models.complete(&request, allowance).await };
            stream::once(reply.map(|reply| reply.map(|reply| ChatEvent::Done(Box::new(reply))))).boxed()
        };
        let started = Instant::now();
        RunningCall {
            ask,
            chain,
            role,
            sources,
            size,
            started,
            events,
            read_ahead: VecDeque::new(),
            is_over: false,
            owes_words: ask.is_stream && !is_in_pieces,
            is_rewritten: false,
        }
    }
}

/// A call that was sent, read piece by piece.
pub(super) struct RunningCall<'a> {
    ask: &'a AskContext,
    chain: &'a ChatChain,
    role: CallRole,
    sources: usize,
    size: ChatSize,
    started: Instant,
    events: ChatStream,
    /// Events that arrived and were not read yet. Bounded by the length limit of a reply.
    read_ahead: VecDeque<Result<ChatEvent, ProvidersUnavailable>>,
    is_over: bool,
    /// Whether the words of the whole reply are to be passed on before it.
    owes_words: bool,
    /// Whether markers of the reply were rewritten.
    is_rewritten: bool,
}

/// A piece of a reply.
pub(super) enum ReplyPiece {
    /// The next words.
    Words(String),
    /// All words so far are void: the model failed before the end of its reply, and another one begins.
    Void,
    /// The whole reply; no piece follows.
    Whole(Box<ChatReply>),
}

impl RunningCall<'_> {
    /// Buffers events that arrive while other work is done.
    pub(super) async fn read_ahead_during<Output>(&mut self, work: impl Future<Output = Output>) -> Output {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                output = &mut work => return output,
                event = self.events.next(), if !self.is_over => match event {
                    Some(event) => self.read_ahead.push_back(event),
                    None => self.is_over = true,
                },
            }
        }
    }

    /// The next piece. The whole reply is to be recorded: by [`note_used`](Self::note_used) or
    /// [`discard_reply`](Self::discard_reply).
    ///
    /// # Errors
    /// When no model answered in time.
    pub(super) async fn next(&mut self) -> Result<ReplyPiece, AskError> {
        loop {
            let event = match self.read_ahead.pop_front() {
                Some(event) => event,
                None => self.events.next().await.expect("a stream ends with its reply or an error"),
            };
            return match event {
                Ok(ChatEvent::Started(_)) => continue,
                Ok(ChatEvent::Delta(words)) => Ok(ReplyPiece::Words(words)),
                Ok(ChatEvent::Void(_)) => Ok(ReplyPiece::Void),
                Ok(ChatEvent::Done(reply)) => {
                    let reply = self.with_strict_markers(reply);
                    if std::mem::take(&mut self.owes_words) {
                        let words = reply.text.clone();
                        self.read_ahead.push_front(Ok(ChatEvent::Done(reply)));
                        return Ok(ReplyPiece::Words(words));
                    }
                    Ok(ReplyPiece::Whole(reply))
                }
                Err(error) => {
                    self.is_over = true;
                    Err(failed(self.ask, self.role, error))
                }
            };
        }
    }

    /// The reply with `[^N]` for `[N]`, if its model writes so.
    fn with_strict_markers(&mut self, mut reply: Box<ChatReply>) -> Box<ChatReply> {
        let rewritten = Some(&reply).filter(|reply| reply.has_loose_markers);
        if let Some(text) = rewritten.and_then(|reply| loose_marker::normalised(&reply.text, self.sources)) {
            self.is_rewritten = true;
            reply.text = text;
        }
        reply
    }

    /// Records a call whose reply is used.
    pub(super) fn note_used(&self, reply: &ChatReply) {
        if self.is_rewritten {
            self.ask.record.warn(AskWarning::MarkersNormalised { model: reply.model.to_string() });
        }
        self.ask.record.note_call(CallTrace::of(self.role, self.started, reply));
    }

    /// Records a call whose reply was read and is not used.
    pub(super) fn discard_reply(self, reply: &ChatReply) {
        let Self { ask, role, started, .. } = self;
        ask.budget.note_waste(reply.usage, reply.cost);
        ask.record.note_call(CallTrace { is_discarded: true, ..CallTrace::of(role, started, reply) });
    }

    /// Ends a call whose reply is not needed, and records its cost. One that has failed is recorded as such already.
    pub(super) fn discard(mut self) {
        let (ask, role) = (self.ask, self.role);
        match self.read_ahead.pop_back() {
            Some(Ok(ChatEvent::Done(reply))) => self.discard_reply(&reply),
            Some(Err(error)) => ask.record.note_failed_call(FailedCallTrace { role, attempts: error.attempts }),
            _ if self.is_over => {}
            _ => self.break_off(),
        }
    }

    /// Ends a call whose reply is not complete.
    fn break_off(self) {
        let Self { ask, chain, role, size, started, events, .. } = self;
        let before = ask.budget.spent();
        drop(events);
        let mut after = ask.budget.spent();
        // A reply that had begun is charged for the text received; for any other the provider may bill the full amount.
        if after.unsettled == before.unsettled {
            ask.budget.write_off(size.most_cost);
            after = ask.budget.spent();
        }
        let prompt_tokens = u64::from(size.prompt_tokens) + after.prompt_tokens;
        let usage = Usage {
            prompt_tokens: prompt_tokens.saturating_sub(before.prompt_tokens),
            completion_tokens: after.completion_tokens.saturating_sub(before.completion_tokens),
            is_estimated: true,
        };
        let cost = after.cost.minus(before.cost);
        ask.budget.note_waste(usage, cost);
        if let Some(model) = chain.names().next() {
            ask.record.note_call(CallTrace {
                role,
                model: model.clone(),
                usage,
                cost,
                sampling: Sampling::default(),
                duration_ms: started.elapsed().as_secs_f64() * 1_000.0,
                is_cut: false,
                is_discarded: true,
                is_unusable: false,
                failed: Vec::new(),
            });
        }
    }
}

/// Records that no model answered: because of the deadline, or because each failed.
fn failed(ask: &AskContext, role: CallRole, error: ProvidersUnavailable) -> AskError {
    ask.record.note_failed_call(FailedCallTrace { role, attempts: error.attempts.clone() });
    if Instant::now() >= ask.deadline { ask.deadline_reached() } else { error.into() }
}

/// The size of a call, instructions of the deployment included, within these limits.
pub(in crate::service) fn size_of(limits: &Limits, chain: &ChatChain, call: &ModelCall<'_>) -> ChatSize {
    let source_bytes = call.sources.iter().map(|source| source.text.len()).sum::<usize>();
    let limit = limits.completion_tokens;
    let instruction = call.format.as_ref().map_or(0, |format| tokens::estimate(format.instruction));
    let prompt_tokens = tokens::estimate_messages(&call.messages).saturating_add(instruction);
    let verdicts = u32::try_from(call.sources.len()).unwrap_or(u32::MAX);
    let short = SHORT_REPLY_TOKENS.max(verdicts.saturating_mul(VERDICT_TOKENS));
    let completion_tokens = if call.role == CallRole::Generate { limit } else { limit.min(short) };
    ChatSize {
        prompt_tokens,
        completion_tokens,
        source_bytes: u64::try_from(source_bytes).unwrap_or(u64::MAX),
        most_cost: chain.most_cost(prompt_tokens, completion_tokens),
    }
}

fn request_of(ask: &AskContext, call: ModelCall<'_>) -> ChatRequest {
    let request = &ask.request;
    let seed = request.seed.unwrap_or_else(|| prompt::seed_of(&call.messages));
    let mut messages = call.messages;
    ask.nonce.mark(&mut messages);
    ChatRequest {
        temperature: if call.role == CallRole::Generate { request.temperature } else { 0.0 },
        seed: Some(seed),
        messages,
        format: call.format,
        shared_bytes: 0,
        deadline: ask.deadline,
    }
}
