//! Level `supported` with a model for the claims of which the scorer is not sure.

use serde_json::{Value, json};

use domain::citation::SUPPORT_THRESHOLD;

use crate::{
    ask::stream::{end, frames, told},
    harness::{Answer, TestApp, slice},
    scripted::{ModelServer, Reply, Role},
};

const QUESTION: &str = "Who leads the Oslo office, and what does whoever is ill send?";
const DOCUMENT: &str = "Anna Berg leads the Oslo office. Carl Dahl leads the Turku office. Whoever is ill for more than \
    three days sends a doctor's note to the personnel department.";
/// False, and too close to the source's words for the scorer.
const SWAPPED: &str = "Anna Berg, who leads an office, leads the one of Turku [^1].";
/// True, and too far from the source's words for the scorer.
const PARAPHRASED: &str = "Those off sick longer hand in a medical certificate to personnel [^1].";
const QUOTED: &str = "Anna Berg leads the Oslo office [^1].";
const VERIFIER: &str = "[roles]\nverify = [\"openai:scripted-chat\"]\ngrade = \"built-in\"\nrewrite = \"built-in\"\n";

async fn app(roles: &str) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let settings = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let app = TestApp::with_file(&server, &settings, roles).await;
    app.ingest("handbook", &[("offices.md", DOCUMENT)]).await;
    (server, app)
}

fn ask(member: &str, value: Value) -> Value {
    let mut body =
        json!({"question": QUESTION, "collections": ["handbook"], "validation": "supported", "include": ["trace"]});
    body[member] = value;
    body
}

async fn answer(app: &TestApp) -> Answer {
    app.ask(ask("seed", json!(1))).await
}

fn rulings(answer: &Answer) -> Vec<&Value> {
    answer.body["trace"]["attempts"]
        .as_array()
        .expect("attempts")
        .iter()
        .flat_map(|attempt| attempt["rulings"].as_array().expect("rulings"))
        .map(|told| &told["ruling"])
        .collect()
}

#[tokio::test]
async fn a_paraphrase_that_the_scorer_would_refuse_passes_when_the_model_vouches_for_it() {
    let (server, app) = app(VERIFIER).await;
    server.say(Role::Answer, &format!("{QUOTED} {PARAPHRASED}"));
    server.say(Role::Verify, "1: supported - in other words");
    let answer = answer(&app).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    assert_eq!((&answer.body["validation"]["attempts"], &answer.body["usage"]["llm_calls"]), (&json!(1), &json!(2)));
    assert_eq!(answer.body["validation"]["warnings"], json!([]));
    assert_eq!(rulings(&answer), ["supported"]);
    let told = &answer.body["trace"]["attempts"][0]["rulings"][0];
    assert_eq!((&told["reason"], &told["span"][0]), (&json!("in other words"), &json!(QUOTED.len() + 1)));
    assert_eq!(answer.body["trace"]["calls"][1]["role"], "verify", "{answer:?}");

    let calls = server.calls(Role::Verify);
    let sent = calls[0].body["messages"][1]["content"].as_str().expect("text");
    assert!(sent.contains("<source id=\"1\"") && sent.contains(DOCUMENT), "{sent}");
    assert!(
        sent.contains("<statement id=\"1\" sources=\"1\" nonce=") && sent.contains(">\nThose off sick longer"),
        "{sent}"
    );
    assert!(!sent.contains("Anna Berg leads the Oslo office\n"), "what is sure is not asked: {sent}");
    assert_eq!(calls[0].body["temperature"], 0.0);
    app.stop().await;
}

