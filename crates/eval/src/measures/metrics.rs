//! Ranking and decision metrics.
//!
//! Definitions are those of `trec_eval`: linear gain, discount log2(rank + 1). Rankings are best
//! first; judgements map an item to its grade, and an item that is absent, or graded 0, is not
//! relevant. All results lie in 0 to 1. A query without relevant items has no value (`None`): the
//! caller leaves it out of the mean instead of counting it as a failure.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Judged items and their grades.
pub type Judgements<K> = HashMap<K, u32>;

/// Normalised discounted cumulated gain of the first `k` (Järvelin and Kekäläinen 2002).
#[must_use]
pub fn ndcg_at<K: Eq + Hash>(k: usize, ranked: &[K], judgements: &Judgements<K>) -> Option<f64> {
    let mut grades: Vec<u32> = judgements.values().copied().filter(|grade| *grade > 0).collect();
    grades.sort_unstable_by(|left, right| right.cmp(left));
    let ideal = discounted_gain(grades.into_iter().take(k));
    let gained = distinct(ranked).take(k).map(|item| judgements.get(item).copied().unwrap_or(0));
    (ideal > 0.0).then(|| discounted_gain(gained) / ideal)
}

/// Share of the relevant items that are among the first `k`.
#[must_use]
pub fn recall_at<K: Eq + Hash>(k: usize, ranked: &[K], judgements: &Judgements<K>) -> Option<f64> {
    let relevant = judgements.values().filter(|grade| **grade > 0).count();
    let found = distinct(ranked).take(k).filter(|&item| is_relevant(item, judgements)).count();
    (relevant > 0).then(|| ratio(found, relevant))
}

/// Area under the ROC curve: the probability that a positive scores above a negative, ties half.
///
/// Computed from midranks (Hanley and `McNeil` 1982). `None` if a side is empty or a score is NaN.
#[must_use]
pub fn roc_auc(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    if positives.is_empty() || negatives.is_empty() || positives.iter().chain(negatives).any(|score| score.is_nan()) {
        return None;
    }
    let mut scored: Vec<(f64, bool)> =
        positives.iter().map(|score| (*score, true)).chain(negatives.iter().map(|score| (*score, false))).collect();
    scored.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
    let mut negatives_below = 0;
    let mut twice_wins = 0;
    // In ascending order `>=` is equality; unlike the sort, it takes -0.0 and 0.0 for the same.
    for run in scored.chunk_by(|left, right| left.0 >= right.0) {
        let positives_here = run.iter().filter(|(_, positive)| *positive).count();
        let negatives_here = run.len() - positives_here;
        twice_wins += positives_here * (2 * negatives_below + negatives_here);
        negatives_below += negatives_here;
    }
    Some(ratio(twice_wins, 2 * positives.len() * negatives.len()))
}

/// Mean of the values there are; `None` if there are none.
#[must_use]
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.into_iter().fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / ratio(count, 1))
}

/// The ranking without repetitions: an item returned twice is found once.
fn distinct<K: Eq + Hash>(ranked: &[K]) -> impl Iterator<Item = &K> {
    let mut seen = HashSet::new();
    ranked.iter().filter(move |item| seen.insert(*item))
}

fn is_relevant<K: Eq + Hash>(item: &K, judgements: &Judgements<K>) -> bool {
    judgements.get(item).is_some_and(|grade| *grade > 0)
}

fn discounted_gain(grades: impl Iterator<Item = u32>) -> f64 {
    grades.zip(1_usize..).map(|(grade, rank)| f64::from(grade) / ratio(rank + 1, 1).log2()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub(crate) fn ratio(numerator: usize, denominator: usize) -> f64 {
    numerator as f64 / denominator as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(left: Option<f64>, right: f64) -> bool {
        left.is_some_and(|value| (value - right).abs() < 1e-9)
    }

    #[test]
    fn values_by_hand() {
        let judgements = Judgements::from([("a", 2), ("b", 1), ("c", 0), ("d", 1)]);
        let ranked = ["x", "b", "c", "a"];
        let ideal = 2.0 + 1.0 / 3_f64.log2() + 1.0 / 4_f64.log2();
        let gained = 1.0 / 3_f64.log2() + 2.0 / 5_f64.log2();
        assert!(close(ndcg_at(10, &ranked, &judgements), gained / ideal));
        assert!(close(ndcg_at(1, &ranked, &judgements), 0.0));
        assert!(close(ndcg_at(2, &["a", "b"], &judgements), 1.0));
        assert!(close(recall_at(2, &ranked, &judgements), 1.0 / 3.0));
        assert!(close(recall_at(100, &ranked, &judgements), 2.0 / 3.0));
        assert!(close(recall_at(10, &["b", "b", "b"], &judgements), 1.0 / 3.0));
    }

    #[test]
    fn nothing_relevant_has_no_value() {
        let judgements = Judgements::from([("a", 0)]);
        assert_eq!(ndcg_at(10, &["a"], &judgements), None);
        assert_eq!(recall_at(10, &["a"], &judgements), None);
        assert_eq!(mean([]), None);
        assert!(close(mean([0.0, 1.0]), 0.5));
    }

    #[test]
    fn area_under_curve() {
        assert!(close(roc_auc(&[0.9, 0.8], &[0.1, 0.2]), 1.0));
        assert!(close(roc_auc(&[0.1], &[0.9]), 0.0));
        assert!(close(roc_auc(&[0.5, 0.5], &[0.5]), 0.5));
        assert!(close(roc_auc(&[0.0], &[-0.0]), 0.5));
        assert!(close(roc_auc(&[0.4, 0.8], &[0.5, 0.1]), 0.75));
        assert_eq!(roc_auc(&[], &[1.0]), None);
        assert_eq!(roc_auc(&[f64::NAN], &[1.0]), None);
    }

    proptest! {
        #[test]
        fn area_equals_its_definition(
            positives in prop::collection::vec(0..6_u8, 1..20),
            negatives in prop::collection::vec(0..6_u8, 1..20),
        ) {
            let wins: f64 = positives.iter().flat_map(|p| negatives.iter().map(move |n| match p.cmp(n) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            })).sum();
            let to_scores = |values: &[u8]| values.iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
            let expected = wins / ratio(positives.len() * negatives.len(), 1);
            prop_assert!(close(roc_auc(&to_scores(&positives), &to_scores(&negatives)), expected));
        }

        #[test]
        fn metrics_stay_in_bounds(
            ranked in prop::collection::vec(0..30_u8, 0..40),
            judgements in prop::collection::hash_map(0..30_u8, 0..4_u32, 0..20),
            k in 0..20_usize,
        ) {
            for value in [
                ndcg_at(k, &ranked, &judgements),
                recall_at(k, &ranked, &judgements),
            ].into_iter().flatten() {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&value));
            }
        }
    }

    #[test]
    fn auc_counts_pairs() {
        assert_eq!(roc_auc(&[0.9, 0.5], &[0.5, 0.1]), Some(0.875));
        assert_eq!(roc_auc(&[0.1], &[0.9]), Some(0.0));
        assert_eq!((roc_auc(&[], &[0.9]), roc_auc(&[0.9], &[])), (None, None));
    }
}
