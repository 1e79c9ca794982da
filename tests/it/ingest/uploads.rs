//! Documents in: what is stored, what is not redone, what fails and how.

use reqwest::{Method, multipart};
use serde_json::{Value, json};

use crate::{
    database,
    harness::{TestApp, send, slice},
    scripted::{ModelServer, Reply},
    wait,
};

async fn app() -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    (server, app)
}

fn long_text(seed: &str) -> String {
    (0..120).map(|number| format!("Sentence {number} of {seed} tells about topic {}. ", number % 17)).collect()
}

#[tokio::test]
async fn chunks_are_exact_slices_with_lineage() {
    let (_server, app) = app().await;
    let text = format!("# Größe 📏\n\n{}\n\n## Zweiter Teil\n\n{}", long_text("älteres 你好"), long_text("more"));
    let job = app.ingest("notes", &[("a.md", &text)]).await;
    let id = job["items"][0]["document_id"].as_str().expect("id").to_owned();
    let document = app.get(&format!("/v1/documents/{id}")).await.body;
    assert_eq!(
        (&document["version"], &document["title"], &document["source"]),
        (&json!(1), &json!("Größe 📏"), &json!("a.md"))
    );
    assert_eq!(document["characters"], text.chars().count());
    assert_eq!(document["provenance"]["loader"], "json");
    let page = app.get(&format!("/v1/documents/{id}/chunks?limit=200")).await.body;
    let chunks = page["chunks"].as_array().expect("chunks");
    assert!(chunks.len() > 2 && page["total"] == chunks.len() && page["next_from"].is_null());
    assert_eq!(job["counts"]["chunks"], chunks.len());
    for (place, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk["ordinal"], place);
        assert_eq!(slice(&text, &chunk["start"], &chunk["end"]), chunk["text"].as_str().expect("text"));
        assert!(chunk["splitter"].as_str().is_some_and(|splitter| splitter.starts_with("markdown")));
    }
    let last = chunks.last().expect("a chunk");
    assert_eq!(last["heading"], json!(["Größe 📏", "Zweiter Teil"]));
    let content = app.get(&format!("/v1/documents/{id}/content")).await.body;
    assert_eq!(content["text"], text);
    app.stop().await;
}

/// A large body is parsed from the pieces in which it came, and a large content waits packed.
#[tokio::test]
async fn a_large_document_comes_back_to_the_letter_by_each_way() {
    let (_server, app) = app().await;
    let paragraph = |number| format!("Größe \"{number}\" 📏\t– {}\n\n", long_text("one"));
    let text: String = (0..250).map(paragraph).collect();
    assert!(text.len() > 1 << 20, "{}", text.len());
    let text = text.trim_end();
    let document = json!({"source": "json", "text": text});
    let body = json!({"collection": "c", "documents": [&document]});
    let part = multipart::Part::text(text.to_owned()).file_name("form");
    let form = multipart::Form::new().text("collection", "c").part("file", part);
    let upload = |query: &str| app.request(Method::POST, &format!("/v1/documents{query}"));
    let bulk = upload("/bulk?collection=c&wait=true").header("content-type", "application/x-ndjson");
    let ways =
        [upload("?wait=true").json(&body), upload("?wait=true").multipart(form), bulk.body(document.to_string())];
    for (way, request) in ways.into_iter().enumerate() {
        let job = send(request).await;
        assert_eq!(job.body["counts"]["failed"], 0, "{way}: {:?}", job.body["items"]);
        let id = job.body["items"][0]["document_id"].as_str().expect("an id");
        let content = app.get(&format!("/v1/documents/{id}/content")).await.body;
        assert!(content["text"] == *text, "{way}");
    }
    // What is wrong in a large body is named as in a small one.
    let wrong = json!({"collection": "c", "documents": [&document, {"source": "b", "text": 3}]});
    let refused = send(upload("").json(&wrong)).await;
    refused.assert_problem(422, "invalid_request");
    assert_eq!(refused.pointers(), ["/documents/1/text"]);
    let list = send(upload("").json(&json!([document]))).await;
    assert_eq!((list.status, &list.body["errors"][0]["pointer"]), (422, &json!("")), "{list:?}");
    let broken = body.to_string().replace(']', "");
    let broken = upload("").header("content-type", "application/json").body(broken);
    send(broken).await.assert_problem(400, "unreadable_body");
    app.stop().await;
}

