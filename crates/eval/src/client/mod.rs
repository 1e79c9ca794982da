//! A client of the HTTP API: the requests that an evaluation makes.

mod reply;
mod stored;

use std::{collections::HashMap, time::Duration};

use domain::citation::ClaimVerdict;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{RequestBuilder, header::RETRY_AFTER};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use self::reply::{AskReply, CheckReply, JobReply, SearchReply, SourceReply, VerdictReply};
pub(crate) use self::reply::{CollectionReply, SearchResult};
use crate::{
    attack::AttackedReply,
    evaluation::{EvaluationError, NotIndexed},
    measures::{
        answers::{Reply, ReplyEnd, SourceSeen},
        claims::CheckedClaim,
    },
    set::{LabelledClaim, SetDocument, SetMessage},
};

/// Interval between two requests for a job or a ranking, and before a refused upload is retried.
pub(crate) const LOOK: Duration = Duration::from_millis(500);
/// Longest time for which a request is sent again to a service that is busy.
const PATIENCE: Duration = Duration::from_mins(10);
/// Largest number of passages that the API returns for one search.
pub(crate) const MOST_PASSAGES: usize = 1_000;
/// Passages per round of an ask; the default of the API.
const TOP_K: usize = 8;
/// Passages per round of a question of a conversation: ten documents, if each has two among them.
const CONVERSATION_TOP_K: usize = 20;

/// A way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// BM25 alone.
    Lexical,
    /// Vectors alone.
    Dense,
    /// Both in one ranking.
    Fused,
    /// Both, with the best results reranked.
    Reranked,
}

impl Mode {
    /// Name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Dense => "dense",
            Self::Fused => "fused",
            Self::Reranked => "reranked",
        }
    }

    /// The members of a search request. Every chunk is ranked separately, because a set may judge two documents with
    /// the same text.
    fn members(self) -> (&'static str, Value) {
        let mode = match self {
            Self::Lexical => "lexical",
            Self::Dense => "dense",
            Self::Fused | Self::Reranked => "hybrid",
        };
        let stages = json!({
            "fusion": "weighted",
            "rerank": self == Self::Reranked,
            "collapse_duplicates": false,
            "merge_neighbours": false,
        });
        (mode, stages)
    }
}

/// A client of one service.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    key: Option<String>,
}

/// The current state of a job.
pub(crate) struct JobState {
    /// Number of documents that have reached a final state.
    pub(crate) settled: usize,
    /// Whether the job is still running.
    pub(crate) is_open: bool,
    /// Once the job has ended: its documents that are not stored.
    pub(crate) not_indexed: Option<NotIndexed>,
}

/// A response of the service.
struct Answer {
    status: u16,
    body: Value,
    retry_after: Option<Duration>,
}

impl Answer {
    /// In place of a response that did not come in time.
    fn too_late() -> Self {
        let body = json!({"code": "deadline", "detail": "no reply within the time limit of the client"});
        Self { status: 504, body, retry_after: None }
    }

    /// Code of the problem that it tells of.
    fn code(&self) -> Option<&str> {
        self.body.get("code").and_then(Value::as_str)
    }

    /// Time to wait before the same request is sent again, if the service refused it because it is busy. A model that
    /// fails is a result.
    fn delay(&self) -> Option<Duration> {
        self.retry_after.filter(|_| matches!(self.status, 429 | 503) && !self.is_of_model())
    }

    fn is_of_model(&self) -> bool {
        self.code() == Some("providers_unavailable")
    }
}

impl Client {
    /// A client of the service at `base`, which authenticates with `key`.
    #[must_use]
    pub const fn new(http: reqwest::Client, base: String, key: Option<String>) -> Self {
        Self { http, base, key }
    }

    /// Creates a collection.
    ///
    /// # Errors
    /// [`EvaluationError::CollectionExists`] unless it `may_exist`.
    pub(crate) async fn create_collection(&self, name: &str, may_exist: bool) -> Result<(), EvaluationError> {
        let answer = self.post("/v1/collections", &json!({"name": name})).await?;
        if answer.status == 409 && !may_exist {
            return Err(EvaluationError::CollectionExists(name.to_owned()));
        }
        self.read(answer, &[200, 201, 409]).map(|_: Value| ())
    }

    pub(crate) async fn collection(&self, name: &str) -> Result<CollectionReply, EvaluationError> {
        let answer = self.send(self.http.get(self.url(&path_of(name)))).await?;
        self.read(answer, &[200])
    }

    pub(crate) async fn delete_collection(&self, name: &str) -> Result<(), EvaluationError> {
        let answer = self.send(self.http.delete(self.url(&path_of(name)))).await?;
        self.read(answer, &[200]).map(|_: Value| ())
    }

    /// Sends documents as one job, as soon as the queue has room for them. Returns the job's id.
    pub(crate) async fn ingest(&self, collection: &str, documents: &[SetDocument]) -> Result<String, EvaluationError> {
        let documents: Vec<Value> = documents.iter().map(upload).collect();
        let body = json!({"collection": collection, "documents": documents});
        loop {
            let answer = self.post("/v1/documents", &body).await?;
            if answer.status != 429 {
                return self.read(answer, &[200, 202]).map(|job: JobReply| job.id);
            }
            sleep(answer.retry_after.unwrap_or(LOOK)).await;
        }
    }

