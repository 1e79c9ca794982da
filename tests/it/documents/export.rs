//! An export can be read back.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    database,
    harness::{TestApp, body_of, part_of, send},
    scripted::ModelServer,
    wait,
};

async fn exported(app: &TestApp, collection: &str) -> String {
    let answer =
        app.request(Method::GET, &format!("/v1/collections/{collection}/export")).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/x-ndjson");
    body_of(answer).await
}

#[tokio::test]
async fn an_export_makes_the_same_collection_again() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    // More than are read at once.
    let documents: Vec<Value> = (0..120)
        .map(|number| {
            let acl = if number % 2 == 0 { json!({"allow": ["group:people"], "deny": ["user:bob"]}) } else { json!({}) };
            json!({"source": format!("folder/{number}.md"), "title": format!("Title {number}"), "uri": format!("https://example.org/{number}"),
                   "text": format!("# Heading {number}\n\nSome words, \"quoted\" – {number}."), "metadata": {"n": number}, "acl": acl})
        })
        .collect();
    let job = app.post("/v1/documents?wait=true", json!({"collection": "a", "documents": documents})).await;
    assert_eq!(job.body["state"], "succeeded", "{job:?}");
    let lines = exported(&app, "a").await;
    assert_eq!(lines.lines().count(), 120);
    let first = lines.lines().find(|line| line.contains("\"folder/0.md\"")).expect("a line");
    let one: Value = serde_json::from_str(first).expect("JSON");
    assert_eq!((&one["metadata"], &one["acl"]["deny"]), (&json!({"n": 0}), &json!(["user:bob"])), "{one}");
    let bulk = app.request(Method::POST, "/v1/documents/bulk?collection=b&wait=true");
    let back = send(bulk.header("content-type", "application/x-ndjson").body(lines.clone())).await;
    assert_eq!((back.status, &back.body["state"]), (200, &json!("succeeded")), "{back:?}");
    let again = exported(&app, "b").await;
    let set = |lines: &str| lines.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(set(&again), set(&lines));
    app.get("/v1/collections/nothing/export").await.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn large_texts_are_sent_one_after_the_other() {
    let server = ModelServer::start().await;
    let tight = [("CITED_MAX_BYTES_IN_FLIGHT", "1048576"), ("CITED_REQUEST_TIMEOUT_S", "2")];
    let app = TestApp::start_with_embeddings(&server, &tight).await;
    let documents = ["one.md", "two.md", "small.md"].map(|source| json!({"source": source, "text": "Sheep graze."}));
    let job = app.post("/v1/documents?wait=true", json!({"collection": "a", "documents": documents})).await;
    assert_eq!(job.body["state"], "succeeded", "{job:?}");
    // Larger than what stands in the buffers of a connection that nobody reads.
    let enlarge =
        "UPDATE document SET text = repeat('Sheep graze. ', 2000000), characters = 26000000 WHERE source <> 'small.md'";
    database::execute(&app.database, enlarge).await;
    let listed = app.get("/v1/documents?collection=a").await.body;
    let path = |source: &str| {
        let rows = listed["documents"].as_array().expect("documents");
        let row = rows.iter().find(|row| row["source"] == source).expect(source);
        format!("/v1/documents/{}/content", row["id"].as_str().expect("id"))
    };
    let unread = app.request(Method::GET, &path("one.md")).send().await.expect("an answer");
    assert_eq!(unread.status(), 200);
    let refused = app.get(&path("two.md")).await;
    refused.assert_problem(503, "downloads_busy");
    assert_eq!(refused.headers["retry-after"], "10");
    assert_eq!(app.get(&path("small.md")).await.status, 200);
    let mut export = app.request(Method::GET, "/v1/collections/a/export").send().await.expect("an answer");
    let broken_off = async {
        loop {
            match part_of(&mut export).await {
                Ok(Some(_)) => {}
                end => break end.is_err(),
            }
        }
    };
    assert!(broken_off.await, "it breaks off, which is no end");
    drop(unread);
    wait::until_ok("the room is free", async || {
        let answer = app.get(&path("two.md")).await;
        if answer.status == 200 { Ok(()) } else { Err(answer.status) }
    })
    .await;
    let lines = exported(&app, "a").await;
    let large = lines.lines().filter(|line| line.len() > 26_000_000);
    assert_eq!((lines.lines().count(), large.count()), (3, 2));
    app.end().await;
}
