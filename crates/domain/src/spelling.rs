//! Typing errors in a question: words that no chunk holds, and the words that the nearest passages have in their place.
//!
//! The words of the passages found stand in for a dictionary of the collection: vectors and the other words of the
//! question lead to passages that hold the word that was meant.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::evidence::{Question, QuestionTerm};

/// Shortest word, in characters, that is corrected.
const SHORTEST: usize = 4;

/// Shortest word in which two letters may differ.
const SHORTEST_OF_TWO_ERRORS: usize = 8;

/// Letters at the end of a word in which its forms differ: "employee" is not a misspelt "employed".
const ENDING: usize = 3;

/// A word of a question that was read as another. Part of the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// As the question writes it.
    pub from: String,
    /// As the passages write it.
    pub to: String,
}

/// The likely typing errors of a question, in its order. `passages` are those found for it.
///
/// A word is corrected only if no chunk holds it, and if one of the words that differ from it least is more frequent in
/// the passages than the others.
#[must_use]
pub fn corrections<'p>(question: &Question, passages: impl IntoIterator<Item = &'p str>) -> Vec<Correction> {
    let unknown: Vec<&QuestionTerm> = question
        .terms
        .terms()
        .iter()
        .filter(|term| term.document_frequency == 0 && is_correctable(&term.word))
        .collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    for word in passages.into_iter().flat_map(UnicodeSegmentation::unicode_words) {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    let correct = |term: &&QuestionTerm| {
        let to = meant(&term.word.to_lowercase(), &words)?.to_owned();
        Some(Correction { from: term.word.clone(), to: like(&term.word, to) })
    };
    unknown.iter().filter_map(correct).collect()
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
fn meant<'w>(asked: &str, words: &'w BTreeMap<String, usize>) -> Option<&'w str> {
    // A title may hold what no chunk does.
    if words.contains_key(asked) {
        return None;
    }
    let mut candidates: Vec<(usize, usize, &str)> =
        words.iter().filter_map(|(word, count)| Some((errors(asked, word)?, *count, word.as_str()))).collect();
    candidates.sort_by_key(|(errors, count, _)| (*errors, std::cmp::Reverse(*count)));
    let (best, next) = (candidates.first()?, candidates.get(1));
    let is_rivalled = next.is_some_and(|next| (next.0, next.1) == (best.0, best.1));
    (!is_rivalled).then_some(best.2)
}

/// The letters in which a word differs from the one asked for, if it may be a misspelt form of it.
fn errors(asked: &str, word: &str) -> Option<usize> {
    let (length, other) = (asked.chars().count(), word.chars().count());
    let most = if length < SHORTEST_OF_TWO_ERRORS { 1 } else { 2 };
    // The first letter is seldom mistyped, and rules out most words.
    if asked.chars().next() != word.chars().next() || length.abs_diff(other) > most || other < SHORTEST {
        return None;
    }
    let errors = strsim::osa_distance(asked, word);
    let common = asked.chars().zip(word.chars()).take_while(|(one, two)| one == two).count();
    let is_another_form = errors > 1 && common + ENDING >= length.max(other);
    (errors <= most && !is_another_form).then_some(errors)
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
    use crate::lexical::analyzer::Analyzer;

    fn found(question: &str, known: &[&str], passages: &[&str]) -> Vec<(String, String)> {
        let frequency = |stem: &str| u64::from(known.contains(&stem));
        let parsed = Question::new(Analyzer::english(), question, 10, frequency);
        corrections(&parsed, passages.iter().copied()).into_iter().map(|one| (one.from, one.to)).collect()
    }

    #[test]
    fn unknown_words_are_read_as_those_of_the_passages() {
        let tail = ["Tail prints the last lines by default.", "The default of tail is ten lines. Numerically sorted."];
        for (question, from, to) in [
            ("How many lines does tial print?", "tial", "tail"),
            ("What is the defualt?", "defualt", "default"),
            ("Is it sorted numericaly?", "numericaly", "numerically"),
            ("Is Tial fast?", "Tial", "Tail"),
        ] {
            let known = ["line", "print", "sort", "fast"];
            assert_eq!(found(question, &known, &tail), [(from.to_owned(), to.to_owned())], "{question}");
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
        assert_eq!(found("Where is the tail?", &["tail"], &["The nail, the tails."]), [], "it is known");
        let frequent = found("What is a tase?", &[], &["A tape, a task, a task."]);
        assert_eq!(frequent, [("tase".to_owned(), "task".to_owned())]);
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
            let corrections = corrections(&parsed, [passage.as_str()]);
            let text = corrected(&question, &corrections);
            prop_assert_eq!(corrections.is_empty(), text == question);
            prop_assert_eq!(text.unicode_words().count(), question.unicode_words().count());
        }
    }
}