#[tokio::test]
async fn unchanged_content_is_not_redone() {
    let (server, app) = app().await;
    app.ingest("notes", &[("a.md", "One text."), ("b.md", "Another text.")]).await;
    let embedded = server.embedded().len();
    let job = app.ingest("notes", &[("a.md", "One text."), ("b.md", "A third text.")]).await;
    assert_eq!(
        (&job["counts"]["unchanged"], &job["counts"]["documents"], &job["counts"]["embedding_calls"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(job["items"][0]["state"], "unchanged");
    assert!(job["items"][0]["document_id"].is_string());
    assert_eq!(server.embedded().len(), embedded + 1);
    app.stop().await;
}

#[tokio::test]
async fn identical_bytes_under_another_name_reuse_the_vectors() {
    let (server, app) = app().await;
    let body = |source: &str| json!({"collection": "notes", "documents": [{"source": source, "text": "The same words.", "title": "Same"}]});
    app.post("/v1/documents?wait=true", body("a.txt")).await;
    let embedded = server.embedded().len();
    let job = app.post("/v1/documents?wait=true", body("b.txt")).await.body;
    assert_eq!((&job["counts"]["documents"], &job["counts"]["embedding_calls"]), (&json!(1), &json!(0)), "{job}");
    assert_eq!(server.embedded().len(), embedded);
    app.stop().await;
}

#[tokio::test]
async fn a_name_that_serves_as_the_title_is_found_and_costs_no_vector() {
    let (server, app) = app().await;
    let text = long_text("plain words");
    let first = app.ingest("notes", &[("walrus_report.txt", &text)]).await;
    let embedded = server.embedded().len();
    // Ten times as many tokens in the name must not move the cuts.
    let second = app.ingest("notes", &[("a/much-longer-name-with-many-words-for-the-giraffe-report.txt", &text)]).await;
    assert_eq!(second["counts"]["chunks"], first["counts"]["chunks"]);
    assert_eq!((&second["counts"]["embedding_calls"], server.embedded().len()), (&json!(0), embedded), "{second}");
    assert_eq!(second["counts"]["reused_vectors"], first["counts"]["chunks"]);
    let search = json!({"query": "walrus", "collections": ["notes"], "mode": "lexical"});
    let found = app.post("/v1/search", search).await.body;
    assert_eq!(found["results"][0]["source"], "walrus_report.txt", "{found}");
    app.stop().await;
}

#[tokio::test]
async fn an_edit_embeds_what_it_changed_and_nothing_else() {
    let (_server, app) = app().await;
    let section =
        |number: usize, seed: &str| format!("## Section {number}\n\n{}\n\n", long_text(&format!("{seed} {number}")));
    let document = |edited: Option<usize>| -> String {
        let sections = (0..8).map(|number| section(number, if edited == Some(number) { "changed" } else { "part" }));
        std::iter::once("# Handbook\n\n".to_owned()).chain(sections).collect()
    };
    let first = app.ingest("notes", &[("a.md", &document(None))]).await;
    let chunks = first["counts"]["chunks"].as_u64().expect("a count");
    let second = app.ingest("notes", &[("a.md", &document(Some(3)))]).await;
    let calls = second["counts"]["embedding_calls"].as_u64().expect("a count");
    assert!(calls >= 1 && calls <= chunks / 8 + 1, "{calls} of {chunks} chunks were embedded anew");
    assert_eq!(second["counts"]["chunks"], chunks);
    // Back again: the vectors of the first version are gone with it, those of the other sections are not.
    let third = app.ingest("notes", &[("a.md", &document(None))]).await;
    assert_eq!(third["counts"]["embedding_calls"], calls);
    app.stop().await;
}

#[tokio::test]
async fn a_new_text_replaces_the_old_one_whole() {
    let (_server, app) = app().await;
    let first = app.ingest("notes", &[("a.md", &long_text("walrus"))]).await;
    let second = app.ingest("notes", &[("a.md", "Only a giraffe now.")]).await;
    assert_eq!(first["items"][0]["document_id"], second["items"][0]["document_id"], "identity is kept");
    let id = second["items"][0]["document_id"].as_str().expect("id");
    assert_eq!(app.get(&format!("/v1/documents/{id}")).await.body["version"], 2);
    let search = |query: &str| json!({"query": query, "collections": ["notes"], "mode": "lexical"});
    assert_eq!(app.post("/v1/search", search("walrus")).await.body["results"], json!([]));
    assert_eq!(app.post("/v1/search", search("giraffe")).await.body["results"].as_array().map(Vec::len), Some(1));
    let replaced =
        send(app.request(Method::PUT, &format!("/v1/documents/{id}?wait=true")).json(&json!({"text": "A zebra."})))
            .await;
    assert_eq!((replaced.status, &replaced.body["state"]), (200, &json!("succeeded")), "{replaced:?}");
    let document = app.get(&format!("/v1/documents/{id}")).await.body;
    assert_eq!((&document["version"], &document["source"]), (&json!(3), &json!("a.md")));
    app.stop().await;
}

#[tokio::test]
async fn one_bad_document_fails_alone() {
    let (server, app) = app().await;
    let documents = json!([
        {"source": "good.md", "text": "Good words."},
        {"source": "blank.md", "text": " \n\t "},
        {"source": "nul.txt", "text": "a\u{0}b"},
        {"source": "scan.pdf", "text": "%PDF", "media_type": "application/pdf"},
    ]);
    let answer = app.post("/v1/documents?wait=true", json!({"collection": "notes", "documents": documents})).await;
    assert_eq!(answer.body["state"], "partial", "{answer:?}");
    assert_eq!((&answer.body["counts"]["documents"], &answer.body["counts"]["failed"]), (&json!(1), &json!(3)));
    let items = answer.body["items"].as_array().expect("items");
    let causes: Vec<&str> = items.iter().filter_map(|item| item["cause"].as_str()).collect();
    assert_eq!(causes, ["empty", "binary", "malformed"]);
    for item in &items[1..] {
        assert_eq!((&item["state"], &item["stage"]), (&json!("failed"), &json!("extract")));
        assert!(item["message"].as_str().is_some_and(|message| message.len() > 20));
    }
    // A model that refuses one text refuses the batch; the others are then embedded one by one.
    server.embedding_reply(Reply::Status(400, "{\"error\":{\"message\":\"cannot embed that\"}}".to_owned()));
    server.embedding_reply(Reply::Status(400, "{\"error\":{\"message\":\"cannot embed that\"}}".to_owned()));
    let documents =
        json!([{"source": "x.md", "text": "First new words."}, {"source": "y.md", "text": "Second new words."}]);
    let answer = app.post("/v1/documents?wait=true", json!({"collection": "notes", "documents": documents})).await;
    let mut states: Vec<&str> =
        answer.body["items"].as_array().expect("items").iter().filter_map(|item| item["state"].as_str()).collect();
    states.sort_unstable();
    assert_eq!(states, ["failed", "succeeded"], "{answer:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_transient_embedding_failure_is_tried_again() {
    let (server, app) = app().await;
    server.embedding_reply(Reply::Status(503, "busy".to_owned()));
    let job = app.ingest("notes", &[("a.md", "Words to embed.")]).await;
    assert_eq!(job["items"][0]["attempts"], 2);
    // One that says how long it wants to be left alone is left alone.
    server.embedding_reply(Reply::Later(503, "600"));
    let documents = json!([{"source": "b.md", "text": "More words."}]);
    let begun = app.post("/v1/documents", json!({"collection": "notes", "documents": documents})).await.body;
    let waiting =
        "SELECT count(*) FROM job_item WHERE state = 'queued' AND available_at > now() + interval '9 minutes'";
    wait::until_count(&app.database, waiting, |items| items > 0).await;
    database::execute(&app.database, "UPDATE job_item SET available_at = now() WHERE state = 'queued'").await;
    let ended = app.ended_job(begun["id"].as_str().expect("an id")).await;
    assert_eq!(ended["state"], "succeeded", "{ended}");
    app.stop().await;
}

#[tokio::test]
async fn vectors_of_the_wrong_shape_are_refused() {
    let (server, app) = app().await;
    server.embedding_reply(Reply::Body(json!({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}).to_string()));
    let answer = app
        .post(
            "/v1/documents?wait=true",
            json!({"collection": "notes", "documents": [{"source": "a.md", "text": "Words."}]}),
        )
        .await;
    let item = &answer.body["items"][0];
    assert_eq!(
        (&item["state"], &item["stage"], &item["cause"]),
        (&json!("failed"), &json!("embed"), &json!("invalid_reply")),
        "{answer:?}"
    );
    app.stop().await;
}

#[tokio::test]
async fn files_come_as_multipart() {
    let (_server, app) = app().await;
    let file = |name: &str, text: &str| multipart::Part::text(text.to_owned()).file_name(name.to_owned());
    let form = multipart::Form::new()
        .text("collection", "files")
        .text("metadata", "{\"team\": \"people\"}")
        .part("file", file("leave.md", "# Leave\n\n28 days of leave."))
        .part("file", file("notes.txt", "Plain notes."))
        .part("file", file("scan.pdf", "%PDF"));
    let answer = send(app.request(Method::POST, "/v1/documents?wait=true").multipart(form)).await;
    assert_eq!((answer.status, &answer.body["state"]), (200, &json!("partial")), "{answer:?}");
    assert_eq!(answer.body["items"][2]["cause"], "malformed");
    let listed = app.get("/v1/documents?collection=files&source_prefix=leave").await.body;
    let document = &listed["documents"][0];
    assert_eq!(
        (&document["title"], &document["metadata"]["team"], &document["media_type"]),
        (&json!("Leave"), &json!("people"), &json!("text/markdown"))
    );
    assert_eq!(document["provenance"]["loader"], "multipart");
    app.stop().await;
}

#[tokio::test]
async fn wrong_requests_accept_nothing() {
    let (_server, app) = app().await;
    let (fits, long) = ("ü".repeat(1_024), format!("{}x", "ü".repeat(1_024)));
    let cases: [(Value, &[&str]); 6] = [
        // A name is an entry of an index, whose size is in bytes.
        (
            json!({"documents": [{"source": fits, "text": "t"}, {"source": long, "text": "t"}]}),
            &["/documents/1/source"],
        ),
        (json!({"documents": []}), &["/documents"]),
        (
            json!({"collection": " x", "documents": [{"source": "", "text": "t"}]}),
            &["/collection", "/documents/0/source"],
        ),
        (json!({"documents": [{"source": "a", "text": "t"}, {"source": "a", "text": "u"}]}), &["/documents/1/source"]),
        (json!({"documents": [{"source": "a", "text": 3}]}), &["/documents/0/text"]),
        (json!({"documents": [{"source": "a", "text": "t", "metadata": {"k": "\u{0}"}}]}), &["/documents/0/metadata"]),
    ];
    for (body, pointers) in cases {
        let answer = app.post("/v1/documents", body.clone()).await;
        answer.assert_problem(422, "invalid_request");
        assert_eq!(answer.pointers(), pointers, "{body}");
    }
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job_item").await, 0);
    app.stop().await;
}

#[tokio::test]
async fn identical_uploads_at_once_make_one_set_of_chunks() {
    let (_server, app) = app().await;
    let text = long_text("twins");
    let body = json!({"collection": "notes", "documents": [{"source": "a.md", "text": text}]});
    let (one, two, three) = tokio::join!(
        app.post("/v1/documents?wait=true", body.clone()),
        app.post("/v1/documents?wait=true", body.clone()),
        app.post("/v1/documents?wait=true", body.clone()),
    );
    for answer in [&one, &two, &three] {
        assert_eq!(answer.body["state"], "succeeded", "{answer:?}");
    }
    let listed = app.get("/v1/documents?collection=notes").await.body;
    assert_eq!(listed["documents"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed["documents"][0]["version"], 1);
    app.stop().await;
}
