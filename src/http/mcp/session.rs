//! The caller of a tool, and the parts of its request that results depend on.

use std::time::Duration;

use tracing::Span;

use super::super::{
    fields::{Faults, MAX_COLLECTIONS},
    problem::ApiError,
};
use crate::service::granted::Granted;

/// Longest wait for an upload: clients give a tool a minute.
const LONGEST_WAIT: Duration = Duration::from_secs(45);

/// The caller of a tool.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) granted: Granted,
    /// Address of the service, without a slash at its end.
    pub(super) base: String,
    /// Time that a tool may wait for a job.
    pub(super) longest_wait: Duration,
    /// The span of the request: the library runs calls in tasks of its own.
    pub(super) span: Span,
}

impl Session {
    pub(super) fn new(granted: Granted, base: String, longest_wait: Duration) -> Self {
        Self { granted, base, longest_wait: longest_wait.min(LONGEST_WAIT), span: Span::current() }
    }

    /// The collections that a call names, or all that the caller sees.
    ///
    /// # Errors
    /// 404 if there are none; 422 if there are more than one question may be put to.
    pub(super) async fn collections(&self, named: Vec<String>) -> Result<Vec<String>, ApiError> {
        if !named.is_empty() {
            let mut faults = Faults::default();
            faults.collections("/collections", &named);
            return faults.finish().map(|()| named);
        }
        let limit = i64::try_from(MAX_COLLECTIONS).unwrap_or(i64::MAX).saturating_add(1);
        let all = self.granted.collections(None, limit).await?;
        if all.is_empty() {
            return Err(ApiError::not_found(
                "there is no collection yet that this key may see; ingest documents first",
            ));
        }
        let all: Vec<String> = all.into_iter().map(|summary| summary.collection.name).collect();
        if all.len() > MAX_COLLECTIONS {
            let some: Vec<&str> = all.iter().take(3).map(String::as_str).collect();
            let detail = format!(
                "there are more than {MAX_COLLECTIONS} collections, the most that one call searches; name some of them, \
                 such as {}",
                some.join(", ")
            );
            return Err(ApiError::invalid_field("/collections", detail));
        }
        Ok(all)
    }
}
