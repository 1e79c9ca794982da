//! Words that reverse a statement (negations, opposites, quantifiers), and those of numbers. English only.
//!
//! The grader uses them to compare a question with a sentence, the support scorer to compare a claim with its source.

use std::{borrow::Cow, collections::BTreeSet};

use frostem::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// Words that deny what follows them. Sorted, for the binary search.
const NEGATIONS: [&str; 12] =
    ["cannot", "except", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "nowhere", "without"];

/// Most words of a name before its value.
pub(crate) const MOST_OF_NAME: usize = 3;

/// Numbers below twenty, each at the place of its value.
pub(crate) const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

/// The tens from twenty on.
pub(crate) const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// Pairs of opposites of which a statement holds one or the other, as stems; "before" unstemmed, because claims keep
/// their stop words unstemmed.
const OPPOSITES: [(&str, &str); 58] = [
    ("abov", "below"),
    ("accept", "reject"),
    ("after", "before"),
    ("allow", "forbid"),
    ("allow", "prohibit"),
    ("begin", "end"),
    ("best", "worst"),
    ("buy", "sell"),
    ("connect", "disconnect"),
    ("dead", "aliv"),
    ("decreas", "increas"),
    ("differ", "same"),
    ("disabl", "enabl"),
    ("earli", "late"),
    ("earlier", "later"),
    ("east", "west"),
    ("eastern", "western"),
    ("exclud", "includ"),
    ("export", "import"),
    ("extern", "intern"),
    ("failur", "success"),
    ("fall", "rise"),
    ("fast", "slow"),
    ("faster", "slower"),
    ("fell", "rose"),
    ("femal", "male"),
    ("few", "mani"),
    ("fewer", "more"),
    ("fewest", "most"),
    ("first", "last"),
    ("gain", "lose"),
    ("high", "low"),
    ("higher", "lower"),
    ("highest", "lowest"),
    ("inner", "outer"),
    ("larg", "small"),
    ("larger", "smaller"),
    ("largest", "smallest"),
    ("least", "most"),
    ("left", "right"),
    ("less", "more"),
    ("long", "short"),
    ("longer", "shorter"),
    ("longest", "shortest"),
    ("lost", "won"),
    ("major", "minor"),
    ("maximum", "minimum"),
    ("negat", "posit"),
    ("newest", "oldest"),
    ("north", "south"),
    ("northern", "southern"),
    ("oppos", "support"),
    ("option", "requir"),
    ("privat", "public"),
    ("start", "stop"),
    ("strong", "weak"),
    ("stronger", "weaker"),
    ("unlik", "like"),
];

/// How much of its subject a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// The whole of it.
    All,
    /// Part of it.
    Some,
    /// The subject and nothing else.
    Only,
}

/// A word in lower case, with a straight apostrophe.
#[must_use]
pub fn lower_case(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase().replace('’', "'"))
    }
}

/// The words of a text in lower case: letters and digits between other signs. An apostrophe parts words.
pub fn lower_case_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The column after a sign at a column, both from 0: a tab goes on to the next column that eight divide.
#[must_use]
pub const fn next_column(sign: char, column: usize) -> usize {
    const TAB: usize = 8;
    if sign == '\t' { (column / TAB + 1) * TAB } else { column + 1 }
}

/// Whether a word is a number of several parts, as of a version: `0.8.1`.
pub(crate) fn is_version(word: &str) -> bool {
    word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether a word is a number of four digits that years have: 1066, 2024.
pub(crate) fn is_year(word: &str) -> bool {
    word.len() == 4 && word.starts_with(['1', '2']) && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Byte at which the line of the byte `at` starts.
pub(crate) fn start_of_line(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind(['\n', '\r'])).map_or(0, |end| end + 1)
}

/// A word without the signs around it.
pub(crate) fn bare(word: &str) -> &str {
    word.trim_matches(|sign: char| !sign.is_alphanumeric())
}

/// Longest ending of a word that makes no other of it, in bytes: "creates" for "create".
const LONGEST_ENDING: usize = 3;

/// Whether two words differ by a short ending at most: "German" and "Germany". The shorter one has at least `shortest` bytes.
pub(crate) fn differ_by_ending(one: &str, other: &str, shortest: usize) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short.len() >= shortest && long.len() - short.len() <= LONGEST_ENDING && long.starts_with(short)
}

/// Whether a word has a digit.
pub(crate) fn has_digit(word: &str) -> bool {
    word.contains(|sign: char| sign.is_ascii_digit())
}

/// Whether a word in lower case, with a straight apostrophe, denies.
#[must_use]
pub fn is_negation(word: &str) -> bool {
    word.ends_with("n't") || NEGATIONS.binary_search(&word).is_ok()
}

/// Whether a word in lower case is one of the scale of figures, in English or German.
pub(crate) fn is_scale(word: &str) -> bool {
    matches!(
        word,
        "billion"
            | "billions"
            | "million"
            | "millionen"
            | "millions"
            | "mio"
            | "mrd"
            | "milliarden"
            | "tausend"
            | "thousand"
            | "thousands"
            | "tsd"
    )
}

