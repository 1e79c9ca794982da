//! The routes that clients of OpenAI know.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::{Answer, TestApp, body_of, slice},
    scripted::{ModelServer, Reply, Role},
};

const LEAVE: &str = "Everyone has 28 days of paid annual leave a year. Annual leave lapses on 31 March, see [1].";
const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const CITED: &str = "Everyone has 28 days of paid annual leave a year [^1].";

fn asked(model: &str, question: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": question}], "cited": {"speculative": "off"}})
}

async fn complete(app: &TestApp, body: Value) -> Answer {
    app.post("/v1/chat/completions", body).await
}

/// A service with a model that grades every passage correct.
async fn app() -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    server.say(Role::Grade, "1: correct");
    let app = TestApp::with_models(&server).await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    (server, app)
}

/// The chunks of a streamed completion, and whether `[DONE]` ended it.
async fn chunks(app: &TestApp, mut body: Value) -> (Vec<Value>, bool) {
    body["stream"] = json!(true);
    let response = app.request(Method::POST, "/v1/chat/completions").json(&body).send().await.expect("an answer");
    assert_eq!(response.status(), 200);
    let text = body_of(response).await;
    let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let is_done = data.last() == Some(&"[DONE]");
    let chunks = data.into_iter().filter(|data| *data != "[DONE]");
    (chunks.map(|data| serde_json::from_str(data).expect("JSON")).collect(), is_done)
}

/// Words and citations of a stream.
fn told(chunks: &[Value]) -> (String, Vec<Value>) {
    let deltas = || chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]);
    let words = deltas().filter_map(|delta| delta["content"].as_str()).collect();
    let annotations = deltas().filter_map(|delta| delta["annotations"].as_array()).flatten().cloned().collect();
    (words, annotations)
}

#[tokio::test]
async fn a_completion_is_the_answer_with_citations_that_open() {
    let (server, app) = app().await;
    server.say(Role::Answer, CITED);
    let answer = complete(&app, asked("cited/handbook", QUESTION)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let choice = &answer.body["choices"][0];
    assert_eq!((&choice["finish_reason"], &choice["message"]["role"]), (&json!("stop"), &json!("assistant")));
    let content = choice["message"]["content"].as_str().expect("words");
    assert_eq!(content, "Everyone has 28 days of paid annual leave a year [1].");
    let citation = &choice["message"]["annotations"][0]["url_citation"];
    assert_eq!(slice(content, &citation["start_index"], &citation["end_index"]), "[1]");
    assert!(LEAVE.contains(citation["content"].as_str().expect("a quote")));
    let url = citation["url"].as_str().expect("an address");
    assert_eq!(answer.body["citations"], json!([url]));
    let page = app.client.get(url).header("accept", "text/html").send().await.expect("the page");
    assert_eq!(page.status(), 200);
    assert!(body_of(page).await.contains("28 days of paid annual leave"));
    assert_eq!(answer.body["cited"]["outcome"], "answered");
    assert_eq!(answer.body["cited"]["answer"], CITED);
    assert!(answer.body["usage"]["total_tokens"].as_u64().expect("tokens") > 0);
}

#[tokio::test]
async fn the_name_of_the_model_chooses_collections_and_notation() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    app.ingest("a+b", &[("cars.md", "A company car is ordered from the fleet desk in Bern.")]).await;
    let models = app.get("/v1/models").await;
    let ids: Vec<&str> =
        models.body["data"].as_array().expect("models").iter().filter_map(|m| m["id"].as_str()).collect();
    assert_eq!(ids, ["cited", "cited/a%2Bb", "cited/handbook"]);
    assert_eq!(app.get("/v1/models/cited%2Fhandbook").await.body["name"], "handbook (1 document)");
    for (model, expected) in [
        ("cited", "a year. [1]"),
        ("handbook:footnote", "a year. [^1]\n\n[^1]: [leave](http"),
        ("cited/handbook+a%2Bb:link", "a year. [1](http"),
        ("cited/handbook:none", "paid annual leave a year."),
    ] {
        let answer = complete(&app, asked(model, QUESTION)).await;
        let content = answer.body["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned();
        assert!(content.contains(expected), "{model}: {content}");
        assert_eq!(answer.body["model"], model);
    }
    let elsewhere = complete(&app, asked("cited/a%2Bb", QUESTION)).await;
    assert_eq!(elsewhere.body["cited"]["outcome"], "abstained", "{}", elsewhere.body);
    let content = elsewhere.body["choices"][0]["message"]["content"].as_str().expect("words");
    assert!(content.starts_with("There is no answer in these documents."), "{content}");
    assert_eq!(elsewhere.body["choices"][0]["message"]["annotations"], json!([]), "what is close proves nothing");
}

#[tokio::test]
async fn a_footnote_quotes_all_that_is_cited_of_its_source() {
    let (server, app) = app().await;
    server.say(
        Role::Answer,
        "Everyone has 28 days of paid annual leave a year. [^1] Annual leave lapses on 31 March. [^1]",
    );
    let answer = complete(&app, asked("handbook:footnote", QUESTION)).await;
    let content = answer.body["choices"][0]["message"]["content"].as_str().expect("words");
    let (_, footnote) = content.split_once("\n\n[^1]: ").expect("a footnote");
    assert_eq!(footnote.matches("days of paid annual leave").count(), 1, "{content}");
    assert_eq!(footnote.matches("lapses on 31 March").count(), 1, "{content}");
    app.stop().await;
}

#[tokio::test]
async fn numbers_in_brackets_of_a_document_are_no_citations() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    let answer = complete(&app, asked("handbook", "When does annual leave lapse?")).await;
    let content = answer.body["choices"][0]["message"]["content"].as_str().expect("words");
    assert!(content.contains("see \\[1]. [1]"), "{content}");
}

