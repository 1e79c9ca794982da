//! Refusals that were not written yet. Those that are alike are one, and their number is limited, so that whoever sends
//! requests that are refused neither fills the database nor the memory.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, security_event::SecurityEvent};

/// Most refusals that differ and are kept at once; further ones are counted without their caller.
const MOST: usize = 1_000;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Refused {
    /// Tenant of the caller; that of the deployment where the caller is not known.
    pub(crate) tenant: TenantId,
    /// Operation of the API; empty where the path has none.
    pub(crate) action: String,
    /// Code of the problem.
    pub(crate) code: String,
    /// Name of the caller's key.
    pub(crate) key_id: Option<String>,
    /// Address of the client.
    pub(crate) address: Option<IpAddr>,
    /// Identity of the request.
    pub(crate) request_id: Option<String>,
}

impl Refused {
    /// The same for the comparison with others: a request has its own identity.
    fn without_request(&self) -> Self {
        Self { request_id: None, ..self.clone() }
    }

    /// The same without its caller.
    fn anonymous(self) -> Self {
        Self { tenant: TenantId::DEPLOYMENT, key_id: None, address: None, ..self }
    }

    /// The event that records it.
    pub(super) fn event(&self, id: Uuid, now: OffsetDateTime, number: i64) -> SecurityEvent {
        SecurityEvent {
            tenant_id: self.tenant.0,
            event_id: id,
            occurred_at: now,
            action: self.action.clone(),
            refusal: Some(self.code.clone()),
            key_id: self.key_id.clone(),
            address: self.address.map(|address| address.to_string()),
            request_id: self.request_id.clone(),
            things: Vec::new(),
            number,
        }
    }
}

/// Refusals that were not written yet, each with its number, by what makes them alike.
#[derive(Default)]
pub(super) struct Refusals(Mutex<HashMap<Refused, (Refused, i64)>>);

impl Refusals {
    /// Adds a refusal.
    pub(super) fn note(&self, refused: Refused) {
        self.add(refused, 1);
    }

    fn add(&self, refused: Refused, number: i64) {
        let mut kept = self.lock();
        let mut alike = refused.without_request();
        let mut first = refused;
        if kept.len() >= MOST && !kept.contains_key(&alike) {
            first = first.anonymous();
            alike = first.without_request();
        }
        let (_, count) = kept.entry(alike).or_insert((first, 0));
        *count = count.saturating_add(number);
    }

    /// Takes all refusals, with their numbers.
    pub(super) fn take(&self) -> Vec<(Refused, i64)> {
        std::mem::take(&mut *self.lock()).into_values().collect()
    }

    /// Gives refusals back that could not be written.
    pub(super) fn restore(&self, refusals: Vec<(Refused, i64)>) {
        for (refused, number) in refusals {
            self.add(refused, number);
        }
    }

    /// Locks ignoring poison: no code panics under the lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<Refused, (Refused, i64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(address: u32, request: &str) -> Refused {
        Refused {
            tenant: TenantId::DEPLOYMENT,
            action: "ask".to_owned(),
            code: "unauthorized".to_owned(),
            key_id: None,
            address: Some(IpAddr::V4(address.into())),
            request_id: Some(request.to_owned()),
        }
    }

    #[test]
    fn those_that_are_alike_are_one() {
        let refusals = Refusals::default();
        for request in ["first", "second", "third"] {
            refusals.note(refused(1, request));
        }
        refusals.note(refused(2, "other"));
        let mut taken = refusals.take();
        taken.sort_by_key(|(_, number)| *number);
        assert_eq!(taken, [(refused(2, "other"), 1), (refused(1, "first"), 3)]);
        assert!(refusals.take().is_empty());
    }

    #[test]
    fn a_flood_from_many_addresses_is_bounded_and_counted() {
        let refusals = Refusals::default();
        let flood = 3 * u32::try_from(MOST).expect("small");
        for address in 0..flood {
            refusals.note(refused(address, "one"));
        }
        let taken = refusals.take();
        assert_eq!(taken.len(), MOST + 1);
        assert_eq!(taken.iter().map(|(_, number)| number).sum::<i64>(), i64::from(flood));
    }
}