    pub(crate) async fn job(&self, id: &str) -> Result<JobState, EvaluationError> {
        let path = format!("/v1/jobs/{id}?items_state=failed&items_limit=1");
        let answer = self.send(self.http.get(self.url(&path))).await?;
        self.read(answer, &[200]).map(|job: JobReply| job.state())
    }

    /// The best `top_k` passages, best first.
    pub(crate) async fn search(
        &self,
        collection: &str,
        query: &str,
        mode: Mode,
        top_k: usize,
    ) -> Result<Vec<SearchResult>, EvaluationError> {
        let (mode, stages) = mode.members();
        self.results(
            &json!({"query": query, "collections": [collection], "top_k": top_k, "mode": mode, "stages": stages}),
        )
        .await
    }

    /// Documents of the passages that an ask of the question looks at first.
    pub(crate) async fn first_documents(
        &self,
        collection: &str,
        question: &str,
    ) -> Result<Vec<String>, EvaluationError> {
        let body = json!({"query": question, "collections": [collection], "top_k": TOP_K});
        Ok(self.results(&body).await?.into_iter().map(|result| result.source).collect())
    }

    async fn results(&self, body: &Value) -> Result<Vec<SearchResult>, EvaluationError> {
        let answer = self.post("/v1/search", body).await?;
        self.read(answer, &[200]).map(|found: SearchReply| found.results)
    }

    /// Asks the question called `id`. A rejected answer and a reached time limit are replies, not errors.
    pub(crate) async fn ask(&self, collection: &str, id: &str, question: &str) -> Result<Reply, EvaluationError> {
        let body = json!({"question": question, "collections": [collection], "top_k": TOP_K, "web": false,
            "cache": {"ttl_s": 0}, "include": ["trace"]});
        let started = Instant::now();
        let answer = self.post("/v1/ask", &body).await?;
        let duration_ms = started.elapsed().as_secs_f64() * 1_000.0;
        let reply: AskReply = self.read(answer, &[200, 422, 504])?;
        let end = match (reply.outcome.as_deref(), reply.code.as_deref()) {
            (Some("answered" | "partial"), _) => ReplyEnd::Answered(reply.answer.unwrap_or_default()),
            (Some("passages"), _) => ReplyEnd::Passages(reply.answer.unwrap_or_default()),
            (Some(_), _) => ReplyEnd::Abstained,
            (None, Some("citation_validation")) => ReplyEnd::Rejected,
            (None, Some("deadline")) => ReplyEnd::TimedOut,
            (None, code) => {
                return Err(self.failure(format!("question {id:?} ended with {}", code.unwrap_or("nothing known"))));
            }
        };
        let rounds = reply.trace.rounds;
        let answerability = rounds.iter().map(|round| round.answerability).reduce(f32::max);
        let verdicts: HashMap<String, VerdictReply> =
            rounds.into_iter().flat_map(|round| round.verdicts).map(|verdict| (verdict.urn.clone(), verdict)).collect();
        Ok(Reply {
            end,
            sources: reply.sources.into_iter().map(|source| seen(source, &verdicts)).collect(),
            duration_ms,
            llm_calls: reply.usage.llm_calls,
            cost_usd: reply.usage.cost_usd,
            answerability,
        })
    }

    /// Stores documents and waits until they are indexed.
    pub(crate) async fn store(&self, collection: &str, documents: &[SetDocument]) -> Result<(), EvaluationError> {
        let job = self.ingest(collection, documents).await?;
        loop {
            match self.job(&job).await? {
                JobState { is_open: true, .. } => sleep(LOOK).await,
                JobState { not_indexed: Some(failed), .. } => return Err(EvaluationError::NotIndexed(failed)),
                JobState { .. } => return Ok(()),
            }
        }
    }

    /// Asks a question of one document alone, at this level of checking.
    pub(crate) async fn ask_of_document(
        &self,
        collection: &str,
        source: &str,
        question: &str,
        level: &str,
    ) -> Result<AttackedReply, EvaluationError> {
        let body = json!({"question": question, "collections": [collection], "filter": {"source_prefix": source},
            "validation": level, "web": false, "cache": {"ttl_s": 0}});
        let answer = self.post("/v1/ask", &body).await?;
        // A model that fails once does not take hours of measuring along.
        let statuses: &[u16] = if answer.is_of_model() { &[503] } else { &[200, 422, 504] };
        let AskReply { code, answer, model, .. } = self.read(answer, statuses)?;
        Ok(AttackedReply { is_refused: code.as_deref() == Some("citation_validation"), answer, model })
    }

