//! Documents by URL: fetched by a worker, asked for again only when they changed, and never from the inner network.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{HeaderMap, Response, StatusCode, Uri, header},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    database,
    harness::{TestApp, send},
    scripted::ModelServer,
    wait,
};

pub(crate) const SETTINGS: [(&str, &str); 3] =
    [("CITED_FETCH_ALLOW", "127.0.0.1/32:*"), ("CITED_FETCH_MAX_BYTES", "20000"), ("CITED_OUTBOUND_TIMEOUT_S", "2")];

/// One answer of the site.
#[derive(Clone)]
pub(crate) enum Page {
    /// A document with its media type and its tag.
    Document(&'static str, Vec<u8>, &'static str),
    Status(u16),
    Redirect(&'static str),
    /// Nothing, for long.
    Silence,
}

/// A site on loopback. Each path has its answers in turn, the last one for good.
#[derive(Clone, Default)]
pub(crate) struct Site {
    pages: Arc<Mutex<HashMap<String, Vec<Page>>>>,
    requests: Arc<Mutex<Vec<(String, HeaderMap)>>>,
    port: u16,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let site = Self { port, ..Self::default() };
        let router = Router::new().fallback(answer).with_state(site.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        site
    }

    pub(crate) fn put(&self, path: &str, answers: &[Page]) -> String {
        let answers = answers.iter().rev().cloned().collect();
        self.pages.lock().expect("lock").insert(path.to_owned(), answers);
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Header lines of the requests for a path so far, of those that make a request conditional.
    pub(crate) fn conditions(&self, path: &str) -> Vec<(Option<String>, Option<String>)> {
        let requests = self.requests.lock().expect("lock");
        let text = |headers: &HeaderMap, name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        requests
            .iter()
            .filter(|(asked, _)| asked == path)
            .map(|(_, headers)| (text(headers, header::IF_NONE_MATCH), text(headers, header::IF_MODIFIED_SINCE)))
            .collect()
    }
}

const MODIFIED: &str = "Sat, 01 Nov 2025 10:00:00 GMT";

async fn answer(State(site): State<Site>, uri: Uri, headers: HeaderMap) -> Response<Body> {
    let path = uri.path().to_owned();
    let page = {
        let mut pages = site.pages.lock().expect("lock");
        let answers = pages.get_mut(&path).expect("a page of this site");
        if answers.len() > 1 { answers.pop().expect("checked") } else { answers[0].clone() }
    };
    site.requests.lock().expect("lock").push((path, headers.clone()));
    let answer = Response::builder();
    match page {
        Page::Status(status) => answer.status(status).body(Body::empty()),
        Page::Redirect(place) => answer.status(302).header("location", place).body(Body::empty()),
        Page::Silence => {
            tokio::time::sleep(Duration::from_mins(1)).await;
            answer.body(Body::empty())
        }
        Page::Document(media_type, content, tag) => {
            let answer = answer.header("etag", tag).header("last-modified", MODIFIED);
            if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag) {
                answer.status(StatusCode::NOT_MODIFIED).body(Body::empty())
            } else {
                answer.header("content-type", media_type).body(Body::from(content))
            }
        }
    }
    .expect("a response")
}

async fn ingest(app: &TestApp, documents: Value) -> Value {
    let answer = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": documents})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

async fn start(server: &ModelServer) -> TestApp {
    TestApp::with_file(server, &SETTINGS, "").await
}

#[tokio::test]
async fn a_url_is_fetched_once_for_as_long_as_the_server_says_so() {
    let (server, site) = (ModelServer::start().await, Site::start().await);
    let app = start(&server).await;
    // Japanese in the encoding that only the server names.
    let (page, _, _) = encoding_rs::SHIFT_JIS.encode("<p>有給休暇は年間28日です。</p><p>申請は部長まで。</p>");
    let page = Page::Document("text/html; charset=Shift_JIS", page.to_vec(), "\"v1\"");
    let url = site.put("/leave", std::slice::from_ref(&page));
    let job = ingest(&app, json!([{"url": url}])).await;
    assert_eq!((&job["state"], &job["items"][0]["source"]), (&json!("succeeded"), &json!(url)), "{job}");
    let path = format!("/v1/documents/{}", job["items"][0]["document_id"].as_str().unwrap());
    let document = app.get(&path).await.body;
    let origin = &document["provenance"];
    assert_eq!((&origin["uri"], &origin["loader"]), (&json!(url), &json!("url")), "{document}");
    assert_eq!((&origin["etag"], &origin["last_modified"]), (&json!("\"v1\""), &json!(MODIFIED)), "{document}");
    assert_eq!(document["media_type"], "text/html");
    let text = app.get(&format!("{path}/content")).await.body;
    assert!(text["text"].as_str().unwrap().starts_with("有給休暇は年間28日です。"), "{text}");

    let job = ingest(&app, json!([{"url": url}])).await;
    assert_eq!((&job["counts"]["unchanged"], &job["counts"]["embedding_calls"]), (&json!(1), &json!(0)), "{job}");
    // With other data about it the same words are another document: it is asked for without conditions.
    let job = ingest(&app, json!([{"url": url, "metadata": {"team": "people"}}])).await;
    assert_eq!((&job["counts"]["documents"], &job["counts"]["embedding_calls"]), (&json!(1), &json!(0)), "{job}");
    site.put("/leave", &[Page::Document("text/html", b"<p>Now it is 30 days.</p>".to_vec(), "\"v2\"")]);
    let job = ingest(&app, json!([{"url": url, "metadata": {"team": "people"}}])).await;
    assert_eq!(job["counts"]["documents"], 1, "{job}");
    assert_eq!(app.get(&path).await.body["version"], 3);
    let known = (Some("\"v1\"".to_owned()), Some(MODIFIED.to_owned()));
    assert_eq!(site.conditions("/leave"), [(None, None), known.clone(), (None, None), known]);

    // Text under the same name is no fetch any more.
    ingest(&app, json!([{"source": url, "text": "By hand."}])).await;
    assert_eq!(app.get(&path).await.body["provenance"]["etag"], Value::Null);
    app.stop().await;
}

#[tokio::test]
async fn each_refusal_has_a_cause_and_stops_no_neighbour() {
    let (server, site) = (ModelServer::start().await, Site::start().await);
    let app = start(&server).await;
    let good = site.put("/good.md", &[Page::Document("text/plain", b"# Leave\n\n28 days.".to_vec(), "\"1\"")]);
    let inner = good.replace("127.0.0.1", "127.0.0.2");
    let other_port = "http://192.0.2.1:6379/".to_owned();
    let huge = Page::Document("text/plain", vec![b'x'; 20_001], "\"1\"");
    let picture = Page::Document("text/plain", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), "\"1\"");
    let cases = [
        (site.put("/missing", &[Page::Status(404)]), "load", "http_status", "HTTP 404"),
        (site.put("/unasked", &[Page::Status(304)]), "load", "http_status", "HTTP 304"),
        (site.put("/metadata", &[Page::Redirect("http://169.254.169.254/latest")]), "load", "url_refused", "169.254"),
        (site.put("/file", &[Page::Redirect("file:///etc/passwd")]), "load", "url_refused", "scheme file"),
        (site.put("/loop", &[Page::Redirect("/loop")]), "load", "url_refused", "5 times"),
        (other_port, "load", "url_refused", "names port 6379"),
        (inner, "load", "url_refused", "CITED_FETCH_ALLOW has 127.0.0.2:"),
        (site.put("/huge", &[huge]), "load", "too_large", "20000 bytes"),
        (site.put("/picture", &[picture]), "extract", "no_text_layer", "picture"),
        (site.put("/empty", &[Page::Document("text/plain", Vec::new(), "\"1\"")]), "extract", "empty", "no text"),
    ];
    let mut documents: Vec<Value> = cases.iter().map(|(url, ..)| json!({"url": url})).collect();
    documents.push(json!({"url": good, "source": "leave"}));
    let job = ingest(&app, json!(documents)).await;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("partial"), &json!(1)), "{job}");
    for (index, (url, stage, cause, words)) in cases.iter().enumerate() {
        let item = &job["items"][index];
        assert_eq!((&item["stage"], &item["cause"]), (&json!(stage), &json!(cause)), "{url}: {item}");
        assert!(item["message"].as_str().unwrap().contains(words), "{url}: {item}");
    }
    let stored = &job["items"][cases.len()];
    assert_eq!((&stored["source"], &stored["state"]), (&json!("leave"), &json!("succeeded")), "{stored}");
    let document = app.get(&format!("/v1/documents/{}", stored["document_id"].as_str().unwrap())).await.body;
    assert_eq!((&document["media_type"], &document["title"]), (&json!("text/markdown"), &json!("Leave")), "{document}");

    // A failed fetch can be retried, and the URL is requested again.
    site.put("/missing", &[Page::Document("text/plain", b"Here it is.".to_vec(), "\"1\"")]);
    let id = job["id"].as_str().unwrap();
    assert_eq!(app.post(&format!("/v1/jobs/{id}/retry"), json!({})).await.status, 202);
    let again = app.ended_job(id).await;
    assert_eq!((&again["counts"]["documents"], &again["counts"]["failed"]), (&json!(2), &json!(9)), "{again}");
    app.stop().await;
}

