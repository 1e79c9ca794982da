//! The terms of a claim, and which of them the source must hold exactly.

use std::collections::HashMap;
use std::ops::Range;

use super::MissingKind;
use super::contradiction::is_year;
use super::polarity::Claim;
use crate::citation::term::{Term, TermKind};
use crate::citation::unit::{Unit, is_currency};
use crate::lexical::calendar::is_day;
use crate::lexical::function_words::is_german;
use crate::wording::{Quantity, lower_case};

/// Words that begin a sentence before a name and are no part of it.
const BEFORE_NAMES: [&str; 20] = [
    "Although", "Among", "Because", "Besides", "Except", "However", "Instead", "Like", "Neither", "Once", "Only",
    "Since", "Though", "Unless", "Unlike", "Until", "Whether", "While", "Whose", "Yes",
];

/// German nouns around a value, which have capitals and are no names. Sorted by use.
const GERMAN_NOUNS: [&str; 20] = [
    "Jahr",
    "Jahre",
    "Jahren",
    "Höhe",
    "Millionen",
    "Milliarden",
    "Tausend",
    "Euro",
    "Prozent",
    "Cent",
    "Anzahl",
    "Zahl",
    "Betrag",
    "Wert",
    "Tag",
    "Tage",
    "Monat",
    "Monate",
    "Woche",
    "Uhr",
];

/// A term of a claim, with its weight.
#[derive(Clone)]
pub(super) struct Fact<'c> {
    pub(super) stem: String,
    pub(super) text: &'c str,
    pub(super) kind: TermKind,
    pub(super) weight: f32,
    /// Set when the source must hold it.
    pub(super) exact: Option<MissingKind>,
    pub(super) unit: Option<Unit>,
    pub(super) is_negated: bool,
    pub(super) quantity: Option<Quantity>,
    /// Whether it is a number of a reference mark, such as "[4, 6]", and may count nothing.
    pub(super) is_reference: bool,
}

impl Fact<'_> {
    /// The same one where the sources need not hold it.
    pub(super) fn settled(&self) -> Self {
        Self { exact: None, kind: TermKind::Stop, weight: 0.0, ..self.clone() }
    }

    /// Whether it carries content by itself.
    pub(super) fn has_content(&self) -> bool {
        self.kind != TermKind::Stop
    }

    /// Whether it is a number below a hundred, in digits or as a word: one that many texts hold.
    pub(super) fn is_small_number(&self) -> bool {
        let is_number = matches!(self.kind, TermKind::Number | TermKind::Spelled);
        is_number && !self.is_reference && self.stem.len() <= 2
    }

    /// Whether it is a number in digits and no year.
    pub(super) fn counts(&self) -> bool {
        self.kind == TermKind::Number && !is_year(self.unit, &self.stem)
    }

    /// Whether it is a number in digits or a date.
    pub(super) fn is_value(&self) -> bool {
        !self.is_reference && matches!(self.exact, Some(MissingKind::Number | MissingKind::Date))
    }

    /// Whether it is a number, a date or a name.
    pub(super) fn is_exact(&self) -> bool {
        self.exact.is_some() || self.kind == TermKind::Spelled
    }
}

/// The distinct terms of a claim.
pub(super) fn facts<'c>(claim: &Claim<'c>) -> Vec<Fact<'c>> {
    let Claim { text: claim, terms, denials, .. } = claim;
    let mut facts: Vec<Fact<'_>> = Vec::with_capacity(terms.len());
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(terms.len());
    for (at, term) in terms.iter().enumerate() {
        let exact = match term.kind {
            TermKind::Number => Some(MissingKind::Number),
            TermKind::Month => Some(MissingKind::Date),
            // "Two" is often "both": its absence counts, but is no proof.
            TermKind::Stop | TermKind::Spelled => None,
            TermKind::Word if is_day(&term.stem) => Some(MissingKind::Date),
            TermKind::Word => is_name(claim, terms, at).then_some(MissingKind::Name),
        };
        let weight = match (term.kind, exact) {
            (TermKind::Stop, _) => 0.1,
            (TermKind::Spelled, _) | (_, Some(_)) => 1.5,
            (_, None) => 1.0,
        };
        if let Some(fact) = seen.get(term.stem.as_str()).and_then(|known| facts.get_mut(*known)) {
            fact.exact = fact.exact.or(exact);
            fact.weight = fact.weight.max(weight);
            continue;
        }
        seen.insert(&term.stem, facts.len());
        let text = claim.get(term.range.clone()).unwrap_or_default();
        facts.push(Fact {
            stem: term.stem.clone(),
            text,
            kind: term.kind,
            weight,
            exact,
            unit: term.unit,
            is_negated: denials.reach(at),
            quantity: Quantity::of(&text.to_lowercase())
                .filter(|quantity| *quantity != Quantity::Only || restricts(claim, &term.range)),
            is_reference: term.kind == TermKind::Number && is_in_brackets(claim, &term.range),
        });
    }
    facts
}

