//! Terms of a text: lower-cased words without their endings, numbers in one spelling, months by number, codes such as
//! `BW-65` in one piece.
//!
//! A number carries its unit.

use std::ops::Range;

use frostem::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use super::unit::{Unit, read_units, scale_of};
use crate::lexical::calendar::day_written;
use crate::lexical::is_empty_in_claims;
use crate::{
    month::{MONTHS, foreign_month},
    wording::{TENS, UNITS, is_negation, lower_case},
};

/// The kind of a term, which decides its weight and how exactly it must be matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermKind {
    /// A word with content.
    Word,
    /// A word that every text holds.
    Stop,
    /// A number written in digits.
    Number,
    /// A number written in words.
    Spelled,
    /// The name or number of a month in a date.
    Month,
}

/// A word or number of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// The compared form: the stem, the number without grouping, or `month:N`.
    pub(super) stem: String,
    pub(super) kind: TermKind,
    /// Bytes of the text.
    pub(super) range: Range<usize>,
    /// The unit that a number counts, where it is stated.
    pub(super) unit: Option<Unit>,
}

impl Term {
    fn new(stem: impl Into<String>, kind: TermKind, range: Range<usize>) -> Self {
        Self { stem: stem.into(), kind, range, unit: None }
    }

    pub(super) const fn is_number(&self) -> bool {
        matches!(self.kind, TermKind::Number | TermKind::Spelled)
    }
}

/// The terms of a text, in order. Linear; about a tenth of a microsecond per byte.
pub(super) fn terms(text: &str) -> Vec<Term> {
    let stemmer = Stemmer::new(Algorithm::English);
    let mut terms: Vec<Term> = Vec::with_capacity(text.len() / 6);
    for (start, word) in text.unicode_word_indices() {
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            push_number(&mut terms, start, word, stemmer);
        } else {
            push_word(&mut terms, text, start, word, stemmer);
        }
    }
    join_codes(&mut terms, text);
    read_iso_dates(&mut terms, text);
    read_written_months(&mut terms, text);
    read_units(&mut terms, text);
    terms
}

fn push_word(terms: &mut Vec<Term>, text: &str, start: usize, word: &str, stemmer: Stemmer) {
    let range = start..start + word.len();
    let lower = lower_case(word);
    let lower = lower.strip_suffix("'s").unwrap_or(&lower);
    let capital = word.starts_with(char::is_uppercase);
    if let Some(month) = month(lower).filter(|_| capital).or_else(|| foreign_month(lower)) {
        terms.push(Term::new(format!("month:{month}"), TermKind::Month, range));
        return;
    }
    if let Some(day) = day_written(word) {
        terms.push(Term::new(day, TermKind::Word, range));
        return;
    }
    if is_empty_in_claims(lower) {
        terms.push(Term::new(lower, TermKind::Stop, range));
        return;
    }
    if let Some(value) = number_word(lower) {
        let tens = terms.last().filter(|last| {
            let gap = text.get(last.range.end..start);
            let is_tens = last.kind == TermKind::Spelled
                && matches!(last.stem.as_str(), "20" | "30" | "40" | "50" | "60" | "70" | "80" | "90");
            is_tens && (1..10).contains(&value) && matches!(gap, Some("-" | " "))
        });
        let sum = tens.and_then(|last| last.stem.parse::<usize>().ok()).map(|tens| tens + value);
        if let (Some(sum), Some(last)) = (sum, terms.last_mut()) {
            last.stem = sum.to_string();
            last.range.end = range.end;
            return;
        }
        terms.push(Term::new(value.to_string(), TermKind::Spelled, range));
        return;
    }
    if let Some(scaled) = scale_of(lower).and_then(|scale| scaled(terms, text, start, scale)) {
        if let Some(last) = terms.last_mut() {
            last.stem = scaled;
            last.range.end = range.end;
        }
        return;
    }
    terms.push(Term::new(stemmer.stem(lower).into_owned(), TermKind::Word, range));
    push_parts_of_label(terms, text, start, word, stemmer);
}

