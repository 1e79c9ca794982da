//! How well a source supports a claim, and the words that do.
//!
//! Lexical and exact: the share of the claim's terms that the best one or two sentences of the source
//! hold, and whether every number, date and name of the claim occurs in it. Constants are provisional
//! until they are fitted to labelled answers.

use std::collections::HashMap;

use serde::Serialize;

use super::source::{PreparedSource, SourceParts};
use super::term::{Term, TermKind, terms};
use super::window::{Window, best_window};
use crate::domain::span::Span;

/// Least score at which a source counts as supporting a claim. Provisional.
pub const SUPPORT_THRESHOLD: f32 = 0.5;

/// What each missing number, date or name leaves of the score: one alone brings any score below the
/// threshold. Provisional.
const MISSING_FACTOR: f32 = 0.4;

/// Share of the score that the best quote earns; the rest comes from the whole source, because an
/// answer may gather one claim from several of its sentences. Provisional.
const QUOTE_SHARE: f32 = 0.6;

/// Something exact in the claim that the source does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Missing {
    /// What it is.
    pub kind: MissingKind,
    /// As the claim writes it.
    pub text: String,
}

/// Kinds of exact words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingKind {
    /// A number in digits.
    Number,
    /// A month.
    Date,
    /// A capitalised word that does not owe its capital to the start of a sentence.
    Name,
}

/// The exact words of a source that best support a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quote {
    /// The words, as they stand in the source.
    pub text: String,
    /// Where they start, in code points: of the source's text, until [`Quote::shifted`].
    pub start: usize,
    /// Where they end, exclusive.
    pub end: usize,
}

impl Quote {
    /// The same quote with its range `offset` code points further on.
    ///
    /// A source's text is a slice of its document; shifting by the code point at which the slice starts
    /// gives the range in the document.
    #[must_use]
    pub fn shifted(self, offset: usize) -> Self {
        let Span { start, end } = Span::new(self.start, self.end).shifted(offset);
        Self { text: self.text, start, end }
    }
}

/// How well one or more sources support a claim.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Support {
    /// From 0, not at all, to 1, word for word.
    pub score: f32,
    /// The best words, absent when the sources share no term with the claim.
    pub quote: Option<Quote>,
    /// Numbers, dates and names of the claim that none of the sources holds.
    pub missing: Vec<Missing>,
}

/// Judges support. The built-in judge is [`LexicalScorer`]; a semantic one may take its place.
pub trait SupportScorer {
    /// How well the sources at these indices (from 0) together support the claim.
    ///
    /// Must be a pure function of its arguments and ignore an index without a source.
    fn support(&self, claim: &str, sources: &[usize]) -> Support;
}

/// The built-in judge of support.
#[derive(Debug, Clone, Copy)]
pub struct LexicalScorer<'s> {
    sources: &'s [PreparedSource],
}

impl<'s> LexicalScorer<'s> {
    /// A judge over these sources.
    #[must_use]
    pub const fn new(sources: &'s [PreparedSource]) -> Self {
        Self { sources }
    }
}

impl SupportScorer for LexicalScorer<'_> {
    fn support(&self, claim: &str, sources: &[usize]) -> Support {
        let facts = facts(claim);
        let total: f32 = facts.iter().map(|fact| fact.weight).sum();
        let mut held = vec![false; facts.len()];
        let mut quoted = vec![false; facts.len()];
        let mut best: Option<(Window, &SourceParts)> = None;
        let cited = sources.iter().filter_map(|index| self.sources.get(*index));
        for source in cited.map(PreparedSource::parts) {
            let terms: Vec<_> = facts.iter().map(|fact| source.term(&fact.stem)).collect();
            for ((fact, term), held) in facts.iter().zip(&terms).zip(&mut held) {
                let is_name = fact.exact == Some(MissingKind::Name);
                *held |= term.is_some() || is_name && source.holds_relative(&fact.stem);
            }
            let weighted: Vec<_> =
                terms.iter().zip(&facts).map(|(term, fact)| term.map(|term| (term, fact.weight))).collect();
            let Some(window) = best_window(source, &weighted) else {
                continue;
            };
            for (quoted, found) in quoted.iter_mut().zip(&window.found) {
                *quoted |= *found;
            }
            if best.as_ref().is_none_or(|(best, _)| window.weight > best.weight) {
                best = Some((window, source));
            }
        }
        let share = |flags: &[bool]| {
            let weight: f32 = facts.iter().zip(flags).filter(|(_, flag)| **flag).map(|(fact, _)| fact.weight).sum();
            if total > 0.0 { weight / total } else { 0.0 }
        };
        let missing: Vec<Missing> = facts
            .iter()
            .zip(&held)
            .filter(|(_, held)| !**held)
            .filter_map(|(fact, _)| fact.exact.map(|kind| Missing { kind, text: fact.text.to_owned() }))
            .collect();
        let coverage = QUOTE_SHARE * share(&quoted) + (1.0 - QUOTE_SHARE) * share(&held);
        let penalty = missing.iter().take(3).fold(1.0, |penalty, _| penalty * MISSING_FACTOR);
        Support {
            score: (coverage * penalty).clamp(0.0, 1.0),
            quote: best.and_then(|(window, source)| source.quote(&window.bytes)),
            missing,
        }
    }
}

/// A term of a claim, with what it is worth.
struct Fact<'c> {
    stem: String,
    text: &'c str,
    weight: f32,
    /// Set when the source must hold it.
    exact: Option<MissingKind>,
}

/// The distinct terms of a claim.
fn facts(claim: &str) -> Vec<Fact<'_>> {
    let terms = terms(claim);
    let mut facts: Vec<Fact<'_>> = Vec::with_capacity(terms.len());
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(terms.len());
    for (at, term) in terms.iter().enumerate() {
        let exact = match term.kind {
            TermKind::Number => Some(MissingKind::Number),
            TermKind::Month => Some(MissingKind::Date),
            TermKind::Stop => None,
            TermKind::Word => is_name(claim, &terms, at).then_some(MissingKind::Name),
        };
        let weight = match (term.kind, exact) {
            (TermKind::Stop, _) => 0.1,
            (_, Some(_)) => 1.5,
            (_, None) => 1.0,
        };
        if let Some(fact) = seen.get(term.stem.as_str()).and_then(|known| facts.get_mut(*known)) {
            fact.exact = fact.exact.or(exact);
            fact.weight = fact.weight.max(weight);
            continue;
        }
        seen.insert(&term.stem, facts.len());
        let text = claim.get(term.range.clone()).unwrap_or_default();
        facts.push(Fact { stem: term.stem.clone(), text, weight, exact });
    }
    facts
}

/// Whether a word is a name: capitals inside it, or a first capital that its place does not explain.
fn is_name(claim: &str, terms: &[Term], at: usize) -> bool {
    let capital = |term: &Term| claim.get(term.range.clone()).is_some_and(|word| word.starts_with(char::is_uppercase));
    let Some(term) = terms.get(at).filter(|term| capital(term)) else {
        return false;
    };
    let word = claim.get(term.range.clone()).unwrap_or_default();
    if word.chars().skip(1).any(char::is_uppercase) {
        return true;
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
    terms.get(at + 1).is_some_and(|next| {
        next.kind == TermKind::Word && capital(next) && claim.get(term.range.end..next.range.start) == Some(" ")
    })
}
