//! The texts that vouch for words of an answer: its sources and the question.

use super::address;
use crate::citation::prepared::PreparedSource;

/// Texts that may hold words of an answer.
pub(super) struct Known<'s> {
    texts: Vec<&'s PreparedSource>,
}

impl<'s> Known<'s> {
    pub(super) fn new(texts: impl IntoIterator<Item = &'s PreparedSource>) -> Self {
        Self { texts: texts.into_iter().collect() }
    }

    /// Whether one of them holds a word or number with this stem.
    pub(super) fn holds(&self, stem: &str) -> bool {
        self.texts.iter().any(|text| text.parts().term(stem).is_some())
    }

    /// The same for a name, which may differ by a short ending.
    pub(super) fn holds_name(&self, stem: &str) -> bool {
        self.holds(stem) || self.texts.iter().any(|text| text.parts().holds_relative(stem))
    }

    /// Whether one of them holds an address.
    pub(super) fn holds_address(&self, address: &str) -> bool {
        let plain = address::plain(address);
        self.written().any(|text| address::holds(text, &plain))
    }

    /// Whether one of them holds these signs, however they are spaced.
    pub(super) fn holds_verbatim(&self, signs: &str) -> bool {
        let signs = spaced(signs);
        self.written().any(|text| text.contains(&signs) || spaced(text).contains(&signs))
    }

    fn written(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().flat_map(|text| [text.text(), text.context()])
    }
}

/// The text with one space between its words, and without the backslash of text that looks like a marker: quotations
/// of such text have one.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("\\[^", "[^")
}
