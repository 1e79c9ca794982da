//! Jobs from outside: followed, stopped, tried again, reported; and what a delete does to them.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection};

use crate::{
    database,
    harness::{TestApp, body_of, part_of, send},
    scripted::{ModelServer, Reply, embed},
    wait,
};

/// Far less than what the scripts hold up, and more than a crawling machine needs.
const SOON: Duration = Duration::from_secs(10);

fn documents(collection: &str, count: usize) -> Value {
    let documents: Vec<Value> = (0..count)
        .map(|number| json!({"source": format!("d{number}.txt"), "text": format!("Document {number} tells of topic {number}.")}))
        .collect();
    json!({"collection": collection, "documents": documents})
}

async fn wait_for(app: &TestApp, id: &str, holds: impl Fn(&Value) -> bool) -> Value {
    wait::until_ok("the job gets there", async || {
        let job = app.get(&format!("/v1/jobs/{id}?items_limit=1")).await.body;
        if holds(&job) { Ok(job) } else { Err(job) }
    })
    .await
}

fn id_of(job: &Value) -> String {
    job["id"].as_str().expect("an id").to_owned()
}

/// Server-sent events, parsed: (event, id, data).
async fn events(app: &TestApp, id: &str, last: Option<&str>) -> (u16, Vec<(String, String, Value)>) {
    let mut request = app.request(Method::GET, &format!("/v1/jobs/{id}/events"));
    if let Some(last) = last {
        request = request.header("Last-Event-ID", last);
    }
    let response = request.send().await.expect("an answer");
    let status = response.status().as_u16();
    let text = tokio::time::timeout(Duration::from_mins(1), body_of(response)).await.expect("ends");
    let parse = |block: &str| {
        let field = |name: &str| {
            block
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
                .map(|value| value.trim().to_owned())
        };
        Some((field("event")?, field("id")?, serde_json::from_str(&field("data")?).expect("JSON")))
    };
    (status, text.split("\n\n").filter_map(parse).collect())
}

#[tokio::test]
async fn a_cancelled_job_stops_at_once_and_says_what_had_landed() {
    let server = ModelServer::start().await;
    server.delay_embeddings(Duration::from_millis(300));
    let app = TestApp::with_embeddings(&server).await;
    let job = app.post("/v1/documents", documents("c", 400)).await.body;
    let id = id_of(&job);
    wait_for(&app, &id, |job| job["counts"]["documents"].as_u64() > Some(0)).await;
    let started = Instant::now();
    let cancelled = app.post(&format!("/v1/jobs/{id}/cancel"), json!({})).await;
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert_eq!((cancelled.status, &cancelled.body["state"]), (200, &json!("cancelled")), "{cancelled:?}");
    let counts = cancelled.body["counts"].clone();
    let landed = counts["documents"].as_u64().expect("a count");
    assert!(landed > 0 && counts["cancelled"] == json!(400 - landed), "{counts}");
    tokio::time::sleep(Duration::from_millis(900)).await;
    let embedded = server.embedded().len();
    assert_eq!(app.get(&format!("/v1/jobs/{id}")).await.body["counts"], counts);
    assert_eq!(app.get("/v1/collections/c").await.body["documents"], landed);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(server.embedded().len(), embedded, "the workers stopped as well");
    app.post(&format!("/v1/jobs/{id}/cancel"), json!({})).await.assert_problem(409, "job_over");
    let items = app.get(&format!("/v1/jobs/{id}?items_state=cancelled&items_limit=1")).await.body;
    assert_eq!(items["items"][0]["cause"], "cancelled");
    // Cancelled documents can be sent again.
    server.delay_embeddings(Duration::ZERO);
    let again = app.post("/v1/documents?wait=true", documents("c", 400)).await.body;
    assert_eq!((&again["state"], &again["counts"]["unchanged"]), (&json!("succeeded"), &json!(landed)));
    app.stop().await;
}