#[tokio::test]
async fn a_server_in_trouble_is_asked_again() {
    let (server, site) = (ModelServer::start().await, Site::start().await);
    let app = start(&server).await;
    let page = Page::Document("text/plain", b"Here it is.".to_vec(), "\"1\"");
    let busy = site.put("/busy", &[Page::Status(503), page.clone()]);
    let slow = site.put("/slow", &[Page::Silence, page]);
    let body = json!({"collection": "c", "documents": [{"url": busy}, {"url": slow}]});
    let job = app.post("/v1/documents?wait=true", body).await.body;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("succeeded"), &json!(2)), "{job}");
    assert_eq!((&job["items"][0]["attempts"], &job["items"][1]["attempts"]), (&json!(2), &json!(2)), "{job}");
    app.stop().await;
}

#[tokio::test]
async fn a_url_that_cannot_be_one_is_named_at_once() {
    let server = ModelServer::start().await;
    let app = start(&server).await;
    let documents = json!([
        {"url": "handbook/leave.md"}, {"url": "ftp://example.org/a"}, {"url": "https://me:secret@example.org/"},
        {"url": "https://example.org/", "text": "Both."}, {"source": "neither"}, {"text": "No name."},
        {"url": "https://example.org/b", "uri": "https://example.org/c"},
    ]);
    let answer = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await;
    answer.assert_problem(422, "invalid_request");
    let expected =
        ["0/url", "1/url", "2/url", "3/text", "4/text", "5/source", "6/uri"].map(|end| format!("/documents/{end}"));
    assert_eq!(answer.pointers(), expected);
    assert!(!answer.body.to_string().contains("secret"), "{answer:?}");
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job").await, 0);
    app.stop().await;
}

