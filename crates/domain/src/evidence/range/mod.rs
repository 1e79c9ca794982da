//! Ranges of numbers in a text, "15–29 min", "30 minutes and more", "below 80", and the amounts of a question that lie in
//! them: a row for 15 to 29 minutes is about a delay of 20. English and German.

mod tokens;

use self::tokens::{NO_UNITS, Tokens};
use super::currencies::sign_of;
use super::{QuestionTerm, QuestionTerms, TermMask};
use crate::month::is_month;

/// Words before the least number of a range that belongs to it, and before one that does not.
const FROM: [&str; 2] = ["from", "ab"];
const OVER: [&str; 6] = ["over", "above", "exceeding", "beyond", "über", ">"];
/// The same before "than".
const MORE: [&str; 7] = ["more", "older", "longer", "greater", "larger", "later", "higher"];
/// Words before the greatest number.
const UP_TO: [&str; 3] = ["within", "until", "bis"];
const BELOW: [&str; 4] = ["below", "under", "unter", "<"];
const LESS: [&str; 7] = ["less", "fewer", "younger", "shorter", "smaller", "earlier", "lower"];
/// Words after the least number: "30 and more", "18 or over".
const AND_MORE: [&str; 10] =
    ["more", "over", "above", "older", "longer", "later", "upwards", "greater", "up", "beyond"];
/// The same after the greatest.
const AND_LESS: [&str; 7] = ["less", "fewer", "under", "below", "younger", "shorter", "earlier"];
/// Words between the two.
const BETWEEN: [&str; 3] = ["to", "bis", "till"];
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

/// The amounts that a question gives: its numbers but years, dates and those that are names.
pub(super) fn amounts(question: &str) -> Vec<Amount> {
    let tokens = Tokens::of(question);
    let is_amount = |at: &usize| {
        let (before, after) = (tokens.before(*at, 1), tokens.word(*at + 1));
        let is_of_date = is_month(before) || is_month(after) || tokens.begins_date(*at);
        !is_of_date && !tokens.is_year(*at) && !NAMING.contains(&before) && !is_name_in(question, before)
    };
    let of = |at: usize| {
        let (value, digits) = tokens.number(at)?;
        Some(Amount { digits: digits.to_owned(), value, unit: tokens.unit(at) })
    };
    (0..tokens.len()).filter(is_amount).filter_map(of).collect()
}

/// Whether a question writes a word as a name, of which a number is a part: "Ubuntu 22.04". A preposition may begin it.
fn is_name_in(question: &str, word: &str) -> bool {
    let prepositions = [&FROM[..], &OVER, &UP_TO, &BELOW, &BETWEEN, &NO_UNITS, &["after", "before"]];
    let may_precede = prepositions.iter().any(|words| words.contains(&word));
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

    /// Whether an amount of the question lies in a range of `text`; `None` if it gives none, several that may be of
    /// one unit, or `text` has no range of its unit.
    #[must_use]
    pub fn range_fit(&self, text: &str) -> Option<bool> {
        self.fit_of_any(|amount| fit(amount, text))
    }

    /// The same for a cell whose column the question names: a range without a unit is of that of its column. An amount that the
    /// header holds is the name of another column.
    #[must_use]
    pub fn range_fit_in_column(&self, header: &str, cell: &str) -> Option<bool> {
        let header = Tokens::of(header);
        let is_column = |amount: &Amount| {
            let mut digits = (0..header.len()).filter_map(|at| header.number(at));
            digits.any(|(_, digits)| digits == amount.digits)
        };
        let is_comparable = |range: &NumberRange, amount: &Amount| {
            range.unit.is_none() && !is_column(amount) || range.is_of_unit(amount)
        };
        self.fit_of_any(|amount| within(amount, cell, |range| is_comparable(range, amount)))
    }

    fn fit_of_any(&self, fit: impl Fn(&Amount) -> Option<bool>) -> Option<bool> {
        match self.amounts.as_slice() {
            [amount] => fit(amount),
            [one, other] if one.is_of_other_unit(other) => match (fit(one), fit(other)) {
                (Some(one), Some(other)) => Some(one || other),
                (one, other) => one.or(other),
            },
            _ => None,
        }
    }
}

impl Amount {
    fn is_of_other_unit(&self, other: &Self) -> bool {
        matches!((&self.unit, &other.unit), (Some(own), Some(others)) if !is_same_unit(own, others))
    }
}

/// Whether an amount lies in a range of a text; `None` if the text has no range of its unit.
pub(super) fn fit(amount: &Amount, text: &str) -> Option<bool> {
    within(amount, text, |range| range.is_of_unit(amount))
}

