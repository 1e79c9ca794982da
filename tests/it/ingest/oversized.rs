//! Two hundred megabytes where no such thing fits: refused in so many words, soon, and without being held.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{StreamExt, stream};
use reqwest::{
    Body, Method,
    multipart::{Form, Part},
};
use serde_json::{Value, json};

use crate::{
    database,
    harness::{Answer, client, send},
    process::Process,
    scripted::ModelServer,
};

const MIB: u64 = 1024 * 1024;
const SIZE: u64 = 200 * MIB;
/// Longest that either may take, on a busy machine too.
const SOON: Duration = Duration::from_mins(1);

/// Two hundred megabytes, made as they are sent.
fn words() -> impl futures::Stream<Item = Bytes> + Send + Sync + 'static {
    let part = Bytes::from(b"words and ".repeat(1024 * 1024 / 10 + 1)).slice(..1024 * 1024);
    stream::iter((0..SIZE / MIB).map(move |_| part.clone()))
}

fn body(parts: impl futures::Stream<Item = Bytes> + Send + Sync + 'static) -> Body {
    Body::wrap_stream(parts.map(Ok::<_, std::io::Error>))
}

/// A service in a process of its own, whose memory is its own.
async fn service(server: &ModelServer) -> Process {
    let url = server.base_url();
    let database = database::url(&database::create().await);
    let settings = [
        ("DATABASE_URL", database.as_str()),
        ("CITED_EMBEDDING_BASE_URL", url.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
    ];
    let service = Process::serve(&settings).await;
    let usual = client().post(format!("{}/v1/documents?wait=true", service.base));
    let usual = send(usual.json(&json!({"documents": [{"source": "a", "text": "Usual."}]}))).await;
    assert_eq!(usual.body["state"], "succeeded", "{usual:?}");
    service
}

/// Sends a request, and checks that it is answered soon and takes no more memory than that.
async fn within(
    service: &Process,
    most_bytes: u64,
    path: &str,
    with: impl FnOnce(reqwest::RequestBuilder) -> reqwest::RequestBuilder,
) -> Answer {
    let (started, before) = (Instant::now(), service.peak_memory_bytes());
    let request = with(client().request(Method::POST, format!("{}{path}", service.base)));
    let answer = tokio::time::timeout(SOON, send(request)).await.expect("an answer");
    let taken = service.peak_memory_bytes() - before;
    assert!(taken < most_bytes, "{} MiB more were held, in {:?}", taken / MIB, started.elapsed());
    answer
}

#[tokio::test]
async fn a_line_without_end_is_passed_over() {
    let server = ModelServer::start().await;
    let service = service(&server).await;
    let line = |text: &'static str| stream::iter([Bytes::from_static(text.as_bytes())]);
    let lines = line("{\"source\": \"before\", \"text\": \"Before it.\"}\n{\"source\": \"huge\", \"text\": \"")
        .chain(words())
        .chain(line("\"}\n{\"source\": \"after\", \"text\": \"After it.\"}\n"));
    let answer = within(&service, 80 * MIB, "/v1/documents/bulk?collection=c&wait=true", |request| {
        request.header("content-type", "application/x-ndjson").body(body(lines))
    })
    .await;
    assert_eq!((answer.status, &answer.body["state"]), (200, &json!("partial")), "{answer:?}");
    let mut items: Vec<Value> = answer.body["items"].as_array().expect("items").clone();
    items.sort_by_key(|item| item["source"].to_string());
    let told =
        |item: &Value| (item["source"].clone(), item["state"].clone(), item["stage"].clone(), item["cause"].clone());
    assert_eq!(
        items.iter().map(told).collect::<Vec<_>>(),
        [
            (json!("after"), json!("succeeded"), Value::Null, Value::Null),
            (json!("before"), json!("succeeded"), Value::Null, Value::Null),
            (json!("line 2"), json!("failed"), json!("load"), json!("invalid_line")),
        ]
    );
    assert_eq!(items[2]["message"], "Line 2: the line is longer than 16777216 bytes. Correct it and send it again.");
    service.kill().await;
}

#[tokio::test]
async fn a_file_without_end_is_refused() {
    let server = ModelServer::start().await;
    let service = service(&server).await;
    let form = |part: Part| Form::new().text("collection", "c").part("file", part.file_name("huge.txt"));
    // Announced or not, it is read as far as a body may go.
    let announced = Part::stream_with_length(body(words()), SIZE);
    for part in [announced, Part::stream(body(words()))] {
        let answer =
            within(&service, 150 * MIB, "/v1/documents?wait=true", |request| request.multipart(form(part))).await;
        answer.assert_problem(413, "body_too_large");
        let mut problem = answer.body;
        problem.as_object_mut().expect("an object").remove("request_id");
        assert_eq!(
            problem,
            json!({
                "type": "urn:cited:problem:body_too_large",
                "title": "The request body is too large",
                "status": 413,
                "detail": "the request body is over the limit of 67108864 bytes; send less at once",
                "instance": "/v1/documents",
                "code": "body_too_large",
                "limit": "body_bytes",
                "value": 67_108_864,
            })
        );
    }
    let jobs = send(client().get(format!("{}/v1/jobs", service.base))).await;
    assert_eq!(jobs.body["jobs"].as_array().map(Vec::len), Some(1), "nothing of them was accepted: {jobs:?}");
    service.kill().await;
}
