//! Several providers: roles, choice of models, capabilities, prices.

use serde_json::{Value, json};

use crate::{
    ask::stream::frames,
    harness::TestApp,
    process::{command, output_of},
    scripted::{ModelServer, Reply, Role},
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
/// Shares a word with the handbook, so that the built-in grader leaves it in doubt.
const DOUBTFUL: &str = "What does the cafeteria charge for lunch on leave days?";
const ANSWER: &str = "Everyone has 28 days of paid leave a year [^1].";
const HANDBOOK: [(&str, &str); 2] = [
    ("leave.md", "# Annual leave\n\nEveryone has 28 days of paid leave a year. Leave lapses on 31 March."),
    ("laptops.md", "# Laptops\n\nReport a lost laptop to the security desk within four hours."),
];

fn ask(models: &[&str]) -> Value {
    json!({"question": QUESTION, "collections": ["handbook"], "models": models, "include": ["trace"]})
}

/// Two scripted servers, `a` and `b`, and what the file says beyond them.
async fn app(settings: &[(&str, &str)], file: &str) -> (ModelServer, ModelServer, TestApp) {
    let (a, b) = (ModelServer::start().await, ModelServer::start().await);
    for server in [&a, &b] {
        server.say(Role::Grade, "1: correct\n2: incorrect");
        server.say(Role::Answer, ANSWER);
    }
    let file = format!(
        "models = [\"a:large\", \"b:claude-sonnet-4-5\"]\n\
         [providers.a]\nbase_url = \"{}\"\napi_key = \"key-of-a\"\nmodels = [\"small\", \"other\"]\n\
         [providers.b]\nkind = \"anthropic\"\nbase_url = \"{}\"\napi_key = \"key-of-b\"\nmodels = [\"claude-opus-4-7\"]\n\
         {file}",
        a.base_url(),
        b.base_url()
    );
    let app = TestApp::with_file(&a, settings, &file).await;
    app.ingest("handbook", &HANDBOOK).await;
    (a, b, app)
}

/// Kinds of a validation's warnings.
fn warnings(body: &Value) -> Vec<&str> {
    let warnings = body["validation"]["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    warnings.iter().filter_map(|warning| warning["kind"].as_str()).collect()
}

#[tokio::test]
async fn models_that_are_not_configured_are_named() {
    let (a, _b, app) = app(&[], "").await;
    let mut request = ask(&["a:large", "nobody:m", "plain", "a:gpt-4o"]);
    request["top_k"] = json!(0);
    let answer = app.ask(request).await;
    answer.assert_problem(422, "invalid_request");
    assert_eq!(answer.pointers(), ["/top_k", "/models/1", "/models/2", "/models/3"], "{answer:?}");
    let detail = answer.body["errors"][1]["detail"].as_str().expect("a detail");
    assert!(detail.contains("a:large") && detail.contains("b:claude-sonnet-4-5"), "{detail}");
    assert_eq!(app.ask(ask(&["a:large"; 9])).await.pointers(), ["/models"]);
    assert!(a.calls(Role::Answer).is_empty());
    app.stop().await;
}

#[tokio::test]
async fn without_providers_no_model_can_be_named() {
    let app = TestApp::built_in().await;
    let answer = app.ask(json!({"question": QUESTION, "models": ["openai:gpt-4o"]})).await;
    answer.assert_problem(422, "invalid_request");
    assert_eq!(answer.pointers(), ["/models/0"]);
    app.stop().await;
}

#[tokio::test]
async fn requests_name_the_models_that_they_may() {
    let (_a, _b, app) = app(&[("CITED_ASK_MODELS", "a:small, a:other")], "").await;
    assert_eq!(app.ask(ask(&["a:small", "a:other"])).await.status, 200);
    let refused = app.ask(ask(&["a:small", "b:claude-opus-4-7"])).await;
    refused.assert_problem(422, "invalid_request");
    assert_eq!(refused.pointers(), ["/models/1"]);
    let told = refused.body.to_string();
    assert!(told.contains("a:other, a:small") && !told.contains("claude-sonnet"), "{told}");
    assert_eq!(app.ask(ask(&[])).await.body["model"], "large", "those of the deployment need no leave");
    app.stop().await;
}

#[tokio::test]
async fn a_request_chooses_its_models_in_order() {
    let (a, b, app) = app(&[], "").await;
    let answer = app.ask(ask(&["b:claude-sonnet-4-5", "a:large"])).await;
    assert_eq!(
        (&answer.body["provider"], &answer.body["model"]),
        (&json!("b"), &json!("claude-sonnet-4-5")),
        "{answer:?}"
    );
    assert!(a.calls(Role::Answer).is_empty());
    let answer = app.ask(ask(&[])).await;
    assert_eq!((&answer.body["provider"], &answer.body["model"]), (&json!("a"), &json!("large")), "{answer:?}");
    assert_eq!(b.calls(Role::Answer).len(), 1);
    app.stop().await;
}

#[tokio::test]
async fn the_next_model_is_asked_for_the_same_in_the_same_way() {
    let (a, _b, app) = app(&[], "").await;
    a.drop_reply(Role::Answer);
    a.reply(Role::Answer, Reply::Status(500, "out of memory".to_owned()));
    a.reply(Role::Answer, Reply::Later(429, "1"));
    // Passes at every level but the one that was asked for; the retry begins with the first model again.
    a.say(Role::Answer, "Everyone has 99 days of paid leave a year [^1].");
    a.reply(Role::Answer, Reply::Status(503, "busy".to_owned()));
    a.say(Role::Answer, ANSWER);
    let mut request = ask(&["a:large", "a:small", "a:other"]);
    for (member, value) in [("validation", json!("supported")), ("seed", json!(7)), ("temperature", json!(0.25))] {
        request[member] = value;
    }
    let answer = app.ask(request).await;
    assert_eq!((answer.status, &answer.body["answer"]), (200, &json!(ANSWER)), "{answer:?}");
    let validation = &answer.body["validation"];
    assert_eq!((&validation["effective_level"], &validation["attempts"]), (&json!("supported"), &json!(2)));
    let mut asked: Vec<Value> = a.calls(Role::Answer).into_iter().map(|call| call.body).collect();
    let models: Vec<Value> = asked.iter_mut().map(|body| body["model"].take()).collect();
    assert_eq!(
        models,
        ["large", "small", "other", "large", "other"],
        "small was not to be asked for a second: {answer:?}"
    );
    assert!(asked[0] == asked[1] && asked[1] == asked[2], "the first draft: {asked:#?}");
    assert_eq!(asked[3], asked[4], "the second");
    for body in &asked {
        assert_eq!((&body["seed"], &body["temperature"]), (&json!(7), &json!(0.25)), "{body}");
    }
    app.stop().await;
}

#[tokio::test]
async fn anthropic_is_asked_in_its_own_format() {
    let (_a, b, app) = app(&[], "").await;
    let mut request = ask(&["b:claude-sonnet-4-5"]);
    request["temperature"] = json!(1.5);
    let answer = app.ask(request).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.body["usage"]["prompt_tokens"], 100, "what came from the cache counts: {answer:?}");
    let call = b.calls(Role::Answer).pop().expect("a call");
    let header = |name: &str| call.headers.get(name).and_then(|value| value.to_str().ok());
    assert_eq!((header("x-api-key"), header("anthropic-version")), (Some("key-of-b"), Some("2023-06-01")));
    assert_eq!(call.authorization, None);
    assert!(call.body["system"].as_str().is_some_and(|system| system.starts_with("You answer")));
    assert_eq!(call.body["messages"].as_array().map(Vec::len), Some(1), "{}", call.body);
    assert_eq!(call.body["messages"][0]["role"], "user");
    assert_eq!((&call.body["max_tokens"], &call.body["temperature"]), (&json!(1024), &json!(1.0)), "0 to 1 there");
    assert!(call.body.get("seed").is_none(), "there is none in this API");
    let mut request = ask(&["b:claude-sonnet-4-5"]);
    request["question"] = json!(DOUBTFUL);
    app.ask(request).await;
    let grade = b.calls(Role::Grade).pop().expect("a call");
    assert_eq!(grade.body["output_config"]["format"]["type"], "json_schema");
    app.stop().await;
}

#[tokio::test]
async fn a_recorded_message_is_read() {
    let (_a, b, app) = app(&[], "").await;
    b.drop_reply(Role::Answer);
    b.reply(Role::Answer, Reply::Body(include_str!("../../fixtures/anthropic/message.json").to_owned()));
    let answer = app.ask(ask(&["b:claude-sonnet-4-5"])).await;
    assert_eq!(answer.body["answer"], "Die Frist beträgt 28 Tage. [^1]", "{answer:?}");
    assert_eq!(
        (&answer.body["usage"]["prompt_tokens"], &answer.body["usage"]["completion_tokens"]),
        (&json!(219), &json!(14)),
        "what came from the cache counts"
    );
    app.stop().await;
}

#[tokio::test]
async fn a_retry_is_asked_of_anthropic_as_a_conversation() {
    let (_a, b, app) = app(&[], "").await;
    b.drop_reply(Role::Answer);
    b.say(Role::Answer, "Everyone has 28 days [^9].");
    b.say(Role::Answer, ANSWER);
    let answer = app.ask(ask(&["b:claude-sonnet-4-5"])).await;
    assert_eq!(answer.body["validation"]["attempts"], 2, "{answer:?}");
    let last = b.calls(Role::Answer).pop().expect("a call");
    let messages = last.body["messages"].as_array().expect("messages");
    let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    app.stop().await;
}

#[tokio::test]
async fn models_get_only_the_sampling_that_they_take() {
    let file = "[capabilities.\"a:small\"]\nseed = false\ntemperature_zero = false";
    let (a, b, app) = app(&[], file).await;
    app.ask(ask(&["a:small"])).await;
    let answer = app.ask(ask(&["a:large"])).await;
    let calls = a.calls(Role::Answer);
    assert!(calls[0].body.get("seed").is_none() && calls[0].body.get("temperature").is_none(), "{}", calls[0].body);
    assert!(calls[1].body["seed"].is_u64() && calls[1].body["temperature"] == 0.0, "{}", calls[1].body);
    let sent = answer.body["trace"]["calls"].as_array().and_then(|calls| calls.last()).expect("a call");
    assert_eq!((&sent["seed"], &sent["temperature"]), (&calls[1].body["seed"], &json!(0.0)));
    app.ask(ask(&["b:claude-opus-4-7"])).await;
    assert!(b.calls(Role::Answer)[0].body.get("temperature").is_none(), "newer models refuse it");
    app.stop().await;
}

#[tokio::test]
async fn roles_have_models_of_their_own() {
    let (a, b, app) = app(&[], "[roles]\ngrade = [\"a:small\"]").await;
    let mut request = ask(&["b:claude-sonnet-4-5"]);
    request["question"] = json!(DOUBTFUL);
    let answer = app.ask(request).await;
    assert_eq!(answer.body["provider"], "b", "{answer:?}");
    assert_eq!(a.calls(Role::Grade)[0].body["model"], "small");
    assert!(b.calls(Role::Grade).is_empty());
    app.stop().await;
}

#[tokio::test]
async fn a_role_can_stay_built_in() {
    let (a, _b, app) = app(&[], "[roles]\ngrade = \"built-in\"\nrewrite = \"built-in\"").await;
    let mut request = ask(&[]);
    request["question"] = json!(DOUBTFUL);
    request["on_insufficient"] = json!("generate");
    let answer = app.ask(request).await;
    assert!(answer.body["usage"]["llm_calls"].as_u64() <= Some(2), "{answer:?}");
    assert!(a.calls(Role::Grade).is_empty() && a.calls(Role::Rewrite).is_empty());
    app.stop().await;
}

#[tokio::test]
async fn numbers_in_brackets_are_markers_only_of_models_known_to_write_so() {
    let (a, _b, app) = app(&[], "[capabilities.\"a:large\"]\nloose_markers = true").await;
    a.say(Role::Answer, "Everyone has 28 days of paid leave a year [1].");
    a.drop_reply(Role::Answer);
    let answer = app.ask(ask(&["a:large"])).await;
    assert_eq!((&answer.body["outcome"], &answer.body["answer"]), (&json!("answered"), &json!(ANSWER)), "{answer:?}");
    assert_eq!(warnings(&answer.body), ["markers_normalised"]);

    for mode in [json!(true), json!("validated")] {
        let mut request = ask(&["a:large"]);
        request["stream"] = mode;
        let frames = frames(&app, request).await;
        let told: String =
            frames.iter().filter(|(name, _)| name == "token").filter_map(|(_, data)| data["text"].as_str()).collect();
        assert_eq!(told, ANSWER, "{frames:#?}");
        assert!(frames.iter().any(|(name, _)| name == "claim"), "{frames:#?}");
    }

    let strict = app.ask(ask(&["a:small"])).await;
    strict.assert_problem(422, "citation_validation");
    assert_eq!(strict.body["validation"]["errors"][0]["kind"], "uncited_claim", "{strict:?}");
    app.stop().await;
}

#[tokio::test]
async fn graders_and_rewriters_are_held_to_a_schema_where_that_is_possible() {
    let (a, _b, app) = app(&[], "[capabilities.\"a:large\"]\nstructured_output = true").await;
    a.drop_reply(Role::Grade);
    a.say(
        Role::Grade,
        "```json\n{\"grades\": [{\"source\": 1, \"grade\": \"incorrect\", \"reason\": \"x\"}, {\"source\": 2, \"grade\": \"incorrect\", \"reason\": \"y\"}]}\n```",
    );
    a.say(Role::Rewrite, "{\"query\": \"vacation entitlement\"}");
    let mut request = ask(&["a:large"]);
    request["question"] = json!(DOUBTFUL);
    let answer = app.ask(request.clone()).await;
    assert_eq!(answer.body["outcome"], "abstained", "{answer:?}");
    assert_eq!(answer.body["trace"]["rounds"][1]["query"], "vacation entitlement");
    for (role, name) in [(Role::Grade, "grades"), (Role::Rewrite, "rewritten_query")] {
        let body = a.calls(role).pop().expect("a call").body;
        assert_eq!(body["response_format"]["json_schema"]["name"], name);
        assert!(
            body["messages"][0]["content"].as_str().is_some_and(|system| system.contains("Reply with a JSON object"))
        );
    }
    request["models"] = json!(["a:small"]);
    app.ask(request).await;
    let plain = a.calls(Role::Grade).pop().expect("a call").body;
    assert!(plain.get("response_format").is_none(), "unknown models are not held to schemas");
    assert!(!plain["messages"][0]["content"].as_str().expect("content").contains("JSON"));
    app.stop().await;
}

#[tokio::test]
async fn an_answer_cut_for_length_says_so() {
    let (a, _b, app) = app(&[], "").await;
    a.drop_reply(Role::Answer);
    a.reply(Role::Answer, Reply::Cut(ANSWER.to_owned()));
    let answer = app.ask(ask(&[])).await;
    assert_eq!((answer.status, warnings(&answer.body)), (200, vec!["length_cut"]), "{answer:?}");
    a.reply(Role::Answer, Reply::Cut("Everyone has 28 days".to_owned()));
    a.drop_reply(Role::Answer);
    let answer = app.ask(ask(&[])).await;
    answer.assert_problem(422, "citation_validation");
    assert_eq!(warnings(&answer.body), ["length_cut"], "{answer:?}");
    app.stop().await;
}

#[tokio::test]
async fn usage_has_its_price() {
    let file = "[prices.\"a:large\"]\nprompt_usd_per_million = 2.5\ncompletion_usd_per_million = 10\n\
                [roles]\ngrade = \"built-in\"";
    let (a, _b, app) = app(&[], file).await;
    let answer = app.ask(ask(&[])).await;
    let usage = &answer.body["usage"];
    let (cost, estimated) = (usage["cost_usd"].as_f64().expect("a cost"), &usage["estimated"]);
    assert!((cost - (100.0 * 2.5 + 20.0 * 10.0) / 1e6).abs() < 1e-12, "{usage}");
    assert_eq!(estimated, false);
    a.drop_reply(Role::Answer);
    a.reply(Role::Answer, Reply::Unmetered(ANSWER.to_owned()));
    let answer = app.ask(ask(&[])).await;
    let usage = &answer.body["usage"];
    assert_eq!(usage["estimated"], true, "{usage}");
    let (read, written) = (usage["prompt_tokens"].as_u64(), usage["completion_tokens"].as_u64());
    assert!(read > Some(300) && written >= Some(10) && written < Some(30), "counted by a tokenizer: {usage}");
    assert!(usage["cost_usd"].as_f64() > Some(0.0));
    app.stop().await;
}

#[tokio::test]
async fn who_cannot_cite_does_not_answer_a_demand_for_citations() {
    let file = "[capabilities.\"a:small\"]\ncitations = false\n[capabilities.\"a:other\"]\ncitations = false";
    let (a, _b, app) = app(&[], file).await;
    let refused = app.ask(ask(&["a:small", "a:other"])).await;
    refused.assert_problem(422, "invalid_request");
    assert_eq!(refused.pointers(), ["/validation"]);
    assert!(a.calls(Role::Answer).is_empty());
    let answer = app.ask(ask(&["a:small", "a:large"])).await;
    assert_eq!((&answer.body["model"], answer.status), (&json!("large"), 200), "{answer:?}");
    let mut request = ask(&["a:small"]);
    request["validation"] = json!("off");
    let answer = app.ask(request).await;
    assert_eq!((&answer.body["model"], warnings(&answer.body)), (&json!("small"), vec![]), "{answer:?}");
    app.stop().await;
}

#[tokio::test]
async fn the_deployment_may_allow_answers_without_proof() {
    let (a, _b, app) = app(&[("CITED_MODE_FALLBACK", "true")], "[capabilities.\"a:small\"]\ncitations = false").await;
    a.drop_reply(Role::Answer);
    a.say(Role::Answer, "Everyone has 28 days.");
    let answer = app.ask(ask(&["a:small"])).await;
    let validation = &answer.body["validation"];
    assert_eq!((&validation["level"], &validation["effective_level"]), (&json!("cited"), &json!("off")), "{answer:?}");
    assert_eq!(warnings(&answer.body), ["mode_fallback", "uncited_claim"]);
    app.stop().await;
}

#[tokio::test]
async fn the_doctor_shows_providers_and_no_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cited.toml");
    let text = "models = [\"groq:large\"]\n[providers.groq]\nbase_url = \"https://me:hunter2@groq.example/v1\"\n\
                api_key = \"hunter2\"\n[roles]\ngrade = \"built-in\"\n[capabilities.\"groq:large\"]\nseed = false";
    std::fs::write(&file, text).expect("written");
    let path = file.display().to_string();
    let output = output_of(&mut command(&["doctor"], &[("CITED_CONFIG", &path)])).await;
    let shown = String::from_utf8_lossy(&output.stdout);
    for part in ["providers.groq.base_url", "https://groq.example/v1", "capabilities.\"groq:large\".seed"] {
        assert!(shown.contains(part), "{part} is missing in: {shown}");
    }
    let line = |name: &str| shown.lines().map(str::trim).find(|line| line.starts_with(name)).map(str::to_owned);
    assert!(line("grade").is_some_and(|line| line.ends_with("built in")), "{shown}");
    assert!(line("generate").is_some_and(|line| line.ends_with("groq:large")), "{shown}");
    assert!(line("groq:large").is_some_and(|line| line.contains("citations") && !line.contains("seed")), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
    std::fs::write(&file, "models = [\"x:y\"]\ncolour = 1\n[providers.a]\nkind = \"b\"").expect("written");
    let output = output_of(&mut command(&["doctor"], &[("CITED_CONFIG", &path)])).await;
    let faults = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    for part in ["x:y", "colour", "providers.a.kind"] {
        assert!(faults.contains(part), "{part} is missing in: {faults}");
    }
}
