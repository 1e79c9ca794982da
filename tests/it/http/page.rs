//! The web page at `/`, and the pages of citations at `/c/{urn}`.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, Response};
use serde_json::json;

use crate::{
    harness::{Answer, TestApp, body_of, send},
    scripted::ModelServer,
};

const KEY: &str = "a-long-enough-key-1";
const HOSTILE: &str = "</title><script>alert(1)</script>";

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

async fn fetch(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Response {
    let request =
        headers.iter().fold(app.request(Method::GET, path), |request, (name, value)| request.header(*name, *value));
    request.send().await.expect("the service answers")
}

/// The page of a citation as a browser asks for it: status and text.
async fn cited_page(app: &TestApp, urn: &str) -> (u16, String) {
    let path = format!("/c/{}", utf8_percent_encode(urn, NON_ALPHANUMERIC));
    let response = fetch(app, &path, &[("accept", "text/html,*/*;q=0.8")]).await;
    assert_eq!(header(&response, "content-type"), "text/html; charset=utf-8");
    assert_eq!(header(&response, "cache-control"), "no-store");
    assert!(header(&response, "content-security-policy").contains("require-trusted-types-for 'script'"));
    (response.status().as_u16(), body_of(response).await)
}

async fn first_urn(app: &TestApp, query: &str) -> String {
    let found = app.post("/v1/search", json!({"query": query, "collections": ["c"], "mode": "lexical"})).await;
    found.body["results"][0]["urn"].as_str().expect("a passage").to_owned()
}

/// Paths of the files that the page names.
fn files_of(page: &str) -> Vec<String> {
    let quoted = page.split('"').skip(1).step_by(2);
    quoted.filter(|path| path.starts_with("/assets/")).map(str::to_owned).collect()
}

#[tokio::test]
async fn the_page_and_its_files_need_no_key_and_their_data_does() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_API_KEYS", KEY)]).await;
    let page = fetch(&app, "/", &[]).await;
    assert_eq!((page.status().as_u16(), header(&page, "content-type")), (200, "text/html"));
    assert_eq!(header(&page, "cache-control"), "no-cache");
    let policy = header(&page, "content-security-policy").to_owned();
    for part in [
        "default-src 'none'",
        "script-src 'self';",
        "style-src 'self';",
        "trusted-types 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let files = files_of(&body_of(page).await);
    assert!(files.len() >= 3, "{files:?}");
    for path in &files {
        let file = fetch(&app, path, &[]).await;
        let expected = match path.rsplit('.').next() {
            Some("js") => "text/javascript",
            Some("css") => "text/css",
            Some("svg") => "image/svg+xml",
            other => panic!("{other:?}"),
        };
        assert_eq!((file.status().as_u16(), header(&file, "content-type")), (200, expected), "{path}");
        assert_eq!(header(&file, "cache-control"), "public, max-age=31536000, immutable");
    }
    send(app.request(Method::GET, "/v1/collections")).await.assert_problem(401, "unauthorized");
    app.stop().await;
}

#[tokio::test]
async fn the_page_is_told_how_to_log_in_and_may_send_there() {
    let server = ModelServer::start().await;
    let issuer = [
        ("CITED_OIDC_ISSUER", "https://login.example.org/realms/a"),
        ("CITED_OIDC_AUDIENCE", "https://cited.example.org"),
    ];
    let client = [
        ("CITED_OIDC_CLIENT_ID", "cited-page"),
        ("CITED_OIDC_LOGIN_SCOPE", "openid ask"),
        ("CITED_OIDC_LOGIN_PARAMETERS", "resource=https%3A%2F%2Fcited.example.org"),
    ];
    let login = json!({
        "issuer": "https://login.example.org/realms/a", "client_id": "cited-page", "scope": "openid ask",
        "parameters": "resource=https%3A%2F%2Fcited.example.org",
    });
    let mut tags = Vec::new();
    for (settings, told, origins) in [
        (issuer.to_vec(), json!(null), "'self'"),
        ([&issuer[..], &client].concat(), login, "'self' https://login.example.org"),
    ] {
        let app = TestApp::start_with_embeddings(&server, &settings).await;
        let answer = send(app.request(Method::GET, "/login.json")).await;
        assert_eq!((answer.status, &answer.body), (200, &told));
        let page = fetch(&app, "/", &[]).await;
        let policy = header(&page, "content-security-policy");
        assert!(policy.ends_with(&format!("connect-src {origins}")), "{policy}");
        tags.push(header(&page, "etag").to_owned());
        app.stop().await;
    }
    assert_ne!(tags[0], tags[1], "a page with another policy is fetched anew");
}

#[tokio::test]
async fn an_unchanged_file_is_not_sent_again() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let page = fetch(&app, "/", &[]).await;
    let etag = header(&page, "etag").to_owned();
    assert!(etag.starts_with("W/\""), "{etag}");
    for known in [etag.clone(), format!("\"other\", {etag}"), "*".to_owned()] {
        let again = fetch(&app, "/", &[("if-none-match", &known)]).await;
        assert_eq!((again.status().as_u16(), header(&again, "etag")), (304, etag.as_str()), "{known}");
        assert_eq!(header(&again, "content-security-policy"), "", "the page keeps the policy that it came with");
        assert_eq!(body_of(again).await, "");
    }
    assert_eq!(fetch(&app, "/", &[("if-none-match", "\"other\"")]).await.status(), 200);
    let files = files_of(&body_of(page).await);
    let script = files.into_iter().find(|path| path.rsplit('.').next() == Some("js")).expect("a script");
    let plain = fetch(&app, &script, &[]).await;
    assert_eq!(header(&plain, "content-encoding"), "");
    let compressed = fetch(&app, &script, &[("accept-encoding", "gzip")]).await;
    assert_eq!((header(&compressed, "content-encoding"), header(&compressed, "vary")), ("gzip", "accept-encoding"));
    let (whole, small) = (plain.bytes().await.expect("bytes").len(), compressed.bytes().await.expect("bytes").len());
    assert!(small < 60_000 && small * 2 < whole, "{small} of {whole} bytes");
    app.stop().await;
}

