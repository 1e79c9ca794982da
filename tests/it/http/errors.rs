//! Every error is a complete problem document; keys, limits and probes.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::{
    database,
    harness::{TestApp, body_of, send},
    scripted::ModelServer,
};

async fn app(settings: &[(&str, &str)]) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let app = TestApp::with_models_and(&server, settings).await;
    (server, app)
}

#[tokio::test]
async fn bad_requests_are_explained() {
    let (_server, app) = app(&[]).await;
    app.get("/nowhere").await.assert_problem(404, "not_found");
    app.get("/v1/documents/not-a-uuid").await.assert_problem(404, "not_found");
    app.get("/v1/jobs/01a20082-8031-747f-87a7-5e9f17eb8160").await.assert_problem(404, "not_found");
    let text = app.post("/v1/ask", json!({"question": "?", "collections": "handbook"})).await;
    let told = "invalid type: string \"handbook\", expected a list";
    assert_eq!(
        (&text.body["errors"][0]["pointer"], &text.body["errors"][0]["detail"]),
        (&json!("/collections"), &json!(told))
    );
    let answer = send(app.request(Method::PATCH, "/v1/ask")).await;
    answer.assert_problem(405, "method_not_allowed");
    assert!(answer.headers.contains_key(header::ALLOW));
    for path in ["/v1/ask", "/v1/search", "/v1/documents", "/v1/collections"] {
        let request = |content_type: &'static str, body: &'static str| {
            app.request(Method::POST, path).header(header::CONTENT_TYPE, content_type).body(body)
        };
        send(request("application/json", "{")).await.assert_problem(400, "unreadable_body");
        send(request("application/json", "")).await.assert_problem(400, "unreadable_body");
        send(request("text/plain", "{}")).await.assert_problem(415, "unsupported_media_type");
        send(request("application/json", "[]")).await.assert_problem(422, "invalid_request");
        send(request("application/json", "{\"surprise\": 1}")).await.assert_problem(422, "invalid_request");
        send(app.request(Method::POST, path).header(header::CONTENT_TYPE, "application/json").body(vec![0xff, 0xfe]))
            .await
            .assert_problem(400, "unreadable_body");
    }
    let answer = send(
        app.request(Method::POST, "/v1/documents")
            .header(header::CONTENT_TYPE, "multipart/form-data; boundary=x")
            .body("--x\r\nbroken"),
    )
    .await;
    answer.assert_problem(400, "unreadable_body");
    app.stop().await;
}

