//! A running service, over its API.

use std::time::Duration;

use async_trait::async_trait;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{EvaluationError, Look, Stored, TOP_K, Target, title_and_text};
use crate::{
    domain::{
        corrective::Grade,
        evaluation::{
            answers::{Reply, ReplyEnd, SourceSeen},
            dataset::SetDocument,
        },
    },
    providers::remote::{Answer, Client},
    service::retrieval::{Fusion, Mode, Stages},
};

/// Between two looks at a job.
const LOOK: Duration = Duration::from_millis(500);
/// Most passages that the API gives.
const MOST_PASSAGES: usize = 100;

pub(super) struct Remote {
    client: Client,
}

#[derive(Deserialize)]
struct JobReply {
    id: Uuid,
    state: String,
    counts: Counts,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Counts {
    documents: usize,
    unchanged: usize,
    failed: u64,
}

#[derive(Deserialize)]
struct Item {
    source: String,
    message: Option<String>,
}

#[derive(Deserialize)]
struct CollectionReply {
    documents: u64,
    chunks: u64,
}

#[derive(Deserialize)]
struct SearchReply {
    results: Vec<SourceReply>,
}

/// An answer, or a problem that tells as much.
#[derive(Deserialize)]
struct AskReply {
    outcome: Option<String>,
    code: Option<String>,
    answer: Option<String>,
    #[serde(default)]
    sources: Vec<SourceReply>,
    #[serde(default)]
    usage: Usage,
    #[serde(default)]
    trace: Trace,
}

#[derive(Deserialize)]
struct SourceReply {
    source: String,
    title: String,
    heading: Vec<String>,
    text: String,
    grade: Option<Grade>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    llm_calls: u32,
    cost_usd: f64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Trace {
    rounds: Vec<Round>,
}

#[derive(Deserialize)]
struct Round {
    answerability: f32,
}

impl JobReply {
    fn failures(&self) -> (u64, String) {
        let first = self.items.first();
        let cause = first.and_then(|item| item.message.as_deref()).unwrap_or(self.state.as_str());
        let name = first.map_or("the job", |item| item.source.as_str());
        (self.counts.failed, format!("{name:?}: {cause}"))
    }
}

impl Remote {
    pub(super) const fn new(client: Client) -> Self {
        Self { client }
    }

    /// What came back, if it has one of these statuses.
    fn read<T: DeserializeOwned>(
        &self,
        answer: Result<Answer, reqwest::Error>,
        statuses: &[u16],
    ) -> Result<T, EvaluationError> {
        let answer = answer.map_err(|error| self.failure(format!("cannot be reached: {error}")))?;
        if !statuses.contains(&answer.status) {
            let detail = answer.body.get("detail").and_then(Value::as_str).unwrap_or("no detail");
            return Err(self.failure(format!("HTTP {}: {detail}", answer.status)));
        }
        serde_json::from_value(answer.body).map_err(|error| self.failure(format!("is no Cited service: {error}")))
    }

    fn failure(&self, detail: String) -> EvaluationError {
        EvaluationError::Remote { service: self.client.base().to_owned(), detail }
    }

    /// Hands documents in, as soon as there is room for them.
    async fn accept(&self, body: &Value) -> Result<JobReply, EvaluationError> {
        loop {
            let answer = self.client.post("/v1/documents", body).await;
            match &answer {
                Ok(busy) if busy.status == 429 => sleep(busy.retry_after.unwrap_or(LOOK)).await,
                _ => return self.read(answer, &[200, 202]),
            }
        }
    }

    async fn job(&self, id: Uuid) -> Result<JobReply, EvaluationError> {
        let path = format!("/v1/jobs/{id}?items_state=failed&items_limit=1");
        self.read(self.client.get(&path).await, &[200])
    }
}

#[async_trait]
impl Target for Remote {
    async fn open(&self, collection: &str, may_exist: bool) -> Result<(), EvaluationError> {
        let answer = self.client.post("/v1/collections", &json!({"name": collection})).await;
        let is_there = answer.as_ref().is_ok_and(|answer| answer.status == 409);
        if is_there && !may_exist {
            return Err(EvaluationError::CollectionExists(collection.to_owned()));
        }
        let _: Value = self.read(answer, &[200, 201, 409])?;
        Ok(())
    }

