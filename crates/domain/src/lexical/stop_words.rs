//! Stop words: words so frequent that they do not indicate the subject of a text.
//!
//! The English list is the short one published with the Snowball stemmers
//! (<https://snowballstem.org/algorithms/english/stop.txt>, BSD-3-Clause, Martin Porter), which
//! already leaves out "us", "will" and other words with a second, meaningful life; claims have a few more. Entries
//! are in the form the analyzer compares: lower case, straight apostrophe. The lists of other languages are those of
//! NLTK, which come from Snowball too, with the words that ask; a language that has none goes without, since BM25
//! makes little of words that are everywhere.

use std::{collections::HashSet, ops::Range};

use self::Place::{Both, Claims, Index};
use super::{analyzer::folded, language::Language};
use crate::asking::languages;

/// Length in bytes of the longest entry. A longer word is not looked up at all.
const LONGEST: usize = 10;

/// Where a word counts as a stop word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the index and in questions only. In a claim it reverses the meaning ("not", "all"), or is rare enough to be
    /// checked against the source.
    Index,
    /// In a claim only: it has a second meaning ("can", "will") that a search may be about.
    Claims,
    /// In both.
    Both,
}

/// Sorted by byte value, for the binary search.
const ENGLISH: [(&str, Place); 190] = [
    ("a", Both),
    ("about", Both),
    ("above", Index),
    ("according", Claims),
    ("after", Both),
    ("again", Index),
    ("against", Index),
    ("all", Index),
    ("also", Claims),
    ("am", Both),
    ("an", Both),
    ("and", Both),
    ("any", Both),
    ("are", Both),
    ("aren't", Index),
    ("as", Both),
    ("at", Both),
    ("be", Both),
    ("because", Both),
    ("been", Both),
    ("before", Both),
    ("being", Both),
    ("below", Index),
    ("between", Both),
    ("both", Both),
    ("but", Both),
    ("by", Both),
    ("can", Claims),
    ("can't", Index),
    ("cannot", Index),
    ("could", Both),
    ("couldn't", Index),
    ("did", Both),
    ("didn't", Index),
    ("do", Both),
    ("does", Both),
    ("doesn't", Index),
    ("doing", Both),
    ("don't", Index),
    ("down", Both),
    ("during", Both),
    ("each", Both),
    ("few", Both),
    ("for", Both),
    ("from", Both),
    ("further", Both),
    ("had", Both),
    ("hadn't", Index),
    ("has", Both),
    ("hasn't", Index),
    ("have", Both),
    ("haven't", Index),
    ("having", Both),
    ("he", Both),
    ("he'd", Index),
    ("he'll", Index),
    ("he's", Index),
    ("her", Both),
    ("here", Both),
    ("here's", Index),
    ("hers", Both),
    ("herself", Index),
    ("him", Both),
    ("himself", Index),
    ("his", Both),
    ("how", Both),
    ("how's", Index),
    ("however", Claims),
    ("i", Both),
    ("i'd", Index),
    ("i'll", Index),
    ("i'm", Index),
    ("i've", Index),
    ("if", Both),
    ("in", Both),
    ("into", Both),
    ("is", Both),
    ("isn't", Index),
    ("it", Both),
    ("it's", Index),
    ("its", Both),
    ("itself", Both),
    ("just", Claims),
    ("let's", Index),
    ("may", Claims),
    ("me", Both),
    ("might", Claims),
    ("more", Both),
    ("most", Both),
    ("must", Claims),
    ("mustn't", Index),
    ("my", Both),
    ("myself", Index),
    ("no", Index),
    ("nor", Index),
    ("not", Index),
    ("of", Both),
    ("off", Both),
    ("on", Both),
    ("once", Both),
    ("one", Claims),
    ("only", Both),
    ("or", Both),
    ("other", Both),
    ("ought", Index),
    ("our", Both),
    ("ours", Both),
    ("ourselves", Index),
    ("out", Both),
    ("over", Both),
    ("own", Both),
    ("s", Claims),
    ("same", Both),
    ("shall", Claims),
    ("shan't", Index),
    ("she", Both),
    ("she'd", Index),
    ("she'll", Index),
    ("she's", Index),
    ("should", Both),
    ("shouldn't", Index),
    ("so", Both),
    ("some", Both),
    ("such", Both),
    ("than", Both),
    ("that", Both),
    ("that's", Index),
    ("the", Both),
    ("their", Both),
    ("theirs", Index),
    ("them", Both),
    ("themselves", Index),
    ("then", Both),
    ("there", Both),
    ("there's", Index),
    ("therefore", Claims),
    ("these", Both),
    ("they", Both),
    ("they'd", Index),
    ("they'll", Index),
    ("they're", Index),
    ("they've", Index),
    ("this", Both),
    ("those", Both),
    ("through", Both),
    ("thus", Claims),
    ("to", Both),
    ("too", Both),
    ("under", Both),
    ("until", Both),
    ("up", Both),
    ("upon", Claims),
    ("us", Claims),
    ("very", Both),
    ("was", Both),
    ("wasn't", Index),
    ("we", Both),
    ("we'd", Index),
    ("we'll", Index),
    ("we're", Index),
    ("we've", Index),
    ("were", Both),
    ("weren't", Index),
    ("what", Both),
    ("what's", Index),
    ("when", Both),
    ("when's", Index),
    ("where", Both),
    ("where's", Index),
    ("which", Both),
    ("while", Both),
    ("who", Both),
    ("who's", Index),
    ("whom", Both),
    ("why", Both),
    ("why's", Index),
    ("will", Claims),
    ("with", Both),
    ("won't", Index),
    ("would", Both),
    ("wouldn't", Index),
    ("you", Both),
    ("you'd", Index),
    ("you'll", Index),
    ("you're", Index),
    ("you've", Index),
    ("your", Both),
    ("yours", Both),
    ("yourself", Index),
    ("yourselves", Index),
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
        let asking = languages::words_of(language);
        Self::Folded(listed.iter().chain(asking).map(|word| folded(word)).collect())
    }

    /// Whether `word`, folded, is a stop word.
    pub(super) fn contains(&self, word: &str) -> bool {
        match self {
            Self::English => place_of(word).is_some_and(|place| place != Claims),
            Self::Folded(words) => words.contains(word),
        }
    }
}