#[tokio::test]
async fn a_cancel_answers_soon_even_when_settling_takes_longer() {
    let server = ModelServer::start().await;
    server.delay_embeddings(Duration::from_secs(2));
    let app = TestApp::with_embeddings(&server).await;
    let job = app.post("/v1/documents", documents("c", 400)).await.body;
    let id = id_of(&job);
    wait_for(&app, &id, |job| job["state"] == "running").await;
    // Settling cannot get past an item that somebody holds.
    let mut holder = app.database.connect().await.expect("the database answers");
    let mut held = holder.begin().await.expect("a transaction");
    sqlx::raw_sql("SELECT FROM job_item WHERE ordinal = 399 FOR UPDATE").execute(&mut *held).await.expect("held");
    let started = Instant::now();
    let answer = app.post(&format!("/v1/jobs/{id}/cancel"), json!({})).await;
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert_eq!((answer.status, &answer.body["state"]), (202, &json!("running")), "{answer:?}");
    let landed = answer.body["counts"]["documents"].clone();
    held.rollback().await.expect("let go");
    let job = wait_for(&app, &id, |job| job["finished_at"].is_string()).await;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("cancelled"), &landed), "{job}");
    assert_eq!(job["counts"]["cancelled"], json!(400 - landed.as_u64().expect("a count")), "{job}");
    app.stop().await;
}

#[tokio::test]
async fn a_cancel_that_died_half_way_is_finished_by_others() {
    let server = ModelServer::start().await;
    server.hold_embeddings(Some("topic"));
    let app = TestApp::with_embeddings(&server).await;
    let job = app.post("/v1/documents", documents("c", 300)).await.body;
    let id = id_of(&job);
    wait_for(&app, &id, |job| job["state"] == "running").await;
    database::execute(&app.database, &format!("UPDATE job SET cancelled_at = now() WHERE job_id = '{id}'")).await;
    let job = wait_for(&app, &id, |job| job["finished_at"].is_string()).await;
    assert_eq!((&job["state"], &job["counts"]["cancelled"]), (&json!("cancelled"), &json!(300)), "{job}");
    app.stop().await;
}

#[tokio::test]
async fn a_retry_redoes_what_failed_and_nothing_else() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    for _ in 0..2 {
        server.embedding_reply(Reply::Status(400, "{\"error\":{\"message\":\"cannot embed that\"}}".to_owned()));
    }
    let job = app.post("/v1/documents?wait=true", documents("c", 2)).await.body;
    let id = id_of(&job);
    assert_eq!((&job["state"], &job["counts"]["failed"]), (&json!("partial"), &json!(1)), "{job}");
    assert_eq!(job["failures"], json!([{"cause": "rejected", "documents": 1}]));
    let embedded = server.embedded().len();
    let retried = app.post(&format!("/v1/jobs/{id}/retry"), json!({})).await;
    assert_eq!((retried.status, &retried.body["counts"]["failed"]), (202, &json!(0)), "{retried:?}");
    let job = wait_for(&app, &id, |job| job["finished_at"].is_string()).await;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("succeeded"), &json!(2)), "{job}");
    assert_eq!(server.embedded().len(), embedded + 1, "only what had failed");
    app.post(&format!("/v1/jobs/{id}/retry"), json!({})).await.assert_problem(409, "nothing_to_retry");
    // Words that no vector was made for yet.
    server.hold_embeddings(Some("nowhere else"));
    let new = json!({"collection": "d", "documents": [{"source": "new.md", "text": "Words found nowhere else."}]});
    let running = app.post("/v1/documents", new).await.body;
    app.post(&format!("/v1/jobs/{}/retry", id_of(&running)), json!({})).await.assert_problem(409, "job_not_over");
    server.hold_embeddings(None);
    wait_for(&app, &id_of(&running), |job| job["finished_at"].is_string()).await;
    app.stop().await;
}