/// Whether a cell of a table stands for a number without a bound.
pub(crate) fn is_unlimited(cell: &str) -> bool {
    matches!(lower_case(cell.trim()).as_ref(), "illimité" | "no limit" | "unbegrenzt" | "unlimited" | "∞")
}

/// Cells of a table that say yes and no by themselves, in lower case.
const YES: [&str; 12] =
    ["available", "included", "ja", "oui", "supported", "true", "yes", "☑", "✅", "✓", "✔", "✔\u{fe0f}"];
const NO: [&str; 20] = [
    "false",
    "kein",
    "keine",
    "nein",
    "never",
    "no",
    "non",
    "none",
    "not available",
    "not included",
    "not supported",
    "not yet",
    "×",
    "–",
    "—",
    "✕",
    "✖",
    "✗",
    "✘",
    "❌",
];

/// Whether a cell of a table says yes or no by its first words; `None` if it says neither. A dash says no only beside cells that
/// say yes.
pub(crate) fn says_yes(cell: &str) -> Option<bool> {
    let lower = lower_case(cell);
    let said = lower.split([',', ';', '(', ':']).next().unwrap_or_default().trim();
    if YES.contains(&said) { Some(true) } else { NO.contains(&said).then_some(false) }
}

/// Whether a text denies something: "it isn't", "except", "without".
pub(crate) fn denies(text: &str) -> bool {
    text.unicode_words().any(|word| is_negation(&lower_case(word)))
}

/// The opposites of a stem.
pub fn opposites(stem: &str) -> impl Iterator<Item = &'static str> {
    OPPOSITES.iter().filter_map(move |(one, two)| match stem {
        stem if stem == *one => Some(*two),
        stem if stem == *two => Some(*one),
        _ => None,
    })
}

impl Quantity {
    /// The quantity that a word in lower case names.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "all" | "every" | "everyone" | "everybody" | "always" | "entire" | "entirely" | "whole" | "any" => {
                Some(Self::All)
            }
            "some" | "several" | "few" | "many" | "most" | "mostly" | "often" | "sometimes" | "usually" | "partly"
            | "half" => Some(Self::Some),
            "only" | "solely" | "exclusively" => Some(Self::Only),
            _ => None,
        }
    }
}

/// The words of a text that may reverse it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stems {
    stems: BTreeSet<String>,
}

impl Stems {
    /// Reads a sentence or a question.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let stemmer = Stemmer::new(Algorithm::English);
        let mut found = Self::default();
        for word in text.unicode_words() {
            let word = lower_case(word);
            found.stems.insert(stemmer.stem(&word).into_owned());
            found.stems.insert(word.into_owned());
        }
        found
    }

    /// Whether it has the opposite of one of the words of `other`, without having that word.
    #[must_use]
    pub fn opposes(&self, other: &Self) -> bool {
        let missing = other.stems.difference(&self.stems);
        missing.flat_map(|stem| opposites(stem)).any(|opposite| self.stems.contains(opposite))
    }
}

/// The name and the value of a line such as "Bins: Tuesday."; `None` where nothing is said after the colon.
pub(crate) fn named_value(text: &str) -> Option<(&str, &str)> {
    text.split_once(": ").or_else(|| text.split_once(":** ")).filter(|(_, value)| value.contains(char::is_alphanumeric))
}

/// Most words of a sentence that ends with yes or no: "Not by itself, no."
const SHORT_ANSWER: usize = 5;

/// Whether a sentence begins with yes or no, behind the sign of an answer at most ("A: No."), or is a brief one that ends so.
pub(crate) fn answers_yes_or_no(sentence: &str) -> bool {
    let after_sign = ["A:", "A.", "Answer:"].iter().find_map(|sign| sentence.trim_start().strip_prefix(sign));
    let words: Vec<String> = lower_case_words(after_sign.unwrap_or(sentence)).take(SHORT_ANSWER + 1).collect();
    let says = |word: Option<&String>| word.is_some_and(|word| word == "yes" || word == "no");
    let is_indeed = words.len() == 1 && words.first().is_some_and(|word| word == "indeed");
    says(words.first()) || is_indeed || words.len() <= SHORT_ANSWER && says(words.last()) && sentence.contains(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_hold_stems() {
        assert!(NEGATIONS.is_sorted() && OPPOSITES.is_sorted());
        let pairs = [
            ("decrease", "increases"),
            ("accepted", "rejected"),
            ("before", "after"),
            ("many", "few"),
            ("early", "late"),
            ("above", "below"),
            ("opposed", "supports"),
            ("positive", "negative"),
            ("includes", "excluded"),
            ("requires", "optional"),
            ("private", "public"),
        ];
        for (one, two) in pairs {
            assert!(Stems::of(one).opposes(&Stems::of(two)), "{one} {two}");
        }
        assert_eq!(opposites("more").collect::<Vec<_>>(), ["fewer", "less"]);
    }

    #[test]
    fn reads_what_turns_a_sentence_round() {
        assert!(denies("It isn’t open.") && denies("It isn't open.") && denies("Nothing was said"));
        assert!(!denies("A notable knot"));
        let (rises, falls) = (Stems::of("Costs increased in 1990."), Stems::of("Costs decrease."));
        assert!(rises.opposes(&falls) && falls.opposes(&rises));
        assert!(!Stems::of("They increased and decreased.").opposes(&falls));
    }
}
