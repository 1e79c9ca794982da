//! Citations looked up later: current, superseded, deleted.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    database,
    harness::{Answer, TestApp, send, slice},
    scripted::ModelServer,
};

const OLD: &str =
    "# Leave\n\nÉveryone has 28 days of paid leave a year. 👍\n\n# Sick\n\nTell your lead on the first day.";
const NEW: &str = "# News\n\nMuch is new here.\n\n# Leave\n\nEveryone has 30 days of paid leave a year.";

async fn look_up(app: &TestApp, urn: &str) -> Answer {
    app.get(&format!("/v1/citations/{}", utf8_percent_encode(urn, NON_ALPHANUMERIC))).await
}

async fn search(app: &TestApp, collection: &str) -> Vec<Value> {
    let body = json!({"query": "paid leave lead", "collections": [collection], "mode": "lexical"});
    let found = app.post("/v1/search", body).await;
    assert_eq!(found.status, 200, "{found:?}");
    found.body["results"].as_array().expect("results").clone()
}

#[tokio::test]
async fn a_citation_outlives_its_document() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("staff handbook/ü", &[("leave.md", OLD)]).await;
    let source = &search(&app, "staff handbook/ü").await[0];
    let (urn, id) = (source["urn"].as_str().expect("urn"), source["document_id"].as_str().expect("id"));

    let current = look_up(&app, urn).await;
    assert_eq!((current.status, &current.body["status"]), (200, &json!("current")), "{current:?}");
    assert_eq!((&current.body["urn"], &current.body["collection"]), (&json!(urn), &json!("staff handbook/ü")));
    let passage = &current.body["passage"];
    for member in ["text", "start", "end", "source", "title", "heading", "content_hash"] {
        assert_eq!(passage[member], source[member], "{member}");
    }
    assert_eq!(slice(OLD, &passage["start"], &passage["end"]), passage["text"].as_str().expect("text"));

    app.ingest("staff handbook/ü", &[("leave.md", NEW)]).await;
    app.ingest("staff handbook/ü", &[("leave.md", &format!("{NEW} And more."))]).await;
    let superseded = look_up(&app, urn).await;
    assert_eq!((superseded.status, &superseded.body["status"]), (200, &json!("superseded")), "{superseded:?}");
    assert_eq!((&superseded.body["version"], &superseded.body["current_version"]), (&json!(1), &json!(3)));
    assert_eq!(&superseded.body["passage"], passage, "as it was when it was cited");
    assert!(superseded.body["superseded_at"].is_string() && superseded.body["still_said"] == false);
    let second = urn.replace("@1#", "@2#");
    let second = look_up(&app, &second).await;
    assert_eq!(
        (&second.body["status"], &second.body["still_said"]),
        (&json!("superseded"), &json!(true)),
        "{second:?}"
    );

    assert_eq!(app.delete(&format!("/v1/documents/{id}")).await.status, 200);
    let deleted = look_up(&app, urn).await;
    assert_eq!((deleted.status, &deleted.body["status"]), (200, &json!("deleted")), "{deleted:?}");
    assert!(deleted.body["passage"].is_null() && deleted.body["deleted_at"].is_string());
    let kept = "SELECT count(*) FROM document_version";
    assert_eq!(database::number(&app.database, kept).await, 0, "a delete takes former versions along");
    app.stop().await;
}

#[tokio::test]
async fn a_deleted_collection_leaves_only_that_it_was_deleted() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("leave.md", OLD)]).await;
    app.ingest("c", &[("leave.md", NEW)]).await;
    let urn = search(&app, "c").await[0]["urn"].as_str().expect("urn").to_owned();
    assert_eq!(app.delete("/v1/collections/c").await.status, 200);
    for urn in [urn.clone(), urn.replace("@2#", "@1#")] {
        let deleted = look_up(&app, &urn).await;
        assert_eq!((deleted.status, &deleted.body["status"]), (200, &json!("deleted")), "{deleted:?}");
    }
    look_up(&app, &urn.replace("@2#", "@3#")).await.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn merged_passages_are_one_citation() {
    let app = TestApp::built_in().await;
    let paragraph = |number: usize| {
        let filler: Vec<String> = (0..60).map(|place| format!("w{number}x{place}")).collect();
        format!("The zebra of part {number} is striped. {}.", filler.join(" "))
    };
    let text = (0..6).map(paragraph).collect::<Vec<_>>().join("\n\n");
    app.ingest("c", &[("long.md", &text)]).await;
    let found = app.post("/v1/search", json!({"query": "zebra", "collections": ["c"], "mode": "lexical"})).await;
    let source = &found.body["results"][0];
    let urn = source["urn"].as_str().expect("urn");
    assert!(urn.rsplit('#').next().is_some_and(|chunks| chunks.contains('-')), "{urn}");
    let current = look_up(&app, urn).await;
    assert_eq!(current.body["passage"]["text"], source["text"], "{current:?}");
    app.ingest("c", &[("long.md", "Something else.")]).await;
    let superseded = look_up(&app, urn).await;
    let passage = &superseded.body["passage"];
    assert_eq!(passage["text"], source["text"]);
    assert_eq!(slice(&text, &passage["start"], &passage["end"]), source["text"].as_str().expect("text"));
    app.stop().await;
}

#[tokio::test]
async fn what_never_was_is_not_found() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("leave.md", OLD)]).await;
    app.ingest("other", &[("other.md", NEW)]).await;
    let urn = search(&app, "c").await[0]["urn"].as_str().expect("urn").to_owned();
    let unknown = [
        urn.replace("cited:c/", "cited:other/"),
        urn.replace("@1#", "@2#"),
        urn.replace("#0", "#9"),
        "cited:c/leave@1#0".to_owned(),
        "cited:c/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@1#0".to_owned(),
    ];
    for unknown in unknown {
        look_up(&app, &unknown).await.assert_problem(404, "not_found");
    }
    for malformed in ["cited:c", "urn:c/d@1#0", "cited:c/d@0#0"] {
        let answer = look_up(&app, malformed).await;
        answer.assert_problem(422, "invalid_request");
        assert!(answer.body["detail"].as_str().is_some_and(|detail| detail.contains("%23")), "{answer:?}");
    }
    // A client that forgets to encode loses the fragment, and is told.
    let cut = send(app.request(Method::GET, &format!("/v1/citations/{}", urn.replace('/', "%2F")))).await;
    cut.assert_problem(422, "invalid_request");
    app.stop().await;
}
