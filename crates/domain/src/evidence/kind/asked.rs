//! The kind of answer that the wording of a question asks for.

use super::super::clause::up_to_a_clause;
use super::super::phrase::{asked_of, is_one_of, noun_phrase};
use super::AnswerKind;

use super::quantity::{asks_for_price, asks_for_quantity, asks_which_quantity, names_quantity};
use crate::asking::languages;
use crate::asking::{asks_yes_or_no, is_auxiliary, is_question_word};
use crate::wording::bare;

const LIST_OPENINGS: [&str; 18] = [
    "list the ",
    "list all ",
    "list some ",
    "name the ",
    "name all ",
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
];
/// The same at the beginning only: "what is a waiting list" asks for none.
const LIST_BEGINNINGS: [&str; 2] = ["list ", "enumerate "];
const NUMBER_OPENINGS: [&str; 27] = [
    "how many",
    "how much",
    "how long",
    "how old",
    "how far",
    "how often",
    "how frequently",
    "how tall",
    "how large",
    "how big",
    "how high",
    "how low",
    "how fast",
    "how quickly",
    "how soon",
    "how deep",
    "how wide",
    "how thick",
    "how heavy",
    "how hot",
    "how cold",
    "how warm",
    "how expensive",
    "what percent",
    "which percent",
    "what amount",
    "what proportion",
];
const DATE_OPENINGS: [&str; 22] = [
    "when ",
    "what year",
    "which year",
    "what date",
    "which date",
    "what day",
    "which day",
    "what weekday",
    "which weekday",
    "what month",
    "which month",
    "what decade",
    "which decade",
    "what century",
    "which century",
    "what time",
    "what hour",
    "which hour",
    "how late ",
    "how early ",
    "deadline for ",
    "deadline of ",
];
/// Nouns of a date: "what is the deadline".
const DATES: [&str; 7] = ["date", "deadline", "birthday", "day", "month", "year", "weekday"];
/// Words before "time" where it is one of the clock: "what is the closing time".
const OF_CLOCK: [&str; 9] =
    ["arrival", "closing", "departure", "end", "ending", "finishing", "opening", "start", "starting"];
const PERSON_OPENINGS: [&str; 4] = ["who ", "whom ", "whose ", "what person"];
/// Callings and offices, in the singular: those that are names of parts of software as well ("driver") are missing.
const CALLINGS: [&str; 56] = [
    "actor",
    "actress",
    "anaesthetist",
    "anesthetist",
    "architect",
    "artist",
    "astronaut",
    "athlete",
    "attorney",
    "author",
    "bishop",
    "captain",
    "chairman",
    "chairwoman",
    "chef",
    "clerk",
    "colleague",
    "consultant",
    "dentist",
    "doctor",
    "emperor",
    "employee",
    "engineer",
    "explorer",
    "founder",
    "governor",
    "inventor",
    "judge",
    "king",
    "lawyer",
    "mayor",
    "midwife",
    "minister",
    "musician",
    "novelist",
    "nurse",
    "officer",
    "painter",
    "person",
    "philosopher",
    "physician",
    "physicist",
    "poet",
    "politician",
    "pope",
    "president",
    "prince",
    "princess",
    "professor",
    "queen",
    "scientist",
    "senator",
    "singer",
    "surgeon",
    "teacher",
    "technician",
];
/// Words of a name of a person that a question asks for: "what is the name of the head nurse".
const OFFICES: [&str; 14] = [
    "ceo",
    "cfo",
    "chair",
    "chairperson",
    "contact",
    "cto",
    "director",
    "head",
    "husband",
    "manager",
    "owner",
    "secretary",
    "supervisor",
    "wife",
];
/// Words after "the name of" among which the office stands.
const NAMED_WITHIN: usize = 4;
const PLACE_OPENINGS: [&str; 18] = [
    "where ",
    "what city",
    "which city",
    "what country",
    "which country",
    "what state",
    "which state",
    "what town",
    "which town",
    "what location",
    "what region",
    "which region",
    "what continent",
    "what river",
    "what place",
    "which place",
    "what county",
    "what island",
];
/// Nouns of places right before the verb of a question for one: "which room is".
const SITES: [&str; 16] = [
    "address",
    "area",
    "building",
    "directory",
    "district",
    "file",
    "floor",
    "folder",
    "hotel",
    "office",
    "path",
    "province",
    "room",
    "street",
    "village",
    "wing",
];
/// Verbs after them, beside auxiliaries.
const HOLDING: [&str; 6] = ["contains", "defines", "has", "holds", "keeps", "stores"];
const DEFINITION_OPENINGS: [&str; 8] = [
    "what are ",
    "define ",
    "what do they mean by ",
    "what do we mean by ",
    "what do you mean by ",
    "what does ",
    "what is ",
    "meaning of ",
];
/// Verbs after the things that a question asks for, where it is for all of them.
const SEVERAL_VERBS: [&str; 9] = ["do", "does", "can", "may", "are", "exist", "have", "has", "must"];
/// Most words of these things.
const MOST_OF_SEVERAL: usize = 3;