#[tokio::test]
async fn a_stream_tells_the_same_claim_by_claim() {
    let (server, app) = app().await;
    let text = "Everyone has 28 days of paid annual leave a year [^1]. Annual leave lapses on 31 March [^1].";
    server.say(Role::Answer, text);
    let mut body = asked("cited/handbook", QUESTION);
    let whole = complete(&app, body.clone()).await.body;
    body["stream_options"] = json!({"include_usage": true});
    let (chunks, is_done) = chunks(&app, body).await;
    assert!(is_done);
    let (words, annotations) = told(&chunks);
    let message = &whole["choices"][0]["message"];
    assert_eq!((&json!(words), &json!(annotations)), (&message["content"], &message["annotations"]));
    let contents: Vec<&str> =
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(contents[1], "Everyone has 28 days of paid annual leave a year [1].", "{contents:?}");
    let [.., last, usage] = &chunks[..] else { panic!("two chunks at least") };
    assert_eq!((&last["choices"][0]["finish_reason"], &usage["choices"]), (&json!("stop"), &json!([])));
    assert_eq!(last["citations"], whole["citations"]);
    assert_eq!(last["cited"]["answer"], text);
    assert!(usage["usage"]["prompt_tokens"].as_u64().expect("tokens") > 0);
    let ids: std::collections::BTreeSet<&str> = chunks.iter().filter_map(|chunk| chunk["id"].as_str()).collect();
    assert_eq!(ids.len(), 1);
}

#[tokio::test]
async fn words_that_were_delivered_are_called_void_where_their_draft_does_not_hold() {
    let (server, app) = app().await;
    let sentence = "Everyone has 28 days of paid annual leave a year [^1].";
    server.reply(Role::Answer, Reply::Text(format!("{sentence} Nobody may ever carry over a single day at all.")));
    server.reply(Role::Answer, Reply::Text(sentence.to_owned()));
    let (chunks, is_done) = chunks(&app, asked("handbook", QUESTION)).await;
    let (words, annotations) = told(&chunks);
    assert!(
        is_done && words.ends_with("The checked answer:*\n\nEveryone has 28 days of paid annual leave a year [1]."),
        "{words}"
    );
    for annotation in &annotations {
        let citation = &annotation["url_citation"];
        assert_eq!(slice(&words, &citation["start_index"], &citation["end_index"]), "[1]");
    }
    assert!(!words.contains("Nobody"), "{words}");
}

#[tokio::test]
async fn citations_that_do_not_hold_are_an_error_that_is_not_repeated() {
    let (server, app) = app().await;
    server.say(Role::Answer, "Everyone has 28 days of leave [^9].");
    let refused = complete(&app, asked("handbook", QUESTION)).await;
    assert_eq!((refused.status, &refused.body["error"]["code"]), (422, &json!("citation_validation")));
    assert_eq!(refused.body["error"]["type"], "citation_validation_error");
    assert!(refused.body["error"]["message"].is_string() && refused.body["validation"]["errors"].is_array());
    let (chunks, is_done) = chunks(&app, asked("handbook", QUESTION)).await;
    assert!(!is_done);
    assert_eq!(chunks.last().expect("an error")["error"]["code"], "citation_validation");
}