#[tokio::test]
async fn a_file_that_is_not_there_is_a_problem() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    for path in [
        "/assets/nothing.js",
        "/assets/",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e/index.html",
        "/index.htm",
        "/c/",
    ] {
        app.get(path).await.assert_problem(404, "not_found");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_citation_has_a_page_in_every_state() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let text = "# Leave\n\nEveryone has 28 days of paid leave a year.\n\n# Sick\n\nTell your lead on the first day.";
    app.ingest("c", &[("leave.md", text)]).await;
    let urn = first_urn(&app, "paid leave").await;
    let (status, page) = cited_page(&app, &urn).await;
    assert_eq!(status, 200);
    assert!(page.contains("<strong>current</strong>") && page.contains("<h1><bdi>Leave</bdi></h1>"), "{page}");
    let marked = page.split("<mark id=\"passage\">").nth(1).and_then(|rest| rest.split("</mark>").next());
    assert!(marked.is_some_and(|text| text.contains("28 days of paid leave")), "{page}");
    assert!(!page.contains("<script"), "{page}");

    app.ingest("c", &[("leave.md", &text.replace("28", "30"))]).await;
    let (status, page) = cited_page(&app, &urn).await;
    assert_eq!(status, 200);
    assert!(page.contains("<strong>superseded</strong>") && page.contains("no longer stands"), "{page}");
    assert!(page.contains("<del>28</del>") && page.contains("<ins>30</ins>"), "{page}");

    assert_eq!(app.delete("/v1/collections/c").await.status, 200);
    let (status, page) = cited_page(&app, &urn).await;
    assert_eq!(status, 200);
    assert!(page.contains("<strong>deleted</strong>") && !page.contains("28 days"), "{page}");
    app.stop().await;
}

#[tokio::test]
async fn text_of_documents_stays_text() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let document = json!({"source": format!("javascript:alert(1)//{HOSTILE}"), "title": HOSTILE,
        "media_type": "text/plain", "text": format!("The zebra is striped {HOSTILE} <img src=x onerror=alert(1)>.")});
    let ingested = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": [document]})).await;
    assert_eq!(ingested.body["state"], "succeeded", "{ingested:?}");
    let urn = first_urn(&app, "zebra").await;
    let (_, current) = cited_page(&app, &urn).await;
    let mut other = document;
    other["text"] = json!(format!("The zebra is striped {HOSTILE} <img src=y onerror=alert(2)>."));
    app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": [other]})).await;
    let (_, superseded) = cited_page(&app, &urn).await;
    let (_, unknown) = cited_page(&app, HOSTILE).await;
    for page in [current, superseded, unknown] {
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("href=\"javascript"), "{page}");
        assert!(page.contains("script&#62;") || page.contains("script&gt;"), "the words are shown: {page}");
    }
    app.stop().await;
}

#[tokio::test]
async fn the_page_of_a_citation_needs_the_key_of_the_citation() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_API_KEYS", KEY)]).await;
    let keyed = |method, path: &str| app.request(method, path).bearer_auth(KEY);
    let documents = json!({"collection": "c", "documents": [{"source": "a.md", "text": "The zebra is striped."}]});
    assert_eq!(send(keyed(Method::POST, "/v1/documents?wait=true").json(&documents)).await.status, 200);
    let search = json!({"query": "zebra", "collections": ["c"], "mode": "lexical"});
    let found: Answer = send(keyed(Method::POST, "/v1/search").json(&search)).await;
    let urn = found.body["results"][0]["urn"].as_str().expect("a passage");
    let encoded = utf8_percent_encode(urn, NON_ALPHANUMERIC).to_string();
    let path = format!("/c/{encoded}");
    // A program gets a problem, a browser a page that leads to where a key can be entered.
    app.get(&path).await.assert_problem(401, "unauthorized");
    let (status, page) = cited_page(&app, urn).await;
    assert_eq!(status, 401);
    assert!(page.contains(&format!("href=\"/#/c/{encoded}\"")) && !page.contains("zebra"), "{page}");
    let opened = keyed(Method::GET, &path).send().await.expect("a page");
    assert_eq!(opened.status(), 200);
    assert!(body_of(opened).await.contains("The zebra is striped."));
    send(keyed(Method::GET, "/c/nonsense")).await.assert_problem(422, "invalid_request");
    app.stop().await;
}
