//! The statements of the `OpenAPI` document about requests hold.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::{
    harness::{TestApp, send},
    scripted::ModelServer,
};

fn document() -> Value {
    serde_json::to_value(cited::openapi_document()).expect("JSON")
}

/// The body of a request that the pages at `/docs` fill in, with its media type.
fn prefilled<'a>(document: &'a Value, operation: &'a Value) -> (&'a str, &'a Value) {
    let content = operation["requestBody"]["content"].as_object().expect("a body");
    let (media_type, media) =
        content.iter().find(|(name, _)| name.contains("json")).expect("a body that is JSON, or lines of it");
    let example = media["examples"].as_object().and_then(|examples| examples.values().next());
    let own = media["schema"]["$ref"]
        .as_str()
        .map(|path| &document.pointer(path.trim_start_matches('#')).expect(path)["example"]);
    (media_type, example.map(|example| &example["value"]).or(own).expect("an example"))
}

#[tokio::test]
async fn prefilled_requests_work_on_a_fresh_service() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let document = document();
    // Documents twice: the second time must work as well.
    let paths = [
        "/v1/collections",
        "/v1/documents",
        "/v1/documents",
        "/v1/documents/bulk",
        "/v1/search",
        "/v1/ask",
        "/v1/check",
    ];
    for path in paths {
        let operation = &document["paths"][path]["post"];
        let (media_type, body) = prefilled(&document, operation);
        let mut request = app.request(Method::POST, path);
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let example = parameter.get("example").or_else(|| parameter["schema"].get("example"));
            let Some(example) = example.and_then(Value::as_str) else { continue };
            // A query parameter that is filled in would be sent too; none is.
            assert_eq!(parameter["in"], "header", "{path}: {parameter}");
            request = request.header(parameter["name"].as_str().expect("a name"), example);
        }
        let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        let answer = send(request.header(header::CONTENT_TYPE, media_type).body(body)).await;
        assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
        if let Some(id) = answer.body["id"].as_str().filter(|_| path.starts_with("/v1/documents")) {
            assert_eq!(app.ended_job(id).await["state"], "succeeded", "{path}");
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn places_in_lists_end_where_the_document_says() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let job = app.ingest("c", &[("a.md", "Some words.")]).await;
    let document_id = job["items"][0]["document_id"].as_str().expect("id");
    let lists = [
        ("/v1/documents/{id}/chunks", format!("/v1/documents/{document_id}/chunks"), "from"),
        ("/v1/jobs/{id}", format!("/v1/jobs/{}", job["id"].as_str().expect("id")), "items_from"),
    ];
    let described = document();
    for (path, concrete, name) in lists {
        let parameters = described["paths"][path]["get"]["parameters"].as_array().expect("parameters");
        let parameter = parameters.iter().find(|parameter| parameter["name"] == name).expect(name);
        let most = parameter["schema"]["maximum"].as_u64().expect("a maximum");
        assert_eq!(app.get(&format!("{concrete}?{name}={most}")).await.status, 200, "{concrete}");
        let beyond = app.get(&format!("{concrete}?{name}={}", most + 1)).await;
        beyond.assert_problem(422, "invalid_request");
        assert_eq!(beyond.pointers(), [format!("?{name}")]);
    }
    app.stop().await;
}

/// The range in the document spans both units; within it the service holds each unit to its own, which the description
/// tells.
#[tokio::test]
async fn sizes_of_chunks_end_where_the_document_says() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let described = document();
    let size = described.pointer("/components/schemas/Splitter/properties/size").expect("a size");
    let description = size["description"].as_str().expect("a description");
    assert!(description.contains("16 to 32,768 tokens or 64 to 131,072 characters"), "{description}");
    let bounds = [("tokens", 16, 32_768), ("characters", 64, 131_072)];
    assert_eq!(size["minimum"], bounds.map(|(_, least, _)| least).into_iter().min().expect("bounds"));
    assert_eq!(size["maximum"], bounds.map(|(_, _, most)| most).into_iter().max().expect("bounds"));
    for (unit, least, most) in bounds {
        for (size, is_taken) in [(least - 1, false), (least, true), (most, true), (most + 1, false)] {
            let name = format!("{unit}-{size}");
            let body = json!({"name": name, "splitter": {"unit": unit, "size": size, "overlap": 0}});
            let answer = app.post("/v1/collections", body).await;
            if is_taken {
                assert_eq!(answer.status, 201, "{name}: {answer:?}");
            } else {
                answer.assert_problem(422, "invalid_request");
                assert_eq!(answer.pointers(), ["/splitter/size"], "{name}");
            }
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn lines_may_come_as_bytes_of_no_type() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let line = json!({"source": "a.md", "text": "Some words."}).to_string();
    let request = app.request(Method::POST, "/v1/documents/bulk?wait=true");
    let answer = send(request.header(header::CONTENT_TYPE, "application/octet-stream").body(line)).await;
    assert_eq!((answer.status, &answer.body["counts"]["documents"]), (200, &json!(1)), "{answer:?}");
    app.stop().await;
}
