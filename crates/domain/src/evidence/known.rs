//! The words of a question, which an answer to it goes beyond.

use std::collections::HashSet;

use super::{kind, names};

/// The words of a question, read once for all sentences that may answer it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct KnownWords {
    /// The question.
    pub(super) text: String,
    /// Its words and numbers in lower case, as [`kind`] reads them.
    words: HashSet<String>,
    /// Its words in lower case as [`names`] reads them.
    names: HashSet<String>,
}

impl KnownWords {
    pub(crate) fn of(question: &str) -> Self {
        Self {
            text: question.to_owned(),
            words: kind::words(&question.to_lowercase()).map(str::to_owned).collect(),
            names: names::words(question).map(|(word, _)| word.to_lowercase()).collect(),
        }
    }

    /// Whether the question has a word, in whatever case.
    pub(super) fn hold(&self, word: &str) -> bool {
        self.words.contains(&word.to_lowercase())
    }

    /// The same of a word in lower case.
    pub(super) fn hold_lower_case(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Whether the question has a word of a name, in whatever case.
    pub(super) fn hold_of_name(&self, word: &str) -> bool {
        self.names.contains(&word.to_lowercase())
    }
}