/// Whether an "only" there restricts what the claim is about, as in "Only staff may" and "only for staff". "It only begins in
/// June" and "only up to five" do not.
fn restricts(claim: &str, word: &Range<usize>) -> bool {
    let before = claim.get(..word.start).unwrap_or_default().trim_end_matches(' ');
    let begins = before.is_empty() || before.ends_with([',', ';', ':', '.', '*']);
    let next = claim.get(word.end..).unwrap_or_default().split_whitespace().next().unwrap_or_default();
    begins || matches!(next, "by" | "for" | "from" | "if" | "in" | "on" | "to" | "when" | "with")
}

/// Whether a word is a German article that begins a sentence. In small letters they are words of English too.
fn is_article(word: &str) -> bool {
    matches!(word, "Das" | "Die" | "Eines")
}

fn in_german(claim: &str, terms: &[Term]) -> bool {
    terms.iter().filter_map(|term| claim.get(term.range.clone())).any(|word| is_german(&lower_case(word)))
}

/// Whether the word stands between square brackets that hold nothing but numbers.
fn is_in_brackets(claim: &str, word: &Range<usize>) -> bool {
    let is_number = |sign: char| sign.is_ascii_digit() || matches!(sign, ',' | ' ' | '-' | '–');
    let before = claim.get(..word.start).unwrap_or_default().trim_end_matches(is_number);
    let after = claim.get(word.end..).unwrap_or_default().trim_start_matches(is_number);
    before.ends_with('[') && after.starts_with(']')
}

/// Whether a word is a name: capitals or digits inside it, or a first capital that its position does not explain. Codes of
/// currencies and words such as "whether" are none.
pub(in crate::citation) fn is_name(claim: &str, terms: &[Term], at: usize) -> bool {
    let capital = |term: &Term| claim.get(term.range.clone()).is_some_and(|word| word.starts_with(char::is_uppercase));
    let Some(term) = terms.get(at).filter(|term| capital(term)) else {
        return false;
    };
    let word = claim.get(term.range.clone()).unwrap_or_default();
    if is_currency(word) {
        return false;
    }
    if word.chars().skip(1).any(|sign| sign.is_uppercase() || sign.is_ascii_digit()) {
        return true;
    }
    if is_german(&lower_case(word)) || is_article(word) || GERMAN_NOUNS.contains(&word) && in_german(claim, terms) {
        return false;
    }
    let before = claim.get(..term.range.start).unwrap_or_default().trim_end_matches(' ');
    let begins = before.is_empty()
        || before.ends_with([
            '.', ':', '!', '?', '“', '"', '(', '*', '\n', '|', '-', '•', '>', '‘', '\'', '[', '_', ';', '—', '–',
        ]);
    if !begins {
        return true;
    }
    // "Marie Curie" at the start: the second capital vouches for the first.
    !BEFORE_NAMES.contains(&word)
        && terms.get(at + 1).is_some_and(|next| {
            // In "Use POST" it does not.
            let is_plain = claim.get(next.range.clone()).is_some_and(|next| next.chars().any(char::is_lowercase));
            next.kind == TermKind::Word
                && capital(next)
                && is_plain
                && claim.get(term.range.end..next.range.start) == Some(" ")
        })
}
