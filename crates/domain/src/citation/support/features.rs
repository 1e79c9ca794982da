//! The features of the support score.

use std::collections::HashMap;

use super::fact::Fact;
use super::polarity::{Claim, Polarity};
use super::{Missing, MissingKind, Quote};
use crate::citation::negation::denies;
use crate::citation::source::{SourceParts, Token};
use crate::citation::term::TermKind;
use crate::citation::window::{Window, best_window};
use crate::wording::{Quantity, lower_case, opposites};

/// Number of features.
pub const COUNT: usize = 12;

/// Names of the features, for the calibration tool.
pub const NAMES: [&str; COUNT] = [
    // Share of the weight of the claim's terms in the whole source.
    "held",
    // Numbers that the source lacks, and those that only other sentences of it hold; at most two each.
    "numbers_absent",
    "numbers_elsewhere",
    "dates_absent",
    "dates_elsewhere",
    "names_absent",
    // Share of the claim's other words that the sentences with a number, a date or a name of it lack, at
    // the worst.
    "apart",
    // Whether the sentences lack a number or a date of the claim and hold another one.
    "rival",
    // Whether a number counts something else in the source.
    "unit",
    // Whether one of them denies what the other states.
    "negation",
    // Whether the sentences hold the opposite of a word of the claim, and not the word.
    "opposite",
    // Whether one is about all and the other about some, or one about nothing else.
    "quantity",
];

/// Most missing facts of a kind that make a difference.
const MOST_MISSING: f32 = 2.0;

/// The comparison of a claim with its sources.
pub(super) struct Comparison<'s> {
    facts: &'s [Fact<'s>],
    /// Which facts any of the sources holds.
    held: Vec<bool>,
    /// Which facts any of the best windows holds.
    quoted: Vec<bool>,
    /// For each fact, the share of the other facts' weight in the sentence with it that holds most of them.
    company: Vec<f32>,
    has_other_unit: bool,
    polarity: Polarity,
    best: Option<Best<'s>>,
}

/// The window that holds most of the claim.
struct Best<'s> {
    window: Window,
    source: &'s SourceParts,
}

impl<'s> Comparison<'s> {
    /// Compares the facts of a claim with sources.
    pub(super) fn new(claim: &Claim<'_>, facts: &'s [Fact<'s>], sources: &[&'s SourceParts]) -> Self {
        let polarity = claim.polarity(sources);
        let none = vec![false; facts.len()];
        let mut comparison = Self {
            facts,
            held: none.clone(),
            quoted: none,
            company: vec![0.0; facts.len()],
            has_other_unit: false,
            polarity,
            best: None,
        };
        for source in sources {
            comparison.add(source);
        }
        if polarity == Polarity::Shared {
            comparison.hold_denials();
        }
        comparison
    }

    /// "Cannot" and "may not" are one where both deny the same.
    fn hold_denials(&mut self) {
        for ((fact, held), quoted) in self.facts.iter().zip(&mut self.held).zip(&mut self.quoted) {
            let is_denial = denies(&lower_case(fact.text));
            *held |= is_denial;
            *quoted |= is_denial;
        }
    }

    fn add(&mut self, source: &'s SourceParts) {
        let terms: Vec<Option<u32>> = self.facts.iter().map(|fact| source.term(&fact.stem)).collect();
        for ((fact, term), held) in self.facts.iter().zip(&terms).zip(&mut self.held) {
            let is_name = fact.exact == Some(MissingKind::Name);
            *held |= term.is_some() || is_name && source.holds_relative(&fact.stem);
        }
        let weighted: Vec<_> =
            terms.iter().zip(self.facts).map(|(term, fact)| term.map(|term| (term, fact.weight))).collect();
        self.keep_company(source, &terms);
        let Some(window) = best_window(source, &weighted) else {
            return;
        };
        for (quoted, found) in self.quoted.iter_mut().zip(&window.found) {
            *quoted |= *found;
        }
        let is_best = self.best.as_ref().is_none_or(|best| window.weight > best.window.weight);
        if is_best {
            self.has_other_unit = counts_something_else(self.facts, &terms, &source.tokens);
            self.best = Some(Best { window, source });
        }
    }

