//! Questions for the row of a table with the most or the least of something: "Which pump has the longest range?".
//!
//! The column that is meant is found by its name, its figures are read, and the rows with the greatest or the least of them
//! answer; any other row would be wrong. English only.

use super::AnswerSource;
use super::candidate::SentenceCandidate;
use super::row::columns_and_values;
use crate::column_names::Names;
use crate::evidence::Question;
use crate::wording::{bare, is_unlimited, lower_case_words, says_yes};

/// Words for the most of something, and for the least.
const MOST: [&str; 15] = [
    "biggest",
    "costliest",
    "dearest",
    "fastest",
    "greatest",
    "heaviest",
    "highest",
    "largest",
    "longest",
    "maximum",
    "most",
    "priciest",
    "tallest",
    "thickest",
    "widest",
];
const LEAST: [&str; 11] = [
    "cheapest",
    "fewest",
    "least",
    "lightest",
    "lowest",
    "minimum",
    "narrowest",
    "shortest",
    "slowest",
    "smallest",
    "thinnest",
];

/// Words that end what the superlative is said of: "the longest range of all".
const ENDS: [&str; 34] = [
    "a", "all", "and", "are", "at", "between", "by", "can", "could", "did", "do", "does", "during", "for", "from",
    "had", "has", "have", "in", "is", "of", "on", "or", "than", "that", "the", "there", "to", "under", "was", "were",
    "which", "with", "without",
];

/// Most words that the superlative is said of.
const MOST_WORDS: usize = 3;

/// Words before a condition that must not be met, and most words between.
const DENYING: [&str; 4] = ["no", "not", "lacks", "without"];
const MOST_BEFORE: usize = 2;

/// Fewest rows among which one has the most.
const FEWEST_ROWS: usize = 2;

/// Bonus of the row that has it; the other scores range from 0 to about 1.
pub(super) const EXTREME: f32 = 1.0;

/// Fewest letters of a word that others may begin with.
const STEM: usize = 4;

/// A question for the most or the least.
pub(super) struct Superlative {
    is_most: bool,
    /// The words that it is said of.
    of: Vec<String>,
    /// The names of the column that is meant, where the superlative tells it.
    meant: Option<&'static Names>,
}

/// A row as its columns and values.
pub(super) type Cells = Vec<(String, String)>;

impl Superlative {
    /// The superlative of a question for the one thing that has it.
    pub(super) fn asked_for(question: &str) -> Option<Self> {
        let words: Vec<String> = lower_case_words(question).collect();
        let is_word = |at: usize, list: &[&str]| words.get(at).is_some_and(|word| list.contains(&word.as_str()));
        let asks = (0..3).any(|at| is_word(at, &["which", "what", "who", "whose", "where"]))
            || [&MOST[..], &LEAST].iter().any(|list| is_word(usize::from(is_word(0, &["the"])), list));
        let (at, is_most) = words.iter().enumerate().find_map(|(at, word)| {
            let is_in = |list: &[&str]| list.contains(&word.as_str());
            (is_in(&MOST) || is_in(&LEAST)).then(|| (at, is_in(&MOST)))
        })?;
        // "at most", "the most of", "most people".
        let before = at.checked_sub(1).and_then(|before| words.get(before)).map(String::as_str);
        if !asks || before == Some("at") {
            return None;
        }
        let mut rest = words.get(at + 1..)?;
        let mut own = words.get(at)?.as_str();
        if let Some(adjective) = rest.first().filter(|word| matches!(word.as_str(), "expensive" | "heavy")) {
            own = adjective;
            rest = rest.get(1..)?;
        }
        let meant = Names::meant_by(own);
        let of = rest.iter().take_while(|word| !ENDS.contains(&word.as_str())).take(MOST_WORDS).cloned().collect();
        Some(Self { is_most, of, meant })
    }

