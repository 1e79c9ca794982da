//! A model server that runs on this machine is named at start, and not used.

use std::future::IntoFuture;

use axum::{Json, Router, routing::get};
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    database,
    harness::{client, send},
    process::Process,
    wait,
};

/// The usual ports of Ollama, LM Studio and vLLM.
const PORTS: [u16; 3] = [11434, 1234, 8000];

/// The first of the ports that is free on this machine.
async fn usual_port() -> TcpListener {
    for port in PORTS {
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await {
            return listener;
        }
    }
    panic!("every usual port of a model server is taken");
}

#[tokio::test]
async fn a_model_server_on_this_machine_is_named_and_not_used() {
    let models = json!({"data": [{"id": "nomic-embed-text"}, {"id": "small:3b"}]});
    let listener = usual_port().await;
    let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let router = Router::new().route("/v1/models", get(async move || Json(models)));
    let serving = tokio::spawn(axum::serve(listener, router).into_future());
    let url = database::url(&database::create().await);
    let hint = format!("CITED_CHAT_BASE_URL={base} CITED_CHAT_MODEL=small:3b");

    let service = Process::serve(&[("DATABASE_URL", &url)]).await;
    wait::until("it is named", async || service.logged().iter().any(|line| line.contains(&hint))).await;
    let document = json!({"documents": [{"source": "leave.md", "text": "Everyone has 28 days of paid annual leave."}]});
    send(client().post(format!("{}/v1/documents?wait=true", service.base)).json(&document)).await;
    let ask = json!({"question": "How many days of paid annual leave does everyone have?"});
    let answer = send(client().post(format!("{}/v1/ask", service.base)).json(&ask)).await;
    assert_eq!(
        (&answer.body["outcome"], &answer.body["usage"]["llm_calls"]),
        (&json!("answered"), &json!(0)),
        "{answer:?}"
    );
    service.stop().await;

    let quiet = Process::serve(&[("DATABASE_URL", &url), ("CITED_LOOK_FOR_MODELS", "false")]).await;
    send(client().post(format!("{}/v1/ask", quiet.base)).json(&ask)).await;
    assert!(!quiet.logged().iter().any(|line| line.contains("runs on this machine")), "{:#?}", quiet.logged());
    quiet.stop().await;
    serving.abort();
}
