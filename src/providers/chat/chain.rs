//! Models in the order in which they are tried, and what a call to them uses.

use std::sync::Arc;

use super::{
    ChatReply, ChatRequest, ChatStream, ModelName, ReplyEnd, Sampling, WireCall, course::Course, models::Model, stream,
};
use crate::{
    domain::{
        budget::{Allowance, Chat, Usage},
        cost::NanoUsd,
        prompt::Message,
        split::TokenCounter,
    },
    providers::{ProviderError, ProvidersUnavailable},
};

/// Tokens that a message costs beyond its text: role and delimiters of the chat template.
const PER_MESSAGE: usize = 4;
/// Characters beyond ASCII that a token holds at most. The counter takes a word in a script that it
/// does not know for one token, however long it is.
const FOREIGN_CHARACTERS_PER_TOKEN: usize = 3;

/// Models in the order in which they are tried. A later one is asked when an earlier one cannot be
/// reached, is slow, fails, or refuses; question, seed, temperature and deadline stay the same.
#[derive(Clone)]
pub struct ChatChain {
    models: Vec<Arc<Model>>,
    counter: Arc<dyn TokenCounter + Send + Sync>,
}

impl ChatChain {
    pub(super) fn new(models: Vec<Arc<Model>>, counter: Arc<dyn TokenCounter + Send + Sync>) -> Self {
        Self { models, counter }
    }

    /// The models, in order.
    pub fn names(&self) -> impl Iterator<Item = &ModelName> {
        self.models.iter().map(|model| &model.name)
    }

    /// Those of the models that can cite, in their order; `None` if there is none.
    #[must_use]
    pub fn citing(&self) -> Option<Self> {
        let models: Vec<_> = self.models.iter().filter(|model| model.capabilities.citations).cloned().collect();
        (!models.is_empty()).then(|| Self { models, counter: Arc::clone(&self.counter) })
    }

    /// The most that a call may cost when every model of the list does the work and is lost.
    #[must_use]
    pub fn most_cost(&self, prompt_tokens: u32, completion_tokens: u32) -> NanoUsd {
        let usage = Usage {
            prompt_tokens: u64::from(prompt_tokens),
            completion_tokens: u64::from(completion_tokens),
            is_estimated: true,
        };
        self.models.iter().map(|model| model.price.of(usage)).fold(NanoUsd::ZERO, NanoUsd::plus)
    }

    /// One reply. Dropping the future ends the call.
    ///
    /// # Errors
    /// When no model answered: what happened to each.
    pub async fn complete(
        &self,
        request: &ChatRequest,
        allowance: Allowance<Chat>,
    ) -> Result<ChatReply, ProvidersUnavailable> {
        let mut course = Course::new(&self.models, request.deadline);
        while let Some(turn) = course.next(tokio::time::Instant::now()) {
            let ask = Prepared::new(&turn.model, request);
            let attempt = tokio::time::timeout_at(
                turn.until,
                turn.model.chat.complete(ask.call(&turn.model, allowance.completion_tokens())),
            );
            match attempt.await.unwrap_or_else(|_| Err(turn.timeout())) {
                Ok((text, end)) => {
                    turn.model.note_success();
                    let reply = self.reply(&turn.model, request, text, end, course.take_failed());
                    allowance.settle(reply.usage, reply.cost);
                    return Ok(reply);
                }
                Err(error) => {
                    self.note_loss(&turn.model, request, "", &error, &allowance);
                    course.fail(&turn, error, tokio::time::Instant::now());
                }
            }
        }
        allowance.give_up();
        Err(course.unavailable())
    }

    /// One reply piece by piece. When a model fails on its way, its pieces are declared void and the
    /// next one begins.
    #[must_use]
    pub fn stream(&self, request: ChatRequest, allowance: Allowance<Chat>) -> ChatStream {
        let course = Course::new(&self.models, request.deadline);
        stream::replies(self.clone(), course, request, allowance)
    }

    /// A reply with what it cost.
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
            failed,
        }
    }

    /// Books an attempt that failed after it may have cost something.
    pub(super) fn note_loss(
        &self,
        model: &Model,
        request: &ChatRequest,
        text: &str,
        error: &ProviderError,
        allowance: &Allowance<Chat>,
    ) {
        // Whoever began to answer did the work, whatever it says of it.
        if error.kind.may_be_billed() || !text.is_empty() {
            let (usage, cost) = self.unfinished(model, request, text);
            allowance.add_lost_attempt(usage, cost);
        }
    }

    /// What an unfinished reply cost, as far as can be told.
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

/// A request as one model is asked it.
pub(super) struct Prepared<'a> {
    request: &'a ChatRequest,
    /// Set where the model is held to a schema.
    instructed: Option<Vec<Message>>,
}

impl<'a> Prepared<'a> {
    pub fn new(model: &Model, request: &'a ChatRequest) -> Self {
        let format = request.format.as_ref().filter(|_| model.capabilities.structured_output);
        Self { request, instructed: format.map(|format| format.instruct(&request.messages)) }
    }

    pub fn call(&self, model: &Model, completion_tokens: u32) -> WireCall<'_> {
        WireCall {
            messages: self.instructed.as_deref().unwrap_or(&self.request.messages),
            shared_bytes: self.request.shared_bytes,
            sampling: sampling(model, self.request),
            completion_tokens,
            format: self.request.format.as_ref().filter(|_| self.instructed.is_some()),
        }
    }
}