#[tokio::test]
async fn a_retried_old_upload_does_not_overwrite_a_newer_one() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    server.embedding_reply(Reply::Status(400, "no".to_owned()));
    let body = |text: &str| json!({"collection": "c", "documents": [{"source": "a.md", "text": text}]});
    let old = app.post("/v1/documents?wait=true", body("Old words.")).await.body;
    assert_eq!(old["state"], "failed", "{old}");
    app.ingest("c", &[("a.md", "New words.")]).await;
    app.post(&format!("/v1/jobs/{}/retry", id_of(&old)), json!({})).await;
    let job = wait_for(&app, &id_of(&old), |job| job["finished_at"].is_string()).await;
    assert_eq!(job["counts"]["unchanged"], 1, "{job}");
    let listed = app.get("/v1/documents?collection=c").await.body;
    let path = format!("/v1/documents/{}/content", listed["documents"][0]["id"].as_str().expect("id"));
    assert_eq!(app.get(&path).await.body["text"], "New words.");
    app.stop().await;
}

#[tokio::test]
async fn a_job_is_followed_to_its_end_and_again_from_any_event() {
    let server = ModelServer::start().await;
    // The last claim waits until the rest of it can be estimated, and that has been told.
    server.hold_embeddings(Some("Document 299 "));
    let app = TestApp::with_embeddings(&server).await;
    let job = app.post("/v1/documents", documents("c", 300)).await.body;
    let id = id_of(&job);
    let release = async {
        wait_for(&app, &id, |job| job["progress"]["seconds_left"].is_number()).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        server.hold_embeddings(None);
    };
    let ((status, seen), ()) = tokio::join!(events(&app, &id, None), release);
    assert_eq!(status, 200);
    let (last, progress) = seen.split_last().expect("events");
    assert_eq!(
        (last.0.as_str(), &last.2["state"], &last.2["counts"]["documents"]),
        ("end", &json!("succeeded"), &json!(300))
    );
    assert!(progress.len() >= 2 && progress.iter().all(|(name, ..)| name == "progress"), "{}", progress.len());
    let settled: Vec<u64> =
        progress.iter().map(|(_, _, data)| data["progress"]["settled"].as_u64().expect("n")).collect();
    assert!(settled.is_sorted(), "{settled:?}");
    assert!(progress.iter().any(|(_, _, data)| data["progress"]["seconds_left"].is_number()));
    assert!(progress.iter().any(|(_, _, data)| data["progress"]["heartbeat_age_s"].is_number()));
    // A client that missed events gets the current state; one that has the last event gets 204 and does not reconnect.
    let (status, missed) = events(&app, &id, Some(&progress[0].1)).await;
    assert_eq!((status, missed.len(), &missed[0].1), (200, 1, &last.1));
    assert_eq!(events(&app, &id, Some(&last.1)).await.0, 204);
    app.get("/v1/jobs/00000000-0000-7000-8000-000000000000/events").await.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn followers_do_not_hold_up_a_stop() {
    let server = ModelServer::start().await;
    server.delay_embeddings(Duration::from_secs(2));
    let app = TestApp::with_embeddings(&server).await;
    let job = app.post("/v1/documents", documents("c", 200)).await.body;
    let mut follower =
        app.request(Method::GET, &format!("/v1/jobs/{}/events", id_of(&job))).send().await.expect("an answer");
    assert!(part_of(&mut follower).await.expect("open").is_some());
    let started = Instant::now();
    app.stop().await;
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    while part_of(&mut follower).await.expect("ends well").is_some() {}
}

#[tokio::test]
async fn the_report_says_where_time_and_documents_went() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let same = |source: &str| json!({"source": source, "title": "Same", "text": "The same words."});
    app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": [same("a.txt")]})).await;
    let documents = json!([same("a.txt"), same("b.txt"), {"source": "c.txt", "text": "Other words."},
        {"source": "d.txt", "text": " "}, {"source": "e.txt", "text": "\n"}, {"source": "f.bin", "text": "a\u{0}b"}]);
    let job = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": documents})).await.body;
    assert_eq!(
        job["counts"],
        json!({"items": 6, "searchable": 3, "complete": 3, "documents": 2, "chunks": 2, "unchanged": 1, "failed": 3, "cancelled": 0,
               "embedding_calls": 1, "reused_vectors": 1})
    );
    assert_eq!(job["failures"], json!([{"cause": "empty", "documents": 2}, {"cause": "binary", "documents": 1}]));
    let stages: Vec<(&str, u64)> = job["stages"]
        .as_array()
        .expect("stages")
        .iter()
        .map(|stage| (stage["stage"].as_str().expect("name"), stage["documents"].as_u64().expect("count")))
        .collect();
    assert_eq!(stages, [("load", 6), ("extract", 2), ("split", 2), ("embed", 2), ("store", 2)], "{job}");
    assert!(job["stages"].as_array().expect("stages").iter().all(|stage| stage["seconds"].is_number()));
    assert_eq!(job["progress"], json!(null));
    app.stop().await;
}

