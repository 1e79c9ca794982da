//! A model server that speaks the `OpenAI` API and Anthropic's Messages API, and does what the test says.

mod embedding;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::Value;
use tokio::sync::Barrier;

pub(crate) use self::embedding::{DIMENSION, embed};
use crate::{dialect::Dialect, harness::Served, wait};

/// The purpose of a call, read from its system prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    Condense,
    Plan,
    Grade,
    Rewrite,
    Answer,
    Verify,
    Context,
}

/// How the server answers a call.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// With this text.
    Text(String),
    /// With this status and body.
    Status(u16, String),
    /// With 200 and this body, whatever it is.
    Body(String),
    /// With grades: correct for each source of the prompt that holds these words.
    GradeCorrect(&'static str),
    /// With this text, after this long.
    Slow(Duration, String),
    /// With this text, this long after so many calls of another role have come in.
    After((Role, usize), Duration, String),
    /// With this text, cut because the tokens are used up.
    Cut(String),
    /// With this text, and without a word on usage.
    Unmetered(String),
    /// With this status, after which the caller should wait this many seconds.
    Later(u16, &'static str),
    /// With 200 and this media type, piece by piece.
    Pieces(&'static str, Vec<Piece>),
}

/// A piece of a body.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Nothing, this long.
    Wait(Duration),
    /// The end of the connection, before that of the body.
    Break,
}

/// A call that came in.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub role: Role,
    pub body: Value,
    pub authorization: Option<String>,
    pub headers: HeaderMap,
}

#[derive(Default)]
struct Script {
    replies: HashMap<Role, VecDeque<Reply>>,
    /// Calls for contexts under way, and the most at once.
    contexts: (usize, usize),
    embedding: VecDeque<Reply>,
    calls: Vec<Call>,
    embedded: Vec<String>,
    embedding_keys: Vec<String>,
    embedding_delay: Duration,
    held: Option<String>,
    refused: Option<String>,
    /// Where embedding requests wait for each other.
    meeting: Option<Arc<Barrier>>,
    /// Those that waited in vain.
    lonely: usize,
}

#[derive(Clone, Default)]
struct Shared {
    script: Arc<Mutex<Script>>,
    abandoned: Arc<AtomicUsize>,
}

/// The server; it ends with the value.
pub(crate) struct ModelServer {
    server: Served,
    shared: Shared,
}

impl ModelServer {
    pub(crate) async fn start() -> Self {
        let shared = Shared::default();
        let router = Router::new()
            .route("/v1/chat/completions", post(chat))
            .route("/v1/messages", post(messages))
            .route("/v1/embeddings", post(embedding::embeddings))
            .with_state(shared.clone());
        Self { server: Served::start(router).await, shared }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.server.address)
    }

    /// Queues a reply; the last one of a role is given again and again.
    pub(crate) fn reply(&self, role: Role, reply: Reply) {
        let mut script = self.shared.script.lock().expect("lock");
        script.replies.entry(role).or_default().push_back(reply);
    }

    pub(crate) fn say(&self, role: Role, text: &str) {
        self.reply(role, Reply::Text(text.to_owned()));
    }

    /// Takes back the next queued reply of a role.
    pub(crate) fn drop_reply(&self, role: Role) {
        let mut script = self.shared.script.lock().expect("lock");
        script.replies.entry(role).or_default().pop_front();
    }

    /// The most calls for contexts that were under way at once.
    pub(crate) fn most_contexts_at_once(&self) -> usize {
        self.shared.script.lock().expect("lock").contexts.1
    }

    /// Queues a reply to an embedding request; afterwards they are answered as usual.
    pub(crate) fn embedding_reply(&self, reply: Reply) {
        self.shared.script.lock().expect("lock").embedding.push_back(reply);
    }

    /// Makes every embedding request take this long.
    pub(crate) fn delay_embeddings(&self, delay: Duration) {
        self.shared.script.lock().expect("lock").embedding_delay = delay;
    }

    /// Lets every embedding request wait that has a text with this word, until another word is held, or none.
    pub(crate) fn hold_embeddings(&self, word: Option<&str>) {
        self.shared.script.lock().expect("lock").held = word.map(str::to_owned);
    }

    /// Refuses the next request with a text that holds this word, for now.
    pub(crate) fn refuse_embedding_once(&self, word: &str) {
        self.shared.script.lock().expect("lock").refused = Some(word.to_owned());
    }

    /// Answers embedding requests only when so many are under way.
    pub(crate) fn answer_embeddings_together(&self, count: usize) {
        self.shared.script.lock().expect("lock").meeting = Some(Arc::new(Barrier::new(count)));
    }

    /// Embedding requests that waited ten seconds for others, and got their answer alone.
    pub(crate) fn lonely_embeddings(&self) -> usize {
        self.shared.script.lock().expect("lock").lonely
    }

    /// Waits until the scripted embedding replies are used up.
    pub(crate) async fn wait_for_scripted_embedding(&self) {
        wait::until("the scripted embedding is used", async || {
            self.shared.script.lock().expect("lock").embedding.is_empty()
        })
        .await;
    }

    pub(crate) fn calls(&self, role: Role) -> Vec<Call> {
        let script = self.shared.script.lock().expect("lock");
        script.calls.iter().filter(|call| call.role == role).cloned().collect()
    }

    /// Texts that were embedded so far.
    pub(crate) fn embedded(&self) -> Vec<String> {
        self.shared.script.lock().expect("lock").embedded.clone()
    }

    /// The key that each embedding request came with.
    pub(crate) fn embedding_keys(&self) -> Vec<String> {
        self.shared.script.lock().expect("lock").embedding_keys.clone()
    }

    /// Calls whose caller went away before the reply.
    pub(crate) fn abandoned(&self) -> usize {
        self.shared.abandoned.load(Ordering::SeqCst)
    }

    /// The same once there is one.
    pub(crate) async fn once_abandoned(&self) -> usize {
        wait::until("a call is abandoned", async || self.abandoned() > 0).await;
        self.abandoned()
    }

    /// Waits until a call of this role has come in.
    pub(crate) async fn wait_for_call(&self, role: Role) {
        wait::until(&format!("a call for {role:?}"), async || !self.calls(role).is_empty()).await;
    }
}

