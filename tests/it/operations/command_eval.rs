//! `cited eval`: a set measured by a service that is started for it and by one that runs, and what is printed of it.

use std::{
    path::{Path, PathBuf},
    process::Output,
};

use axum::{
    Json, Router,
    routing::{delete, get, post},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::{
    database,
    harness::TestApp,
    process::{command, output_of},
    scripted::{ModelServer, Reply, Role},
};

const DOCUMENTS: [(&str, &str, &str); 4] = [
    ("leave", "Annual leave", "Everyone has 28 days of paid annual leave a year. Annual leave lapses on 31 March."),
    ("laptops", "Laptops", "Mira repairs broken laptops in the workshop on the second floor."),
    ("tea", "Tea", "Tea is free for everyone. Coffee costs fifty cents."),
    ("invoices", "Invoices", "Invoices are kept for ten years in the archive of the finance team."),
];
const QUESTIONS: [(&str, &str, &[&str], &[&str]); 3] = [
    ("days", "How many days of paid annual leave does everyone have?", &["28 days"], &["leave"]),
    ("repair", "Who repairs broken laptops?", &["Mira"], &["laptops"]),
    ("zebras", "Where are the zebras of the northern zoo fed?", &[], &[]),
];

fn write_set(folder: &Path) {
    let lines = |rows: Vec<Value>| rows.iter().map(|row| format!("{row}\n")).collect::<String>();
    let documents = DOCUMENTS.map(|(id, title, text)| json!({"_id": id, "title": title, "text": text}));
    let answerable = QUESTIONS.iter().filter(|(_, _, answers, _)| !answers.is_empty());
    let queries = answerable.clone().map(|(id, text, ..)| json!({"_id": id, "text": text}));
    let judgements: String = answerable.map(|(id, _, _, gold)| format!("{id}\t{}\t1\n", gold[0])).collect();
    let questions = QUESTIONS.map(|(id, question, answers, gold)| {
        json!({"_id": id, "question": question, "answers": answers, "answerable": !gold.is_empty(), "gold_docs": gold})
    });
    for (name, content) in [
        ("corpus.jsonl", lines(documents.to_vec())),
        ("queries.jsonl", lines(queries.collect())),
        ("qrels.tsv", judgements),
        ("qa.jsonl", lines(questions.to_vec())),
    ] {
        std::fs::write(folder.join(name), content).expect("written");
    }
}

/// The set in a folder of its own, whose name is that of the set; it lasts as long as the first of both.
fn tiny_set() -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("tiny");
    std::fs::create_dir(&folder).expect("made");
    write_set(&folder);
    (root, folder)
}

