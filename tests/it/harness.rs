//! The service as a test sees it: a base URL, and helpers for what most tests do.

use std::{collections::BTreeMap, net::SocketAddr};

use axum::Router;
use cited::{App, Config, Context, Shutdown};
use reqwest::{Client, Method, RequestBuilder, Response, header};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{
    canaries::{self, Member},
    database,
    scripted::ModelServer,
    wait,
};

/// A running service on a database of its own.
pub(crate) struct TestApp {
    pub base: String,
    pub client: Client,
    pub database: PgConnectOptions,
    shutdown: Shutdown,
    running: JoinHandle<anyhow::Result<()>>,
    /// The operator's key, if there is one.
    operator: Option<String>,
    /// Whether the client presents the key of a member.
    has_member: bool,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Value,
    /// The body as it came.
    pub text: String,
}

impl TestApp {
    /// With the built-in models.
    pub(crate) async fn built_in() -> Self {
        Self::start(database::create().await, &[]).await
    }

    /// With scripted models for embedding and chat.
    pub(crate) async fn with_models(server: &ModelServer) -> Self {
        Self::with_models_and(server, &[]).await
    }

    /// With scripted models and further settings.
    pub(crate) async fn with_models_and(server: &ModelServer, settings: &[(&str, &str)]) -> Self {
        let url = server.base_url();
        let mut all = vec![
            ("CITED_EMBEDDING_BASE_URL", url.as_str()),
            ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
            ("CITED_CHAT_BASE_URL", url.as_str()),
            ("CITED_CHAT_MODEL", "scripted-chat"),
            ("CITED_CHAT_API_KEY", "secret-model-key"),
        ];
        all.extend_from_slice(settings);
        Self::start(database::create().await, &all).await
    }

    /// With a scripted embedding model and the built-in answerer.
    pub(crate) async fn with_embeddings(server: &ModelServer) -> Self {
        Self::start_with_embeddings(server, &[]).await
    }

    /// With a scripted embedding model, the built-in answerer and further settings.
    pub(crate) async fn start_with_embeddings(server: &ModelServer, settings: &[(&str, &str)]) -> Self {
        let url = server.base_url();
        let mut all = vec![("CITED_EMBEDDING_BASE_URL", url.as_str()), ("CITED_EMBEDDING_MODEL", "scripted-embedding")];
        all.extend_from_slice(settings);
        Self::start(database::create().await, &all).await
    }

    /// On a given database with given settings.
    pub(crate) async fn start(database: PgConnectOptions, settings: &[(&str, &str)]) -> Self {
        Self::start_with_file(database, settings, "").await
    }

    /// With a scripted embedding model, given settings, and the text of a configuration file.
    pub(crate) async fn with_file(server: &ModelServer, settings: &[(&str, &str)], file: &str) -> Self {
        let url = server.base_url();
        let mut all = vec![("CITED_EMBEDDING_BASE_URL", url.as_str()), ("CITED_EMBEDDING_MODEL", "scripted-embedding")];
        all.extend_from_slice(settings);
        Self::start_with_file(database::create().await, &all, file).await
    }

    /// On a given database with given settings and the text of a configuration file. A test that says nothing of keys asks
    /// as a [member](Member).
    pub(crate) async fn start_with_file(database: PgConnectOptions, settings: &[(&str, &str)], file: &str) -> Self {
        let mut variables: BTreeMap<String, String> = BTreeMap::from([
            ("CITED_LISTEN".to_owned(), "127.0.0.1:0".to_owned()),
            ("CITED_EMBEDDING_THREADS".to_owned(), "1".to_owned()),
            ("CITED_DATABASE_CONNECTIONS".to_owned(), "6".to_owned()),
            // Of itself the service would start the program of the tests.
            ("CITED_EXTRACT_PROGRAM".to_owned(), env!("CARGO_BIN_EXE_cited").to_owned()),
            // Programs installed on a machine change nothing.
            ("CITED_OCR".to_owned(), "off".to_owned()),
            ("DATABASE_URL".to_owned(), database::url(&database)),
        ]);
        variables.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let has_member = Member::is_let_in(&mut variables);
        let operator = variables.get("CITED_API_KEYS").and_then(|keys| keys.split(',').next()).map(str::to_owned);
        let config = Config::from_sources(variables, file).expect("a valid configuration");
        let app = App::build(&config, Context::system()).await.expect("the service starts");
        let base = format!("http://127.0.0.1:{}", app.port());
        let shutdown = Shutdown::default();
        let running = tokio::spawn(app.run_until_stopped(shutdown.clone()));
        let client = if has_member { Member::join(&base).await.client() } else { client() };
        Self { base, client, database, shutdown, running, operator, has_member }
    }

    /// Stops the service and checks that it ended well and left its data in order.
    pub(crate) async fn stop(self) {
        let database = self.database.clone();
        self.end().await;
        database::assert_consistent(&database).await;
    }

    /// Stops the service and checks that it ended well.
    pub(crate) async fn end(self) {
        canaries::assert_absent_from_metrics(&self.base, self.operator.as_deref()).await;
        self.shutdown.stop();
        self.running.await.expect("no panic").expect("a clean stop");
        canaries::assert_absent_from_logs();
        canaries::assert_absent_from_the_log_of_postgres().await;
    }

