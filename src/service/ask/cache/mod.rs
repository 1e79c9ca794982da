//! Cache of answers. It is consulted once the passages are known, so that any change to them is a miss.
//!
//! Of many asks for the same answer one writes it and the others wait, over all processes. Within a process they wait
//! for the first one ([`SingleFlight`]); of the first ones of all processes, one holds the claim in the database and
//! the others poll for its answer. So a process queries the database once per interval, however many of its asks wait.

mod entry;
mod key;

use std::time::Duration;

use serde_json::Value;
use tokio::{runtime::Handle, time::Instant};
use uuid::Uuid;

use self::{
    entry::{Entry, documents_of},
    key::CacheKey,
};
use super::{
    AskError, AskReport,
    context::AskContext,
    emit::Emitter,
    retrieve::Corpus,
    single_flight::{Flight, Role, SingleFlight},
};
use crate::{
    domain::{fingerprint::Hash, identity::TenantId},
    service::{retrieval::Retrieved, wait_briefly},
    store::{CachedState, NewCachedAnswer, Store, StoreError},
};

/// Interval at which the answer of another process is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Returns the answer given earlier to the same question over the same passages, validated again, if the request allows
/// that. If there is none, `claim` is set for the answer that is to be written; if the ask has waited for another, passages
/// that its caller may not see any more are taken out of those found.
///
/// # Errors
/// When the database fails.
pub(super) async fn recall(
    ask: &AskContext,
    emitter: &mut Emitter,
    (corpus, found): (&Corpus, &mut Retrieved),
    claim: &mut Option<CacheClaim>,
) -> Result<Option<AskReport>, AskError> {
    let execution = &ask.request.execution;
    let Some(life) = execution.cache_life.filter(|_| !execution.dry_run) else { return Ok(None) };
    let key = CacheKey::of(ask, corpus, found).hash();
    let (store, tenant) = (ask.services.store.clone(), ask.caller.grant.tenant());
    let slot = Slot { store, tenant, key, ask: ask.id, caller: found.caller.clone() };
    let claimed = claim.insert(CacheClaim { slot, life, is_stored: false, flight: None });
    let Known { answer, has_waited } = claimed.look_up(&ask.single_flight, ask.deadline).await?;
    let Some(report) = answer.and_then(|answer| entry::recall(ask, answer)) else {
        if has_waited {
            claimed.slot.forget_hidden(found).await?;
        }
        return Ok(None);
    };
    *claim = None;
    emitter.emit_sources(&ask.record.sources()).await;
    if let Some((answer, _)) = report.outcome.written() {
        emitter.emit_whole(answer).await;
    }
    Ok(Some(report))
}

/// Stores an answer that was not cached, then releases the asks that wait for it. The work begins at once and is done
/// even if the future is dropped; the future waits for it, but not for long.
pub(super) fn keep(
    ask: &AskContext,
    claim: Option<CacheClaim>,
    result: &Result<AskReport, AskError>,
) -> impl Future<Output = ()> + Send + use<> {
    let keeping = claim.map(|claim| {
        let answer = result.as_ref().ok().and_then(|report| Entry::of(report, ask.record.sources().len()));
        let documents = result.as_ref().map(documents_of).unwrap_or_default();
        let most = ask.services.settings.cache.most_answers;
        tokio::spawn(claim.settle(answer, documents, most))
    });
    wait_briefly(keeping)
}

/// The cache entry of one question, as one ask sees it.
#[derive(Clone)]
struct Slot {
    store: Store,
    tenant: TenantId,
    key: Hash,
    ask: Uuid,
    /// The caller, as access control lists know it.
    caller: Option<Vec<i32>>,
}

/// Result of a look-up.
struct Known {
    answer: Option<Value>,
    /// Whether the ask has waited for another one.
    has_waited: bool,
}

impl Slot {
    async fn look(&self, lease: Option<Duration>) -> Result<CachedState, StoreError> {
        let asker = (self.ask, self.caller.as_deref());
        self.store.asks().cached_answer(self.tenant, &self.key, asker, lease).await
    }

