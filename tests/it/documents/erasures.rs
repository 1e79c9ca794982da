//! An erasure leaves no word and no name of a document in any table, and says what it leaves.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor, Row};

use crate::{
    database,
    harness::{TestApp, send},
    scripted::ModelServer,
    wait,
};

/// Names of the tables that hold the word in any column.
async fn tables_with(app: &TestApp, word: &str) -> Vec<String> {
    let mut connection = app.database.connect().await.expect("connect");
    let names = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'";
    let rows = connection.fetch_all(names).await.expect("tables");
    connection.close().await.expect("close");
    let mut found = Vec::new();
    for table in rows.iter().map(|row| row.get::<String, _>(0)) {
        // Bytes are shown as hexadecimal digits.
        let sql = format!(
            "SELECT count(*) FROM {table} WHERE to_jsonb({table})::text ILIKE '%{word}%'
             OR to_jsonb({table})::text LIKE '%' || encode('{word}', 'hex') || '%'"
        );
        if database::number(&app.database, &sql).await > 0 {
            found.push(table);
        }
    }
    found.sort();
    found
}

/// Stores two versions of a document, by a request that is kept, and asks about it.
async fn fill(app: &TestApp, collection: &str) -> String {
    let mut id = Value::Null;
    for text in ["The canaryword grows in the office.", "The canaryword grows in the garden."] {
        let document =
            json!({"source": "canaryword.md", "title": "canaryword", "text": text, "metadata": {"canaryword": 1}});
        let failing = json!({"source": "canaryword-empty.md", "text": " "});
        let body = json!({"collection": collection, "documents": [document, failing]});
        let upload = app.request(Method::POST, "/v1/documents?wait=true").json(&body);
        let job = send(upload.header("idempotency-key", format!("{collection} {text}"))).await;
        assert_eq!(job.status, 200, "{job:?}");
        id = job.body["items"][0]["document_id"].clone();
    }
    let question =
        json!({"question": "Where does the canaryword grow?", "collections": [collection], "cache": {"ttl_s": 300}});
    let answer = app.ask(question).await;
    assert!(answer.body["sources"].to_string().contains("canaryword"), "{answer:?}");
    id.as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn nothing_of_a_document_is_left_in_any_table() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let id = fill(&app, "c").await;
    assert!(tables_with(&app, "canaryword").await.len() >= 6, "the search finds what is there");
    let acl = json!({"allow": ["user:member", "user:listedword"]});
    let listed = send(app.request(Method::PUT, &format!("/v1/documents/{id}/acl")).json(&acl)).await;
    assert_eq!(listed.status, 200, "{listed:?}");
    let made = app.post("/v1/erasures", json!({"document": id, "asks": true})).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.body["subject"], json!([format!("document:{id}")]));
    let erased = &made.body["erased"];
    let numbers = ["documents", "versions", "job_items", "replies", "asks", "answers"].map(|name| &erased[name]);
    assert_eq!(numbers, [1, 2, 2, 2, 1, 1], "{erased}");
    let made_of_another = app.post("/v1/erasures", json!({"collection": "c", "source": "canaryword-empty.md"})).await;
    assert_eq!(made_of_another.body["erased"]["job_items"], 2, "a document that never was has a name too");
    assert_eq!(tables_with(&app, "canaryword").await, [""; 0]);
    assert_eq!(tables_with(&app, "listedword").await, ["principal"]);
    let remains = made.body["remains"].to_string();
    assert!(remains.contains("users and groups") && remains.contains("names in access control lists"), "{remains}");
    assert!(remains.contains("backups") && remains.contains("write-ahead log") && !remains.contains("audit of asks"));
    let kept = app.get(&format!("/v1/erasures/{}", made.body["id"].as_str().expect("an id"))).await;
    assert_eq!(kept.body, made.body);
    let listed = app.get("/v1/erasures?limit=1").await.body;
    assert_eq!((&listed["erasures"][0], listed["next_cursor"].is_string()), (&made_of_another.body, true));
    app.post("/v1/erasures", json!({"document": id})).await.assert_problem(404, "not_found");
    app.stop().await;
}

