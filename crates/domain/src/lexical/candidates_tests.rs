use proptest::prelude::*;

use super::super::bm25::QueryTerm;
use super::*;

/// A query over one collection, with the number of its chunks that hold each term.
fn profile(frequencies: &[(TermId, u64)], chunks: u64) -> QueryProfile {
    let held = |(id, document_frequency): &(TermId, u64)| QueryTerm {
        holders: (*document_frequency > 0)
            .then_some(Holder { collection: 0, id: *id, document_frequency: *document_frequency })
            .into_iter()
            .collect(),
        document_frequency: *document_frequency,
        weight: 1.0,
    };
    QueryProfile { terms: frequencies.iter().map(held).collect(), chunks, ..QueryProfile::default() }
}

fn candidates(rare: &[TermId], pairs: &[(TermId, TermId)], spare: Option<TermId>) -> Candidates {
    Candidates { rare: rare.to_vec(), pairs: pairs.to_vec(), spare: spare.into_iter().collect() }
}

#[test]
fn terms_and_pairs_are_taken_by_what_they_find() {
    // Of 10,000 chunks, 5 and 6 stand together in 420 and either stands with 1 in 350 or 3,000.
    let query = profile(&[(1, 5_000), (2, 0), (3, 300), (5, 700), (6, 6_000)], 10_000);
    assert_eq!(select_candidates(&query, 300), candidates(&[], &[(3, 5), (3, 1)], Some(3)));
    assert_eq!(select_candidates(&query, 1_069), candidates(&[3], &[(5, 1)], None));
    assert_eq!(select_candidates(&query, 1_070), candidates(&[3, 5], &[], None), "5 finds what its pairs find");
    assert_eq!(select_candidates(&query, 4_000), candidates(&[3, 5], &[(1, 6)], None));
    assert_eq!(select_candidates(&query, u64::MAX), candidates(&[3, 5, 1, 6], &[], None));
}

#[test]
fn the_budget_grows_by_doublings() {
    let budgets = [3_001, 199_999, 200_000, 399_999, 1_000_000].map(candidate_budget);
    assert_eq!(budgets, [1_000, 1_000, 1_150, 1_150, 1_450]);
    assert!(candidate_budget(u64::MAX) < 30_000);
}

#[test]
fn a_small_collection_is_scored_whole() {
    let question: Vec<(i32, u64)> = (1..=20).map(|term| (term, 2_900)).collect();
    let budget = candidate_budget(3_000);
    let all: Vec<i32> = (1..=20).collect();
    assert_eq!(select_candidates(&profile(&question, 3_000), budget), candidates(&all, &[], None));
}

#[test]
fn pairs_do_not_use_up_what_the_terms_themselves_fit_into() {
    let frequencies = [385, 375, 374, 374, 366, 358, 447, 357, 345];
    let listed: Vec<(TermId, u64)> = (1..).zip(frequencies).collect();
    let chosen = select_candidates(&profile(&listed, 500), 10_000);
    assert_eq!((chosen.rare.len(), chosen.pairs.len(), chosen.spare), (9, 0, vec![]));
}

#[test]
fn something_is_always_looked_for() {
    let common = profile(&[(1, 500_000), (2, 900_000)], 1_000_000);
    assert_eq!(select_candidates(&common, 1_000), candidates(&[], &[(1, 2)], Some(1)));
    assert_eq!(select_candidates(&common, 0), candidates(&[], &[(1, 2)], Some(1)));
    let single = profile(&[(1, 500_000)], 1_000_000);
    assert_eq!(select_candidates(&single, 1_000), candidates(&[1], &[], None));
    assert_eq!(select_candidates(&QueryProfile::default(), 10), Candidates::default());
    assert_eq!(select_candidates(&profile(&[(1, 0)], 10), 10), Candidates::default());
}