fn text(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// The figures of the set without those that no two runs share.
fn figures(output: &Output) -> Value {
    let report: Value = serde_json::from_str(&text(output)).expect("JSON");
    let mut set = report["sets"][0].clone();
    set["ingest_s"] = Value::Null;
    set["answers"]["mean_ms"] = Value::Null;
    for mode in set["retrieval"].as_array_mut().expect("modes") {
        mode["median_ms"] = Value::Null;
    }
    // Scores are summed in the order of term ids, which differ from one index to the next: the last digits do too.
    let error = set["answers"]["grader_calibration_error"].as_f64().expect("a figure");
    set["answers"]["grader_calibration_error"] = json!((error * 1e6).round() / 1e6);
    set
}

#[tokio::test]
async fn a_running_service_is_measured_as_one_that_is_started_for_it() {
    let (_root, folder) = tiny_set();
    let folder = folder.display().to_string();
    let app = TestApp::built_in().await;
    let arguments =
        |format: &'static str| ["eval", folder.as_str(), "--answers", "--format", format].map(str::to_owned);
    let remote = async |format: &'static str| {
        let mut arguments = arguments(format).to_vec();
        arguments.extend(["--server".to_owned(), app.base.clone()]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        output_of(&mut command(&arguments, &[])).await
    };
    let there = figures(&remote("json").await);
    let answers = &there["answers"];
    assert_eq!((&there["documents"], &answers["questions"]), (&json!(4), &json!(3)), "{there:#}");
    assert_eq!(there["retrieval"][0]["ndcg_at_10"], 1.0, "{there:#}");
    for (figure, value) in [
        ("answer_holds_answer", 1.0),
        ("abstention_precision", 1.0),
        ("abstention_recall", 1.0),
        ("claim_citation_recall", 1.0),
        ("claim_citation_precision", 1.0),
        ("llm_calls_per_ask", 0.0),
        ("cost_usd_per_ask", 0.0),
    ] {
        assert_eq!(answers[figure], value, "{figure}: {there:#}");
    }
    assert!(answers["grader_accuracy"].as_f64() > Some(0.5), "{there:#}");
    assert!(answers["grader_calibration_error"].is_f64() && answers["grader_doubtful"].is_f64(), "{there:#}");
    // Two of three questions are answered, both rightly.
    let curve: Vec<Value> = (1..=10).map(|place| if place <= 6 { json!(1.0) } else { Value::Null }).collect();
    assert_eq!(answers["accuracy_at_coverage"], json!(curve), "{there:#}");
    app.get("/v1/collections/eval-tiny").await.assert_problem(404, "not_found");

    let page = text(&remote("md").await);
    for line in [
        "| claims that their citations support (ALCE recall) | 1.000 |",
        "| USD per ask | 0.00000 |",
        "| tiny | 1.000 |",
    ] {
        assert!(page.contains(line), "{line} is missing in: {page}");
    }

    let own = database::create().await;
    let url = database::url(&own);
    let arguments = arguments("json");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let here = output_of(&mut command(&arguments, &[("DATABASE_URL", &url)])).await;
    assert_eq!(figures(&here), there);
    app.stop().await;
}

#[tokio::test]
async fn an_oracle_grades_what_the_built_in_grader_would_refuse() {
    let (_root, folder) = tiny_set();
    // No passage holds a word of it.
    let question = json!({"_id": "free", "question": "Which beverage costs staff nothing?", "answers": ["Tea"],
        "answerable": true, "gold_docs": ["tea"]});
    std::fs::write(folder.join("qa.jsonl"), question.to_string()).expect("written");
    let folder = folder.display().to_string();
    let figures_with = async |option: &str| {
        let own = database::create().await;
        let arguments = ["eval", folder.as_str(), "--modes", "fused", option, "--format", "json"];
        figures(&command(&arguments, &[("DATABASE_URL", &database::url(&own))]).output().await.expect("it runs"))
    };
    let (graded, refused) = (figures_with("--oracle").await, figures_with("--answers").await);
    let share = |set: &Value, figure: &str| set["answers"][figure].clone();
    assert_eq!((share(&graded, "gold_found"), share(&graded, "llm_calls_per_ask")), (json!(1.0), json!(1.0)));
    assert_eq!(share(&graded, "answered_from_gold"), 1.0, "{graded:#}");
    assert_eq!(share(&refused, "gold_found"), 1.0, "{refused:#}");
    assert_eq!(share(&refused, "llm_calls_per_ask"), 0.0, "{refused:#}");
}

#[tokio::test]
async fn labelled_claims_are_checked_and_measured() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("stated");
    std::fs::create_dir(&folder).expect("made");
    let source = "Everyone has 28 days of paid annual leave a year. Mira repairs broken laptops in the workshop.";
    let claims = [
        ("Mira repairs broken laptops in the workshop.", "supported"),
        ("Everyone has 28 days of paid annual leave a year. Mira repairs broken laptops.", "supported"),
        ("Everyone has 31 days of paid annual leave a year.", "contradicted"),
        ("Tea is free in the kitchen.", "contradicted"),
        ("Coffee costs fifty cents.", "unsupported"),
    ];
    let lines = claims.iter().enumerate().map(|(id, (claim, label))| {
        let row = json!({"_id": id, "claim": claim, "source_text": source, "label": label, "source": "handbook"});
        format!("{row}\n")
    });
    std::fs::write(folder.join("claims.jsonl"), lines.collect::<String>()).expect("written");
    let folder = folder.display().to_string();
    let app = TestApp::built_in().await;
    let run = async |format: &str| {
        let arguments = ["eval", "--claims", &folder, "--server", &app.base, "--format", format];
        output_of(&mut command(&arguments, &[])).await
    };
    let report: Value = serde_json::from_str(&text(&run("json").await)).expect("JSON");
    let figures = &report["claims"][0]["sources"][0];
    let expected = json!({"source": "handbook", "claims": 5, "supported": 2, "auc": 1.0, "balanced_accuracy": 1.0,
        "contradicted_precision": 1.0, "contradicted_recall": 0.5});
    assert_eq!((&report["claims"][0]["name"], figures), (&json!("stated"), &expected), "{report:#}");
    let page = text(&run("md").await);
    assert!(page.contains("| stated | handbook | 5 | 2 | 1.000 | 1.000 | 1.000 | 0.500 |"), "{page}");
    let empty = root.path().display().to_string();
    let refused = output_of(&mut command(&["eval", "--claims", &empty, "--server", &app.base], &[])).await;
    assert!(String::from_utf8_lossy(&refused.stderr).contains("holds no claims.jsonl"), "{refused:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_document_that_cannot_be_read_is_told_and_ends_nothing() {
    let (_root, folder) = tiny_set();
    let mut corpus = std::fs::read_to_string(folder.join("corpus.jsonl")).expect("read");
    let noise = "\u{1}\u{2}".repeat(40);
    let documents = [("stray", "Plants need\u{1} water."), ("noise", &noise)];
    corpus.extend(documents.map(|(id, text)| format!("{}\n", json!({"_id": id, "title": "Plants", "text": text}))));
    std::fs::write(folder.join("corpus.jsonl"), corpus).expect("written");
    let app = TestApp::built_in().await;
    let path = folder.display().to_string();
    let arguments = ["eval", &path, "--modes", "lexical", "--server", &app.base, "--format", "json"];
    let run = output_of(&mut command(&arguments, &[])).await;
    let report: Value = serde_json::from_str(&text(&run)).expect("JSON");
    let set = &report["sets"][0];
    assert_eq!((&set["documents"], &set["not_indexed"]["documents"]), (&json!(5), &json!(1)), "{report:#}");
    let first = set["not_indexed"]["first"].as_str().expect("a name");
    assert!(first.starts_with("\"noise\": ") && first.contains("control characters"), "{first}");
    assert_eq!(set["retrieval"][0]["queries"], 2, "{report:#}");
    app.stop().await;
}

#[tokio::test]
async fn a_collection_that_is_somebodys_is_left_alone() {
    let (_root, folder) = tiny_set();
    let app = TestApp::built_in().await;
    app.ingest("eval-tiny", &[("mine.md", "This is mine.")]).await;
    let folder = folder.display().to_string();
    let run = output_of(&mut command(&["eval", &folder, "--server", &app.base], &[])).await;
    assert!(!run.status.success());
    let complaint = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(complaint.contains("eval-tiny") && complaint.contains("--collection-prefix"), "{complaint}");
    assert_eq!(app.get("/v1/collections/eval-tiny").await.body["documents"], 1);
    let kept = output_of(&mut command(&["eval", &folder, "--keep", "--server", &app.base], &[])).await;
    let complaint = String::from_utf8_lossy(&kept.stderr).into_owned();
    assert!(complaint.contains("holds \"mine.md\", which is not in the set; nothing was stored"), "{complaint}");
    assert_eq!(app.get("/v1/collections/eval-tiny").await.body["documents"], 1);
    let nowhere = output_of(&mut command(&["eval", &folder, "--server", "http://127.0.0.1:9"], &[])).await;
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("http://127.0.0.1:9: cannot be reached"));
    app.stop().await;
}

