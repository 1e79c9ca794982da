//! Contradictions that words show: a source that puts another number, date or name, the opposite or a denial where the
//! claim has its own, in a sentence that is otherwise about the same.
//!
//! Much less than what contradicts is seen: precision comes first, for a claim that is merely put differently must not
//! be called contradicted.

use std::collections::HashSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::polarity::{Claim, Polarity};
use super::reversal::Best;
use super::{MissingKind, Quote};
use crate::citation::contrary::contraries;
use crate::citation::source::Token;
use crate::citation::term::{Term, TermKind};
use crate::citation::unit::Unit;
use crate::lexical::calendar::is_day;

/// Least share of the claim's other words with content that the contradicting sentences hold.
const SAME_FRAME: f32 = 0.6;
/// Least number of these words.
const LEAST_SHARED: usize = 2;
/// Most values of a claim that are compared: enough for any honest claim, and a bound for others.
const MOST_VALUES: usize = 64;
/// Words with content on either side of a word that place it in the claim, and in the source.
const NEAR: usize = 2;
const NEAR_IN_SOURCE: usize = 3;
/// Numbers that differ by no more than this share of the larger one may be the same, rounded.
const ROUNDING: f64 = 0.05;

/// A place of a source that contradicts a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The kind of difference.
    pub kind: ContradictionKind,
    /// Index of the source, from 0.
    pub source_index: usize,
    /// Its words.
    pub quote: Quote,
}

/// Kinds of differences that make a contradiction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContradictionKind {
    /// Another number of the same.
    Number,
    /// Another year or month.
    Date,
    /// Another name in the same place of the sentence.
    Name,
    /// One denies what the other states.
    Denial,
    /// The opposite of a word, or of what qualifies it: must for may, at least for at most.
    Opposite,
}

impl ContradictionKind {
    /// The name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Date => "date",
            Self::Name => "name",
            Self::Denial => "denial",
            Self::Opposite => "opposite",
        }
    }
}

/// A difference between a claim and a source that contradicts it.
#[derive(Clone, Copy)]
pub(super) struct Difference {
    pub(super) kind: ContradictionKind,
    /// Index of the fact in whose place the source has something else; none of a denial.
    pub(super) fact: Option<usize>,
}

/// A claim beside the words of the source that hold most of it.
pub(super) struct Beside<'c> {
    claim: &'c Claim<'c>,
    facts: &'c [Fact<'c>],
    best: &'c Best<'c>,
    /// The words of the source.
    tokens: &'c [Token],
    /// Positions of those that the claim does not hold.
    new: Vec<usize>,
}

