//! `cited ask`: a question from the command line.

use reqwest::Method;
use serde_json::json;

use crate::{
    harness::{TestApp, send},
    process::{command, output_of},
    scripted::ModelServer,
};

const KEY: &str = "a-long-key-of-the-operator-1234";

/// Output and error output of the command.
async fn ask(settings: &[(&str, &str)]) -> (String, String) {
    let output = output_of(&mut command(&["ask", "--collection", "empty", "Anything?"], settings)).await;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn the_service_that_is_meant_is_asked_with_its_key() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_API_KEYS", KEY)]).await;
    let collection = app.request(Method::POST, "/v1/collections").bearer_auth(KEY).json(&json!({"name": "empty"}));
    assert_eq!(send(collection).await.status, 201);
    let told = "No answer: the collections asked hold no documents.\n";
    let elsewhere = ("CITED_SERVER", app.base.as_str());
    let (answer, error) = ask(&[elsewhere, ("CITED_API_KEY", KEY)]).await;
    assert_eq!(answer, told, "{error}");
    let here = ("CITED_LISTEN", app.base.trim_start_matches("http://"));
    let (answer, error) = ask(&[here, ("CITED_API_KEYS", KEY)]).await;
    assert_eq!(answer, told, "{error}");
    // Keys of this machine's configuration go nowhere else.
    let (answer, error) = ask(&[elsewhere, ("CITED_API_KEYS", KEY)]).await;
    assert!(error.contains("HTTP 401"), "{answer}{error}");
    let (_, error) = ask(&[("CITED_SERVER", "http://127.0.0.1:1")]).await;
    assert!(error.contains("no service answers at http://127.0.0.1:1"), "{error}");
    app.stop().await;
}
