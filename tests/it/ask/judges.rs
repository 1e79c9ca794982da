//! The best available grader has the last word, and a helper that fails costs a warning and not the ask.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    harness::{Answer, TestApp},
    scripted::{ModelServer, Reply, Role},
};

/// A paraphrase: the words of the answer are others than those of the question.
const QUESTION: &str = "What is my holiday allowance?";
const ANSWER: &str = "Everyone has 28 days of paid annual leave a year [^1].";
const HANDBOOK: [(&str, &str); 3] = [
    ("leave.md", "Everyone has 28 days of paid annual leave a year."),
    ("laptops.md", "Report a lost laptop to the security desk within four hours."),
    ("tea.md", "Tea is free for everyone on the second floor."),
];

fn ask() -> Value {
    json!({"question": QUESTION, "collections": ["handbook"], "include": ["trace"], "speculative": "off"})
}

async fn app(settings: &str) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let chat = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let app = TestApp::with_file(&server, &chat, settings).await;
    app.ingest("handbook", &HANDBOOK).await;
    server.say(Role::Answer, ANSWER);
    (server, app)
}

fn assert_answered(answer: &Answer) {
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
}

/// The roles whose model was not used, by the warnings.
fn skipped(answer: &Answer) -> Vec<&str> {
    let warnings = answer.body["validation"]["warnings"].as_array().expect("warnings").iter();
    let details = warnings.filter(|warning| warning["kind"] == "model_skipped").filter_map(|w| w["detail"].as_str());
    details.filter_map(|detail| detail.split("the role ").nth(1)?.split_whitespace().next()).collect()
}

#[tokio::test]
async fn a_model_that_grades_has_the_last_word_on_every_passage() {
    let (server, app) = app("").await;
    server.reply(Role::Grade, Reply::GradeCorrect("28 days"));
    let answer = app.ask(ask()).await;
    assert_answered(&answer);
    assert_eq!((server.calls(Role::Grade).len(), server.calls(Role::Answer).len()), (1, 1), "two calls in all");
    let shown = server.calls(Role::Grade)[0].body["messages"][1]["content"].to_string();
    assert_eq!(shown.matches("<source ").count(), 3, "also what the built-in grader takes for incorrect: {shown}");
    let verdicts = answer.body["trace"]["rounds"][0]["verdicts"].as_array().expect("verdicts").clone();
    assert!(verdicts.iter().all(|verdict| verdict["by"] == "model"), "{verdicts:?}");
    app.stop().await;
}

#[tokio::test]
async fn passages_beside_the_one_that_answers_are_no_reason_to_search_on() {
    let doubtful = "1: ambiguous - near\n2: ambiguous - near\n3: ambiguous - near\n";
    let grades = |place: usize, missing: &str| {
        doubtful.replace(&format!("{place}: ambiguous"), &format!("{place}: correct")) + "missing: " + missing
    };
    for (missing, rounds) in [("none", 1), ("the year", 2)] {
        let (server, app) = app("").await;
        server.reply(Role::Grade, Reply::GradeCorrect("28 days"));
        let place = {
            let _ = app.ask(ask()).await;
            let shown = server.calls(Role::Grade)[0].body["messages"][1]["content"].to_string();
            shown.split("<source ").position(|source| source.contains("28 days")).expect("the passage")
        };
        server.drop_reply(Role::Grade);
        server.say(Role::Grade, &grades(place, missing));
        server.say(Role::Grade, &grades(place, "none"));
        server.say(Role::Rewrite, "annual time off");
        let answer = app.ask(ask()).await;
        assert_answered(&answer);
        let searched = answer.body["trace"]["rounds"].as_array().expect("rounds").len();
        assert_eq!(searched, rounds, "{missing}: {answer:?}");
        app.stop().await;
    }
}

