//! Ingest of documents as a stream of any length: `POST /v1/documents/bulk`.

mod lines;
mod room;

use std::{pin::pin, time::Duration};

use axum::{
    body::BodyDataStream,
    extract::{Request, State},
    http::{HeaderMap, header},
    response::Response,
};
use futures::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use utoipa::IntoParams;

use self::{
    lines::{Line, Lines},
    room::StreamRoom,
};
use super::{
    AppState,
    extract::{ValidQuery, parse},
    fields::Faults,
    ingest::{IdempotencyHeader, NewDocumentBody, ReplyTo, default_collection, idempotency_key, reply},
    jobs::JobBody,
    problem::ApiError,
    schema::{Bytes, CollectionName, IndexingSchema, PlainText},
};
use crate::{
    domain::{
        fingerprint::{Hash, fingerprint},
        job::Indexing,
    },
    service::{
        ServiceError, error_chain,
        granted::Granted,
        ingest::{Accepted, Arrival, Content, DocumentStream, FirstAnswer, IncomingDocument, RefusedItem},
    },
};

/// Longest line, in bytes. Memory does not grow with the length of the stream; this bounds the memory of one line.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// Documents that have arrived are accepted after this time at the latest, even if there are few.
const FLUSH: Duration = Duration::from_secs(1);
/// Accepted media types. Bytes without a type are read as lines, because generated clients send those and this route
/// reads nothing else.
const NDJSON: [&str; 5] = [
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonlines",
    "application/octet-stream",
];
/// Longest message about a line, in characters.
const MAX_MESSAGE: usize = 500;
/// Longest source shown for a line that is not a document, in characters.
const MAX_SOURCE: usize = 200;

/// Parameters of a stream of documents.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct BulkQuery {
    /// Collection that the documents go to; created if it does not exist. If left out, `default`.
    #[serde(default = "default_collection")]
    #[param(inline, required = false, value_type = CollectionName)]
    collection: String,
    /// When the documents can be found, as with `POST /v1/documents`.
    #[param(inline, value_type = Option<IndexingSchema>)]
    indexing: Option<Indexing>,
    /// Whether to respond only when the job has ended; if that takes too long, the response has the job in its current
    /// state.
    #[serde(default)]
    wait: bool,
    /// URL that is notified when the job ends, as with `POST /v1/documents`.
    #[param(inline, value_type = Option<PlainText>)]
    webhook_url: Option<String>,
}

/// Ingest a stream of documents
///
/// The body has one JSON object per line (NDJSON), as in `documents` of `POST /v1/documents`; any number of lines of up
/// to 16 MiB. Documents are queued as they arrive and indexed while the rest is still being sent; memory does not grow
/// with the length of the stream. A line that is not a document becomes a failed item of the job, with the cause
/// `invalid_line`, and the other lines are processed. If several lines have the same source, the last one wins. While
/// the queue is full, reading pauses, and so it does at a long line while other large bodies are held; a stream that finds the queue full at its first part is refused at once, and no
/// job is created.
///
/// If a stream breaks off, the documents that had arrived are kept: the job ends with those and has `is_incomplete`
/// set. If the sender can still be reached, the problem names `job` and `line`; otherwise the job is the newest of `GET
/// /v1/jobs`. Sending the whole stream again costs little, because unchanged documents are skipped.
#[utoipa::path(
    post, path = "/v1/documents/bulk", tag = "ingest", params(BulkQuery, IdempotencyHeader),
    request_body(content((String = "application/x-ndjson"), (Bytes = "application/octet-stream"))),
    responses(
        (status = 202, description = "All has arrived; see the job at the Location header", body = JobBody),
        (status = 200, description = "The finished job (with wait=true)", body = JobBody),
        (status = 400, description = "The stream broke off; names job and line"),
        (status = 409, description = "The job was cancelled meanwhile, or the Idempotency-Key names another request, or a stream that is still arriving"),
        (status = 413, description = "A part is larger than the queue takes even when it is empty (`exceeds_queue`); names line, and job if there is one"),
        (status = 415, description = "Not NDJSON"),
        (status = 422, description = "A parameter is wrong, or the stream holds nothing"),
        (status = 429, description = "The queue is full at the first part, or nothing in it moves for five minutes; names line, and job if there is one"),
        (status = 503, description = "The database cannot be reached, or other large bodies were held for too long (`uploads_busy`); names line, and job if there is one"),
    ),
)]
pub(super) async fn stream_documents(
    State(state): State<AppState>,
    granted: Granted,
    ValidQuery(query): ValidQuery<BulkQuery>,
    request: Request,
) -> Result<Response, ApiError> {
    let mut faults = Faults::default();
    faults.collection_name("?collection", &query.collection);
    faults.finish()?;
    let key = idempotency_key(request.headers())?;
    if !is_ndjson(request.headers()) {
        return Err(ApiError::media_type("application/x-ndjson"));
    }
    let announced = request.headers().get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|value| value.to_str().ok()?.parse().ok());
    let body = request.into_body().into_data_stream();
    if let Some(key) = &key
        && granted.earlier_stream(key, None).await?.is_some()
    {
        let first = compare(&granted, key, hasher(&query), body).await?;
        return reply(&state, &granted, Accepted::Repeated(first), ReplyTo { key: Some(key), wait: query.wait }).await;
    }
    let BulkQuery { collection, indexing, webhook_url, .. } = &query;
    let stream = granted.open_stream(collection, *indexing, key.clone(), webhook_url.as_deref()).await?;
    let hash = hasher(&query);
    let longest = announced.and_then(|bytes: u64| usize::try_from(bytes).ok()).unwrap_or(MAX_LINE_BYTES);
    let tenant = granted.caller().grant.tenant();
    let room = StreamRoom::new(state.in_flight.clone(), tenant, longest.min(MAX_LINE_BYTES));
    let lines = Lines::new(MAX_LINE_BYTES);
    let mut reception = Reception { stream, lines, room, line: 0, bytes: 0, announced, hash };
    // A separate task: a broken connection drops this handler, and the documents that had arrived are still to be kept.
    let received = tokio::spawn(async move { reception.receive(body).await });
    let job = received.await.map_err(|error| ApiError::internal(format!("a stream was not received: {error}")))??;
    reply(&state, &granted, Accepted::New(job), ReplyTo { key: key.as_deref(), wait: query.wait }).await
}