#[tokio::test]
async fn wrong_shapes_are_named_and_nothing_is_read_as_something_else() {
    let (_server, app) = app(&[]).await;
    for (path, body, pointer) in [
        ("/v1/search", json!({"query": "jars", "filter": []}), "/filter"),
        ("/v1/search", json!({"query": "jars", "filter": [{"team": "it"}]}), "/filter"),
        ("/v1/search", json!({"query": "jars", "mode": null}), "/mode"),
        ("/v1/search", json!({"query": "jars", "include": [5]}), "/include/0"),
        ("/v1/ask", json!({"question": "Jars?", "filter": []}), "/filter"),
        ("/v1/ask", json!({"question": "Jars?", "cache": [300]}), "/cache"),
        ("/v1/ask", json!({"question": "Jars?", "limits": []}), "/limits"),
        ("/v1/ask", json!({"question": "Jars?", "validation": {}}), "/validation"),
        ("/v1/check", json!({"text": "Jars are red.", "filter": []}), "/filter"),
        ("/v1/collections", json!({"name": "jars", "splitter": []}), "/splitter"),
        ("/v1/collections", json!({"name": "jars", "indexing": null}), "/indexing"),
    ] {
        let answer = app.post(path, body.clone()).await;
        answer.assert_problem(422, "invalid_request");
        assert_eq!(answer.pointers(), [pointer], "{body}");
    }
    let packed =
        app.request(Method::POST, "/v1/documents/bulk?collection=jars").header(header::CONTENT_ENCODING, "gzip");
    let answer = send(packed.header(header::CONTENT_TYPE, "application/x-ndjson").body(vec![0x1f, 0x8b, 8, 0])).await;
    answer.assert_problem(415, "unsupported_media_type");
    assert!(answer.body["detail"].as_str().is_some_and(|detail| detail.contains("Content-Encoding")), "{answer:?}");
    assert_eq!(app.get("/v1/jobs").await.body["jobs"], json!([]));
    app.stop().await;
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let (_server, app) = app(&[]).await;
    let request = |path: &str, bytes: usize| app.request(Method::GET, path).header("x-long", "x".repeat(bytes));
    assert_eq!(send(request("/v1/collections", 30_000)).await.status, 200);
    send(request("/v1/collections", 33_000)).await.assert_problem(431, "headers_too_large");
    let query = format!("/v1/documents?prefix={}", "p".repeat(20_000));
    send(request(&query, 20_000)).await.assert_problem(431, "headers_too_large");
    // Of more than this not all is read, and who asks for what is not known.
    assert_eq!(send(request("/v1/collections", 200_000)).await.status, 431);
    assert_eq!(app.get("/readyz").await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn nul_is_refused_wherever_it_stands() {
    let (_server, app) = app(&[]).await;
    app.get("/v1/collections/a%00b").await.assert_problem(404, "not_found");
    app.delete("/v1/collections/a%00b").await.assert_problem(404, "not_found");
    let queries = [
        "/v1/collections?cursor=a%00b",
        "/v1/documents?source_prefix=%00",
        "/v1/jobs?limit=5&collection=%00",
        "/v1/audit?key_id=%00",
    ];
    for path in queries {
        let answer = app.get(path).await;
        answer.assert_problem(422, "invalid_request");
        assert!(answer.pointers()[0].starts_with('?') && path.contains(answer.pointers()[0].trim_start_matches('?')));
    }
    for path in ["/v1/ask", "/v1/search"] {
        let words = if path == "/v1/ask" { "question" } else { "query" };
        let filter = json!({"metadata": {"a\u{0}b": 1}});
        let answer = app.post(path, json!({words: "Why?", "collections": ["c"], "filter": filter})).await;
        answer.assert_problem(422, "invalid_request");
        assert_eq!(answer.pointers(), ["/filter/metadata/a\u{0}b"]);
    }
    let document = json!({"source": "a", "url": "https://example.org/a\u{0}b"});
    let answer = app.post("/v1/documents", json!({"collection": "c", "documents": [document]})).await;
    answer.assert_problem(422, "invalid_request");
    app.stop().await;
}

#[tokio::test]
async fn wrong_values_of_an_ask_are_all_named() {
    let (_server, app) = app(&[]).await;
    let body = json!({"question": "", "collections": ["a", "a"], "top_k": 101, "temperature": 3, "stream": true, "cache": {"ttl_s": 99_999_999}, "limits": {"timeout_ms": 0}});
    let answer = app.ask(body).await;
    answer.assert_problem(422, "invalid_request");
    assert_eq!(
        answer.pointers(),
        ["/question", "/collections/1", "/top_k", "/temperature", "/limits/timeout_ms", "/cache/ttl_s"]
    );
    let answer = app.ask(json!({"question": "Why?", "validation": "strict"})).await;
    assert_eq!(answer.pointers(), ["/validation"]);
    app.stop().await;
}

/// The schema that a member refers to, or its own; of one that may be null, the other alternative.
fn limits_of<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = schema["oneOf"].get(0).unwrap_or(schema);
    schema["$ref"].as_str().map_or(schema, |name| document.pointer(name.trim_start_matches('#')).expect(name))
}

/// Sends a value of this size in this member of a request.
type Sized = fn(usize) -> Value;

#[tokio::test]
async fn values_may_be_as_long_as_the_document_says_and_no_longer() {
    let (_server, app) = app(&[]).await;
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    let members: [(&str, &str, &str, &str, Sized); 7] = [
        ("/v1/search", "SearchRequest", "query", "/query", |size| json!({"query": "x".repeat(size)})),
        ("/v1/search", "SearchRequest", "top_k", "/top_k", |size| json!({"query": "x", "top_k": size})),
        (
            "/v1/search",
            "SearchRequest",
            "collections",
            "/collections",
            |size| json!({"query": "x", "collections": (0..size).map(|name| format!("c{name}")).collect::<Vec<_>>()}),
        ),
        (
            "/v1/ask",
            "AskRequest",
            "question",
            "/question",
            |size| json!({"question": "x".repeat(size), "dry_run": true}),
        ),
        ("/v1/collections", "NewCollection", "name", "/name", |size| json!({"name": "x".repeat(size)})),
        (
            "/v1/documents",
            "NewDocument",
            "source",
            "/documents/0/source",
            |size| json!({"documents": [{"source": "x".repeat(size), "text": "A text."}]}),
        ),
        (
            "/v1/documents",
            "NewDocument",
            "title",
            "/documents/0/title",
            |size| json!({"documents": [{"source": "x", "text": "A text.", "title": "x".repeat(size)}]}),
        ),
    ];
    for (path, schema, member, pointer, body) in members {
        let limits = limits_of(&document, &document["components"]["schemas"][schema]["properties"][member]);
        let limit = |names: [&str; 3]| {
            let number = names.iter().find_map(|name| limits[*name].as_u64()).expect(member);
            usize::try_from(number).expect(member)
        };
        let least = limit(["minLength", "minItems", "minimum"]);
        let most = limit(["maxLength", "maxItems", "maximum"]);
        for (size, is_allowed) in [(least - 1, false), (least, true), (most, true), (most + 1, false)] {
            let answer = app.post(path, body(size)).await;
            let is_refused = answer.status == 422 && answer.pointers() == [pointer];
            assert_eq!(is_refused, !is_allowed, "{path} {member} of {size}: {}", answer.status);
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn bodies_have_a_limit() {
    let (_server, app) = app(&[("CITED_MAX_BODY_BYTES", "1000000")]).await;
    let large = json!({"documents": [{"source": "a", "text": "x".repeat(1_100_000)}]});
    let answer = app.post("/v1/documents", large).await;
    answer.assert_problem(413, "body_too_large");
    assert_eq!(answer.body["value"], json!(1_000_000));
    let answer = app.ask(json!({"question": "x".repeat(300_000)})).await;
    answer.assert_problem(413, "body_too_large");
    assert_eq!(answer.body["value"], json!(256 * 1024), "the limit of this route, not the largest of all");
    app.stop().await;
}

#[tokio::test]
async fn keys_open_every_route_that_is_listed() {
    let keys = [
        ("CITED_API_KEYS", "first-key-0123456789, second-key-0123456789"),
        // There are more operations than requests without a valid key that an address may send in a minute.
        ("CITED_REFUSALS_PER_MINUTE", "1000"),
    ];
    let (_server, app) = app(&keys).await;
    let document: Value = app.get("/openapi.json").await.body;
    let paths = document["paths"].as_object().expect("paths");
    assert!(paths.len() >= 12, "{paths:?}");
    for (path, methods) in paths {
        let concrete = path.replace("{id}", "01a20082-8031-747f-87a7-5e9f17eb8160").replace("{name}", "c");
        for method in methods.as_object().expect("methods").keys() {
            let method: Method = method.to_uppercase().parse().expect("a method");
            let bare = send(app.request(method.clone(), &concrete)).await;
            if matches!(path.as_str(), "/livez" | "/readyz" | "/.well-known/oauth-protected-resource/mcp") {
                assert_eq!(bare.status, 200, "{path}");
            } else {
                bare.assert_problem(401, "unauthorized");
                let challenge = bare.headers[header::WWW_AUTHENTICATE].to_str().expect("a challenge");
                assert!(challenge.starts_with("Bearer"), "{path}: {challenge}");
                let wrong = send(app.request(method.clone(), &concrete).bearer_auth("wrong-key-0123456789")).await;
                wrong.assert_problem(401, "unauthorized");
                let right = send(app.request(method, &concrete).bearer_auth("second-key-0123456789")).await;
                assert_ne!(right.status, 401, "{path}");
            }
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn probes_pages_and_request_ids() {
    let (_server, app) = app(&[]).await;
    assert_eq!(app.get("/livez").await.body["status"], "ok");
    assert_eq!(app.get("/readyz").await.body["status"], "ok");
    let page = app.request(Method::GET, "/docs/").send().await.expect("a page");
    assert_eq!(page.status(), 200);
    assert!(body_of(page).await.contains("swagger"));
    let answer = send(app.request(Method::GET, "/nowhere").header("x-request-id", "mine-1")).await;
    assert_eq!(answer.body["request_id"], "mine-1");
    let answer = send(app.request(Method::GET, "/nowhere").header("x-request-id", "not mine\t!")).await;
    assert_ne!(answer.body["request_id"], "not mine\t!");
    app.stop().await;
}

#[tokio::test]
async fn a_sabotaged_schema_is_a_500_that_tells_nothing() {
    let (_server, app) = app(&[]).await;
    database::execute(&app.database, "ALTER TABLE collection RENAME COLUMN name TO secret_column").await;
    let answer = app.get("/v1/collections").await;
    answer.assert_problem(500, "internal");
    assert!(!answer.body.to_string().contains("secret_column"), "{answer:?}");
    database::execute(&app.database, "ALTER TABLE collection RENAME COLUMN secret_column TO name").await;
    app.stop().await;
}