impl<'c> Beside<'c> {
    pub(super) fn new(claim: &'c Claim<'c>, facts: &'c [Fact<'c>], best: &'c Best<'c>) -> Self {
        let tokens = best.source.tokens_in(&best.window.bytes);
        let claimed: HashSet<u32> = facts.iter().filter_map(|fact| best.source.term(&fact.stem)).collect();
        let new = (0..tokens.len()).filter(|at| tokens.get(*at).is_some_and(|token| !claimed.contains(&token.term)));
        Self { claim, facts, best, tokens, new: new.collect() }
    }

    /// The difference that makes them contradict each other, if words show one. `lacking` says which facts the sources
    /// lack.
    pub(super) fn contradiction(&self, lacking: &[bool], polarity: Polarity) -> Option<Difference> {
        let facts = self.facts.iter().zip(lacking).zip(&self.best.window.found).enumerate();
        let differs = facts.filter(|(_, ((fact, lacking), found))| !**found && (fact.exact.is_none() || **lacking));
        let value = differs.take(MOST_VALUES).find_map(|(number, ((fact, _), _))| {
            Some(Difference { kind: self.other_value(fact)?, fact: Some(number) })
        });
        let is_denied = || polarity == Polarity::Turned && self.is_about_same();
        value.or_else(|| is_denied().then_some(Difference { kind: ContradictionKind::Denial, fact: None }))
    }

    /// The difference of a claim that qualifies contrarily what both say.
    pub(super) fn contrary(&self) -> Option<Difference> {
        self.is_about_same().then_some(Difference { kind: ContradictionKind::Opposite, fact: None })
    }

    fn is_about_same(&self) -> bool {
        self.frame(|_| true) >= SAME_FRAME
    }

    /// The kind of value that the source puts in place of a fact that it lacks.
    fn other_value(&self, fact: &Fact<'_>) -> Option<ContradictionKind> {
        let place = self.claim.terms.iter().position(|term| term.stem == fact.stem)?;
        let term = self.claim.terms.get(place)?;
        let any = |is_other: &dyn Fn(&Token, usize) -> bool| {
            self.new.iter().any(|at| self.tokens.get(*at).is_some_and(|token| is_other(token, *at)))
        };
        let is_opposite = |token: &Token| {
            contraries(&term.stem).any(|stem| self.best.source.term(stem) == Some(token.term))
                && token.is_negated == fact.is_negated
        };
        let (has_other, kind) = match (fact.exact, fact.kind) {
            (Some(MissingKind::Number), _) if !fact.is_reference => (
                any(&|token, at| self.is_other_number(term, token) && self.is_near(place, at)),
                if is_year(term.unit, &term.stem) { ContradictionKind::Date } else { ContradictionKind::Number },
            ),
            (Some(MissingKind::Date), kind) => {
                let names_day = |token: &Token| self.best.source.stem(token.term).is_some_and(is_day);
                let is_such =
                    |token: &Token| if kind == TermKind::Month { token.kind == kind } else { names_day(token) };
                (any(&|token, at| is_such(token) && self.is_near(place, at)), ContradictionKind::Date)
            }
            (Some(MissingKind::Name), _) => (any(&|_, at| self.is_in_place(place, at)), ContradictionKind::Name),
            (None, TermKind::Word | TermKind::Stop) => {
                (any(&|token, at| is_opposite(token) && self.is_near(place, at)), ContradictionKind::Opposite)
            }
            _ => return None,
        };
        (has_other && self.frame(|other| other.stem != fact.stem) >= SAME_FRAME).then_some(kind)
    }

    /// Share of the claim's words with content, of those that count, in the best words; 0 if too few are there.
    fn frame(&self, counts: impl Fn(&Fact<'_>) -> bool) -> f32 {
        let content =
            self.facts.iter().zip(&self.best.window.found).filter(|(fact, _)| fact.has_content() && counts(fact));
        let (mut held, mut all, mut number) = (0.0, 0.0, 0);
        for (fact, is_found) in content {
            all += fact.weight;
            if *is_found {
                held += fact.weight;
                number += 1;
            }
        }
        if number >= LEAST_SHARED { held / all } else { 0.0 }
    }

    /// Whether a number of the source counts the same and differs by more than rounding does.
    fn is_other_number(&self, own: &Term, other: &Token) -> bool {
        let Some(word) =
            self.best.source.word(&other.bytes).filter(|_| matches!(other.kind, TermKind::Number | TermKind::Spelled))
        else {
            return false;
        };
        let stem = self.best.source.stem(other.term).unwrap_or(word);
        let (Ok(one), Ok(two)) = (own.stem.parse::<f64>(), stem.parse::<f64>()) else { return false };
        let is_year_there = other.unit.is_none() && is_year(own.unit, stem);
        if own.unit != other.unit || is_year(own.unit, &own.stem) != is_year_there {
            return false;
        }
        is_year_there || !may_be_rounded(one, two)
    }

    /// Whether a word with content stands near both.
    fn is_near(&self, place: usize, other: usize) -> bool {
        let (terms, tokens) = (&self.claim.terms, self.tokens);
        let own = around(place, terms.len(), NEAR, |at| terms.get(at).is_some_and(|term| term.kind != TermKind::Stop));
        let there = around(other, tokens.len(), NEAR_IN_SOURCE, |at| {
            tokens.get(at).is_some_and(|token| token.kind != TermKind::Stop)
        });
        own.iter()
            .filter_map(|at| terms.get(*at))
            .filter_map(|term| self.best.source.term(&term.stem))
            .any(|term| there.iter().filter_map(|at| tokens.get(*at)).any(|token| token.term == term))
    }

    /// Whether the names around these places share no word and stand between the same words.
    fn is_in_place(&self, place: usize, other: usize) -> bool {
        let (terms, tokens) = (&self.claim.terms, self.tokens);
        let is_own = |at: usize| {
            terms.get(at).is_some_and(|term| {
                let word = self.claim.text.get(term.range.clone());
                term.kind == TermKind::Word && word.is_some_and(begins_upper)
            })
        };
        let is_there = |at: usize| {
            tokens.get(at).is_some_and(|token| {
                token.kind == TermKind::Word && self.best.source.word(&token.bytes).is_some_and(begins_upper)
            })
        };
        if !is_own(place) || !is_there(other) {
            return false;
        }
        let (own, there) = (run(place, terms.len(), is_own), run(other, tokens.len(), is_there));
        let term = |at: usize| terms.get(at).and_then(|term| self.best.source.term(&term.stem));
        let token = |at: usize| tokens.get(at).map(|token| token.term);
        let shares = own.clone().any(|at| there.clone().any(|other| term(at).is_some() && term(at) == token(other)));
        let before = match (own.start.checked_sub(1), there.start.checked_sub(1)) {
            (Some(one), Some(two)) => term(one).is_some() && term(one) == token(two),
            (None, None) => true,
            _ => false,
        };
        let after = match (terms.get(own.end), tokens.get(there.end)) {
            (Some(_), Some(_)) => term(own.end).is_some() && term(own.end) == token(there.end),
            (None, None) => true,
            _ => false,
        };
        !shares && before && after
    }
}

/// Whether two numbers may be the same, rounded.
pub(super) fn may_be_rounded(one: f64, two: f64) -> bool {
    (one - two).abs() <= ROUNDING * one.abs().max(two.abs())
}

fn begins_upper(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

/// Whether a number with this unit is a year: four digits that count nothing.
pub(super) fn is_year(unit: Option<Unit>, stem: &str) -> bool {
    unit.is_none() && stem.len() == 4 && stem.parse::<u32>().is_ok_and(|year| (1000..2100).contains(&year))
}

/// The positions next to one another, around this one, of which all have the property.
fn run(place: usize, length: usize, has: impl Fn(usize) -> bool) -> Range<usize> {
    let start = (0..place).rev().take_while(|at| has(*at)).last().unwrap_or(place);
    let end = (place + 1..length).take_while(|at| has(*at)).last().unwrap_or(place);
    start..end + 1
}

/// The nearest positions on either side that count, at most `most` on each.
fn around(place: usize, length: usize, most: usize, counts: impl Fn(usize) -> bool) -> Vec<usize> {
    let before = (0..place).rev().filter(|at| counts(*at)).take(most);
    let after = (place + 1..length).filter(|at| counts(*at)).take(most);
    before.chain(after).collect()
}
