//! The features of the support score.

use std::collections::{HashMap, HashSet};

use super::contradiction::{Beside, Difference};
use super::fact::Fact;
use super::polarity::{Claim, Polarity};
use super::qualifier::Requalified;
use super::reversal::{Best, Turned, counts_something_else};
use super::{Missing, MissingKind, Quote, Reversal};
use crate::citation::columns::{have_names_of_their_own, is_of_other_rows, named_rows};
use crate::citation::negation::denies;
use crate::citation::source::SourceParts;
use crate::citation::term::TermKind;
use crate::citation::window::best_window;
use crate::wording::lower_case;

/// Number of features.
pub const COUNT: usize = 13;

/// Names of the features, for the calibration tool.
pub const NAMES: [&str; COUNT] = [
    // Share of the weight of the claim's terms in the best one or two sentences of the source.
    "quoted",
    // Share of the letters of the claim's words with content that the whole source holds: long words are rare ones.
    "letters",
    // Whether these sentences hold all its words with content, and all of them next to each other.
    "whole",
    // Numbers, months and names that the source lacks; at most two of each.
    "numbers_absent",
    "dates_absent",
    "names_absent",
    // Share of the claim's other words that the sentences with a number, a date or a name of it lack, at
    // the worst.
    "apart",
    // Whether the sentences lack a number or a date of the claim and hold another one.
    "rival",
    // Whether a number counts something else in the source.
    "unit",
    // Whether one of them denies what the other states: in the best sentences, or where it matters most.
    "negation",
    "turned",
    // Whether the sentences hold the opposite of a word of the claim, and not the word.
    "opposite",
    // Whether one is about all and the other about some, or one about nothing else.
    "quantity",
];

/// Share of the claim's other words that a sentence with a number or a date of it holds at least if it says the same of
/// that number or date.
const LEAST_COMPANY: f32 = 0.5;
/// Sentences on either side of the best ones in which a value may stand: "Default: 3" belongs to what is said before.
const NEAR: usize = 2;
/// Most rows of a table that one claim is about.
const MOST_ROWS: usize = 6;
/// Most missing facts of a kind that make a difference.
const MOST_MISSING: f32 = 2.0;

/// The comparison of a claim with its sources.
pub(super) struct Comparison<'s> {
    facts: &'s [Fact<'s>],
    /// Which facts any of the sources holds.
    held: Vec<bool>,
    /// Which facts any of the best windows holds.
    quoted: Vec<bool>,
    /// Which of them stand elsewhere than in questions.
    said: Vec<bool>,
    /// Which facts stand in or near any of the best windows.
    near: Vec<bool>,
    /// Which words the best row of a table lacks and only rows of other things hold.
    of_others: Vec<bool>,
    /// For each fact, the share of the other facts' weight in the sentence with it that holds most of them.
    company: Vec<f32>,
    has_other_unit: bool,
    polarity: Polarity,
    /// Whether all neighbouring words of the claim are neighbours in one of the sources.
    has_same_order: bool,
    best: Option<Best<'s>>,
    /// The ways in which the best window reverses the claim; a denial that both share is none.
    turned: Turned,
    /// How the claim qualifies otherwise than the best window.
    requalified: Option<Requalified>,
}