/// The words of a label in small letters: "price" and "eur" of `price_eur: 146.00`.
fn push_parts_of_label(terms: &mut Vec<Term>, text: &str, start: usize, word: &str, stemmer: Stemmer) {
    let is_label = word.contains('_') && text.get(start + word.len()..).is_some_and(|after| after.starts_with(':'));
    if !is_label || word.chars().any(char::is_uppercase) {
        return;
    }
    for (at, part) in word.split('_').scan(start, |at, part| Some((std::mem::replace(at, *at + part.len() + 1), part)))
    {
        // The "no" of `part_no` is a number.
        if !part.is_empty() && !is_empty_in_claims(part) && !is_negation(part) {
            let stem = stemmer.stem(part).into_owned();
            terms.push(Term::new(stem, TermKind::Word, at..at + part.len()));
        }
    }
}

/// The number before, multiplied: "1.5 million" becomes "1500000".
fn scaled(terms: &[Term], text: &str, start: usize, scale: f64) -> Option<String> {
    let last = terms.last().filter(|last| last.is_number())?;
    let touches = matches!(text.get(last.range.end..start), Some(" " | "-" | "\u{a0}"));
    let number: f64 = last.stem.parse().ok().filter(|_| touches)?;
    Some((number * scale).to_string())
}

/// "1,000.50" becomes "1000.5" and "20k" 20000; a unit that touches the number ("25km") becomes a word of its own.
fn push_number(terms: &mut Vec<Term>, start: usize, word: &str, stemmer: Stemmer) {
    let digits =
        word.len() - word.trim_start_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '.' | ',')).len();
    let number = word.get(..digits).unwrap_or_default();
    let unit = word.get(digits..).unwrap_or_default();
    if unit == "k"
        && let Ok(thousands) = plain_number(number).parse::<f64>()
    {
        terms.push(Term::new((thousands * 1e3).to_string(), TermKind::Number, start..start + word.len()));
        return;
    }
    terms.push(Term::new(plain_number(number), TermKind::Number, start..start + digits));
    let unit = unit.to_lowercase();
    if !unit.is_empty() && !matches!(unit.as_str(), "st" | "nd" | "rd" | "th" | "s") {
        let stem = stemmer.stem(&unit).into_owned();
        terms.push(Term::new(stem, TermKind::Word, start + digits..start + word.len()));
    }
}

fn plain_number(number: &str) -> String {
    let grouped = number.split(',').skip(1).all(|group| group.split('.').next().is_some_and(|group| group.len() == 3));
    let mut plain = if grouped { number.replace(',', "") } else { number.replace(',', ".") };
    // The last zeros of a version tell no other one: 3.3.0 is 3.3.
    while plain.matches('.').count() > 1 && plain.ends_with(".0") {
        plain.truncate(plain.len() - ".0".len());
    }
    if plain.matches('.').count() == 1 {
        plain.truncate(plain.trim_end_matches('0').trim_end_matches('.').len());
    }
    let significant = plain.trim_start_matches('0');
    match significant.chars().next() {
        None => "0".to_owned(),
        Some('.') => format!("0{significant}"),
        Some(_) => significant.to_owned(),
    }
}

/// German and French words for numbers that are no words of English.
const FOREIGN_NUMBERS: [(&str, usize); 26] = [
    ("zwei", 2),
    ("drei", 3),
    ("vier", 4),
    ("fünf", 5),
    ("sechs", 6),
    ("sieben", 7),
    ("acht", 8),
    ("neun", 9),
    ("zehn", 10),
    ("zwölf", 12),
    ("fünfzehn", 15),
    ("zwanzig", 20),
    ("dreißig", 30),
    ("vierzig", 40),
    ("fünfzig", 50),
    ("deux", 2),
    ("trois", 3),
    ("quatre", 4),
    ("cinq", 5),
    ("huit", 8),
    ("dix", 10),
    ("douze", 12),
    ("quinze", 15),
    ("vingt", 20),
    ("trente", 30),
    ("quarante", 40),
];

fn number_word(word: &str) -> Option<usize> {
    let unit = UNITS.iter().position(|unit| *unit == word);
    unit.or_else(|| TENS.iter().position(|ten| *ten == word).map(|ten| (ten + 2) * 10))
        .or_else(|| FOREIGN_NUMBERS.iter().find(|(foreign, _)| *foreign == word).map(|(_, number)| *number))
}