#[test]
fn a_term_beyond_the_budget_is_looked_for_with_others() {
    let query = profile(&[(1, 2_000), (2, 4_500), (3, 6_500), (4, 50_000)], 1_000_000);
    let pairs = [(1, 2), (1, 3), (2, 3), (1, 4), (2, 4), (3, 4)];
    assert_eq!(select_candidates(&query, 1_000), candidates(&[], &pairs, Some(1)));
}

#[test]
fn a_pair_that_finds_too_little_is_not_enough() {
    let query = profile(&[(1, 2_000), (2, 2_500)], 1_000_000);
    assert_eq!(select_candidates(&query, 1_000), candidates(&[1], &[], None));
}

#[test]
fn a_long_question_is_not_looked_up_in_all_its_pairs() {
    let frequencies: Vec<(TermId, u64)> = (1..=40).map(|id| (id, 50_000)).collect();
    assert_eq!(select_candidates(&profile(&frequencies, 10_000_000), 10_000).pairs.len(), MOST_PAIRS);
}

proptest! {
    #[test]
    fn candidates_are_known_and_bounded(
        frequencies in prop::collection::btree_map(1..1000_i32, 0_u64..500, 0..20),
        budget in 0_u64..2000,
    ) {
        let listed: Vec<_> = frequencies.iter().map(|(id, frequency)| (*id, *frequency)).collect();
        let chosen = select_candidates(&profile(&listed, 500), budget);
        let known = frequencies.values().filter(|frequency| **frequency > 0).count();
        let expected = chosen.rare.iter().map(|id| frequencies[id]).sum::<u64>()
            + chosen.pairs.iter().map(|(one, other)| together(frequencies[one], frequencies[other], 500)).sum::<u64>();
        // A finder taken only to reach the minimum may be of any frequency.
        // So may the rarer term of a pair that is looked up whole, up to the size that allows it.
        let whole = LOOKED_UP_WHOLE * MOST_PAIRS as u64;
        prop_assert!(expected <= budget.max(LEAST_EXPECTED) + 500 + whole, "{}", expected);
        prop_assert_eq!(chosen.rare.is_empty() && chosen.pairs.is_empty(), known == 0);
        prop_assert!(chosen.pairs.len() <= MOST_PAIRS);
        for (first, second) in &chosen.pairs {
            prop_assert!(first != second && frequencies[first] > 0 && frequencies[second] > 0);
            prop_assert!(!chosen.rare.contains(first) && !chosen.rare.contains(second), "found already");
        }
        let cost = |id: &TermId| frequencies[id];
        prop_assert!(chosen.rare.is_sorted_by_key(cost), "rarest first");
    }

    #[test]
    fn a_budget_for_all_is_exact(frequencies in prop::collection::btree_map(1..1000_i32, 1_u64..500, 1..20)) {
        let listed: Vec<_> = frequencies.iter().map(|(id, frequency)| (*id, *frequency)).collect();
        let chosen = select_candidates(&profile(&listed, 500), 500 * 20);
        prop_assert_eq!(chosen.rare.len(), frequencies.len());
        prop_assert!(chosen.pairs.is_empty());
    }
}

#[test]
fn pairs_that_share_a_term_are_one_group_of_ten_places() {
    let (heads, others) = grouped_pairs(&[(7, 1), (3, 9), (7, 2)]);
    assert_eq!(heads, [3, 7]);
    assert_eq!(others[..OTHERS], [9; OTHERS]);
    assert_eq!(others[OTHERS..], [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]);
    assert_eq!(grouped_pairs(&[]), (vec![], vec![]));
}

#[test]
fn what_does_not_fit_one_group_is_another() {
    let pairs: Vec<(i32, i32)> = (1..=12).map(|other| (0, other)).collect();
    let (heads, others) = grouped_pairs(&pairs);
    assert_eq!(heads, [0, 0]);
    assert_eq!(others, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 11, 12, 11, 12, 11, 12, 11, 12]);
}