    /// Of the rows of a table those with the most, or the least, by their numbers; `None` where the column that is meant cannot
    /// be told.
    pub(super) fn extremes(&self, question: &Question, rows: &[Cells]) -> Option<Vec<usize>> {
        let column = self.column(rows)?;
        let conditions = Condition::all(question, &column, rows);
        let meets = |number: &usize| rows.get(*number).is_some_and(|row| conditions.iter().all(|own| own.is_met(row)));
        let rows_asked_for = narrowed(question, &column, rows).into_iter().filter(meets);
        let mut figures: Vec<(usize, f64)> = Vec::new();
        let mut unit: Option<String> = None;
        for number in rows_asked_for {
            let value = rows.get(number)?.iter().find(|(name, _)| *name == column).map(|(_, value)| value.as_str());
            if value.is_some_and(is_unlimited) {
                figures.push((number, f64::INFINITY));
                continue;
            }
            let Some((figure, of)) = value.and_then(figure) else { continue };
            // "2 years" and "12 months" need more than their numbers.
            if *unit.get_or_insert_with(|| of.clone()) != of {
                return None;
            }
            figures.push((number, figure));
        }
        // One that alone meets the conditions has the most.
        let fewest = if conditions.is_empty() { FEWEST_ROWS } else { 1 };
        if figures.len() < fewest {
            return None;
        }
        let values = figures.iter().map(|(_, figure)| *figure);
        let extreme = if self.is_most { values.fold(f64::MIN, f64::max) } else { values.fold(f64::MAX, f64::min) };
        let has_it = |(_, figure): &&(usize, f64)| figure.total_cmp(&extreme).is_eq();
        Some(figures.iter().filter(has_it).map(|(number, _)| *number).collect())
    }

    /// The name of the column that is meant: one with figures, whose name has most of the words that the superlative is said of, or
    /// one of those that it means by itself.
    fn column(&self, rows: &[Cells]) -> Option<String> {
        let mut names: Vec<&String> = Vec::new();
        for (name, value) in rows.iter().flatten() {
            if !names.contains(&name) && figure(value).is_some() && !name.is_empty() {
                names.push(name);
            }
        }
        // "sla_percent" is two words.
        let words = |name: &str| lower_case_words(&name.replace('_', " ")).collect::<Vec<_>>();
        let said = |name: &str| words(name).iter().filter(|word| self.of.iter().any(|of| is_same(of, word))).count();
        let means = |name: &str| self.meant.is_some_and(|names| names.name(name));
        let most = names.iter().map(|name| said(name)).max().filter(|most| *most > 0);
        let is_said = |name: &&&String| most.is_some_and(|most| said(name) == most);
        let found: Vec<&&String> = match names.iter().filter(|name| means(name)).count() {
            0 => names.iter().filter(is_said).collect(),
            _ => names.iter().filter(|name| means(name)).collect(),
        };
        let [only] = found.as_slice() else { return None };
        Some((**only).clone())
    }
}

/// A column that says yes or no and that the question names: "the cheapest plan with SSO".
struct Condition {
    column: String,
    yes: bool,
}

impl Condition {
    /// Those of a question beside the column with the figures.
    fn all(question: &Question, column: &str, rows: &[Cells]) -> Vec<Self> {
        let asked: Vec<String> = lower_case_words(&question.asked).collect();
        let mut found: Vec<Self> = Vec::new();
        for (name, value) in rows.iter().flatten().filter(|(name, _)| name != column) {
            let is_known = found.iter().any(|known| known.column == *name);
            let Some(start) = named_at(&asked, name).filter(|_| !is_known && says_yes(value).is_some()) else {
                continue;
            };
            let before = asked.get(start.saturating_sub(MOST_BEFORE)..start).unwrap_or_default();
            let is_denied = before.iter().any(|word| DENYING.contains(&word.as_str()));
            found.push(Self { column: name.clone(), yes: !is_denied });
        }
        found
    }

    fn is_met(&self, row: &Cells) -> bool {
        let value = row.iter().find(|(name, _)| *name == self.column).and_then(|(_, value)| says_yes(value));
        value == Some(self.yes)
    }
}

/// The place of the words of a column's name in those of a question.
fn named_at(asked: &[String], name: &str) -> Option<usize> {
    let words: Vec<String> = lower_case_words(name).collect();
    let is_it = |window: &[String]| window.iter().zip(&words).all(|(own, word)| is_same(own, word));
    asked.windows(words.len().max(1)).position(is_it).filter(|_| !words.is_empty())
}

/// The rows that have what the question names in their cells, where some have it and others do not: "machine" of articles in
/// groups. All of them where it names nothing of the kind.
fn narrowed(question: &Question, column: &str, rows: &[Cells]) -> Vec<usize> {
    let holds = |row: &Cells, word: &str| {
        row.iter().filter(|(name, _)| name != column).any(|(_, value)| {
            // "V-brake" is a brake.
            let parts = value.split_whitespace().flat_map(|whole| whole.split('-').chain([whole]));
            parts.map(bare).any(|part| is_same(&part.to_lowercase(), word))
        })
    };
    let mut kept: Vec<usize> = (0..rows.len()).collect();
    for term in question.terms.terms() {
        let word = term.word.to_lowercase();
        let some: Vec<usize> =
            kept.iter().copied().filter(|number| rows.get(*number).is_some_and(|row| holds(row, &word))).collect();
        if some.len() >= FEWEST_ROWS {
            kept = some;
        }
    }
    kept
}

