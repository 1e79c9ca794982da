use std::collections::HashSet;

use super::calibrated::grade;
use super::features::{COUNT, NAMES, Passage, evidence_of, of_round};
use super::*;
use crate::evidence::Inquiry;
use crate::lexical::analyzer::Analyzer;

/// A handbook of a few pages; similarities are typical of a sentence embedding.
const LEAVE: &str = "Every employee has 26 days of annual leave. Parental leave lasts 14 weeks and is paid in full.";
const TRAVEL: &str = "Book trains through the travel desk. Hotels are refunded up to 140 euros a night.";
const SECURITY: &str = "Laptops are encrypted. Report a lost laptop to the security desk within one hour.";
const PAGES: [&str; 3] = [LEAVE, TRAVEL, SECURITY];

fn inquiry(question: &str) -> Inquiry {
    let analyzer = Analyzer::english();
    let pages: Vec<HashSet<String>> = PAGES.iter().map(|page| analyzer.terms(page).into_iter().collect()).collect();
    Inquiry::new(analyzer, question, 12, |stem| pages.iter().filter(|page| page.contains(stem)).count() as u64)
}

fn verdicts(question: &str, scores: [(Option<f32>, f32); 3]) -> Vec<Verdict> {
    let inquiry = inquiry(question);
    let passages: Vec<Passage<'_>> = PAGES
        .iter()
        .zip(scores)
        .map(|(text, (dense, lexical))| Passage { title: "Handbook", text, dense, lexical })
        .collect();
    let evidence = evidence_of(Analyzer::english(), &inquiry, &passages);
    grade(&inquiry, &passages, &evidence).verdicts
}

fn grades(question: &str, scores: [(Option<f32>, f32); 3]) -> Vec<Grade> {
    verdicts(question, scores).iter().map(|verdict| verdict.grade).collect()
}

#[test]
fn takes_the_passage_that_answers() {
    let scores = [(Some(0.62), 6.5), (Some(0.12), 0.0), (Some(0.08), 0.0)];
    assert_eq!(
        grades("How many weeks does parental leave last?", scores),
        [Grade::Correct, Grade::Incorrect, Grade::Incorrect]
    );
}

#[test]
fn takes_it_without_vectors_too() {
    let scores = [(None, 6.5), (None, 0.0), (None, 0.0)];
    assert_eq!(
        grades("How many weeks does parental leave last?", scores),
        [Grade::Correct, Grade::Incorrect, Grade::Incorrect]
    );
}

#[test]
fn refuses_what_is_off_the_corpus() {
    let scores = [(Some(0.1), 0.0), (Some(0.08), 0.0), (Some(0.05), 0.0)];
    for question in ["Which enzyme degrades insulin in mice?", "Who won the world cup in 1966?", "", "and of the?"] {
        assert_eq!(grades(question, scores), [Grade::Incorrect; 3], "{question}");
        let lexical = scores.map(|(_, lexical)| (None, lexical));
        assert_eq!(grades(question, lexical), [Grade::Incorrect; 3], "{question}");
    }
}

#[test]
fn says_why() {
    let verdicts = verdicts("How many weeks of leave for zebras?", [(Some(0.4), 3.0), (Some(0.1), 0.0), (None, 0.0)]);
    assert!(verdicts[0].reason.ends_with("similarity 0.40; lacks zebras, many"), "{}", verdicts[0].reason);
    assert!(verdicts[1].reason.contains("covers 0%"), "{}", verdicts[1].reason);
    assert!(verdicts.iter().all(|verdict| { verdict.probability.is_some_and(|p| (0.0..=1.0).contains(&p)) }));
}

#[test]
fn a_model_is_asked_about_unclear_cases_only() {
    let verdict = |grade, probability, is_clear| Verdict { grade, probability, is_clear, reason: String::new() };
    let mut verdicts = vec![
        verdict(Grade::Correct, Some(0.9), true),
        verdict(Grade::Correct, Some(0.3), false),
        verdict(Grade::Incorrect, Some(0.05), false),
    ];
    let places = unclear(&verdicts);
    assert_eq!(places, [1, 2]);
    replace(&mut verdicts, &places, reply::read("1: incorrect\n2: correct", places.len()));
    assert_eq!(
        verdicts.iter().map(|v| v.grade).collect::<Vec<_>>(),
        [Grade::Correct, Grade::Incorrect, Grade::Correct]
    );
    assert_eq!(verdicts[1].probability, Some(0.3));
    assert!(unclear(&verdicts).is_empty());
    replace(&mut verdicts, &[7], reply::read("correct", 1));
}

#[test]
fn features_are_finite_and_named() {
    assert_eq!(NAMES.iter().collect::<HashSet<_>>().len(), COUNT);
    let inquiry = inquiry("How many weeks?");
    let passages = [
        Passage { title: "", text: "", dense: Some(-1.0), lexical: f32::MAX },
        Passage { title: "", text: "weeks", dense: None, lexical: 0.0 },
    ];
    let evidence = evidence_of(Analyzer::english(), &inquiry, &passages);
    for features in of_round(&inquiry, &passages, &evidence) {
        assert!(features.values.iter().all(|value| value.is_finite()), "{features:?}");
    }
    assert!(of_round(&inquiry, &[], &[]).is_empty());
}
