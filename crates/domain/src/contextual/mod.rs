//! Contextual chunks: a model writes a sentence that relates a chunk to its document.
//!
//! "Revenue grew by 3 %" does not say whose revenue, nor when. A sentence that does is put in front, embedded and
//! indexed with the chunk, as its title and headings are, and never quoted: citations quote only the document. After
//! <https://www.anthropic.com/engineering/contextual-retrieval> (2024).

mod excerpt;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use excerpt::{Excerpt, excerpts};

use super::{
    fingerprint::{Hash, fingerprint},
    split::{TokenCounter, Window, first_words},
    unseen::seen,
};

/// Raised with the prompt: sentences written for another version are not used again.
const PROMPT_VERSION: &[u8] = b"1";
/// Most tokens of a sentence: two long ones.
const MOST_TOKENS: usize = 96;
/// Divisor of the embedder's window: a sentence takes at most this part of it.
const SHARE_OF_WINDOW: usize = 4;
/// Quotation marks that models put around an answer.
const QUOTES: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('“', '”'), ('«', '»')];

/// The handling of a chunk whose sentence cannot be produced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// It is indexed without one.
    #[default]
    KeepOriginal,
    /// It is left out of the index.
    Skip,
    /// Its document fails.
    Abort,
}

/// The settings by which a collection has sentences written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Contextual {
    /// The handling of a chunk whose sentence cannot be produced.
    pub on_failure: OnFailure,
}

/// The window that remains for titles, headings and pieces next to a sentence.
#[must_use]
pub fn beside_sentence(window: Window) -> Window {
    Window { tokens: window.tokens.saturating_sub(room(window)), ..window }
}

/// A sentence cut at a word, so that it fits its part of the window.
#[must_use]
pub fn fit<'s>(sentence: &'s str, window: Window, counter: &dyn TokenCounter) -> &'s str {
    first_words(sentence, room(window), counter)
}

const fn room(window: Window) -> usize {
    let share = window.tokens.saturating_sub(window.special_tokens) / SHARE_OF_WINDOW;
    if share < MOST_TOKENS { share } else { MOST_TOKENS }
}

/// The input that a sentence is written for.
#[derive(Clone, Copy, Debug)]
pub struct Occasion<'o> {
    /// Hash that identifies the models that write the sentence.
    pub models: &'o Hash,
    /// The document's title, as it is embedded.
    pub title: &'o str,
    /// Headings above the piece.
    pub heading_path: &'o [String],
    /// The piece.
    pub piece: &'o str,
    /// Number of identical pieces before it in the document.
    pub earlier: u32,
}

impl Occasion<'_> {
    /// The key under which the sentence is stored. Within a document, and within documents of the same bytes, a
    /// sentence is valid for all occasions with the same key; in other documents, the same piece is about something
    /// else.
    #[must_use]
    pub fn key(&self) -> Hash {
        let mut parts: Vec<&[u8]> = vec![PROMPT_VERSION, self.models, self.title.as_bytes(), self.piece.as_bytes()];
        let earlier = self.earlier.to_le_bytes();
        parts.push(&earlier);
        parts.extend(self.heading_path.iter().map(String::as_bytes));
        fingerprint(&parts)
    }
}

/// Extracts the sentence from a model's reply: on one line, without unseen characters and one layer of quotes.
/// Returns `None` if the reply has no text.
#[must_use]
pub fn read_reply(reply: &str) -> Option<String> {
    let visible = seen(&reply.replace(char::is_control, " "));
    let trimmed = visible.trim();
    let unquoted =
        QUOTES.iter().find_map(|(open, close)| trimmed.strip_prefix(*open)?.strip_suffix(*close)).unwrap_or(trimmed);
    let sentence = unquoted.split_whitespace().collect::<Vec<_>>().join(" ");
    sentence.chars().any(char::is_alphanumeric).then_some(sentence)
}
