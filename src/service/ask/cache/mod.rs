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
/// that. If there is none, `claim` is set for the answer that is to be written.
///
/// # Errors
/// When the database fails.
pub(super) async fn recall(
    ask: &AskContext,
    emitter: &mut Emitter,
    (corpus, found): (&Corpus, &Retrieved),
    claim: &mut Option<CacheClaim>,
) -> Result<Option<AskReport>, AskError> {
    let execution = &ask.request.execution;
    let Some(life) = execution.cache_life.filter(|_| !execution.dry_run) else { return Ok(None) };
    let key = CacheKey::of(ask, corpus, found).hash();
    let slot = Slot { store: ask.services.store.clone(), tenant: ask.caller.grant.tenant(), key, ask: ask.id };
    let claimed = claim.insert(CacheClaim { slot, life, is_stored: false, flight: None });
    let known = claimed.look_up(&ask.single_flight, ask.deadline).await?;
    let Some(report) = known.and_then(|answer| entry::recall(ask, answer)) else { return Ok(None) };
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
}

impl Slot {
    async fn look(&self, lease: Option<Duration>) -> Result<CachedState, StoreError> {
        self.store.asks().cached_answer(self.tenant, &self.key, self.ask, lease).await
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
    async fn look_up(&mut self, single_flight: &SingleFlight, deadline: Instant) -> Result<Option<Value>, StoreError> {
        match single_flight.join((self.slot.tenant.0, self.slot.key)) {
            Role::Leader(flight) => {
                self.flight = Some(flight);
                self.claim(deadline).await
            }
            Role::Follower(flight) => {
                flight.landed().await;
                match self.slot.look(None).await? {
                    CachedState::Ready(answer) => Ok(Some(answer)),
                    // Waiting for the next claim would not help: each ask continues on its own.
                    CachedState::Claimed | CachedState::Pending | CachedState::Missing => Ok(None),
                }
            }
        }
    }

    /// Claims the answer, or waits for the process that holds the claim. Its answer can only be detected by polling.
    async fn claim(&mut self, deadline: Instant) -> Result<Option<Value>, StoreError> {
        loop {
            let lease = deadline.saturating_duration_since(Instant::now());
            // A cancelled statement may have taken effect.
            self.is_stored = true;
            let state = self.slot.look(Some(lease)).await?;
            self.is_stored = state == CachedState::Claimed;
            match state {
                CachedState::Ready(answer) => return Ok(Some(answer)),
                CachedState::Claimed | CachedState::Missing => return Ok(None),
                CachedState::Pending => tokio::time::sleep(POLL_INTERVAL).await,
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