#[tokio::test]
async fn the_report_says_what_embeddings_cost() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_EMBEDDING_USD_PER_MILLION", "2000")]).await;
    // The scripted server counts one token for each text; what it does not count, the service does.
    let job =
        app.ingest("c", &[("a.txt", "First words."), ("b.txt", "Second words."), ("c.txt", "Third words.")]).await;
    assert_eq!(job["embeddings"], json!({"tokens": 3, "cost_usd": 0.006, "estimated": false}), "{job}");
    assert_eq!(job["cost_usd"], 0.006, "{job}");
    let uncounted = json!({"data": [{"embedding": embed("Fourth words.")}]});
    server.embedding_reply(Reply::Body(uncounted.to_string()));
    let job = app.ingest("c", &[("d.txt", "Fourth words.")]).await;
    let spent = &job["embeddings"];
    assert_eq!((&job["state"], &spent["estimated"]), (&json!("succeeded"), &json!(true)), "{job}");
    let tokens = spent["tokens"].as_f64().expect("tokens");
    assert!(tokens > 2.0, "two words, a full stop, and the title: {job}");
    assert_eq!(job["cost_usd"], tokens * 0.002, "{job}");
    let unchanged = app.ingest("c", &[("a.txt", "First words.")]).await;
    assert_eq!((&unchanged["embeddings"]["tokens"], &unchanged["cost_usd"]), (&json!(0), &json!(0.0)), "{unchanged}");
    app.stop().await;
}

#[tokio::test]
async fn what_was_answered_before_a_failure_is_billed() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_EMBEDDING_USD_PER_MILLION", "1")]).await;
    // Two requests of 16 texts; the first is answered, the second refused for now, and then all are sent again.
    let text: Vec<String> = (0..32).map(|number| format!("Topic {number} stands alone here.")).collect();
    let documents: Vec<Value> = text.iter().map(|text| json!({"source": text, "text": text})).collect();
    server.refuse_embedding_once("Topic 31");
    let job = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": documents})).await.body;
    let job = app.ended_job(job["id"].as_str().expect("id")).await;
    assert_eq!((&job["state"], &job["embeddings"]["tokens"]), (&json!("succeeded"), &json!(48)), "{job}");
    app.stop().await;
}

#[tokio::test]
async fn jobs_are_filtered_by_collection_and_time() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("one", &[("a.md", "Words.")]).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let second = app.ingest("two", &[("a.md", "Words.")]).await;
    let listed = async |query: &str| {
        let page = app.get(&format!("/v1/jobs?{query}")).await;
        assert_eq!(page.status, 200, "{page:?}");
        let names = page.body["jobs"].as_array().expect("jobs").iter();
        names.map(|job| job["collection"].as_str().expect("name").to_owned()).collect::<Vec<_>>()
    };
    let moment = second["created_at"].as_str().expect("a time").replace('+', "%2B");
    assert_eq!(listed("collection=one").await, ["one"]);
    assert_eq!(listed(&format!("created_after={moment}")).await, ["two"]);
    assert_eq!(listed(&format!("created_before={moment}")).await, ["one"]);
    assert_eq!(listed("collection=none").await, Vec::<String>::new());
    app.get("/v1/jobs?created_after=yesterday").await.assert_problem(422, "invalid_request");
    app.stop().await;
}

