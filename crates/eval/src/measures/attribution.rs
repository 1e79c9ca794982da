//! Whether an answer's citations prove its claims, in the manner of ALCE (Gao et al. 2023, arXiv:2305.14627).
//!
//! There a language model for inference judges whether sources entail a sentence; here the support scorer does, the one
//! that level `supported` goes by. Nothing has to be known about the question.

use domain::citation::{Draft, LexicalScorer, PreparedSource, Role, SupportScorer};

/// Counts over the claims of one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attribution {
    /// Factual sentences.
    pub claims: usize,
    /// Those that their cited sources support together: citation recall is their share.
    pub supported: usize,
    /// Citations of these sentences, each source once for each.
    pub citations: usize,
    /// Those that a supported sentence needs: the source supports it alone, or the others no longer do without it.
    /// Citation precision is their share.
    pub needed: usize,
}

impl Attribution {
    /// Counts for an answer whose marker `[^N]` means `sources[N - 1]`.
    #[must_use]
    pub(crate) fn of(draft: &Draft, sources: &[PreparedSource]) -> Self {
        let scorer = LexicalScorer::new(sources);
        let mut counts = Self::default();
        let statements = draft.statements().iter().filter(|statement| statement.role == Role::Claim);
        for (statement, claim) in statements.zip(draft.claims()) {
            let is_supported =
                |cited: &[usize]| !cited.is_empty() && scorer.support(&statement.words, cited).is_enough();
            let cited: Vec<usize> = claim
                .markers
                .iter()
                .filter_map(|number| {
                    usize::try_from(*number).ok()?.checked_sub(1).filter(|place| *place < sources.len())
                })
                .collect();
            counts.claims += 1;
            counts.citations += cited.len();
            if !is_supported(&cited) {
                continue;
            }
            counts.supported += 1;
            let is_needed = |place: &&usize| {
                let others: Vec<usize> = cited.iter().copied().filter(|other| other != *place).collect();
                is_supported(&[**place]) || !is_supported(&others)
            };
            counts.needed += cited.iter().filter(is_needed).count();
        }
        counts
    }

    /// The counts of two answers together.
    #[must_use]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            claims: self.claims + other.claims,
            supported: self.supported + other.supported,
            citations: self.citations + other.citations,
            needed: self.needed + other.needed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_proven_by_what_it_cites_and_by_nothing_superfluous() {
        let sources = [
            "Everyone has 28 days of paid annual leave a year.",
            "Tea is free for everyone.",
            "Annual leave lapses on 31 March of the next year.",
        ]
        .map(PreparedSource::new);
        let rows = [
            ("Everyone has 28 days of paid annual leave a year [^1].", (1, 1, 1, 1)),
            ("Everyone has 28 days of paid annual leave a year [^1][^2].", (1, 1, 2, 1)),
            ("Everyone has 28 days of paid annual leave a year [^2].", (1, 0, 1, 0)),
            ("Everyone has 30 days of paid annual leave a year [^1].", (1, 0, 1, 0)),
            ("Everyone has 28 days of paid annual leave a year.", (1, 0, 0, 0)),
            ("Tea is free for everyone [^2]. Annual leave lapses on 31 March of the next year [^3][^7].", (2, 2, 2, 2)),
            ("The sources do not answer this question.", (0, 0, 0, 0)),
        ];
        for (answer, (claims, supported, citations, needed)) in rows {
            let counts = Attribution::of(&Draft::new(answer, &sources), &sources);
            assert_eq!(counts, Attribution { claims, supported, citations, needed }, "{answer}");
        }
    }
}