/// Counts itself unless it is told that the reply was given.
struct Abandonment(Arc<AtomicUsize>, bool);

impl Abandonment {
    fn given(mut self) {
        self.1 = true;
    }
}

impl Drop for Abandonment {
    fn drop(&mut self) {
        if !self.1 {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

async fn chat(State(shared): State<Shared>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    let system = body["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
    answer(shared, headers, body, &system, Dialect::OpenAi).await
}

async fn messages(State(shared): State<Shared>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    let system = body["system"].as_str().unwrap_or_default().to_owned();
    answer(shared, headers, body, &system, Dialect::Anthropic).await
}

async fn answer(shared: Shared, headers: HeaderMap, body: Value, system: &str, dialect: Dialect) -> Response {
    let role = if system.starts_with("You make the last message") {
        Role::Condense
    } else if system.starts_with("You plan") {
        Role::Plan
    } else if system.starts_with("You judge") {
        Role::Grade
    } else if system.starts_with("You rewrite") {
        Role::Rewrite
    } else if system.starts_with("You verify") {
        Role::Verify
    } else if system.starts_with("You situate") {
        Role::Context
    } else {
        Role::Answer
    };
    let is_stream = body["stream"] == true;
    let prompt =
        body["messages"].as_array().and_then(|messages| messages.last()).map(|message| message["content"].clone());
    let reply = {
        let mut script = shared.script.lock().expect("lock");
        let authorization = headers.get("authorization").and_then(|value| value.to_str().ok()).map(str::to_owned);
        if role == Role::Context {
            script.contexts.0 += 1;
            script.contexts.1 = script.contexts.1.max(script.contexts.0);
        }
        script.calls.push(Call { role, body, authorization, headers });
        let queue = script.replies.entry(role).or_default();
        if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
    };
    let guard = Abandonment(Arc::clone(&shared.abandoned), false);
    let reply = match reply {
        Some(Reply::GradeCorrect(words)) => {
            Reply::Text(grades(prompt.as_ref().and_then(Value::as_str).unwrap_or_default(), words))
        }
        Some(reply) => reply,
        None => Reply::Status(500, format!("nothing is scripted for {role:?}")),
    };
    if let Reply::After((awaited, count), wait, _) = &reply {
        let came = || shared.script.lock().expect("lock").calls.iter().filter(|call| call.role == *awaited).count();
        while came() < *count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(*wait).await;
    }
    let response = give(reply, dialect, is_stream, guard).await;
    if role == Role::Context {
        shared.script.lock().expect("lock").contexts.0 -= 1;
    }
    response
}

/// A grader's reply: correct for each source of the prompt that holds the words.
fn grades(prompt: &str, words: &str) -> String {
    let sources = prompt.split("<source ").skip(1);
    let grade = |source: &str| if source.contains(words) { "correct" } else { "incorrect" };
    let lines = (1..).zip(sources).map(|(number, source)| format!("{number}: {}", grade(source)));
    lines.collect::<Vec<String>>().join("\n")
}

async fn give(reply: Reply, dialect: Dialect, is_stream: bool, mut guard: Abandonment) -> Response {
    let finished = match reply {
        Reply::Pieces(media_type, pieces) => return body_in_pieces(media_type, pieces, guard),
        Reply::Text(text) | Reply::After(_, _, text) => dialect.reply(&text, false, true, is_stream),
        Reply::Cut(text) => dialect.reply(&text, true, true, is_stream),
        Reply::Unmetered(text) => dialect.reply(&text, false, false, is_stream),
        Reply::Slow(wait, text) => {
            tokio::time::sleep(wait).await;
            dialect.reply(&text, false, true, is_stream)
        }
        Reply::Status(status, body) => (StatusCode::from_u16(status).expect("a status"), body).into_response(),
        Reply::Later(status, seconds) => {
            (StatusCode::from_u16(status).expect("a status"), [("retry-after", seconds)], "later").into_response()
        }
        Reply::Body(body) => body.into_response(),
        Reply::GradeCorrect(_) => unreachable!("it was made a text"),
    };
    guard.1 = true;
    finished
}

fn body_in_pieces(media_type: &'static str, pieces: Vec<Piece>, guard: Abandonment) -> Response {
    let stream = futures::stream::unfold((pieces.into_iter(), guard), |(mut pieces, mut guard)| async {
        loop {
            match pieces.next() {
                Some(Piece::Bytes(bytes)) => return Some((Ok(bytes), (pieces, guard))),
                Some(Piece::Wait(wait)) => tokio::time::sleep(wait).await,
                Some(Piece::Break) => {
                    guard.1 = true;
                    // The bytes before have to be sent first.
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    return Some((Err(std::io::Error::other("broken on purpose")), (pieces, guard)));
                }
                None => {
                    guard.given();
                    return None;
                }
            }
        }
    });
    ([("content-type", media_type)], Body::from_stream(stream)).into_response()
}
