use std::{
    collections::VecDeque,
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use tokio::net::TcpListener;

use super::*;

#[test]
fn an_empty_title_is_not_sent() {
    let sent = |title: &str, text: &str| {
        let document = SetDocument { id: "d".to_owned(), title: title.to_owned(), text: text.to_owned() };
        let body = upload(&document);
        (body["title"].clone(), body["text"].clone())
    };
    assert_eq!(sent("Tea", "Green."), (json!("Tea"), json!("Green.")));
    assert_eq!(sent(" ", "Green."), (Value::Null, json!("Green.")));
    assert_eq!(sent("Tea", ""), (Value::Null, json!("Tea")));
}

/// A service that gives each request the next of these replies, after its delay.
async fn service(replies: Vec<(Duration, Response)>) -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let replies = Arc::new(Mutex::new(VecDeque::from(replies)));
    let next = move || {
        let (delay, reply) = replies.lock().expect("no reply fails").pop_front().expect("a reply for each request");
        async move {
            sleep(delay).await;
            reply
        }
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(next)).await });
    let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_millis(500)).build().expect("a client");
    Client::new(http, base, None)
}

fn problem(status: StatusCode, code: &str) -> (Duration, Response) {
    (Duration::ZERO, (status, [(RETRY_AFTER, "0")], Json(json!({"code": code, "detail": code}))).into_response())
}

fn answered(delay: Duration) -> (Duration, Response) {
    (delay, Json(json!({"outcome": "answered", "answer": "28 days [^1]."})).into_response())
}

#[tokio::test]
async fn a_busy_service_is_asked_again() {
    let busy = [
        problem(StatusCode::SERVICE_UNAVAILABLE, "database_unavailable"),
        problem(StatusCode::TOO_MANY_REQUESTS, "too_many_requests"),
    ];
    let client = service(busy.into_iter().chain([answered(Duration::ZERO)]).collect()).await;
    let reply = client.ask_of_document("c", "d", "q", "cited").await.expect("an answer");
    assert_eq!(reply.answer.as_deref(), Some("28 days [^1]."));
}

#[tokio::test]
async fn a_model_that_fails_and_a_refusal_without_an_end_are_not_asked_again() {
    let client = service(vec![problem(StatusCode::SERVICE_UNAVAILABLE, "providers_unavailable")]).await;
    let reply = client.ask_of_document("c", "d", "q", "cited").await.expect("a result");
    assert!(reply.answer.is_none() && !reply.is_refused);
    let never = (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "86400")], Json(json!({"detail": "tomorrow"})));
    let client = service(vec![(Duration::ZERO, never.into_response())]).await;
    let refused = client.ask_of_document("c", "d", "q", "cited").await.expect_err("none today");
    assert!(refused.to_string().contains("HTTP 429: tomorrow"), "{refused}");
}

#[tokio::test]
async fn no_reply_in_time_is_a_figure() {
    let client = service(vec![answered(Duration::from_mins(1)), answered(Duration::from_mins(1))]).await;
    let reply = client.ask_of_document("c", "d", "q", "cited").await.expect("a result");
    assert!(reply.answer.is_none() && !reply.is_refused);
    assert!(matches!(client.ask("c", "1", "q").await.expect("a result").end, ReplyEnd::TimedOut));
}
