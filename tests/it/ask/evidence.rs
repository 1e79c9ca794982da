//! The part of every answer that says how far the documents answer the question.

use serde_json::{Value, json};

use crate::harness::TestApp;

const LEAVE: (&str, &str) = ("leave.md", "Everyone has 28 days of paid annual leave a year.");
const TEA: (&str, &str) = ("tea.md", "Tea is free for everyone.");

async fn evidence(app: &TestApp, question: &str, outcome: &str) -> (f64, [u64; 3]) {
    let answer = app.ask(json!({"question": question, "collections": ["handbook"]})).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!(outcome)), "{answer:?}");
    let evidence = &answer.body["evidence"];
    let counts = ["correct", "ambiguous", "incorrect"].map(|grade| evidence[grade].as_u64().expect("a count"));
    for (count, grade) in counts.iter().zip(["correct", "ambiguous", "incorrect"]) {
        let sources = answer.body["sources"].as_array().expect("sources");
        let shown = sources.iter().filter(|source| source["grade"] == grade).count() as u64;
        assert!(*count >= shown, "{grade}: {answer:?}");
    }
    let is_quoted = answer.body["answer"].is_string();
    assert_eq!(evidence["confidence"].as_f64().is_some_and(|sure| sure > 0.0 && sure < 1.0), is_quoted, "{answer:?}");
    (evidence["answerability"].as_f64().expect("a probability"), counts)
}

#[tokio::test]
async fn an_answer_says_how_good_its_evidence_is() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[LEAVE, TEA]).await;
    let question = "How many days of paid annual leave does everyone have?";
    let (answered, [correct, _, incorrect]) = evidence(&app, question, "answered").await;
    assert_eq!((correct, incorrect), (1, 1), "one passage says it and one has nothing to do with it");
    let both = format!("{} and who repairs broken laptops?", question.replace('?', ","));
    let (partial, [correct, ..]) = evidence(&app, &both, "partial").await;
    assert_eq!(correct, 1);
    let (abstained, [correct, ..]) = evidence(&app, "Who painted the ceiling of the chapel?", "abstained").await;
    assert_eq!(correct, 0);
    assert!(answered > 0.5 && abstained < 0.5 && abstained < partial, "{answered} {partial} {abstained}");
    app.stop().await;
}

#[tokio::test]
async fn where_nothing_was_found_there_is_no_probability() {
    let app = TestApp::built_in().await;
    app.post("/v1/collections", json!({"name": "handbook"})).await;
    let answer = app.ask(json!({"question": "Who leads the Oslo office?", "collections": ["handbook"]})).await;
    assert_eq!(answer.body["reason"], "empty_collection", "{answer:?}");
    let nothing =
        json!({"answerability": Value::Null, "correct": 0, "ambiguous": 0, "incorrect": 0, "confidence": Value::Null});
    assert_eq!(answer.body["evidence"], nothing, "{answer:?}");
    app.stop().await;
}
