use proptest::prelude::*;

use super::features::{NAMES, Passage, of_passages};
use super::*;
use crate::evidence::QuestionTerms;
use crate::lexical::analyzer::Analyzer;

fn query(text: &str) -> QuestionTerms {
    QuestionTerms::new(Analyzer::english(), text, 100, |stem| match stem {
        "zyx" => 0,
        "leav" => 30,
        "ngultrum" => 1,
        _ => 3,
    })
}

fn features_of(text: &str, passages: &[(&str, &str, f64)]) -> Vec<Features> {
    let passages: Vec<Passage<'_>> =
        passages.iter().map(|(title, text, fused)| Passage { title, text, is_section: false, fused: *fused }).collect();
    of_passages(Analyzer::english(), &query(text), &passages)
}

fn value(features: &Features, name: &str) -> f64 {
    features.values[NAMES.iter().position(|known| *known == name).expect("a feature")]
}

#[test]
fn one_sentence_that_says_it_all_beats_two_that_share_it() {
    let scattered = "The office is closed in August. Parental matters are dealt with by Ms Ito. Leave a note.";
    let whole = "The office is closed in August. Parental leave is dealt with by Ms Ito. Write a note.";
    let found = features_of("parental leave", &[("Office", scattered, 0.6), ("Office", whole, 0.6)]);
    assert!(value(&found[0], "sentence") < value(&found[1], "sentence"));
    let scores = score(&found, DenseWeight::default());
    assert!(scores[0] < scores[1], "{scores:?}");
}

#[test]
fn shares_are_of_what_the_collections_hold() {
    let found = features_of("zyx parental leave", &[("Parental leave", "Weeks.", 0.5), ("", "Parental leave.", 0.5)]);
    assert!((value(&found[0], "title") - 1.0).abs() < 1e-6 && value(&found[0], "sentence") < 1e-6);
    assert!((value(&found[1], "sentence") - 1.0).abs() < 1e-6 && value(&found[1], "title") < 1e-6);
}

#[test]
fn a_query_without_known_words_leaves_the_fused_order() {
    let found = features_of("zyx", &[("a", "zyx", 0.9), ("b", "b", 0.4)]);
    let scores = score(&found, DenseWeight::default());
    assert!(scores[0] > scores[1]);
    assert_eq!(score(&[], DenseWeight::default()), Vec::<f64>::new());
}

#[test]
fn words_count_as_much_as_they_do_for_the_query() {
    let found = features_of("parental leave", &[("", "Nothing.", 0.8), ("Parental leave", "Parental leave.", 0.5)]);
    let scores = |dense: f64| score(&found, DenseWeight::new(dense).expect("a share"));
    assert!(scores(0.2)[1] > scores(0.2)[0]);
    assert!(scores(1.0)[1] < scores(1.0)[0], "vectors alone decide");
}

#[test]
fn a_passage_with_the_identifier_asked_for_goes_before_one_with_another() {
    let (other, asked) = (("Paint 1.5.0", "The release is out.", 0.9), ("Paint 1.50.0", "Jars.", 0.4));
    let scores = |query: &str| score(&features_of(query, &[other, asked]), DenseWeight::default());
    let of_release = |query: &str| {
        let terms = self::query(query);
        let passages: Vec<Passage<'_>> = [other, asked]
            .iter()
            .map(|(title, text, fused)| Passage { title, text, is_section: true, fused: *fused })
            .collect();
        score(&of_passages(Analyzer::english(), &terms, &passages), DenseWeight::default())
    };
    let with = of_release("When was 1.50.0 released?");
    assert!(with[1] > with[0], "{with:?}");
    let without = scores("release");
    assert!(without[0] > without[1], "{without:?}");
}

#[test]
fn a_name_that_hardly_any_passage_holds_decides_between_nearly_equals() {
    let (near, named) = (("", "A currency has a code.", 0.8), ("", "BTN: Ngultrum.", 0.6));
    let scores = |query: &str| score(&features_of(query, &[near, named]), DenseWeight::default());
    let rare = scores("the code of the Ngultrum");
    let common = scores("the code of the ngultrum");
    assert!(rare[1] - common[1] > 0.3 && (rare[0] - common[0]).abs() < 1e-6, "{rare:?} {common:?}");
}

proptest! {
    #[test]
    fn features_are_shares(query in "[a-e ]{0,12}", texts in prop::collection::vec(("[a-e ]{0,9}", "[a-e .]{0,40}", 0.0..=1.0f64), 0..5)) {
        let passages: Vec<(&str, &str, f64)> =
            texts.iter().map(|(title, text, fused)| (title.as_str(), text.as_str(), *fused)).collect();
        let found = features_of(&query, &passages);
        prop_assert_eq!(found.len(), passages.len());
        for value in found.iter().flat_map(|features| features.values) {
            prop_assert!((0.0..=1.0 + 1e-6).contains(&value));
        }
        let scores = score(&found, DenseWeight::default());
        prop_assert!(scores.iter().all(|score| score.is_finite()));
    }
}
