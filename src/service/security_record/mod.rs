//! Records every change and every refusal, seals the record and proves that it is whole.

mod refusals;
mod seal_key;
pub(crate) mod things;

use std::{sync::Arc, time::Duration};

use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use self::refusals::Refusals;
pub(crate) use self::{refusals::Refused, seal_key::SealKey};
use super::{ServiceError, background::BackgroundTask, context::Context, error_chain};
pub(crate) use crate::store::EventFilter;
use crate::{
    domain::{
        identity::{Caller, TenantId},
        security_event::{ChainCheck, ChainState, Change, NotedSeal, Seal, SecurityEvent},
    },
    store::{Store, StoreError},
};

/// Time between two rounds of sealing; refusals are written as often.
const ROUND: Duration = Duration::from_secs(1);

/// A change, for the record.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    /// The change.
    pub(crate) change: Change,
    /// Things that it affected, as `kind:name`.
    pub(crate) things: Vec<String>,
    /// Number of things changed.
    pub(crate) number: u64,
}

impl Changed {
    /// A change of one thing.
    pub(crate) fn one(change: Change, things: impl IntoIterator<Item = String>) -> Self {
        Self { change, things: things.into_iter().collect(), number: 1 }
    }
}

/// State of the record of a tenant.
#[derive(Clone, Debug)]
pub(crate) struct RecordState {
    /// The sealed part.
    pub(crate) chain: ChainState,
    /// Events that wait for a seal.
    pub(crate) waiting: usize,
}

/// The use case.
#[derive(Clone)]
pub(crate) struct SecurityRecord {
    store: Store,
    context: Context,
    key: SealKey,
    refusals: Arc<Refusals>,
}

impl SecurityRecord {
    /// The record of this store, sealed under this key.
    #[must_use]
    pub(crate) fn new(store: Store, key: SealKey, context: Context) -> Self {
        Self { store, context, key, refusals: Arc::default() }
    }

    /// Records what a caller was shown or made without a change in the database; its answer waits for the record.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn write(&self, caller: &Caller, changed: Changed) -> Result<(), ServiceError> {
        Ok(self.store.security_events().write(&[self.event(caller, changed)]).await?)
    }

    /// The event of a change in the caller's tenant, to be written in the transaction that makes the change.
    pub(crate) fn event(&self, caller: &Caller, changed: Changed) -> SecurityEvent {
        self.event_by(caller.grant.tenant(), caller, changed)
    }

    /// The same in another tenant, or of the deployment.
    #[must_use]
    pub(crate) fn event_by(&self, tenant: TenantId, caller: &Caller, changed: Changed) -> SecurityEvent {
        SecurityEvent {
            key_id: caller.key_id.clone(),
            address: caller.address.map(|address| address.to_string()),
            request_id: caller.request_id.clone(),
            ..self.unattended(tenant, changed)
        }
    }

    /// Notes a refusal, which is written within a second or so together with others like it.
    pub(crate) fn refusal(&self, refused: Refused) {
        self.refusals.note(refused);
    }

    /// Events of a tenant, newest first.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn list(
        &self,
        tenant: TenantId,
        filter: &EventFilter,
        limit: i64,
    ) -> Result<Vec<SecurityEvent>, ServiceError> {
        Ok(self.store.security_events().list(tenant, filter, limit).await?)
    }

    /// Proves the record of a tenant.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn verify(
        &self,
        tenant: TenantId,
        noted: Option<&NotedSeal>,
    ) -> Result<RecordState, ServiceError> {
        let mut reader = self.store.security_events().read_chain(tenant).await?;
        let mut check = ChainCheck::new(self.key.is_secret());
        while let Some(part) = reader.next().await? {
            for (seal, events) in part.links {
                let is_authentic = self.key.verifies(&seal, &events);
                check.follow(&seal, &events, is_authentic, noted);
            }
        }
        let (waiting, stored) = reader.finish().await?;
        Ok(RecordState { chain: check.finish(&waiting, stored, noted), waiting: waiting.len() })
    }

    /// Deletes events that were sealed before this time.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn forget(&self, before: OffsetDateTime) -> Result<(), ServiceError> {
        let record = |last: &Seal, number| {
            self.unattended(
                TenantId(last.tenant_id),
                Changed { change: Change::ForgetEvents, things: vec![last.mark()], number },
            )
        };
        while self.store.security_events().forget_some(before, record).await? {}
        Ok(self.store.security_events().drop_orphaned().await?)
    }

    /// Writes refusals and seals events until stopped. No request depends on it: readiness does not either.
    #[must_use]
    pub(crate) fn task(self, stop: CancellationToken) -> BackgroundTask {
        let run = Box::pin(async move {
            self.compare_pepper().await;
            let mut was_well = true;
            loop {
                let is_last = stop.run_until_cancelled(tokio::time::sleep(ROUND)).await.is_none();
                let done = self.round().await;
                if let (Err(error), true) = (&done, was_well) {
                    tracing::warn!(
                        error = error_chain(error),
                        "security events could not be written or sealed; it is tried again every second"
                    );
                }
                was_well = done.is_ok();
                if is_last {
                    return;
                }
            }
        });
        BackgroundTask { name: "security record".to_owned(), run }
    }

    /// Logs an error if the newest seal was made with another pepper, which then all stored keys were, too.
    async fn compare_pepper(&self) {
        let newest = self.store.security_events().newest_link().await;
        if let Ok(Some((seal, events))) = newest
            && seal.is_keyed
            && !self.key.verifies(&seal, &events)
        {
            tracing::error!(
                "the record of security events was sealed with another pepper: keys that were made with it open nothing; put the former one back (CITED_KEY_PEPPER, or the file key-pepper in the data directory), or make new keys"
            );
        }
    }

    async fn round(&self) -> Result<(), StoreError> {
        self.write_refusals().await?;
        let (now, is_keyed) = (self.context.clock.now(), self.key.is_secret());
        while self.store.security_events().seal_some(now, is_keyed, |message| self.key.sign(message)).await? {}
        Ok(())
    }

    /// Writes the refusals noted so far; they are noted again if that fails.
    async fn write_refusals(&self) -> Result<(), StoreError> {
        let refusals = self.refusals.take();
        if refusals.is_empty() {
            return Ok(());
        }
        let (now, ids) = (self.context.clock.now(), &self.context.ids);
        let events: Vec<_> = refusals.iter().map(|(refused, number)| refused.event(ids.next(), now, *number)).collect();
        let written = self.store.security_events().write(&events).await;
        if written.is_err() {
            self.refusals.restore(refusals);
        }
        written
    }

    /// The event of a change that nobody asked for.
    fn unattended(&self, tenant: TenantId, changed: Changed) -> SecurityEvent {
        SecurityEvent {
            tenant_id: tenant.0,
            event_id: self.context.ids.next(),
            occurred_at: self.context.clock.now(),
            action: changed.change.as_str().to_owned(),
            refusal: None,
            key_id: None,
            address: None,
            request_id: None,
            things: changed.things,
            number: i64::try_from(changed.number).unwrap_or(i64::MAX),
        }
    }
}
