use proptest::prelude::*;

use super::*;

fn counts_of(text: &str) -> TermCounts {
    TermCounts::of_text(Analyzer::english(), TermSalt::new(b"test"), text)
}

fn profile(frequencies: &[(TermId, u64)], chunks: u64) -> QueryProfile {
    let query = TermCounts::of_ids(frequencies.iter().map(|(id, _)| *id).collect());
    QueryProfile::new(&query, chunks, &frequencies.iter().copied().collect())
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-6
}

#[test]
fn counts_are_sorted_and_add_up() {
    let counts = counts_of("leave and leaves; sick leave");
    assert_eq!(counts.length(), 4);
    assert_eq!(counts.ids().len(), 2);
    assert!(counts.ids().is_sorted());
    assert!(counts.counts().iter().any(|(_, count)| *count == 3));
    assert_eq!(counts_of("  "), TermCounts::default());
}

#[test]
fn weights_follow_the_formula() {
    let terms = TermCounts::of_ids(vec![7, 7, 3]);
    let weights = document_weights(&terms, 6.0);
    let saturation = 1.2 * (0.25 + 0.75 * 0.5);
    assert_eq!(weights.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [3, 7]);
    assert!(close(f64::from(weights[0].1), 2.2 / (1.0 + saturation)));
    assert!(close(f64::from(weights[1].1), 2.0 * 2.2 / (2.0 + saturation)));
    // A term that occurs once in a chunk of average length weighs exactly 1.
    assert!(close(f64::from(document_weights(&TermCounts::of_ids(vec![1]), 1.0)[0].1), 1.0));
    assert!(document_weights(&TermCounts::default(), 10.0).is_empty());
    assert!(document_weights(&terms, 0.0).iter().all(|(_, weight)| weight.is_finite()));
}

#[test]
fn oversized_chunks_keep_their_heaviest_terms() {
    let largest = TermId::try_from(MAX_SPARSE_ELEMENTS).expect("fits") + 100;
    // The last ids occur twice and must survive the cut, which then drops the highest single ids.
    let ids = (1..=largest).chain(largest - 50..=largest).collect();
    let weights = document_weights(&TermCounts::of_ids(ids), 100.0);
    assert_eq!(weights.len(), MAX_SPARSE_ELEMENTS);
    assert!(weights.is_sorted_by(|left, right| left.0 < right.0));
    assert_eq!(weights.last().map(|(id, _)| *id), Some(largest));
}

#[test]
fn idf_falls_with_frequency_and_is_never_negative() {
    let values: Vec<f64> = [0, 1, 10, 50, 100, 200].map(|df| inverse_document_frequency(100, df)).into();
    assert!(values.is_sorted_by(|left, right| left >= right));
    assert!(values.iter().all(|value| *value >= 0.0));
    assert!(close(values[1], (1.0_f64 + 99.5 / 1.5).ln()));
    assert!(inverse_document_frequency(0, 0) >= 0.0);
}

#[test]
fn repeated_query_terms_count() {
    let query = TermCounts::of_ids(vec![1, 1, 2]);
    let profile = QueryProfile::new(&query, 100, &HashMap::from([(1, 10), (2, 10)]));
    assert!(close(profile.terms[0].weight, 2.0 * profile.terms[1].weight));
}

#[test]
fn evidence_counts_terms_nobody_holds() {
    let half_known = profile(&[(1, 1), (2, 0)], 1000);
    assert_eq!(half_known.weights().len(), 1);
    let best = f64::from(half_known.weights()[0].1);
    assert!(evidence_score(best, &half_known) < 0.5);
    let known = profile(&[(1, 1)], 1000);
    assert!(close(evidence_score(known.idf_mass(), &known), 1.0));
    assert!(close(evidence_score(3.0, &QueryProfile::default()), 0.0));
}

#[test]
fn reference_length_is_renewed_after_doubling_and_drift() {
    assert_eq!(ReferenceLength::of(0, 5), None);
    assert_eq!(ReferenceLength::of(5, 0), None);
    let reference = ReferenceLength::of(10_000, 100).expect("has terms");
    let at = |terms: f64, chunks| reference.needs_reweighing(ReferenceLength { terms, chunks });
    assert!(close(reference.terms, 100.0));
    assert!(!at(150.0, 199), "has not doubled");
    assert!(!at(109.0, 400), "has not drifted");
    assert!(at(111.0, 200) && at(89.0, 200) && at(150.0, 50));
}

#[test]
fn reference_length_is_renewed_after_a_job_by_drift_alone() {
    let reference = ReferenceLength { terms: 100.0, chunks: 100 };
    let at = |terms: f64, chunks| reference.has_drifted(ReferenceLength { terms, chunks });
    assert!(at(106.0, 101) && at(94.0, 100) && at(150.0, 5_000));
    assert!(!at(104.0, 5_000) && !at(96.0, 1) && !at(100.0, 100));
}

proptest! {
    /// The sum of all rewriting stays within n log n, for any lengths in any batches.
    #[test]
    fn reweighing_is_amortised(batches in prop::collection::vec((1_u64..200, 1_u64..1000), 1..200)) {
        let (mut total, mut chunks, mut rewritten) = (0, 0, 0);
        let mut reference: Option<ReferenceLength> = None;
        for (count, length) in batches {
            total += count * length;
            chunks += count;
            let current = ReferenceLength::of(total, chunks).expect("has terms");
            match reference {
                Some(kept) if !kept.needs_reweighing(current) => {}
                Some(_) => { rewritten += chunks; reference = Some(current); }
                None => reference = Some(current),
            }
        }
        prop_assert!(rewritten <= 2 * chunks, "{rewritten} of {chunks}");
    }

    #[test]
    fn weights_are_positive_and_bounded(ids in prop::collection::vec(1..50_i32, 0..200), average in 0.1..1e4_f64) {
        let terms = TermCounts::of_ids(ids);
        for (_, weight) in document_weights(&terms, average) {
            prop_assert!(weight > 0.0 && f64::from(weight) <= K1 + 1.0);
        }
    }
}
