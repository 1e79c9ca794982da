//! The kind of thing a question asks for, and whether a sentence holds one. English only.

mod asked;
pub(crate) mod columns;
mod quantity;
/// Whether a sentence tells a number by another one: "the same number of threads as there are CPUs".
fn names_equal_number(sentence: &str) -> bool {
    let sentence = sentence.to_lowercase();
    let is_equal = ["same number", "equal to the number"].iter().any(|cue| sentence.contains(cue));
    is_equal || sentence.split_once("as many ").is_some_and(|(_, rest)| rest.contains(" as "))
}

#[cfg(test)]
mod wordings;

use serde::Serialize;

pub(super) use self::quantity::asks_for_price;

use super::known::KnownWords;
use super::names::{names_a_person, names_a_place};
use crate::lexical::calendar::is_day;
use crate::month::is_month;
use crate::wording::{MOST_OF_NAME, TENS, UNITS, named_value};

/// The kind of answer that a question's wording asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// How many, how much, what percentage.
    Number,
    /// When, in what year.
    Date,
    /// A person: "who", "whose".
    Person,
    /// Where, in what city.
    Place,
    /// A definition: "what is X", "what does X mean".
    Definition,
    /// A list: "what are the", "which kinds", "list", "name two".
    List,
    /// Is it, does it, can one.
    YesNo,
    /// Anything else: no kind is preferred.
    Other,
}

const DEFINITION_CUES: [&str; 17] = [
    " represents ",
    " stand for ",
    " mean ",
    "(a ",
    "(the ",
    " is a ",
    " is an ",
    " is the ",
    " are ",
    " refers to ",
    " means ",
    " defined as ",
    " known as ",
    " called ",
    " is any ",
    " stands for ",
    " was a ",
];
const TIME_WORDS: [&str; 7] = ["century", "centuries", "decade", "today", "summer", "winter", "easter"];
/// Units of time, and of the clock.
pub(crate) const TIME_UNITS: [&str; 42] = [
    "second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month", "months",
    "year", "years", "am", "pm", "a.m", "p.m", "uhr", "minuten", "stunde", "stunden", "tage", "tagen", "woche",
    "wochen", "monat", "monate", "monaten", "jahr", "jahre", "jahren", "heure", "heures", "jour", "jours", "mois",
    "hora", "horas", "día", "días", "giorni",
];
/// Words of quantities beside the numbers below a hundred.
const QUANTITY_WORDS: [&str; 9] =
    ["hundred", "thousand", "million", "billion", "half", "twice", "third", "quarter", "dozen"];

/// Words before and after a "one" that stands for a thing and counts nothing.
const BEFORE_PRONOUN: [&str; 12] =
    ["the", "this", "that", "no", "any", "each", "every", "which", "another", "some", "new", "same"];
const AFTER_PRONOUN: [&str; 28] = [
    "of", "that", "which", "who", "can", "could", "may", "might", "must", "should", "will", "would", "or", "and", "is",
    "was", "has", "to", "for", "with", "in", "at", "on", "by", "from", "does", "another", "else",
];

impl AnswerKind {
    /// Whether a sentence holds something of this kind that the question does not hold itself.
    ///
    /// Every sentence holds `YesNo` and `Other`. Any name counts as one of a person and of a place; see [`Self::fit`].
    #[must_use]
    pub(crate) fn is_held_by(self, question: &KnownWords, sentence: &str) -> bool {
        match self {
            Self::Number => {
                let counts_one = counts_one(sentence);
                new_words(question, sentence)
                    .map(str::to_lowercase)
                    .any(|word| is_number(&word) && (word != "one" || counts_one))
                    || names_equal_number(sentence)
            }
            Self::Date => {
                let may_count = has_time(sentence);
                new_words(question, sentence).any(|word| is_date(&word.to_lowercase(), may_count))
                    || early_years(sentence).any(|year| !words(&question.text).any(|word| word == year))
            }
            Self::Place if new_path(question, sentence) => true,
            Self::Person | Self::Place => {
                // The first word is capitalised whether or not it is a name.
                new_words(question, sentence).skip_while(|word| sentence.starts_with(*word)).any(is_capitalised)
            }
            Self::Definition => {
                let sentence = sentence.to_lowercase();
                names_value(question, &sentence) || DEFINITION_CUES.iter().any(|cue| sentence.contains(cue))
            }
            Self::List => {
                let commas = sentence.matches([',', ';', '、']).count();
                commas >= 2 || commas == 1 && (sentence.contains(" and ") || sentence.contains(" or "))
            }
            Self::YesNo | Self::Other => true,
        }
    }

