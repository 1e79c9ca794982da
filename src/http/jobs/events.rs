//! `/v1/jobs/{id}/events`: a job as server-sent events.

use std::{convert::Infallible, time::Duration};

use axum::{
    http::{HeaderMap, StatusCode},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures::{Stream, stream};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    super::{extract::ValidPath, problem::ApiError},
    JobBody,
};
use crate::service::{error_chain, granted::Granted, ingest::JobSnapshot};

/// Interval of keep-alive comments: proxies cut connections that are silent for a minute or so.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a client should wait before it reconnects.
const RECONNECT: Duration = Duration::from_secs(2);
/// Minimum time between two events.
const PACE: Duration = Duration::from_millis(250);

/// Follow a job
///
/// Server-sent events: `progress` with the current state of the job (without its items) whenever it has changed, and
/// `end` with its final state, after which the stream closes. Each event contains the whole state, so that a client
/// that connects late misses nothing. The `id` of an event identifies the state: sent back as `Last-Event-ID`, it
/// suppresses an event that the client has already received. After the `end` nothing remains to be sent: the response
/// is then 204, which stops browsers from reconnecting. Comments keep the connection alive. When the service stops, the
/// stream ends without `end`.
#[utoipa::path(
    get, path = "/v1/jobs/{id}/events", tag = "ingest",
    params(
        ("id" = Uuid, Path, description = "Identity of the job"),
        ("Last-Event-ID" = Option<String>, Header, description = "`id` of the last event that was received"),
    ),
    responses(
        (status = 200, description = "Events until the job ends; the data of each is a job", body = Vec<JobEventBody>, content_type = "text/event-stream"),
        (status = 204, description = "The job has ended and the client knows it"),
    ),
)]
pub(in crate::http) async fn follow_job(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let seen = headers.get("last-event-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let now = granted.job_snapshot(id).await?;
    if now.is_over() && seen.as_deref() == Some(now.revision().as_str()) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let follower = Follower { granted, job: id, seen, is_first: true, is_over: false };
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    Ok(Sse::new(follower.events()).keep_alive(keep_alive).into_response())
}

/// The state of one client: the job and the last event it has received.
struct Follower {
    granted: Granted,
    job: Uuid,
    seen: Option<String>,
    is_first: bool,
    is_over: bool,
}

impl Follower {
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        stream::unfold(self, |mut follower| async move {
            let event = follower.next().await?;
            Some((Ok(event), follower))
        })
    }

    /// The next event; none after the end, when the service stops, or when the job can no longer be read: the client
    /// then reconnects and receives the error.
    async fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.is_first) {
            return Some(Event::default().retry(RECONNECT).comment("following"));
        }
        if self.is_over {
            return None;
        }
        let found = self.granted.next_job_snapshot(self.job, self.seen.as_deref()).await;
        let snapshot = found
            .inspect_err(|error| {
                tracing::warn!(
                    error = error_chain(error), job_id = %self.job,
                    "an event stream of a job ends early; its client can connect again"
                );
            })
            .ok()??;
        self.is_over = snapshot.is_over();
        let revision = snapshot.revision();
        let event = JobEventBody::of(snapshot).frame(revision.clone())?;
        if self.seen.replace(revision).is_some() && !self.is_over {
            tokio::time::sleep(PACE).await;
        }
        Some(event)
    }
}

/// An event of a job: its name, and the job as JSON. Its `id` identifies the state of the job, for `Last-Event-ID`.
#[derive(Serialize, ToSchema)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
#[schema(as = JobEvent)]
pub(in crate::http) enum JobEventBody {
    /// The current state of the job, without its items.
    Progress(Box<JobBody>),
    /// The final state of the job.
    End(Box<JobBody>),
}

impl JobEventBody {
    fn of(snapshot: JobSnapshot) -> Self {
        let is_over = snapshot.is_over();
        let job = Box::new(JobBody::of(snapshot));
        if is_over { Self::End(job) } else { Self::Progress(job) }
    }

    fn frame(&self, id: String) -> Option<Event> {
        let (name, job) = match self {
            Self::Progress(job) => ("progress", job),
            Self::End(job) => ("end", job),
        };
        Event::default().event(name).id(id).json_data(job).ok()
    }
}
