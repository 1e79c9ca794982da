//! Questions, from so many clients at once, and how long the answers take.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use hyper::Method;
use serde_json::{Value, json};

use crate::{
    client::{Client, Refused},
    ingest::COLLECTION,
    model_server::{Calls, ModelServer},
    naive::Naive,
    service::Service,
};

/// The questions to ask, one after the other over all runs.
pub struct Questions {
    texts: Vec<String>,
    next: AtomicUsize,
    are_repeated: bool,
}

impl Questions {
    /// Each is asked once, so that nothing is remembered from an earlier time.
    pub fn once<Text: AsRef<str>>(texts: &[Text]) -> Self {
        let texts = texts.iter().map(|text| text.as_ref().to_owned()).collect();
        Self { texts, next: AtomicUsize::new(0), are_repeated: false }
    }

    /// After the last comes the first again.
    pub fn repeated<Text: AsRef<str>>(texts: &[Text]) -> Self {
        Self { are_repeated: true, ..Self::once(texts) }
    }

    fn take(&self) -> Option<&str> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        let place = if self.are_repeated { place % self.texts.len().max(1) } else { place };
        self.texts.get(place).map(String::as_str)
    }
}

/// How questions are answered.
#[derive(Clone, Debug)]
pub enum Way {
    /// By `POST /v1/ask`, with these members beside question and collection.
    Ask(Value),
    /// By the naive loop, which asks the model server at this address.
    Naive(SocketAddr),
}

/// The parts of a run: service, models and questions.
#[derive(Clone, Copy)]
pub struct Course<'a> {
    pub service: &'a Service,
    /// Model server of the service and the naive loop; `None` if the service's models are built in.
    pub models: Option<&'a ModelServer>,
    pub questions: &'a Arc<Questions>,
    pub way: &'a Way,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Asked {
    pub clients: usize,
    pub asks: usize,
    pub answered: usize,
    /// Answers that had been given before.
    pub from_cache: usize,
    /// Asks that ended with a status of 500 or more.
    pub failed: usize,
    pub elapsed: Duration,
    /// Ascending.
    latencies: Vec<Duration>,
    /// Time of each ask that was not spent in a model, ascending; of one client only, whose asks follow each other.
    overheads: Vec<Duration>,
    /// Chat completions of all asks.
    pub chats: u64,
    pub service_cpu_s: f64,
    pub database_cpu_s: f64,
}

impl Asked {
    pub fn per_second(&self) -> f64 {
        count(self.asks) / self.elapsed.as_secs_f64()
    }

    /// Milliseconds that this share of the asks stayed under.
    pub fn percentile_ms(&self, share: f64) -> f64 {
        percentile_ms(&self.latencies, share)
    }

    /// Milliseconds beside the models that this share of the asks stayed under; of one client only.
    pub fn overhead_ms(&self, share: f64) -> Option<f64> {
        (!self.overheads.is_empty()).then(|| percentile_ms(&self.overheads, share))
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean for a table")]
    pub fn chats_per_ask(&self) -> f64 {
        self.chats as f64 / count(self.asks)
    }

    /// CPU seconds of service and database for a thousand asks.
    pub fn cpu_per_thousand(&self) -> (f64, f64) {
        let thousands = count(self.asks) / 1_000.0;
        (self.service_cpu_s / thousands, self.database_cpu_s / thousands)
    }
}

/// Asks from `clients` connections for so long, or until the questions run out.
pub async fn run(course: Course<'_>, clients: usize, time: Duration) -> anyhow::Result<Asked> {
    let calls = course.models.map(|models| Arc::clone(&models.calls));
    let chats = || calls.as_ref().map_or(0, |calls| calls.chats());
    // With more clients nobody can tell whose call it is that is under way.
    let watched = calls.clone().filter(|_| clients == 1);
    let (cpu_before, chats_before) = (course.service.cpu_seconds()?, chats());
    let mut connections = Vec::with_capacity(clients);
    for _ in 0..clients {
        connections.push(Connection::open(course.service, course.way).await?);
    }
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for connection in connections {
        tasks.spawn(ask_for(connection, Arc::clone(course.questions), time, watched.clone()));
    }
    let mut all = Own::default();
    for done in tasks.join_all().await {
        all.add(done?);
    }
    let elapsed = started.elapsed();
    let cpu_after = course.service.cpu_seconds()?;
    all.latencies.sort_unstable();
    all.overheads.sort_unstable();
    if all.latencies.is_empty() {
        bail!("the questions are used up; use more paragraphs or fewer seconds");
    }
    Ok(Asked {
        clients,
        asks: all.latencies.len(),
        answered: all.answered,
        from_cache: all.from_cache,
        failed: all.failed,
        elapsed,
        latencies: all.latencies,
        overheads: all.overheads,
        chats: chats() - chats_before,
        service_cpu_s: cpu_after.0 - cpu_before.0,
        database_cpu_s: cpu_after.1 - cpu_before.1,
    })
}

/// One question, whatever the answer; whether it had been given before.
pub async fn once(service: &Service, questions: &Questions, way: &Way) -> anyhow::Result<bool> {
    let mut connection = Connection::open(service, way).await?;
    let reply = connection.ask(questions.take().context("the questions are used up")?).await?;
    Ok(matches!(reply, Reply::Answered { is_from_cache: true }))
}

/// The observations of one client.
#[derive(Default)]
struct Own {
    latencies: Vec<Duration>,
    overheads: Vec<Duration>,
    answered: usize,
    from_cache: usize,
    failed: usize,
}

impl Own {
    fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.overheads.extend(other.overheads);
        self.answered += other.answered;
        self.from_cache += other.from_cache;
        self.failed += other.failed;
    }