    /// A request with the member's key, or with that of the operator where no other opens the operation.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let operator = self.has_member.then(|| canaries::operator_for(&method, path)).flatten();
        let request = self.client.request(method, format!("{}{path}", self.base));
        match operator {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        send(self.request(Method::DELETE, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        send(self.request(Method::POST, path).json(&body)).await
    }

    /// Ingests Markdown documents and waits for the finished job, which must have succeeded. Beside them a member's collection
    /// gets [hidden twins](canaries::hidden_twins), which say the same.
    pub(crate) async fn ingest(&self, collection: &str, documents: &[(&str, &str)]) -> Value {
        let documents: Vec<Value> = documents
            .iter()
            .map(|(source, text)| json!({"source": source, "text": text, "media_type": "text/markdown"}))
            .collect();
        let answer =
            self.post("/v1/documents?wait=true", json!({"collection": collection, "documents": documents})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.body["state"], "succeeded", "{answer:?}");
        if self.has_member && canaries::wants_twins() {
            let upload = json!({"collection": collection, "documents": canaries::hidden_twins(&documents)});
            let request = self.request(Method::POST, "/v1/documents?wait=true");
            let twins = receive(request.bearer_auth(canaries::OPERATOR).json(&upload)).await;
            assert_eq!(twins.body["state"], "succeeded", "{twins:?}");
        }
        answer.body
    }

    /// A job once it has ended.
    pub(crate) async fn ended_job(&self, id: &str) -> Value {
        wait::until_ok("the job ends", async || {
            let job = self.get(&format!("/v1/jobs/{id}")).await.body;
            if job["finished_at"].is_string() { Ok(job) } else { Err(job) }
        })
        .await
    }

    pub(crate) async fn ask(&self, body: Value) -> Answer {
        self.post("/v1/ask", body).await
    }
}

/// The whole body of a response that is no JSON, such as a stream of events, which holds no word of a canary either.
pub(crate) async fn body_of(response: Response) -> String {
    let text = response.text().await.expect("a whole body");
    canaries::assert_absent("a body", &text);
    text
}

/// The same, read as JSON.
pub(crate) async fn json_of(response: Response) -> Value {
    serde_json::from_str(&body_of(response).await).expect("JSON")
}

/// The next part of a body as it arrives, which holds no word of a canary either; `None` at its end.
pub(crate) async fn part_of(response: &mut Response) -> reqwest::Result<Option<String>> {
    let part = response.chunk().await?.map(|part| String::from_utf8_lossy(&part).into_owned());
    canaries::assert_absent("a part of a body", part.as_deref().unwrap_or_default());
    Ok(part)
}

/// A client for loopback.
pub(crate) fn client() -> Client {
    // The first caller installs it; reqwest asks for one even where nothing is encrypted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().build().expect("a client")
}

/// The same, which presents a key.
pub(crate) fn client_with(key: &str) -> Client {
    let bearer = header::HeaderValue::from_str(&format!("Bearer {key}")).expect("a header");
    let headers = header::HeaderMap::from_iter([(header::AUTHORIZATION, bearer)]);
    Client::builder().no_proxy().default_headers(headers).build().expect("a client")
}

/// Sends a request; the body is null where it is not JSON. No answer holds a word of a canary.
pub(crate) async fn send(request: RequestBuilder) -> Answer {
    let answer = receive(request).await;
    canaries::assert_absent("an answer", &format!("{:?} {}", answer.headers, answer.text));
    answer
}

/// The same, whatever the answer holds.
pub(crate) async fn receive(request: RequestBuilder) -> Answer {
    let response = request.send().await.expect("the service answers");
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let body = response.bytes().await.expect("a whole body");
    let text = String::from_utf8_lossy(&body).into_owned();
    Answer { status, headers, body: serde_json::from_slice(&body).unwrap_or_default(), text }
}

impl Answer {
    /// Checks that this is a problem document of this status and code, complete.
    pub(crate) fn assert_problem(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{self:?}");
        // Clients of OpenAI get their own `error` beside the members of the problem document.
        let media_type = if self.body["error"].is_object() { "application/json" } else { "application/problem+json" };
        assert_eq!(
            self.headers.get("content-type").and_then(|value| value.to_str().ok()),
            Some(media_type),
            "{self:?}"
        );
        assert_eq!(self.body["code"], code, "{self:?}");
        assert_eq!(self.body["status"], status, "{self:?}");
        for member in ["type", "title", "detail", "instance", "request_id"] {
            assert!(self.body[member].as_str().is_some_and(|text| !text.is_empty()), "{member} is missing: {self:?}");
        }
        assert_eq!(
            self.headers.get("x-request-id").and_then(|value| value.to_str().ok()),
            self.body["request_id"].as_str()
        );
    }

    /// Pointers of the wrong values that a 422 names.
    pub(crate) fn pointers(&self) -> Vec<&str> {
        let errors = self.body["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        errors.iter().filter_map(|error| error["pointer"].as_str()).collect()
    }
}

/// The words of `text` at a range of code points.
pub(crate) fn slice(text: &str, start: &Value, end: &Value) -> String {
    let bound = |value: &Value| usize::try_from(value.as_u64().expect("a number")).expect("small");
    text.chars().skip(bound(start)).take(bound(end) - bound(start)).collect()
}

/// A server on loopback; it ends with the value.
pub(crate) struct Served {
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Served {
    pub(crate) async fn start(router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { address, task }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}
