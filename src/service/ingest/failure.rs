//! What a failure means for the documents that it hit.

use crate::{
    domain::job::Stage,
    providers::ProviderError,
    service::ServiceError,
    store::{ItemFailure, StoreError},
};

/// Longest wait of our own before a document is tried again after a transient failure.
const MAX_BACKOFF_S: i64 = 60;
/// Longest wait that a provider may ask for; after this it is asked again whatever it said.
const MAX_RETRY_AFTER_S: i64 = 3_600;

pub(super) fn collection_gone() -> ItemFailure {
    ItemFailure {
        ordinal: 0,
        stage: Stage::Store,
        cause: "collection_deleted",
        message: "the collection was deleted before this document was indexed; send the document again".to_owned(),
    }
}

pub(super) fn is_transient(error: &ServiceError) -> bool {
    match error {
        ServiceError::Provider(error) => error.kind.is_transient(),
        ServiceError::Store(error) => error.is_transient(),
        ServiceError::NotFound { .. }
        | ServiceError::Conflict { .. }
        | ServiceError::Invalid { .. }
        | ServiceError::QueueFull(_)
        | ServiceError::Budget(_) => false,
    }
}

/// Whether Postgres refused the data, as opposed to not being there.
pub(super) fn is_refusal(error: &ServiceError) -> bool {
    matches!(error, ServiceError::Store(StoreError::Database(_) | StoreError::Constraint { .. }))
}

pub(super) fn ignore_refusal(error: ServiceError) -> Result<(), ServiceError> {
    if is_refusal(&error) { Ok(()) } else { Err(error) }
}

/// Seconds until a document that was tried so often is tried again: as long as the provider asked for, or
/// twice as long as the time before.
pub(super) fn backoff_s(error: &ServiceError, tries: i32) -> i64 {
    match error {
        ServiceError::Provider(ProviderError { retry_after: Some(wait), .. }) => {
            i64::try_from(wait.as_secs()).unwrap_or(MAX_RETRY_AFTER_S).min(MAX_RETRY_AFTER_S)
        }
        _ => (1 << tries.clamp(0, 6)).min(MAX_BACKOFF_S),
    }
}

pub(super) fn cause_of(error: &ServiceError) -> ItemFailure {
    let (stage, cause, message) = match error {
        ServiceError::Provider(error) => {
            (Stage::Embed, error.kind.as_str(), format!("the embedding model failed: {error}"))
        }
        ServiceError::Store(StoreError::Unavailable(_) | StoreError::Timeout(_)) => (
            Stage::Store,
            "database_unavailable",
            "the database could not be reached; send the document again".to_owned(),
        ),
        ServiceError::Store(_) => {
            (Stage::Store, "store_rejected", "the database refused this document; please report it".to_owned())
        }
        other => (Stage::Load, "rejected", other.to_string()),
    };
    ItemFailure { ordinal: 0, stage, cause, message }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::providers::ProviderErrorKind;

    fn busy(retry_after: Option<u64>) -> ServiceError {
        ServiceError::Provider(ProviderError {
            kind: ProviderErrorKind::RateLimited,
            provider: "p".to_owned(),
            model: "m".to_owned(),
            detail: "busy".to_owned(),
            retry_after: retry_after.map(Duration::from_secs),
        })
    }

    #[test]
    fn a_provider_that_names_a_time_is_left_alone_until_then() {
        assert_eq!((1..8).map(|tries| backoff_s(&busy(None), tries)).collect::<Vec<_>>(), [2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(backoff_s(&busy(Some(300)), 1), 300);
        assert_eq!(backoff_s(&busy(Some(1_000_000)), 1), 3_600);
    }
}