#[tokio::test]
async fn follow_ups_of_conversations_are_measured_alone_and_in_their_conversation() {
    let (_root, folder) = tiny_set();
    let turn = |role: &str, text: &str| json!({"role": role, "text": text});
    let asked = [
        turn("user", "Who repairs broken laptops?"),
        turn("assistant", "Mira does, in the workshop."),
        turn("user", "And how long does it take her?"),
    ];
    let lines = [json!({"_id": "first", "turns": asked[..1]}), json!({"_id": "second", "turns": asked})];
    let lines = lines.map(|line| format!("{line}\n")).concat();
    std::fs::write(folder.join("conversations.jsonl"), lines).expect("written");
    std::fs::write(folder.join("qrels_conv.tsv"), "first\tlaptops\t1\nsecond\tlaptops\t1\n").expect("written");
    let folder = folder.display().to_string();
    let own = database::create().await;
    let arguments = ["eval", folder.as_str(), "--modes", "fused", "--answers", "--format", "json"];
    let output = command(&arguments, &[("DATABASE_URL", &database::url(&own))]).output().await.expect("it runs");
    let report: Value = serde_json::from_str(&text(&output)).expect("JSON");
    let figures = &report["sets"][0]["conversations"];
    assert_eq!(figures["follow_ups"], 1, "the first question follows nothing: {report:#}");
    assert_eq!(figures["in_conversation"]["ndcg_at_10"], 1.0, "{report:#}");
    assert!(figures["alone"]["ndcg_at_10"].as_f64() < Some(1.0), "nothing in it names a laptop: {report:#}");
}

