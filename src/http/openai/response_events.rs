//! The events of a streamed response, after the Open Responses specification.

use axum::response::sse::Event;
use serde::Serialize;
use serde_json::Value;

use super::{
    super::{answer::AnswerBody, reply::Delivered},
    error::OpenAiProblem,
    response::{MessageItem, ResponseBody, ResponseIdentity, TextAnnotation, TextPart},
    stream::Protocol,
};
use crate::{domain::budget::Spent, service::context::Context};

/// A response that is streamed in events.
pub(super) struct ResponseEvents {
    identity: ResponseIdentity,
    /// The message so far.
    delivered: Delivered,
    sequence_number: u64,
    context: Context,
}

/// An event: its name, its place in the stream, and its data.
#[derive(Serialize)]
struct EventData<'a, T> {
    #[serde(rename = "type")]
    name: &'a str,
    sequence_number: u64,
    #[serde(flatten)]
    data: T,
}

/// Data of an event about the whole response.
#[derive(Serialize)]
struct OfResponse {
    response: ResponseBody,
}

/// Data of an event about the only item.
#[derive(Serialize)]
struct OfItem<'a> {
    output_index: usize,
    item: &'a MessageItem,
}

/// Data of an event about the text of the only item.
#[derive(Serialize)]
struct OfText<T> {
    item_id: String,
    output_index: usize,
    content_index: usize,
    #[serde(flatten)]
    data: T,
}

#[derive(Serialize)]
struct Part<'a> {
    part: &'a TextPart,
}

#[derive(Serialize)]
struct Delta<'a> {
    delta: &'a str,
    logprobs: [Value; 0],
}

#[derive(Serialize)]
struct Done<'a> {
    text: &'a str,
    logprobs: [Value; 0],
}

#[derive(Serialize)]
struct Added {
    annotation_index: usize,
    annotation: TextAnnotation,
}

impl ResponseEvents {
    pub(super) fn new(identity: ResponseIdentity, context: Context) -> Self {
        Self { identity, delivered: Delivered::default(), sequence_number: 0, context }
    }

    fn event(&mut self, name: &str, data: impl Serialize) -> Option<Event> {
        let data = EventData { name, sequence_number: self.sequence_number, data };
        self.sequence_number += 1;
        Event::default().event(name).json_data(data).ok()
    }

    fn response(&mut self, name: &str, response: ResponseBody) -> Option<Event> {
        self.event(name, OfResponse { response })
    }

    fn item(&mut self, name: &str, item: &MessageItem) -> Option<Event> {
        self.event(name, OfItem { output_index: 0, item })
    }

    fn text(&mut self, name: &str, data: impl Serialize) -> Option<Event> {
        let item_id = self.identity.message_id();
        self.event(name, OfText { item_id, output_index: 0, content_index: 0, data })
    }

    /// All events of a reply that was made by rule.
    pub(super) fn of_reply(mut self, reply: Delivered) -> Vec<Event> {
        let mut events = self.start();
        events.extend(self.words(reply));
        events.extend(self.completed(&Spent::default(), None));
        events
    }

    /// The last events, with the answer that the message was made of.
    fn completed(&mut self, spent: &Spent, cited: Option<AnswerBody>) -> Vec<Event> {
        let message = MessageItem::new(&self.identity, std::mem::take(&mut self.delivered));
        let mut events = Vec::new();
        if let Some(part) = message.part() {
            events.extend(self.text("response.output_text.done", Done { text: part.text(), logprobs: [] }));
            events.extend(self.text("response.content_part.done", Part { part }));
        }
        events.extend(self.item("response.output_item.done", &message));
        let completed_at = self.context.clock.now().unix_timestamp();
        let completed = ResponseBody::begun(&self.identity).completed(message, completed_at, spent);
        events.extend(self.response("response.completed", completed.of(cited)));
        events.push(done());
        events
    }
}

impl Protocol for ResponseEvents {
    fn start(&mut self) -> Vec<Event> {
        let begun = || ResponseBody::begun(&self.identity);
        let (created, in_progress) = (begun(), begun());
        let item = MessageItem::begun(&self.identity);
        let events = [
            self.response("response.created", created),
            self.response("response.in_progress", in_progress),
            self.item("response.output_item.added", &item),
            self.text("response.content_part.added", Part { part: &TextPart::default() }),
        ];
        events.into_iter().flatten().collect()
    }

    fn words(&mut self, more: Delivered) -> Vec<Event> {
        let mut events = Vec::new();
        if !more.text.is_empty() {
            events.extend(self.text("response.output_text.delta", Delta { delta: &more.text, logprobs: [] }));
        }
        let known = self.delivered.annotations.len();
        for (place, annotation) in more.annotations.iter().enumerate() {
            let added = Added { annotation_index: known + place, annotation: annotation.clone().into() };
            events.extend(self.text("response.output_text.annotation.added", added));
        }
        self.delivered.extend(more);
        events
    }

    fn end(&mut self, spent: Spent, cited: AnswerBody) -> Vec<Event> {
        self.completed(&spent, Some(cited))
    }

    fn error(&mut self, problem: OpenAiProblem) -> Vec<Event> {
        let message = MessageItem::broken_off(&self.identity);
        let failed = ResponseBody::begun(&self.identity).failed(message, problem);
        self.response("response.failed", failed).into_iter().chain([done()]).collect()
    }
}

/// The end of the stream.
fn done() -> Event {
    Event::default().data("[DONE]")
}