/// Whether a body with these headers is a stream of documents.
pub(super) fn is_ndjson(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    NDJSON.iter().any(|name| essence.eq_ignore_ascii_case(name))
}

/// Starts the hash over all parameters of a stream.
fn hasher(query: &BulkQuery) -> Sha256 {
    let BulkQuery { collection, indexing, webhook_url, wait: _ } = query;
    let indexing = indexing.map(Indexing::as_str).unwrap_or_default();
    let webhook_url = webhook_url.as_deref().unwrap_or_default();
    Sha256::new_with_prefix(fingerprint(&[collection.as_bytes(), indexing.as_bytes(), webhook_url.as_bytes()]))
}

/// Reads a stream whose idempotency key is known, only to determine whether it is the same stream.
async fn compare(
    granted: &Granted,
    key: &str,
    mut hash: Sha256,
    mut body: BodyDataStream,
) -> Result<FirstAnswer, ApiError> {
    while let Some(part) = body.next().await {
        hash.update(part.map_err(|error| ApiError::unreadable(format!("the stream broke off: {error}")))?);
    }
    let first = granted.earlier_stream(key, Some(hash.finalize().into())).await?;
    first.ok_or_else(|| ApiError::not_found("the job of this Idempotency-Key is gone; use a new key"))
}

/// The state of a stream that is being received.
struct Reception {
    stream: DocumentStream,
    lines: Lines,
    room: StreamRoom,
    /// Number of lines so far, blank ones included.
    line: u64,
    /// Number of bytes so far.
    bytes: u64,
    /// Number of bytes that the sender announced.
    announced: Option<u64>,
    hash: Sha256,
}

impl Reception {
    /// Receives the whole stream.
    async fn receive(&mut self, body: BodyDataStream) -> Result<uuid::Uuid, ApiError> {
        let received = match self.read(body).await {
            Ok(()) => self.complete().await,
            Err(error) => Err(error),
        };
        if received.is_err() {
            // The documents that arrived stay, regardless of the error. If closing fails too, the job is closed later
            // for lack of a heartbeat.
            if let Err(closing) = self.stream.break_off().await {
                tracing::warn!(
                    error = error_chain(&closing),
                    "an upload that broke off could not be closed in the database; the reaper closes its job"
                );
            }
        }
        received.map_err(|error| self.place(error))
    }

    async fn complete(&mut self) -> Result<uuid::Uuid, ApiError> {
        let hash: Hash = self.hash.clone().finalize().into();
        let job = self.stream.complete(hash).await?;
        job.ok_or_else(|| ApiError::invalid_field("", "the stream holds no document; send one JSON object per line"))
    }

