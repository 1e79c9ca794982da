//! Why a run ends before everything was sent, and how long it waits before it does.

use std::time::Duration;

use anyhow::anyhow;
use tokio::time::Instant;

use super::pace::rounded;
use crate::{
    cli::refusal::refusal,
    providers::remote::{Answer, Client},
};

/// How long the client waits for a service that is unavailable, or has no room.
pub(super) const PATIENCE: Duration = Duration::from_mins(5);

/// The end of a run before everything was sent.
#[derive(Debug)]
pub(super) struct Stop {
    reason: anyhow::Error,
    /// Whether another run gets further.
    passes: bool,
}

/// An error that another run may not meet.
impl From<anyhow::Error> for Stop {
    fn from(reason: anyhow::Error) -> Self {
        Self { reason, passes: true }
    }
}

impl Stop {
    /// The end by an answer after which a run cannot go on.
    pub(super) async fn by(client: &Client, answer: &Answer) -> Self {
        if is_of_the_moment(answer.status) {
            return anyhow!("{} answers with {}", client.base(), detail(answer)).into();
        }
        Self::at_once(refusal(client, answer).await)
    }

    /// An end for a reason that stays.
    pub(super) const fn at_once(reason: anyhow::Error) -> Self {
        Self { reason, passes: false }
    }

    /// The same, with what could not be done.
    pub(super) fn context(self, undone: String) -> Self {
        Self { reason: self.reason.context(undone), ..self }
    }

    /// The error for the user.
    pub(super) fn into_error(self) -> anyhow::Error {
        if self.passes {
            let again = "not everything was done; run the command again, what is stored is not done twice";
            return self.reason.context(again);
        }
        self.reason
    }
}

/// Whether the same request may be answered otherwise later.
pub(super) const fn is_of_the_moment(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502..=599)
}

/// How long to wait before a request is sent again; `shortest`, unless the service names a time.
///
/// # Errors
/// If that is longer than the client waits for one thing, of which it has waited since `started`.
pub(super) fn wait_after(
    client: &Client,
    answer: &Answer,
    started: Instant,
    shortest: Duration,
) -> Result<Duration, Stop> {
    let wait = answer.retry_after.unwrap_or_default().max(shortest);
    if started.elapsed() + wait < PATIENCE {
        return Ok(wait);
    }
    let (base, detail) = (client.base(), detail(answer));
    Err(anyhow!("{base} answers with {detail}; it takes no more for the next {}", rounded(wait)).into())
}

/// The status of an answer and its reason.
pub(super) fn detail(answer: &Answer) -> String {
    let detail = answer.body.get("detail").and_then(serde_json::Value::as_str).unwrap_or("no detail");
    format!("HTTP {}: {detail}", answer.status)
}
