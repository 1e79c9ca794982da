//! Typing errors and abbreviations in a question: words that no chunk holds, and the words that the nearest passages have
//! in their place.
//!
//! The words of the passages found stand in for a dictionary of the collection: vectors and the other words of the
//! question lead to passages that hold the word that was meant. Where several words are misspelt the nearest passages may not, and
//! those that are farther are looked through, more strictly.

mod abbreviation;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::evidence::resemblance::{self, Limits};
use crate::evidence::{Question, QuestionTerm};
use crate::lexical::{analyzer::Analyzer, function_words::is_german, language::Language};
use crate::wording::lower_case_words;

/// Shortest word, in characters, that is corrected.
const SHORTEST: usize = 4;

/// The same for a word of another language than English, of whose words none are known.
const SHORTEST_ABROAD: usize = 6;

/// Shortest word in which two letters may differ.
const SHORTEST_OF_TWO_ERRORS: usize = 8;

/// Fewest terms of a question that is taken to be in another language if no chunk holds three of four of them.
const FEWEST_ABROAD: usize = 4;

/// Letters at the end of a word in which its forms differ: "employee" is not a misspelt "employed".
const ENDING: usize = 3;

/// How often a word occurs in passages that are farther, at least, to be the one that was meant.
const FEWEST_FAR: usize = 2;

/// A word of a question that was read as another. Part of the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// As the question writes it.
    pub from: String,
    /// As the passages write it.
    pub to: String,
}

/// The likely typing errors and the abbreviations of a question, in its order. `passages` are those found for it.
///
/// An abbreviation is spelled out. Another word is corrected only if no chunk holds it, if `is_word` does not know it as a
/// word of the language, and if one of the words that differ from it least is more frequent in the passages than the others.
/// Where none differs little enough, it is compared with their stems: the passages may have the word that was meant in
/// another form. In a question of which no chunk holds three of four words, or with function words of German in an
/// English collection, nothing is misspelt: it is in another language.
#[must_use]
pub fn corrections<'p>(
    analyzer: &Analyzer,
    question: &Question,
    passages: impl IntoIterator<Item = &'p str>,
    is_word: impl Fn(&str) -> bool,
) -> Vec<Correction> {
    let may_be_read_otherwise = |word: &str| is_correctable(word) || abbreviation::may_be(word);
    let Unknown { terms: unknown, is_abroad } = Unknown::of(analyzer, question);
    let unknown: Vec<&QuestionTerm> = unknown.into_iter().filter(|term| may_be_read_otherwise(&term.word)).collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    let passages: Vec<&str> = passages.into_iter().collect();
    let words = counted(passages.iter().copied());
    let correct = |term: &&QuestionTerm| {
        let asked = term.word.to_lowercase();
        if words.contains_key(&asked) {
            // A title may hold what no chunk does.
            return None;
        }
        let in_full = || abbreviation::spelled_out(analyzer, &term.word, &passages);
        let misspelt = || {
            let to = meant(analyzer.language(), &asked, &words).or_else(|| meant_form(analyzer, &asked, &words))?;
            Some(like(&term.word, to.to_owned()))
        };
        let is_misspelt = !is_abroad && is_correctable(&term.word) && !is_word(&asked);
        let to = in_full().or_else(|| if is_misspelt { misspelt() } else { None })?;
        Some(Correction { from: term.word.clone(), to })
    };
    unknown.iter().filter_map(correct).collect()
}

/// The words of a question besides those that were corrected that may be misspelt: such in small letters that neither a chunk nor
/// the language has. English only.
#[must_use]
pub fn uncorrected<'q>(
    analyzer: &Analyzer,
    question: &'q Question,
    corrected: &[Correction],
    is_word: impl Fn(&str) -> bool,
) -> Vec<&'q str> {
    let Unknown { terms, is_abroad } = Unknown::of(analyzer, question);
    if is_abroad || analyzer.language() != Language::English {
        return Vec::new();
    }
    let is_left = |word: &&str| {
        let is_known = || corrected.iter().any(|one| one.from == *word) || is_word(word);
        word.starts_with(char::is_lowercase) && is_correctable(word) && !is_known()
    };
    terms.into_iter().map(|term| term.word.as_str()).filter(is_left).collect()
}

