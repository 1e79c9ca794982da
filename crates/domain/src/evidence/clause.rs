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
    let mut at = 0;
    for word in question.split_inclusive(' ') {
        let bare = bare(word);
        let (before, from) = question.split_at(at);
        at += word.len();
        if CLAUSES.contains(&bare) && !is_joined(before) && (is_asked || follows_thing(before, from)) {
            return before;
        }
        is_asked |= is_question_word(bare);
    }
    question
}

fn bare_words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(bare).filter(|word| !word.is_empty())
}

/// Whether what comes after a text is joined to it: "and when".
fn is_joined(before: &str) -> bool {
    bare_words(before).last().is_some_and(|word| matches!(word, "and" | "or"))
}

/// Whether a "when" or "where", which `from` begins with, begins a clause about a thing that the text before it names: not "by
/// when did it", nor "find out when it does".
fn follows_thing(before: &str, from: &str) -> bool {
    let words: Vec<&str> = bare_words(before).collect();
    let begins_clause = from.split_whitespace().nth(1).is_some_and(|word| !is_auxiliary(bare(word)));
    let is_apart = before.trim_end().ends_with(',');
    words.len() > 1 && begins_clause && !is_apart && !words.iter().any(|word| FINDING.contains(word))
}
