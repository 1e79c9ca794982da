//! Ranges of numbers in a text, "15–29 min", "30 minutes and more", "below 80", and the amounts of a question that lie in
//! them: a row for 15 to 29 minutes is about a delay of 20. English and German.

use std::iter::Peekable;
use std::str::CharIndices;

use super::{QuestionTerm, QuestionTerms, TermMask};
use crate::month::is_month;

/// Words before the least number of a range, alone and before "than".
const FROM: [&str; 8] = ["from", "over", "above", "exceeding", "beyond", "ab", "über", ">"];
const MORE: [&str; 7] = ["more", "older", "longer", "greater", "larger", "later", "higher"];
/// The same before the greatest.
const UP_TO: [&str; 7] = ["below", "under", "within", "until", "bis", "unter", "<"];
const LESS: [&str; 7] = ["less", "fewer", "younger", "shorter", "smaller", "earlier", "lower"];
/// Words after the least number: "30 and more", "18 or over".
const AND_MORE: [&str; 10] =
    ["more", "over", "above", "older", "longer", "later", "upwards", "greater", "up", "beyond"];
/// The same after the greatest.
const AND_LESS: [&str; 7] = ["less", "fewer", "under", "below", "younger", "shorter", "earlier"];
/// Words between the two.
const BETWEEN: [&str; 3] = ["to", "bis", "till"];
/// Words after a number that are no unit.
const NO_UNITS: [&str; 24] = [
    "and", "are", "as", "at", "but", "by", "for", "from", "if", "in", "is", "of", "on", "or", "per", "than", "that",
    "the", "then", "to", "was", "when", "which", "with",
];
/// Words of which the number after them is a name: "train 29", "step 3".
const NAMING: [&str; 32] = [
    "article",
    "build",
    "bus",
    "chapter",
    "class",
    "code",
    "error",
    "exit",
    "flat",
    "form",
    "gate",
    "grade",
    "house",
    "level",
    "line",
    "no",
    "number",
    "page",
    "paragraph",
    "part",
    "platform",
    "port",
    "room",
    "route",
    "section",
    "status",
    "step",
    "train",
    "type",
    "unit",
    "version",
    "volume",
];
/// Units and the letters that stand for them.
const ABBREVIATED: [(&str, &str); 9] = [
    ("h", "hours"),
    ("hr", "hours"),
    ("hrs", "hours"),
    ("s", "seconds"),
    ("yr", "years"),
    ("yrs", "years"),
    ("c", "degrees"),
    ("people", "persons"),
    ("mon", "months"),
];
/// Letters of a unit that tell it from others: "min", "minutes".
const TELLING: usize = 3;

/// A number that a question gives, with its unit: "20 minutes".
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    /// Its digits, as the question writes them.
    pub(super) digits: String,
    value: f64,
    unit: Option<String>,
}

/// A range of numbers. The ends belong to it unless a word leaves them out.
#[derive(Debug, Clone, PartialEq)]
struct NumberRange {
    least: f64,
    greatest: f64,
    unit: Option<String>,
}

/// A sign or a word of a text.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number {
        value: f64,
        digits: String,
        currency: Option<char>,
    },
    Word(String),
    /// A dash; whether it stands between two signs without blanks.
    Dash {
        is_tight: bool,
    },
    /// The end of a phrase.
    Stop,
}

/// The amounts that a question gives: its numbers but years, dates and those that are names.
pub(super) fn amounts(question: &str) -> Vec<Amount> {
    let tokens = tokens(question);
    let word = |at: Option<usize>| match at.and_then(|at| tokens.get(at)) {
        Some(Token::Word(word)) => Some(word.as_str()),
        _ => None,
    };
    let is_named = |word: &str| NAMING.contains(&word) || is_name_in(question, word);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Number { value, digits, .. } = token else { continue };
        let (before, after) = (word(at.checked_sub(1)), word(Some(at + 1)));
        let is_of_date = [before, after].into_iter().flatten().any(is_month) || is_dashed(&tokens, at);
        let is_year = digits.len() == 4 && digits.starts_with(['1', '2']) && unit_of(&tokens, at).is_none();
        if !is_of_date && !is_year && !before.is_some_and(is_named) {
            found.push(Amount { digits: digits.clone(), value: *value, unit: unit_of(&tokens, at) });
        }
    }
    found
}

