//! The ways in which the best words of a source say something else than the claim.

use super::fact::Fact;
use super::polarity::Claim;
use super::qualifier::{Requalified, requalified};
use super::word::{claimed, said};
use crate::citation::negation::DenialKind;
use crate::citation::source::{SourceParts, Token};
use crate::citation::term::TermKind;
use crate::citation::window::Window;
use crate::wording::{Quantity, opposites};

/// The window that holds most of the claim.
pub(super) struct Best<'s> {
    pub(super) window: Window,
    pub(super) source: &'s SourceParts,
}

/// Whether a number of the claim stands in the source with other units only, its title included.
pub(super) fn counts_something_else(
    facts: &[Fact<'_>],
    terms: &[Option<u32>],
    tokens: &[Token],
    is_titled: impl Fn(&Fact<'_>, u32) -> bool,
) -> bool {
    facts.iter().zip(terms).any(|(fact, term)| {
        let (Some(unit), Some(term)) = (fact.unit, term) else { return false };
        if is_titled(fact, *term) {
            return false;
        }
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
pub(super) struct Turned {
    pub(super) negation: bool,
    pub(super) opposite: bool,
    pub(super) quantity: bool,
}

impl Best<'_> {
    /// Whether a sentence of the window names an exception: "unless …".
    pub(super) fn has_exception(&self) -> bool {
        let window = self.source.sentences_around(&self.window.bytes, 0);
        let sentences = self.source.sentences.get(window).unwrap_or_default().iter();
        let mut denials = sentences.flat_map(|sentence| &sentence.denials.all);
        denials.any(|denial| denial.kind == DenialKind::Exception)
    }

    /// Whether the claim expresses a denial of the window in other words: "rather than by the landlord" for "not by the landlord".
    pub(super) fn puts_otherwise(&self, claim: &Claim<'_>) -> bool {
        let window = self.source.sentences_around(&self.window.bytes, 0);
        let sentences = self.source.sentences.get(window).unwrap_or_default().iter();
        let mut denying = sentences.filter(|sentence| !sentence.denials.all.is_empty()).peekable();
        claim.denials.all.is_empty()
            && denying.peek().is_some()
            && denying.all(|sentence| claim.denials.puts_otherwise(&sentence.denials))
    }

    /// Whether the window holds a number or month that the claim lacks, in place of one that it has.
    pub(super) fn has_rival(&self, facts: &[Fact<'_>], quoted: &[bool]) -> bool {
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

    /// How a claim qualifies otherwise than the window.
    pub(super) fn requalified(&self, claim: &Claim<'_>) -> Option<Requalified> {
        let there = said(self.source, self.source.tokens_in(&self.window.bytes));
        requalified(&claimed(claim.text, &claim.terms), &there)
    }

    pub(super) fn turned(&self, facts: &[Fact<'_>]) -> Turned {
        let tokens = self.source.tokens_in(&self.window.bytes);
        let mut turned = Turned::default();
        for (fact, is_found) in facts.iter().zip(&self.window.found) {
            if *is_found && fact.has_content() {
                let mut same =
                    tokens.iter().filter(|token| Some(token.term) == self.source.term(&fact.stem)).peekable();
                let is_heading = self.source.term(&fact.stem).is_some_and(|term| self.source.heads(term));
                // A word of the header does not stand in its row, and one of the heading is what the text is about.
                turned.negation |=
                    !is_heading && same.peek().is_some() && same.all(|token| token.is_negated != fact.is_negated);
            }
            if !is_found {
                let holds = |stem: &str| {
                    self.source.term(stem).is_some_and(|term| tokens.iter().any(|token| token.term == term))
                };
                // "First look for it" orders steps.
                turned.opposite |= fact.text != "First" && opposites(&fact.stem).any(holds);
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