impl<'s> Comparison<'s> {
    /// Compares the facts of a claim with sources.
    pub(super) fn new(claim: &Claim<'_>, facts: &'s [Fact<'s>], sources: &[&'s SourceParts]) -> Self {
        let polarity = claim.polarity(sources);
        let none = vec![false; facts.len()];
        let mut comparison = Self {
            facts,
            held: none.clone(),
            said: none.clone(),
            near: none.clone(),
            of_others: none.clone(),
            quoted: none,
            company: vec![0.0; facts.len()],
            has_other_unit: false,
            polarity,
            has_same_order: claim.has_same_order(sources),
            best: None,
            turned: Turned::default(),
            requalified: None,
        };
        for source in sources {
            comparison.add(claim, source);
        }
        comparison.turned = comparison.best.as_ref().map(|best| best.turned(facts)).unwrap_or_default();
        comparison.requalified = comparison.best.as_ref().and_then(|best| best.requalified(claim));
        if polarity == Polarity::Shared {
            comparison.turned.negation = false;
            comparison.hold_denials();
        }
        let tells_exception = || claim.tells_case() && comparison.best.as_ref().is_some_and(Best::has_exception);
        let is_put_otherwise = || comparison.best.as_ref().is_some_and(|best| best.puts_otherwise(claim));
        comparison.turned.negation &= polarity == Polarity::Turned || !(tells_exception() || is_put_otherwise());
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

    fn add(&mut self, claim: &Claim<'_>, source: &'s SourceParts) {
        let terms: Vec<Option<u32>> = self.facts.iter().map(|fact| source.term(&fact.stem)).collect();
        let marks = self.held.iter_mut().zip(&mut self.said).zip(&mut self.quoted);
        for ((fact, term), ((held, said), quoted)) in self.facts.iter().zip(&terms).zip(marks) {
            let has_relative = fact.exact == Some(MissingKind::Name) && source.holds_relative(&fact.stem);
            let is_held = |term: u32| !fact.counts() || source.holds_number(term, &claim.beside(&fact.stem));
            let is_abbreviated = || fact.exact == Some(MissingKind::Name) && source.holds_initials(fact.text);
            *held = *held || term.is_some_and(is_held) || has_relative || is_abbreviated();
            *said |= term.is_some_and(|term| !source.is_asked(term)) || has_relative;
            // What stands in the title is true of every sentence.
            let is_titled = |term: u32| source.postings(term).is_empty() && is_held(term);
            *quoted |= term.is_some_and(is_titled);
        }
        let weighted: Vec<_> =
            terms.iter().zip(self.facts).map(|(term, fact)| term.map(|term| (term, fact.weight))).collect();
        self.keep_company(claim, source, &terms);
        let Some(window) = best_window(source, &weighted) else {
            return;
        };
        for (quoted, found) in self.quoted.iter_mut().zip(&window.found) {
            *quoted |= *found;
        }
        let content = self.facts.iter().zip(&terms).filter(|(fact, _)| fact.has_content());
        let claimed: HashSet<u32> = content.filter_map(|(_, term)| *term).collect();
        let named = named_rows(source, &claimed);
        // A claim about several rows of a table says what each of them says.
        let whole: Vec<usize> = named.iter().filter(|row| row.is_whole).map(|row| row.number).collect();
        if (2..=MOST_ROWS).contains(&whole.len()) && have_names_of_their_own(source, &whole) {
            for (quoted, term) in self.quoted.iter_mut().zip(&terms) {
                *quoted |= term.is_some_and(|term| whole.iter().any(|row| source.tells(*row, term)));
            }
        }
        let around = source.sentences_around(&window.bytes, NEAR);
        for (near, term) in self.near.iter_mut().zip(&terms) {
            let is_near = |at: &usize| around.contains(at) || *at < around.start && source.is_heading(*at);
            *near |= term.is_some_and(|term| source.postings(term).iter().any(is_near));
        }
        let is_best = self.best.as_ref().is_none_or(|best| window.weight > best.window.weight);
        if is_best {
            let rows = source.sentences_around(&window.bytes, 0);
            let is_of_others = |(fact, term): (&Fact<'_>, &Option<u32>)| {
                fact.kind == TermKind::Word
                    && term.is_some_and(|term| is_of_other_rows(source, rows.clone(), term, &named))
            };
            self.of_others = self.facts.iter().zip(&terms).map(is_of_others).collect();
            self.has_other_unit = counts_something_else(self.facts, &terms, &source.tokens, |fact, term| {
                source.is_titled(term, &claim.beside(&fact.stem))
            });
            self.best = Some(Best { window, source });
        }
    }

    fn keep_company(&mut self, claim: &Claim<'_>, source: &SourceParts, terms: &[Option<u32>]) {
        let mut weights: HashMap<usize, f32> = HashMap::new();
        let content = || self.facts.iter().zip(terms).filter(|(fact, _)| fact.has_content());
        let total: f32 = content().map(|(fact, _)| fact.weight).sum();
        for (fact, term) in content() {
            for sentence in term.map(|term| source.postings(term)).unwrap_or_default() {
                *weights.entry(*sentence).or_default() += fact.weight;
            }
        }
        for (sentence, weight) in &mut weights {
            let heads =
                |(_, term): &(&Fact<'_>, &Option<u32>)| term.is_some_and(|term| source.heads_row(term, *sentence));
            *weight += content().filter(heads).map(|(fact, _)| fact.weight).sum::<f32>();
        }
        for ((fact, term), company) in self.facts.iter().zip(terms).zip(&mut self.company) {
            let Some(term) = term.filter(|_| fact.is_exact()) else { continue };
            let others = total - fact.weight;
            // A fact that stands in the title has no sentence, and none against it.
            let sentences = source.postings(term);
            let is_titled = || fact.is_value() && source.is_titled(term, &claim.beside(&fact.stem));
            if others <= 0.0 || sentences.is_empty() || is_titled() {
                *company = 1.0;
            }
            let headed = weights.iter().filter(|(row, _)| source.heads_row(term, **row)).map(|(_, weight)| weight);
            let held = sentences.iter().filter_map(|sentence| weights.get(sentence));
            let most = held.chain(headed).copied().fold(0.0, f32::max);
            *company = company.max((most - fact.weight) / others.max(1.0));
        }
    }

    /// Whether no sentence holds a word of the claim that carries content by itself.
    pub(super) fn shares_nothing(&self) -> bool {
        !self.facts.iter().zip(&self.quoted).any(|(fact, quoted)| *quoted && fact.has_content())
    }

    /// Whether the best sentences hold one small number of the claim, alone or with the word that it counts, and none of
    /// the other words: such a number is shared by chance.
    pub(super) fn shares_small_number_alone(&self) -> bool {
        let is_small: Vec<bool> = self.facts.iter().map(Fact::is_small_number).collect();
        let is_counted = std::iter::once(false).chain(is_small.iter().copied());
        let (mut shares_number, mut lacks) = (false, false);
        for (((fact, quoted), is_small), is_counted) in
            self.facts.iter().zip(&self.quoted).zip(&is_small).zip(is_counted)
        {
            match (fact.has_content(), quoted) {
                (false, _) => {}
                (true, false) => lacks = true,
                (true, true) if is_counted && !is_small => {}
                (true, true) if *is_small && !shares_number => shares_number = true,
                (true, true) => return false,
            }
        }
        shares_number && lacks
    }

    /// The words that support the claim best.
    pub(super) fn quote(&self) -> Option<Quote> {
        self.best.as_ref().and_then(|best| best.source.quote(&best.window.bytes))
    }

    /// The facts that the sources must hold and that none of them does, and values that they hold far from the best
    /// sentences, where no other word of the claim stands.
    pub(super) fn missing(&self) -> Vec<Missing> {
        let is_missing =
            |fact: &Fact<'_>, held: bool, near: bool, company: f32| !held || fact.is_value() && !near && company <= 0.0;
        let known = self.facts.iter().zip(&self.held).zip(&self.near).zip(&self.company).zip(&self.of_others);
        known
            .filter_map(|((((fact, held), near), company), of_others)| {
                let of_others = of_others.then_some(MissingKind::Name);
                let kind = fact.exact.filter(|_| is_missing(fact, *held, *near, *company)).or(of_others)?;
                Some(Missing { kind, text: fact.text.to_owned() })
            })
            .collect()
    }

    /// The values of [`NAMES`].
    pub(super) fn features(&self) -> [f32; COUNT] {
        let is_number = |fact: &Fact<'_>| {
            !fact.is_reference && (fact.exact == Some(MissingKind::Number) || fact.kind == TermKind::Spelled)
        };
        let is_date = |fact: &Fact<'_>| fact.exact == Some(MissingKind::Date);
        let is_name = |fact: &Fact<'_>| fact.exact == Some(MissingKind::Name);
        let quoted = share(self.facts.iter().zip(&self.quoted).map(|(fact, quoted)| (fact.weight, *quoted)));
        [
            quoted,
            share(self.content().map(|(fact, said)| (letters(fact), said))),
            flag(self.has_same_order && self.is_quoted_whole()),
            self.absent(is_number),
            self.absent(is_date),
            self.absent(is_name),
            self.apart(),
            flag(self.best.as_ref().is_some_and(|best| best.has_rival(self.facts, &self.quoted))),
            flag(self.has_other_unit),
            flag(self.turned.negation),
            flag(self.polarity == Polarity::Turned),
            flag(self.turned.opposite),
            flag(self.turned.quantity),
        ]
    }

    /// The way in which the sources reverse the claim, if they do; a denial first.
    pub(super) fn reversal(&self) -> Option<Reversal> {
        let turned = &self.turned;
        if self.polarity == Polarity::Turned || turned.negation {
            Some(Reversal::Denial)
        } else if turned.opposite {
            Some(Reversal::Opposite)
        } else if turned.quantity {
            Some(Reversal::Quantity)
        } else if self.has_other_unit {
            Some(Reversal::Unit)
        } else {
            self.requalified.map(Reversal::Qualifier)
        }
    }

    /// The facts of the claim.
    pub(super) const fn facts(&self) -> &'s [Fact<'s>] {
        self.facts
    }

