//! Things of a kind that are told apart by numbers: "plan 4", "room 207" in "Rooms 205 to 208 are training rooms". English only.

use super::{QuestionTerm, QuestionTerms, TermMask};
use crate::markdown::cells;
use crate::month::MONTHS;

/// Words that a number after them measures; one is no thing of its own.
const MEASURES: [&str; 12] =
    ["age", "ages", "aged", "day", "grade", "hour", "minute", "month", "size", "version", "week", "year"];

/// Words before a kind or its number that make a limit of it.
const LIMITS: [&str; 12] =
    ["above", "after", "before", "below", "beyond", "from", "least", "most", "over", "since", "under", "until"];

/// Words after a number that make a limit of it, also behind "and" and "or".
const GOING_ON: [&str; 12] =
    ["above", "below", "fewer", "higher", "later", "less", "lower", "more", "newer", "onwards", "up", "upwards"];

/// Words that a name with a number ends before.
const AFTER_NAMES: [&str; 24] = [
    "and", "at", "be", "begin", "by", "cost", "end", "expire", "expires", "for", "from", "has", "have", "in", "is",
    "of", "on", "or", "released", "run", "start", "to", "with", "work",
];

/// A thing that a question names by its kind and its number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumberedThing {
    kind: String,
    number: String,
    /// Position of the number's term, if it is one.
    position: Option<usize>,
    /// Whether the number ends the name: "support for portal 3", not "hold 45 litres".
    is_at_end: bool,
}

/// The things that a text names of a kind.
#[derive(Debug, Clone, PartialEq)]
enum Mention {
    One(String),
    /// From one number to another.
    Range(f64, f64),
    /// A limit: "from level 5 on".
    Limit,
}

/// The things of a question that are named by their numbers.
pub(super) fn numbered_things(question: &str, terms: &[QuestionTerm]) -> Vec<NumberedThing> {
    let tokens = tokens(question);
    let is_term = |word: &str| terms.iter().any(|term| term.word.to_lowercase() == word);
    let is_kind = |word: &str| {
        let is_word = word.chars().all(char::is_alphabetic) && is_term(word);
        is_word && !MEASURES.contains(&word) && !MONTHS.contains(&word)
    };
    let after = tokens.iter().skip(2).map(Some).chain([None]);
    let things = tokens.windows(2).zip(after).filter_map(|(pair, after)| match pair {
        [kind, number] if is_kind(kind) && number_of(number).is_some() => Some(NumberedThing {
            is_at_end: after.is_none_or(|word| AFTER_NAMES.contains(&word.as_str())),
            position: terms.iter().position(|term| term.word == *number),
            kind: kind.clone(),
            number: number.clone(),
        }),
        _ => None,
    });
    things.collect()
}

impl QuestionTerms {
    /// Whether the question names one thing by its number, or by an identifier such as a version.
    #[must_use]
    pub fn names_one(&self) -> bool {
        !self.numbered.is_empty() || self.all_identifiers() != 0
    }

    /// The numbers of things that lie in a range of their kind in `text`.
    #[must_use]
    pub fn in_numbered_of(&self, text: &str) -> TermMask {
        let is_in = |thing: &&NumberedThing| {
            number_of(&thing.number).is_some_and(|number| {
                let holds =
                    |mention: &Mention| matches!(mention, Mention::Range(from, to) if (*from..=*to).contains(&number));
                mentions(text, &thing.kind).iter().any(holds)
            })
        };
        let positions = self.numbered.iter().filter(is_in).filter_map(|thing| thing.position);
        positions.fold(0, |mask, position| mask | 1 << position)
    }

    /// Whether the question names a thing by its number and texts name several of its kind, but not this one, also not in a range
    /// or as a cell of a table; one other is enough where the number ends the name. Where one is told of by a limit, it may be meant.
    #[must_use]
    pub fn names_unheard_number(&self, texts: &[&str]) -> bool {
        let is_unheard = |thing: &NumberedThing| {
            let all: Vec<Mention> = texts.iter().flat_map(|text| mentions(text, &thing.kind)).collect();
            let number = number_of(&thing.number);
            let is_another = |mention: &Mention| match mention {
                Mention::One(other) => *other != thing.number,
                Mention::Range(from, to) => number.is_some_and(|number| !(*from..=*to).contains(&number)),
                Mention::Limit => false,
            };
            let are_several =
                all.first().is_some_and(|first| thing.is_at_end || all.iter().any(|other| other != first));
            let is_cell = |line: &str| line.contains('|') && cells(line).any(|(_, cell)| cell == thing.number);
            are_several && all.iter().all(is_another) && !texts.iter().flat_map(|text| text.lines()).any(is_cell)
        };
        self.numbered.iter().any(is_unheard)
    }
}