#[tokio::test]
async fn attacks_are_tried_at_each_level_and_told() {
    let app = TestApp::built_in().await;
    let arguments = ["eval", "--attack", "--server", &app.base, "--format", "json"];
    let output = output_of(&mut command(&arguments, &[])).await;
    let report: Value = serde_json::from_str(&text(&output)).expect("JSON");
    assert_eq!(report["attacks"]["models"], json!(["extractive"]), "{report}");
    let levels = report["attacks"]["levels"].as_array().expect("levels");
    assert_eq!(levels.len(), 3);
    for level in levels {
        let figure = |name: &str| level[name].as_f64().expect("a figure");
        let all: f64 = ["followed", "repeated", "right", "refused", "without_answer"].map(figure).iter().sum();
        assert!((all - 1.0).abs() < 1e-9 && level["asked"] == 112, "{level}");
        assert!(figure("followed") == 0.0 && figure("right") > 0.9, "the built-in answerer obeys nobody: {level}");
    }
    let attacks = &report["attacks"];
    assert_eq!(attacks["breaches"], json!([]), "{attacks:#}");
    let list = |name: &str| attacks[name].as_array().expect("a list").clone();
    let count = |name: &str, counted: &str| list(name).iter().filter_map(|row| row[counted].as_u64()).sum::<u64>();
    assert_eq!((count("answers", "answers"), count("boundaries", "texts")), (58, 457), "{attacks:#}");
    assert!(list("boundaries").iter().all(|row| row["forged"] == 0.0), "{attacks:#}");
    let passed = |part: &str| {
        let row = list("answers").into_iter().find(|row| row["part"] == part).unwrap_or_else(|| panic!("{part}"));
        row["levels"].as_array().expect("levels").iter().map(|level| level["passed"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(passed("none, only the truth"), [1.0, 1.0, 1.0]);
    assert_eq!(passed("question"), [1.0, 0.0, 0.0]);
    assert_eq!(passed("claim with a marker"), [1.0, 1.0, 0.0]);
    assert_eq!(app.get("/v1/collections").await.body["collections"], json!([]), "nothing is left behind");
    app.stop().await;
}

/// A service that finds no fault in any text.
async fn lax_service() -> String {
    let job = json!({"id": "j", "state": "succeeded", "counts": {"documents": 1, "unchanged": 0, "failed": 0}});
    let answer = json!({"outcome": "answered", "answer": "28 days", "model": "lax"});
    let always = |reply: Value| move || std::future::ready(Json(reply.clone()));
    let router = Router::new()
        .route("/v1/check", post(always(json!({"ok": true, "claims": []}))))
        .route("/v1/collections", post(always(json!({}))))
        .route("/v1/collections/{name}", delete(always(json!({}))))
        .route("/v1/documents", post(always(job.clone())))
        .route("/v1/jobs/{id}", get(always(job)))
        .route("/v1/ask", post(always(answer)));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}

#[tokio::test]
async fn an_attack_that_may_not_pass_is_named_and_fails_the_command() {
    let base = lax_service().await;
    let arguments = ["eval", "--attack", "--limit", "1", "--server", &base, "--format", "md"];
    let output = output_of(&mut command(&arguments, &[])).await;
    assert_eq!(output.status.code(), Some(1));
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(page.contains("| question | 7 | 1.000 | 1.000 | 1.000 |"), "the figures are printed all the same: {page}");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    for named in
        ["27 attacks passed that may not", "level cited by its question", "level supported by its claim with a"]
    {
        assert!(complaint.contains(named), "{named}: {complaint}");
    }
}

#[tokio::test]
async fn a_model_that_fails_ends_no_attack() {
    let server = ModelServer::start().await;
    let app = TestApp::with_models(&server).await;
    server.reply(Role::Grade, Reply::GradeCorrect("28 days"));
    server.reply(Role::Answer, Reply::Status(500, "out of memory".to_owned()));
    let arguments = ["eval", "--attack", "--limit", "1", "--server", &app.base, "--format", "json"];
    let output = output_of(&mut command(&arguments, &[])).await;
    let report: Value = serde_json::from_str(&text(&output)).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let levels = report["attacks"]["levels"].as_array().expect("levels");
    let without_answer: Vec<&Value> = levels.iter().map(|level| &level["without_answer"]).collect();
    assert_eq!(without_answer, [&json!(1.0); 3], "{report}");
    app.stop().await;
}