#[tokio::test]
async fn what_the_model_finds_unsupported_is_written_again_and_then_refused() {
    let (server, app) = app(VERIFIER).await;
    server.say(Role::Answer, SWAPPED);
    server.say(Role::Answer, QUOTED);
    server.say(Role::Verify, "1: unsupported - says it of another office");
    let mended = answer(&app).await;
    assert_eq!((mended.status, &mended.body["answer"]), (200, &json!(QUOTED)), "{mended:?}");
    assert_eq!((&mended.body["validation"]["attempts"], rulings(&mended)), (&json!(2), vec![&json!("unsupported")]));
    let retry = server.calls(Role::Answer)[1].body["messages"][3]["content"].as_str().expect("text").to_owned();
    assert!(retry.contains("the verifying model finds") && !retry.contains("says it of"), "{retry}");

    server.drop_reply(Role::Answer);
    server.say(Role::Answer, SWAPPED);
    let refused = answer(&app).await;
    refused.assert_problem(422, "citation_validation");
    let errors = refused.body["validation"]["errors"].as_array().expect("errors");
    assert_eq!((errors.len(), &errors[0]["kind"]), (1, &json!("unsupported_claim")), "{refused:?}");
    assert_eq!(errors[0]["span"], json!([0, SWAPPED.len() - 6]));
    assert!(errors[0]["support"].as_f64().is_some_and(|score| score > 0.0), "the scorer's number: {refused:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_denial_left_out_is_refused_with_its_score() {
    const SOURCE: &str = "Employees may carry over unused leave. Contractors may not carry over unused leave.";
    const TURNED: &str = "Contractors may carry over unused leave [^1].";
    let (server, app) = app("[roles]\ngrade = \"built-in\"\nrewrite = \"built-in\"\n").await;
    app.ingest("leave", &[("leave.md", SOURCE)]).await;
    let request = |level: &str| json!({"question": "May contractors carry over unused leave?", "collections": ["leave"], "validation": level});
    server.say(Role::Answer, TURNED);
    let refused = app.ask(request("supported")).await;
    refused.assert_problem(422, "citation_validation");
    let error = &refused.body["validation"]["errors"][0];
    assert_eq!((&error["kind"], &error["span"]), (&json!("unsupported_claim"), &json!([0, TURNED.len() - 6])));
    let score = error["support"].as_f64().expect("a number");
    assert!((0.0..f64::from(SUPPORT_THRESHOLD)).contains(&score), "{error}");
    assert!(error["detail"].as_str().is_some_and(|detail| detail.contains("a denial")), "{error}");
    assert_eq!((&error["verdict"], &error["contradiction"]["kind"]), (&json!("contradicted"), &json!("denial")));
    let (quote, source) = (&error["contradiction"]["quote"], &refused.body["sources"][0]);
    assert_eq!(quote["text"], slice(SOURCE, &quote["start"], &quote["end"]), "a range of the document: {error}");
    assert_eq!((&error["contradiction"]["source_index"], &source["text"]), (&json!(0), &json!(SOURCE)), "{refused:?}");
    let rows = app.get("/v1/audit?outcome=rejected").await;
    assert_eq!(rows.body["asks"][0]["validation"]["errors"][0]["support"], error["support"], "{rows:?}");
    let kept = &rows.body["asks"][0]["validation"]["errors"][0];
    assert_eq!((&kept["verdict"], kept.get("contradiction")), (&json!("contradicted"), None), "no words of a document");
    // A laxer level warns of the same, with the same number.
    let warned = app.ask(request("cited")).await;
    assert_eq!((warned.status, &warned.body["validation"]["warnings"][0]["support"]), (200, &error["support"]));
    assert_eq!(warned.body["citations"][0]["support"], error["support"], "{warned:?}");
    server.say(Role::Answer, "Contractors may not carry over unused leave [^1].");
    server.drop_reply(Role::Answer);
    let answered = app.ask(request("supported")).await;
    assert_eq!((answered.status, &answered.body["outcome"]), (200, &json!("answered")), "{answered:?}");
    app.stop().await;
}

#[tokio::test]
async fn nobody_is_asked_without_need_or_leave() {
    // At a laxer level, where the role has no models of its own, and where the budget has no call to spare.
    let (server, with_role) = app(VERIFIER).await;
    server.say(Role::Answer, SWAPPED);
    server.say(Role::Verify, "1: unsupported");
    let lax = with_role.ask(ask("validation", json!("cited"))).await;
    assert_eq!(lax.status, 200, "{lax:?}");
    let poor = with_role.ask(ask("limits", json!({"max_llm_calls": 2}))).await;
    assert_eq!(poor.status, 200, "one call is kept for the retry: {poor:?}");
    assert_eq!((server.calls(Role::Verify).len(), rulings(&poor).len()), (0, 0));
    assert_eq!(poor.body["validation"]["warnings"][0]["kind"], "model_skipped", "not in silence: {poor:?}");
    let rich = with_role.ask(ask("limits", json!({"max_llm_calls": 4}))).await;
    assert_eq!((rich.status, server.calls(Role::Verify).len()), (422, 2), "{rich:?}");
    with_role.stop().await;

    let (server, without) = app("[roles]\ngrade = \"built-in\"\nrewrite = \"built-in\"\n").await;
    server.say(Role::Answer, SWAPPED);
    assert_eq!(answer(&without).await.status, 200);
    assert!(server.calls(Role::Verify).is_empty());
    without.stop().await;
}

#[tokio::test]
async fn a_verifier_that_fails_or_rambles_leaves_the_scorers_word() {
    let (server, app) = app(VERIFIER).await;
    server.say(Role::Answer, SWAPPED);
    server.say(Role::Verify, "I would rather not say.");
    let rambled = answer(&app).await;
    assert_eq!((rambled.status, rulings(&rambled)), (200, vec![&Value::Null]), "{rambled:?}");
    server.drop_reply(Role::Verify);
    server.reply(Role::Verify, Reply::Status(401, "{\"error\": {\"message\": \"no such key\"}}".to_owned()));
    let failed = answer(&app).await;
    assert_eq!((failed.status, rulings(&failed)), (200, vec![]), "{failed:?}");
    let calls = &failed.body["trace"]["failed_calls"];
    assert_eq!(calls[0]["failed_attempts"][0]["kind"], "unauthorized", "{failed:?}");
    let warnings = failed.body["validation"]["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().any(|warning| warning["kind"] == "model_skipped"), "{failed:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_stream_confirms_no_claim_before_it_is_ruled_on() {
    let (server, app) = app(VERIFIER).await;
    let written = format!("{QUOTED} {PARAPHRASED} Carl Dahl leads the Turku office [^1].");
    server.say(Role::Answer, &written);
    for mode in [json!(true), json!("validated")] {
        server.say(Role::Verify, "1: unsupported");
        server.say(Role::Verify, "1: supported");
        let frames = frames(&app, ask("stream", mode.clone())).await;
        let retry = frames.iter().position(|(name, _)| name == "retry").expect("a second draft");
        let before = frames[..retry].iter().filter(|(name, _)| name == "claim").count();
        assert_eq!(before, 1, "the claim before the doubtful one, and not the one after it: {frames:#?}");
        let (words, claims) = told(&frames);
        assert_eq!((words.as_str(), claims.len()), (written.as_str(), 3), "{mode}: {frames:#?}");
        assert_eq!(end(&frames)["answer"], json!(written));
        server.drop_reply(Role::Verify);
    }
    app.stop().await;
}

#[tokio::test]
async fn a_cached_answer_keeps_its_rulings() {
    let (server, app) = app(VERIFIER).await;
    server.say(Role::Answer, PARAPHRASED);
    server.say(Role::Verify, "1: supported");
    let first = app.ask(ask("cache", json!({"ttl_s": 60}))).await;
    let again = app.ask(ask("cache", json!({"ttl_s": 60}))).await;
    for (answer, is_hit) in [(&first, false), (&again, true)] {
        assert_eq!((answer.status, &answer.body["cache_hit"]), (200, &json!(is_hit)), "{answer:?}");
    }
    assert_eq!((&again.body["answer"], again.body["usage"]["llm_calls"].as_u64()), (&json!(PARAPHRASED), Some(0)));
    assert_eq!(server.calls(Role::Verify).len(), 1);
    app.stop().await;
}