/// Whether a question writes a word as a name, of which a number is a part: "Ubuntu 22.04". A preposition may begin it.
fn is_name_in(question: &str, word: &str) -> bool {
    let may_precede =
        [&FROM[..], &UP_TO, &BETWEEN, &NO_UNITS].concat().contains(&word) || matches!(word, "after" | "before");
    let is_it = |other: &str| other.starts_with(char::is_uppercase) && other.to_lowercase() == word;
    !may_precede && question.split(|sign: char| !sign.is_alphabetic()).any(is_it)
}

impl QuestionTerms {
    /// The terms that are amounts and lie in a range of `text`.
    #[must_use]
    pub fn in_ranges_of(&self, text: &str) -> TermMask {
        let is_it = |term: &QuestionTerm, amount: &Amount| term.word.replace(',', "") == amount.digits;
        let position = |amount: &Amount| self.terms.iter().position(|term| is_it(term, amount));
        let within = self.amounts.iter().filter(|amount| fit(amount, text) == Some(true));
        within.filter_map(position).fold(0, |mask, position| mask | 1 << position)
    }

    /// Whether the one amount of the question lies in a range of `text`; `None` if it gives several or none, or `text` has no
    /// range of its unit.
    #[must_use]
    pub fn range_fit(&self, text: &str) -> Option<bool> {
        let [amount] = self.amounts.as_slice() else { return None };
        fit(amount, text)
    }
}

/// Whether an amount lies in a range of a text; `None` if the text has no range of its unit.
pub(super) fn fit(amount: &Amount, text: &str) -> Option<bool> {
    if !text.contains(|sign: char| sign.is_ascii_digit()) {
        return None;
    }
    let comparable = ranges(&tokens(text)).into_iter().filter(|range| range.is_of_unit(amount));
    comparable.map(|range| range.contains(amount)).reduce(|one, other| one || other)
}

impl NumberRange {
    /// Whether it is of the unit of an amount; of an amount without one any range may be.
    fn is_of_unit(&self, amount: &Amount) -> bool {
        let Some(asked) = &amount.unit else { return true };
        self.unit.as_ref().is_some_and(|own| is_same_unit(own, asked))
    }

    fn contains(&self, amount: &Amount) -> bool {
        (self.least..=self.greatest).contains(&amount.value)
    }
}

fn is_same_unit(one: &str, other: &str) -> bool {
    let whole = |unit: &str| {
        ABBREVIATED.iter().find(|(short, _)| *short == unit).map_or(unit.to_owned(), |(_, long)| (*long).to_owned())
    };
    let (one, other) = (whole(one), whole(other));
    one.chars().take(TELLING).eq(other.chars().take(TELLING))
}

fn ranges(tokens: &[Token]) -> Vec<NumberRange> {
    let number = |at: usize| match tokens.get(at) {
        Some(Token::Number { value, .. }) => Some(*value),
        _ => None,
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(value) = number(at).filter(|_| !is_part_of_name(tokens, at)) else {
            at += 1;
            continue;
        };
        let unit = unit_at(tokens, at + 1);
        let next = at + 1 + usize::from(unit.is_some());
        let is_joined = match tokens.get(next) {
            Some(Token::Dash { .. }) => !is_dashed(tokens, next + 1),
            Some(Token::Word(word)) if word == "and" => {
                at.checked_sub(1).and_then(|at| tokens.get(at)) == Some(&Token::Word("between".to_owned()))
            }
            Some(Token::Word(word)) => BETWEEN.contains(&word.as_str()),
            _ => false,
        };
        if let Some(greatest) = number(next + 1).filter(|greatest| is_joined && *greatest > value) {
            let unit = unit_of(tokens, next + 1).or_else(|| unit_of(tokens, at));
            found.push(NumberRange { least: value, greatest, unit });
            at = next + 2;
            continue;
        }
        if let Some((least, greatest)) = open_range(tokens, at, next, value) {
            found.push(NumberRange { least, greatest, unit: unit_of(tokens, at) });
        }
        at += 1;
    }
    found
}

