use std::collections::HashSet;

use super::calibrated::{GradedRound, grade, grade_continued};
use super::features::{COUNT, NAMES, Passage, evidence_of, of_round};
use super::*;
use crate::evidence::Question;
use crate::lexical::analyzer::Analyzer;

/// A handbook of a few pages; similarities are typical of a sentence embedding.
const LEAVE: &str = "Every employee has 26 days of annual leave. Parental leave lasts 14 weeks and is paid in full.";
const TRAVEL: &str = "Book trains through the travel desk. Hotels are refunded up to 140 euros a night.";
const SECURITY: &str = "Laptops are encrypted. Report a lost laptop to the security desk within one hour.";
const PAGES: [&str; 3] = [LEAVE, TRAVEL, SECURITY];

/// Similarity, if there are vectors, and BM25 score of each page.
type Scores = [(Option<f32>, f32); 3];

fn parsed(question: &str) -> Question {
    let analyzer = Analyzer::english();
    let pages: Vec<HashSet<String>> = PAGES.iter().map(|page| analyzer.terms(page).into_iter().collect()).collect();
    Question::new(analyzer, question, 12, |stem| pages.iter().filter(|page| page.contains(stem)).count() as u64)
}

fn round(question: &str, scores: Scores) -> GradedRound {
    let parsed = parsed(question);
    let passages: Vec<Passage<'_>> = PAGES
        .iter()
        .zip(scores)
        .map(|(text, (dense, lexical))| Passage { title: "Handbook", text, dense, lexical, among: None })
        .collect();
    let evidence = evidence_of(Analyzer::english(), &parsed, &passages);
    grade(&parsed, &passages, &evidence)
}

fn verdicts(question: &str, scores: Scores) -> Vec<Verdict> {
    round(question, scores).verdicts
}