/// The words of a text in small letters, numbers with their points, and the signs that join numbers. Not those of amounts
/// ([`super::range`]), of which "2b" is two of something: here it is the name of a room.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    for sign in text.chars().chain([' ']) {
        if sign.is_alphanumeric() || sign == '.' {
            word.extend(sign.to_lowercase());
            continue;
        }
        let bare = word.trim_matches('.');
        if !bare.is_empty() {
            tokens.push(bare.to_owned());
        }
        word.clear();
        match sign {
            '-' | '–' | '—' => tokens.push("-".to_owned()),
            ',' | '+' | '&' => tokens.push(sign.to_string()),
            _ => {}
        }
    }
    tokens
}

fn number_of(token: &str) -> Option<f64> {
    let is_number = token.starts_with(|sign: char| sign.is_ascii_digit())
        && token.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    // Of a version of three parts the first two order it well enough.
    let parts: Vec<&str> = token.splitn(3, '.').take(2).collect();
    is_number.then(|| parts.join(".").parse().ok())?
}

/// The things of a kind that a text names by their numbers, in the singular or in the plural.
fn mentions(text: &str, kind: &str) -> Vec<Mention> {
    // Most texts have no word of it.
    if !text.to_lowercase().contains(kind) {
        return Vec::new();
    }
    let tokens = tokens(text);
    let is_kind = |token: &str| token.strip_prefix(kind).is_some_and(|ending| matches!(ending, "" | "s" | "es"));
    let mut found = Vec::new();
    for (place, _) in tokens.iter().enumerate().filter(|(_, token)| is_kind(token)) {
        let before = place.checked_sub(1).and_then(|before| tokens.get(before));
        found.extend(numbers_at(&tokens, place + 1, before.is_some_and(|before| LIMITS.contains(&before.as_str()))));
    }
    found
}

/// The numbers of a list that begins at a token: "2, 3 and 5 to 7".
fn numbers_at(tokens: &[String], start: usize, is_limit: bool) -> Vec<Mention> {
    let at = |place: usize| tokens.get(place).map_or("", String::as_str);
    let mut found = Vec::new();
    let mut place = start;
    while let Some(number) = number_of(at(place)) {
        let is_range = matches!(at(place + 1), "-" | "to" | "through");
        let end = number_of(at(place + 2)).filter(|_| is_range);
        found.push(end.map_or_else(|| Mention::One(at(place).to_owned()), |end| Mention::Range(number, end)));
        place += if end.is_some() { 3 } else { 1 };
        let joint = matches!(at(place), "," | "and" | "or" | "&");
        let after = at(place + usize::from(joint));
        if is_limit || GOING_ON.contains(&after) || at(place) == "+" {
            return vec![Mention::Limit];
        }
        if !joint {
            break;
        }
        place += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    const HALL: &str = "Plan 2 has jars of 4 litres, plans 5 and 6 have lids. Rooms 205 to 208 are for kilns, room 210 is dark. \
                        From level 5 on jars are blue, as on level 7.";

    fn terms(question: &str) -> QuestionTerms {
        QuestionTerms::new(Analyzer::english(), question, 10, |_| 1)
    }

    #[test]
    fn a_number_lies_in_a_range_of_its_kind() {
        for (question, expected) in [
            ("What is room 207 for?", true),
            ("What is in Room 208?", true),
            ("What is room 209 for?", false),
            ("What has plan 5?", false),
            ("Which of 207 rooms is dark?", false),
        ] {
            assert_eq!(terms(question).in_numbered_of(HALL) != 0, expected, "{question}");
        }
        assert_ne!(terms("What is room 3 for?").in_numbered_of("rooms 2–4"), 0);
    }

    #[test]
    fn a_number_that_no_thing_of_a_kind_has_is_unheard_of() {
        let table = "| Plan | Jars |\n|---|---|\n| 9 | 3 |";
        for (question, expected) in [
            ("What has plan 4?", true),
            ("How many litres are in a jar of Plan 7.1?", true),
            ("What is room 204 for?", true),
            ("What has plan 6?", false),
            ("What has plan 9?", false),
            ("What is room 207 for?", false),
            ("What is on level 6?", false),
            ("What has the plan of 12 jars?", false),
            ("Which plan has 9 jars?", false),
            ("What has lid 9?", false),
            // One other is told of.
            ("What is on shelf 8?", true),
            ("How many jars fit shelf 8 metres long?", false),
        ] {
            let table = &format!("{table}\n\nShelf 4 is full.");
            assert_eq!(terms(question).names_unheard_number(&[HALL, table]), expected, "{question}");
        }
    }
}