    /// Takes out the passages of documents that the caller may not see any more.
    async fn forget_hidden(&self, found: &mut Retrieved) -> Result<(), StoreError> {
        let Some(caller) = &self.caller else { return Ok(()) };
        let documents: Vec<Uuid> = found.hits.iter().map(|hit| hit.passage.key.document_id).collect();
        let visible = self.store.documents().visible(self.tenant, &documents, caller).await?;
        found.hits.retain(|hit| visible.contains(&hit.passage.key.document_id));
        for hit in &mut found.hits {
            hit.duplicates.retain(|same| visible.contains(&same.key.document_id));
        }
        Ok(())
    }

    /// Releases the claim, so that another ask can write the answer.
    async fn release(&self) {
        if let Err(error) = self.store.asks().release_cached_answer(self.tenant, &self.key, self.ask).await {
            tracing::warn!(
                error = %error, ask_id = %self.ask,
                "the claim on a cached answer could not be released: asks for the same answer wait until it expires"
            );
        }
    }
}

/// The right to store an answer that was not cached. Dropped without one, it lets another ask write it.
pub(super) struct CacheClaim {
    slot: Slot,
    life: Duration,
    /// Whether the database may hold the claim.
    is_stored: bool,
    /// Held by the ask for which others of this process wait.
    flight: Option<Flight>,
}

impl CacheClaim {
    /// Returns the answer, if there is one. Waits for an ask that is already writing it, in this process or in another.
    async fn look_up(&mut self, single_flight: &SingleFlight, deadline: Instant) -> Result<Known, StoreError> {
        match single_flight.join((self.slot.tenant.0, self.slot.key)) {
            Role::Leader(flight) => {
                self.flight = Some(flight);
                self.claim(deadline).await
            }
            Role::Follower(flight) => {
                flight.landed().await;
                let answer = match self.slot.look(None).await? {
                    CachedState::Ready(answer) => Some(answer),
                    // Waiting for the next claim would not help: each ask continues on its own.
                    CachedState::Claimed | CachedState::Pending | CachedState::Missing => None,
                };
                Ok(Known { answer, has_waited: true })
            }
        }
    }

    /// Claims the answer, or waits for the process that holds the claim. Its answer can only be detected by polling.
    async fn claim(&mut self, deadline: Instant) -> Result<Known, StoreError> {
        let mut has_waited = false;
        loop {
            let lease = deadline.saturating_duration_since(Instant::now());
            // A cancelled statement may have taken effect.
            self.is_stored = true;
            let state = self.slot.look(Some(lease)).await?;
            self.is_stored = state == CachedState::Claimed;
            match state {
                CachedState::Ready(answer) => return Ok(Known { answer: Some(answer), has_waited }),
                CachedState::Claimed | CachedState::Missing => return Ok(Known { answer: None, has_waited }),
                CachedState::Pending => {
                    has_waited = true;
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
            }
        }
    }

    /// Stores the answer, if there is one to store, and releases the claim.
    async fn settle(mut self, answer: Option<Value>, documents: Vec<(Uuid, u32)>, most: u32) {
        if let Some(answer) = &answer {
            let new = NewCachedAnswer { key: self.slot.key, answer, life: self.life, documents, most };
            match self.slot.store.asks().keep_cached_answer(self.slot.tenant, &new).await {
                Ok(()) => self.is_stored = false,
                Err(error) => {
                    tracing::warn!(
                        error = %error, ask_id = %self.slot.ask,
                        "an answer could not be put into the cache: it will be written again when it is asked for"
                    );
                }
            }
        }
        if std::mem::take(&mut self.is_stored) {
            self.slot.release().await;
        }
    }
}

impl Drop for CacheClaim {
    fn drop(&mut self) {
        if !self.is_stored {
            return;
        }
        // Without a runtime the process is ending; its claims expire.
        let Ok(runtime) = Handle::try_current() else { return };
        let (slot, flight) = (self.slot.clone(), self.flight.take());
        runtime.spawn(async move {
            slot.release().await;
            drop(flight);
        });
    }
}