    fn count(&mut self, reply: &Reply) {
        self.answered += usize::from(matches!(reply, Reply::Answered { .. }));
        self.from_cache += usize::from(matches!(reply, Reply::Answered { is_from_cache: true }));
        self.failed += usize::from(matches!(reply, Reply::Failed));
    }
}

async fn ask_for(
    mut connection: Connection,
    questions: Arc<Questions>,
    time: Duration,
    watched: Option<Arc<Calls>>,
) -> anyhow::Result<Own> {
    let begun = Instant::now();
    let busy = || watched.as_ref().map(|calls| calls.busy.sum());
    let mut own = Own::default();
    while begun.elapsed() < time {
        let Some(question) = questions.take() else { break };
        let (busy_before, started) = (busy(), Instant::now());
        let reply = connection.ask(question).await?;
        let latency = started.elapsed();
        own.latencies.push(latency);
        if let (Some(before), Some(after)) = (busy_before, busy()) {
            own.overheads.push(latency.saturating_sub(after.saturating_sub(before)));
        }
        own.count(&reply);
    }
    Ok(own)
}

/// How a question was answered.
enum Reply {
    Answered {
        is_from_cache: bool,
    },
    /// In another way that the API knows.
    Other,
    /// With a status of 500 or more.
    Failed,
}

/// Connections of one client.
enum Connection {
    Ask { client: Client, members: Value },
    Naive(Box<Naive>),
}

impl Connection {
    async fn open(service: &Service, way: &Way) -> anyhow::Result<Self> {
        Ok(match way {
            Way::Ask(members) => {
                Self::Ask { client: Client::connect(service.address).await?, members: members.clone() }
            }
            Way::Naive(models) => Self::Naive(Box::new(Naive::connect(service.address, *models).await?)),
        })
    }

    async fn ask(&mut self, question: &str) -> anyhow::Result<Reply> {
        let reply = match self {
            Self::Ask { client, members } => ask(client, members, question).await,
            Self::Naive(naive) => naive.answer(question).await.map(|answer| match answer {
                Some(_) => Reply::Answered { is_from_cache: false },
                None => Reply::Other,
            }),
        };
        match reply {
            Err(error) if error.downcast_ref().is_some_and(|refused: &Refused| refused.status.is_server_error()) => {
                Ok(Reply::Failed)
            }
            reply => reply,
        }
    }
}

async fn ask(client: &mut Client, members: &Value, question: &str) -> anyhow::Result<Reply> {
    let mut body = json!({"question": question, "collections": [COLLECTION]});
    if let (Some(body), Some(members)) = (body.as_object_mut(), members.as_object()) {
        body.extend(members.clone());
    }
    let reply = client.read(Method::POST, "/v1/ask", Some(&body)).await?;
    // Reading the whole reply as JSON would take time from what is measured.
    let holds = |words: &[u8], part: &[u8]| part.windows(words.len()).any(|window| window == words);
    let head = &reply[..reply.len().min(250)];
    let tail = &reply[reply.len().saturating_sub(800)..];
    Ok(if holds(br#""outcome":"answered""#, head) {
        Reply::Answered { is_from_cache: holds(br#""cache_hit":true"#, tail) }
    } else {
        Reply::Other
    })
}

/// Milliseconds that this share of the latencies, which ascend, stays under.
pub fn percentile_ms(latencies: &[Duration], share: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
    let place = (count(latencies.len()) * share) as usize;
    let latency = latencies.get(place.min(latencies.len().saturating_sub(1)));
    latency.map_or(0.0, |latency| latency.as_secs_f64() * 1_000.0)
}

#[expect(clippy::cast_precision_loss, reason = "counts for a table")]
fn count(number: usize) -> f64 {
    number as f64
}
