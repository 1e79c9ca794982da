//! The part of a question that tells what it asks for. English only.

use std::ops::Range;

use crate::asking::{asks_yes_or_no, is_auxiliary, is_question_word};
use crate::sentence::{Sentence, sentences};
use crate::wording::{bare, lower_case_words};

/// Words that ask, and after another one of them begin a clause.
const CLAUSES: [&str; 2] = ["when", "where"];

/// Verbs of requests for what a clause tells: "tell me when it opens".
const FINDING: [&str; 10] = ["ask", "check", "find", "know", "remember", "say", "see", "show", "tell", "wonder"];

/// Openings of a question within a question: "can you tell when it was built".
const INDIRECT_OPENINGS: [&str; 6] =
    ["can you ", "could you ", "do you know ", "do we know ", "will you ", "would you "];

/// The first sentence that asks: of "I joined in March. How many days do I get?" the second. The whole where none does.
///
/// A question that quotes a text of several sentences is read from its first word.
pub(crate) fn asking_sentence(question: &str) -> &str {
    let of_question = sentences(question);
    let words: Vec<_> = of_question.iter().map(Sentence::words).collect();
    let text = |range: Range<usize>| question.get(range).unwrap_or_default().trim();
    let asks = |range: &Range<usize>| {
        let first = lower_case_words(text(range.clone())).next();
        first.is_some_and(|word| is_question_word(&word) || is_auxiliary(&word))
    };
    let end = words.iter().position(|range| text(range.clone()).ends_with('?'));
    let before = words.get(..end.map_or(words.len(), |end| end + 1)).unwrap_or_default();
    match (before.iter().rfind(|range| asks(range)), before.last()) {
        (first, Some(last)) if end.is_some() => text(first.unwrap_or(last).start..last.end),
        (Some(only), _) => text(only.clone()),
        _ => question.trim(),
    }
}

/// A question, in lower case, up to the "when" or "where" that begins a clause of it, as in "which event is emitted when
/// the worker dies": after a word that asks, in a question for yes or no, or after the name of a thing, as in "exit code when
/// the worker dies".
pub(super) fn up_to_a_clause(question: &str) -> &str {
    let begins = |openings: &[&str]| openings.iter().any(|opening| question.trim_start().starts_with(opening));
    let mut is_asked = asks_yes_or_no(question) && !begins(&INDIRECT_OPENINGS);
    let (mut at, mut before) = (0, Vec::new());
    for word in question.split_inclusive(' ') {
        let bare = bare(word);
        let is_apart = question.get(..at).is_some_and(|text| text.trim_end().ends_with(','));
        let after = question.get(at + word.len()..).unwrap_or_default();
        let follows_thing = || !is_apart && follows_thing(&before, after);
        let is_joined = matches!(before.last(), Some(&"and" | &"or"));
        if CLAUSES.contains(&bare) && !is_joined && (is_asked || follows_thing()) {
            return question.get(..at).unwrap_or(question);
        }
        is_asked |= is_question_word(bare);
        at += word.len();
        before.extend(Some(bare).filter(|word| !word.is_empty()));
    }
    question
}

/// Whether a "when" or "where" after these words begins a clause about a thing that they name: not "by when did it", nor "find
/// out when it does".
fn follows_thing(before: &[&str], after: &str) -> bool {
    let begins_clause = after.split_whitespace().next().is_some_and(|word| !is_auxiliary(bare(word)));
    before.len() > 1 && begins_clause && !before.iter().any(|word| FINDING.contains(word))
}
