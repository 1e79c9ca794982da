use proptest::prelude::*;

use super::*;

type List = Vec<Scored<&'static str>>;

fn list(items: &[(&'static str, f64)]) -> List {
    items.iter().map(|(key, score)| Scored { key: *key, score: *score }).collect()
}

fn weighted(dense: &List, lexical: &List) -> Vec<(&'static str, f64)> {
    fuse_weighted(dense, lexical, DenseWeight::default())
        .into_iter()
        .map(|item| (item.key, (item.fused * 1e6).round() / 1e6))
        .collect()
}

fn keys<K: Clone>(fused: &[Fused<K>]) -> Vec<K> {
    fused.iter().map(|item| item.key.clone()).collect()
}

#[test]
fn weighted_adds_scaled_scores() {
    let dense = list(&[("a", 0.9), ("b", 0.5), ("c", 0.1)]);
    let lexical = list(&[("b", 20.0), ("c", 15.0), ("d", 10.0)]);
    assert_eq!(weighted(&dense, &lexical), [("b", 0.75), ("a", 0.5), ("c", 0.25), ("d", 0.0)]);
    let fused = fuse_weighted(&dense, &lexical, DenseWeight::default());
    assert_eq!((fused[0].dense, fused[0].lexical), (Some(0.5), Some(20.0)));
    assert_eq!((fused[1].dense, fused[1].lexical), (Some(0.9), None));
}

#[test]
fn degenerate_lists() {
    let (none, one) = (list(&[]), list(&[("x", 0.3)]));
    let flat = list(&[("b", 2.0), ("a", 2.0)]);
    assert_eq!(weighted(&none, &none), []);
    assert_eq!(weighted(&one, &none), [("x", 0.5)]);
    assert_eq!(weighted(&none, &one), [("x", 0.5)]);
    assert_eq!(weighted(&one, &one), [("x", 1.0)]);
    assert_eq!(weighted(&flat, &none), [("a", 0.5), ("b", 0.5)]);
    assert_eq!(weighted(&list(&[("a", 0.0), ("b", -0.0)]), &none), [("a", 0.5), ("b", 0.5)]);
}

#[test]
fn hostile_scores() {
    let odd = list(&[("a", f64::NAN), ("b", f64::INFINITY), ("c", 1.0), ("c", 3.0), ("d", f64::NEG_INFINITY)]);
    assert_eq!(weighted(&odd, &list(&[])), [("b", 0.5), ("c", 0.5), ("d", 0.5)]);
    let fused = fuse_weighted(&odd, &list(&[]), DenseWeight::default());
    assert_eq!(fused[1].dense, Some(3.0));
    assert_eq!(keys(&fuse_reciprocal_rank(&odd, &list(&[]))), ["b", "c", "d"]);
}

#[test]
fn the_scale_of_a_long_list_ends_at_its_estimated_hundredth() {
    let falling = |count: u32| -> Vec<Scored<u32>> {
        (0..count).map(|key| Scored { key, score: 10.0 - f64::from(key + 1).ln() }).collect()
    };
    let at = |list: &[Scored<u32>], place: usize| {
        fuse_weighted(list, &[], DenseWeight::new(1.0).expect("in range"))[place].fused
    };
    // ln grows by as much from 50 to 100 as from 25 to 50: the estimate is exact here.
    let expected = (100.0_f64.ln() - 50.0_f64.ln()) / 100.0_f64.ln();
    assert!((at(&falling(50), 49) - expected).abs() < 1e-12);
    assert!((at(&falling(150), 49) - expected).abs() < 1e-12, "a deeper search changes nothing above");
    assert!(at(&falling(150), 98) > 0.0 && at(&falling(150), 99).abs() < 1e-12 && at(&falling(150), 149) == 0.0);
    assert!(at(&falling(49), 48).abs() < 1e-12, "the last of a short list");
    assert_eq!(fuse_weighted(&falling(150), &[], DenseWeight::default()).len(), 150, "none is lost");
}

#[test]
fn weights_at_the_ends_use_one_list() {
    let dense = list(&[("a", 0.9), ("b", 0.5)]);
    let lexical = list(&[("c", 20.0), ("b", 15.0)]);
    let at = |weight| keys(&fuse_weighted(&dense, &lexical, DenseWeight::new(weight).expect("in range")));
    assert_eq!(at(1.0), ["a", "b", "c"]);
    assert_eq!(at(0.0), ["c", "a", "b"]);
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(DenseWeight::new(bad).is_err());
    }
}

#[test]
fn reciprocal_ranks_add_up() {
    let dense = list(&[("a", 0.9), ("b", 0.5)]);
    let lexical = list(&[("b", 20.0), ("c", 15.0)]);
    let fused = fuse_reciprocal_rank(&dense, &lexical);
    assert_eq!(keys(&fused), ["b", "a", "c"]);
    assert!((fused[0].fused - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-12);
    assert!((fused[2].fused - 1.0 / 62.0).abs() < 1e-12);
}

fn scores() -> impl Strategy<Value = Vec<(u8, u8)>> {
    // Few distinct scores, so that ties are common.
    prop::collection::btree_map(0..200_u8, 0..4_u8, 0..150).prop_map(|map| map.into_iter().collect())
}

fn to_list(pairs: &[(u8, u8)]) -> Vec<Scored<u8>> {
    pairs.iter().map(|(key, score)| Scored { key: *key, score: f64::from(*score) }).collect()
}

proptest! {
    #[test]
    fn order_of_arrival_is_irrelevant(
        (dense, shuffled) in scores().prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle())),
        lexical in scores(),
        weight in 0.0..=1.0_f64,
    ) {
        let weight = DenseWeight::new(weight).expect("in range");
        let (dense, shuffled, lexical) = (to_list(&dense), to_list(&shuffled), to_list(&lexical));
        prop_assert_eq!(fuse_weighted(&dense, &lexical, weight), fuse_weighted(&shuffled, &lexical, weight));
        prop_assert_eq!(fuse_reciprocal_rank(&dense, &lexical), fuse_reciprocal_rank(&shuffled, &lexical));
    }

    #[test]
    fn every_item_once_in_order_and_within_bounds(dense in scores(), lexical in scores(), weight in 0.0..=1.0_f64) {
        let weight = DenseWeight::new(weight).expect("in range");
        let mut expected: Vec<u8> = dense.iter().chain(&lexical).map(|(key, _)| *key).collect();
        expected.sort_unstable();
        expected.dedup();
        let (dense, lexical) = (to_list(&dense), to_list(&lexical));
        for (fused, highest) in [
            (fuse_weighted(&dense, &lexical, weight), 1.0),
            (fuse_reciprocal_rank(&dense, &lexical), 2.0 / 61.0),
        ] {
            prop_assert!(fused.iter().all(|item| item.fused >= 0.0 && item.fused <= highest + 1e-12));
            prop_assert!(fused.is_sorted_by(|left, right|
                left.fused > right.fused || (left.fused >= right.fused && left.key < right.key)));
            let mut found = keys(&fused);
            found.sort_unstable();
            prop_assert_eq!(&found, &expected);
        }
    }
}