/// The likely typing errors among such words, by passages that are farther than the nearest: those that differ by one letter, or by
/// two that are exchanged, but not by the first, from one word that is frequent there.
#[must_use]
pub fn corrections_from_afar<'p>(words: &[&str], passages: impl IntoIterator<Item = &'p str>) -> Vec<Correction> {
    let mut known = counted(passages);
    let misspelt: Vec<&&str> = words.iter().filter(|word| !known.contains_key(**word)).collect();
    known.retain(|_, count| *count >= FEWEST_FAR);
    let correct = |asked: &&str| {
        let is_near = |word: &String| {
            word.chars().next() == asked.chars().next() && errors(Language::English, asked, word) == Some(1)
        };
        let near = known.iter().filter(|(word, _)| is_near(word)).map(|(word, count)| (word.clone(), *count)).collect();
        let to = meant(Language::English, asked, &near)?.to_owned();
        Some(Correction { from: (*asked).to_owned(), to })
    };
    misspelt.into_iter().filter_map(correct).collect()
}

/// The terms of a question that no chunk holds.
struct Unknown<'q> {
    terms: Vec<&'q QuestionTerm>,
    /// Whether they are so many that the question is in another language.
    is_abroad: bool,
}

impl<'q> Unknown<'q> {
    fn of(analyzer: &Analyzer, question: &'q Question) -> Self {
        let all = question.terms.terms();
        let terms: Vec<&QuestionTerm> = all.iter().filter(|term| term.document_frequency == 0).collect();
        let is_mostly_unknown = all.len() >= FEWEST_ABROAD && terms.len() * 4 >= all.len() * 3;
        // In English documents "wann" is no misspelt "want".
        let is_other = || {
            analyzer.language() == Language::English && lower_case_words(&question.text).any(|word| is_german(&word))
        };
        let is_abroad = is_mostly_unknown || is_other();
        Self { terms, is_abroad }
    }
}

/// The words of passages in lower case, with how often they occur.
fn counted<'p>(passages: impl IntoIterator<Item = &'p str>) -> BTreeMap<String, usize> {
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    for word in passages.into_iter().flat_map(|passage| passage.unicode_words()) {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    words
}

/// A text with the corrections in place of the words.
#[must_use]
pub fn corrected(text: &str, corrections: &[Correction]) -> String {
    let of = |word: &str| corrections.iter().find(|correction| correction.from == word);
    text.split_word_bounds().map(|word| of(word).map_or(word, |correction| &correction.to)).collect()
}

fn is_correctable(word: &str) -> bool {
    let is_shouted = word.chars().all(char::is_uppercase);
    word.chars().count() >= SHORTEST && word.chars().all(char::is_alphabetic) && !is_shouted
}

/// The word that was meant, if there is one.
fn meant<'w>(language: Language, asked: &str, words: &'w BTreeMap<String, usize>) -> Option<&'w str> {
    // Letters are left out more often than others are put in their place: "wher" is "where", and not "when".
    let rank = |(word, count): (&'w String, &usize)| {
        Some(((errors(language, asked, word)?, !leaves_letters_out(asked, word), Reverse(*count)), word.as_str()))
    };
    let mut candidates: Vec<_> = words.iter().filter_map(rank).collect();
    candidates.sort_unstable();
    let (best, next) = (candidates.first()?, candidates.get(1));
    let is_rivalled = next.is_some_and(|next| next.0 == best.0);
    (!is_rivalled).then_some(best.1)
}

/// Whether a word is another one without some of its letters.
fn leaves_letters_out(word: &str, whole: &str) -> bool {
    let mut letters = whole.chars();
    word.chars().all(|letter| letters.any(|other| other == letter))
}

