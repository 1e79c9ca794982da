//! Stop words: words so frequent that they say nothing about what a text is about.
//!
//! The English list is the short one published with the Snowball stemmers
//! (<https://snowballstem.org/algorithms/english/stop.txt>, BSD-3-Clause, Martin Porter), which
//! already leaves out "us", "will" and other words with a second, meaningful life. Entries are in
//! the form the analyzer compares: lower case, straight apostrophe. The lists of other languages are those of
//! NLTK, which come from Snowball too; a language that has none goes without, since BM25 makes little of
//! words that are everywhere.

use std::collections::HashSet;

use super::{analyzer::folded, language::Language};

/// Length in bytes of the longest entry; a longer word is not looked up at all.
const LONGEST: usize = 10;

/// Sorted by byte value: [`is_stop_word`] searches by halves.
const STOP_WORDS: [&str; 174] = [
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "am",
    "an",
    "and",
    "any",
    "are",
    "aren't",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can't",
    "cannot",
    "could",
    "couldn't",
    "did",
    "didn't",
    "do",
    "does",
    "doesn't",
    "doing",
    "don't",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "hadn't",
    "has",
    "hasn't",
    "have",
    "haven't",
    "having",
    "he",
    "he'd",
    "he'll",
    "he's",
    "her",
    "here",
    "here's",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "how's",
    "i",
    "i'd",
    "i'll",
    "i'm",
    "i've",
    "if",
    "in",
    "into",
    "is",
    "isn't",
    "it",
    "it's",
    "its",
    "itself",
    "let's",
    "me",
    "more",
    "most",
    "mustn't",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "ought",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "same",
    "shan't",
    "she",
    "she'd",
    "she'll",
    "she's",
    "should",
    "shouldn't",
    "so",
    "some",
    "such",
    "than",
    "that",
    "that's",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "there's",
    "these",
    "they",
    "they'd",
    "they'll",
    "they're",
    "they've",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "very",
    "was",
    "wasn't",
    "we",
    "we'd",
    "we'll",
    "we're",
    "we've",
    "were",
    "weren't",
    "what",
    "what's",
    "when",
    "when's",
    "where",
    "where's",
    "which",
    "while",
    "who",
    "who's",
    "whom",
    "why",
    "why's",
    "with",
    "won't",
    "would",
    "wouldn't",
    "you",
    "you'd",
    "you'll",
    "you're",
    "you've",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// The stop words of a language.
pub(super) enum StopWords {
    English,
    Folded(HashSet<String>),
}

impl StopWords {
    pub(super) fn of(language: Language) -> Self {
        if language == Language::English {
            return Self::English;
        }
        let listed = stop_words::lookup(language.code()).unwrap_or_default();
        Self::Folded(listed.iter().map(|word| folded(word)).collect())
    }

    /// Whether `word`, folded, is one of them.
    pub(super) fn contains(&self, word: &str) -> bool {
        match self {
            Self::English => word.len() <= LONGEST && STOP_WORDS.binary_search(&word).is_ok(),
            Self::Folded(words) => words.contains(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_sorted_distinct_and_within_the_length_bound() {
        assert!(STOP_WORDS.is_sorted_by(|left, right| left < right));
        assert_eq!(STOP_WORDS.iter().map(|word| word.len()).max(), Some(LONGEST));
    }

    #[test]
    fn other_languages_have_theirs_without_accents() {
        let german = StopWords::of(Language::German);
        assert!(german.contains("fur") && german.contains("und") && !german.contains("the"));
        assert!(!StopWords::of(Language::None).contains("the"));
    }

    #[test]
    fn content_words_stay() {
        for word in ["us", "will", "leave", "can", "", "yourselvess"] {
            assert!(!StopWords::English.contains(word), "{word}");
        }
        assert!(StopWords::English.contains("the") && StopWords::English.contains("don't"));
    }
}