/// A list that falls evenly from `best` over `spread`.
fn falling(best: f64, spread: f64) -> Vec<Scored<u32>> {
    (0..11_u32).map(|key| Scored { key, score: best - spread * f64::from(key) / 10.0 }).collect()
}

#[test]
fn the_ranking_that_tells_passages_apart_weighs_more() {
    let share = |dense: f64, lexical: f64| {
        1.0 - DenseWeight::of_spreads(&falling(0.7, dense), &falling(8.0, lexical), 1.1).lexical()
    };
    let equal = share(0.25, 4.0);
    assert!((equal - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-6, "{equal}");
    assert!(share(0.3, 4.0) > equal && share(0.125, 4.0) < equal && share(0.25, 8.0) < equal);
    let words_alone = DenseWeight::of_spreads(&falling(0.5, 0.0), &falling(8.0, 8.0), 2.2);
    assert!((words_alone.lexical() - 0.75).abs() < 1e-9, "the vectors keep a quarter");
}

/// A long query, of which no passage holds much, is searched by its words as well as a short one.
#[test]
fn words_that_are_found_in_part_only_are_not_held_against_the_others() {
    let share = |evidence: f64| DenseWeight::of_spreads(&falling(0.7, 0.25), &falling(8.0, 4.0), evidence).lexical();
    assert!((share(0.3) - share(1.0)).abs() < 1e-9);
    assert!(share(1.6) > share(1.0));
}

proptest! {
    #[test]
    fn the_share_is_one_whatever_the_scores(
        dense in prop::collection::vec(prop::num::f64::ANY, 0..5),
        lexical in prop::collection::vec(prop::num::f64::ANY, 0..5),
        evidence in prop::num::f64::ANY,
    ) {
        let list = |scores: &[f64]| (0_u32..).zip(scores).map(|(key, score)| Scored { key, score: *score }).collect::<Vec<_>>();
        let weight = DenseWeight::of_spreads(&list(&dense), &list(&lexical), evidence);
        prop_assert!((0.0..=1.0).contains(&weight.lexical()));
    }

    #[test]
    fn more_spread_is_never_less_weight(spread in 0.0..1.0f64, more in 0.0..1.0f64, lexical in 0.0..9.0f64, evidence in 0.0..2.2f64) {
        let lexical = falling(9.0, lexical);
        let less = DenseWeight::of_spreads(&falling(1.0, spread), &lexical, evidence);
        let more = DenseWeight::of_spreads(&falling(1.0, spread + more), &lexical, evidence);
        prop_assert!(more.lexical() <= less.lexical() + 1e-12);
    }
}
