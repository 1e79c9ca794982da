//! Words of a question that are searched otherwise than they are written. English only.
//!
//! - Auxiliaries ("can I", "how many may it have") ask for nothing, and texts that answer seldom have them.
//! - A verb of two words is also searched as one, since documents write "backup" where readers ask how to "back up". Not any
//!   two neighbours: a rare spelling of a common compound then draws its few chunks forward.
//! - Three or four words with the initials of a usual abbreviation are also searched as that: tables head a column "EOL" where
//!   readers ask for the "end of life".
//! - Days of the week and months are also searched as they are abbreviated, and the other way round: timetables write "Thu".
//! - So are words that tables write otherwise: "Ext." for the extension, "daily" for every day.
//! - So are irregular forms, other spellings and short forms: "kept" where readers ask how long to "keep" something.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::analyzer::Analyzer;
use super::calendar;
use super::function_words::is_german;
use super::language::Language;
use super::word_forms;
use super::written_otherwise::other_words;
use crate::asking::{is_question_word, languages};
use crate::wording::{is_version, lower_case};

/// Auxiliaries that the stop words leave out for their other meanings: a can, a will, the month of May.
const AUXILIARIES: [&str; 6] = ["can", "may", "might", "must", "shall", "will"];

/// Those that are names too.
const NAMES: [&str; 2] = ["may", "will"];

/// Words after which an auxiliary is a noun.
const BEFORE_NOUNS: [&str; 9] = ["a", "an", "every", "his", "her", "my", "of", "the", "this"];

/// Second words of such verbs.
const PARTICLES: [&str; 10] = ["away", "back", "down", "in", "off", "on", "out", "over", "through", "up"];

/// Abbreviations of three or four words that documents write where readers may write them in full.
const ABBREVIATIONS: [&str; 26] = [
    "api", "ceo", "cfo", "cli", "coo", "cpu", "cto", "eod", "eol", "eta", "faq", "gdpr", "gpu", "gui", "kpi", "lts",
    "mfa", "nda", "pto", "ram", "roi", "sdk", "sla", "sso", "ttl", "vpn",
];

/// Another form of one or several words of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedWord {
    /// Its stem.
    pub stem: String,
    /// Bytes of these words.
    pub range: Range<usize>,
    /// The stem of the word, if it is a form of one: it is no rarer than that.
    pub form_of: Option<String>,
}

/// A question with spaces in the place of its auxiliaries, so that all other words keep their places; of a German question over
/// documents in English with those in the place of its function words, which hardly any of these has.
#[must_use]
pub fn without_auxiliaries<'q>(analyzer: &Analyzer, question: &'q str) -> Cow<'q, str> {
    if analyzer.language() != Language::English {
        return Cow::Borrowed(question);
    }
    let is_german_question = languages::is_german(question);
    if !is_german_question && !is_question(question) {
        return Cow::Borrowed(question);
    }
    let words: Vec<(usize, &str)> = question.unicode_word_indices().collect();
    let mut left = Cow::Borrowed(question);
    for (place, (start, word)) in words.iter().enumerate() {
        let near = |place: Option<usize>| place.and_then(|place| words.get(place)).map(|(_, word)| *word);
        let asks_for_nothing = if is_german_question {
            is_german(&lower_case(word))
        } else {
            is_auxiliary(word, near(place.checked_sub(1)), near(place.checked_add(1)))
        };
        if asks_for_nothing {
            left.to_mut().replace_range(*start..start + word.len(), &" ".repeat(word.len()));
        }
    }
    left
}

/// The verbs of two words in a question written as one, abbreviations of its words, its days and months in their other form, and what
/// tables write in the place of its words, whether or not there are such words.
#[must_use]
pub fn joined_words(analyzer: &Analyzer, question: &str) -> Vec<JoinedWord> {
    if analyzer.language() != Language::English {
        return Vec::new();
    }
    let words: Vec<(usize, &str)> = question.unicode_word_indices().collect();
    let is_verb = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic()) && !analyzer.terms(word).is_empty();
    let mut joined = Vec::new();
    for pair in words.windows(2) {
        let [(start, one), (next, two)] = pair else { continue };
        let is_beside = question.get(start + one.len()..*next).is_some_and(|between| matches!(between, " " | "-"));
        if is_beside && is_verb(one) && PARTICLES.contains(two) {
            let range = *start..next + two.len();
            let stems = analyzer.terms(&format!("{one}{two}"));
            joined.extend(stems.into_iter().map(|stem| JoinedWord { stem, range: range.clone(), form_of: None }));
        }
    }
    joined.extend(abbreviations(analyzer, question, &words));
    let lower: Vec<Cow<'_, str>> = words.iter().map(|(_, word)| lower_case(word)).collect();
    let lower: Vec<&str> = lower.iter().map(|word| &**word).collect();
    for (place, (start, word)) in words.iter().enumerate() {
        let up_to_it = lower.get(place.saturating_sub(2)..=place).unwrap_or_default();
        let range = *start..start + word.len();
        let others = calendar::other_forms(word).into_iter().chain(other_words(up_to_it));
        let others = others.flat_map(|other| analyzer.terms(other));
        joined.extend(others.map(|stem| JoinedWord { stem, range: range.clone(), form_of: None }));
        let forms = up_to_it.last().map_or_else(Vec::new, |word| word_forms::other_forms(word));
        let forms =
            forms.into_iter().chain(calendar::other_years(word).into_iter().chain(other_version(word)).map(Cow::Owned));
        let forms = forms.flat_map(|form| analyzer.terms(&form));
        let own = || analyzer.terms(word).pop();
        joined.extend(forms.map(|stem| JoinedWord { stem, range: range.clone(), form_of: own() }));
    }
    joined
}

