//! Ask as server-sent events: whatever happens, what is told adds up and ends once.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    dialect::Dialect,
    harness::{TestApp, body_of, json_of, part_of},
    scripted::{ModelServer, Piece, Reply, Role},
    wait,
};

const QUESTION: &str = "How many days of paid annual leave does everyone have, and when does leave lapse?";
pub(crate) const DOCUMENT: &str = "Everyone has 28 days of paid annual leave a year. Annual leave lapses on 31 March.";
pub(crate) const ANSWER: &str =
    "Everyone has 28 days of paid annual leave a year [^1]. Annual leave lapses on 31 March [^1].";
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) fn ask(stream: Value) -> Value {
    let mut body = json!({"question": QUESTION, "collections": ["handbook"]});
    body["stream"] = stream;
    body
}

/// The same without drafts that are begun while a model grades.
fn in_turn(stream: Value) -> Value {
    let mut body = ask(stream);
    body["speculative"] = json!("off");
    body
}

pub(crate) async fn app(file: &str) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    server.say(Role::Grade, "1: correct");
    let url = server.base_url();
    let settings =
        [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat"), ("CITED_CHAT_TIMEOUT_S", "5")];
    let app = TestApp::with_file(&server, &settings, file).await;
    app.ingest("handbook", &[("leave.md", DOCUMENT)]).await;
    (server, app)
}

/// Names and data of a whole stream.
pub(crate) async fn frames(app: &TestApp, body: Value) -> Vec<(String, Value)> {
    frames_of(app, "/v1/ask", body).await
}

async fn frames_of(app: &TestApp, path: &str, body: Value) -> Vec<(String, Value)> {
    let response = app.request(Method::POST, path).json(&body).send().await.expect("an answer");
    assert_eq!(response.status(), 200);
    let media_type = response.headers()["content-type"].to_str().expect("text").to_owned();
    assert!(media_type.starts_with("text/event-stream"), "{media_type}");
    parse(&tokio::time::timeout(LIMIT, body_of(response)).await.expect("it ends"))
}

fn parse(body: &str) -> Vec<(String, Value)> {
    let mut frames = Vec::new();
    for block in body.split("\n\n").filter(|block| block.starts_with("event:")) {
        let (name, data) = block.split_once('\n').expect("two lines");
        let data = data.strip_prefix("data:").expect("data").trim();
        frames.push((name.replace("event:", "").trim().to_owned(), serde_json::from_str(data).expect("JSON")));
    }
    let ends = frames.iter().filter(|(name, _)| name == "answer" || name == "error").count();
    assert_eq!(ends, 1, "exactly one end: {frames:#?}");
    assert!(frames.last().is_some_and(|(name, _)| name == "answer" || name == "error"), "and it is the last");
    frames
}

fn names(frames: &[(String, Value)]) -> Vec<&str> {
    let mut names: Vec<&str> = frames.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    names
}

/// Words and claims since the last retry.
pub(crate) fn told(frames: &[(String, Value)]) -> (String, Vec<Value>) {
    let from = frames.iter().rposition(|(name, _)| name == "retry").map_or(0, |place| place + 1);
    let mut words = String::new();
    let mut claims = Vec::new();
    for (name, data) in &frames[from..] {
        match name.as_str() {
            "token" => words.push_str(data["text"].as_str().expect("words")),
            "claim" => claims.push(data.clone()),
            _ => {}
        }
    }
    (words, claims)
}

pub(crate) fn end(frames: &[(String, Value)]) -> &Value {
    &frames.last().expect("an end").1
}

/// The members that two asks of the same question have in common.
pub(crate) fn comparable(answer: &Value) -> Value {
    let mut answer = answer.clone();
    for member in ["id", "timings_ms"] {
        answer.as_object_mut().expect("an object").remove(member);
    }
    answer
}