#[tokio::test]
async fn a_passage_is_graded_with_the_wording_that_found_it_and_once() {
    let (server, app) = app("").await;
    server.say(Role::Rewrite, "annual time off");
    server.reply(Role::Grade, Reply::GradeCorrect("28 days"));
    let mut request = ask();
    request["question"] = json!("Which coffee is free?");
    request["top_k"] = json!(1);
    let answer = app.ask(request).await;
    assert_answered(&answer);
    let graded: Vec<String> =
        server.calls(Role::Grade).iter().map(|call| call.body["messages"][1]["content"].to_string()).collect();
    assert_eq!(graded.len(), 2, "{graded:?}");
    assert!(
        !graded[0].contains("<query ") && graded[1].contains("<query ") && graded[1].contains(">annual time off"),
        "{graded:?}"
    );
    let rewriter = server.calls(Role::Rewrite)[0].body["messages"][1]["content"].to_string();
    assert!(rewriter.contains("<missing "), "the next query aims at what is missing: {rewriter}");
    assert_ne!(answer.body["trace"]["rounds"][0]["missing"], json!([]), "{answer:?}");
    assert!(graded[1].contains("28 days") && !graded[1].contains("Tea is free"), "not the first one again: {graded:?}");
    app.stop().await;
}

#[tokio::test]
async fn grades_that_one_prompt_cannot_hold_are_asked_of_the_best_passages() {
    let (server, app) = app("").await;
    server.reply(Role::Grade, Reply::GradeCorrect("28 days"));
    let mut request = ask();
    // Between a prompt of one source and one of three.
    request["limits"] = json!({"max_source_bytes": 100});
    let answer = app.ask(request).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let shown = server.calls(Role::Grade)[0].body["messages"].to_string();
    assert_eq!(shown.matches("<source ").count(), 1, "{shown}");
    let verdicts = answer.body["trace"]["rounds"][0]["verdicts"].as_array().expect("verdicts").iter();
    let by: Vec<&Value> = verdicts.map(|verdict| &verdict["by"]).collect();
    assert_eq!(by, ["model", "built_in", "built_in"], "{answer:?}");
    app.stop().await;
}

fn broken() -> Reply {
    Reply::Status(400, json!({"error": {"message": "no such model"}}).to_string())
}

#[tokio::test]
async fn a_planner_and_a_grader_that_fail_are_replaced_and_named() {
    let (server, app) = app("[roles]\nplan = [\"openai:scripted-chat\"]\n").await;
    server.reply(Role::Plan, broken());
    server.reply(Role::Grade, broken());
    let mut request = ask();
    request["question"] = json!("How many days of leave does everyone have a year?");
    let answer = app.ask(request).await;
    assert_answered(&answer);
    assert!(skipped(&answer).contains(&"plan"), "{answer:?}");
    assert_eq!(answer.body["trace"]["plan"]["by"], "built_in");
    let foreign = app.ask(ask()).await;
    assert_eq!((foreign.status, skipped(&foreign).contains(&"grade")), (200, true), "{foreign:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_planner_and_a_grader_that_hang_leave_time_for_the_answer() {
    let hangs = || Reply::Slow(Duration::from_mins(2), "direct".to_owned());
    let of = async |role: Role, name: &str| {
        let (server, app) = app("[roles]\nplan = [\"openai:scripted-chat\"]\n").await;
        server.reply(role, hangs());
        let mut request = ask();
        request["question"] = json!("How many days of leave does everyone have a year?");
        request["limits"] = json!({"timeout_ms": 8_000});
        if role == Role::Grade {
            // No word of the document: the built-in grader leaves it to the model.
            request["question"] = json!(QUESTION);
        }
        let answer = app.ask(request).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(skipped(&answer).contains(&name), "{answer:?}");
        app.stop().await;
    };
    tokio::join!(of(Role::Plan, "plan"), of(Role::Grade, "grade"));
}

#[tokio::test]
async fn the_built_in_grades_stand_where_a_reply_grades_nothing() {
    let (server, app) = app("").await;
    server.say(Role::Grade, "It is hard to say, since sources differ.");
    let answer = app.ask(ask()).await;
    assert_eq!((answer.status, skipped(&answer).contains(&"grade")), (200, true), "{answer:?}");
    let verdicts = answer.body["trace"]["rounds"][0]["verdicts"].as_array().expect("verdicts");
    assert!(!verdicts.is_empty() && verdicts.iter().all(|verdict| verdict["by"] == "built_in"), "{verdicts:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_rewriter_that_fails_or_says_nothing_is_replaced_and_named() {
    for reply in [broken(), Reply::Text(" \n".to_owned()), Reply::Text("\"\"".to_owned())] {
        let (server, app) = app("").await;
        server.reply(Role::Grade, Reply::GradeCorrect("no such words"));
        server.reply(Role::Rewrite, reply.clone());
        let mut request = ask();
        request["question"] = json!("Which team drinks tea on the second floor at noon?");
        let answer = app.ask(request).await;
        assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("abstained")), "{reply:?}: {answer:?}");
        assert!(skipped(&answer).contains(&"rewrite"), "{reply:?}: {answer:?}");
        let rounds = answer.body["trace"]["rounds"].as_array().expect("rounds").len();
        assert!(rounds > 1, "the built-in rewriter has other words: {answer:?}");
        app.stop().await;
    }
}

