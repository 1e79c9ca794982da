//! Ends an ask whose caller may no longer see a document that was found for it.

use std::{future::pending, time::Duration};

use tokio::time::{Instant, interval_at};
use uuid::Uuid;

use super::{AskError, context::AskContext};
use crate::service::{ServiceError, principals::principal_numbers};

/// Interval of the looks at the access control lists, that of the looks at the keys of streams.
const PERIOD: Duration = Duration::from_secs(1);

/// Returns when the caller may no longer see a document that was found, or when it was deleted; never for callers whom no
/// access control list binds. An ask that ends within the period costs no look.
pub(super) async fn withdrawn(ask: &AskContext) -> AskError {
    let mut ticks = interval_at(Instant::now() + PERIOD, PERIOD);
    loop {
        ticks.tick().await;
        let documents = ask.record.documents();
        match hides_any(ask, &documents).await {
            Ok(Some(true)) => return AskError::Withdrawn,
            Ok(Some(false)) => {}
            Ok(None) => return pending().await,
            // Without the database the ask ends by itself: its audit needs it.
            Err(error) => tracing::warn!(%error, "the access control lists of an ask under way cannot be read"),
        }
    }
}

/// Whether one of the documents is hidden from the caller; `None` if no list binds the caller.
async fn hides_any(ask: &AskContext, documents: &[Uuid]) -> Result<Option<bool>, ServiceError> {
    let (store, grant) = (&ask.services.store, &ask.caller.grant);
    let Some(principals) = principal_numbers(store, grant).await? else { return Ok(None) };
    let visible = store.documents().visible(grant.tenant(), documents, &principals).await?;
    Ok(Some(visible.len() < documents.len()))
}