/// Stop words that in capitals are abbreviations: of information technology, and of an autonomous system of networks.
const ABBREVIATIONS: [&str; 2] = ["AS", "IT"];

/// Whether the word at `range` is an abbreviation that looks like a stop word, as in "Who works in IT?". One of its
/// neighbours must hold a small letter, since whole lines are written in capitals too.
pub(super) fn is_abbreviation(text: &str, range: &Range<usize>) -> bool {
    let is_end = |sign: char| !sign.is_alphabetic();
    let holds_small = |word: &str| word.chars().any(char::is_lowercase);
    let word = text.get(range.clone()).unwrap_or_default();
    let before = text.get(..range.start).unwrap_or_default().rsplit(is_end).find(|word| !word.is_empty());
    let after = || text.get(range.end..).unwrap_or_default().split(is_end).find(|word| !word.is_empty());
    ABBREVIATIONS.contains(&word) && (before.is_some_and(holds_small) || after().is_some_and(holds_small))
}

/// Whether an English word, in lower case and with a straight apostrophe, carries little content in a claim.
pub(crate) fn is_empty_in_claims(word: &str) -> bool {
    place_of(word).is_some_and(|place| place != Index)
}

/// The lengths of the entries by the lowest bits of their first letter, a bit for each: rules out most words at a glance.
const LENGTHS: [u16; LETTERS] = lengths();

/// Number of distinct lowest five bits of a first letter. Others may look like it, which costs a search.
const LETTERS: usize = 32;

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which rejects a place that is not there")]
const fn lengths() -> [u16; LETTERS] {
    let mut lengths = [0; LETTERS];
    let mut at = 0;
    while at < ENGLISH.len() {
        let word = ENGLISH[at].0.as_bytes();
        lengths[word[0] as usize % LETTERS] |= 1 << word.len();
        at += 1;
    }
    lengths
}

fn place_of(word: &str) -> Option<Place> {
    let first = usize::from(*word.as_bytes().first()?) % LETTERS;
    if word.len() > LONGEST || LENGTHS.get(first)? & 1 << word.len() == 0 {
        return None;
    }
    let at = ENGLISH.binary_search_by_key(&word, |(listed, _)| listed).ok()?;
    ENGLISH.get(at).map(|(_, place)| *place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_sorted_distinct_and_within_the_length_bound() {
        assert!(ENGLISH.is_sorted_by(|(left, _), (right, _)| left < right));
        assert_eq!(ENGLISH.iter().map(|(word, _)| word.len()).max(), Some(LONGEST));
        assert!(ENGLISH.iter().all(|(word, place)| place_of(word) == Some(*place)), "none is ruled out by its length");
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

    #[test]
    fn what_turns_a_claim_round_counts_in_claims() {
        for word in ["not", "no", "all", "don't", "below"] {
            assert!(!is_empty_in_claims(word) && StopWords::English.contains(word), "{word}");
        }
        assert!(is_empty_in_claims("the") && is_empty_in_claims("may") && !is_empty_in_claims("leave"));
    }
}