/// The ends of a range with one number, which stands at `at` and is followed, after its unit, by what stands at `next`.
fn open_range(tokens: &[Token], at: usize, next: usize, value: f64) -> Option<(f64, f64)> {
    let word = |at: Option<usize>| match at.and_then(|at| tokens.get(at)) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let (before, farther) = (word(at.checked_sub(1)), word(at.checked_sub(2)));
    let is_denied = matches!(word(at.checked_sub(3)), "no" | "not");
    let (and, after) = (word(Some(next)), word(Some(next + 1)));
    let is_joined = matches!(and, "and" | "or");
    let (from, up_to) = ((value, f64::INFINITY), (f64::NEG_INFINITY, value));
    match (farther, before) {
        (more, "than") if MORE.contains(&more) => {
            Some(if is_denied { up_to } else { (value.next_up(), f64::INFINITY) })
        }
        (less, "than") if LESS.contains(&less) => {
            Some(if is_denied { from } else { (f64::NEG_INFINITY, value.next_down()) })
        }
        ("at", "least") | (_, "minimum" | "mindestens" | "≥" | "from" | "ab") => Some(from),
        ("at", "most") | ("up", "to") | (_, "maximum" | "max" | "höchstens" | "≤" | "within" | "until" | "bis") => {
            Some(up_to)
        }
        (_, more) if FROM.contains(&more) => Some((value.next_up(), f64::INFINITY)),
        (_, less) if UP_TO.contains(&less) => Some((f64::NEG_INFINITY, value.next_down())),
        _ if is_joined && AND_MORE.contains(&after) || matches!(and, "+" | "plus" | "upwards") => Some(from),
        _ if is_joined && AND_LESS.contains(&after) => Some(up_to),
        _ => None,
    }
}

/// Whether a number is a part of a date or a longer number with dashes: "2025-12-04", "0421-555".
fn is_dashed(tokens: &[Token], at: usize) -> bool {
    let is_tight = |at: Option<usize>| at.and_then(|at| tokens.get(at)) == Some(&Token::Dash { is_tight: true });
    let is_number = |at: usize| matches!(tokens.get(at), Some(Token::Number { .. }));
    is_padded(tokens, at) && is_tight(at.checked_sub(1)) || is_tight(Some(at + 1)) && is_number(at + 2)
}

/// Whether a number is a part of a name, a date or a longer number: "version 3.9", "1 January".
fn is_part_of_name(tokens: &[Token], at: usize) -> bool {
    let word = |at: Option<usize>| match at.and_then(|at| tokens.get(at)) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let (before, after) = (word(at.checked_sub(1)), word(Some(at + 1)));
    let is_named = NAMING.iter().any(|name| before == *name || before.strip_suffix('s') == Some(name));
    is_named || is_month(before) || is_month(after) || is_end_of_date(tokens, at) || is_padded(tokens, at)
}

/// Whether a number is written with zeros before it, as in dates and telephone numbers.
fn is_padded(tokens: &[Token], at: usize) -> bool {
    matches!(tokens.get(at), Some(Token::Number { digits, .. })
        if digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit))
}

/// Whether a number follows another one and a dash without blanks.
fn is_end_of_date(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let farther = at.checked_sub(2).and_then(|at| tokens.get(at));
    before == Some(&Token::Dash { is_tight: true }) && matches!(farther, Some(Token::Number { .. }))
}

/// The unit of a number: its currency, or the word after it.
fn unit_of(tokens: &[Token], at: usize) -> Option<String> {
    match tokens.get(at) {
        Some(Token::Number { currency: Some(sign), .. }) => Some(sign.to_string()),
        // "10+ persons".
        _ if tokens.get(at + 1) == Some(&Token::Word("+".to_owned())) => unit_at(tokens, at + 2),
        _ => unit_at(tokens, at + 1),
    }
}

