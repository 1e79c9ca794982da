//! Providers that fail in every way, and who answers in their place.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    ask::stream,
    dialect::Dialect,
    harness::TestApp,
    scripted::{ModelServer, Piece, Reply, Role},
    wait,
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const ANSWER: &str = "Everyone has 28 days of paid leave a year [^1].";
const QUOTA: &str = r#"{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}"#;
const WHOLE: &str = r#"{"choices": [{"message": {"content": "Everyone has"#;

fn ask(models: &[&str]) -> Value {
    json!({"question": QUESTION, "collections": ["handbook"], "models": models, "include": ["trace"]})
}

/// Servers as providers `p0`, `p1`, … each with the models `x` and `y`; grading is built in.
async fn app(servers: &[&ModelServer], timeout_s: f32) -> TestApp {
    let mut file = "models = [\"p0:x\"]\n[roles]\ngrade = \"built-in\"\n".to_owned();
    for (index, server) in servers.iter().enumerate() {
        write!(
            file,
            "[providers.p{index}]\nbase_url = \"{}\"\ntimeout_s = {timeout_s}\nmodels = [\"x\", \"y\"]\n",
            server.base_url()
        )
        .expect("a String takes everything");
    }
    let app = TestApp::with_file(servers[0], &[], &file).await;
    app.ingest("handbook", &[("leave.md", "Everyone has 28 days of paid leave a year.")]).await;
    app
}

/// Kind and whether it was tried, for each failed attempt of an answer's generation.
fn failed(body: &Value) -> Vec<(&str, bool)> {
    let call = body["trace"]["calls"].as_array().and_then(|calls| calls.last()).expect("a call");
    attempts(&call["failed_attempts"])
}

fn attempts(list: &Value) -> Vec<(&str, bool)> {
    let list = list.as_array().expect("attempts");
    list.iter().map(|attempt| (attempt["kind"].as_str().expect("a kind"), attempt["tried"] == true)).collect()
}

/// A body that comes one byte a second.
fn trickle() -> Reply {
    let bytes = WHOLE.bytes().flat_map(|byte| [Piece::Bytes(vec![byte]), Piece::Wait(Duration::from_secs(1))]);
    Reply::Pieces("application/json", bytes.collect())
}

