//! Words that no document holds: named, or read as the words that were meant, and never silently.

use serde_json::{Value, json};

use crate::harness::TestApp;

const DOCUMENTS: [(&str, &str); 3] = [
    ("tail.md", "# tail\n\nThe command tail prints the last 10 lines of a file by default."),
    ("scp.md", "# scp\n\nThe command scp copies files between hosts over a secure connection."),
    ("leave.md", "# Leave\n\nEveryone has 28 days of paid annual leave a year."),
];

async fn app() -> TestApp {
    let app = TestApp::built_in().await;
    app.ingest("manual", &DOCUMENTS).await;
    app
}

fn ask(question: &str) -> Value {
    json!({"question": question, "collections": ["manual"]})
}

#[tokio::test]
async fn an_abstention_names_the_words_that_no_document_holds() {
    let app = app().await;
    let answer = app.ask(ask("How is a Kubernetes cluster upgraded?")).await;
    assert_eq!(answer.body["outcome"], "abstained", "{answer:?}");
    assert_eq!(answer.body["unknown_terms"], json!(["Kubernetes", "cluster", "upgraded"]), "{answer:?}");
    assert!(!answer.body["sources"].as_array().expect("sources").is_empty(), "the nearest passages: {answer:?}");
    assert!(answer.body.get("corrected").is_none(), "{answer:?}");
    let counted = app.ask(ask("How many Kubernetes clusters are there?")).await;
    assert_eq!(counted.body["unknown_terms"], json!(["Kubernetes", "clusters"]), "{counted:?}");
    let unspaced = app.ask(ask("Kubernetesクラスタをアップグレードするには？")).await;
    assert_eq!(unspaced.body["unknown_terms"], json!(["Kubernetes"]), "pairs of characters are no words: {unspaced:?}");
    let answered = app.ask(ask("How many days of paid annual leave does everyone have?")).await;
    assert!(answered.body.get("unknown_terms").is_none() && answered.body.get("corrected").is_none(), "{answered:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_typing_error_is_corrected_and_told() {
    let app = app().await;
    let mut request = ask("How many lines does the comand tial print by defualt?");
    request["cache"] = json!({"ttl_s": 60});
    request["include"] = json!(["trace"]);
    for is_hit in [false, true] {
        let answer = app.ask(request.clone()).await;
        assert_eq!((&answer.body["outcome"], &answer.body["cache_hit"]), (&json!("answered"), &json!(is_hit)));
        assert!(answer.body["answer"].as_str().is_some_and(|text| text.contains("10 lines")), "{answer:?}");
        let corrected = json!([
            {"from": "comand", "to": "command"}, {"from": "tial", "to": "tail"}, {"from": "defualt", "to": "default"},
        ]);
        assert_eq!(answer.body["corrected"], corrected, "{answer:?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_tool_that_is_not_documented_is_not_answered_from_its_neighbours() {
    let app = app().await;
    for question in ["Which files does Robocopy copy between hosts?", "What does the --turbo option of scp copy?"] {
        let answer = app.ask(ask(question)).await;
        assert_eq!(answer.body["outcome"], "abstained", "{question}: {answer:?}");
    }
    app.stop().await;
}