/// The word that is the unit of a number before it.
fn unit_at(tokens: &[Token], at: usize) -> Option<String> {
    let at = if tokens.get(at) == Some(&Token::Dash { is_tight: true }) { at + 1 } else { at };
    match tokens.get(at) {
        Some(Token::Word(word)) if word.starts_with(char::is_alphabetic) && !NO_UNITS.contains(&word.as_str()) => {
            Some(word.clone())
        }
        _ => None,
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut signs = text.char_indices().peekable();
    let mut tokens = Vec::new();
    let (mut is_after_blank, mut currency) = (true, None);
    while let Some((at, sign)) = signs.next() {
        let rest = text.get(at..).unwrap_or_default();
        match sign {
            _ if sign.is_ascii_digit() => {
                let digits: String = digits_of(rest).chars().filter(|sign| *sign != ',').collect();
                skip(&mut signs, at + digits_of(rest).len());
                tokens.push(digits.parse().map_or(Token::Stop, |value| Token::Number { value, digits, currency }));
            }
            _ if sign.is_alphabetic() => {
                let word: String = rest.chars().take_while(|sign| sign.is_alphabetic()).collect();
                skip(&mut signs, at + word.len());
                tokens.push(Token::Word(word.to_lowercase()));
            }
            '-' | '–' | '—' => {
                let is_before_blank = signs.peek().is_none_or(|(_, next)| next.is_whitespace());
                tokens.push(Token::Dash { is_tight: !is_after_blank && !is_before_blank });
            }
            '<' | '>' | '≤' | '≥' | '+' => tokens.push(Token::Word(sign.to_string())),
            '%' | '°' | '$' | '£' | '€' | '¥' => {}
            _ if sign.is_whitespace() => {}
            _ => tokens.push(Token::Stop),
        }
        is_after_blank = sign.is_whitespace();
        currency = Some(sign).filter(|sign| matches!(sign, '$' | '£' | '€' | '¥'));
    }
    tokens
}

/// The digits at the beginning of a text, with what stands between them in a number.
fn digits_of(text: &str) -> &str {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let belongs = |at: usize| is_digit(at) || matches!(bytes.get(at), Some(b'.' | b',')) && is_digit(at + 1);
    let end = (0..bytes.len()).find(|at| !belongs(*at)).unwrap_or(bytes.len());
    text.get(..end).unwrap_or_default()
}

fn skip(signs: &mut Peekable<CharIndices<'_>>, end: usize) {
    while signs.next_if(|(at, _)| *at < end).is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_lies_in_the_range_that_holds_it() {
        for (question, inside, outside) in [
            ("The bus is 20 minutes late.", "15–29 min: hold", "30 min and more: cancel"),
            ("What if it is 45 min late?", "30-59 min | 50 %", "60 to 119 min | 100 %"),
            ("The score is 72.", "Below 80: 5 % off", "Below 70: 12 % off"),
            ("Gusts of 65 mph?", "from 50 mph to 74 mph", "over 75 mph"),
            ("I am 7 years old.", "5 to 10 years", "more than 10 years"),
            ("after 12 years", "more than 10 years", "up to 10 years"),
            ("a group of 15 people", "10+ persons", "fewer than 10"),
            ("At 8 degrees?", "between 2 and 8 °C", "8.1 to 12 °C"),
            ("with 30 days", "30 days or more", "less than 30 days"),
            ("an order of £300", "at least £250", "no more than £250"),
            ("2 hours late", "1 to 3 hours", "1 to 3 days"),
            ("for 1000 users", "up to 2000 users", "on versions 3.9 and above"),
            ("a claim of £800", "£200.01 to £1,000", "£1,000.01 – £5,000"),
            ("a claim of €800", "€200 to €1,000", "£200 to £1,000"),
        ] {
            let asked = amounts(question);
            assert_eq!(fit(&asked[0], inside), Some(true), "{question} {inside}");
            assert_ne!(fit(&asked[0], outside), Some(true), "{question} {outside}");
        }
    }

    #[test]
    fn names_dates_and_years_are_no_amounts() {
        for question in [
            "When is train 29 due?",
            "What happened in 2024?",
            "Who is on duty on 6 December?",
            "since 2025-11-04",
            "exit code 8",
            "",
        ] {
            assert!(amounts(question).is_empty(), "{question}");
        }
        assert_eq!(amounts("1,500 kg and 12-year-olds").len(), 2);
    }

    #[test]
    fn dates_and_single_numbers_are_no_ranges() {
        let asked = amounts("It is 12 minutes late.");
        for text in ["2025-11-14", "0421-555", "12 minutes", "from 1 January", "Room 11 to the left", "", "10 and 11"] {
            assert_eq!(fit(&asked[0], text), None, "{text}");
        }
    }
}
