//! The conversation that asks a model how a passage relates to its document.
//!
//! Everything but the passage is identical, byte for byte, for all passages that are shown with the same part of the
//! document, and precedes the passage: providers that cache prompts need not read it again.
//! The reply is read by [`crate::contextual::read_reply`].

use std::{fmt::Write as _, ops::Range};

use super::{Message, fence, tokens};

/// The instructions: fixed text, the same for every document.
pub const SYSTEM: &str = include_str!("context.txt");

/// Marks the omitted parts of a document.
const GAP: &str = "\n[…]\n";

/// The common part of the conversations about the passages of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    document: String,
    /// Estimated tokens of instructions and document.
    tokens: u32,
}

impl Shared {
    /// The common part for passages of these parts (byte ranges, in order) of a document; the title may be empty.
    #[must_use]
    pub fn new(title: &str, text: &str, parts: &[Range<usize>]) -> Self {
        let mut document = String::from("<source");
        if !title.trim().is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(document, " title=\"{}\"", fence::attribute(title.trim()));
        }
        document.push_str(">\n");
        let shown: Vec<&str> = parts.iter().filter_map(|part| text.get(part.clone())).map(str::trim).collect();
        let is_cut_before = parts.first().is_some_and(|part| part.start > 0);
        let is_cut_after = parts.last().is_some_and(|part| part.end < text.len());
        document.push_str(if is_cut_before { GAP.trim_start() } else { "" });
        document.push_str(&fence::neutralise(&shown.join(GAP)));
        document.push_str(if is_cut_after { GAP.trim_end() } else { "" });
        document.push_str("\n</source>\n");
        let tokens = tokens::estimate_messages(&[Message::system(SYSTEM.trim_end()), Message::user(document.as_str())]);
        Self { document, tokens }
    }

    /// The conversation about a passage. Its last message begins with [`Self::bytes`] bytes that all have in common.
    #[must_use]
    pub fn messages(&self, passage: &str) -> Vec<Message> {
        vec![Message::system(SYSTEM.trim_end()), Message::user(format!("{}{}", self.document, fenced(passage)))]
    }

    /// Bytes at the beginning of the last message that all conversations have in common.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.document.len()
    }

    /// Estimated tokens of the conversation about a passage.
    #[must_use]
    pub fn tokens(&self, passage: &str) -> u32 {
        self.tokens.saturating_add(tokens::estimate(&fenced(passage)))
    }
}

/// Estimated tokens of a text as part of a document.
#[must_use]
pub fn cost(text: &str) -> u32 {
    tokens::estimate(&fence::neutralise(text))
}

/// Tokens that a conversation takes in addition to document and passage, for this title.
#[must_use]
pub fn overhead(title: &str) -> u32 {
    Shared::new(title, "..", &[0..1, 1..2]).tokens("")
}

fn fenced(passage: &str) -> String {
    format!("<source_passage>\n{}\n</source_passage>\n", fence::neutralise(passage.trim()))
}