    /// How well a sentence that holds this kind fits the question, 0 to 1: a name counts half unless the words around
    /// it show that it is of the kind asked for. 0 for kinds that cannot be detected.
    #[must_use]
    pub(crate) fn fit(self, question: &KnownWords, sentence: &str) -> f32 {
        match self {
            kind if !kind.is_seen() => 0.0,
            Self::Person if !names_a_person(question, sentence) => 0.5,
            Self::Place if !names_a_place(question, sentence) && !new_path(question, sentence) => 0.5,
            _ => 1.0,
        }
    }

    /// Whether a sentence begins with a possible name of this kind: its first word is capitalised in any case.
    #[must_use]
    pub(crate) fn may_begin(self, question: &KnownWords, sentence: &str) -> bool {
        let first = words(sentence).next();
        matches!(self, Self::Person | Self::Place) && new_words(question, sentence).next() == first && first.is_some()
    }

    /// Whether the presence of this kind in a sentence can be detected.
    #[must_use]
    pub const fn is_seen(self) -> bool {
        !matches!(self, Self::YesNo | Self::Other)
    }
}

/// Whether a sentence names a file, a folder or an address of the web that the question does not.
fn new_path(question: &KnownWords, sentence: &str) -> bool {
    let is_path = |word: &str| {
        let steps = word.split(['/', '\\']).filter(|step| step.chars().any(char::is_alphanumeric)).count();
        let is_rooted = word.starts_with(['/', '~', '$']) || word.contains("://") || word.contains(":\\");
        is_rooted && steps > 1 && !question.text.contains(word)
    };
    let is_around =
        |sign: char| matches!(sign, '`' | '"' | '\'' | '(' | ')' | ',' | '.' | ';' | '[' | ']' | '<' | '>' | '“' | '”');
    sentence.split_whitespace().any(|word| is_path(word.trim_matches(is_around)))
}

/// Whether a sentence speaks of time, so that a small number in it may be one of days or of hours.
pub(crate) fn has_time(sentence: &str) -> bool {
    let clock = |at: usize, sign: char| {
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let bytes = sentence.as_bytes();
        sign == ':' && at > 0 && digit(bytes.get(at - 1)) && digit(bytes.get(at + 1))
    };
    let is_time = |word: &str| {
        let word = word.to_lowercase();
        is_month(&word) || is_day(&word) || TIME_WORDS.contains(&word.as_str()) || TIME_UNITS.contains(&word.as_str())
    };
    sentence.char_indices().any(|(at, sign)| clock(at, sign)) || words(sentence).any(is_time)
}

/// Whether a sentence, in lower case, is a name of the question with its value: "Address: 12 Mill Lane."
fn names_value(question: &KnownWords, sentence: &str) -> bool {
    let Some((name, _)) = named_value(sentence) else { return false };
    let named: Vec<&str> = words(name).collect();
    (1..=MOST_OF_NAME).contains(&named.len()) && named.iter().all(|word| question.hold_lower_case(word))
}

/// Words of a sentence that do not occur in the question.
fn new_words<'s>(question: &KnownWords, sentence: &'s str) -> impl Iterator<Item = &'s str> {
    words(sentence).filter(|word| !question.hold(word))
}

/// Words and numbers, without the sections of manual pages, as in `mount(8)`: they are parts of names.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | ',' | '\'' | '(' | ')'))
        .flat_map(|part| manual_page(part).unwrap_or(part).split(['(', ')']))
        .map(|word| word.trim_matches(['.', ',', '\'']))
        .filter(|word| !word.is_empty())
}

/// The name of a manual page that is written with its section.
fn manual_page(text: &str) -> Option<&str> {
    let (name, section) = text.trim_end_matches(['.', ',', '\'']).strip_suffix(')')?.split_once('(')?;
    let is_section = section.len() == 1 && section.bytes().all(|byte| byte.is_ascii_digit());
    (is_section && !name.is_empty()).then_some(name)
}

/// Whether a sentence counts one of something: not "the one that", "one of them" or "no one".
fn counts_one(sentence: &str) -> bool {
    let words: Vec<String> = words(sentence).map(str::to_lowercase).collect();
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map(String::as_str);
    words.iter().enumerate().any(|(at, one)| {
        let is_named = word(at.checked_sub(1)).is_some_and(|before| BEFORE_PRONOUN.contains(&before));
        one == "one" && !is_named && word(Some(at + 1)).is_some_and(|after| !AFTER_PRONOUN.contains(&after))
    })
}