#[tokio::test]
async fn errors_have_the_form_that_clients_read() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    let unknown = complete(&app, asked("cited/nothing", QUESTION)).await;
    assert_eq!((unknown.status, &unknown.body["error"]["code"]), (404, &json!("model_not_found")));
    assert_eq!(unknown.headers["content-type"], "application/json");
    let cases = [
        (json!({"messages": []}), "messages"),
        (json!({"messages": [{"role": "assistant", "content": "a"}]}), "messages"),
        (
            json!({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}),
            "messages[0].content[0].type",
        ),
        (json!({"temperature": 9}), "temperature"),
        (json!({"n": 2}), "n"),
        (json!({"tools": [{"type": "function"}], "tool_choice": "required"}), "tool_choice"),
        (json!({"tool_choice": {"type": "function", "function": {"name": "get_weather"}}}), "tool_choice"),
        (json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required"}}}), "tool_choice"),
        (json!({"response_format": {"type": "json_object"}}), "response_format"),
        (json!({"model": "handbook:bold"}), "model"),
        (json!({"cited": {"top_q": 3}}), "cited.top_q"),
        (json!({"cited": {"top_k": 0}}), "cited.top_k"),
        (json!({"model": "handbook+handbook"}), "model"),
    ];
    for (change, path) in cases {
        let mut body = asked("handbook", QUESTION);
        for (name, value) in change.as_object().expect("members") {
            body[name] = value.clone();
        }
        let refused = complete(&app, body).await;
        assert_eq!(refused.status, 400, "{change}: {}", refused.body);
        assert_eq!(refused.body["error"]["type"], "invalid_request_error");
        assert_eq!(refused.body["error"]["param"], path, "{}", refused.body);
    }
}

#[tokio::test]
async fn tools_that_are_offered_are_passed_over() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    let tool = json!({"type": "function", "function": {"name": "search_notes", "parameters": {"type": "object"}}});
    let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [tool]}});
    for choice in [json!(null), json!("auto"), json!("none"), allowed] {
        let mut body = asked("handbook", QUESTION);
        body["tools"] = json!([tool]);
        body["tool_choice"] = choice;
        let message = complete(&app, body).await.body["choices"][0]["message"].take();
        assert!(message["content"].as_str().is_some_and(|text| text.contains("28 days")), "{message}");
    }
    let tool = json!({"type": "function", "name": "search_notes", "parameters": {"type": "object"}});
    let choice = json!({"type": "allowed_tools", "mode": "auto", "tools": [tool]});
    let body = json!({"model": "handbook", "input": QUESTION, "tools": [tool], "tool_choice": choice});
    let response = app.post("/v1/responses", body).await.body;
    assert_eq!((&response["status"], &response["tools"]), (&json!("completed"), &json!([])), "{response}");
}

#[tokio::test]
async fn a_missing_key_is_an_error_that_clients_read() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_API_KEYS", "a-long-enough-key-1")]).await;
    let refused = complete(&app, asked("handbook", QUESTION)).await;
    assert_eq!((refused.status, &refused.body["error"]["code"]), (401, &json!("invalid_api_key")));
    assert_eq!(refused.headers["www-authenticate"], "Bearer");
    assert_eq!(app.get("/v1/models").await.status, 401);
}

#[tokio::test]
async fn a_long_conversation_is_followed_and_a_front_end_may_ask_for_titles() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    let turn = |place: usize| {
        let length = if place == 149 { 3_000 } else { 100 };
        json!({"role": if place.is_multiple_of(2) { "user" } else { "assistant" }, "content": "Annual leave? ".repeat(length)})
    };
    let mut messages: Vec<Value> = (0..150).map(turn).collect();
    messages.push(json!({"role": "tool", "content": "{}"}));
    messages.push(json!({"role": "user", "content": [{"type": "text", "text": QUESTION}]}));
    let answer = complete(&app, json!({"model": "cited", "messages": messages, "user": "u", "top_p": 1})).await;
    assert_eq!((answer.status, &answer.body["cited"]["outcome"]), (200, &json!("answered")), "{}", answer.body);
    let asks = app.get("/v1/audit").await.body["asks"].as_array().map(Vec::len);
    let prompt = format!(
        "### Task:\nMake a title.\n### Output:\n{{ \"title\": \"t\" }}\n<chat_history>\nUSER: {QUESTION}\n</chat_history>"
    );
    let title = complete(&app, asked("cited/handbook", &prompt)).await;
    assert_eq!(title.body["choices"][0]["message"]["content"], "{\"title\":\"How many days of paid annual…\"}");
    assert_eq!(app.get("/v1/audit").await.body["asks"].as_array().map(Vec::len), asks, "no ask");
    let (chunks, is_done) = chunks(&app, asked("cited/handbook", &prompt)).await;
    assert_eq!((told(&chunks).0, is_done), ("{\"title\":\"How many days of paid annual…\"}".to_owned(), true));

    let message = json!({"role": "user", "content": [{"type": "input_text", "text": prompt}]});
    let mut body = json!({"model": "cited/handbook", "input": [message]});
    let whole = app.post("/v1/responses", body.clone()).await;
    assert_eq!(whole.body["output"][0]["content"][0]["text"], "{\"title\":\"How many days of paid annual…\"}");
    body["stream"] = json!(true);
    let events = response_events(&app, body).await;
    let content = |response: &Value| response["output"][0]["content"].clone();
    assert_eq!(content(&events.last().expect("an end")["response"]), content(&whole.body), "{events:?}");
    assert_eq!(app.get("/v1/audit").await.body["asks"].as_array().map(Vec::len), asks, "no ask");
}