impl AnswerKind {
    /// Determines the kind from a question's wording.
    #[must_use]
    pub fn of(question: &str) -> Self {
        if let Some(kind) = languages::kind_of(question) {
            return kind;
        }
        let words = plain_words(question);
        // Blanks at both ends let the openings match whole words anywhere: "in what year".
        let question = format!(" {} ", words.join(" "));
        let asked = up_to_a_clause(&question);
        let words: Vec<&str> = asked.split_whitespace().map(bare).collect();
        let asks = |openings: &[&str]| openings.iter().any(|opening| contains_at_word(asked, opening));
        let begins = |openings: &[&str]| openings.iter().any(|opening| question.trim_start().starts_with(opening));
        if asks(&DATE_OPENINGS) || asks_for_date(&words) {
            Self::Date
        } else if asks(&NUMBER_OPENINGS)
            || asks_for_quantity(&words)
            || asks_which_quantity(&words)
            || asks_for_price(&words)
            || names_quantity(&words)
        {
            Self::Number
        } else if asks(&PERSON_OPENINGS) || asks_for_calling(&words) || asks_for_name_of_person(&words) {
            Self::Person
        } else if asks(&PLACE_OPENINGS) || asks_for_site(&words) {
            Self::Place
        } else if asks(&LIST_OPENINGS) || begins(&LIST_BEGINNINGS) || asks_for_several(&words) {
            Self::List
        } else if asks_yes_or_no(after_condition(&question)) {
            Self::YesNo
        } else if begins(&DEFINITION_OPENINGS) {
            Self::Definition
        } else {
            Self::Other
        }
    }
}

/// The words of a question in lower case, contractions written out and without the signs around them but commas: "What's
/// the fee?" is "what is the fee".
fn plain_words(question: &str) -> Vec<String> {
    let question = question.to_lowercase().replace('’', "'");
    let is_around = |sign: char| !sign.is_alphanumeric() && sign != ',';
    let mut words = Vec::new();
    for word in question.split_whitespace().map(|word| word.trim_matches(is_around)).filter(|word| !word.is_empty()) {
        let asking = word.strip_suffix("'s").or_else(|| word.strip_suffix('s')).filter(|word| is_question_word(word));
        match asking {
            Some(asking) if words.is_empty() => words.extend([asking.to_owned(), "is".to_owned()]),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// A question in lower case without the condition before it: "If it breaks, is the repair free?"
fn after_condition(question: &str) -> &str {
    const CONDITIONS: [&str; 8] = ["if ", "when ", "once ", "after ", "before ", "while ", "as ", "since "];
    let begins = CONDITIONS.iter().any(|condition| question.trim_start().starts_with(condition));
    question.split_once(", ").filter(|_| begins).map_or(question, |(_, asked)| asked)
}

fn contains_at_word(text: &str, opening: &str) -> bool {
    text.match_indices(opening).any(|(at, _)| text.get(..at).is_some_and(|before| before.ends_with(' ')))
}

/// Whether a question is for a date by its name: "what is the due date of", "what was the closing time".
fn asks_for_date(words: &[&str]) -> bool {
    match noun_phrase(words) {
        [.., of, "time" | "times"] => OF_CLOCK.contains(of),
        [.., date] => DATES.contains(date),
        [] => false,
    }
}

/// Whether a question is for somebody by a calling: "which engineer designed", "which nurses have".
fn asks_for_calling(words: &[&str]) -> bool {
    matches!(asked_of(words), [calling, _, ..] if is_one_of(&CALLINGS, calling))
}

/// Whether a question is for the name of somebody: "what is the name of the head nurse".
fn asks_for_name_of_person(words: &[&str]) -> bool {
    let ["what", "is" | "was", "the", "name", "of", rest @ ..] = words else { return false };
    rest.iter().take(NAMED_WITHIN).any(|word| OFFICES.contains(word) || CALLINGS.contains(word))
}

/// Whether a question is for a place by its noun, right before the verb: "which room is", "in which file are".
fn asks_for_site(words: &[&str]) -> bool {
    matches!(asked_of(words), [site, verb, ..] if is_one_of(&SITES, site) && (is_auxiliary(verb) || HOLDING.contains(verb)))
}

/// Whether a question is for several things that somebody or something does or has: "which events does it emit", "what file
/// types are there".
fn asks_for_several(words: &[&str]) -> bool {
    let [opening, rest @ ..] = words else { return false };
    let verb =
        rest.iter().position(|word| SEVERAL_VERBS.contains(word)).filter(|at| (1..=MOST_OF_SEVERAL).contains(at));
    let noun = verb.and_then(|at| rest.get(at - 1));
    let is_plural = |noun: &&str| {
        noun.len() > 3 && noun.ends_with('s') && !["ss", "us", "is"].iter().any(|end| noun.ends_with(end))
    };
    matches!(*opening, "what" | "which") && noun.is_some_and(is_plural)
}
