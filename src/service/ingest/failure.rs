//! What a failure means for the documents that it hit.

use crate::{
    domain::job::Stage,
    providers::ProviderError,
    service::ServiceError,
    store::{ItemFailure, StoreError},
};

/// Longest wait before a document is tried again after a transient failure.
pub(super) const MAX_BACKOFF_S: i64 = 60;

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

pub(super) fn retry_after(error: &ServiceError) -> Option<i64> {
    let ServiceError::Provider(ProviderError { retry_after, .. }) = error else { return None };
    retry_after.map(|wait| i64::try_from(wait.as_secs()).unwrap_or(MAX_BACKOFF_S))
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
