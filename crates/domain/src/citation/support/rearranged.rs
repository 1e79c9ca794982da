//! Claims that put the words of a source together otherwise than the source does.

use super::condition::has_another_condition;
use super::crossed::is_crossed;
use super::order::has_another_order;
use super::polarity::Claim;
use super::qualifier::Requalified;
use super::reason::invents_reason;
use super::roles::is_of_others;
use crate::citation::source::SourceParts;

/// A comparison of a claim with its sources.
type Comparison = fn(&Claim<'_>, &[&SourceParts]) -> bool;

/// The comparisons, with the way in which a claim differs.
const WAYS: [(Requalified, Comparison); 5] = [
    (Requalified::Agent, is_of_others),
    (Requalified::Exchanged, is_crossed),
    (Requalified::OtherCondition, has_another_condition),
    (Requalified::Order, has_another_order),
    (Requalified::Reason, invents_reason),
];

/// The first way in which a claim puts the words of its sources together otherwise than they do.
pub(super) fn rearranged(claim: &Claim<'_>, sources: &[&SourceParts]) -> Option<Requalified> {
    WAYS.iter().find(|(_, differs)| differs(claim, sources)).map(|(way, _)| *way)
}
