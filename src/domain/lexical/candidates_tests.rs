use proptest::prelude::*;

use super::*;
use crate::domain::lexical::bm25::TermCounts;

fn profile(frequencies: &[(TermId, u64)], chunks: u64) -> QueryProfile {
    let query = TermCounts::of_ids(frequencies.iter().map(|(id, _)| *id).collect());
    QueryProfile::new(&query, chunks, &frequencies.iter().copied().collect())
}

#[test]
fn rare_terms_fill_the_budget_and_the_next_are_paired() {
    let query = profile(&[(1, 500), (2, 0), (3, 30), (4, 70), (5, 70), (6, 600)], 1000);
    assert_eq!(select_candidates(&query, 170), Candidates { rare: vec![3, 4, 5], pairs: vec![(1, 6)] });
    assert_eq!(select_candidates(&query, 169), Candidates { rare: vec![3, 4], pairs: vec![(5, 1), (5, 6), (1, 6)] });
    assert_eq!(select_candidates(&query, 0).rare, [3], "something must find");
    assert_eq!(select_candidates(&query, u64::MAX), Candidates { rare: vec![3, 4, 5, 1, 6], pairs: vec![] });
    assert_eq!(select_candidates(&QueryProfile::default(), 10), Candidates::default());
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
        let cost: u64 = chosen.rare.iter().map(|id| frequencies[id]).sum();
        prop_assert!(cost <= budget || chosen.rare.len() == 1);
        prop_assert_eq!(chosen.rare.is_empty(), known == 0);
        let common = known - chosen.rare.len();
        let paired = common.min(PAIRED_TERMS);
        prop_assert_eq!(chosen.pairs.len(), paired * paired.saturating_sub(1) / 2);
        for (first, second) in chosen.pairs {
            prop_assert!(frequencies[&first] <= frequencies[&second], "rarest first");
            prop_assert!(!chosen.rare.contains(&first) && !chosen.rare.contains(&second) && frequencies[&first] > 0);
        }
    }
}
