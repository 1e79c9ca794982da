//! Messages that ask the same as before of something else: "And for interns?", "what about 2024?".
//!
//! Such a message is the last whole question with other words in the place of a name or a number, or at its end: "How long is
//! leave in Denmark?" and "and for the UK?" are "How long is leave for the UK?". English.

use std::ops::Range;

use super::{
    Speaker, Turn,
    courtesy::asks_nothing,
    leaning::{self, PREPOSITIONS, is_one_of},
};
use crate::{
    asked_part::asking_part,
    asking::{is_auxiliary, is_question_word},
    evidence::names::is_named,
    wording::{bare, has_digit, lower_case_words},
};

/// Most words of what is asked of instead: a longer message is a question of its own.
const MOST_WORDS: usize = 6;

/// Fewest words of a question that another one repeats.
const FEWEST_OF_QUESTION: usize = 4;

/// Determiners before a noun.
const DETERMINERS: [&str; 10] = ["a", "an", "his", "her", "my", "our", "that", "the", "this", "your"];

/// Verbs at the end of a question that begins with a form of "do".
const LAST_VERBS: [&str; 24] = [
    "apply", "arrive", "begin", "close", "cost", "cover", "end", "expire", "finish", "get", "happen", "have",
    "include", "last", "leave", "mean", "need", "open", "pay", "run", "start", "take", "weigh", "work",
];

/// The question that a message stands for, if it asks the last whole question of something else.
pub(super) fn exchanged(message: &str, history: &[Turn]) -> Option<String> {
    let rest = leaning::after_exchange(message)?;
    let words: Vec<String> = lower_case_words(rest).collect();
    let asks = words.iter().any(|word| is_question_word(word) || is_auxiliary(word));
    if words.is_empty() || words.len() > MOST_WORDS || asks || leaning::has_pronoun(rest) {
        return None;
    }
    let questions = history.iter().rev().filter(|turn| turn.speaker == Speaker::User && !asks_nothing(&turn.text));
    let whole = questions.map(|turn| asking_part(&turn.text)).find(|question| !leaning::exchanges(question))?;
    let of_whole: Vec<String> = lower_case_words(&whole).collect();
    let is_new = words.iter().any(|word| !of_whole.contains(word));
    let is_whole = of_whole.len() >= FEWEST_OF_QUESTION && !leaning::has_pronoun(&whole);
    (is_whole && is_new).then(|| with_instead(&whole, rest))
}

/// A question with these words in the place of its last name or number, else of a phrase that begins alike, else at its end.
fn with_instead(question: &str, instead: &str) -> String {
    let words: Vec<&str> = question.trim_end_matches(['?', '.', '!', ' ']).split_whitespace().collect();
    let is_name = |word: &str| is_named(question, bare(word)) && !has_digit(word);
    let replaces_number = instead.split_whitespace().any(has_digit);
    let is_replaced = |word: &str| if replaces_number { has_digit(word) } else { is_name(word) };
    let first_of_instead = instead.split_whitespace().next();
    let is_phrase = is_one_of(first_of_instead, &PREPOSITIONS);
    let alike = first_of_instead.filter(|_| is_phrase).and_then(|preposition| phrase_with(&words, preposition));
    // Names are written in capitals only by those who do.
    let names_one = instead.split_whitespace().any(|word| word.starts_with(char::is_uppercase));
    let replaced =
        words.iter().rposition(|word| is_replaced(word)).filter(|_| names_one || replaces_number || alike.is_none());
    let without = |range: Range<usize>| {
        (words.get(..range.start).unwrap_or_default(), words.get(range.end..).unwrap_or_default())
    };
    let replacing = |range: Range<usize>| {
        let (before, after) = without(range);
        [before, &[instead], after].concat()
    };
    let Some(last) = replaced else {
        return format!("{}?", replacing(alike.unwrap_or(words.len()..words.len())).join(" "));
    };
    let first = words.iter().take(last).rposition(|word| !is_replaced(word)).map_or(0, |before| before + 1);
    // "In Denmark" gives way to "for the UK", and "Denmark" alone to "the UK".
    let before = |at: usize| at.checked_sub(1).and_then(|before| words.get(before)).copied();
    let start = if is_one_of(before(first), &["the"]) { first - 1 } else { first };
    let is_in_phrase = is_one_of(before(start), &PREPOSITIONS);
    let start = if is_phrase && is_in_phrase { start - 1 } else { start };
    let all = if is_phrase && !is_in_phrase {
        let (before, after) = without(start..last + 1);
        [before, after, &[instead]].concat()
    } else {
        replacing(start..last + 1)
    };
    format!("{}?", all.join(" "))
}

/// The words of the last phrase of a question that begins with a preposition: to its end, but for a verb there.
fn phrase_with(words: &[&str], preposition: &str) -> Option<Range<usize>> {
    let start = words.iter().rposition(|word| word.eq_ignore_ascii_case(preposition)).filter(|start| *start > 0)?;
    let is_verb = |word: &&str| LAST_VERBS.contains(&word.to_lowercase().as_str());
    let has_do = words.iter().take(start).any(|word| is_one_of(Some(word), &["do", "does", "did"]));
    let end = words.len() - usize::from(has_do && words.last().is_some_and(is_verb));
    let named = words.get(start + 1..end)?.iter().filter(|word| !is_one_of(Some(word), &DETERMINERS)).count();
    (named > 0).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Turn {
        Turn { speaker: Speaker::User, text: text.to_owned() }
    }

    #[test]
    fn the_same_is_asked_of_something_else() {
        for (question, message, expected) in [
            ("How long is leave in Denmark?", "And for the UK?", "How long is leave for the UK?"),
            ("How long is leave in Denmark?", "what about Norway", "How long is leave in Norway?"),
            ("How much leave do UK employees have?", "And in Germany?", "How much leave do employees have in Germany?"),
            ("What did the boat cost in 2025?", "and in 2024?", "What did the boat cost in 2024?"),
            ("What is the training budget?", "and for contractors?", "What is the training budget for contractors?"),
            ("What does tune2fs -c do?", "and -i?", "What does tune2fs -i do?"),
            ("hi! What is the budget for the Boats?", "no, I meant Trams", "What is the budget for Trams?"),
            ("What does a jab for a dog cost?", "and for cats?", "What does a jab for cats cost?"),
            ("When is York open on Saturdays?", "on sundays too?", "When is York open on sundays?"),
            (
                "How much discount do I get on food from the shop?",
                "and on fees?",
                "How much discount do I get on fees?",
            ),
            ("how long is the notice for staff in leeds?", "in york", "how long is the notice for staff in york?"),
            ("How long is leave in Denmark?", "in Athen?", "How long is leave in Athen?"),
        ] {
            let history = [user(question)];
            assert_eq!(exchanged(message, &history).as_deref(), Some(expected), "{message}");
        }
        let history = [user("How long is leave in Denmark?"), user("and in Norway?"), user("thanks")];
        assert_eq!(exchanged("and in Peru?", &history).as_deref(), Some("How long is leave in Peru?"));
    }

    #[test]
    fn other_messages_are_no_exchange() {
        let history = [user("How long is leave in Denmark?")];
        for message in ["And how long is it?", "And who approves that?", "Leave in Peru?", "and?", "and is it paid", ""]
        {
            assert_eq!(exchanged(message, &history), None, "{message}");
        }
        assert_eq!(exchanged("and in Peru?", &[user("Who approves it there?")]), None, "not whole by itself");
        assert_eq!(exchanged("and in Peru?", &[]), None);
    }
}
