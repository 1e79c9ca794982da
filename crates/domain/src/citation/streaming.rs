//! Claims that can be confirmed while the answer is still being written.

use serde::Serialize;

use super::answer::{Citation, CitedAnswer, Claim};
use super::claim::{Role, Statement};
use super::draft::Draft;
use super::validator::{Level, faults};
use super::verification::Verifier;
use crate::span::Span;

/// Bytes that must follow a sentence before it counts as complete: whether a full stop ends it depends on the words
/// after it.
const LOOK_AHEAD: usize = 32;

/// A claim that passed the validator, together with its citations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfirmedClaim {
    /// The claim.
    pub claim: Claim,
    /// Its own markers, in order of appearance. A claim that later markers cover has none.
    pub citations: Vec<Citation>,
}

/// A claim of an unfinished draft that later text is unlikely to change.
#[derive(Debug, Clone, PartialEq)]
pub struct SettledClaim {
    /// The claim.
    pub confirmed: ConfirmedClaim,
    /// Byte of the draft at which its sentence ends, markers included.
    pub end: usize,
}

impl CitedAnswer {
    /// All its claims, each with its citations.
    #[must_use]
    pub fn confirmed_claims(&self) -> Vec<ConfirmedClaim> {
        self.claims().iter().map(|claim| confirmed(claim.clone(), self.citations())).collect()
    }
}

impl Draft {
    /// The claims of an unfinished draft that pass at `level`, up to the first that does not pass, or not yet: because
    /// its sentence may go on, a marker may still come, or a model is to be asked about it.
    ///
    /// In rare cases later text changes the reading of a settled claim, such as where its sentence ends; a caller that
    /// shows settled claims must finally compare them with [`CitedAnswer::confirmed_claims`].
    #[must_use]
    pub fn settled_claims(&self, level: Level, verifier: Verifier) -> Vec<SettledClaim> {
        let text = self.indexed_text();
        let faulty: Vec<Span> = faults(self)
            .iter()
            .filter(|fault| level >= fault.kind.refused_from())
            .filter_map(|fault| fault.span)
            .collect();
        let over = text.text().len().saturating_sub(LOOK_AHEAD);
        let last_block = self.statements().iter().rev().find(|statement| statement.bytes.start < over);
        let is_over = |statement: &Statement| {
            let is_covered_from_outside = statement.role == Role::Claim && statement.markers.is_empty();
            // Later markers of the paragraph may cover the claim as well.
            statement.bytes.end <= over
                && (!is_covered_from_outside || last_block.is_some_and(|last| last.block != statement.block))
        };
        let mut settled = Vec::new();
        for (statement, markers, support) in self.judged() {
            let sentence = text.span(&statement.bytes);
            if !is_over(statement) || faulty.iter().any(|fault| overlaps(sentence, *fault)) {
                break;
            }
            if verifier == Verifier::Model && support.is_some_and(|support| support.is_doubtful(&statement.words)) {
                break;
            }
            if statement.role == Role::Claim {
                let confirmed = confirmed(Claim::new(statement, markers, support), self.citations());
                settled.push(SettledClaim { confirmed, end: statement.bytes.end });
            }
        }
        settled
    }
}

fn confirmed(claim: Claim, citations: &[Citation]) -> ConfirmedClaim {
    let citations = citations.iter().filter(|citation| citation.claim == claim.span).cloned().collect();
    ConfirmedClaim { claim, citations }
}

const fn overlaps(one: Span, two: Span) -> bool {
    one.start < two.end && two.start < one.end
}