/// The most frequent form of the stem that was meant, if there is one.
fn meant_form<'w>(analyzer: &Analyzer, asked: &str, words: &'w BTreeMap<String, usize>) -> Option<&'w str> {
    let begins_alike = |word: &str| word.chars().next() == asked.chars().next();
    let forms: Vec<(String, &str, usize)> = words
        .iter()
        .filter(|(word, _)| begins_alike(word))
        .filter_map(|(word, count)| Some((analyzer.terms(word).into_iter().next()?, word.as_str(), *count)))
        .collect();
    let mut stems: BTreeMap<String, usize> = BTreeMap::new();
    for (stem, _, count) in &forms {
        *stems.entry(stem.clone()).or_default() += count;
    }
    // A stem that goes on is that of another word: "employee" is not a misspelt "employ".
    let stem = meant(analyzer.language(), asked, &stems)
        .filter(|stem| !stem.starts_with(asked) && !asked.starts_with(stem))?;
    let of_stem = forms.iter().filter(|(other, ..)| other == stem);
    of_stem.max_by_key(|(_, word, count)| (*count, Reverse(word.len()))).map(|(_, word, _)| *word)
}

/// The letters in which a word differs from the one asked for, if it may be a misspelt form of it.
fn errors(language: Language, asked: &str, word: &str) -> Option<usize> {
    let (length, other) = (asked.chars().count(), word.chars().count());
    // A vocabulary of English tells other words of it; in other languages forms of one word are told by their endings.
    let of_english = language == Language::English;
    if !of_english && length < SHORTEST_ABROAD {
        return None;
    }
    let most = if length < SHORTEST_OF_TWO_ERRORS { 1 } else { 2 };
    let errors = resemblance::errors(asked, word, Limits { shortest: SHORTEST, most })?;
    let common = asked.chars().zip(word.chars()).take_while(|(one, two)| one == two).count();
    let is_another_form = (errors > 1 || !of_english) && common + ENDING >= length.max(other);
    (!is_another_form).then_some(errors)
}

