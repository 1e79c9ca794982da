//! Streams that last, of documents that arrive and of what leaves: they break off when the key of their request opens the
//! service no more.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderMap, header},
};
use futures::{StreamExt, stream};
use tokio::time::{Instant, interval_at};

use crate::service::access::{AccessService, Refusal, TokenRefusal};

/// How often a key is asked for. One that was asked for within a second is known without a look into the database.
const PERIOD: Duration = Duration::from_secs(1);

/// Media types of responses that last.
const LASTING: [&str; 2] = ["text/event-stream", "application/x-ndjson"];

/// Asks for the key of a request as long as its streams last.
#[derive(Clone)]
pub(super) struct Watch {
    access: AccessService,
    key: String,
}

/// Whether a response may last.
pub(super) fn may_last(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    LASTING.contains(&media_type.split(';').next().unwrap_or_default().trim())
}

impl Watch {
    pub(super) fn of(access: &AccessService, key: String) -> Self {
        Self { access: access.clone(), key }
    }

    /// The same body, which breaks off when the key is refused.
    pub(super) fn over(&self, body: Body) -> Body {
        let ticks = interval_at(Instant::now() + PERIOD, PERIOD);
        let parts = stream::unfold(Some((body.into_data_stream(), ticks, self.clone())), |state| async move {
            let (mut body, mut ticks, watch) = state?;
            loop {
                tokio::select! {
                    biased;
                    _ = ticks.tick() => if watch.is_refused().await {
                        return Some((Err(axum::Error::new(Refused)), None));
                    },
                    part = body.next() => return Some((part?, Some((body, ticks, watch)))),
                }
            }
        });
        Body::from_stream(parts)
    }

    /// Whether the key is refused by now. Where it cannot be looked up it is not.
    async fn is_refused(&self) -> bool {
        !matches!(
            self.access.identify(Some(&self.key)).await,
            Ok(_) | Err(Refusal::Store(_) | Refusal::Token(TokenRefusal::NoKeys))
        )
    }
}

/// Error: the key was taken back, or has ended, while a stream was under way.
#[derive(Debug, thiserror::Error)]
#[error("the key of the request is not valid any more")]
struct Refused;
