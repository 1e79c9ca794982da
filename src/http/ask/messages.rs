//! The messages of a conversation in the request body of an ask.

use serde::Deserialize;
use utoipa::ToSchema;

use super::super::fields::{Faults, MAX_MESSAGES};
use crate::domain::conversation::{Speaker, Turn};

/// A message of a conversation.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Message, example = json!({"role": "user", "content": "How many days of paid leave do I have?"}))]
pub(in crate::http) struct MessageBody {
    /// Author of the message.
    role: RoleBody,
    /// Text of the message. Citation markers in it count for nothing.
    #[schema(max_length = 32_768)]
    content: String,
}

/// Author of a message.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = MessageRole)]
pub(in crate::http) enum RoleBody {
    /// The one who asks.
    User,
    /// The one who answered.
    Assistant,
    /// Instructions to the assistant. They are not followed: the warning `instructions_ignored` says so.
    System,
}

impl MessageBody {
    /// A message.
    pub(in crate::http) const fn new(role: RoleBody, content: String) -> Self {
        Self { role, content }
    }

    /// Whether the user wrote it.
    pub(in crate::http) fn is_of_user(&self) -> bool {
        self.role == RoleBody::User
    }
}

/// A conversation with the parameters that chat clients send beside it.
#[derive(Debug, Default)]
pub(in crate::http) struct ChatTurn {
    /// The messages, the user's question last.
    pub(in crate::http) messages: Vec<MessageBody>,
    /// Collections that the answer may come from.
    pub(in crate::http) collections: Vec<String>,
    pub(in crate::http) temperature: Option<f32>,
    pub(in crate::http) seed: Option<u64>,
    pub(in crate::http) max_completion_tokens: Option<u32>,
}

/// The question, and the messages before it.
pub(super) struct Conversation {
    pub(super) question: String,
    pub(super) history: Vec<Turn>,
    pub(super) has_instructions: bool,
}

/// Takes apart a request's question and messages. A last message of the user is what is asked, unless there is a question
/// beside it that says something else.
pub(super) fn read(question: Option<String>, mut messages: Vec<MessageBody>, faults: &mut Faults) -> Conversation {
    if messages.len() > MAX_MESSAGES {
        faults.add("/messages", format!("at most {MAX_MESSAGES} messages; leave out the oldest"));
    }
    for (place, message) in messages.iter().enumerate() {
        faults.message(&format!("/messages/{place}/content"), &message.content);
    }
    let last = messages.pop_if(|last| {
        let is_asked = question.as_ref().is_none_or(|question| question.trim() == last.content.trim());
        last.role == RoleBody::User && is_asked
    });
    let question = match (question, last) {
        (Some(question), _) => {
            faults.question("/question", &question);
            question
        }
        (None, Some(last)) => {
            faults.question(&format!("/messages/{}/content", messages.len()), &last.content);
            last.content
        }
        (None, None) => {
            match messages.len().checked_sub(1) {
                Some(place) => faults.add(
                    format!("/messages/{place}/role"),
                    "the last message must be the user's, unless there is a question beside the messages",
                ),
                None => faults.add("/question", "is needed, or messages that end with one of the user"),
            }
            String::new()
        }
    };
    let has_instructions = messages.iter().any(|message| message.role == RoleBody::System);
    let turn = |MessageBody { role, content }: MessageBody| {
        let speaker = match role {
            RoleBody::User => Speaker::User,
            RoleBody::Assistant => Speaker::Assistant,
            RoleBody::System => return None,
        };
        Some(Turn { speaker, text: content })
    };
    Conversation { question, history: messages.into_iter().filter_map(turn).collect(), has_instructions }
}