    async fn read(&mut self, mut body: BodyDataStream) -> Result<(), ApiError> {
        let mut flushed = Instant::now();
        loop {
            let part = match tokio::time::timeout(FLUSH, body.next()).await {
                Ok(None) => break,
                Ok(Some(Ok(part))) => Some(part),
                Ok(Some(Err(error))) => return Err(broken(&format!("the stream broke off: {error}"))),
                Err(_) => None,
            };
            if let Some(part) = part {
                self.hash.update(&part);
                self.bytes += u64::try_from(part.len()).unwrap_or(u64::MAX);
                let mut input: &[u8] = &part;
                while !input.is_empty() {
                    self.hold_line(input).await?;
                    if let Some(line) = self.lines.next(&mut input) {
                        self.take(line).await?;
                    }
                }
            }
            if flushed.elapsed() >= FLUSH {
                self.accept_part().await?;
                flushed = Instant::now();
            }
        }
        if self.announced.is_some_and(|announced| announced != self.bytes) {
            return Err(broken("the stream ended before its announced length"));
        }
        if let Some(line) = self.lines.last() {
            self.take(line).await?;
        }
        Ok(())
    }

    /// Sees to room for the line that `input` goes on with.
    async fn hold_line(&mut self, input: &[u8]) -> Result<(), ApiError> {
        let bytes = self.lines.held_with(input);
        if self.room.admits_line(bytes) {
            return Ok(());
        }
        // A stream that waits holds no room that another one waits for.
        self.accept_part().await?;
        let mut room = pin!(self.room.of_line());
        loop {
            match tokio::time::timeout(FLUSH, &mut room).await {
                Ok(room) => {
                    self.room.begin_line(room?);
                    return Ok(());
                }
                // Records that the sender is still active.
                Err(_) => self.stream.flush().await?,
            }
        }
    }

    async fn accept_part(&mut self) -> Result<(), ServiceError> {
        self.stream.flush().await?;
        self.room.admits_part(self.stream.pending_bytes());
        Ok(())
    }

    /// Takes a line, and gives its room back.
    async fn take(&mut self, line: Line) -> Result<(), ServiceError> {
        self.push(line).await?;
        let may_be_held = self.room.admits_part(self.stream.pending_bytes());
        self.room.end_line();
        if may_be_held { Ok(()) } else { self.accept_part().await }
    }

    async fn push(&mut self, line: Line) -> Result<(), ServiceError> {
        self.line += 1;
        let arrival = match line {
            Line::TooLong => refused(self.line, None, &format!("the line is longer than {MAX_LINE_BYTES} bytes")),
            Line::Whole(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => return Ok(()),
            Line::Whole(bytes) => match read_line(&bytes) {
                Ok(document) => Arrival::Document(document),
                Err(message) => refused(self.line, source_of(&bytes), &message),
            },
        };
        self.stream.push(arrival).await
    }

    /// Adds the position in the stream to an error.
    fn place(&self, error: ApiError) -> ApiError {
        let error = error.with("line", json!(self.line));
        match self.stream.job() {
            Some(job) => error.with("job", json!(job)),
            None => error,
        }
    }
}

fn broken(detail: &str) -> ApiError {
    ApiError::unreadable(format!("{detail}; the documents that had arrived are kept, see job and line"))
}

/// Parses the document of a line; the error describes what is wrong with it.
fn read_line(bytes: &[u8]) -> Result<IncomingDocument, String> {
    let body: NewDocumentBody = parse(bytes).map_err(|error| error.detail().to_owned())?;
    let mut faults = Faults::default();
    let document = body.read("", &mut faults);
    faults.finish().map_err(|error| error.detail().to_owned())?;
    Ok(match document.content {
        Content::Given { .. } => IncomingDocument { loader: "bulk", ..document },
        Content::At { .. } => document,
    })
}

/// The source in a line that is not a document, if it has one that can be shown.
fn source_of(bytes: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let source = value.get("source")?.as_str()?;
    let is_fit = !source.is_empty() && !source.contains('\0') && source.chars().count() <= MAX_SOURCE;
    is_fit.then(|| source.to_owned())
}

fn refused(line: u64, source: Option<String>, message: &str) -> Arrival {
    let message: String = message.chars().filter(|character| *character != '\0').take(MAX_MESSAGE).collect();
    Arrival::Refused(RefusedItem {
        source: source.unwrap_or_else(|| format!("line {line}")),
        cause: "invalid_line",
        message: format!("Line {line}: {message}. Correct it and send it again."),
    })
}
