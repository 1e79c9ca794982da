//! The tool `ingest`: `POST /v1/documents`.

use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    super::{
        ingest::NewDocumentsBody,
        problem::ApiError,
        schema::{ItemStateSchema, JobStateSchema},
    },
    session::Session,
    tool::{ToolName, define, structured},
};
use crate::{
    domain::job::{ItemState, JobState},
    service::ingest::{JobItemRow, JobReport, ReplyContent, ReplyOptions},
};

/// Outcome of an upload.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Ingested {
    /// Id of the job, by which `GET /v1/jobs/{id}` follows it.
    job: Uuid,
    /// `queued` and `running` go on after this reply.
    #[schema(value_type = JobStateSchema)]
    state: JobState,
    /// Collection that the documents went to.
    collection: String,
    /// The documents, in the order of the request; the first 200.
    documents: Vec<IngestedDocument>,
}

/// Outcome of a document.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct IngestedDocument {
    /// Your own name for the document.
    source: String,
    /// State of the document.
    #[schema(value_type = ItemStateSchema)]
    state: ItemState,
    /// Id of the stored document.
    document_id: Option<Uuid>,
    /// Typed cause of a failure.
    cause: Option<String>,
    /// How to resolve the failure.
    message: Option<String>,
}

impl From<JobReport> for Ingested {
    fn from(report: JobReport) -> Self {
        let job = report.snapshot.job;
        let documents = report.items.into_iter().map(IngestedDocument::from).collect();
        Self { job: job.id, state: job.state, collection: job.collection, documents }
    }
}

impl From<JobItemRow> for IngestedDocument {
    fn from(row: JobItemRow) -> Self {
        let JobItemRow { source, state, document_id, cause, message, .. } = row;
        Self { source, state, document_id, cause, message }
    }
}

pub(super) fn definition() -> Tool {
    let description = "Stores documents, from text or from URLs, so that they are found, asked and cited. A document with the \
        source of a stored one replaces it. Waits until they are stored, and says what became of each.";
    let hints = ToolAnnotations::new().read_only(false).destructive(true).idempotent(true).open_world(true);
    define::<NewDocumentsBody, Ingested>(ToolName::Ingest, "Store documents", description, hints)
}

pub(super) async fn call(session: &Session, arguments: NewDocumentsBody) -> Result<CallToolResult, ApiError> {
    let accepted = session.granted.accept(arguments.into_submission()?).await?;
    let options = ReplyOptions { key: None, wait: Some(session.longest_wait) };
    let mut has_failed = false;
    let reply = session.granted.reply(accepted, options, |report| {
        has_failed = report.snapshot.job.state == JobState::Failed;
        rendered(report)
    });
    let job = serde_json::from_slice(&reply.await?.answer.body);
    let job = job.map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(if has_failed { CallToolResult::structured_error(job) } else { CallToolResult::structured(job) })
}

fn rendered(report: JobReport) -> Result<ReplyContent, ApiError> {
    let body = structured(&Ingested::from(report))?.to_string().into_bytes();
    Ok(ReplyContent { status: 200, body })
}