/// Whether a question is for the one thing with the most or the least of something.
#[must_use]
pub fn asks_for_extreme(question: &str) -> bool {
    Superlative::asked_for(question).is_some()
}

/// Leaves of the rows of each table those with the most, or the least, and prefers them. Where the column cannot be told, or the
/// table goes on elsewhere, none of its rows answers: the whole of it may be given.
pub(super) fn prefer_extremes(
    superlative: &Superlative,
    question: &Question,
    sources: &[AnswerSource<'_>],
    found: &mut [SentenceCandidate],
) {
    for (number, source) in sources.iter().enumerate() {
        let is_own = |row: &SentenceCandidate| row.is_row && row.source == number;
        let rows: Vec<Cells> =
            found.iter().filter(|row| is_own(row)).map(|row| columns_and_values("", &row.text)).collect();
        let extremes = superlative.extremes(question, &rows).filter(|_| !source.has_cut_table);
        for (place, row) in found.iter_mut().filter(|row| is_own(row)).enumerate() {
            match &extremes {
                Some(extremes) if extremes.contains(&place) => row.bonus += EXTREME,
                _ => row.is_fragment = true,
            }
        }
    }
}

/// Whether two words are the same but for an ending: "complaint" and "complaints".
fn is_same(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short == long || short.len() >= STEM && long.strip_prefix(short).is_some_and(|ending| matches!(ending, "s" | "es"))
}

/// The first figure of a cell, and the word behind it: `30` and "years" of "30 years". A point or a comma before three digits
/// parts thousands.
fn figure(cell: &str) -> Option<(f64, String)> {
    let start = cell.find(|sign: char| sign.is_ascii_digit())?;
    let before = cell.get(..start)?.trim();
    // A name with a number in it is no figure; the code of a currency is no name.
    let is_currency = before.len() == 3 && before.bytes().all(|byte| byte.is_ascii_uppercase());
    if before.contains(char::is_alphabetic) && !is_currency {
        return None;
    }
    let is_negative = before.ends_with(['-', '−']);
    let rest = cell.get(start..)?;
    let inner = |sign: char| sign.is_ascii_digit() || matches!(sign, '.' | ',' | '\u{a0}' | '\'');
    let length = rest.find(|sign: char| !inner(sign)).unwrap_or(rest.len());
    let number = rest.get(..length)?.trim_end_matches(|sign: char| !sign.is_ascii_digit());
    let after = rest.get(number.len()..)?.trim_start();
    // A date, a range, a number in parts.
    if after.starts_with(['-', '–', '/', ':']) || after.starts_with(|sign: char| sign.is_ascii_digit()) {
        return None;
    }
    let unit =
        after.split(|sign: char| sign.is_whitespace() || matches!(sign, '(' | ',' | ';')).next().unwrap_or_default();
    let value: f64 = plain_number(number).parse().ok()?;
    Some((if is_negative { -value } else { value }, unit.trim_end_matches('s').to_lowercase()))
}

/// A number with a point before its fraction, and nothing between thousands.
fn plain_number(number: &str) -> String {
    let signs = ['.', ',', '\u{a0}', '\''];
    let last = number.rfind(signs);
    let is_fraction = last.is_some_and(|at| {
        let sign = number.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('.');
        let digits = number.len() - at - sign.len_utf8();
        let is_repeated = number.matches(sign).count() > 1;
        matches!(sign, '.' | ',') && !is_repeated && (digits != 3 || number.get(..at) == Some("0"))
    });
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    match last.filter(|_| is_fraction) {
        Some(at) => {
            format!("{}.{}", digits(number.get(..at).unwrap_or_default()), digits(number.get(at..).unwrap_or_default()))
        }
        None => digits(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    fn rows(table: &[&[&str]]) -> Vec<Cells> {
        let (header, body) = table.split_first().expect("a header");
        let row = |row: &&[&str]| {
            header.iter().zip(*row).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        body.iter().map(row).collect()
    }

    fn chosen(question: &str, table: &[&[&str]]) -> Option<Vec<usize>> {
        let parsed = Question::new(Analyzer::english(), question, 100, |_| 5);
        Superlative::asked_for(question)?.extremes(&parsed, &rows(table))
    }

    #[test]
    fn the_row_with_the_most_is_chosen() {
        let pumps: &[&[&str]] = &[
            &["Pump", "Kind", "Warranty of the seal", "List price EUR", "Weight (kg)", "Range"],
            &["P 100", "basin", "25 years", "9.850,00", "290", "280 km"],
            &["P 200", "well", "30 years", "14,500", "1,100", "520 km"],
            &["P 300", "well", "12 years", "890.50", "–", "520 km"],
            &["P 400", "roof-basin", "9 years", "EUR 10200", "95", "300 km"],
        ];
        let cases: [(&str, Option<&[usize]>); 11] = [
            ("Which pump has the longest seal warranty?", Some(&[1])),
            ("Which is the cheapest pump?", Some(&[2])),
            ("Which is the heaviest basin pump?", Some(&[0])),
            ("What is the most expensive pump?", Some(&[1])),
            ("Which basin pump has the lowest weight?", Some(&[3])),
            ("which is the heaviest", Some(&[1])),
            ("Which pump has the longest range?", Some(&[1, 2])),
            ("Which pump has the longest lid?", None),
            ("Which pump has at most 5 lids?", None),
            ("Is it the heaviest?", None),
            ("Which pump is red?", None),
        ];
        for (question, expected) in cases {
            assert_eq!(chosen(question, pumps).as_deref(), expected, "{question}");
        }
    }

    #[test]
    fn conditions_of_columns_that_say_yes_are_met() {
        let plans: &[&[&str]] = &[
            &["Plan", "Users", "SSO", "Audit log", "Price (EUR)"],
            &["Free", "3", "no", "no", "0"],
            &["Team", "20", "no", "yes", "12"],
            &["Business", "100", "yes", "yes", "24"],
            &["Enterprise", "unlimited", "yes", "yes", "60"],
        ];
        let cases: [(&str, Option<&[usize]>); 5] = [
            ("Which is the cheapest plan?", Some(&[0])),
            ("Which plan is the cheapest with SSO?", Some(&[2])),
            ("Which is the most expensive plan without SSO?", Some(&[1])),
            ("Which is the most expensive plan without an audit log?", Some(&[0])),
            ("Which plan has the most users?", Some(&[3])),
        ];
        for (question, expected) in cases {
            assert_eq!(chosen(question, plans).as_deref(), expected, "{question}");
        }
    }

    #[test]
    fn what_cannot_be_told_by_numbers_is_not() {
        let mixed: &[&[&str]] = &[&["Tin", "Guarantee"], &["red", "2 years"], &["old", "12 months"]];
        assert_eq!(chosen("Which tin has the longest guarantee?", mixed), None);
        let two: &[&[&str]] = &[&["Tin", "Price in May", "Price in June"], &["red", "2", "3"], &["old", "4", "1"]];
        assert_eq!(chosen("Which is the cheapest tin?", two), None);
        let services: &[&[&str]] = &[&["name", "sla_percent"], &["ember", "99.99"], &["sconce", "99.995"]];
        for question in ["which service has the highest SLA", "highest SLA of all services?", "the highest sla"] {
            assert_eq!(chosen(question, services), Some(vec![1]), "{question}");
        }
        let months: &[&[&str]] = &[
            &["Month", "Tins", "Complaints"],
            &["2025-01", "24", "6"],
            &["2025-02", "20", "13"],
            &["2025-03", "3", "9"],
        ];
        assert_eq!(chosen("in which month did we have the most complaints", months), Some(vec![1]));
    }

    #[test]
    fn figures_are_read_with_their_unit() {
        for (cell, expected) in [
            ("9.850,00", Some((9850.0, ""))),
            ("1.234.567", Some((1_234_567.0, ""))),
            ("18.5", Some((18.5, ""))),
            ("0.125 l", Some((0.125, "l"))),
            ("30 years", Some((30.0, "year"))),
            ("EUR 5", Some((5.0, ""))),
            ("P 100", None),
            ("−4 °C", Some((-4.0, "°c"))),
            ("2025-01", None),
            ("none", None),
        ] {
            assert_eq!(figure(cell), expected.map(|(value, unit)| (value, unit.to_owned())), "{cell}");
        }
    }
}