/// Whether a word in lower case is a number that counts something.
pub(super) fn is_number_word(word: &str) -> bool {
    (UNITS.contains(&word) && word != "zero") || TENS.contains(&word) || QUANTITY_WORDS.contains(&word)
}

/// Whether a word is a quantity: digits within a name (`X11`) and versions (`1.10.2`) are none.
fn is_number(word: &str) -> bool {
    let is_version = word.matches('.').count() > 1 && word.split('.').any(|group| group.len() != 3);
    let begins_with_digit = word.starts_with(|first: char| first.is_ascii_digit());
    begins_with_digit && !is_version || is_number_word(word)
}

/// Whether a word may be a date or a part of one; a small number only where it `may_count` days or hours, or as an ordinal.
fn is_date(word: &str, may_count: bool) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_year = digits == 4 && word.trim_end_matches('s').chars().all(|c| c.is_ascii_digit());
    let is_ordinal = ["st", "nd", "rd", "th"].iter().any(|end| word.ends_with(end));
    let is_small = digits > 0 && digits <= 2 && (may_count || is_ordinal);
    is_year || is_small || is_month(word) || is_day(word) || TIME_WORDS.contains(&word)
}

/// Numbers of three digits that the word before or after them shows to be years: "in 476", "794 AD". Others count something.
fn early_years(sentence: &str) -> impl Iterator<Item = &str> {
    const BEFORE: [&str; 13] =
        ["after", "around", "before", "between", "by", "circa", "during", "from", "in", "since", "to", "until", "year"];
    const AFTER: [&str; 4] = ["AD", "BC", "BCE", "CE"];
    let all: Vec<&str> = words(sentence).collect();
    let count = all.len();
    let is_early = move |at: usize| {
        let word = *all.get(at)?;
        let digits = word.trim_end_matches('s');
        let before = at.checked_sub(1).and_then(|before| all.get(before)).map(|word| word.to_lowercase());
        let is_shown = before.is_some_and(|before| BEFORE.contains(&before.as_str()))
            || all.get(at + 1).is_some_and(|next| AFTER.contains(next));
        (digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()) && is_shown).then_some(word)
    };
    (0..count).filter_map(is_early)
}

pub(super) fn is_capitalised(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [AnswerKind; 8] = [
        AnswerKind::Number,
        AnswerKind::Date,
        AnswerKind::Person,
        AnswerKind::Place,
        AnswerKind::Definition,
        AnswerKind::List,
        AnswerKind::YesNo,
        AnswerKind::Other,
    ];

    /// Questions of every kind.
    const QUESTION: &str = "(When|in what year|How many|who|Where|what are the|List|Is|What is a|Why)\
        ( [a-zA-Z]{1,5}| [0-9]{1,4}| may| Two){0,5}\\??";

    /// Sentences that hold something of a kind or not, and other characters that a file may contain.
    const SENTENCE: &str = "(([A-Ca-c]{1,2}|[0-9]{1,4}|May|two|is a|and)[ ,;]{1,2}){0,8}\
        |[A-Ca-c0-9 .,;'’?\n\u{0}\u{202e}\u{5d0}\u{301}İßΣ😀、-]{0,30}\
        |(?s:.{0,30})";

    proptest! {
        #[test]
        fn capitals_make_no_other_kind_of_a_question(question in QUESTION) {
            prop_assert_eq!(AnswerKind::of(&question), AnswerKind::of(&question.to_uppercase()));
        }

        #[test]
        fn no_question_holds_its_answer(question in QUESTION) {
            for kind in [AnswerKind::Number, AnswerKind::Date, AnswerKind::Person, AnswerKind::Place] {
                let known = KnownWords::of(&question);
                prop_assert!(!kind.is_held_by(&known, &question));
                prop_assert!(!kind.may_begin(&known, &question));
            }
        }

        #[test]
        fn a_longer_sentence_holds_no_less_and_for_a_longer_question_no_more(
            question in SENTENCE,
            sentence in SENTENCE,
            more in SENTENCE,
        ) {
            let longer_sentence = format!("{sentence} {more}");
            let (question, longer_question) =
                (KnownWords::of(&question), KnownWords::of(&format!("{question} {more}")));
            for kind in ALL {
                let is_held = kind.is_held_by(&question, &sentence);
                prop_assert!(!is_held || kind.is_held_by(&question, &longer_sentence));
                prop_assert!(is_held || !kind.is_held_by(&longer_question, &sentence));
                prop_assert!(is_held || kind.is_seen(), "what cannot be seen is held by every sentence");
            }
        }
    }
}