/// The words that were sent before the first claim.
fn words_before_a_claim(frames: &[(String, Value)]) -> String {
    let first_claim = frames.iter().position(|(name, _)| name == "claim").expect("a claim");
    frames[..first_claim].iter().filter_map(|(_, data)| data["text"].as_str()).collect()
}

fn in_pieces(texts: &[&str], last: Vec<Piece>) -> Reply {
    let dialect = Dialect::OpenAi;
    let begin = dialect.begin().into_iter().chain(texts.iter().map(|text| dialect.piece(text)));
    let bytes = begin.map(|event| Piece::Bytes(event.into_bytes()));
    Reply::Pieces("text/event-stream", bytes.chain(last).collect())
}

pub(crate) fn whole(texts: &[&str]) -> Reply {
    let end = Dialect::OpenAi.end(false, true).into_iter().map(|event| Piece::Bytes(event.into_bytes()));
    in_pieces(texts, end.collect())
}

#[tokio::test]
async fn the_path_of_the_stream_needs_no_member_for_it() {
    let (server, app) = app("").await;
    server.say(Role::Answer, ANSWER);
    let whole = app.ask(ask(json!(false))).await;
    let mut body = ask(json!("validated"));
    let validated = frames_of(&app, "/v1/ask/stream", body.clone()).await;
    assert_eq!(words_before_a_claim(&validated), "Everyone has 28 days of paid annual leave a year [^1].");
    body.as_object_mut().expect("an object").remove("stream");
    let provisional = frames_of(&app, "/v1/ask/stream", body.clone()).await;
    assert!(words_before_a_claim(&provisional).len() < ANSWER.len(), "{provisional:#?}");
    assert_ne!(words_before_a_claim(&provisional), words_before_a_claim(&validated), "words come as they are written");
    for frames in [validated, provisional] {
        assert_eq!(comparable(end(&frames)), comparable(&whole.body));
    }
    body["stream"] = json!(false);
    let refused = app.post("/v1/ask/stream", body.clone()).await;
    assert_eq!((refused.status, &refused.body["errors"][0]["pointer"]), (422, &json!("/stream")), "{refused:?}");
    body["stream"] = json!(true);
    app.stop().await;
}

