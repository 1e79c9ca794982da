//! One model call: within the budget, before the deadline, noted in the trace.

use tokio::time::Instant;

use super::{
    AskError, AskWarning,
    run::Ask,
    trace::{CallTrace, FailedCallTrace},
};
use crate::{
    domain::{
        budget::{Allowance, Chat, ChatSize},
        citation::Level,
        prompt::{self, Message, ReplyFormat, tokens},
    },
    providers::{
        ProvidersUnavailable,
        chat::{CallRole, ChatChain, ChatReply, ChatRequest},
    },
    service::ServiceError,
};

/// Tokens that a grade or a query may take; an answer gets the whole limit.
const SHORT_REPLY_TOKENS: u32 = 512;

/// What is asked.
pub(super) struct Call<'a> {
    pub role: CallRole,
    pub messages: Vec<Message>,
    /// Sources among the messages.
    pub sources: &'a [prompt::Source<'a>],
    /// The form of the reply, unless it is prose.
    pub format: Option<ReplyFormat>,
}

/// A call that waits until it can be paid for. If that never comes, for instance because the time is up, there was no
/// call.
struct Unmade(Option<Allowance<Chat>>);

impl Unmade {
    fn make(mut self) -> Allowance<Chat> {
        self.0.take().expect("only this takes it")
    }
}

impl Drop for Unmade {
    fn drop(&mut self) {
        if let Some(allowance) = self.0.take() {
            allowance.take_back();
        }
    }
}

impl Ask<'_> {
    /// Who plays a role in this ask; `None` means built in.
    pub(super) fn chain(&self, role: CallRole) -> Option<ChatChain> {
        self.service.models.chain(role, &self.request.execution.models)
    }

    /// Settles who answers and at which level: the models that can cite, or all of them without any
    /// demand where none can and the deployment allows that.
    pub(super) fn choose_answerers(&mut self) -> Result<(), AskError> {
        let Some(chain) = self.chain(CallRole::Generate) else { return Ok(()) };
        if self.level != Level::Off {
            if let Some(citing) = chain.citing() {
                self.answerers = Some(citing);
                return Ok(());
            }
            let models: Vec<String> = chain.names().map(ToString::to_string).collect();
            if !self.service.settings.allows_mode_fallback {
                return Err(AskError::Service(ServiceError::Invalid {
                    pointer: "/validation".to_owned(),
                    detail: format!(
                        "{} cannot cite, and this service does not fall back to answers without proof; name other \
                         models, or ask with \"validation\": \"off\"",
                        models.join(", ")
                    ),
                }));
            }
            self.level = Level::Off;
            self.warnings.push(AskWarning::ModeFallback { models });
        }
        self.answerers = Some(chain);
        Ok(())
    }

    /// Calls the models of a role, one after the other until one answers.
    pub(super) async fn call(&mut self, chain: &ChatChain, call: Call<'_>) -> Result<ChatReply, AskError> {
        let role = call.role;
        let (request, allowance) = self.reserve(chain, call).await?;
        let started = Instant::now();
        let result = chain.complete(&request, allowance).await;
        self.note_result(role, started, result)
    }

    /// What a call came to.
    pub(super) fn note_result(
        &mut self,
        role: CallRole,
        started: Instant,
        result: Result<ChatReply, ProvidersUnavailable>,
    ) -> Result<ChatReply, AskError> {
        match result {
            Ok(reply) => {
                self.note_call(role, started, &reply);
                Ok(reply)
            }
            Err(error) => Err(self.note_failure(role, error)),
        }
    }

    pub(super) fn note_call(&mut self, role: CallRole, started: Instant, reply: &ChatReply) {
        self.trace.calls.push(CallTrace {
            role,
            model: reply.model.clone(),
            usage: reply.usage,
            cost: reply.cost,
            sampling: reply.sampling,
            duration_ms: started.elapsed().as_secs_f64() * 1_000.0,
            is_cut: reply.is_cut(),
            is_discarded: false,
            failed: reply.failed.clone(),
        });
    }

    /// Nobody answered: for want of time, or for their own reasons.
    pub(super) fn note_failure(&mut self, role: CallRole, error: ProvidersUnavailable) -> AskError {
        self.trace.failed_calls.push(FailedCallTrace { role, attempts: error.attempts.clone() });
        if Instant::now() >= self.deadline { self.deadline_reached() } else { error.into() }
    }

    /// What is sent, and the right to send it.
    pub(super) async fn reserve(
        &mut self,
        chain: &ChatChain,
        call: Call<'_>,
    ) -> Result<(ChatRequest, Allowance<Chat>), AskError> {
        let size = self.size_of(chain, &call);
        let unmade = Unmade(Some(self.budget.reserve_chat(size)?));
        self.daily_account.reserve(size.most_cost).await?;
        Ok((self.request_of(call), unmade.make()))
    }

    /// The same for a call that may be for nothing: `None` if it or the one that has to be made then would go over
    /// a limit.
    pub(super) async fn reserve_on_chance(
        &mut self,
        chain: &ChatChain,
        call: Call<'_>,
    ) -> Result<Option<(ChatRequest, Allowance<Chat>)>, AskError> {
        let size = self.size_of(chain, &call);
        let Ok(allowance) = self.budget.reserve_chat(size) else { return Ok(None) };
        let unmade = Unmade(Some(allowance));
        let is_paid_for = self.daily_account.reserve_with_spare(size.most_cost).await?;
        Ok(is_paid_for.then(|| (self.request_of(call), unmade.make())))
    }

    pub(super) fn size_of(&self, chain: &ChatChain, call: &Call<'_>) -> ChatSize {
        let source_bytes = call.sources.iter().map(|source| source.text.len()).sum::<usize>();
        let limit = self.budget.limits().completion_tokens;
        let instruction = call.format.as_ref().map_or(0, |format| tokens::estimate(format.instruction));
        let prompt_tokens = tokens::estimate_messages(&call.messages).saturating_add(instruction);
        let completion_tokens = if call.role == CallRole::Generate { limit } else { limit.min(SHORT_REPLY_TOKENS) };
        ChatSize {
            prompt_tokens,
            completion_tokens,
            source_bytes: u64::try_from(source_bytes).unwrap_or(u64::MAX),
            most_cost: chain.most_cost(prompt_tokens, completion_tokens),
        }
    }

    fn request_of(&self, call: Call<'_>) -> ChatRequest {
        ChatRequest {
            temperature: if call.role == CallRole::Generate { self.request.temperature } else { 0.0 },
            seed: Some(self.request.seed.unwrap_or_else(|| prompt::seed_of(&call.messages))),
            messages: call.messages,
            format: call.format,
            shared_bytes: 0,
            deadline: self.deadline,
        }
    }
}