#[tokio::test]
async fn every_failure_is_answered_by_the_next_provider() {
    let cases = [
        (Reply::Status(500, "oops".to_owned()), "server_error"),
        (Reply::Status(429, "slow down".to_owned()), "rate_limited"),
        (Reply::Status(429, QUOTA.to_owned()), "quota_exhausted"),
        (Reply::Status(401, "who are you".to_owned()), "unauthorized"),
        (Reply::Status(404, "no such model".to_owned()), "rejected"),
        (Reply::Status(400, "maximum context length".to_owned()), "context_length"),
        (Reply::Slow(Duration::from_secs(30), "late".to_owned()), "timeout"),
        (trickle(), "timeout"),
        (Reply::Pieces("application/json", vec![Piece::Bytes(WHOLE.into()), Piece::Break]), "interrupted"),
        (Reply::Body("<html>garbage".to_owned()), "invalid_reply"),
        (Reply::Pieces("application/json", vec![Piece::Bytes(vec![0xff, 0xfe])]), "invalid_reply"),
        (Reply::Body(json!({"choices": []}).to_string()), "invalid_reply"),
        (Reply::Body(include_str!("../../fixtures/openai/tool_call.json").to_owned()), "invalid_reply"),
        (
            Reply::Body(
                json!({"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}).to_string(),
            ),
            "filtered",
        ),
    ];
    let mut servers = Vec::new();
    for (reply, _) in &cases {
        let server = ModelServer::start().await;
        server.reply(Role::Answer, reply.clone());
        servers.push(server);
    }
    let good = ModelServer::start().await;
    good.say(Role::Answer, ANSWER);
    let all: Vec<&ModelServer> = servers.iter().chain([&good]).collect();
    let app = app(&all, 1.0).await;
    let last = format!("p{}:x", cases.len());
    for (index, (reply, kind)) in cases.iter().enumerate() {
        let answer = app.ask(ask(&[&format!("p{index}:x"), &last])).await;
        assert_eq!(answer.status, 200, "{reply:?}: {answer:?}");
        assert_eq!(answer.body["provider"], format!("p{}", cases.len()));
        assert_eq!(failed(&answer.body), [(*kind, true)], "{reply:?}");
        let asked = &servers[index].calls(Role::Answer);
        let answered = good.calls(Role::Answer).pop().expect("a call");
        assert_eq!(asked.len(), 1);
        for same in ["messages", "temperature", "seed", "max_tokens"] {
            assert_eq!(asked[0].body[same], answered.body[same], "{same}");
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn a_recorded_reply_is_read() {
    let server = ModelServer::start().await;
    server.reply(Role::Answer, Reply::Body(include_str!("../../fixtures/openai/completion.json").to_owned()));
    let app = app(&[&server], 5.0).await;
    let answer = app.ask(ask(&[])).await;
    assert_eq!(answer.body["answer"], "Die Frist beträgt 28 Tage. [^1]", "{answer:?}");
    assert_eq!(
        (&answer.body["usage"]["prompt_tokens"], &answer.body["usage"]["completion_tokens"]),
        (&json!(219), &json!(14))
    );
    app.stop().await;
}

#[tokio::test]
async fn when_all_fail_each_is_listed() {
    let (first, second) = (ModelServer::start().await, ModelServer::start().await);
    first.reply(Role::Answer, Reply::Status(500, "oops".to_owned()));
    second.reply(Role::Answer, Reply::Later(429, "17"));
    let app = app(&[&first, &second], 5.0).await;
    let answer = app.ask(ask(&["p0:x", "p1:x", "p0:y"])).await;
    answer.assert_problem(503, "providers_unavailable");
    assert_eq!(
        attempts(&answer.body["attempts"]),
        [("server_error", true), ("rate_limited", true), ("server_error", true)],
        "{answer:?}"
    );
    assert_eq!(answer.body["attempts"][2]["model"], "y");
    assert_eq!(answer.headers["retry-after"], "17");
    app.stop().await;
}

#[tokio::test]
async fn an_account_without_quota_is_asked_once() {
    let (first, second) = (ModelServer::start().await, ModelServer::start().await);
    first.reply(Role::Answer, Reply::Status(429, QUOTA.to_owned()));
    second.say(Role::Answer, ANSWER);
    let app = app(&[&first, &second], 5.0).await;
    let answer = app.ask(ask(&["p0:x", "p0:y", "p0:x", "p1:x"])).await;
    assert_eq!(failed(&answer.body), [("quota_exhausted", true)], "{answer:?}");
    assert_eq!(first.calls(Role::Answer).len(), 1);
    app.stop().await;
}

#[tokio::test]
async fn a_dead_provider_costs_one_timeout() {
    let (dead, good) = (ModelServer::start().await, ModelServer::start().await);
    dead.reply(Role::Answer, Reply::Slow(Duration::from_secs(30), "late".to_owned()));
    good.say(Role::Answer, ANSWER);
    let app = app(&[&dead, &good], 1.0).await;
    let models = ["p0:x", "p1:x"];
    assert_eq!(failed(&app.ask(ask(&models)).await.body), [("timeout", true)]);
    let started = Instant::now();
    for _ in 0..2 {
        let answer = app.ask(ask(&models)).await;
        assert_eq!(failed(&answer.body), [("timeout", false)], "{answer:?}");
    }
    // The circuit is half open after five seconds; on a crawling machine nothing is shown.
    if started.elapsed() < Duration::from_secs(4) {
        assert_eq!(dead.calls(Role::Answer).len(), 1);
    }
    let alone = app.ask(ask(&["p0:x"])).await;
    alone.assert_problem(503, "providers_unavailable");
    assert!(alone.headers.contains_key("retry-after"));
    app.stop().await;
}

#[tokio::test]
async fn a_provider_that_hangs_leaves_time_for_the_next() {
    let (slow, good) = (ModelServer::start().await, ModelServer::start().await);
    slow.reply(Role::Answer, Reply::Slow(Duration::from_mins(1), "late".to_owned()));
    good.say(Role::Answer, ANSWER);
    let app = app(&[&slow, &good], 60.0).await;
    let mut request = ask(&["p0:x", "p1:x"]);
    request["limits"] = json!({"timeout_ms": 6000});
    let answer = app.ask(request).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(failed(&answer.body), [("timeout", true)]);
    assert_eq!(slow.once_abandoned().await, 1);
    // Its caller was impatient; once, that says nothing against it.
    let again = app.ask(ask(&["p1:x", "p0:x"])).await;
    assert_eq!(failed(&again.body), []);
    app.stop().await;
}

#[tokio::test]
async fn a_model_that_hangs_costs_its_share_three_times() {
    let (slow, good) = (ModelServer::start().await, ModelServer::start().await);
    slow.reply(Role::Answer, Reply::Slow(Duration::from_mins(1), "late".to_owned()));
    good.say(Role::Answer, ANSWER);
    let app = app(&[&slow, &good], 4.0).await;
    let mut request = ask(&["p0:x", "p1:x"]);
    request["limits"] = json!({"timeout_ms": 3_000});
    for time in 1..=3 {
        let answer = app.ask(request.clone()).await;
        assert_eq!(failed(&answer.body), [("timeout", true)], "{time}: {answer:?}");
    }
    let fourth = app.ask(request).await;
    assert_eq!(failed(&fourth.body), [("timeout", false)], "it is left alone: {fourth:?}");
    app.stop().await;
}

/// Some words of an answer that is streamed, and then none for a minute.
fn stalled() -> Reply {
    let words = Dialect::OpenAi.begin().concat() + &Dialect::OpenAi.piece("Everyone has 99 days");
    Reply::Pieces("text/event-stream", vec![Piece::Bytes(words.into_bytes()), Piece::Wait(Duration::from_mins(1))])
}

#[tokio::test]
async fn a_model_that_falls_silent_in_a_stream_leaves_time_for_the_next() {
    let (silent, good) = (ModelServer::start().await, ModelServer::start().await);
    silent.reply(Role::Answer, stalled());
    good.say(Role::Answer, ANSWER);
    let app = app(&[&silent, &good], 60.0).await;
    for mode in [json!(true), json!("validated")] {
        let mut request = ask(&["p0:x", "p1:x"]);
        request["stream"] = mode.clone();
        request["limits"] = json!({"timeout_ms": 5_000});
        let frames = stream::frames(&app, request).await;
        let answer = stream::end(&frames);
        assert_eq!((&answer["outcome"], &answer["provider"]), (&json!("answered"), &json!("p1")), "{frames:#?}");
        assert_eq!(failed(answer), [("timeout", true)]);
        assert_eq!(stream::told(&frames).0, ANSWER);
        let retries: Vec<_> = frames.iter().filter(|(name, _)| name == "retry").map(|(_, data)| data).collect();
        if mode == true {
            assert_eq!(retries.len(), 1, "{frames:#?}");
            assert_eq!(retries[0]["reason"], "provider_failed");
        } else {
            assert!(retries.is_empty(), "nothing of the draft was told: {frames:#?}");
        }
        let row = app.get(&format!("/v1/audit/{}", answer["id"].as_str().expect("an id"))).await.body;
        let calls = row["calls"].as_array().expect("calls");
        assert_eq!(attempts(&calls.last().expect("a call")["failed_attempts"]), [("timeout", true)], "{row}");
    }
    wait::until("both calls are ended", async || silent.abandoned() == 2).await;
    assert_eq!(silent.abandoned(), 2, "both calls are ended");
    app.stop().await;
}

#[tokio::test]
async fn a_server_that_is_gone_is_left_alone() {
    let (gone, good) = (ModelServer::start().await, ModelServer::start().await);
    good.say(Role::Answer, ANSWER);
    let app = app(&[&good, &gone], 5.0).await;
    drop(gone);
    tokio::task::yield_now().await;
    let answer = app.ask(ask(&["p1:x", "p1:y", "p0:x"])).await;
    assert_eq!(failed(&answer.body), [("unreachable", true), ("unreachable", false)], "{answer:?}");
    app.stop().await;
}

#[tokio::test]
async fn ten_thousand_markers_are_only_an_answer() {
    let server = ModelServer::start().await;
    server.say(Role::Answer, &format!("Everyone has 28 days of paid leave a year {}.", "[^1]".repeat(10_000)));
    let app = app(&[&server], 20.0).await;
    let answer = app.ask(ask(&[])).await;
    assert_eq!(answer.status, 200, "{}", answer.body["detail"]);
    assert_eq!(answer.body["citations"].as_array().map(Vec::len), Some(10_000));
    app.stop().await;
}