/// Names and data of the events of a streamed response.
async fn response_events(app: &TestApp, body: Value) -> Vec<Value> {
    let response = app.request(Method::POST, "/v1/responses").json(&body).send().await.expect("an answer");
    let text = body_of(response).await;
    assert!(text.trim_end().ends_with("data: [DONE]"), "{text}");
    let mut events = Vec::new();
    for block in text.split("\n\n").filter(|block| block.starts_with("event: ")) {
        let (name, data) = block.split_once('\n').expect("two lines");
        let data: Value = serde_json::from_str(data.trim_start_matches("data: ")).expect("JSON");
        assert_eq!(data["type"], name.trim_start_matches("event: "));
        assert_eq!(data["sequence_number"], events.len());
        events.push(data);
    }
    events
}

#[tokio::test]
async fn a_response_is_the_answer_whole_and_streamed() {
    let (server, app) = app().await;
    server.say(Role::Answer, CITED);
    let items = json!([
        {"role": "developer", "content": "Be brief."},
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
    ]);
    let mut body = json!({"model": "cited/handbook", "input": items, "cited": {"speculative": "off"}, "store": true});
    let whole = app.post("/v1/responses", body.clone()).await;
    assert_eq!(whole.status, 200, "{}", whole.body);
    let text = &whole.body["output"][0]["content"][0];
    let words = text["text"].as_str().expect("words");
    assert_eq!(words, "Everyone has 28 days of paid annual leave a year [1].");
    let citation = &text["annotations"][0];
    assert_eq!(
        (slice(words, &citation["start_index"], &citation["end_index"]), &citation["type"]),
        ("[1]".to_owned(), &json!("url_citation"))
    );
    assert_eq!((&whole.body["status"], &whole.body["store"]), (&json!("completed"), &json!(false)));
    assert_eq!(whole.body["cited"]["validation"]["warnings"][0]["kind"], "instructions_ignored", "{}", whole.body);

    body["stream"] = json!(true);
    let events = response_events(&app, body.clone()).await;
    let names: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(
        names,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.annotation.added",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let completed = &events.last().expect("an end")["response"];
    assert_eq!(completed["output"][0]["content"], whole.body["output"][0]["content"]);
}

#[tokio::test]
async fn a_response_that_cannot_be_fails_with_its_reason() {
    let (server, app) = app().await;
    server.say(Role::Answer, "Everyone has 28 days of leave [^9].");
    let body = json!({"model": "handbook", "input": QUESTION, "stream": true, "cited": {"speculative": "off"}});
    let events = response_events(&app, body.clone()).await;
    let failed = events.last().expect("an end");
    assert_eq!(
        (&failed["type"], &failed["response"]["error"]["code"]),
        (&json!("response.failed"), &json!("citation_validation"))
    );
    for (name, value) in [
        ("previous_response_id", json!("resp_1")),
        ("conversation", json!("c")),
        ("prompt", json!({"id": "p"})),
        ("text", json!({"format": {"type": "json_object"}})),
        ("background", json!(true)),
        ("tool_choice", json!("required")),
    ] {
        let mut unsupported = body.clone();
        unsupported[name] = value;
        let refused = app.post("/v1/responses", unsupported).await;
        assert_eq!((refused.status, &refused.body["error"]["param"]), (400, &json!(name)), "{}", refused.body);
    }
}