/// A word with the capital of another.
fn like(model: &str, word: String) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) if model.starts_with(char::is_uppercase) => first.to_uppercase().chain(letters).collect(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(question: &str, known: &[&str], passages: &[&str]) -> Vec<(String, String)> {
        let frequency = |stem: &str| u64::from(known.contains(&stem));
        let parsed = Question::new(Analyzer::english(), question, 10, frequency);
        corrections(Analyzer::english(), &parsed, passages.iter().copied(), |word| word == "vault")
            .into_iter()
            .map(|one| (one.from, one.to))
            .collect()
    }

    #[test]
    fn unknown_words_are_read_as_those_of_the_passages() {
        let tail = ["Tail prints the last lines by default.", "The default of tail is ten lines. Numerically sorted."];
        for (question, from, to) in [
            ("How many lines does tial print?", "tial", "tail"),
            ("What is the defualt?", "defualt", "default"),
            ("Is it sorted numericaly?", "numericaly", "numerically"),
            ("Is Tial fast?", "Tial", "Tail"),
            ("Is it sorted at defaut?", "defaut", "default"),
        ] {
            let known = ["line", "print", "sort", "fast"];
            assert_eq!(found(question, &known, &tail), [(from.to_owned(), to.to_owned())], "{question}");
        }
    }

    #[test]
    fn the_word_that_was_meant_may_stand_there_in_another_form() {
        let passage = "Connecting takes a connection; a connection ends.";
        let connection = [("conect".to_owned(), "connection".to_owned())];
        assert_eq!(found("How do I conect a client?", &["client"], &[passage]), connection);
        assert_eq!(found("What is a cot?", &[], &["Cats, cuts and coats."]), [], "short words stay");
        let other = found("How long is paternity leave?", &["leav", "long"], &["A leave in a pattern, of patterns."]);
        assert_eq!(other, [], "its stem is near, the word is not");
    }

    #[test]
    fn passages_that_are_farther_are_trusted_less() {
        let far =
            ["The cache is a cache for windows.", "Windows has a fast store, once. The sound of tales and tails."];
        let read = |question: &str, corrected: &[Correction]| {
            let parsed = Question::new(Analyzer::english(), question, 10, |stem| u64::from(stem == "put"));
            let is_word = |word: &str| matches!(word, "where" | "does" | "its");
            let words = uncorrected(Analyzer::english(), &parsed, corrected, is_word);
            corrections_from_afar(&words, far).into_iter().map(|one| (one.from, one.to)).collect::<Vec<_>>()
        };
        let of = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let both = [of("cahce", "cache"), of("windws", "windows")];
        assert_eq!(read("where put its cahce, put on windws", &[]), both);
        let known = [Correction { from: "cahce".to_owned(), to: "cash".to_owned() }];
        assert_eq!(read("where put its cahce, put on windws", &known), both[1..]);
        for question in ["put a Windws", "put a stoer", "put a vindows", "put windows", "put a tals", "put it in"] {
            assert_eq!(read(question, &[]), [], "{question}");
        }
    }

    #[test]
    fn other_words_stay() {
        for (question, passage) in [
            ("Where is the vault?", "The fault is yours."),
            ("How many employees?", "She was employed here."),
            ("What is rsync?", "Sync and async."),
            ("What is XZYQ?", "It is xzyg."),
            ("What is v1002?", "It is v1003."),
            ("Where is the form?", "From the farm, a form."),
            ("Who is Zoe?", "Zoo."),
            ("What is a tase?", "A tape, a task."),
        ] {
            assert_eq!(found(question, &[], &[passage]), [], "{question}");
        }
        let abroad = found("Wie viele Urlaubstage habe ich?", &[], &["You have 28 days."]);
        assert_eq!(abroad, [], "it is in another language");
        assert_eq!(found("Where is the tail?", &["tail"], &["The nail, the tails."]), [], "it is known");
        assert_eq!(found("Can a horse vault?", &[], &["The vaunt of vaunts."]), [], "it is a word of the language");
        let left_out = found("wher is the form?", &["form"], &["When it is, when it was, when it will be: where."]);
        assert_eq!(left_out, [("wher".to_owned(), "where".to_owned())]);
        let frequent = found("What is a tase?", &[], &["A tape, a task, a task."]);
        assert_eq!(frequent, [("tase".to_owned(), "task".to_owned())]);
    }

    #[test]
    fn forms_of_words_of_other_languages_stay() {
        let german = Analyzer::of(Language::German);
        for (question, passage, expected) in [
            ("Wann verliere ich das?", "Wer verliert, verliert.", None),
            ("Wo ist der Sammelpaltz?", "Der Sammelplatz ist dort.", Some("Sammelplatz")),
            ("Wer hat droit?", "Man doit.", None),
        ] {
            let parsed = Question::new(german, question, 10, |_| 0);
            let found = corrections(german, &parsed, [passage], |_| false);
            assert_eq!(found.first().map(|one| one.to.as_str()), expected, "{question}");
        }
    }

    #[test]
    fn corrections_take_the_place_of_whole_words() {
        let corrections = [Correction { from: "tial".to_owned(), to: "tail".to_owned() }];
        assert_eq!(corrected("Does tial, not tials,\n tial?", &corrections), "Does tail, not tials,\n tail?");
    }

    proptest! {
        #[test]
        fn nothing_else_changes(question in "(?s:.{0,60})", passage in "(?s:.{0,60})") {
            let parsed = Question::new(Analyzer::english(), &question, 10, |_| 0);
            let corrections = corrections(Analyzer::english(), &parsed, [passage.as_str()], |_| false);
            let text = corrected(&question, &corrections);
            prop_assert_eq!(corrections.is_empty(), text == question);
            prop_assert_eq!(text.unicode_words().count(), question.unicode_words().count());
        }
    }
}
