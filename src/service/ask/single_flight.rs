//! Single flight: of many callers with the same key, one does the work and the others wait for it, within this process.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;
use uuid::Uuid;

use crate::domain::fingerprint::Hash;

/// A tenant, and the key of the requested work.
type Key = (Uuid, Hash);

/// The work in progress, by key.
#[derive(Clone, Debug, Default)]
pub(super) struct SingleFlight(Arc<Mutex<HashMap<Key, watch::Receiver<()>>>>);

/// Work in progress. The followers continue when it is dropped.
#[derive(Debug)]
pub(super) struct Flight {
    key: Key,
    flights: SingleFlight,
    _followers: watch::Sender<()>,
}

/// The role of one caller.
#[derive(Debug)]
pub(super) enum Role {
    /// Does the work.
    Leader(Flight),
    /// Waits until the leader is done.
    Follower(Following),
}

/// Waits for the work of a leader.
#[derive(Debug)]
pub(super) struct Following(watch::Receiver<()>);

impl SingleFlight {
    /// Joins the work for a key; the first caller becomes the leader.
    pub(super) fn join(&self, key: Key) -> Role {
        let mut flights = self.lock();
        if let Some(leader) = flights.get(&key) {
            return Role::Follower(Following(leader.clone()));
        }
        let (sender, receiver) = watch::channel(());
        flights.insert(key, receiver);
        drop(flights);
        Role::Leader(Flight { key, flights: self.clone(), _followers: sender })
    }

    /// No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, watch::Receiver<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Following {
    /// Returns when the leader is done, whatever the outcome.
    pub(super) async fn landed(mut self) {
        // No value is ever sent: the error means that the sender was dropped.
        while self.0.changed().await.is_ok() {}
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_leads_and_the_others_wait_for_it() {
        let flights = SingleFlight::default();
        let (one, other) = ((Uuid::nil(), [1; 32]), (Uuid::nil(), [2; 32]));
        let Role::Leader(leader) = flights.join(one) else { panic!("the first leads") };
        let Role::Follower(following) = flights.join(one) else { panic!("the second waits") };
        assert!(matches!(flights.join(other), Role::Leader(_)), "another key is another work");
        let waits = tokio::spawn(following.landed());
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        drop(leader);
        waits.await.expect("it goes on");
        assert!(matches!(flights.join(one), Role::Leader(_)), "the next one leads");
        assert!(flights.lock().is_empty(), "nothing is left behind");
    }
}