#[tokio::test]
async fn a_delete_by_prefix_takes_what_is_stored_and_what_waits() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("hr/a.md", "Leave of walruses."), ("hr/b.md", "Pay."), ("it/a.md", "Leave of giraffes.")]).await;
    server.delay_embeddings(Duration::from_secs(2));
    let documents = json!([{"source": "hr/c.md", "text": "New."}, {"source": "it/b.md", "text": "Stays."}, {"source": "hr/a.md", "text": "Changed."}]);
    let job = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await.body;
    let id = id_of(&job);
    wait_for(&app, &id, |job| job["state"] == "running").await;
    let receipt = send(app.request(Method::DELETE, "/v1/documents?collection=c&source_prefix=hr/")).await;
    assert_eq!(receipt.status, 200, "{receipt:?}");
    let terms = receipt.body["terms"].as_u64().expect("a count");
    assert_eq!(
        receipt.body,
        json!({"documents": 2, "chunks": 2, "vectors": 2, "terms": terms, "answers": 0, "queue_items": 2, "failed_items": 0})
    );
    assert!(terms >= 2);
    // The rest of the batch lands all the same, and soon.
    let job = wait_for(&app, &id, |job| job["finished_at"].is_string()).await;
    assert_eq!((&job["counts"]["documents"], &job["counts"]["cancelled"]), (&json!(1), &json!(2)), "{job}");
    let listed = app.get("/v1/documents?collection=c").await.body;
    let mut sources: Vec<&str> =
        listed["documents"].as_array().expect("list").iter().filter_map(|one| one["source"].as_str()).collect();
    sources.sort_unstable();
    assert_eq!(sources, ["it/a.md", "it/b.md"]);
    assert_eq!(
        database::number(&app.database, "SELECT count(*) FROM term_statistic WHERE document_frequency = 0").await,
        0
    );
    let nothing = send(app.request(Method::DELETE, "/v1/documents?collection=c&source_prefix=hr/")).await;
    assert_eq!(nothing.body["documents"], 0);
    for query in ["collection=c", "source_prefix=hr/", "collection=c&source_prefix="] {
        send(app.request(Method::DELETE, &format!("/v1/documents?{query}")))
            .await
            .assert_problem(422, "invalid_request");
    }
    send(app.request(Method::DELETE, "/v1/documents?collection=no&source_prefix=a"))
        .await
        .assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn what_is_deleted_does_not_come_back_from_the_queue() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let job = app.ingest("c", &[("a.md", "First words.")]).await;
    let document = job["items"][0]["document_id"].as_str().expect("id").to_owned();
    server.hold_embeddings(Some("Second"));
    let body = json!({"collection": "c", "documents": [{"source": "a.md", "text": "Second words."}]});
    let replacing = app.post("/v1/documents", body).await.body;
    wait_for(&app, &id_of(&replacing), |job| job["state"] == "running").await;
    let receipt = app.delete(&format!("/v1/documents/{document}")).await.body;
    assert_eq!((&receipt["documents"], &receipt["queue_items"]), (&json!(1), &json!(1)), "{receipt}");
    let job = wait_for(&app, &id_of(&replacing), |job| job["finished_at"].is_string()).await;
    assert_eq!(job["state"], "cancelled", "{job}");
    server.hold_embeddings(Some("Third"));
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(app.get("/v1/documents?collection=c").await.body["documents"], json!([]));
    // A collection takes its queue with it as well.
    let body = json!({"collection": "c", "documents": [{"source": "b.md", "text": "Third words."}]});
    let waiting = app.post("/v1/documents", body).await.body;
    let receipt = app.delete("/v1/collections/c").await.body;
    assert_eq!(receipt["queue_items"], 1, "{receipt}");
    server.hold_embeddings(None);
    let job = wait_for(&app, &id_of(&waiting), |job| job["finished_at"].is_string()).await;
    assert_eq!(job["state"], "cancelled", "{job}");
    app.stop().await;
}
