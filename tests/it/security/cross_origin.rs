//! Pages of other sites, and names that they make resolve here.

use std::collections::BTreeMap;

use reqwest::{Method, RequestBuilder, multipart};
use serde_json::{Value, json};

use crate::{
    database,
    harness::{TestApp, send},
    scripted::ModelServer,
};

/// Every operation of the service, by its own description, with an id for each parameter of a path.
async fn operations(app: &TestApp) -> Vec<(Method, String, bool)> {
    let document = app.get("/openapi.json").await.body;
    let paths: BTreeMap<String, BTreeMap<String, Value>> =
        serde_json::from_value(document["paths"].clone()).expect("paths with operations");
    let mut operations =
        vec![(Method::GET, "/openapi.json".to_owned(), false), (Method::GET, "/nothing".to_owned(), false)];
    for (path, of_path) in paths {
        let filled: Vec<&str> = path
            .split('/')
            .map(|part| if part.starts_with('{') { "019ee0a1-6f0b-7d52-9a40-5f1b8f0f6a11" } else { part })
            .collect();
        for (method, operation) in of_path {
            let method = method.to_uppercase().parse().expect("a method");
            operations.push((method, filled.join("/"), operation.get("requestBody").is_some()));
        }
    }
    assert!(operations.len() > 25, "{operations:?}");
    operations
}

fn form(app: &TestApp) -> RequestBuilder {
    let file = multipart::Part::bytes("Paid leave is 99 days.".as_bytes().to_vec()).file_name("leave.md");
    let form = multipart::Form::new().text("collection", "c").part("file", file);
    app.request(Method::POST, "/v1/documents?wait=true").multipart(form)
}

#[tokio::test]
async fn no_page_of_another_site_reaches_a_route() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("leave.md", "Paid leave is 28 days.")]).await;
    for (method, path, _) in operations(&app).await {
        let request = || app.request(method.clone(), &path);
        let rebound = send(request().header("Host", "rebind.attacker.example")).await;
        rebound.assert_problem(421, "host_not_allowed");
        send(request().header("Origin", "https://evil.example")).await.assert_problem(403, "cross_origin");
        send(request().header("Sec-Fetch-Site", "cross-site")).await.assert_problem(403, "cross_origin");
    }
    send(form(&app).header("Origin", "https://evil.example")).await.assert_problem(403, "cross_origin");
    send(form(&app).header("Host", "rebind.attacker.example")).await.assert_problem(421, "host_not_allowed");
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job").await, 1);
    assert_eq!(app.get("/v1/documents?collection=c").await.body["documents"][0]["version"], 1);
    // The same form by a program, and by a page of the service.
    assert_eq!(send(form(&app)).await.status, 200);
    assert_eq!(send(form(&app).header("Origin", &app.base)).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn bodies_that_a_page_may_send_without_asking_are_not_read() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let mut tried = 0;
    for (method, path, has_body) in operations(&app).await {
        if !has_body {
            continue;
        }
        for media_type in ["text/plain", "application/x-www-form-urlencoded", ""] {
            let body = json!({"documents": [{"source": "a.md", "text": "Words."}]}).to_string();
            let request = app.request(method.clone(), &path).header("Content-Type", media_type).body(body);
            send(request).await.assert_problem(415, "unsupported_media_type");
            tried += 1;
        }
    }
    assert!(tried >= 15, "{tried}");
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job").await, 0);
    app.stop().await;
}

#[tokio::test]
async fn names_and_origins_of_the_deployment_are_let_in() {
    let server = ModelServer::start().await;
    let settings = [("CITED_ALLOWED_HOSTS", "cited.example"), ("CITED_ALLOWED_ORIGINS", "https://app.example")];
    let app = TestApp::start_with_embeddings(&server, &settings).await;
    let get = |host: &str, origin: &str| {
        send(app.request(Method::GET, "/v1/collections").header("Host", host).header("Origin", origin))
    };
    assert_eq!(get("cited.example", "https://app.example").await.status, 200);
    assert_eq!(get("cited.example", "https://cited.example").await.status, 200);
    get("cited.example", "https://other.example").await.assert_problem(403, "cross_origin");
    get("other.example", "https://app.example").await.assert_problem(421, "host_not_allowed");
    app.stop().await;
}

/// A proxy on the same machine that was not meant to publish a service without keys.
#[tokio::test]
async fn a_service_without_keys_and_names_serves_no_client_of_a_proxy() {
    let server = ModelServer::start().await;
    for (settings, is_served) in [(&[][..], false), (&[("CITED_ALLOWED_HOSTS", "cited.example")][..], true)] {
        let app = TestApp::start_with_embeddings(&server, settings).await;
        let passed_on =
            send(app.request(Method::GET, "/v1/collections").header("X-Forwarded-For", "203.0.113.7")).await;
        if is_served {
            assert_eq!(passed_on.status, 200, "{passed_on:?}");
        } else {
            passed_on.assert_problem(421, "host_not_allowed");
        }
        let own = send(app.request(Method::GET, "/v1/collections").header("X-Forwarded-For", "127.0.0.1")).await;
        assert_eq!(own.status, 200, "{own:?}");
        app.stop().await;
    }
}

#[tokio::test]
async fn a_page_of_an_origin_of_the_deployment_may_read_and_send_more_than_a_form() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_ALLOWED_ORIGINS", "https://app.example")]).await;
    let preflight = |origin: &str| {
        let request = app.request(Method::OPTIONS, "/v1/ask").header("Origin", origin);
        let request = request.header("Access-Control-Request-Method", "POST");
        send(request.header("Access-Control-Request-Headers", "authorization,content-type"))
    };
    let allowed = preflight("https://app.example").await;
    assert_eq!(allowed.status, 200, "{allowed:?}");
    assert_eq!(allowed.headers["access-control-allow-origin"], "https://app.example");
    let headers = allowed.headers["access-control-allow-headers"].to_str().expect("text").to_owned();
    assert!(headers.contains("authorization") && headers.contains("content-type"), "{headers}");
    assert!(!allowed.headers.contains_key("access-control-allow-credentials"));
    assert!(!preflight("https://evil.example").await.headers.contains_key("access-control-allow-origin"));

    // A failure can be read too, and what is told in headers.
    let request = app.request(Method::POST, "/v1/ask").header("Origin", "https://app.example");
    let refused = send(request.json(&json!({"question": " "}))).await;
    refused.assert_problem(422, "invalid_request");
    assert_eq!(refused.headers["access-control-allow-origin"], "https://app.example");
    let read = refused.headers["access-control-expose-headers"].to_str().expect("text").to_owned();
    assert!(read.contains("retry-after") && read.contains("x-request-id"), "{read}");
    app.stop().await;

    let alone = TestApp::with_embeddings(&server).await;
    let answer = send(alone.request(Method::OPTIONS, "/v1/ask").header("Origin", "https://app.example")).await;
    assert!(!answer.headers.contains_key("access-control-allow-origin"), "{answer:?}");
    alone.stop().await;
}
