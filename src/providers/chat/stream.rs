//! A reply piece by piece, from the first model of a chain that answers.

use futures::{StreamExt, stream};
use tokio::time::Instant;
use tracing::Instrument;

use super::{
    ChatChain, ChatEvent, ChatRequest, ChatStream, ReplyEnd, ReplyPart, ReplyParts,
    chain::Prepared,
    failover::{Attempt, Failover},
};
use crate::{
    domain::budget::{Allowance, Chat},
    providers::{FailedAttempt, ProviderError, ProviderErrorKind, ProvidersUnavailable},
};

/// The stream of a call: it begins with the first model that sends text.
pub(super) fn replies(
    chain: ChatChain,
    failover: Failover,
    request: ChatRequest,
    allowance: Allowance<Chat>,
) -> ChatStream {
    let relay = Relay { chain, failover, request, allowance: Some(allowance), reading: None };
    stream::unfold(Some(relay), |relay| async {
        let mut relay = relay?;
        let event = relay.next().await;
        let is_last = matches!(event, Ok(ChatEvent::Done(_)) | Err(_));
        Some((event, (!is_last).then_some(relay)))
    })
    .boxed()
}

/// Forwards a reply to the caller.
struct Relay {
    chain: ChatChain,
    failover: Failover,
    request: ChatRequest,
    /// Taken when the call is settled.
    allowance: Option<Allowance<Chat>>,
    reading: Option<Reading>,
}

/// A reply that has begun.
struct Reading {
    attempt: Attempt,
    parts: ReplyParts,
    /// First event, read already to know that the reply has begun.
    first: Option<ReplyPart>,
    text: String,
}

impl Relay {
    async fn next(&mut self) -> Result<ChatEvent, ProvidersUnavailable> {
        let Some(reading) = &mut self.reading else { return self.begin().await };
        let part = if let Some(first) = reading.first.take() {
            Ok(first)
        } else {
            self.failover.wait_for_more(&mut reading.attempt, Instant::now());
            tokio::time::timeout_at(reading.attempt.until, next_part(&mut reading.parts, &reading.attempt))
                .await
                .unwrap_or_else(|_| Err(reading.attempt.timeout()))
        };
        let outcome = match part {
            Ok(ReplyPart::Text(text)) => {
                reading.text.push_str(&text);
                return Ok(ChatEvent::Delta(text));
            }
            Ok(ReplyPart::End(end)) => Ok(end),
            Err(error) => Err(error),
        };
        let Reading { attempt, text, .. } = self.reading.take().expect("it was being read just now");
        Ok(match outcome {
            Ok(end) => self.finish(&attempt, text, end),
            Err(error) => ChatEvent::Void(self.fail(&attempt, &text, error)),
        })
    }

    /// Calls the models one after the other until one sends text.
    async fn begin(&mut self) -> Result<ChatEvent, ProvidersUnavailable> {
        let completion_tokens = self.allowance.as_ref().map_or(0, Allowance::completion_tokens);
        while let Some(attempt) = self.failover.next(Instant::now()) {
            let opened = tokio::time::timeout_at(
                attempt.until,
                open(&attempt, &self.request, completion_tokens).instrument(attempt.span.clone()),
            );
            match opened.await.unwrap_or_else(|_| Err(attempt.timeout())) {
                Ok((first, parts)) => {
                    let started = ChatEvent::Started(attempt.model.name.clone());
                    self.reading = Some(Reading { attempt, parts, first: Some(first), text: String::new() });
                    return Ok(started);
                }
                Err(error) => {
                    self.fail(&attempt, "", error);
                }
            }
        }
        if let Some(allowance) = self.allowance.take() {
            allowance.give_up();
        }
        Err(self.failover.unavailable())
    }

    fn finish(&mut self, attempt: &Attempt, text: String, end: ReplyEnd) -> ChatEvent {
        attempt.model.note_success();
        let failed = self.failover.take_failed();
        let answered = Instant::now();
        let reply = self.chain.reply(&attempt.model, &self.request, text, end, failed);
        self.failover.note_answer(attempt, &reply, answered);
        if let Some(allowance) = self.allowance.take() {
            allowance.settle(reply.usage, reply.cost);
        }
        ChatEvent::Done(Box::new(reply))
    }

    fn fail(&mut self, attempt: &Attempt, text: &str, error: ProviderError) -> FailedAttempt {
        if let Some(allowance) = &self.allowance {
            self.chain.note_loss(&attempt.model, &self.request, text, &error, allowance);
        }
        self.failover.fail(attempt, error, Instant::now())
    }
}

impl Drop for Relay {
    /// A caller that drops the stream is charged for the text received so far.
    fn drop(&mut self) {
        if let (Some(allowance), Some(reading)) = (self.allowance.take(), &self.reading) {
            let (usage, cost) = self.chain.unfinished(&reading.attempt.model, &self.request, &reading.text);
            self.failover.note_abandoned(&reading.attempt, usage, cost);
            allowance.settle(usage, cost);
        }
    }
}

/// Calls one model; returns its first piece and the rest of the reply.
async fn open(
    attempt: &Attempt,
    request: &ChatRequest,
    completion_tokens: u32,
) -> Result<(ReplyPart, ReplyParts), ProviderError> {
    let prepared = Prepared::new(&attempt.model, request);
    let call = prepared.call(&attempt.model, completion_tokens);
    let mut parts = if attempt.model.capabilities.streaming {
        attempt.model.chat.stream(call).await?
    } else {
        let (text, end) = attempt.model.chat.complete(call).await?;
        whole(text, end)
    };
    let first = next_part(&mut parts, attempt).await?;
    Ok((first, parts))
}

/// Converts a whole reply into the pieces of a streamed one.
pub(in crate::providers) fn whole(text: String, end: ReplyEnd) -> ReplyParts {
    let text = (!text.is_empty()).then_some(ReplyPart::Text(text));
    stream::iter(text.into_iter().chain([ReplyPart::End(end)]).map(Ok)).boxed()
}

async fn next_part(parts: &mut ReplyParts, attempt: &Attempt) -> Result<ReplyPart, ProviderError> {
    match parts.next().await {
        Some(part) => part,
        None => Err(attempt.model.chat.fail(ProviderErrorKind::Interrupted, "the reply broke off".to_owned())),
    }
}
