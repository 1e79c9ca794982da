//! Other settings for the chunks of a collection that is in use.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    database,
    harness::{Answer, TestApp, client, send},
    process::{Process, ended_job},
    scripted::{ModelServer, Reply, Role, poll_until},
};

const GUIDE: &str = "# Harbour\n\n## Boats\n\nBoats land at the northern pier every morning at seven.\n\nThey leave again at \
    noon, save on Sundays, when they stay until the evening.\n\n## Trains\n\nTrains leave from platform two every hour.\n\n\
    The last one goes at ten in the evening and stops at all stations.\n";

async fn resplit(app: &TestApp, body: &Value) -> Value {
    let answer = begin(app, body).await;
    assert_eq!((answer.status, &answer.body["kind"]), (202, &json!("resplit")), "{answer:?}");
    let id = answer.body["id"].as_str().expect("an id").to_owned();
    assert_eq!(answer.headers["location"], format!("/v1/jobs/{id}"));
    app.ended_job(&id).await
}

async fn begin(app: &TestApp, body: &Value) -> Answer {
    app.post("/v1/collections/c/resplit", body.clone()).await
}

fn small() -> Value {
    json!({"splitter": {"kind": "recursive", "size": 20, "overlap": 0}})
}

async fn document(app: &TestApp, source: &str) -> Value {
    let listed = app.get(&format!("/v1/documents?collection=c&source_prefix={source}")).await.body;
    listed["documents"][0].clone()
}

async fn chunks(app: &TestApp, source: &str) -> Vec<Value> {
    let document = document(app, source).await;
    let id = document["id"].as_str().expect("an id");
    app.get(&format!("/v1/documents/{id}/chunks")).await.body["chunks"].as_array().expect("chunks").clone()
}

/// What a fresh upload with the same settings makes of a document: text, range, page, headings.
fn shape(chunks: &[Value]) -> Vec<Value> {
    chunks.iter().map(|c| json!([c["text"], c["start"], c["end"], c["page"], c["heading"], c["splitter"]])).collect()
}

#[tokio::test]
async fn stored_documents_are_split_as_if_they_came_anew() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let pdf = std::fs::read("tests/corpus/files/leave.pdf").expect("a file");
    let html = std::fs::read("tests/corpus/files/leave.html").expect("a file");
    for collection in ["c", "fresh"] {
        let settings = if collection == "c" {
            json!({"name": "c"})
        } else {
            json!({"name": "fresh", "splitter": small()["splitter"]})
        };
        assert_eq!(app.post("/v1/collections", settings).await.status, 201);
        app.ingest(collection, &[("guide.md", GUIDE)]).await;
        let form = [("leave.pdf", &pdf), ("leave.html", &html)]
            .into_iter()
            .fold(reqwest::multipart::Form::new().text("collection", collection), |form, (name, bytes)| {
                form.part("file", reqwest::multipart::Part::bytes(bytes.clone()).file_name(name))
            });
        let sent = send(app.request(Method::POST, "/v1/documents?wait=true").multipart(form)).await;
        assert_eq!((sent.status, &sent.body["state"]), (200, &json!("succeeded")), "{sent:?}");
    }
    let before = chunks(&app, "guide.md").await;
    let cited = format!("cited:c/{}@1#0", document(&app, "guide.md").await["id"].as_str().expect("an id"));
    let embedded = server.embedded().len();

    let job = resplit(&app, &small()).await;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("succeeded"), &json!(3)), "{job}");
    assert_eq!(job["counts"]["embedding_calls"], 0, "the other collection has all these vectors already: {job}");
    assert_eq!(job["counts"]["reused_vectors"], job["counts"]["chunks"], "{job}");
    assert_eq!(server.embedded().len(), embedded);
    for source in ["guide.md", "leave.pdf", "leave.html"] {
        let fresh = app.get(&format!("/v1/documents?collection=fresh&source_prefix={source}")).await.body;
        let id = fresh["documents"][0]["id"].as_str().expect("an id");
        let fresh =
            app.get(&format!("/v1/documents/{id}/chunks")).await.body["chunks"].as_array().expect("chunks").clone();
        assert_eq!(shape(&chunks(&app, source).await), shape(&fresh), "{source}");
    }
    assert!(chunks(&app, "guide.md").await.len() > before.len());
    assert_eq!(app.get("/v1/collections/c").await.body["splitter"]["size"], 20);

    // It is a new version of the same document; what was cited is still told.
    assert_eq!(document(&app, "guide.md").await["version"], 2);
    let citation =
        app.get(&format!("/v1/citations/{}", cited.replace(':', "%3A").replace('/', "%2F").replace('#', "%23"))).await;
    assert_eq!((citation.status, &citation.body["status"]), (200, &json!("superseded")), "{citation:?}");

    // Nothing is left to do, neither for another job nor for the same upload.
    let again = resplit(&app, &json!({})).await;
    assert_eq!((&again["counts"]["unchanged"], &again["counts"]["documents"]), (&json!(3), &json!(0)), "{again}");
    let sent = app.ingest("c", &[("guide.md", GUIDE)]).await;
    assert_eq!(sent["counts"]["unchanged"], 1, "{sent}");

    // Back again, with the vectors of the chunks that were there before where they are the same now.
    let back = resplit(&app, &json!({"splitter": {}})).await;
    assert_eq!(back["state"], "succeeded", "{back}");
    assert_eq!(shape(&chunks(&app, "guide.md").await), shape(&before));
    app.stop().await;
}

