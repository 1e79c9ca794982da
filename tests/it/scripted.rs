//! A model server that speaks the `OpenAI` API and does what the test says.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

/// Dimension of the scripted embedding.
pub const DIMENSION: usize = 64;

/// What a call is for, told by its system prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Grade,
    Rewrite,
    Answer,
}

/// How the server answers a call.
#[derive(Clone, Debug)]
pub enum Reply {
    /// With this text.
    Text(String),
    /// With this status and body.
    Status(u16, String),
    /// With 200 and this body, whatever it is.
    Body(String),
    /// With this text, after this long.
    Slow(Duration, String),
}

/// A call that came in.
#[derive(Clone, Debug)]
pub struct Call {
    pub role: Role,
    pub body: Value,
    pub authorization: Option<String>,
}

#[derive(Default)]
struct Script {
    grade: VecDeque<Reply>,
    rewrite: VecDeque<Reply>,
    answer: VecDeque<Reply>,
    embedding: VecDeque<Reply>,
    calls: Vec<Call>,
    embedded: Vec<String>,
    embedding_delay: Duration,
}

#[derive(Clone, Default)]
struct Shared {
    script: Arc<Mutex<Script>>,
    abandoned: Arc<AtomicUsize>,
}

/// The server; it ends with the value.
pub struct ModelServer {
    address: SocketAddr,
    shared: Shared,
    task: JoinHandle<()>,
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ModelServer {
    pub async fn start() -> Self {
        let shared = Shared::default();
        let router = Router::new()
            .route("/v1/chat/completions", post(chat))
            .route("/v1/embeddings", post(embeddings))
            .with_state(shared.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { address, shared, task }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Queues a reply; the last one of a role is given again and again.
    pub fn reply(&self, role: Role, reply: Reply) {
        let mut script = self.shared.script.lock().expect("lock");
        match role {
            Role::Grade => script.grade.push_back(reply),
            Role::Rewrite => script.rewrite.push_back(reply),
            Role::Answer => script.answer.push_back(reply),
        }
    }

    pub fn say(&self, role: Role, text: &str) {
        self.reply(role, Reply::Text(text.to_owned()));
    }

    /// Takes back the next queued reply of a role.
    pub fn drop_reply(&self, role: Role) {
        let mut script = self.shared.script.lock().expect("lock");
        match role {
            Role::Grade => script.grade.pop_front(),
            Role::Rewrite => script.rewrite.pop_front(),
            Role::Answer => script.answer.pop_front(),
        };
    }

    /// Queues a reply to an embedding request; afterwards they are answered as usual.
    pub fn embedding_reply(&self, reply: Reply) {
        self.shared.script.lock().expect("lock").embedding.push_back(reply);
    }

    /// Makes every embedding request take this long.
    pub fn delay_embeddings(&self, delay: Duration) {
        self.shared.script.lock().expect("lock").embedding_delay = delay;
    }

    /// Waits until the scripted embedding replies are used up.
    pub async fn wait_for_scripted_embedding(&self, limit: Duration) {
        poll_until(limit, || self.shared.script.lock().expect("lock").embedding.is_empty()).await;
    }

    pub fn calls(&self, role: Role) -> Vec<Call> {
        let script = self.shared.script.lock().expect("lock");
        script.calls.iter().filter(|call| call.role == role).cloned().collect()
    }

    /// Texts that were embedded so far.
    pub fn embedded(&self) -> Vec<String> {
        self.shared.script.lock().expect("lock").embedded.clone()
    }

    /// Calls whose caller went away before the reply, once there is one, at the latest after `limit`.
    pub async fn abandoned_within(&self, limit: Duration) -> usize {
        let count = || self.shared.abandoned.load(Ordering::SeqCst);
        poll_until(limit, || count() > 0).await;
        count()
    }

    /// Waits until a call of this role has come in.
    pub async fn wait_for_call(&self, role: Role, limit: Duration) {
        poll_until(limit, || !self.calls(role).is_empty()).await;
        assert!(!self.calls(role).is_empty(), "no call for {role:?} within {limit:?}");
    }
}

/// Asks again and again until it holds or the time is up.
pub async fn poll_until(limit: Duration, holds: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + limit;
    while !holds() && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Counts itself unless it is told that the reply was given.
struct Abandonment(Arc<AtomicUsize>, bool);

impl Drop for Abandonment {
    fn drop(&mut self) {
        if !self.1 {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

async fn chat(State(shared): State<Shared>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    let system = body["messages"][0]["content"].as_str().unwrap_or_default();
    let role = if system.starts_with("You judge") {
        Role::Grade
    } else if system.starts_with("You rewrite") {
        Role::Rewrite
    } else {
        Role::Answer
    };
    let reply = {
        let mut script = shared.script.lock().expect("lock");
        let authorization = headers.get("authorization").and_then(|value| value.to_str().ok()).map(str::to_owned);
        script.calls.push(Call { role, body, authorization });
        let queue = match role {
            Role::Grade => &mut script.grade,
            Role::Rewrite => &mut script.rewrite,
            Role::Answer => &mut script.answer,
        };
        if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
    };
    let mut guard = Abandonment(Arc::clone(&shared.abandoned), false);
    let response = give(reply.unwrap_or_else(|| Reply::Status(500, format!("nothing is scripted for {role:?}")))).await;
    guard.1 = true;
    response
}

async fn give(reply: Reply) -> Response {
    match reply {
        Reply::Text(text) => completion(&text),
        Reply::Status(status, body) => (StatusCode::from_u16(status).expect("a status"), body).into_response(),
        Reply::Body(body) => body.into_response(),
        Reply::Slow(wait, text) => {
            tokio::time::sleep(wait).await;
            completion(&text)
        }
    }
}

fn completion(text: &str) -> Response {
    Json(json!({
        "id": "c", "object": "chat.completion", "model": "scripted-chat",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }))
    .into_response()
}

async fn embeddings(State(shared): State<Shared>, body: Bytes) -> Response {
    let scripted = shared.script.lock().expect("lock").embedding.pop_front();
    if let Some(reply) = scripted {
        return give(reply).await;
    }
    let delay = shared.script.lock().expect("lock").embedding_delay;
    tokio::time::sleep(delay).await;
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    let texts: Vec<&str> = body["input"].as_array().expect("texts").iter().filter_map(Value::as_str).collect();
    shared.script.lock().expect("lock").embedded.extend(texts.iter().map(|text| (*text).to_owned()));
    let data: Vec<Value> =
        texts.iter().enumerate().map(|(index, text)| json!({"index": index, "embedding": embed(text)})).collect();
    Json(json!({"data": data, "usage": {"prompt_tokens": texts.len()}})).into_response()
}

/// A bag of words, hashed: texts that share words are near each other.
pub fn embed(text: &str) -> Vec<f32> {
    let mut vector = vec![0.01; DIMENSION];
    for word in text.to_lowercase().split(|character: char| !character.is_alphanumeric()).filter(|word| word.len() > 2)
    {
        let hash = word.bytes().fold(5381_usize, |hash, byte| hash.wrapping_mul(33) ^ usize::from(byte));
        vector[hash % DIMENSION] += 1.0;
    }
    vector
}
