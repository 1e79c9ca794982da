//! Models in the order in which they are tried, and the usage of a call to them.

use std::sync::Arc;

use tracing::Instrument;

use super::{
    ChatReply, ChatRequest, ChatStream, ModelName, ReplyEnd, Sampling, WireCall, failover::Failover, models::Model,
    stream,
};
use crate::{
    domain::{
        budget::{Allowance, Chat, Usage},
        cost::NanoUsd,
        prompt::Message,
        split::TokenCounter,
    },
    metrics::CallMeter,
    providers::{ProviderError, ProviderErrorKind, ProvidersUnavailable},
};

/// Tokens that a message costs in addition to its text: role and delimiters of the chat template.
const PER_MESSAGE: usize = 4;
/// Most characters beyond ASCII that one token is assumed to hold. The counter takes a word in an unknown script for
/// one token, however long it is.
const FOREIGN_CHARACTERS_PER_TOKEN: usize = 3;

/// Models in the order in which they are tried. The next one is called when a model cannot be reached, is slow, fails,
/// or refuses; question, seed, temperature and deadline stay the same.
#[derive(Clone)]
pub struct ChatChain {
    models: Vec<Arc<Model>>,
    counter: Arc<dyn TokenCounter + Send + Sync>,
    meter: CallMeter,
}

impl ChatChain {
    pub(super) fn new(models: Vec<Arc<Model>>, counter: Arc<dyn TokenCounter + Send + Sync>, meter: CallMeter) -> Self {
        Self { models, counter, meter }
    }

