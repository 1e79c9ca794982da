use proptest::prelude::*;

use super::super::{candidates::select_candidates, language::Language};
use super::*;

fn counts_of(text: &str) -> TermCounts {
    TermCounts::of_text(Analyzer::english(), TermSalt::new(b"test"), text)
}

/// The profile of a query over collections, given as the number of chunks that hold each of its words.
fn profile(query: &str, collections: &[(u64, &[(&str, u64)])]) -> QueryProfile {
    let stems = QueryStems::of_text(Analyzer::english(), query);
    let salts: Vec<TermSalt> = (0..collections.len()).map(|place| TermSalt::new(&place.to_be_bytes())).collect();
    let frequencies: Vec<HashMap<TermId, u64>> = collections
        .iter()
        .zip(&salts)
        .map(|((_, held), salt)| held.iter().map(|(word, count)| (salt.term_id(word), *count)).collect())
        .collect();
    let asked: Vec<AskedCollection<'_>> = collections
        .iter()
        .zip(&salts)
        .zip(&frequencies)
        .map(|(((chunks, _), salt), document_frequencies)| AskedCollection {
            stems: &stems,
            salt: *salt,
            chunks: *chunks,
            document_frequencies,
        })
        .collect();
    QueryProfile::new(&asked)
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-6
}

#[test]
fn a_form_of_a_word_is_no_rarer_than_the_word() {
    let weights = |held: &[(&str, u64)]| -> Vec<f64> {
        profile("people?", &[(100, held)]).terms.iter().map(|term| term.weight).collect()
    };
    let of_common = inverse_document_frequency(100, 60);
    assert_eq!(weights(&[("peopl", 60), ("person", 2)]), [of_common, of_common]);
    assert_eq!(weights(&[("peopl", 2), ("person", 60)]), [inverse_document_frequency(100, 2), of_common]);
    assert_eq!(weights(&[("person", 60)]), [inverse_document_frequency(100, 0), of_common], "the one that is there");
    assert_eq!(weights(&[("peopl", 2)]).len(), 1);
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
    let weights = document_weights(&terms);
    let saturation = 1.2 * (0.25 + 0.75 * 3.0 / REFERENCE_LENGTH);
    assert_eq!(weights.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [3, 7]);
    assert!(close(f64::from(weights[0].1), 2.2 / (1.0 + saturation)));
    assert!(close(f64::from(weights[1].1), 2.0 * 2.2 / (2.0 + saturation)));
    assert!(document_weights(&TermCounts::default()).is_empty());
}

#[test]
fn a_term_that_occurs_once_in_a_chunk_of_the_reference_length_weighs_one() {
    let weights = document_weights(&TermCounts::of_ids((1..=80).collect()));
    assert!(weights.iter().all(|(_, weight)| close(f64::from(*weight), 1.0)), "{weights:?}");
}

#[test]
fn oversized_chunks_keep_their_heaviest_terms() {
    let largest = TermId::try_from(MAX_SPARSE_ELEMENTS).expect("fits") + 100;
    // The last ids occur twice and must survive the cut, which then drops the highest single ids.
    let ids = (1..=largest).chain(largest - 50..=largest).collect();
    let weights = document_weights(&TermCounts::of_ids(ids));
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
    let profile = profile("tea tea cup", &[(100, &[("tea", 10), ("cup", 10)])]);
    let weights: Vec<f64> = profile.terms.iter().map(|term| term.weight).collect();
    assert!(close(weights[1], 2.0 * weights[0]), "{weights:?}");
}

#[test]
fn evidence_counts_terms_nobody_holds() {
    let half_known = profile("tea cup", &[(1000, &[("tea", 1)])]);
    assert_eq!(half_known.weights().len(), 1);
    let best = f64::from(half_known.weights()[0].1);
    assert!(evidence_score(best, &half_known) < 0.5);
    let known = profile("tea", &[(1000, &[("tea", 1)])]);
    assert!(close(evidence_score(known.idf_mass(), &known), 1.0));
    assert!(close(evidence_score(3.0, &QueryProfile::default()), 0.0));
}

#[test]
fn a_term_weighs_the_same_in_every_collection() {
    let split = profile("tea cup", &[(30, &[("tea", 9)]), (970, &[("tea", 1), ("cup", 200)])]);
    let whole = profile("tea cup", &[(1_000, &[("tea", 10), ("cup", 200)])]);
    assert_eq!(split.chunks(), 1_000);
    assert!(close(split.idf_mass(), whole.idf_mass()));
    let (mut found, mut expected): (Vec<f32>, Vec<f32>) =
        (split.weights().iter().map(|(_, w)| *w).collect(), whole.weights().iter().map(|(_, w)| *w).collect());
    found.sort_by(f32::total_cmp);
    expected.sort_by(f32::total_cmp);
    assert_eq!(found, [expected[0], expected[1], expected[1]], "tea has an id in either");
}

