//! Documents as a stream.

use std::time::Duration;

use futures::channel::mpsc;
use reqwest::{Body, Method, RequestBuilder};
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::{
    database,
    harness::{TestApp, send},
    scripted::ModelServer,
    wait,
};

fn line(number: usize) -> String {
    format!(
        "{}\n",
        json!({"source": format!("d{number}"), "text": format!("Document {number} tells of topic {number}.")})
    )
}

fn bulk(app: &TestApp, query: &str, body: impl Into<Body>) -> RequestBuilder {
    app.request(Method::POST, &format!("/v1/documents/bulk?{query}"))
        .header("content-type", "application/x-ndjson")
        .body(body)
}

/// The id of the newest job, once there is one.
async fn first_job(app: &TestApp) -> String {
    let job = async || app.get("/v1/jobs").await.body["jobs"][0]["id"].as_str().map(str::to_owned).ok_or("no job");
    wait::until_ok("a job is listed", job).await
}

#[tokio::test]
async fn lines_become_documents_and_bad_lines_are_named() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let mut body = String::new();
    for number in 0..1_200 {
        body.push_str(&line(number));
    }
    body.push_str("\n   \r\n");
    body.push_str("{\"source\": \"half\n");
    body.push_str("{\"source\": \"no text\", \"title\": \"T\"}\n");
    body.push_str("{\"source\": \"odd\", \"text\": \"t\", \"colour\": \"red\\u0000\"}\n");
    body.push_str("{\"source\": \"\", \"text\": \"t\"}\n");
    let huge = json!({"source": "huge", "text": "x".repeat(17 << 20)});
    body.push_str(&huge.to_string());
    body.push('\n');
    // The last one wins, and needs no line break.
    body.push_str("{\"source\": \"d0\", \"text\": \"Changed.\", \"metadata\": {\"n\": 1}}");
    let answer = send(bulk(&app, "collection=c&wait=true", body)).await;
    assert_eq!((answer.status, &answer.body["state"]), (200, &json!("partial")), "{:?}", answer.body["counts"]);
    assert_eq!(answer.body["failures"], json!([{"cause": "invalid_line", "documents": 5}]));
    assert_eq!((&answer.body["is_receiving"], &answer.body["is_incomplete"]), (&json!(false), &json!(false)));
    let id = answer.body["id"].as_str().expect("id");
    let failed = app.get(&format!("/v1/jobs/{id}?items_state=failed")).await.body;
    let messages: Vec<(&str, &str)> = failed["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| (item["source"].as_str().expect("source"), item["message"].as_str().expect("message")))
        .collect();
    assert_eq!(messages.len(), 5, "{messages:?}");
    for ((source, message), (expected, start, word)) in messages.iter().zip([
        ("line 1203", "Line 1203: ", "JSON"),
        ("no text", "Line 1204: ", "text"),
        ("odd", "Line 1205: ", "colour"),
        ("line 1206", "Line 1206: ", "source"),
        ("line 1207", "Line 1207: ", "16777216"),
    ]) {
        assert!(*source == expected && message.starts_with(start) && message.contains(word), "{source}: {message}");
    }
    assert_eq!(app.get("/v1/collections/c").await.body["documents"], 1_200);
    let found = app.get("/v1/documents?collection=c&source_prefix=d0").await.body;
    let path = format!("/v1/documents/{}/content", found["documents"][0]["id"].as_str().expect("id"));
    assert_eq!(app.get(&path).await.body["text"], "Changed.");
    assert_eq!(found["documents"][0]["provenance"]["loader"], "bulk");
    // A line that was no document cannot be retried.
    app.post(&format!("/v1/jobs/{id}/retry"), json!({})).await.assert_problem(409, "nothing_to_retry");
    app.stop().await;
}

#[tokio::test]
async fn documents_are_indexed_while_the_stream_goes_on() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let (sender, receiver) = mpsc::unbounded::<Result<String, std::io::Error>>();
    let request = bulk(&app, "collection=c&wait=true", Body::wrap_stream(receiver));
    let answer = tokio::spawn(send(request));
    sender.unbounded_send(Ok(line(0))).expect("open");
    let second = line(1);
    let (half, rest) = second.split_at(10);
    sender.unbounded_send(Ok(half.to_owned())).expect("open");
    let listed = wait::until_ok("the first document is stored", async || {
        let listed = app.get("/v1/jobs").await.body["jobs"][0].clone();
        if listed["counts"]["documents"] == 1 { Ok(listed) } else { Err(listed) }
    })
    .await;
    assert_eq!(
        (&listed["state"], &listed["counts"]["documents"], &listed["is_receiving"]),
        (&json!("running"), &json!(1), &json!(true)),
        "{listed}"
    );
    sender.unbounded_send(Ok(rest.to_owned())).expect("open");
    drop(sender);
    let answer = answer.await.expect("no panic");
    assert_eq!((answer.status, &answer.body["counts"]["documents"]), (200, &json!(2)), "{answer:?}");
    assert_eq!(answer.body["id"], listed["id"]);
    app.stop().await;
}

