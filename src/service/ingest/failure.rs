//! Classifies failures by their consequences for the affected documents.

use std::{collections::BTreeSet, time::Duration};

use super::{batch::Batch, pipeline::Processor};
use crate::{
    domain::job::Stage,
    providers::{ProviderError, outbound::OutboundError},
    service::ServiceError,
    store::{ClaimHandle, ItemFailure, ItemKey, MAX_CLAIMS, StoreError},
};

/// Longest delay that the service itself chooses before it retries a document after a transient failure.
const MAX_BACKOFF_S: i64 = 60;
/// Longest delay that a provider may request; after it the provider is called again regardless of its request.
const MAX_RETRY_AFTER_S: i64 = 3_600;

pub(super) fn collection_gone() -> ItemFailure {
    ItemFailure {
        stage: Stage::Store,
        cause: ItemFailure::COLLECTION_DELETED,
        message: "the collection was deleted before this document was indexed; send the document again".to_owned(),
    }
}

/// Whether the data was rejected, as opposed to the database being unavailable.
pub(super) fn is_refusal(error: &ServiceError) -> bool {
    matches!(
        error,
        ServiceError::Store(StoreError::Database(_) | StoreError::Constraint { .. } | StoreError::OverQuota(_))
    )
}

/// A failure of documents, and whether a retry can help.
#[derive(Clone, Debug)]
pub(super) struct IngestFailure {
    /// The failure that is reported when the documents are not retried, or not any more.
    pub(super) failure: ItemFailure,
    /// Whether a retry is worthwhile.
    pub(super) is_transient: bool,
    /// Whether the failure is unrelated to the documents: the database was unavailable, or their host is not asked for a while.
    is_outage: bool,
    /// Delay that the other side requested before the next call.
    retry_after: Option<Duration>,
}

impl IngestFailure {
    /// A failure for which a retry does not help.
    pub(super) const fn permanent(failure: ItemFailure) -> Self {
        Self { failure, is_transient: false, is_outage: false, retry_after: None }
    }

    /// A failure for which a later retry may help.
    pub(super) const fn transient(failure: ItemFailure, retry_after: Option<Duration>) -> Self {
        Self { failure, is_transient: true, is_outage: false, retry_after }
    }

    /// A document could not be fetched.
    pub(super) fn of_fetch(error: &OutboundError) -> Self {
        let retry_after = match error {
            OutboundError::Status { retry_after, .. } => *retry_after,
            OutboundError::Hanging { pause, .. } => Some(*pause + Duration::from_secs(1)),
            OutboundError::Refused(_)
            | OutboundError::Unreachable(_)
            | OutboundError::Timeout(_)
            | OutboundError::TooLarge { .. } => None,
        };
        let (is_transient, cause, message) = match error {
            OutboundError::Refused(reason) => (false, "url_refused", format!("the URL was refused: {reason}")),
            OutboundError::Unreachable(_) => {
                (true, "unreachable", format!("{error}; check the URL, and retry when the server is back"))
            }
            OutboundError::Timeout(_) => {
                (true, "timed_out", format!("{error}; retry later, or send the document as a file"))
            }
            OutboundError::Hanging { .. } => {
                (true, "host_hangs", format!("{error}; check the host, and retry when it answers"))
            }
            OutboundError::Status { status, .. } => (
                matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504),
                "http_status",
                format!("{error}; check that the URL opens without signing in, or send the document as a file"),
            ),
            OutboundError::TooLarge { limit } => (
                false,
                "too_large",
                format!("the document is larger than {limit} bytes; send its parts, or raise CITED_FETCH_MAX_BYTES"),
            ),
        };
        let failure = ItemFailure { stage: Stage::Load, cause, message };
        Self { failure, is_transient, is_outage: matches!(error, OutboundError::Hanging { .. }), retry_after }
    }

    /// Seconds until a document with this number of attempts is retried: the delay that the other side requested, or
    /// twice the previous delay.
    pub(super) fn backoff_s(&self, tries: i32) -> i64 {
        match self.retry_after {
            Some(wait) => i64::try_from(wait.as_secs()).unwrap_or(MAX_RETRY_AFTER_S).min(MAX_RETRY_AFTER_S),
            None => doubled_s(tries, MAX_BACKOFF_S),
        }
    }
}

/// A second, doubled so many times; at most `most` seconds.
pub(super) fn doubled_s(times: i32, most: i64) -> i64 {
    (1 << times.clamp(0, 6)).min(most)
}

impl From<&ServiceError> for IngestFailure {
    fn from(error: &ServiceError) -> Self {
        let retry_after = match error {
            ServiceError::Provider(ProviderError { retry_after, .. }) => *retry_after,
            _ => None,
        };
        Self {
            failure: cause_of(error),
            is_transient: is_transient(error),
            is_outage: matches!(
                error,
                ServiceError::Store(StoreError::Unavailable(_) | StoreError::DiskFull(_) | StoreError::Busy(_))
            ),
            retry_after,
        }
    }
}

pub(super) fn is_transient(error: &ServiceError) -> bool {
    match error {
        ServiceError::Provider(error) => error.kind.is_transient(),
        ServiceError::Store(error) => error.is_transient(),
        ServiceError::NotFound { .. }
        | ServiceError::NotGranted { .. }
        | ServiceError::Conflict { .. }
        | ServiceError::TooOften { .. }
        | ServiceError::Invalid { .. }
        | ServiceError::QueueFull(_)
        | ServiceError::Budget(_) => false,
    }
}