/// A backup brings back what was erased since; the receipts say what to erase again.
#[tokio::test]
async fn receipts_that_are_sent_again_erase_what_a_restore_brings_back() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let documents = json!([
        {"source": "canaryword.md", "text": "The canaryword grows in the office."},
        {"source": "second.md", "text": "A canaryword."},
        {"source": "kept.md", "text": "Words."},
    ]);
    let job = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": documents})).await;
    assert_eq!((job.status, &job.body["state"]), (200, &json!("succeeded")), "{job:?}");
    let question =
        json!({"question": "Where does the canaryword grow?", "collections": ["c"], "cache": {"ttl_s": 300}});
    assert!(app.ask(question).await.body["sources"].to_string().contains("canaryword"));
    let of_the_day = app.database.clone();
    app.stop().await;
    let backup = database::copy_of(&of_the_day).await;
    let url = server.base_url();
    let models = [("CITED_EMBEDDING_BASE_URL", url.as_str()), ("CITED_EMBEDDING_MODEL", "scripted-embedding")];

    let app = TestApp::start(of_the_day, &models).await;
    for source in ["canaryword.md", "second.md"] {
        let made = app.post("/v1/erasures", json!({"collection": "c", "source": source, "asks": true})).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    assert_eq!(tables_with(&app, "canaryword").await, [""; 0]);
    let receipts = app.get("/v1/erasures").await.body["erasures"].clone();
    app.stop().await;

    let app = TestApp::start(backup, &models).await;
    assert!(tables_with(&app, "canaryword").await.len() >= 4, "it is back");
    let known = app.get("/v1/erasures").await.body["erasures"].clone();
    let known = known.as_array().expect("receipts");
    let mut again = 0;
    for receipt in receipts.as_array().expect("receipts") {
        let id = receipt["subject"][0].as_str().and_then(|subject| subject.strip_prefix("document:"));
        let made = app.post("/v1/erasures", json!({"document": id.expect("an id"), "asks": true})).await;
        // What had been erased before the backup was made is not in it.
        if known.contains(receipt) {
            made.assert_problem(404, "not_found");
            continue;
        }
        assert_eq!((made.status, &made.body["subject"]), (201, &receipt["subject"]), "{made:?}");
        again += 1;
    }
    assert_eq!(again, 2);
    assert_eq!(tables_with(&app, "canaryword").await, [""; 0]);
    assert_eq!(app.get("/v1/collections/c").await.body["documents"], 1, "what was not erased is there");
    app.stop().await;
}

#[tokio::test]
async fn asks_are_left_and_told_unless_they_are_to_go() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    fill(&app, "c").await;
    let made = app.post("/v1/erasures", json!({"collection": "c", "source": "canaryword.md"})).await;
    assert_eq!(made.body["erased"]["asks"], 0, "{made:?}");
    let asks = &made.body["remains"][0];
    assert_eq!((&asks["place"], asks["until"].is_string()), (&json!("audit of asks"), true), "{made:?}");
    assert!(asks["holds"].as_str().expect("words").starts_with("1 asks"), "{asks}");
    app.stop().await;
}

#[tokio::test]
async fn a_collection_goes_with_its_jobs_and_asks_and_others_stay() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    fill(&app, "gone").await;
    app.ingest("kept", &[("a.md", "Other words.")]).await;
    let made = app.post("/v1/erasures", json!({"collection": "gone", "asks": true})).await;
    assert_eq!(
        (made.status, &made.body["erased"]["documents"], &made.body["erased"]["asks"]),
        (201, &json!(1), &json!(1))
    );
    assert_eq!(tables_with(&app, "canaryword").await, [""; 0]);
    assert_eq!(app.get("/v1/collections/gone").await.status, 404);
    assert_eq!(app.get("/v1/jobs").await.body["jobs"].as_array().expect("jobs").len(), 1);
    assert_eq!(app.get("/v1/collections/kept").await.body["documents"], 1);
    for body in [
        json!({}),
        json!({"document": "019ee0a1-6f0b-7d52-9a40-5f1b8f0f6a11", "collection": "kept"}),
        json!({"source": "a.md"}),
    ] {
        app.post("/v1/erasures", body).await.assert_problem(422, "invalid_request");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_deleted_some_time_after_their_end() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("a.md", "Some words.")]).await;
    let aged = "UPDATE job SET finished_at = now() - interval '2 days'";
    database::execute(&app.database, aged).await;
    app.ingest("c", &[("b.md", "Other words.")]).await;
    let url = server.base_url();
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", url.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_JOB_RETENTION_DAYS", "1"),
    ];
    let sweeping = TestApp::start(app.database.clone(), &settings).await;
    wait::until("the old job is gone", async || {
        app.get("/v1/jobs").await.body["jobs"].as_array().expect("jobs").len() == 1
    })
    .await;
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job_item").await, 1);
    assert_eq!(app.get("/v1/collections/c").await.body["documents"], 2);
    app.stop().await;
    sweeping.stop().await;
}