#[tokio::test]
async fn a_broken_stream_keeps_what_had_arrived_and_says_so() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let mut socket = TcpStream::connect(app.base.trim_start_matches("http://")).await.expect("connect");
    let body = format!("{}{}{{\"source\": \"half", line(0), line(1));
    let head = "POST /v1/documents/bulk?collection=c HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
                Idempotency-Key: stream\r\nContent-Length: 100000\r\n\r\n";
    socket.write_all(format!("{head}{body}").as_bytes()).await.expect("sent");
    socket.flush().await.expect("sent");
    tokio::time::sleep(Duration::from_millis(300)).await;
    drop(socket);
    let job = app.ended_job(&first_job(&app).await).await;
    assert_eq!(
        (&job["state"], &job["counts"]["documents"], &job["is_incomplete"]),
        (&json!("succeeded"), &json!(2), &json!(true)),
        "{job}"
    );
    // Its name is free for the whole stream, and what had arrived is not done again.
    let whole = format!("{}{}{}", line(0), line(1), line(2));
    let again = send(bulk(&app, "collection=c&wait=true", whole.clone()).header("Idempotency-Key", "stream")).await;
    assert_eq!((&again.body["counts"]["unchanged"], &again.body["counts"]["documents"]), (&json!(2), &json!(1)));
    let replayed = send(bulk(&app, "collection=c&wait=true", whole).header("Idempotency-Key", "stream")).await;
    assert_eq!((&replayed.body, replayed.headers.contains_key("idempotency-replayed")), (&again.body, true));
    send(bulk(&app, "collection=c", line(9)).header("Idempotency-Key", "stream"))
        .await
        .assert_problem(409, "idempotency_key_reused");
    app.stop().await;
}

#[tokio::test]
async fn the_same_lines_with_other_parameters_are_another_request() {
    let server = ModelServer::start().await;
    let secret = ("CITED_WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let app = TestApp::with_models_and(&server, &[secret, ("CITED_WEBHOOK_ALLOW", "127.0.0.1:9")]).await;
    let send_with = async |query: &str| send(bulk(&app, query, line(0)).header("Idempotency-Key", "stream")).await;
    let first = send_with("collection=c&wait=true&indexing=progressive&webhook_url=http://127.0.0.1:9/a").await;
    assert_eq!(first.status, 200, "{first:?}");
    for other in [
        "collection=d&indexing=progressive&webhook_url=http://127.0.0.1:9/a",
        "collection=c&indexing=complete&webhook_url=http://127.0.0.1:9/a",
        "collection=c&webhook_url=http://127.0.0.1:9/a",
        "collection=c&indexing=progressive&webhook_url=http://127.0.0.1:9/b",
        "collection=c&indexing=progressive",
    ] {
        send_with(other).await.assert_problem(409, "idempotency_key_reused");
    }
    // Whether it waits says nothing about what is asked.
    let again = send_with("webhook_url=http://127.0.0.1:9/a&indexing=progressive&collection=c").await;
    assert_eq!((again.status, &again.body["id"]), (200, &first.body["id"]), "{again:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_sender_that_vanished_with_its_service_is_given_up() {
    let server = ModelServer::start().await;
    let app = TestApp::with_models_and(&server, &[("CITED_LEASE_S", "2")]).await;
    let job = send(bulk(&app, "collection=c&wait=true", line(0))).await.body;
    let id = job["id"].as_str().expect("id");
    let open = format!(
        "UPDATE job SET state = 'running', finished_at = NULL, receiving_until = now() + interval '1 second' WHERE job_id = '{id}'"
    );
    database::execute(&app.database, &open).await;
    let job = app.ended_job(id).await;
    assert_eq!((&job["state"], &job["is_incomplete"]), (&json!("succeeded"), &json!(true)), "{job}");
    app.stop().await;
}

#[tokio::test]
async fn a_full_queue_slows_the_stream_down_and_loses_nothing() {
    let server = ModelServer::start().await;
    let app = TestApp::with_models_and(&server, &[("CITED_QUEUE_MAX_DOCUMENTS", "600")]).await;
    server.hold_embeddings(Some("Document"));
    let body: String = (0..2_000).map(line).collect();
    let answer = tokio::spawn(send(bulk(&app, "collection=c&wait=true", body)));
    let waiting = async || {
        let waiting = "SELECT count(*) FROM job_item WHERE state IN ('queued', 'running')";
        database::number(&app.database, waiting).await
    };
    // The first part fits, the second does not.
    wait::until("the first part is queued", async || waiting().await > 0).await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(waiting().await, 500);
    server.hold_embeddings(None);
    while !answer.is_finished() {
        assert!(waiting().await <= 600);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let answer = answer.await.expect("no panic");
    assert_eq!(answer.status, 200, "{answer:?}");
    let counts = &answer.body["counts"];
    assert_eq!((&counts["documents"], &counts["failed"]), (&json!(2_000), &json!(0)), "{counts}");
    app.stop().await;
}

#[tokio::test]
async fn a_cancelled_stream_is_told() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let (sender, receiver) = mpsc::unbounded::<Result<String, std::io::Error>>();
    let answer = tokio::spawn(send(bulk(&app, "collection=c", Body::wrap_stream(receiver))));
    sender.unbounded_send(Ok(line(0))).expect("open");
    let id = first_job(&app).await;
    assert_eq!(app.post(&format!("/v1/jobs/{id}/cancel"), json!({})).await.status, 200);
    sender.unbounded_send(Ok(line(1))).expect("open");
    let answer = answer.await.expect("no panic");
    answer.assert_problem(409, "job_over");
    assert_eq!((&answer.body["job"], answer.body["line"].as_u64() >= Some(1)), (&json!(id), true), "{answer:?}");
    app.stop().await;
}

#[tokio::test]
async fn wrong_streams_accept_nothing() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    send(bulk(&app, "collection=c", "")).await.assert_problem(422, "invalid_request");
    send(bulk(&app, "collection=%20", line(0))).await.assert_problem(422, "invalid_request");
    let json = app.request(Method::POST, "/v1/documents/bulk").json(&json!({}));
    send(json).await.assert_problem(415, "unsupported_media_type");
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job").await, 0);
    app.stop().await;
}