#[tokio::test]
async fn wrong_wishes_are_explained() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    begin(&app, &small()).await.assert_problem(404, "not_found");
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    let wrong = begin(&app, &json!({"splitter": {"size": 3}})).await;
    wrong.assert_problem(422, "invalid_request");
    assert_eq!(wrong.pointers(), ["/splitter/size"]);
    let nobody = begin(&app, &json!({"context": {}})).await;
    nobody.assert_problem(422, "invalid_request");
    assert_eq!(nobody.pointers(), ["/context"]);
    assert_eq!(resplit(&app, &small()).await["state"], "succeeded", "of an empty collection");
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    assert!(chunks(&app, "guide.md").await.len() > 2, "by the new settings");
    app.stop().await;
}

#[tokio::test]
async fn documents_of_before_are_named_and_stay_as_they_are() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("old.md", GUIDE), ("new.md", &GUIDE.replace("Boats", "Ships"))]).await;
    database::execute(&app.database, "UPDATE document SET layout = NULL WHERE source = 'old.md'").await;
    let before = chunks(&app, "old.md").await;
    let job = resplit(&app, &small()).await;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("partial"), &json!(1)), "{job}");
    assert_eq!(job["failures"], json!([{"cause": "layout_missing", "documents": 1}]));
    let listed = app.get(&format!("/v1/jobs/{}?items_state=failed", job["id"].as_str().expect("an id"))).await.body;
    assert_eq!(listed["items"][0]["source"], "old.md", "{listed}");
    assert!(
        listed["items"][0]["message"].as_str().is_some_and(|message| message.contains("send it again")),
        "{listed}"
    );
    assert_eq!(chunks(&app, "old.md").await, before);
    app.ingest("c", &[("old.md", GUIDE)]).await;
    assert!(chunks(&app, "old.md").await.len() > before.len(), "sent again, it is split by the new settings");
    app.stop().await;
}

#[tokio::test]
async fn uploads_and_deletes_beside_it_win() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("a.md", GUIDE), ("b.md", "Buses stop at the market.")]).await;
    server.delay_embeddings(Duration::from_secs(2));
    let calls = server.embedding_keys().len();
    let begun = begin(&app, &small()).await.body;
    begin(&app, &small()).await.assert_problem(409, "resplitting");
    poll_until(Duration::from_secs(20), || server.embedding_keys().len() > calls).await;
    let b = document(&app, "b.md").await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.delete(&format!("/v1/documents/{b}")).await.status, 200);
    let changed = GUIDE.replace("northern", "southern");
    app.ingest("c", &[("a.md", &changed)]).await;
    let job = app.ended_job(begun["id"].as_str().expect("an id")).await;
    assert!(["succeeded", "cancelled"].contains(&job["state"].as_str().expect("a state")), "{job}");
    let text: Vec<Value> = chunks(&app, "a.md").await;
    assert!(text.iter().any(|chunk| chunk["text"].as_str().is_some_and(|text| text.contains("southern"))), "{text:?}");
    assert!(!text.iter().any(|chunk| chunk["text"].as_str().is_some_and(|text| text.contains("northern"))), "{text:?}");
    assert!(text.len() > 2, "by the new settings: {text:?}");
    assert!(document(&app, "b.md").await.is_null(), "what was deleted does not come back");
    app.stop().await;
}

#[tokio::test]
async fn what_is_under_way_when_the_settings_change_is_split_by_the_new_ones() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    server.hold_embeddings(Some("northern"));
    let calls = server.embedding_keys().len();
    let documents = json!([{"source": "guide.md", "text": GUIDE, "media_type": "text/markdown"}]);
    let sent = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await.body;
    poll_until(Duration::from_secs(20), || server.embedding_keys().len() > calls).await;
    assert_eq!(resplit(&app, &small()).await["counts"]["items"], 0, "nothing is stored yet");
    server.hold_embeddings(None);
    let job = app.ended_job(sent["id"].as_str().expect("an id")).await;
    assert_eq!(job["state"], "succeeded", "{job}");
    assert!(chunks(&app, "guide.md").await.len() > 2, "by the new settings");
    app.stop().await;
}

