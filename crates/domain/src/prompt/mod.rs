//! Prompts: text files rendered into role-tagged messages.
//!
//! Instructions are in `*.txt` files in this folder and go into the system message, which holds no source text and no
//! text sent by a caller. Sources and questions go into user messages, inside tags that their content cannot end or
//! imitate (see [`fence`]). What is sent has a [`Nonce`] in each of them.

pub mod answer;
pub mod condense;
pub mod context;
pub mod fence;
pub mod grade;
pub mod instructions;
mod nonce;
pub mod plan;
pub mod rewrite;
pub mod tokens;
pub mod verify;

use serde::{Deserialize, Serialize};

pub use nonce::Nonce;

use super::fingerprint::fingerprint;

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The service's own instructions.
    System,
    /// Question and sources, or the validator's findings.
    User,
    /// The model's earlier reply.
    Assistant,
}

/// One message of a conversation with a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The role.
    pub role: Role,
    /// The text of the message.
    pub content: String,
}

impl Message {
    /// A message of the service's instructions.
    #[must_use]
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: Role::System, content: content.into() }
    }

    /// A message with question and sources.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// A message that the model wrote.
    #[must_use]
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// The JSON format of a reply, for models that support structured output.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyFormat {
    /// Name of the schema.
    pub name: &'static str,
    /// JSON schema of an object; all its members are required and no others allowed, as providers demand.
    pub schema: serde_json::Value,
    /// The prompt's own description of the reply: the last paragraph of its instructions.
    pub described: &'static str,
    /// The description that replaces it: a model that is told of two formats follows either.
    pub instruction: &'static str,
}

impl ReplyFormat {
    /// The conversation with this description of the reply in its system message.
    #[must_use]
    pub fn instruct(&self, messages: &[Message]) -> Vec<Message> {
        let mut instructed = messages.to_vec();
        if let Some(system) = instructed.iter_mut().find(|message| message.role == Role::System) {
            system.content = system.content.replacen(self.described, self.instruction, 1);
        }
        instructed
    }
}

/// The last paragraph of instructions.
fn last_paragraph(instructions: &'static str) -> &'static str {
    let instructions = instructions.trim_end();
    instructions.rsplit_once("\n\n").map_or(instructions, |(_, last)| last)
}

/// A passage as a prompt shows it. Its number is its place in the list, from 1. Whatever is empty is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Source<'s> {
    /// Citation URN of the passage.
    pub urn: &'s str,
    /// Title of its document.
    pub title: &'s str,
    /// Name of its document, such as a path: documents of one title differ by it.
    pub file: &'s str,
    /// Headings above it, outermost first.
    pub headings: &'s [String],
    /// Header of the table whose rows it begins with.
    pub table_header: &'s str,
    /// Text of the passage.
    pub text: &'s str,
    /// Sentence by a model that relates the passage to its document. Only for prompts that judge passages: a model that
    /// writes the answer would quote it.
    pub context: &'s str,
}

/// Seed of a conversation: equal conversations, that is equal question and equal sources, get equal seeds. It fits the
/// signed 64 bits that providers take, and the 53 that survive JSON numbers everywhere.
#[must_use]
pub fn seed_of(messages: &[Message]) -> u64 {
    let first: Vec<&[u8]> = messages.iter().take(2).map(|message| message.content.as_bytes()).collect();
    let mut bytes = [0; 8];
    for (byte, hashed) in bytes.iter_mut().skip(2).zip(fingerprint(&first)) {
        *byte = hashed;
    }
    u64::from_be_bytes(bytes)
}

/// The fenced question and sources, in this order: a model remembers best the text that comes last.
fn question_and_sources(question: &str, sources: &[Source<'_>]) -> String {
    let mut rendered = fence::question(question);
    push_sources(&mut rendered, sources);
    rendered
}

fn push_sources(rendered: &mut String, sources: &[Source<'_>]) {
    for (number, source) in (1..).zip(sources) {
        rendered.push('\n');
        fence::push_source(rendered, number, *source);
    }
}

#[cfg(test)]
mod tests;
