//! Streams that are under way when their key is revoked.

use std::time::Duration;

use futures::channel::mpsc;
use reqwest::{Body, Method, Response};
use serde_json::{Value, json};

use super::{
    keys::{SETTINGS, call, create},
    world::{OPERATOR, text},
};
use crate::{
    harness::{TestApp, part_of, send},
    scripted::ModelServer,
    wait,
};

const PATIENCE: Duration = Duration::from_mins(1);

async fn follow(app: &TestApp, key: &str, job: &str) -> Response {
    let events = app.request(Method::GET, &format!("/v1/jobs/{job}/events")).bearer_auth(key).send().await;
    let mut events = events.expect("it is answered");
    assert!(part_of(&mut events).await.expect("the beginning").is_some());
    events
}

/// All that is left of a stream, and whether it came to its end.
async fn rest(mut events: Response) -> (String, bool) {
    let mut rest = String::new();
    loop {
        match tokio::time::timeout(PATIENCE, part_of(&mut events)).await.expect("it ends") {
            Ok(Some(part)) => rest.push_str(&part),
            end => return (rest, end.is_ok()),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_under_way_break_off_when_their_key_is_revoked() {
    let models = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&models, &SETTINGS).await;
    let (key, id) = create(&app, json!({"name": "one", "scopes": ["ingest", "read"]})).await;
    models.hold_embeddings(Some("Boats"));
    let body = json!({"collection": "c", "documents": [{"source": "a.md", "text": "Boats land here."}]});
    let job = call(&app, &key, Method::POST, "/v1/documents", Some(body)).await;
    assert_eq!(job.status, 202, "{job:?}");
    let job = text(&job.body["id"]);
    let (theirs, of_operator) = (follow(&app, &key, &job).await, follow(&app, OPERATOR, &job).await);
    let (sender, receiver) = mpsc::unbounded::<Result<String, std::io::Error>>();
    let bulk = app.request(Method::POST, "/v1/documents/bulk?collection=d").bearer_auth(&key);
    let bulk = bulk.header("content-type", "application/x-ndjson").body(Body::wrap_stream(receiver));
    let bulk = tokio::spawn(send(bulk));
    let line = json!({"source": "b.md", "text": "Ships lie there."});
    sender.unbounded_send(Ok(format!("{line}\n"))).expect("open");
    wait::until("the stream has a job", async || {
        let jobs = call(&app, OPERATOR, Method::GET, "/v1/jobs?collection=d", None).await;
        jobs.body["jobs"].as_array().is_some_and(|jobs| jobs.len() == 1)
    })
    .await;
    let revoked = call(&app, OPERATOR, Method::DELETE, &format!("/v1/keys/{id}"), None).await;
    assert_eq!(revoked.status, 200, "{revoked:?}");
    let (events, is_whole) = rest(theirs).await;
    assert!(!is_whole && !events.contains("event: end"), "{events}");
    let broken = tokio::time::timeout(PATIENCE, bulk).await.expect("it ends").expect("no panic");
    broken.assert_problem(400, "unreadable_body");
    assert!(
        broken.body["detail"].as_str().is_some_and(|detail| detail.contains("is not valid any more")),
        "{broken:?}"
    );
    // What had arrived is kept, as of any stream that breaks off.
    let kept = text(&broken.body["job"]);
    let kept = async || call(&app, OPERATOR, Method::GET, &format!("/v1/jobs/{kept}"), None).await.body;
    wait::until("it is over", async || kept().await["finished_at"].is_string()).await;
    let kept = kept().await;
    assert_eq!((&kept["is_incomplete"], &kept["counts"]["documents"]), (&Value::Bool(true), &json!(1)), "{kept}");
    models.hold_embeddings(None);
    let (events, is_whole) = rest(of_operator).await;
    assert!(is_whole && events.contains("event: end"), "another key's goes on: {events}");
    drop(sender);
    app.stop().await;
}