#[tokio::test]
async fn contexts_can_be_switched_on_and_off() {
    let server = ModelServer::start().await;
    server.say(Role::Context, "It is from the guide of Zanzibar.");
    server.reply(Role::Context, Reply::Status(400, "too odd".to_owned()));
    server.say(Role::Context, "It is from the guide of Zanzibar.");
    let url = server.base_url();
    let chat =
        [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat"), ("CITED_CONTEXT_CALLS", "1")];
    let app = TestApp::start_with_embeddings(&server, &chat).await;
    assert_eq!(app.post("/v1/collections", json!({"name": "c", "splitter": small()["splitter"]})).await.status, 201);
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    let plain = chunks(&app, "guide.md").await;
    let on = resplit(&app, &json!({"context": {"on_failure": "keep_original"}})).await;
    assert_eq!((&on["state"], &on["contexts"]["without"]), (&json!("succeeded"), &json!(1)), "{on}");
    assert_eq!(app.get("/v1/collections/c").await.body["context"], json!({"on_failure": "keep_original"}));
    // Once more, and only the gap is filled.
    let filled = resplit(&app, &json!({})).await;
    assert_eq!((&filled["contexts"]["calls"], &filled["contexts"]["without"]), (&json!(1), &json!(0)), "{filled}");
    let with = chunks(&app, "guide.md").await;
    assert!(with.iter().all(|chunk| chunk["context"] == "It is from the guide of Zanzibar."), "{with:?}");
    let off = resplit(&app, &json!({"context": null})).await;
    assert_eq!(off["state"], "succeeded", "{off}");
    assert_eq!(chunks(&app, "guide.md").await, plain);
    let found = app.post("/v1/search", json!({"query": "Zanzibar", "collections": ["c"], "mode": "lexical"})).await;
    assert_eq!(found.body["results"], json!([]), "{found:?}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_it_goes_on_where_it_was() {
    let server = ModelServer::start().await;
    let database = database::create().await;
    let (url, base) = (database::url(&database), server.base_url());
    let settings = [
        ("DATABASE_URL", url.as_str()),
        ("CITED_DATABASE_CONNECTIONS", "6"),
        ("CITED_WORKERS", "1"),
        ("CITED_EMBEDDING_BASE_URL", &base),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
    ];
    let mut service = Process::serve(&settings).await;
    let text = |number: usize| {
        format!("Document {number} of the move.\n\n{}", "The ferry leaves at seven every day. ".repeat(6))
    };
    let documents: Vec<Value> =
        (0..400).map(|number| json!({"source": format!("d{number}.txt"), "text": text(number)})).collect();
    let body = json!({"collection": "c", "documents": documents});
    let request = |method: Method, path: &str| client().request(method, format!("{}{path}", service.base));
    let stored = send(request(Method::POST, "/v1/documents?wait=true").json(&body)).await;
    assert_eq!(stored.body["counts"]["documents"], 400, "{stored:?}");
    server.delay_embeddings(Duration::from_millis(400));
    let begun = send(request(Method::POST, "/v1/collections/c/resplit").json(&small())).await;
    let id = begun.body["id"].as_str().expect("an id").to_owned();
    let landed = "SELECT count(*) FROM job_item JOIN job USING (tenant_id, job_id) WHERE kind = 'resplit' AND job_item.state = 'succeeded'";
    while database::number(&database, landed).await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    service.kill().await;
    assert!(database::number(&database, landed).await < 400, "it was killed in the middle");
    // Each document is whole, as it was or as it is.
    for (law, sql) in database::LAWS.iter().filter(|(law, _)| !law.contains("job") && !law.contains("item")) {
        assert_eq!(database::number(&database, sql).await, 0, "{law}");
    }
    server.delay_embeddings(Duration::ZERO);
    service = Process::serve(&settings).await;
    let ended = ended_job(&service.base, &id, Duration::from_mins(2)).await;
    assert_eq!((&ended["state"], &ended["counts"]["documents"]), (&json!("succeeded"), &json!(400)), "{ended}");
    let versions = "SELECT count(*) FROM document WHERE version = 2";
    assert_eq!(database::number(&database, versions).await, 400, "none was replaced twice");
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    database::assert_consistent(&database).await;
}