/// A version with or without the letter before it: "v2.8" is 2.8.
fn other_version(word: &str) -> Option<String> {
    let bare = word.strip_prefix(['v', 'V']).filter(|bare| is_version(bare)).map(str::to_owned);
    bare.or_else(|| is_version(word).then(|| format!("v{word}")))
}

/// The abbreviations whose letters three or four neighbouring words begin with.
fn abbreviations(analyzer: &Analyzer, question: &str, words: &[(usize, &str)]) -> Vec<JoinedWord> {
    let mut found = Vec::new();
    for run in words.windows(3).chain(words.windows(4)) {
        let (Some((start, _)), Some((next, last))) = (run.first(), run.last()) else { continue };
        let range = *start..next + last.len();
        let initials: String =
            run.iter().filter_map(|(_, word)| word.chars().next()).collect::<String>().to_lowercase();
        let is_one_phrase = question.get(range.clone()).is_some_and(|phrase| !phrase.contains([',', '.', ';', '?']));
        if is_one_phrase && ABBREVIATIONS.contains(&initials.as_str()) {
            let stems = analyzer.terms(&initials).into_iter();
            found.extend(stems.map(|stem| JoinedWord { stem, range: range.clone(), form_of: None }));
        }
    }
    found
}

/// The stems by which a question is searched and judged.
#[must_use]
pub fn question_stems(analyzer: &Analyzer, question: &str) -> Vec<String> {
    let asked = without_auxiliaries(analyzer, question);
    let mut stems = analyzer.terms(&asked);
    stems.extend(joined_words(analyzer, &asked).into_iter().map(|joined| joined.stem));
    stems
}

/// Whether a text is a question: keywords have no auxiliaries.
fn is_question(text: &str) -> bool {
    let opens = |word: &str| is_question_word(&lower_case(word));
    text.trim_end().ends_with('?') || text.unicode_words().next().is_some_and(opens)
}

fn is_auxiliary(word: &str, before: Option<&str>, after: Option<&str>) -> bool {
    let lower = lower_case(word);
    if !AUXILIARIES.contains(&&*lower) {
        return false;
    }
    let is_lower = |word: &str| word.starts_with(char::is_lowercase);
    match before {
        // "Will Smith", "May 2024".
        None if NAMES.contains(&&*lower) => after.is_some_and(|after| is_lower(after) || after == "I"),
        None => true,
        Some(before) => is_lower(word) && !BEFORE_NOUNS.contains(&&*lower_case(before)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(question: &str) -> String {
        let left = without_auxiliaries(Analyzer::english(), question);
        assert_eq!(left.len(), question.len(), "places are kept");
        left.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn auxiliaries_are_left_out_of_questions() {
        for (question, expected) in [
            ("How can I back up the database?", "How I back up the database?"),
            ("How many bytes may metadata have?", "How many bytes metadata have?"),
            ("Can Cited read PDF?", "Cited read PDF?"),
            ("May I leave early?", "I leave early?"),
            ("Who must sign, and when will it end?", "Who sign, and when it end?"),
            ("Was kostet ein Laufrad?", "Was kostet Laufrad?"),
        ] {
            assert_eq!(left(question), expected);
        }
    }

    #[test]
    fn nouns_names_and_keywords_stay() {
        for question in [
            "What is in a can?",
            "Who wrote the will?",
            "What happened in May 2024?",
            "May 2024 revenue?",
            "Will Smith's wife?",
            "can bus protocol",
            "What is a CAN bus?",
            "",
        ] {
            assert_eq!(left(question), question);
        }
        let german = Analyzer::of(Language::German);
        assert_eq!(without_auxiliaries(german, "Was will er?"), "Was will er?");
    }

    #[test]
    fn versions_have_a_letter_or_none() {
        for (question, expected) in [("What did v2.8 bring?", "2.8"), ("What did 2.8.1 bring?", "v2.8.1")] {
            let joined = joined_words(Analyzer::english(), question);
            assert!(joined.iter().any(|joined| joined.stem == expected), "{question} {joined:?}");
        }
    }

    #[test]
    fn verbs_of_two_words_are_searched_as_one_too() {
        let joined = |question: &str| -> Vec<String> {
            joined_words(Analyzer::english(), question).into_iter().map(|joined| joined.stem).collect()
        };
        assert_eq!(joined("How do I back up it?"), ["backup"]);
        assert_eq!(joined("When is the end of life of Debian 11?"), ["eol"]);
        assert_eq!(joined("Is there a general data protection regulation?"), ["gdpr"]);
        assert_eq!(joined("the end, of life"), Vec::<String>::new());
        assert_eq!(joined("Which user may log-in if a job times out?"), ["login", "timesout"]);
        assert_eq!(joined("Lunch of Thursdays, October?"), ["thu", "thur", "thur", "oct"]);
        assert_eq!(joined("lunch, thu, sept"), ["thursday", "septemb"]);
        assert_eq!(joined("Whose extension has WiFi every day?"), ["ext", "wi", "fi", "daili"]);
        let forms = joined_words(Analyzer::english(), "How long do we keep it?");
        let [JoinedWord { stem, form_of, .. }] = forms.as_slice() else { panic!("{forms:?}") };
        assert_eq!((stem.as_str(), form_of.as_deref()), ("kept", Some("keep")));
        for question in ["web hooks", "as on", "C++ in", "back, up", "back", "42 up", "the sun sat", ""] {
            assert_eq!(joined(question), Vec::<String>::new(), "{question}");
        }
    }
}
