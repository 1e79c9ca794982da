//! Requests to one host at once: whoever names thousands of its URLs must not make a tool of this service.
//!
//! The tenant with the fewest requests to a host comes next, so that nobody waits there for longer than one request of another
//! tenant takes.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;
use url::Url;

use crate::domain::identity::TenantId;

/// Most requests to a host (and port) at once.
const AT_ONCE: usize = 2;

/// Host and port of a URL.
pub(super) fn host_of(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
}

/// The hosts to which requests are under way, or wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts(Arc<Mutex<HashMap<String, Requests>>>);

/// The requests to a host.
#[derive(Debug, Default)]
struct Requests {
    /// Tenants of those under way.
    under_way: Vec<TenantId>,
    /// In the order of their arrival.
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    tenant: TenantId,
    turn: oneshot::Sender<Turn>,
}

/// The right to one request to a host, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    hosts: Hosts,
    host: String,
    tenant: TenantId,
}

impl Hosts {
    /// Waits until a tenant may ask the host of a URL.
    pub(super) async fn turn(&self, tenant: TenantId, url: &Url) -> Turn {
        let host = host_of(url);
        let coming = {
            let mut hosts = self.lock();
            let requests = hosts.entry(host.clone()).or_default();
            if requests.under_way.len() < AT_ONCE {
                // Nobody waits: a place that becomes free is passed on.
                requests.under_way.push(tenant);
                return Turn { hosts: self.clone(), host, tenant };
            }
            let (turn, coming) = oneshot::channel();
            requests.waiting.push_back(Waiting { tenant, turn });
            coming
        };
        coming.await.expect("a turn comes to all who wait")
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Requests>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Requests {
    /// Ends a request of a tenant, and gives its place to the one whose turn it is, if anybody waits.
    fn pass_on(&mut self, tenant: TenantId) -> Option<Waiting> {
        if let Some(place) = self.under_way.iter().position(|other| *other == tenant) {
            self.under_way.swap_remove(place);
        }
        self.waiting.retain(|waiting| !waiting.turn.is_closed());
        let requests_of = |tenant| self.under_way.iter().filter(|other| **other == tenant).count();
        let (place, _) =
            self.waiting.iter().enumerate().min_by_key(|(place, waiting)| (requests_of(waiting.tenant), *place))?;
        let next = self.waiting.remove(place)?;
        self.under_way.push(next.tenant);
        Some(next)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = {
            let mut hosts = self.hosts.lock();
            let next = hosts.get_mut(&self.host).and_then(|requests| requests.pass_on(self.tenant));
            if hosts.get(&self.host).is_some_and(|requests| requests.under_way.is_empty()) {
                hosts.remove(&self.host);
            }
            next
        };
        // Nobody is woken under the lock, and the turn of one who has left in this moment is dropped under none.
        if let Some(Waiting { tenant, turn }) = next {
            drop(turn.send(Self { hosts: self.hosts.clone(), host: self.host.clone(), tenant }));
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, poll};

    use super::*;

    const ONE: TenantId = TenantId(uuid::Uuid::from_u128(1));
    const OTHER: TenantId = TenantId(uuid::Uuid::from_u128(2));

    #[tokio::test]
    async fn a_tenant_has_one_place_at_most_while_another_waits() {
        let (hosts, url) = (Hosts::default(), Url::parse("http://slow.example/a").expect("a URL"));
        let turn = |tenant| hosts.turn(tenant, &url);
        let [first, second] = [turn(ONE), turn(ONE)].map(|turn| turn.now_or_never().expect("free"));
        let mut of_one: Vec<_> = (0..20).map(|_| Box::pin(turn(ONE))).collect();
        for waiting in &mut of_one {
            assert!(poll!(waiting).is_pending());
        }
        let mut of_other: Vec<_> = (0..2).map(|_| Box::pin(turn(OTHER))).collect();
        for waiting in &mut of_other {
            assert!(poll!(waiting).is_pending());
        }
        drop(first);
        let other = of_other.remove(0).now_or_never().expect("its turn, though it came last");
        assert!(poll!(&mut of_other[0]).is_pending(), "one place each");
        drop(other);
        let other = of_other.remove(0).now_or_never().expect("its turn");
        drop(second);
        let third = of_one.remove(0).now_or_never().expect("the place is its tenant's again");
        // Those who leave take no place along.
        of_one.truncate(1);
        drop((other, third));
        drop(of_one.remove(0).now_or_never().expect("free"));
        assert!(hosts.lock().is_empty(), "hosts without requests are forgotten");
    }

    #[tokio::test]
    async fn hosts_are_apart() {
        let hosts = Hosts::default();
        let [slow, port] =
            ["http://slow.example/a", "http://slow.example:8080/a"].map(|url| Url::parse(url).expect("a URL"));
        let _turns = [hosts.turn(ONE, &slow), hosts.turn(ONE, &slow)].map(|turn| turn.now_or_never().expect("free"));
        assert!(hosts.turn(ONE, &port).now_or_never().is_some());
        assert!(hosts.turn(OTHER, &slow).now_or_never().is_none(), "two at once, whoever asks");
    }
}