#[tokio::test]
async fn a_stream_may_hold_urls() {
    let (server, site) = (ModelServer::start().await, Site::start().await);
    let app = start(&server).await;
    let url = site.put("/page", &[Page::Document("text/plain", b"Here it is.".to_vec(), "\"1\"")]);
    let lines =
        format!("{}\n{}\n{}\n", json!({"url": url}), json!({"source": "s", "text": "Words."}), json!({"url": "x"}));
    let request = app.request(Method::POST, "/v1/documents/bulk?collection=c&wait=true");
    let answer = send(request.header("content-type", "application/x-ndjson").body(lines)).await;
    assert_eq!((answer.status, &answer.body["counts"]["documents"]), (200, &json!(2)), "{answer:?}");
    assert_eq!(answer.body["items"][2]["cause"], "invalid_line", "{answer:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_job_of_urls_says_how_long_it_takes() {
    let (server, site) = (ModelServer::start().await, Site::start().await);
    let app = TestApp::start_with_embeddings(&server, &SETTINGS).await;
    server.hold_embeddings(Some("Held"));
    let page = |text: &str| [Page::Document("text/plain", text.as_bytes().to_vec(), "\"1\"")];
    let line = |url: String| Ok::<_, std::io::Error>(format!("{}\n", json!({"url": url})));
    let (sender, receiver) = futures::channel::mpsc::unbounded();
    let request = app.request(Method::POST, "/v1/documents/bulk?collection=c&wait=true");
    let request = request.header("content-type", "application/x-ndjson").body(reqwest::Body::wrap_stream(receiver));
    let answer = tokio::spawn(send(request));
    sender.unbounded_send(line(site.put("/first", &page("First words.")))).expect("open");
    let until = async |holds: fn(&Value) -> bool| {
        wait::until_ok("the job gets there", async || {
            let job = app.get("/v1/jobs").await.body["jobs"][0].clone();
            if holds(&job) { Ok(job) } else { Err(job) }
        })
        .await
    };
    until(|job| job["progress"]["settled"] == 1).await;
    sender.unbounded_send(line(site.put("/second", &page("Held words.")))).expect("open");
    let job = until(|job| job["progress"]["waiting"] == 1).await;
    let progress = &job["progress"];
    assert_eq!((&progress["bytes"], &progress["bytes_per_second"]), (&json!(0), &Value::Null), "{progress}");
    // One is done and one is left: that takes as long again.
    let (rate, left) = (
        progress["documents_per_second"].as_f64().expect("a rate"),
        progress["seconds_left"].as_f64().expect("an estimate"),
    );
    assert!(rate > 0.0 && (rate * left - 1.0).abs() < 0.1, "{progress}");
    server.hold_embeddings(None);
    drop(sender);
    assert_eq!(answer.await.expect("no panic").body["state"], "succeeded");
    app.stop().await;
}