    fn keep_company(&mut self, source: &SourceParts, terms: &[Option<u32>]) {
        let mut weights: HashMap<usize, f32> = HashMap::new();
        let content = || self.facts.iter().zip(terms).filter(|(fact, _)| fact.has_content());
        let total: f32 = content().map(|(fact, _)| fact.weight).sum();
        for (fact, term) in content() {
            for sentence in term.map(|term| source.postings(term)).unwrap_or_default() {
                *weights.entry(*sentence).or_default() += fact.weight;
            }
        }
        for ((fact, term), company) in self.facts.iter().zip(terms).zip(&mut self.company) {
            let Some(term) = term.filter(|_| fact.is_exact()) else { continue };
            let others = total - fact.weight;
            // A fact that stands in the title alone has no sentence, and none against it.
            let sentences = source.postings(term);
            if others <= 0.0 || sentences.is_empty() {
                *company = 1.0;
            }
            for sentence in sentences {
                let here = weights.get(sentence).copied().unwrap_or_default() - fact.weight;
                *company = company.max(here / others.max(1.0));
            }
        }
    }

    /// Whether no sentence holds a word of the claim that carries content by itself.
    pub(super) fn shares_nothing(&self) -> bool {
        !self.facts.iter().zip(&self.quoted).any(|(fact, quoted)| *quoted && fact.has_content())
    }

    /// The words that support the claim best.
    pub(super) fn quote(&self) -> Option<Quote> {
        self.best.as_ref().and_then(|best| best.source.quote(&best.window.bytes))
    }

    /// The facts that the sources must hold and that none of them does.
    pub(super) fn missing(&self) -> Vec<Missing> {
        self.facts
            .iter()
            .zip(&self.held)
            .filter(|(_, held)| !**held)
            .filter_map(|(fact, _)| fact.exact.map(|kind| Missing { kind, text: fact.text.to_owned() }))
            .collect()
    }

    /// The values of [`NAMES`].
    pub(super) fn features(&self) -> [f32; COUNT] {
        let is_number = |fact: &Fact<'_>| fact.exact == Some(MissingKind::Number) || fact.kind == TermKind::Spelled;
        let is_date = |fact: &Fact<'_>| fact.exact == Some(MissingKind::Date);
        let is_name = |fact: &Fact<'_>| fact.exact == Some(MissingKind::Name);
        let turned = self.turned();
        [
            self.held_share(),
            self.absent(is_number),
            self.elsewhere(is_number),
            self.absent(is_date),
            self.elsewhere(is_date),
            self.absent(is_name),
            self.apart(),
            flag(self.best.as_ref().is_some_and(|best| best.has_rival(self.facts, &self.quoted))),
            flag(self.has_other_unit),
            flag(turned.negation),
            flag(turned.opposite),
            flag(turned.quantity),
        ]
    }

    /// Whether a denial stands in the claim but not in its best supporting words, or the other way round.
    pub(super) fn is_turned(&self) -> bool {
        self.polarity == Polarity::Turned || self.turned().negation
    }

    fn turned(&self) -> Turned {
        let turned = self.best.as_ref().map_or_else(Turned::default, |best| best.turned(self.facts));
        Turned { negation: turned.negation && self.polarity != Polarity::Shared, ..turned }
    }

    fn held_share(&self) -> f32 {
        let total: f32 = self.facts.iter().map(|fact| fact.weight).sum();
        let held: f32 = self.facts.iter().zip(&self.held).filter(|(_, held)| **held).map(|(fact, _)| fact.weight).sum();
        if total > 0.0 { held / total } else { 0.0 }
    }

    fn apart(&self) -> f32 {
        let held = self.facts.iter().zip(&self.held).zip(&self.company);
        let exact = held.filter(|((fact, held), _)| fact.is_exact() && **held);
        exact.map(|(_, company)| 1.0 - company.min(1.0)).fold(0.0, f32::max)
    }