fn grades(question: &str, scores: Scores) -> Vec<Grade> {
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
fn a_correct_passage_of_low_probability_tells_why_it_is_correct() {
    let improbable = |similarity: u8| {
        let dense = f32::from(similarity) / 100.0;
        let scores = [(Some(dense), 3.0), (Some(dense - 0.05), 0.5), (Some(0.08), 0.0)];
        let mut verdicts = verdicts("How many weeks does leave last?", scores);
        verdicts.retain(|verdict| verdict.grade == Grade::Correct && verdict.probability < Some(0.3));
        verdicts
    };
    let found: Vec<Verdict> = (20..60).flat_map(improbable).collect();
    assert!(!found.is_empty());
    assert!(found.iter().all(|verdict| verdict.reason.contains("beside the others")), "{found:?}");
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
fn a_small_collection_has_no_near_passage_by_chance() {
    let analyzer = Analyzer::english();
    let answerable = |chunks: u64| {
        let question = Question::new(analyzer, "How often am I on call?", chunks, |_| 1);
        let text = "Nobody is on call more than one week in five.";
        let passages = [Passage { title: "Rota", text, dense: Some(0.5), lexical: 2.0, among: None }];
        let evidence = evidence_of(analyzer, &question, &passages);
        grade(&question, &passages, &evidence).answerability.probability
    };
    let sizes = [10, 100, 1_000, 4_000].map(answerable);
    assert!(sizes.is_sorted_by(|small, large| small > large), "{sizes:?}");
    let bounds = [answerable(0) - sizes[0], answerable(u64::MAX) - sizes[3]];
    assert!(bounds.iter().all(|difference| difference.abs() < 1e-6), "beyond what was measured: {bounds:?}");
}

#[test]
fn the_collection_of_the_nearest_passage_counts_however_large_the_others_are() {
    let analyzer = Analyzer::english();
    let question = Question::new(analyzer, "How often am I on call?", 16_000, |_| 1);
    let answerable = |near: Option<u64>, far: Option<u64>| {
        let passages = [
            Passage {
                title: "Rota",
                text: "Nobody is on call more than one week in five.",
                dense: Some(0.5),
                lexical: 2.0,
                among: near,
            },
            Passage { title: "Phones", text: "A call costs nothing.", dense: Some(0.2), lexical: 1.0, among: far },
        ];
        let evidence = evidence_of(analyzer, &question, &passages);
        grade(&question, &passages, &evidence).answerability.probability
    };
    let [together, small, large] =
        [(None, None), (Some(70), Some(15_930)), (Some(15_930), Some(70))].map(|(near, far)| answerable(near, far));
    assert!(small > large + 0.1 && (large - together).abs() < 1e-6, "{small} {large} {together}");
}

#[test]
fn passages_of_the_last_document_are_likelier_and_never_surely_correct() {
    let analyzer = Analyzer::english();
    let question = Question::new(analyzer, "Is parental leave paid?", 1_000, |_| 5);
    let text = "Parental leave is paid in full for sixteen weeks.";
    let passages = [Passage { title: "Parental leave", text, dense: Some(0.9), lexical: 9.0, among: None }];
    let evidence = evidence_of(analyzer, &question, &passages);
    let [by_itself, continued] =
        [grade, grade_continued].map(|grade| grade(&question, &passages, &evidence).verdicts[0].clone());
    assert!(by_itself.is_clear && !continued.is_clear, "{by_itself:?} {continued:?}");
    assert!(continued.probability > by_itself.probability && continued.grade >= by_itself.grade, "{continued:?}");
}

#[test]
fn says_why() {
    let verdicts = verdicts("How many weeks of leave for zebras?", [(Some(0.4), 3.0), (Some(0.1), 0.0), (None, 0.0)]);
    let end = "similarity 0.40; lacks zebras, many; the question is answered with probability 0.40";
    assert!(verdicts[0].reason.ends_with(end), "{}", verdicts[0].reason);
    assert!(verdicts[1].reason.contains("covers 0%"), "{}", verdicts[1].reason);
    assert!(verdicts.iter().all(|verdict| { verdict.probability.is_some_and(|p| (0.0..=1.0).contains(&p)) }));
}

/// Questions, similarities and BM25 scores of the pages, and the probabilities that the constants give them: of the
/// round, then of each page. Only a new calibration moves them.
const PROBABILITIES: [(&str, Scores, [f32; 4]); 6] = [
    (
        "How many weeks does parental leave last?",
        [(Some(0.62), 6.5), (Some(0.12), 0.0), (Some(0.08), 0.0)],
        [0.851_088, 0.956_593, 0.001_969, 0.001_643],
    ),
    (
        "How many weeks does parental leave last?",
        [(None, 6.5), (None, 0.4), (None, 0.0)],
        [0.785_389_96, 0.392_631, 0.003_032, 0.002_602],
    ),
    (
        "Who refunds hotels of over 140 euros?",
        [(Some(0.2), 0.5), (Some(0.55), 5.1), (Some(0.1), 0.2)],
        [0.845_407, 0.001_932, 0.880_594, 0.001_051],
    ),
    (
        "Which laptops are not encrypted in Paris?",
        [(Some(0.1), 0.0), (Some(0.2), 0.0), (Some(0.6), 4.2)],
        [0.108_349, 0.002_165, 0.003_401, 0.882_991],
    ),
    (
        "Which laptops are not encrypted in Paris?",
        [(None, 0.0), (None, 0.0), (None, 4.2)],
        [0.038_997, 0.000_776, 0.000_776, 0.070_895],
    ),
    (
        "Which enzyme degrades insulin in mice?",
        [(Some(0.1), 0.0), (Some(0.08), 0.0), (Some(0.05), 0.0)],
        [0.008_633, 0.000_982, 0.000_810, 0.000_708],
    ),
];

#[test]
fn probabilities_are_those_of_the_calibration() {
    let mut found = Vec::new();
    for (question, scores, _) in PROBABILITIES {
        let graded = round(question, scores);
        let pages = graded.verdicts.iter().filter_map(|verdict| verdict.probability);
        found.push(std::iter::once(graded.answerability.probability).chain(pages).collect::<Vec<_>>());
    }
    let is_close = |found: &[f32], expected: &[f32]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
    let moved = found.iter().zip(&PROBABILITIES).any(|(found, (.., expected))| !is_close(found, expected));
    assert!(!moved, "{found:#?}");
}

#[test]
fn features_are_finite_and_named() {
    assert_eq!(NAMES.iter().collect::<HashSet<_>>().len(), COUNT);
    let parsed = parsed("How many weeks?");
    let passages = [
        Passage { title: "", text: "", dense: Some(-1.0), lexical: f32::MAX, among: None },
        Passage { title: "", text: "weeks", dense: None, lexical: 0.0, among: None },
    ];
    let evidence = evidence_of(Analyzer::english(), &parsed, &passages);
    for features in of_round(&parsed, &passages, &evidence) {
        assert!(features.values.iter().all(|value| value.is_finite()), "{features:?}");
    }
    assert!(of_round(&parsed, &[], &[]).is_empty());
}

#[test]
fn a_passage_that_defines_the_term_is_correct_though_only_its_vector_found_it() {
    let analyzer = Analyzer::english();
    let question = |text: &str| Question::new(analyzer, text, 1000, |_| 40);
    let texts = ["Massif writes its figures to a file. ".repeat(4), "Massif is a heap profiler.".to_owned()];
    let passages: Vec<Passage<'_>> = texts
        .iter()
        .zip([(Some(0.55), 5.2), (Some(0.35), 0.0)])
        .map(|(text, (dense, lexical))| Passage { title: "Massif", text, dense, lexical, among: None })
        .collect();
    let grade_of = |text: &str| {
        let parsed = question(text);
        grade(&parsed, &passages, &evidence_of(analyzer, &parsed, &passages)).verdicts[1].grade
    };
    assert_eq!(grade_of("What is Massif?"), Grade::Correct);
    assert_ne!(grade_of("Where does Massif write its figures?"), Grade::Correct);
}

#[test]
fn a_name_in_code_that_no_chunk_holds_is_not_answered_by_its_neighbours() {
    let scores = [(Some(0.62), 6.5), (Some(0.12), 0.0), (Some(0.08), 0.0)];
    let best = |question: &str| grades(question, scores).into_iter().next();
    assert_eq!(best("How many days of annual leave quota are there?"), Some(Grade::Correct));
    for question in ["How many days of annual leave_quota are there?", "How many days of annual leave has the `quota`?"]
    {
        assert_eq!(best(question), Some(Grade::Ambiguous), "{question}");
    }
}

#[test]
fn a_denial_may_stand_in_a_sentence_beside_the_nearest() {
    let denied = |question: &str, text: &str| {
        let question = Question::new(Analyzer::english(), question, 100, |_| 3);
        let passages = [Passage { title: "", text, dense: Some(0.5), lexical: 9.0, among: None }];
        let evidence = evidence_of(Analyzer::english(), &question, &passages);
        let place = question::NAMES.iter().position(|name| *name == "denied").expect("a feature");
        question::of_round(&question, &passages, &evidence).values[place] > 0.0
    };
    let question = "Why should web pages not be owned by the daemon?";
    let rule = "Web pages should not be owned by this user.";
    assert!(!denied(question, &format!("{rule} Pages that the daemon writes to the web are owned by it.")));
    assert!(denied(question, "The daemon did not start. Web pages are owned by the daemon."));
    assert!(!denied("Who owns web pages?", "Web pages are owned by the daemon."));
}

/// The best grade over passages of one page under these headings.
fn best_of_page(question: &str, title: &str, texts: &[&str]) -> Grade {
    let analyzer = Analyzer::english();
    let parts: Vec<HashSet<String>> =
        texts.iter().map(|text| analyzer.terms(&format!("{title} {text}")).into_iter().collect()).collect();
    let parsed =
        Question::new(analyzer, question, 500, |stem| parts.iter().filter(|part| part.contains(stem)).count() as u64);
    let passages: Vec<Passage<'_>> =
        texts.iter().map(|text| Passage { title, text, dense: Some(0.42), lexical: 2.0, among: None }).collect();
    let evidence = evidence_of(analyzer, &parsed, &passages);
    let verdicts = grade(&parsed, &passages, &evidence).verdicts;
    verdicts.iter().map(|verdict| verdict.grade).max().unwrap_or(Grade::Incorrect)
}

#[test]
fn a_code_is_answered_by_its_entry_and_by_no_list_without_it() {
    let codes = "* `8`: Unused. Exit code 8 sometimes meant an uncaught exception.\n* `9` **Invalid Argument**: Either an unknown option was given, or one without a value.\n* `10` **Failure**: The pump threw an error when it was started.";
    let others = "Exit code 1 is rare, and happens during development of the pump itself.";
    let grade = |question: &str| best_of_page(question, "Pump Exit codes", &[others, codes]);
    assert_eq!(grade("What does exit code 9 of the pump mean?"), Grade::Correct);
    assert!(grade("What does exit code 252 of the pump mean?") < Grade::Correct);
}
