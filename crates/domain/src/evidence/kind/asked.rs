//! The kind of answer that the wording of a question asks for.

use super::super::clause::up_to_a_clause;
use super::AnswerKind;
use crate::asking::languages;
use crate::asking::{asks_yes_or_no, is_auxiliary};
use crate::wording::bare;

const LIST_OPENINGS: [&str; 16] = [
    "list ",
    "name the ",
    "name some ",
    "name two ",
    "name three ",
    "what are the ",
    "what were the ",
    "what are some ",
    "what kinds of ",
    "what types of ",
    "what two ",
    "what three ",
    "which two ",
    "which three ",
    "which are the ",
    "enumerate ",
];
const NUMBER_OPENINGS: [&str; 18] = [
    "how many",
    "how much",
    "how long",
    "how old",
    "how far",
    "how often",
    "how tall",
    "how large",
    "how big",
    "how high",
    "how fast",
    "how deep",
    "what percent",
    "what number",
    "what amount",
    "what is the population",
    "what proportion",
    "how wide",
];
/// Quantities that a question for "the …" of something asks the number of.
const QUANTITIES: [&str; 31] = [
    "number",
    "amount",
    "size",
    "cost",
    "price",
    "rate",
    "percentage",
    "length",
    "width",
    "height",
    "depth",
    "weight",
    "age",
    "limit",
    "maximum",
    "minimum",
    "capacity",
    "average",
    "fee",
    "salary",
    "speed",
    "temperature",
    "distance",
    "duration",
    "port",
    "timeout",
    "interval",
    "delay",
    "share",
    "fraction",
    "version",
];
/// Codes that are numbers.
const NUMBERED_CODES: [&str; 5] = ["exit", "status", "error", "return", "response"];
/// Verbs of a code or a quantity that is asked for by itself: "which exit code means …".
const TELLING: [&str; 4] = ["tells", "means", "says", "applies"];
/// Words before "which" and "what" that ask for the same.
const PREPOSITIONS: [&str; 10] = ["since", "from", "in", "at", "on", "with", "by", "until", "up", "to"];
/// Words between "what is the" and the quantity, at most.
const BEFORE_QUANTITY: usize = 2;
const DATE_OPENINGS: [&str; 14] = [
    "when ",
    "what year",
    "which year",
    "what date",
    "what day",
    "what month",
    "what decade",
    "what century",
    "what time",
    "which century",
    "which decade",
    "which month",
    "which day",
    "until when",
];
const PERSON_OPENINGS: [&str; 6] = ["who ", "whom ", "whose ", "who's ", "what person", "which person"];
const PLACE_OPENINGS: [&str; 18] = [
    "where ",
    "what city",
    "which city",
    "what country",
    "which country",
    "what state",
    "which state",
    "what town",
    "what location",
    "what region",
    "which region",
    "what continent",
    "what river",
    "what place",
    "what county",
    "which place",
    "what area",
    "what island",
];
const DEFINITION_OPENINGS: [&str; 6] = ["what is a ", "what is an ", "what are ", "define ", "what does ", "what is "];
/// Verbs after the things that a question asks for, where it is for all of them.
const SEVERAL_VERBS: [&str; 8] = ["do", "does", "can", "may", "are", "have", "has", "must"];
/// Most words of these things.
const MOST_OF_SEVERAL: usize = 3;

impl AnswerKind {
    /// Determines the kind from a question's wording.
    #[must_use]
    pub fn of(question: &str) -> Self {
        // Blanks at both ends let the openings match whole words anywhere: "in what year".
        let foreign = languages::kind_of(question);
        let question = format!(" {} ", question.to_lowercase());
        let asked = up_to_a_clause(&question);
        let asks = |openings: &[&str]| openings.iter().any(|opening| contains_at_word(asked, opening));
        if let Some(kind) = foreign {
            kind
        } else if asks(&DATE_OPENINGS) {
            Self::Date
        } else if asks(&NUMBER_OPENINGS) || asks_for_quantity(&question) || asks_which_quantity(&question) {
            Self::Number
        } else if asks(&PERSON_OPENINGS) {
            Self::Person
        } else if asks(&PLACE_OPENINGS) {
            Self::Place
        } else if asks(&LIST_OPENINGS) || asks_for_several(asked) {
            Self::List
        } else if asks_yes_or_no(after_condition(&question)) {
            Self::YesNo
        } else if DEFINITION_OPENINGS.iter().any(|opening| question.trim_start().starts_with(opening)) {
            Self::Definition
        } else {
            Self::Other
        }
    }
}

/// A question in lower case without the condition before it: "If it breaks, is the repair free?"
fn after_condition(question: &str) -> &str {
    const CONDITIONS: [&str; 8] = ["if ", "when ", "once ", "after ", "before ", "while ", "as ", "since "];
    let begins = CONDITIONS.iter().any(|condition| question.trim_start().starts_with(condition));
    question.split_once(", ").filter(|_| begins).map_or(question, |(_, asked)| asked)
}

fn contains_at_word(text: &str, opening: &str) -> bool {
    text.match_indices(opening).any(|(at, _)| text.get(..at).is_some_and(|before| before.ends_with([' ', '"', '('])))
}

/// Whether a question, in lower case, is for a quantity: "what is the maximum number of", "what was the price of".
fn asks_for_quantity(question: &str) -> bool {
    let openings = ["what is the ", "what was the ", "what are the ", "what were the ", "what's the "];
    let asked = openings.iter().find_map(|opening| question.trim_start().strip_prefix(opening)).unwrap_or_default();
    let mut first = asked.split(' ').map(bare);
    first.by_ref().take(BEFORE_QUANTITY + 1).any(|word| QUANTITIES.contains(&word))
}

/// Whether a question, in lower case, is for a quantity by itself: "what share of the blocks", "which exit code means".
fn asks_which_quantity(question: &str) -> bool {
    // "Since which version …"
    let words = question.split_whitespace().map(bare).skip_while(|word| PREPOSITIONS.contains(word));
    let words: Vec<&str> = words.collect();
    let [opening, rest @ ..] = words.as_slice() else { return false };
    let is_quantity = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| rest.get(before));
        let is_code = rest.get(*at) == Some(&"code") && before.is_some_and(|before| NUMBERED_CODES.contains(before));
        is_code || rest.get(*at).is_some_and(|word| QUANTITIES.contains(word))
    };
    // "Which version of the Bible" is for a name.
    let is_whole = |at: usize| {
        let may_have_parts = rest.get(at) != Some(&"version");
        rest.get(at + 1)
            .is_some_and(|next| is_auxiliary(next) || TELLING.contains(next) || *next == "of" && may_have_parts)
    };
    matches!(*opening, "what" | "which") && (0..=BEFORE_QUANTITY).find(is_quantity).is_some_and(is_whole)
}

/// Whether a question, in lower case, is for several things that somebody or something does or has: "which events does it
/// emit", "what file types are there".
fn asks_for_several(question: &str) -> bool {
    let words: Vec<&str> =
        question.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let [opening, rest @ ..] = words.as_slice() else { return false };
    let verb =
        rest.iter().position(|word| SEVERAL_VERBS.contains(word)).filter(|at| (1..=MOST_OF_SEVERAL).contains(at));
    let noun = verb.and_then(|at| rest.get(at - 1));
    let is_plural = |noun: &&str| {
        noun.len() > 3 && noun.ends_with('s') && !["ss", "us", "is"].iter().any(|end| noun.ends_with(end))
    };
    matches!(*opening, "what" | "which") && noun.is_some_and(is_plural)
}