    fn absent(&self, is_kind: impl Fn(&Fact<'_>) -> bool) -> f32 {
        let absent = self.facts.iter().zip(&self.held).filter(|(fact, held)| is_kind(fact) && !**held);
        absent.fold(0.0, |count, _| count + 1.0_f32).min(MOST_MISSING)
    }

    fn elsewhere(&self, is_kind: impl Fn(&Fact<'_>) -> bool) -> f32 {
        let flags = self.held.iter().zip(&self.quoted);
        let elsewhere =
            self.facts.iter().zip(flags).filter(|(fact, (held, quoted))| is_kind(fact) && **held && !**quoted);
        elsewhere.fold(0.0, |count, _| count + 1.0_f32).min(MOST_MISSING)
    }
}

/// Whether a number of the claim stands in the source with other units only.
fn counts_something_else(facts: &[Fact<'_>], terms: &[Option<u32>], tokens: &[Token]) -> bool {
    facts.iter().zip(terms).any(|(fact, term)| {
        let (Some(unit), Some(term)) = (fact.unit, term) else { return false };
        let mut units = tokens.iter().filter(|token| token.term == *term).map(|token| token.unit).peekable();
        units.peek().is_some() && units.all(|other| other.is_some_and(|other| other != unit))
    })
}

/// The kind of value that may replace a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rival {
    Month,
    Year,
    Number,
}

/// The ways in which the best window reverses the claim.
#[derive(Default)]
struct Turned {
    negation: bool,
    opposite: bool,
    quantity: bool,
}

impl Best<'_> {
    /// Whether the window holds a number or month that the claim lacks, in place of one that it has.
    fn has_rival(&self, facts: &[Fact<'_>], quoted: &[bool]) -> bool {
        let kind_of = |kind: TermKind, word: &str| match kind {
            TermKind::Month => Some(Rival::Month),
            TermKind::Number if word.len() == 4 => Some(Rival::Year),
            TermKind::Number | TermKind::Spelled => Some(Rival::Number),
            TermKind::Word | TermKind::Stop => None,
        };
        let unquoted = facts.iter().zip(quoted).filter(|(_, quoted)| !**quoted);
        let lacking: Vec<Rival> = unquoted.filter_map(|(fact, _)| kind_of(fact.kind, &fact.stem)).collect();
        if lacking.is_empty() {
            return false;
        }
        let claimed: Vec<u32> = facts.iter().filter_map(|fact| self.source.term(&fact.stem)).collect();
        let tokens = self.source.tokens_in(&self.window.bytes).iter();
        tokens.filter(|token| !claimed.contains(&token.term)).any(|token| {
            let word = self.source.word(&token.bytes).unwrap_or_default();
            kind_of(token.kind, word).is_some_and(|kind| lacking.contains(&kind))
        })
    }

    fn turned(&self, facts: &[Fact<'_>]) -> Turned {
        let tokens = self.source.tokens_in(&self.window.bytes);
        let mut turned = Turned::default();
        for (fact, is_found) in facts.iter().zip(&self.window.found) {
            if *is_found && fact.has_content() {
                let mut same = tokens.iter().filter(|token| Some(token.term) == self.source.term(&fact.stem));
                turned.negation |= same.all(|token| token.is_negated != fact.is_negated);
            }
            if !is_found {
                let holds = |stem: &str| {
                    self.source.term(stem).is_some_and(|term| tokens.iter().any(|token| token.term == term))
                };
                turned.opposite |= opposites(&fact.stem).any(holds);
            }
        }
        turned.quantity = self.is_about_another_quantity(facts, tokens);
        turned
    }

    /// Whether claim and window name quantities of which they share none.
    fn is_about_another_quantity(&self, facts: &[Fact<'_>], tokens: &[Token]) -> bool {
        let claimed: Vec<Quantity> = facts.iter().filter_map(|fact| fact.quantity).collect();
        let said: Vec<Quantity> = tokens
            .iter()
            .filter_map(|token| self.source.word(&token.bytes))
            .filter_map(|word| Quantity::of(&word.to_lowercase()))
            .collect();
        let is_stronger = claimed.iter().any(|quantity| *quantity != Quantity::Some);
        let differs = !claimed.iter().any(|quantity| said.contains(quantity));
        !claimed.is_empty() && differs && (is_stronger || !said.is_empty())
    }
}

const fn flag(is_so: bool) -> f32 {
    if is_so { 1.0 } else { 0.0 }
}
