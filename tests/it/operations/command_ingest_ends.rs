//! `cited ingest` against a service that takes no documents: it ends with the reason, or waits where that helps.

use std::{
    process::Output,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    http::StatusCode,
    response::IntoResponse,
    routing::{get, post},
};
use serde_json::{Value, json};

use crate::{harness::Served, process::command};

/// A service that answers the first requests for documents so, and takes the next ones.
async fn service(refusals: usize, status: u16, code: &'static str, retry_after: &'static str) -> Served {
    let asked = Arc::new(AtomicUsize::new(0));
    let take = async move || {
        if asked.fetch_add(1, Ordering::Relaxed) < refusals {
            let status = StatusCode::from_u16(status).expect("a status");
            let problem = json!({"code": code, "detail": "the reason"});
            return (status, [("retry-after", retry_after)], Json(problem)).into_response();
        }
        (StatusCode::ACCEPTED, Json(json!({"id": "1"}))).into_response()
    };
    let counts = json!({"documents": 1, "searchable": 1, "chunks": 1});
    let job = json!({"id": "1", "finished_at": "2026-01-01T00:00:00Z", "counts": counts, "items": []});
    let router = Router::new()
        .route("/readyz", get(async || "ready"))
        .route("/v1/documents", post(take))
        .route("/v1/jobs/1", get(async move || Json(job)));
    Served::start(router).await
}

async fn ingest(service: &Served, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.md"), "Words.").expect("written");
    let base = format!("http://{}", service.address);
    let arguments = [&["ingest", "a.md", "--server", base.as_str()], arguments].concat();
    let running = command(&arguments, &[]).current_dir(folder.path()).output();
    tokio::time::timeout(Duration::from_mins(1), running).await.expect("it ends").expect("it runs")
}

fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (text(&output.stdout), text(&output.stderr))
}

#[tokio::test]
async fn refusals_that_stay_are_the_end_and_its_reason() {
    let again = "run the command again";
    for (status, code, told) in [
        (401, "unauthenticated", "HTTP 401: the reason; set CITED_API_KEY to a key of http://127.0.0.1:"),
        (403, "insufficient_scope", "cited: HTTP 403: the reason"),
        (404, "not_found", "cited: HTTP 404: the reason"),
        (501, "not_implemented", "cited: HTTP 501: the reason"),
    ] {
        let service = service(usize::MAX, status, code, "0").await;
        let output = ingest(&service, &[]).await;
        let (report, error) = said(&output);
        assert_eq!((output.status.code(), report.as_str()), (Some(1), ""), "{status}");
        assert!(error.contains(told) && !error.contains(again), "{error}");
        let output = ingest(&service, &["--json"]).await;
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((output.status.code(), &report["stored"]), (Some(1), &json!(0)));
        let reason = format!("HTTP {status}: the reason");
        assert!(report["error"].as_str().is_some_and(|error| error.starts_with(&reason)), "{report}");
    }
}

#[tokio::test]
async fn a_day_is_not_waited_for_and_a_moment_is() {
    let over = service(usize::MAX, 429, "daily_quota", "40000").await;
    let output = ingest(&over, &[]).await;
    let (report, error) = said(&output);
    assert_eq!((output.status.code(), report.as_str()), (Some(1), ""), "{error}");
    assert!(error.contains("HTTP 429: the reason; it takes no more for the next 11 h"), "{error}");
    assert!(error.contains("run the command again"), "{error}");

    let busy = service(2, 429, "rate_limited", "1").await;
    let output = ingest(&busy, &["--json"]).await;
    let (report, error) = said(&output);
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((&report["stored"], &report["error"]), (&json!(1), &Value::Null), "{error}");
    assert_eq!(error.matches("HTTP 429: the reason; waiting 1 s for it\n").count(), 1, "{error}");
}
