//! Forms of an answer: nothing in it is loaded, run or followed, and its citations are where they are said to be.

use serde_json::{Value, json};

use crate::{
    harness::{TestApp, body_of, slice},
    scripted::ModelServer,
};

const TEXT: &str = "The **permit** costs 40 euros a year, see ![x](https://evil.example/p.png?q=1) or [the rules](https://evil.example/r) <b>now</b>.";

async fn ask(app: &TestApp, form: Option<&str>) -> Value {
    let mut body = json!({"question": "How much does the permit cost a year?", "collections": ["c"]});
    if let Some(form) = form {
        body["format"] = json!(form);
    }
    let answer = app.ask(body).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    let text = answer.body["answer"].as_str().expect("an answer");
    let citations = answer.body["citations"].as_array().expect("citations");
    assert!(!citations.is_empty());
    for citation in citations {
        assert_eq!(slice(text, &citation["span"][0], &citation["span"][1]), "[^1]", "{answer:?}");
        let claim = slice(text, &citation["claim"][0], &citation["claim"][1]);
        assert!(claim.starts_with("The") && claim.contains("40 euros"), "{claim}");
    }
    answer.body
}

#[tokio::test]
async fn an_answer_comes_in_the_form_that_is_asked_for() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let document = json!({"source": "a.txt", "media_type": "text/plain", "text": TEXT});
    let job = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": [document]})).await;
    assert_eq!(job.body["state"], "succeeded", "{job:?}");
    let written = ask(&app, None).await;
    let text = written["answer"].as_str().expect("text");
    assert!(text.contains("![x](") && text.contains("<b>"), "the document is quoted as it is: {text}");
    assert_eq!(ask(&app, Some("markdown")).await["answer"], written["answer"]);
    let safe = ask(&app, Some("safe_markdown")).await;
    let text = safe["answer"].as_str().expect("text");
    assert!(text.contains("**permit**") && text.contains("x or the rules") && text.contains("&lt;b>"), "{text}");
    assert!(!text.contains("evil.example"), "{text}");
    let plain = ask(&app, Some("plain")).await;
    let text = plain["answer"].as_str().expect("text");
    assert!(text.contains("The permit costs") && !text.contains(['<', '*', '!']) && !text.contains("evil"), "{text}");
    app.post("/v1/ask", json!({"question": "What?", "format": "html"})).await.assert_problem(422, "invalid_request");
    app.stop().await;
}

#[tokio::test]
async fn a_stream_sends_no_words_before_their_form_is_known() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let document = json!({"source": "a.txt", "media_type": "text/plain", "text": TEXT});
    app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": [document]})).await;
    let body = json!({"question": "How much does the permit cost a year?", "collections": ["c"], "format": "plain", "stream": true});
    let stream = app.request(reqwest::Method::POST, "/v1/ask").json(&body).send().await.expect("a stream");
    let events = body_of(stream).await;
    assert!(events.contains("event: sources") && events.contains("event: answer"), "{events}");
    assert!(!events.contains("event: token") && !events.contains("event: claim"), "{events}");
    let last = events.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().expect("data");
    let answer: Value = serde_json::from_str(last).expect("JSON");
    assert!(!answer["answer"].as_str().expect("an answer").contains("!["), "{answer}");
    app.stop().await;
}
