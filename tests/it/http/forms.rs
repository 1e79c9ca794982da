//! What chat clients and agents are given loads nothing and leads nowhere but to cited sources, unless they ask for it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::{TestApp, body_of, send, slice},
    scripted::{ModelServer, Role},
};

/// A document that has the reader's program call another server.
const HOSTILE: &str = "The permit costs 40 euros a year, see ![x](https://evil.example/p.png?q=1) or [the rules](https://evil.example/r) <b>now</b>. The desk opens at nine every day.";
const QUESTION: &str = "How much does the permit cost a year?";

async fn app_of(server: &ModelServer) -> TestApp {
    server.say(Role::Grade, "1: correct");
    let app = TestApp::with_models(server).await;
    app.ingest("c", &[("![p](https://evil.example/title.png).md", HOSTILE)]).await;
    app
}

async fn built_in() -> TestApp {
    let app = TestApp::built_in().await;
    app.ingest("c", &[("![p](https://evil.example/title.png).md", HOSTILE)]).await;
    app
}

fn chat(model: &str, format: Option<&str>) -> Value {
    let mut body =
        json!({"model": model, "messages": [{"role": "user", "content": QUESTION}], "cited": {"speculative": "off"}});
    if let Some(format) = format {
        body["cited"]["format"] = json!(format);
    }
    body
}

/// Checks that a text that is shown as Markdown loads nothing, and leads only to the service itself.
fn assert_safe(text: &str, app: &TestApp) {
    for target in text.split("](").skip(1) {
        assert!(target.starts_with(&app.base), "{text}");
    }
    let words: String = text.split('`').step_by(2).collect();
    assert!(!words.contains("![") && !words.contains("evil.example") && !words.contains("<b>"), "{text}");
}

/// Checks that each citation is at its marker.
fn assert_cited(text: &str, annotations: &Value, marker: &str) {
    let annotations = annotations.as_array().expect("annotations");
    assert!(!annotations.is_empty(), "{text}");
    for annotation in annotations {
        let citation = annotation.get("url_citation").unwrap_or(annotation);
        assert!(
            slice(text, &citation["start_index"], &citation["end_index"]).starts_with(marker),
            "{text}: {citation}"
        );
    }
}

#[tokio::test]
async fn a_completion_is_safe_unless_another_form_is_asked_for() {
    let app = built_in().await;
    for (model, marker) in [("c", "[1]"), ("c:footnote", "[^1]"), ("c:link", "[1](http")] {
        let answer = app.post("/v1/chat/completions", chat(model, None)).await.body;
        let message = &answer["choices"][0]["message"];
        let text = message["content"].as_str().expect("words");
        assert!(text.contains("40 euros") && text.contains("x or the rules"), "{text}");
        assert_safe(text, &app);
        assert_cited(text, &message["annotations"], marker);
        assert_safe(answer["cited"]["answer"].as_str().expect("an answer"), &app);
        if model == "c:footnote" {
            assert!(text.contains(&format!("]({}/c/", app.base)), "footnotes open their passage: {text}");
        }
    }
    let written = app.post("/v1/chat/completions", chat("c", Some("markdown"))).await.body;
    assert!(written["choices"][0]["message"]["content"].as_str().expect("words").contains("![x](https://evil"));
    let plain = app.post("/v1/chat/completions", chat("c:link", Some("plain"))).await.body;
    let text = plain["choices"][0]["message"]["content"].as_str().expect("words");
    assert!(!text.contains("](") && !text.contains("evil"), "{text}");
    let refused = app.post("/v1/chat/completions", chat("c", Some("html"))).await;
    assert_eq!((refused.status, &refused.body["error"]["param"]), (400, &json!("cited.format")), "{refused:?}");

    let mut response = json!({"model": "c", "input": QUESTION});
    let whole = app.post("/v1/responses", response.clone()).await.body;
    let part = &whole["output"][0]["content"][0];
    assert_safe(part["text"].as_str().expect("words"), &app);
    assert_cited(part["text"].as_str().expect("words"), &part["annotations"], "[1]");
    response["cited"] = json!({"format": "markdown"});
    let written = app.post("/v1/responses", response).await.body;
    assert!(written["output"][0]["content"][0]["text"].as_str().expect("words").contains("![x](https://evil"));
    app.stop().await;
}