#[tokio::test]
async fn an_empty_reply_goes_to_the_next_model() {
    let (server, app) = app("[roles]\nrewrite = [\"openai:scripted-chat\", \"openai:another-chat\"]\n").await;
    server.reply(Role::Grade, Reply::GradeCorrect("28 days"));
    server.say(Role::Rewrite, " \n");
    server.say(Role::Rewrite, "days of paid annual leave a year");
    let mut request = ask();
    request["question"] = json!("Which coffee is free?");
    request["top_k"] = json!(1);
    let answer = app.ask(request).await;
    assert_answered(&answer);
    let models: Vec<Value> = server.calls(Role::Rewrite).iter().map(|call| call.body["model"].clone()).collect();
    assert_eq!(models, ["scripted-chat", "another-chat"]);
    assert_eq!(skipped(&answer), Vec::<&str>::new());
    app.stop().await;
}

#[tokio::test]
async fn a_query_of_the_plan_counts_as_tried() {
    let (server, app) = app("[roles]\nplan = [\"openai:scripted-chat\"]\n").await;
    let wording = "entitlement to time off";
    server.say(Role::Plan, &json!({"type": "lookup", "strategy": "rewrite", "sub_questions": [wording]}).to_string());
    server.reply(Role::Grade, Reply::GradeCorrect("no such words"));
    server.say(Role::Rewrite, wording);
    let answer = app.ask(ask()).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("abstained")), "{answer:?}");
    let shown = server.calls(Role::Rewrite)[0].body["messages"][1]["content"].to_string();
    assert!(shown.contains(wording), "the rewriter is shown it: {shown}");
    let rounds = answer.body["trace"]["rounds"].as_array().expect("rounds").iter();
    assert!(!rounds.into_iter().any(|round| round["query"] == wording), "it is not searched again: {answer:?}");
    let planned = &answer.body["trace"]["planned"];
    assert_eq!((&planned[0]["query"], planned[0]["verdicts"].as_array().map(Vec::len)), (&json!(wording), Some(3)));
    app.stop().await;
}

#[tokio::test]
async fn an_abstention_says_what_no_correct_passage_holds() {
    let (server, app) = app("").await;
    server.say(Role::Grade, "1: incorrect\n2: incorrect\n3: incorrect\nmissing: the price of lunch; the opening hours");
    server.reply(Role::Rewrite, broken());
    let mut request = ask();
    request["question"] = json!("What does lunch cost in the canteen?");
    let told = app.ask(request.clone()).await;
    assert_eq!((&told.body["outcome"], &told.body["reason"]), (&json!("abstained"), &json!("no_relevant_content")));
    let named = json!(["the price of lunch", "the opening hours"]);
    assert_eq!(told.body["trace"]["rounds"][0]["missing"], named, "{told:?}");
    app.stop().await;

    let built_in = TestApp::built_in().await;
    built_in.ingest("handbook", &HANDBOOK).await;
    let answer = built_in.ask(request).await;
    assert_eq!(answer.body["outcome"], "abstained", "{answer:?}");
    let missing = answer.body["missing"].as_array().expect("words");
    assert!(missing.contains(&json!("lunch")) && missing.contains(&json!("canteen")), "{answer:?}");
    built_in.stop().await;
}