impl Processor {
    /// Returns items to the queue after a transient failure, as long as they have attempts left; otherwise fails them.
    /// An outage of the database, and a host that is not asked, do not count as an attempt.
    pub(super) async fn retry_or_fail(
        &self,
        batch: &Batch<'_>,
        items: &[ItemKey],
        failed: &IngestFailure,
    ) -> Result<(), ServiceError> {
        let now = self.context.clock.now();
        let handle = batch.handle;
        let failures = |item: &ItemKey| batch.tries.get(item).map_or(1, |tries| tries.failures + 1);
        let (again, over): (Vec<ItemKey>, Vec<ItemKey>) = items.iter().partition(|item| {
            let is_left = failed.is_outage || failures(item) < self.settings.max_attempts;
            let claims = batch.tries.get(item).map_or(0, |tries| tries.claims);
            failed.is_transient && is_left && claims < MAX_CLAIMS
        });
        if let Some(tries) = again.iter().map(failures).max() {
            let backoff = failed.backoff_s(tries);
            let at = now + time::Duration::seconds(backoff);
            tracing::warn!(
                jobs = jobs_of(&again),
                items = again.len(),
                backoff_s = backoff,
                cause = failed.failure.cause,
                "documents could not be indexed now; they are tried again after backoff_s"
            );
            self.store.jobs().release_items(handle, &again, !failed.is_outage, at).await?;
        }
        self.fail_all(handle, over.into_iter(), &failed.failure).await
    }

    /// Records, for a suspect item, whether a step that can end a process is being run on it. Outside these steps a
    /// worker may be lost for any reason, such as a shutdown of the database.
    pub(super) async fn note_risk(&self, batch: &Batch<'_>, at_risk: bool) -> Result<(), ServiceError> {
        if let Some(item) = batch.suspect() {
            self.store.jobs().note_risk(batch.handle, item, at_risk).await?;
        }
        Ok(())
    }

    /// Fails items, each for its own reason.
    pub(super) async fn fail_each(
        &self,
        batch: &Batch<'_>,
        failures: &[(ItemKey, ItemFailure)],
    ) -> Result<(), ServiceError> {
        if !failures.is_empty() {
            self.store.jobs().fail_items(batch.handle, failures, self.context.clock.now()).await?;
        }
        Ok(())
    }

    /// Fails items, all for the same reason.
    pub(super) async fn fail_all(
        &self,
        handle: ClaimHandle,
        items: impl Iterator<Item = ItemKey>,
        failure: &ItemFailure,
    ) -> Result<(), ServiceError> {
        let failures: Vec<(ItemKey, ItemFailure)> = items.map(|item| (item, failure.clone())).collect();
        if !failures.is_empty() {
            let now = self.context.clock.now();
            self.store.jobs().fail_items(handle, &failures, now).await?;
        }
        Ok(())
    }
}

/// The jobs of items, for the log.
pub(super) fn jobs_of(items: &[ItemKey]) -> String {
    let jobs: BTreeSet<String> = items.iter().map(|item| item.job.to_string()).collect();
    jobs.into_iter().collect::<Vec<_>>().join(", ")
}

fn cause_of(error: &ServiceError) -> ItemFailure {
    let (stage, cause, message) = match error {
        ServiceError::Provider(error) => {
            (Stage::Embed, error.kind.as_str(), format!("the embedding model failed: {error}"))
        }
        ServiceError::Store(StoreError::Unavailable(_) | StoreError::Busy(_) | StoreError::Timeout(_)) => (
            Stage::Store,
            "database_unavailable",
            "the database could not be reached; send the document again".to_owned(),
        ),
        ServiceError::Store(StoreError::DiskFull(_)) => {
            (Stage::Store, "database_full", "the disk of the database is full; send the document again".to_owned())
        }
        ServiceError::Store(StoreError::OverQuota(over)) => (Stage::Store, "storage_quota", over.to_string()),
        ServiceError::Store(error) => {
            // The message of Postgres may hold a part of the document.
            let sqlstate = error.sqlstate();
            tracing::error!(sqlstate, "the database refused documents; the SQLSTATE tells why");
            (Stage::Store, "store_rejected", "the database refused this document; please report it".to_owned())
        }
        other => (Stage::Load, "rejected", other.to_string()),
    };
    ItemFailure { stage, cause, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::ProviderErrorKind;

    fn busy(retry_after: Option<u64>) -> IngestFailure {
        IngestFailure::from(&ServiceError::Provider(ProviderError {
            kind: ProviderErrorKind::RateLimited,
            provider: "p".to_owned(),
            model: "m".to_owned(),
            detail: "busy".to_owned(),
            retry_after: retry_after.map(Duration::from_secs),
        }))
    }

    #[test]
    fn a_provider_that_names_a_time_is_left_alone_until_then() {
        assert_eq!((1..8).map(|tries| busy(None).backoff_s(tries)).collect::<Vec<_>>(), [2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(busy(Some(300)).backoff_s(1), 300);
        assert_eq!(busy(Some(1_000_000)).backoff_s(1), 3_600);
    }
}