#[tokio::test]
async fn what_is_close_to_a_question_without_an_answer_is_safe() {
    let app = built_in().await;
    let mut body = chat("c", None);
    body["messages"][0]["content"] = json!("How much does the permit cost in Norway for a second dog?");
    let answer = app.post("/v1/chat/completions", body.clone()).await.body;
    assert_eq!(answer["cited"]["outcome"], "abstained", "{answer}");
    let text = answer["choices"][0]["message"]["content"].as_str().expect("words");
    assert!(text.contains("Closest:\n\n- ") && text.contains("40 euros"), "{text}");
    assert_safe(text, &app);
    body["stream"] = json!(true);
    let response = app.request(Method::POST, "/v1/chat/completions").json(&body).send().await.expect("an answer");
    assert_safe(&streamed(&body_of(response).await).concat(), &app);
    app.stop().await;
}

/// The words of a stream of chunks, piece by piece.
fn streamed(events: &str) -> Vec<String> {
    let data = events.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    let chunks = data.map(|data| serde_json::from_str::<Value>(data).expect("JSON"));
    let words = chunks.filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned));
    words.filter(|words| !words.is_empty()).collect()
}

#[tokio::test]
async fn words_whose_form_is_known_are_streamed_before_the_others() {
    let server = ModelServer::start().await;
    let app = app_of(&server).await;
    server.say(
        Role::Answer,
        "The desk opens at nine every day [^1]. The permit costs 40 euros a year, see ![x](https://evil.example/p.png?q=1) [^1]. The desk opens at nine every day [^1].",
    );
    let mut body = chat("c", None);
    let whole = app.post("/v1/chat/completions", body.clone()).await.body;
    let text = whole["choices"][0]["message"]["content"].as_str().expect("words");
    assert_safe(text, &app);
    body["stream"] = json!(true);
    let response = app.request(Method::POST, "/v1/chat/completions").json(&body).send().await.expect("an answer");
    let pieces = streamed(&body_of(response).await);
    assert_eq!(pieces[0], "The desk opens at nine every day [1].", "{pieces:?}");
    assert_eq!((pieces.len(), pieces.concat().as_str()), (2, text), "{pieces:?}");
    body["cited"]["format"] = json!("markdown");
    let response = app.request(Method::POST, "/v1/chat/completions").json(&body).send().await.expect("an answer");
    let pieces = streamed(&body_of(response).await);
    assert!(pieces.len() >= 3 && pieces.concat().contains("![x](https://evil"), "{pieces:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_tool_answers_with_safe_text_unless_another_form_is_asked_for() {
    let app = built_in().await;
    let ask = async |arguments: Value| {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": arguments}});
        let request = app.request(Method::POST, "/mcp").header("mcp-protocol-version", "2025-11-25").json(&call);
        let answer = send(request).await;
        assert!(answer.body["result"].is_object(), "{answer:?}");
        answer.body["result"].clone()
    };
    let safe = ask(json!({"question": QUESTION, "collections": ["c"]})).await;
    let shown = safe["content"][0]["text"].as_str().expect("words");
    assert_safe(shown, &app);
    assert!(shown.contains(&format!(": {}/c/", app.base)), "the sources can be opened: {shown}");
    assert_safe(safe["structuredContent"]["text"].as_str().expect("words"), &app);
    let written = ask(json!({"question": QUESTION, "collections": ["c"], "format": "markdown"})).await;
    assert!(written["structuredContent"]["text"].as_str().expect("words").contains("![x](https://evil"), "{written}");
    assert!(written["content"][0]["text"].as_str().expect("words").contains("![x](https://evil"), "{written}");
    let refused = ask(json!({"question": QUESTION, "collections": ["c"], "format": "html"})).await;
    assert_eq!(refused["isError"], true, "{refused}");
    app.stop().await;
}