/// Whether an amount lies in one of the ranges of a text that are comparable with it; `None` if there is none.
fn within(amount: &Amount, text: &str, is_comparable: impl Fn(&NumberRange) -> bool) -> Option<bool> {
    if !text.contains(|sign: char| sign.is_ascii_digit()) {
        return None;
    }
    let comparable = ranges(&Tokens::of(text)).into_iter().filter(is_comparable);
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
    let in_full = |unit: &str| ABBREVIATED.iter().find(|(short, _)| *short == unit).map(|(_, long)| (*long).to_owned());
    let whole = |unit: &str| sign_of(unit).map(String::from).or_else(|| in_full(unit)).unwrap_or(unit.to_owned());
    let (one, other) = (whole(one), whole(other));
    one.chars().take(TELLING).eq(other.chars().take(TELLING))
}

fn ranges(tokens: &Tokens) -> Vec<NumberRange> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let range = tokens.number(at).filter(|_| !is_part_of_name(tokens, at)).and_then(|(least, _)| {
            let next = at + 1 + usize::from(tokens.has_unit(at));
            let closed = closed_range(tokens, at, next, least).map(|range| (range, next + 2));
            closed.or_else(|| Some((open_range(tokens, at, next, least)?, at + 1)))
        });
        at = range.as_ref().map_or(at + 1, |(_, end)| *end);
        found.extend(range.map(|(range, _)| range));
    }
    found
}

/// The range from a number, which stands at `at`, to another one behind what stands, after its unit, at `next`.
fn closed_range(tokens: &Tokens, at: usize, next: usize, least: f64) -> Option<NumberRange> {
    let is_joined = match tokens.word(next) {
        "" => tokens.is_dash(next) && !tokens.begins_date(next + 1),
        "and" => tokens.before(at, 1) == "between",
        word => BETWEEN.contains(&word),
    };
    let (greatest, _) = tokens.number(next + 1).filter(|(greatest, _)| is_joined && *greatest > least)?;
    Some(NumberRange { least, greatest, unit: tokens.unit(next + 1).or_else(|| tokens.unit(at)) })
}

/// The range of one number, which stands at `at` and is followed, after its unit, by what stands at `next`.
fn open_range(tokens: &Tokens, at: usize, next: usize, value: f64) -> Option<NumberRange> {
    let (before, farther) = (tokens.before(at, 1), tokens.before(at, 2));
    let is_denied = matches!(tokens.before(at, 3), "no" | "not");
    let (and, after) = (tokens.word(next), tokens.word(next + 1));
    let is_joined = matches!(and, "and" | "or");
    let (from, up_to) = ((value, f64::INFINITY), (f64::NEG_INFINITY, value));
    let (over, below) = ((value.next_up(), f64::INFINITY), (f64::NEG_INFINITY, value.next_down()));
    let (least, greatest) = match (farther, before) {
        (more, "than") if MORE.contains(&more) => {
            if is_denied {
                up_to
            } else {
                over
            }
        }
        (less, "than") if LESS.contains(&less) => {
            if is_denied {
                from
            } else {
                below
            }
        }
        ("at", "least") | (_, "minimum" | "mindestens" | "≥") => from,
        ("at", "most") | ("up", "to") | (_, "maximum" | "max" | "höchstens" | "≤") => up_to,
        (_, word) if FROM.contains(&word) => from,
        (_, word) if UP_TO.contains(&word) => up_to,
        (_, word) if OVER.contains(&word) => over,
        (_, word) if BELOW.contains(&word) => below,
        _ if is_joined && AND_MORE.contains(&after) || matches!(and, "+" | "plus" | "upwards") => from,
        _ if is_joined && AND_LESS.contains(&after) => up_to,
        _ => return None,
    };
    Some(NumberRange { least, greatest, unit: tokens.unit(at) })
}

/// Whether a number is a part of a name, a date or a longer number: "version 3.9", "1 January".
fn is_part_of_name(tokens: &Tokens, at: usize) -> bool {
    let (before, after) = (tokens.before(at, 1), tokens.word(at + 1));
    let is_named = NAMING.iter().any(|name| before == *name || before.strip_suffix('s') == Some(name));
    is_named || is_month(before) || is_month(after) || tokens.ends_date(at) || tokens.is_padded(at)
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
            ("an order of 600 pounds", "up to £2,000", "up to £250"),
            ("an order of 600 EUR", "€500 to €1,000", "£500 to £1,000"),
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