fn month(word: &str) -> Option<usize> {
    let is_short = word.len() == 3 || word == "sept";
    MONTHS.iter().position(|name| *name == word || is_short && name.starts_with(word)).map(|month| month + 1)
}

/// Joins the parts of codes by which makers, offices and programs name things: `BW-65`, `MS-35-S`, `INC-2024-031`. Their
/// numbers count nothing. Two such codes are the ends of a range: `E01-E05`.
fn join_codes(terms: &mut Vec<Term>, text: &str) {
    let is_part = |term: &Term| {
        let part = text.get(term.range.clone()).unwrap_or_default();
        part.bytes().all(|sign| sign.is_ascii_uppercase() || sign.is_ascii_digit())
    };
    let word = |term: &Term| text.get(term.range.clone()).unwrap_or_default();
    let begins = |term: &Term| word(term).starts_with(|sign: char| sign.is_ascii_uppercase()) && is_part(term);
    let is_whole = |term: &Term| begins(term) && word(term).ends_with(|sign: char| sign.is_ascii_digit());
    let mut joined: Vec<Term> = Vec::with_capacity(terms.len());
    let mut rest = terms.iter();
    while let Some(first) = rest.next() {
        let mut end = first.range.end;
        let mut parts = vec![first];
        if begins(first) {
            let mut ahead = rest.clone();
            while let Some(next) = ahead.next()
                && text.get(end..next.range.start) == Some("-")
                && is_part(next)
            {
                end = next.range.end;
                parts.push(next);
                rest = ahead.clone();
            }
        }
        let code = text.get(first.range.start..end).unwrap_or_default();
        let is_range = parts.len() == 2 && parts.iter().all(|part| is_whole(part));
        if parts.len() > 1 && !is_range && code.bytes().any(|sign| sign.is_ascii_digit()) {
            let stem = code.replace('-', "").to_lowercase();
            joined.push(Term::new(stem, TermKind::Word, first.range.start..end));
        } else {
            joined.extend(parts.into_iter().cloned());
        }
    }
    *terms = joined;
}

/// Reads the name of a month in small letters beside its day: "from 1 march".
fn read_written_months(terms: &mut [Term], text: &str) {
    for at in 0..terms.len() {
        let Some(term) = terms.get(at).filter(|term| matches!(term.kind, TermKind::Word | TermKind::Stop)) else {
            continue;
        };
        let Some(number) = text.get(term.range.clone()).and_then(month) else { continue };
        let is_day = |other: Option<&Term>| {
            other.is_some_and(|day| {
                let gap = day.range.end.min(term.range.end)..day.range.start.max(term.range.start);
                let is_day = day.kind == TermKind::Number && day.stem.parse::<u8>().is_ok_and(|day| day <= 31);
                is_day && text.get(gap).is_some_and(|gap| matches!(gap, " " | ". "))
            })
        };
        let before = at.checked_sub(1).and_then(|before| terms.get(before));
        if (is_day(before) || is_day(terms.get(at + 1)))
            && let Some(term) = terms.get_mut(at)
        {
            term.stem = format!("month:{number}");
            term.kind = TermKind::Month;
        }
    }
}

/// Reads "2020-01-15" so that it meets "15 January 2020", and "2020 01 15" as names of files have it.
fn read_iso_dates(terms: &mut [Term], text: &str) {
    for at in 1..terms.len().saturating_sub(1) {
        let Some([year, month, day]) = terms.get_mut(at - 1..=at + 1) else {
            continue;
        };
        let gap = text.get(year.range.end..month.range.start);
        let has_two_digits = month.range.len() == 2 && day.range.len() == 2;
        let hyphens = text.get(month.range.end..day.range.start) == gap
            && (gap == Some("-") || has_two_digits && matches!(gap, Some(" " | "_")));
        let numbers = [&year, &month, &day].iter().all(|term| term.kind == TermKind::Number);
        let is_month = month.stem.parse::<usize>().is_ok_and(|month| (1..=12).contains(&month));
        if hyphens && numbers && is_month && year.stem.len() == 4 {
            month.stem = format!("month:{}", month.stem);
            month.kind = TermKind::Month;
        }
    }
}