    /// The models, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &ModelName> {
        self.models.iter().map(|model| &model.name)
    }

    /// Whether one of the models writes `[N]` for `[^N]`.
    #[must_use]
    pub(crate) fn has_loose_markers(&self) -> bool {
        self.models.iter().any(|model| model.capabilities.loose_markers)
    }

    /// The models that can cite, in their order; `None` if there is none.
    #[must_use]
    pub(crate) fn citing(&self) -> Option<Self> {
        let models: Vec<_> = self.models.iter().filter(|model| model.capabilities.citations).cloned().collect();
        (!models.is_empty()).then(|| Self { models, ..self.clone() })
    }

    /// Whether one of its models has a price.
    #[must_use]
    pub(crate) fn has_price(&self) -> bool {
        self.most_cost(1, 1) > NanoUsd::ZERO
    }

    /// The most that a call may cost if every model of the list does the work and its reply is lost.
    #[must_use]
    pub(crate) fn most_cost(&self, prompt_tokens: u32, completion_tokens: u32) -> NanoUsd {
        let usage = Usage {
            prompt_tokens: u64::from(prompt_tokens),
            completion_tokens: u64::from(completion_tokens),
            is_estimated: true,
        };
        self.models.iter().map(|model| model.price.of(usage)).fold(NanoUsd::ZERO, NanoUsd::plus)
    }

    /// Returns one reply. Dropping the future ends the call.
    ///
    /// # Errors
    /// When no model answered: the failure of each.
    pub async fn complete(
        &self,
        request: &ChatRequest,
        allowance: Allowance<Chat>,
    ) -> Result<ChatReply, ProvidersUnavailable> {
        let mut failover = Failover::new(&self.models, request.deadline, self.meter.clone());
        while let Some(attempt) = failover.next(tokio::time::Instant::now()) {
            let ask = Prepared::new(&attempt.model, request);
            let reply = tokio::time::timeout_at(
                attempt.until,
                attempt
                    .model
                    .chat
                    .complete(ask.call(&attempt.model, allowance.completion_tokens()))
                    .instrument(attempt.span.clone()),
            );
            match reply.await.unwrap_or_else(|_| Err(attempt.timeout())) {
                Ok((text, _)) if request.format.is_some() && text.trim().is_empty() => {
                    let error =
                        attempt.model.chat.fail(ProviderErrorKind::InvalidReply, "the reply is empty".to_owned());
                    self.note_loss(&attempt.model, request, "", &error, &allowance);
                    failover.fail(&attempt, error, tokio::time::Instant::now());
                }
                Ok((text, end)) => {
                    attempt.model.note_success();
                    let answered = tokio::time::Instant::now();
                    let reply = self.reply(&attempt.model, request, text, end, failover.take_failed());
                    failover.note_answer(&attempt, &reply, answered);
                    allowance.settle(reply.usage, reply.cost);
                    return Ok(reply);
                }
                Err(error) => {
                    self.note_loss(&attempt.model, request, "", &error, &allowance);
                    failover.fail(&attempt, error, tokio::time::Instant::now());
                }
            }
        }
        allowance.give_up();
        Err(failover.unavailable())
    }

    /// Returns one reply piece by piece. When a model fails before the end of its reply, its pieces are declared void
    /// and the next model begins.
    #[must_use]
    pub fn stream(&self, request: ChatRequest, allowance: Allowance<Chat>) -> ChatStream {
        let failover = Failover::new(&self.models, request.deadline, self.meter.clone());
        stream::replies(self.clone(), failover, request, allowance)
    }

    /// A reply with its cost.
    pub(super) fn reply(
        &self,
        model: &Model,
        request: &ChatRequest,
        text: String,
        end: ReplyEnd,
        failed: Vec<super::FailedAttempt>,
    ) -> ChatReply {
        let usage = match end.usage {
            Some(usage) => Usage {
                prompt_tokens: usage.prompt_tokens,
                completion_tokens: usage.completion_tokens,
                is_estimated: false,
            },
            None => self.estimate(&request.messages, &text),
        };
        ChatReply {
            text,
            model: model.name.clone(),
            finish: end.finish,
            usage,
            cost: model.price.of(usage),
            sampling: sampling(model, request),
            has_loose_markers: model.capabilities.loose_markers,
            failed,
        }
    }

    /// Records the cost of an attempt that failed after it may have incurred one.
    pub(super) fn note_loss(
        &self,
        model: &Model,
        request: &ChatRequest,
        text: &str,
        error: &ProviderError,
        allowance: &Allowance<Chat>,
    ) {
        // A model that began to answer did the work, whatever its error reports.
        if error.kind.may_be_billed() || !text.is_empty() {
            let (usage, cost) = self.unfinished(model, request, text);
            allowance.add_lost_attempt(usage, cost);
        }
    }

    /// Usage and cost of an unfinished reply, estimated from its text.
    pub(super) fn unfinished(&self, model: &Model, request: &ChatRequest, text: &str) -> (Usage, NanoUsd) {
        let usage = self.estimate(&request.messages, text);
        (usage, model.price.of(usage))
    }

    fn estimate(&self, messages: &[Message], reply: &str) -> Usage {
        let prompt = messages.iter().map(|message| self.count(&message.content) + PER_MESSAGE).sum::<usize>();
        Usage {
            prompt_tokens: u64::try_from(prompt).unwrap_or(u64::MAX),
            completion_tokens: u64::try_from(self.count(reply)).unwrap_or(u64::MAX),
            is_estimated: true,
        }
    }

    fn count(&self, text: &str) -> usize {
        let foreign = text.chars().filter(|character| !character.is_ascii()).count();
        self.counter.count(text).max(foreign.div_ceil(FOREIGN_CHARACTERS_PER_TOKEN))
    }
}

fn sampling(model: &Model, request: &ChatRequest) -> Sampling {
    Sampling {
        temperature: model.capabilities.temperature_zero.then_some(request.temperature),
        seed: request.seed.filter(|_| model.capabilities.seed),
    }
}

/// A request in the form in which one model receives it.
pub(super) struct Prepared<'a> {
    request: &'a ChatRequest,
    /// Set if the model is constrained to a schema.
    instructed: Option<Vec<Message>>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(model: &Model, request: &'a ChatRequest) -> Self {
        let format = request.format.as_ref().filter(|_| model.capabilities.structured_output);
        Self { request, instructed: format.map(|format| format.instruct(&request.messages)) }
    }

    pub(crate) fn call(&self, model: &Model, completion_tokens: u32) -> WireCall<'_> {
        WireCall {
            messages: self.instructed.as_deref().unwrap_or(&self.request.messages),
            shared_bytes: self.request.shared_bytes,
            sampling: sampling(model, self.request),
            completion_tokens,
            format: self.request.format.as_ref().filter(|_| self.instructed.is_some()),
        }
    }
}