    /// Which facts none of the sources holds together with other words of the claim.
    pub(super) fn lacking(&self) -> Vec<bool> {
        let held = self.facts.iter().zip(&self.held).zip(&self.company);
        held.map(|((fact, held), company)| !held || fact.is_value() && *company < LEAST_COMPANY).collect()
    }

    /// The difference by which the best words contradict the claim, if words show one. `lacking` says which facts the
    /// sources lack.
    pub(super) fn contradiction(&self, claim: &Claim<'_>, lacking: &[bool]) -> Option<Difference> {
        let beside = Beside::new(claim, self.facts, self.best.as_ref()?);
        let is_contrary = self.requalified.is_some_and(Requalified::is_contrary);
        let contrary = || is_contrary.then(|| beside.contrary()).flatten();
        beside.contradiction(lacking, self.polarity).or_else(contrary)
    }

    /// Which facts any of the best windows holds.
    pub(super) fn into_quoted(self) -> Vec<bool> {
        self.quoted
    }

    /// How much of the claim the best words hold.
    pub(super) fn weight(&self) -> f32 {
        self.best.as_ref().map_or(0.0, |best| best.window.weight)
    }

    /// Whether the best windows hold all facts that carry content by themselves.
    fn is_quoted_whole(&self) -> bool {
        self.facts.iter().zip(&self.quoted).all(|(fact, quoted)| *quoted || !fact.has_content())
    }

    /// The facts that carry content by themselves, and whether a source holds them and does not merely ask about them.
    fn content(&self) -> impl Iterator<Item = (&Fact<'s>, bool)> {
        let said = self.said.iter().zip(&self.quoted).map(|(said, quoted)| *said || *quoted);
        self.facts.iter().zip(said).filter(|(fact, _)| fact.has_content())
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
}

const fn flag(is_so: bool) -> f32 {
    if is_so { 1.0 } else { 0.0 }
}

/// The weight of the parts that are held, of the weight of all.
fn share(parts: impl Iterator<Item = (f32, bool)>) -> f32 {
    let (held, total) = parts.fold((0.0, 0.0), |(held, total), (weight, is_held)| {
        (if is_held { held + weight } else { held }, total + weight)
    });
    if total > 0.0 { held / total } else { 0.0 }
}

/// Number of letters of a fact, as a weight.
fn letters(fact: &Fact<'_>) -> f32 {
    fact.text.chars().fold(0.0, |count, _| count + 1.0)
}
