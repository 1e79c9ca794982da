//! Servers of models that are reached by http are asked directly: a proxy of the environment would read every prompt and key.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Router, http::StatusCode};
use serde_json::json;

use crate::{
    database,
    harness::{Served, client, send},
    process::Process,
    scripted::ModelServer,
};

#[tokio::test]
async fn a_proxy_of_the_environment_reads_no_prompt() {
    let models = ModelServer::start().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let refuse = move || {
        count.fetch_add(1, Ordering::SeqCst);
        async { StatusCode::BAD_GATEWAY }
    };
    let proxy = Served::start(Router::new().fallback(refuse)).await;
    let (proxy, database) = (format!("http://{}", proxy.address), database::create().await);
    let (url, base) = (database::url(&database), models.base_url());
    let process = Process::serve(&[
        ("DATABASE_URL", url.as_str()),
        ("CITED_EMBEDDING_BASE_URL", base.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("HTTP_PROXY", proxy.as_str()),
        ("http_proxy", proxy.as_str()),
    ])
    .await;
    let body = json!({"collection": "c", "documents": [{"source": "a", "text": "Boats land here."}]});
    let job = send(client().post(format!("{}/v1/documents?wait=true", process.base)).json(&body)).await;
    assert_eq!((job.status, &job.body["counts"]["documents"]), (200, &json!(1)), "{job:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    process.stop().await;
}