#[tokio::test]
async fn an_error_of_the_request_is_a_status_and_not_an_event() {
    let (_server, app) = app("").await;
    let mut unknown = ask(json!(true));
    unknown["collections"] = json!(["nowhere"]);
    let mut wrong = ask(json!(true));
    wrong["top_k"] = json!(0);
    for path in ["/v1/ask", "/v1/ask/stream"] {
        for (body, status, code) in [(&unknown, 404, "not_found"), (&wrong, 422, "invalid_request")] {
            let refused = app.post(path, body.clone()).await;
            assert_eq!((refused.status, &refused.body["code"]), (status, &json!(code)), "{path}: {refused:?}");
            assert_eq!(refused.body["instance"], path, "{refused:?}");
        }
    }
    let unknown = app.post("/v1/ask/stream", unknown).await;
    let record = app.get(&format!("/v1/audit/{}", unknown.body["id"].as_str().expect("an id"))).await;
    assert_eq!((record.status, &record.body["outcome"]), (200, &json!("failed")), "{record:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_stream_tells_what_the_whole_answer_says() {
    let (server, app) = app("").await;
    server.say(Role::Answer, ANSWER);
    let at_once = app.ask(ask(json!(false))).await;
    assert_eq!(at_once.status, 200, "{at_once:?}");
    for mode in [json!(true), json!("validated")] {
        let frames = frames(&app, ask(mode.clone())).await;
        assert_eq!(names(&frames).first(), Some(&"sources"), "{frames:#?}");
        assert_eq!(frames[0].1["sources"], at_once.body["sources"]);
        assert_eq!(comparable(end(&frames)), comparable(&at_once.body), "{mode}");
        let (words, claims) = told(&frames);
        assert_eq!(words, ANSWER, "{mode}");
        let cited: Vec<&Value> = claims.iter().flat_map(|claim| claim["citations"].as_array().unwrap()).collect();
        assert_eq!(json!(cited), at_once.body["citations"]);
        let before = words_before_a_claim(&frames);
        if mode == "validated" {
            assert_eq!(before, "Everyone has 28 days of paid annual leave a year [^1].", "no word before its claim");
        } else {
            assert!(frames.iter().filter(|(name, _)| name == "token").count() > 10, "as it is written: {frames:#?}");
            assert!(before.len() < ANSWER.len(), "the first claim does not wait for the end");
        }
        let row = app.get(&format!("/v1/audit/{}", end(&frames)["id"].as_str().expect("id"))).await;
        assert_eq!((&row.body["outcome"], &row.body["stream"]), (&json!("answered"), &json!(true)), "{row:?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn the_accept_header_asks_for_a_stream_too() {
    let (server, app) = app("").await;
    server.say(Role::Answer, ANSWER);
    let mut body = ask(json!(null));
    let request = |body: &Value| {
        app.request(Method::POST, "/v1/ask").header("accept", "text/event-stream, */*;q=0.1").json(body).send()
    };
    let streamed = body_of(request(&body).await.expect("an answer")).await;
    assert!(streamed.contains("event: answer"), "{streamed}");
    body["stream"] = json!(false);
    let whole = json_of(request(&body).await.expect("an answer")).await;
    assert_eq!(whole["outcome"], "answered", "what the body says holds");
    app.ask(ask(json!("quickly"))).await.assert_problem(422, "invalid_request");
    let mut wrong = ask(json!(true));
    wrong["top_k"] = json!(0);
    app.ask(wrong).await.assert_problem(422, "invalid_request");
    app.stop().await;
}

#[tokio::test]
async fn a_draft_that_fails_is_void_and_the_second_is_told() {
    let (server, app) = app("").await;
    let wrong =
        "Everyone has 28 days of paid annual leave a year [^1]. Annual leave lapses on 31 March of the next year [^5].";
    server.say(Role::Answer, wrong);
    server.say(Role::Answer, ANSWER);
    let frames = frames(&app, in_turn(json!(true))).await;
    let retry = &frames.iter().find(|(name, _)| name == "retry").expect("a retry").1;
    assert_eq!(
        (&retry["reason"], &retry["errors"][0]["kind"]),
        (&json!("citation_validation"), &json!("out_of_range"))
    );
    assert_eq!(told(&frames).0, ANSWER);
    assert_eq!(end(&frames)["validation"]["attempts"], 2);
    server.say(Role::Answer, wrong);
    server.drop_reply(Role::Answer);
    let mut body = in_turn(json!("validated"));
    body["include"] = json!(["draft"]);
    let frames = self::frames(&app, body).await;
    assert_eq!(frames.last().map(|(name, _)| name.as_str()), Some("error"));
    let problem = end(&frames);
    assert_eq!(
        (&problem["code"], &problem["status"], &problem["draft"]),
        (&json!("citation_validation"), &json!(422), &json!(wrong))
    );
    assert_eq!(problem["instance"], "/v1/ask");
    assert!(problem["request_id"].is_string());
    app.stop().await;
}

#[tokio::test]
async fn words_that_only_say_that_nothing_tells_are_void() {
    let (server, app) = app("").await;
    server.say(Role::Answer, "The sources do not answer this question.");
    let frames = frames(&app, in_turn(json!(true))).await;
    assert_eq!(names(&frames), ["sources", "token", "retry", "token", "retry", "answer"], "{frames:#?}");
    let retry = &frames.iter().find(|(name, _)| name == "retry").expect("a retry").1;
    assert_eq!((&retry["reason"], &retry["errors"]), (&json!("ignorance"), &json!([])));
    assert_eq!((&end(&frames)["outcome"], &end(&frames)["answer"]), (&json!("abstained"), &json!(null)));
    assert_eq!(told(&frames).0, "", "the words told are those of the answer, which has none");
    app.stop().await;
}

#[tokio::test]
async fn a_provider_that_dies_on_its_way_is_followed_or_ends_the_stream() {
    let second = ModelServer::start().await;
    second.say(Role::Grade, "1: correct");
    second.say(Role::Answer, ANSWER);
    let file = format!(
        "models = [\"openai:scripted-chat\", \"second:m\"]\n[providers.second]\nkind = \"openai\"\nbase_url = \"{}\"\n",
        second.base_url()
    );
    let (server, app) = app(&file).await;
    let half = ["Everyone has 99 days ", "of paid annual leave [^1]. And then"];
    server.reply(Role::Answer, in_pieces(&half, vec![Piece::Break]));
    let followed = frames(&app, ask(json!(true))).await;
    let retry = &followed.iter().find(|(name, _)| name == "retry").expect("a retry").1;
    assert_eq!(retry["reason"], "provider_failed");
    assert_eq!((told(&followed).0.as_str(), &end(&followed)["provider"]), (ANSWER, &json!("second")));
    let mut alone = ask(json!(true));
    alone["models"] = json!(["openai:scripted-chat"]);
    let ended = frames(&app, alone).await;
    assert_eq!(end(&ended)["code"], "providers_unavailable", "{ended:#?}");
    assert_eq!(end(&ended)["attempts"][0]["kind"], "interrupted");
    assert_eq!(told(&ended), (String::new(), Vec::new()), "nothing told stands");
    app.stop().await;
}

#[tokio::test]
async fn every_failure_on_the_way_is_one_error_frame() {
    let (server, app) = app("").await;
    server.reply(Role::Answer, in_pieces(&["Everyone has"], vec![Piece::Wait(Duration::from_mins(1))]));
    let mut late = ask(json!(true));
    late["limits"] = json!({"timeout_ms": 1_500});
    let late = frames(&app, late).await;
    assert_eq!((&end(&late)["code"], &end(&late)["stage"]), (&json!("deadline"), &json!("generating")));
    assert_eq!(server.once_abandoned().await, 1);
    server.reply(Role::Answer, Reply::Body("data: {\"choices\": [".to_owned()));
    server.drop_reply(Role::Answer);
    assert_eq!(end(&frames(&app, ask(json!(true))).await)["code"], "providers_unavailable");
    let mut poor = ask(json!(true));
    poor["limits"] = json!({"max_llm_calls": 0});
    assert_eq!(end(&frames(&app, poor).await)["reason"], "out_of_budget");
    let long =
        json!({"question": format!("{QUESTION} {}", "日".repeat(8_100)), "collections": ["handbook"], "stream": true});
    let long = frames(&app, long).await;
    assert_eq!((&end(&long)["code"], &end(&long)["limit"]), (&json!("budget_exceeded"), &json!("prompt_tokens")));
    app.stop().await;
}

#[tokio::test]
async fn who_leaves_a_stream_frees_everything_within_a_second() {
    let (server, app) = app("").await;
    server.reply(Role::Answer, in_pieces(&["Everyone has"], vec![Piece::Wait(Duration::from_mins(1))]));
    let mut response =
        app.request(Method::POST, "/v1/ask").json(&ask(json!(true))).send().await.expect("a stream begins");
    let mut seen = String::new();
    while !seen.contains("Everyone has") {
        seen.push_str(&part_of(&mut response).await.expect("readable").expect("more"));
    }
    drop(response);
    assert_eq!(server.once_abandoned().await, 1, "the model call ends");
    wait::until_ok("the ask is in the audit", async || {
        let page = app.get("/v1/audit?outcome=client_gone").await;
        if page.body["asks"].as_array().is_some_and(|rows| rows.len() == 1) { Ok(()) } else { Err(page) }
    })
    .await;
    app.stop().await;
}

#[tokio::test]
async fn a_silent_model_is_filled_with_comments() {
    let server = ModelServer::start().await;
    server.say(Role::Grade, "1: correct");
    // Proxies would take a connection for dead that is silent for long.
    server.reply(Role::Answer, Reply::Slow(Duration::from_secs(12), ANSWER.to_owned()));
    let app = TestApp::with_models(&server).await;
    app.ingest("handbook", &[("leave.md", DOCUMENT)]).await;
    let response = app.request(Method::POST, "/v1/ask").json(&ask(json!(true))).send().await.expect("a stream");
    let body = body_of(response).await;
    let silence = body.split("event: sources").nth(1).and_then(|rest| rest.split("event: token").next());
    assert!(silence.is_some_and(|silence| silence.lines().any(|line| line.starts_with(':'))), "{body}");
    assert_eq!(end(&parse(&body))["outcome"], "answered");
    app.stop().await;
}

#[tokio::test]
async fn who_comes_back_gets_a_stream_of_its_own_with_one_end() {
    let (server, app) = app("").await;
    server.reply(Role::Answer, in_pieces(&["Everyone has"], vec![Piece::Wait(Duration::from_mins(1))]));
    server.say(Role::Answer, ANSWER);
    let mut first = app.request(Method::POST, "/v1/ask").json(&ask(json!(true))).send().await.expect("a stream");
    let mut seen = String::new();
    while !seen.contains("Everyone has") {
        seen.push_str(&part_of(&mut first).await.expect("readable").expect("more"));
    }
    drop(first);
    // As browsers do, with the last event that they have seen.
    let again = app.request(Method::POST, "/v1/ask").header("last-event-id", "1").json(&ask(json!(true)));
    let frames = parse(&body_of(again.send().await.expect("a stream")).await);
    assert_eq!(frames[0].0, "sources", "from the beginning: {frames:#?}");
    assert_eq!((told(&frames).0.as_str(), &end(&frames)["outcome"]), (ANSWER, &json!("answered")));
    assert_eq!(server.calls(Role::Answer).len(), 2, "the first was ended, the second is another ask");
    app.stop().await;
}

#[tokio::test]
async fn a_slow_reader_slows_the_model_down() {
    let (server, app) = app("").await;
    // Far more than all buffers between the model and the reader hold together.
    let words = "word ".repeat(4_000);
    let texts = vec![words.as_str(); 3_000];
    server.reply(Role::Answer, whole(&texts));
    let mut body = ask(json!(true));
    body["limits"] = json!({"timeout_ms": 4_000});
    body["validation"] = json!("off");
    let mut response = app.request(Method::POST, "/v1/ask").json(&body).send().await.expect("a stream begins");
    let mut body = part_of(&mut response).await.expect("readable").expect("something");
    assert!(!body.is_empty());
    // Nobody reads: the model's reply is not taken in, and the time limit ends the ask and frees the model.
    assert_eq!(server.once_abandoned().await, 1);
    while let Some(part) = part_of(&mut response).await.expect("readable") {
        body.push_str(&part);
    }
    let frames = parse(&body);
    assert_eq!(end(&frames)["code"], "deadline");
    app.stop().await;
}

#[tokio::test]
async fn the_built_in_answerer_streams_too() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("handbook", &[("leave.md", DOCUMENT)]).await;
    let at_once = app.ask(ask(json!(false))).await;
    assert_eq!(at_once.body["outcome"], "answered", "{at_once:?}");
    for mode in [json!(true), json!("validated")] {
        let frames = frames(&app, ask(mode)).await;
        assert_eq!(comparable(end(&frames)), comparable(&at_once.body));
        assert_eq!(told(&frames).0, at_once.body["answer"].as_str().expect("an answer"));
        assert!(names(&frames).contains(&"claim"), "{frames:#?}");
    }
    let question = "What is the policy on sabbaticals in Peru?";
    let abstained = frames(&app, json!({"question": question, "collections": ["handbook"], "stream": true})).await;
    assert_eq!(names(&abstained), ["answer"]);
    assert_eq!(end(&abstained)["outcome"], "abstained");
    app.stop().await;
}
