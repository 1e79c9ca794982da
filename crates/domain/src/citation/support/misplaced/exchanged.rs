//! Two values of a claim that stand in each other's places.

use super::{MOST_VALUES, Value, Values};
use crate::citation::support::place::Place;
use crate::citation::term::{Term, TermKind};

/// Words with content on either side of a value by which two values are told apart.
const BESIDE: usize = 3;

impl<'v> Values<'v> {
    /// The place of another value of the claim in the same sentence, if each stands among the words that the claim has around the
    /// other.
    pub(super) fn exchanged(&self, value: &Value<'_>, places: &[Place<'v>]) -> Option<Place<'v>> {
        let own = self.claimed_around(value.term);
        let mut found = places.iter().map(|place| {
            let others = self.values().filter(|other| other.class == value.class && other.fact != value.fact);
            others.take(MOST_VALUES).find_map(|other| {
                let term = place.source.term(&other.term.stem)?;
                let is_other = |at: &usize| place.source.tokens.get(*at).is_some_and(|token| token.term == term);
                let there = Place { at: place.sentence.tokens.clone().find(is_other)?, ..*place };
                let others = self.claimed_around(other.term);
                let shares = |claimed: &[&str], place: Place<'_>| {
                    let around: Vec<u32> = [true, false].iter().flat_map(|side| place.around(*side, BESIDE)).collect();
                    let held = claimed.iter().filter_map(|stem| place.source.term(stem));
                    held.filter(|term| around.contains(term)).count()
                };
                let is_exchanged =
                    shares(&own, there) > shares(&own, *place) && shares(&others, *place) > shares(&others, there);
                let are_columns_exchanged = || {
                    let (here, other_column) = (place.column()?, there.column()?);
                    let is_turned = here != other_column
                        && self.column_named_beside(value.term, *place)? == other_column
                        && self.column_named_beside(other.term, *place)? == here;
                    Some(is_turned)
                };
                (is_exchanged || are_columns_exchanged() == Some(true)).then_some(there)
            })
        });
        let first = found.next()??;
        // One place where it is the claim's is enough.
        found.all(|other| other.is_some()).then_some(first)
    }

    /// The claim's nearest words with content on either side of one of its terms.
    fn claimed_around(&self, term: &Term) -> Vec<&str> {
        let terms = &self.claim.terms;
        let Some(at) = terms.iter().position(|other| other.range == term.range) else { return Vec::new() };
        let counts = |at: &usize| terms.get(*at).is_some_and(|term| term.kind != TermKind::Stop && !self.is_unit(term));
        let before = (0..at).rev().filter(counts).take(BESIDE);
        let after = (at + 1..terms.len()).filter(counts).take(BESIDE);
        before.chain(after).filter_map(|at| terms.get(at)).map(|term| term.stem.as_str()).collect()
    }
}