#[test]
fn the_words_of_another_language_are_no_missing_evidence() {
    let query = "running, costs";
    let (english, german) = (Analyzer::english(), Analyzer::of(Language::German));
    let (in_english, in_german) = (QueryStems::of_text(english, query), QueryStems::of_text(german, query));
    assert_ne!(in_english, in_german);
    let salt = TermSalt::new(b"one");
    let held: HashMap<TermId, u64> = in_english.ids(salt).map(|id| (id, 3)).collect();
    let nothing = HashMap::new();
    let asked = |stems, salt, document_frequencies| AskedCollection { stems, salt, chunks: 50, document_frequencies };
    let alone = QueryProfile::new(&[asked(&in_english, salt, &held)]);
    let both =
        QueryProfile::new(&[asked(&in_english, salt, &held), asked(&in_german, TermSalt::new(b"two"), &nothing)]);
    let share = |profile: &QueryProfile| {
        evidence_score(profile.weights().iter().map(|(_, weight)| f64::from(*weight)).sum(), profile)
    };
    assert!(close(share(&alone), 1.0) && close(share(&both), 1.0), "{} {}", share(&alone), share(&both));
}

/// A corpus: the words of each chunk by number, and the collection that the chunk is put into.
fn corpora() -> impl Strategy<Value = Vec<(Vec<u8>, usize)>> {
    prop::collection::vec((prop::collection::vec(0..30_u8, 1..12), 0..4_usize), 1..120)
}

/// The scores that a query gives to the chunks, and which of them are candidates, if `place` says where a chunk is.
fn scored(chunks: &[(Vec<u8>, usize)], query: &str, budget: u64, place: impl Fn(usize) -> usize) -> Vec<(f32, bool)> {
    let stems = QueryStems::of_text(Analyzer::english(), query);
    let salts: Vec<TermSalt> = (0..4_u8).map(|number| TermSalt::new(&[number])).collect();
    let text = |words: &[u8]| words.iter().map(|word| format!("word{word} ")).collect::<String>();
    let counted: Vec<(usize, TermCounts)> = chunks
        .iter()
        .map(|(words, given)| {
            let place = place(*given);
            (place, TermCounts::of_text(Analyzer::english(), salts[place], &text(words)))
        })
        .collect();
    let mut frequencies = vec![HashMap::new(); salts.len()];
    let mut sizes = vec![0; salts.len()];
    for (place, counts) in &counted {
        sizes[*place] += 1;
        for id in counts.ids() {
            *frequencies[*place].entry(id).or_default() += 1;
        }
    }
    let asked: Vec<AskedCollection<'_>> = salts
        .iter()
        .zip(&sizes)
        .zip(&frequencies)
        .filter(|((_, chunks), _)| **chunks > 0)
        .map(|((salt, chunks), held)| AskedCollection {
            stems: &stems,
            salt: *salt,
            chunks: *chunks,
            document_frequencies: held,
        })
        .collect();
    let profile = QueryProfile::new(&asked);
    let weights: HashMap<TermId, f32> = profile.weights().into_iter().collect();
    let chosen = select_candidates(&profile, budget);
    counted
        .iter()
        .map(|(_, counts)| {
            // In the order of the text's terms, not of their ids: sums of floats depend on it.
            let mut parts: Vec<f32> =
                document_weights(counts).iter().filter_map(|(id, weight)| Some(weights.get(id)? * weight)).collect();
            parts.sort_by(f32::total_cmp);
            let holds = |id: &TermId| counts.ids().any(|held| held == *id);
            let is_candidate =
                chosen.rare.iter().any(holds) || chosen.pairs.iter().any(|(one, other)| holds(one) && holds(other));
            (parts.iter().sum(), is_candidate)
        })
        .collect()
}

proptest! {
    /// Splitting a corpus over collections changes no score; and whatever is scored in one is scored in several.
    #[test]
    fn a_split_corpus_ranks_as_one_does(
        chunks in corpora(),
        asked in prop::collection::vec(0..30_u8, 1..8),
        budget in prop_oneof![Just(u64::MAX), 0..60_u64],
    ) {
        let query: String = asked.iter().map(|word| format!("word{word} ")).collect();
        let whole = scored(&chunks, &query, budget, |_| 0);
        let split = scored(&chunks, &query, budget, |given| given);
        for (one, several) in whole.iter().zip(&split) {
            prop_assert_eq!(one.0.to_bits(), several.0.to_bits());
            prop_assert!(several.1 || !one.1, "a candidate of the one is none of the several");
        }
        if budget == u64::MAX {
            prop_assert_eq!(whole, split);
        }
    }

    #[test]
    fn weights_are_positive_and_bounded(ids in prop::collection::vec(1..50_i32, 0..200)) {
        let terms = TermCounts::of_ids(ids);
        for (_, weight) in document_weights(&terms) {
            prop_assert!(weight > 0.0 && f64::from(weight) <= K1 + 1.0);
        }
    }
}
