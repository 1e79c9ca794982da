//! An OpenAI-compatible server that answers at once, or as late as it is told to: embeddings, grades, rewrites and answers.

use std::{
    borrow::Cow,
    convert::Infallible,
    fmt::Write as _,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpListener;

use crate::{busy::Busy, vectors::Vectors};

/// Longest sentence that is quoted as an answer, in bytes.
const LONGEST_ANSWER: usize = 600;

/// Number of requests to the server, by kind.
#[derive(Debug, Default)]
pub struct Calls {
    pub embeddings: AtomicU64,
    pub grades: AtomicU64,
    pub rewrites: AtomicU64,
    pub answers: AtomicU64,
    /// Milliseconds that a chat completion takes.
    pub delay_ms: AtomicU64,
    /// From the head of a request until its reply is handed over.
    pub busy: Busy,
}

/// A running server.
pub struct ModelServer {
    pub address: SocketAddr,
    pub calls: Arc<Calls>,
}

#[derive(Deserialize)]
struct EmbeddingRequest<'a> {
    #[serde(borrow)]
    input: Input<'a>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Input<'a> {
    Many(#[serde(borrow)] Vec<Cow<'a, str>>),
    One(Cow<'a, str>),
}

impl Calls {
    /// Chat completions so far.
    pub fn chats(&self) -> u64 {
        [&self.grades, &self.rewrites, &self.answers].iter().map(|calls| calls.load(Ordering::Relaxed)).sum()
    }
}

impl ModelServer {
    /// Listens on a loopback port (0: any free one) and serves until the process ends.
    pub async fn start(port: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.context("the model server cannot listen")?;
        let address = listener.local_addr()?;
        let calls = Arc::new(Calls::default());
        let vectors = Arc::new(Vectors::new());
        let counted = Arc::clone(&calls);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let (vectors, calls) = (Arc::clone(&vectors), Arc::clone(&counted));
                let service = service_fn(move |request| answer(request, Arc::clone(&vectors), Arc::clone(&calls)));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Ok(Self { address, calls })
    }

    /// The value for `CITED_…_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

async fn answer(
    request: Request<Incoming>,
    vectors: Arc<Vectors>,
    calls: Arc<Calls>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let _under_way = calls.busy.begin();
    let is_embedding = request.uri().path().ends_with("/embeddings");
    let reply = match request.into_body().collect().await {
        Ok(body) if is_embedding => embed(&body.to_bytes(), &vectors, &calls),
        Ok(body) => {
            // A timer of no time would still wait for its next tick, a millisecond.
            if let delay @ 1.. = calls.delay_ms.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(delay)).await;
            }
            String::from_utf8(body.to_bytes().to_vec()).ok().map(|body| chat(&body, &calls))
        }
        Err(_) => None,
    };
    let (status, json) = reply.map_or((400, r#"{"error":{"message":"unreadable"}}"#.to_owned()), |json| (200, json));
    let response = Response::builder().status(status).header("content-type", "application/json");
    Ok(response.body(Full::new(Bytes::from(json))).expect("fixed headers are valid"))
}

fn embed(body: &[u8], vectors: &Vectors, calls: &Calls) -> Option<String> {
    let request: EmbeddingRequest<'_> = serde_json::from_slice(body).ok()?;
    let texts = match request.input {
        Input::Many(texts) => texts,
        Input::One(text) => vec![text],
    };
    calls.embeddings.fetch_add(1, Ordering::Relaxed);
    let mut json = String::with_capacity(128 + texts.len() * 5_000);
    json.push_str(r#"{"object":"list","data":["#);
    for (index, text) in texts.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(json, r#"{comma}{{"object":"embedding","index":{index},"embedding":"#);
        vectors.write(text, &mut json);
        json.push('}');
    }
    json.push_str(r#"],"model":"bench","usage":{"prompt_tokens":1,"total_tokens":1}}"#);
    Some(json)
}

/// Looks at the request as text: what is needed of it stands there escaped, which is how the reply
/// needs it.
fn chat(body: &str, calls: &Calls) -> String {
    let content = if body.contains(r#""content":"You judge"#) {
        calls.grades.fetch_add(1, Ordering::Relaxed);
        let sources = body.matches("<source id=").count();
        (1..=sources).fold(String::new(), |mut lines, number| {
            let _ = write!(lines, r"{number}: correct - it says so\n");
            lines
        })
    } else if body.contains(r#""content":"You rewrite"#) {
        let number = calls.rewrites.fetch_add(1, Ordering::Relaxed);
        format!("rewrite {number} of the question")
    } else {
        calls.answers.fetch_add(1, Ordering::Relaxed);
        format!("{} [^1]", first_sentence(body))
    };
    format!(
        r#"{{"id":"bench","object":"chat.completion","model":"bench","choices":[{{"index":0,"message":{{"role":"assistant","content":"{content}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}}}"#
    )
}

/// The first sentence of source 1, still escaped.
fn first_sentence(body: &str) -> &str {
    let opening = r#"<source id=\"1\""#;
    let Some(source) = body.find(opening).map(|start| &body[start..]) else { return "Nothing" };
    let text = source.split_once(r">\n").map_or("Nothing", |(_, text)| text);
    let end = text.find(['.', '<']).unwrap_or(text.len()).min(LONGEST_ANSWER);
    // Headings and tables stand in lines of their own.
    let lines = text.get(..end).unwrap_or("Nothing").trim_end_matches(r"\n");
    lines.rsplit(r"\n").next().unwrap_or(lines)
}
