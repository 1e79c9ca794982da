//! Ends an ask whose caller may no longer see a document that was found for it.

use std::{future::pending, time::Duration};

use tokio::time::{Instant, interval_at};

use super::{AskError, context::AskContext};
use crate::{
    domain::origin::Origin,
    service::{ServiceError, principals::principal_numbers, retrieval::Hit},
};

/// Interval of the looks at the access control lists, that of the looks at the keys of streams.
const PERIOD: Duration = Duration::from_secs(1);

/// Notes the documents of passages, pages of the web not among them, if an access control list binds the caller.
pub(super) fn note_found<'h>(ask: &AskContext, hits: impl IntoIterator<Item = &'h Hit>) {
    if ask.caller.grant.principals().is_none() {
        return;
    }
    let stored = hits.into_iter().filter(|hit| hit.passage.origin != Origin::Web);
    let passages = stored.flat_map(|hit| hit.duplicates.iter().chain([&hit.passage]));
    ask.record.note_documents(passages.map(|passage| passage.key.document_id));
}

/// Returns when the caller may no longer see a document that was found, or when it was deleted; never for callers whom no
/// access control list binds. An ask that ends within the period costs no look.
pub(super) async fn withdrawn(ask: &AskContext) -> AskError {
    let mut ticks = interval_at(Instant::now() + PERIOD, PERIOD);
    loop {
        ticks.tick().await;
        match are_all_visible(ask).await {
            Ok(Some(false)) => return AskError::Withdrawn,
            Ok(Some(true)) => {}
            Ok(None) => return pending().await,
            // Without the database the ask ends by itself: its audit needs it.
            Err(error) => tracing::warn!(%error, "the access control lists of an ask under way cannot be read"),
        }
    }
}

/// Whether the caller may see all documents that were found; `None` if no list binds the caller.
async fn are_all_visible(ask: &AskContext) -> Result<Option<bool>, ServiceError> {
    let (store, grant) = (&ask.services.store, &ask.caller.grant);
    let Some(principals) = principal_numbers(store, grant).await? else { return Ok(None) };
    let documents = ask.record.documents();
    let visible = store.documents().visible(grant.tenant(), &documents, &principals).await?;
    Ok(Some(visible.len() == documents.len()))
}