    /// Documents of the passages that an ask retrieves first for the last message, best first. Generates nothing.
    pub(crate) async fn found_for(
        &self,
        collection: &str,
        messages: &[SetMessage],
    ) -> Result<Vec<String>, EvaluationError> {
        let (_, stages) = Mode::Reranked.members();
        let body = json!({"messages": messages, "collections": [collection], "top_k": CONVERSATION_TOP_K, "web": false,
            "stages": stages, "dry_run": true, "include": ["trace"]});
        let answer = self.post("/v1/ask", &body).await?;
        let AskReply { trace, sources, .. } = self.read(answer, &[200])?;
        let documents: HashMap<String, String> =
            sources.into_iter().map(|source| (source.urn, source.source)).collect();
        let first = trace.rounds.into_iter().next().map(|round| round.verdicts).unwrap_or_default();
        Ok(first.iter().filter_map(|verdict| documents.get(&verdict.urn).cloned()).collect())
    }

    /// Whether a text passes the check against a passage at this level.
    pub(crate) async fn passes(&self, text: &str, passage: &str, level: &str) -> Result<bool, EvaluationError> {
        let body = json!({"text": text, "passages": [{"text": passage}], "level": level});
        let answer = self.post("/v1/check", &body).await?;
        self.read(answer, &[200]).map(|reply: CheckReply| reply.ok)
    }

    /// Holds a claim against its text. Of several sentences the one with the least support counts, and one contradicted
    /// sentence contradicts the claim; a claim without a factual sentence has no support.
    pub(crate) async fn check(&self, claim: &LabelledClaim) -> Result<CheckedClaim, EvaluationError> {
        let body = json!({"text": claim.claim, "passages": [{"text": claim.source_text}]});
        let answer = self.post("/v1/check", &body).await?;
        let CheckReply { ok, claims } = self.read(answer, &[200])?;
        let is_contradicted = claims.iter().any(|checked| checked.verdict == ClaimVerdict::Contradicted);
        let verdict = match claims.is_empty() {
            _ if is_contradicted => ClaimVerdict::Contradicted,
            false if ok => ClaimVerdict::Supported,
            _ => ClaimVerdict::Unsupported,
        };
        let support = claims.iter().map(|checked| checked.support).reduce(f64::min).unwrap_or(0.0);
        Ok(CheckedClaim { source: claim.source.clone(), label: claim.label, verdict, support })
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Answer, EvaluationError> {
        self.send(self.http.post(self.url(path)).json(body)).await
    }

    /// Sends a request, again after each delay that a busy service requests, as long as its [`PATIENCE`] lasts: hours
    /// of measuring are not lost to a minute without a connection to the database. No reply within the time limit of
    /// the HTTP client is an answer like that of a service whose own limit was reached.
    async fn send(&self, mut request: RequestBuilder) -> Result<Answer, EvaluationError> {
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let again = request.try_clone();
            let answer = match reply_to(request).await {
                Ok(answer) => answer,
                Err(error) if error.is_timeout() => Answer::too_late(),
                Err(error) => return Err(self.failure(format!("cannot be reached: {error}"))),
            };
            match (again, answer.delay()) {
                (Some(again), Some(delay)) if Instant::now() + delay < end => {
                    sleep(delay).await;
                    request = again;
                }
                _ => return Ok(answer),
            }
        }
    }

    /// The body of an answer, if it has one of these statuses.
    fn read<T: DeserializeOwned>(&self, answer: Answer, statuses: &[u16]) -> Result<T, EvaluationError> {
        if !statuses.contains(&answer.status) {
            let detail = answer.body.get("detail").and_then(Value::as_str).unwrap_or("no detail");
            return Err(self.failure(format!("HTTP {}: {detail}", answer.status)));
        }
        serde_json::from_value(answer.body).map_err(|error| self.failure(format!("is no Cited service: {error}")))
    }

    fn failure(&self, detail: String) -> EvaluationError {
        EvaluationError::Service { service: self.base.clone(), detail }
    }
}

async fn reply_to(request: RequestBuilder) -> Result<Answer, reqwest::Error> {
    let response = request.send().await?;
    let status = response.status().as_u16();
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body = response.bytes().await?;
    Ok(Answer {
        status,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        retry_after: retry_after.map(Duration::from_secs),
    })
}

fn path_of(collection: &str) -> String {
    format!("/v1/collections/{}", utf8_percent_encode(collection, NON_ALPHANUMERIC))
}

/// A document as it is uploaded. Without a title the service uses the document's name.
fn upload(document: &SetDocument) -> Value {
    let SetDocument { id, title, text } = document;
    let title = Some(title).filter(|title| !title.trim().is_empty() && !text.trim().is_empty());
    json!({"source": id, "title": title, "text": document.stored_text(), "media_type": "text/plain"})
}

/// The source with the title that the service grades it by, and its grade from the trace.
fn seen(source: SourceReply, verdicts: &HashMap<String, VerdictReply>) -> SourceSeen {
    let title = std::iter::once(source.title).chain(source.heading).collect::<Vec<_>>().join(" ");
    let verdict = verdicts.get(&source.urn);
    SourceSeen {
        document: source.source,
        title,
        table_header: source.table_header,
        text: source.text,
        grade: source.grade,
        probability: verdict.and_then(|verdict| verdict.probability),
        is_doubtful: verdict.map(|verdict| verdict.by == "model" || !verdict.clear),
    }
}

#[cfg(test)]
mod tests;
