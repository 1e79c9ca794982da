//! How well checks tell claims that their source supports from others.

use std::collections::BTreeMap;

use domain::citation::ClaimVerdict;
use serde::Serialize;

use super::metrics::{ratio, roc_auc};

/// A check of a labelled claim.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedClaim {
    /// The part of the set that the claim comes from.
    pub source: String,
    /// The verdict of people.
    pub label: ClaimVerdict,
    /// The verdict of the check.
    pub verdict: ClaimVerdict,
    /// Its probability that the source supports the claim.
    pub support: f64,
}

/// Measures of the checks of one part of a set. A measure is `None` if nothing contributes to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimFigures {
    /// The part of the set.
    pub source: String,
    /// Its claims.
    pub claims: usize,
    /// Those that people found supported.
    pub supported: usize,
    /// Probability that a supported claim has more support than another one; ties half.
    pub auc: Option<f64>,
    /// Mean of the shares of the supported claims and of the others that the verdict is right about.
    pub balanced_accuracy: Option<f64>,
    /// Of the claims called contradicted: those that people found contradicted.
    pub contradicted_precision: Option<f64>,
    /// Of the claims that people found contradicted: those called so.
    pub contradicted_recall: Option<f64>,
}

impl ClaimFigures {
    /// The figures of each part, by name.
    #[must_use]
    pub fn by_source(checked: &[CheckedClaim]) -> Vec<Self> {
        let mut parts: BTreeMap<&str, Vec<&CheckedClaim>> = BTreeMap::new();
        for claim in checked {
            parts.entry(&claim.source).or_default().push(claim);
        }
        parts.into_iter().map(|(source, claims)| Self::of(source, &claims)).collect()
    }

    fn of(source: &str, claims: &[&CheckedClaim]) -> Self {
        let (supported, others): (Vec<&CheckedClaim>, Vec<&CheckedClaim>) =
            claims.iter().partition(|claim| claim.label == ClaimVerdict::Supported);
        let scores = |claims: &[&CheckedClaim]| claims.iter().map(|claim| claim.support).collect::<Vec<_>>();
        let passed = |claims: &[&CheckedClaim]| share(claims, |claim| claim.verdict == ClaimVerdict::Supported);
        let of_contradicted = |of: fn(&CheckedClaim) -> ClaimVerdict, is: fn(&CheckedClaim) -> ClaimVerdict| {
            let chosen: Vec<&CheckedClaim> =
                claims.iter().copied().filter(|claim| of(claim) == ClaimVerdict::Contradicted).collect();
            share(&chosen, |claim| is(claim) == ClaimVerdict::Contradicted)
        };
        Self {
            source: source.to_owned(),
            claims: claims.len(),
            supported: supported.len(),
            auc: roc_auc(&scores(&supported), &scores(&others)),
            balanced_accuracy: passed(&supported)
                .zip(passed(&others))
                .map(|(right, wrong)| f64::midpoint(right, 1.0 - wrong)),
            contradicted_precision: of_contradicted(|claim| claim.verdict, |claim| claim.label),
            contradicted_recall: of_contradicted(|claim| claim.label, |claim| claim.verdict),
        }
    }
}

/// The share of the claims that have a property; `None` without claims.
fn share(claims: &[&CheckedClaim], has: impl Fn(&CheckedClaim) -> bool) -> Option<f64> {
    let number = claims.iter().filter(|claim| has(claim)).count();
    (!claims.is_empty()).then(|| ratio(number, claims.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_each_part() {
        use ClaimVerdict::{Contradicted, Supported, Unsupported};
        let checked =
            |source: &str, label, verdict, support| CheckedClaim { source: source.to_owned(), label, verdict, support };
        let claims = [
            checked("b", Supported, Supported, 0.9),
            checked("b", Supported, Unsupported, 0.4),
            checked("b", Unsupported, Contradicted, 0.4),
            checked("b", Contradicted, Contradicted, 0.1),
            checked("b", Contradicted, Supported, 0.6),
            checked("b", Contradicted, Unsupported, 0.2),
            checked("a", Supported, Supported, 0.9),
        ];
        let figures = ClaimFigures::by_source(&claims);
        let names: Vec<_> = figures.iter().map(|figures| (figures.source.as_str(), figures.claims)).collect();
        assert_eq!(names, [("a", 1), ("b", 6)]);
        let (alone, all) = (&figures[0], &figures[1]);
        assert_eq!((alone.auc, alone.balanced_accuracy, alone.contradicted_recall), (None, None, None));
        assert_eq!(all.supported, 2);
        assert_eq!(all.auc, Some(6.5 / 8.0));
        assert_eq!(all.balanced_accuracy, Some(f64::midpoint(0.5, 0.75)));
        assert_eq!((all.contradicted_precision, all.contradicted_recall), (Some(0.5), Some(1.0 / 3.0)));
    }
}
