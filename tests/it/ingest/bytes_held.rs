//! Bytes of requests that are held at once: those of streams and of conversations count like those of uploads.

use std::{io, time::Duration};

use futures::channel::mpsc::{self, UnboundedSender};
use reqwest::{Body, Method, RequestBuilder};
use serde_json::json;

use crate::{
    harness::{Answer, TestApp, send},
    scripted::ModelServer,
};

/// Half a mebibyte for a tenant, and a second of waiting.
const TIGHT: [(&str, &str); 2] = [("CITED_MAX_BYTES_IN_FLIGHT", "1048576"), ("CITED_REQUEST_TIMEOUT_S", "2")];

fn bulk(app: &TestApp, body: impl Into<Body>) -> RequestBuilder {
    let request = app.request(Method::POST, "/v1/documents/bulk?collection=c");
    request.header("content-type", "application/x-ndjson").body(body)
}

fn line(source: &str, words: usize) -> String {
    format!("{}\n", json!({"source": source, "text": "Sheep graze on the hill. ".repeat(words)}))
}

/// A stream that has begun a line of 200 KB and does not end it.
fn unfinished(app: &TestApp) -> (UnboundedSender<Result<String, io::Error>>, tokio::task::JoinHandle<Answer>) {
    let (sender, receiver) = mpsc::unbounded();
    let answer = tokio::spawn(send(bulk(app, Body::wrap_stream(receiver))));
    let begun = line("slow", 8_000);
    sender.unbounded_send(Ok(begun.trim_end().to_owned())).expect("open");
    (sender, answer)
}

#[tokio::test]
async fn a_line_that_does_not_end_is_held_once_for_a_tenant() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &TIGHT).await;
    let (sender, answer) = unfinished(&app);
    tokio::time::sleep(Duration::from_millis(500)).await;
    // Another that would hold as much waits, and is refused with what had arrived of it kept.
    let second = send(bulk(&app, format!("{}{}", line("small", 1), line("large", 8_000)))).await;
    second.assert_problem(503, "uploads_busy");
    assert_eq!((second.headers["retry-after"].as_bytes(), &second.body["line"]), (&b"10"[..], &json!(1)), "{second:?}");
    let job = second.body["job"].as_str().expect("a job");
    assert_eq!(app.ended_job(job).await["counts"]["documents"], 1);
    // Small ones go on.
    let many: String = (0..300).map(|number| line(&format!("d{number}"), 40)).collect();
    assert_eq!(send(bulk(&app, many)).await.status, 202);
    // So do conversations, unless they are as large.
    let chat = |words: usize| {
        let earlier = json!({"role": "assistant", "content": "Sheep. ".repeat(words)});
        let asked = json!({"role": "user", "content": "Where do sheep graze?"});
        json!({"model": "c", "messages": [earlier, asked]})
    };
    assert_eq!(app.post("/v1/chat/completions", chat(5)).await.status, 200);
    let refused = app.post("/v1/chat/completions", chat(20_000)).await;
    assert_eq!((refused.status, &refused.body["error"]["code"]), (503, &json!("uploads_busy")), "{refused:?}");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "Sheep. ".repeat(20_000)}});
    let refused = send(app.request(Method::POST, "/mcp").json(&call)).await;
    refused.assert_problem(503, "uploads_busy");
    // The first one is stored when it ends, and its room is free.
    sender.unbounded_send(Ok("\n".to_owned())).expect("open");
    drop(sender);
    assert_eq!(answer.await.expect("no panic").status, 202);
    assert_eq!(app.post("/v1/chat/completions", chat(20_000)).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn streams_of_long_lines_do_not_wait_for_each_other_for_ever() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_MAX_BYTES_IN_FLIGHT", "1048576")]).await;
    let streams: Vec<_> = (0..6)
        .map(|stream| {
            let lines: String = (0..6)
                .map(|number| line(&format!("s{stream}-{number}"), if number % 2 == 0 { 4_000 } else { 500 }))
                .collect();
            tokio::spawn(send(bulk(&app, lines)))
        })
        .collect();
    for stream in streams {
        let answer = tokio::time::timeout(Duration::from_mins(1), stream).await.expect("soon").expect("no panic");
        assert_eq!(answer.status, 202, "{answer:?}");
        let job = app.ended_job(answer.body["id"].as_str().expect("id")).await;
        assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("succeeded"), &json!(6)), "{job}");
    }
    app.stop().await;
}