    async fn hand_in(&self, collection: &str, documents: &[SetDocument]) -> Result<Uuid, EvaluationError> {
        let documents: Vec<Value> = documents.iter().map(incoming).collect();
        Ok(self.accept(&json!({"collection": collection, "documents": documents})).await?.id)
    }

    async fn look(&self, job: Uuid) -> Result<Look, EvaluationError> {
        let job = self.job(job).await?;
        let is_open = matches!(job.state.as_str(), "queued" | "running");
        if is_open {
            sleep(LOOK).await;
        }
        Ok(Look {
            settled: job.counts.documents + job.counts.unchanged,
            is_open,
            failed: (!is_open && job.state != "succeeded").then(|| job.failures()),
        })
    }

    async fn stored(&self, collection: &str) -> Result<Stored, EvaluationError> {
        let CollectionReply { documents, chunks } = self.read(self.client.get(&path_of(collection)).await, &[200])?;
        Ok(Stored { documents, chunks })
    }

    async fn discard(&self, collection: &str) -> Result<(), EvaluationError> {
        let _: Value = self.read(self.client.delete(&path_of(collection)).await, &[200])?;
        Ok(())
    }

    async fn search(
        &self,
        collection: &str,
        query: &str,
        stages: Stages,
        top_k: usize,
    ) -> Result<Vec<String>, EvaluationError> {
        let body = json!({"query": query, "collections": [collection], "top_k": top_k, "mode": mode(stages.mode),
        "stages": {
            "fusion": fusion(stages.fusion),
            "rerank": stages.rerank,
            "collapse_duplicates": stages.grouping.collapse_duplicates,
            "merge_neighbours": stages.grouping.merge_neighbours,
        }});
        let found: SearchReply = self.read(self.client.post("/v1/search", &body).await, &[200])?;
        Ok(found.results.into_iter().map(|result| result.source).collect())
    }

    fn most_passages(&self) -> usize {
        MOST_PASSAGES
    }

    async fn ask(&self, collection: &str, id: &str, question: &str) -> Result<Reply, EvaluationError> {
        let body = json!({"question": question, "collections": [collection], "top_k": TOP_K, "web": false,
            "cache": {"ttl_s": 0}, "include": ["trace"]});
        let started = Instant::now();
        let answer = self.client.post("/v1/ask", &body).await;
        let duration_ms = started.elapsed().as_secs_f64() * 1_000.0;
        let reply: AskReply = self.read(answer, &[200, 422, 504])?;
        let end = match (reply.outcome.as_deref(), reply.code.as_deref()) {
            (Some("answered" | "partial"), _) => ReplyEnd::Answered(reply.answer.unwrap_or_default()),
            (Some(_), _) => ReplyEnd::Abstained,
            (None, Some("citation_validation")) => ReplyEnd::Rejected,
            (None, Some("deadline")) => ReplyEnd::TimedOut,
            (None, code) => {
                return Err(self.failure(format!("question {id:?} ended with {}", code.unwrap_or("nothing known"))));
            }
        };
        let rounds = reply.trace.rounds.into_iter().map(|round| round.answerability);
        Ok(Reply {
            end,
            sources: reply.sources.into_iter().map(seen).collect(),
            duration_ms,
            llm_calls: reply.usage.llm_calls,
            cost_usd: reply.usage.cost_usd,
            answerability: rounds.reduce(f32::max),
        })
    }
}

fn path_of(collection: &str) -> String {
    format!("/v1/collections/{}", utf8_percent_encode(collection, NON_ALPHANUMERIC))
}

fn incoming(document: &SetDocument) -> Value {
    let (title, text) = title_and_text(document);
    json!({"source": document.id, "title": title, "text": text, "media_type": "text/plain"})
}

/// The source with the title that the service judges it by.
fn seen(source: SourceReply) -> SourceSeen {
    let title = std::iter::once(source.title).chain(source.heading).collect::<Vec<_>>().join(" ");
    SourceSeen {
        document: source.source,
        title,
        text: source.text,
        grade: source.grade,
        probability: None,
        is_doubtful: None,
    }
}

const fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Hybrid => "hybrid",
        Mode::Dense => "dense",
        Mode::Lexical => "lexical",
    }
}

const fn fusion(fusion: Fusion) -> &'static str {
    match fusion {
        Fusion::Weighted => "weighted",
        Fusion::ReciprocalRank => "reciprocal_rank",
    }
}
