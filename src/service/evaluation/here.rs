//! The services of this process.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::time::Instant;
use uuid::Uuid;

use super::{EvaluationError, Look, Stored, TOP_K, Target, title_and_text};
use crate::{
    domain::{
        citation::Level,
        corrective::OnInsufficient,
        evaluation::{
            answers::{Reply, ReplyEnd, SourceSeen},
            dataset::SetDocument,
        },
        filter::Filter,
        identity::{Caller, TenantId},
        job::{ItemState, JobState},
    },
    service::{
        ServiceError,
        ask::{AskError, AskExecution, AskOutcome, AskRequest, AskService, GradedBy, GradedHit, Reach},
        collections::CollectionService,
        ingest::{Accepted, Content, IncomingDocument, IngestService, JobReport, Submission},
        retrieval::Stages,
        search::{SearchRequest, SearchService},
    },
};

/// How often progress is told while a job runs.
const TELL_EVERY: Duration = Duration::from_secs(5);

pub(super) struct Here {
    pub(super) tenant: TenantId,
    pub(super) collections: CollectionService,
    pub(super) ingest: IngestService,
    pub(super) search: SearchService,
    pub(super) ask: AskService,
}

#[async_trait]
impl Target for Here {
    async fn open(&self, collection: &str, may_exist: bool) -> Result<(), EvaluationError> {
        match self.collections.create(self.tenant, collection, self.collections.defaults()).await {
            Ok(_) => Ok(()),
            Err(ServiceError::Conflict { .. }) if may_exist => Ok(()),
            Err(ServiceError::Conflict { .. }) => Err(EvaluationError::CollectionExists(collection.to_owned())),
            Err(error) => Err(error.into()),
        }
    }

    async fn hand_in(&self, collection: &str, documents: &[SetDocument]) -> Result<Uuid, EvaluationError> {
        let documents = documents.iter().map(incoming).collect();
        let submission =
            Submission { collection: collection.to_owned(), documents, indexing: None, key: None, webhook: None };
        match self.ingest.accept(self.tenant, submission).await? {
            Accepted::New(job) => Ok(job),
            Accepted::Repeated(answer) => Ok(answer.job),
        }
    }

    async fn look(&self, job: Uuid) -> Result<Look, EvaluationError> {
        let report = self.ingest.wait(self.tenant, job, TELL_EVERY).await?;
        let is_open = matches!(report.snapshot.job.state, JobState::Queued | JobState::Running);
        let is_settled = |state: ItemState| !matches!(state, ItemState::Queued | ItemState::Running);
        Ok(Look {
            settled: report.items.iter().filter(|item| is_settled(item.state)).count(),
            is_open,
            failed: if is_open { None } else { failures(&report) },
        })
    }

    async fn stored(&self, collection: &str) -> Result<Stored, EvaluationError> {
        let summary = self.collections.get(self.tenant, collection).await?;
        Ok(Stored { documents: summary.documents, chunks: summary.chunks })
    }

    async fn discard(&self, collection: &str) -> Result<(), EvaluationError> {
        self.collections.delete(self.tenant, collection).await?;
        Ok(())
    }

    async fn search(
        &self,
        collection: &str,
        query: &str,
        stages: Stages,
        top_k: usize,
    ) -> Result<Vec<String>, EvaluationError> {
        let request = SearchRequest {
            collections: vec![collection.to_owned()],
            query: query.to_owned(),
            stages,
            top_k,
            min_score: None,
            filter: Filter::default(),
        };
        let found = self.search.search(self.tenant, &request).await?;
        Ok(found.hits.into_iter().map(|hit| hit.passage.source.clone()).collect())
    }

    fn most_passages(&self) -> usize {
        usize::MAX
    }

    async fn ask(&self, collection: &str, id: &str, question: &str) -> Result<Reply, EvaluationError> {
        let request = AskRequest {
            question: question.to_owned(),
            collections: vec![collection.to_owned()],
            top_k: TOP_K,
            min_score: None,
            filter: Filter::default(),
            stages: Stages::default(),
            feedback: true,
            level: Level::default(),
            temperature: 0.0,
            seed: None,
            on_insufficient: OnInsufficient::default(),
            refine: false,
            execution: AskExecution { reach: Reach::Documents, ..AskExecution::default() },
        };
        let started = Instant::now();
        let result = self.ask.ask(&Caller::internal(self.tenant), &request).await;
        let duration_ms = started.elapsed().as_secs_f64() * 1_000.0;
        let (end, sources, usage, answerability) = match result {
            Ok(report) => {
                let end = match &report.outcome {
                    AskOutcome::Answered { answer, .. } => ReplyEnd::Answered(answer.text().to_owned()),
                    AskOutcome::Abstained(_) | AskOutcome::DryRun => ReplyEnd::Abstained,
                };
                let rounds = report.trace.rounds.iter().map(|round| round.answerability);
                (end, report.sources, report.usage, rounds.reduce(f32::max))
            }
            Err(AskError::Rejected(rejection)) => (ReplyEnd::Rejected, rejection.sources, rejection.usage, None),
            Err(AskError::Deadline { usage, .. }) => (ReplyEnd::TimedOut, Vec::new(), *usage, None),
            Err(error) => {
                return Err(EvaluationError::Ask { question: id.to_owned(), source: Box::new(error) });
            }
        };
        let sources = sources.iter().map(seen).collect();
        let (llm_calls, cost_usd) = (usage.llm_calls, usage.cost.usd());
        Ok(Reply { end, sources, duration_ms, llm_calls, cost_usd, answerability })
    }
}

/// The document as an upload.
fn incoming(document: &SetDocument) -> IncomingDocument {
    let (title, text) = title_and_text(document);
    IncomingDocument {
        source: document.id.clone(),
        uri: None,
        title: Some(title.to_owned()),
        metadata: json!({}),
        loader: "evaluation",
        content: Content::Given { media_type: "text/plain".to_owned(), bytes: text.as_bytes().to_vec() },
    }
}

fn seen(graded: &GradedHit) -> SourceSeen {
    SourceSeen {
        document: graded.hit.passage.source.clone(),
        title: graded.hit.title(),
        text: graded.hit.passage.text.clone(),
        grade: Some(graded.verdict.grade),
        probability: graded.verdict.probability,
        is_doubtful: Some(graded.by == GradedBy::Model || !graded.verdict.is_clear),
    }
}

fn failures(report: &JobReport) -> Option<(u64, String)> {
    let is_stored = |state: ItemState| matches!(state, ItemState::Succeeded | ItemState::Unchanged);
    let mut failed = report.items.iter().filter(|item| !is_stored(item.state));
    let first = failed.next()?;
    let cause = first.message.as_deref().unwrap_or(first.state.as_str());
    let first = format!("{:?}: {cause}", first.source);
    Some((1 + u64::try_from(failed.count()).unwrap_or(u64::MAX - 1), first))
}
