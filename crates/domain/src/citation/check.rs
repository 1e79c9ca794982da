//! A text that is checked against sources that it was not written from.

use super::answer::{Citation, Claim};
use super::claim::Role;
use super::draft::{Draft, source_index};
use super::prepared::Basis;
use super::support::{Contradiction, LexicalScorer, SupportScorer};
use crate::span::Span;

/// A factual sentence of a text, with the words of the sources that support it or contradict it.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedClaim {
    /// The claim.
    pub claim: Claim,
    /// Its words, without markers.
    pub words: String,
    /// One for each source that covers it. Where no marker stands in it, the span is the place after it.
    pub citations: Vec<Citation>,
    /// The place of a source that contradicts it, if its verdict says so.
    pub contradiction: Option<Contradiction>,
}

impl Draft {
    /// The claims with their judgement, in order of appearance. `basis` is the one that the draft was read over.
    #[must_use]
    pub fn checked_claims(&self, basis: &Basis) -> Vec<CheckedClaim> {
        let scorer = LexicalScorer::over(basis);
        let claims = self.judged().filter(|(statement, ..)| statement.role == Role::Claim);
        claims
            .map(|(statement, numbers, support)| {
                let claim = Claim::new(statement, numbers, support);
                let own: Vec<Citation> =
                    self.citations().iter().filter(|citation| citation.claim == claim.span).cloned().collect();
                let covering = |number: &u32| {
                    let index = source_index(*number, self.sources())?;
                    let of_one = || scorer.support(&statement.words, &[index]);
                    let support = support.filter(|_| numbers.len() == 1).cloned().unwrap_or_else(of_one);
                    let span = Span::new(claim.span.end, claim.span.end);
                    let (support, quote) = (support.score, support.quote);
                    Some(Citation { marker: *number, span, claim: claim.span, source_index: index, support, quote })
                };
                CheckedClaim {
                    citations: if own.is_empty() { numbers.iter().filter_map(covering).collect() } else { own },
                    words: statement.words.clone(),
                    contradiction: support
                        .filter(|support| !support.is_enough())
                        .and_then(|support| support.contradiction.clone()),
                    claim,
                }
            })
            .collect()
    }
}
