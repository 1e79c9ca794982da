//! One of many that want the same at once does the work, the others wait for it (within this process).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;
use uuid::Uuid;

use crate::domain::fingerprint::Hash;

/// A tenant and what it wants.
type Key = (Uuid, Hash);

/// What is being worked on.
#[derive(Clone, Debug, Default)]
pub(super) struct Flights(Arc<Mutex<HashMap<Key, watch::Receiver<()>>>>);

/// Who does the work. Those who wait go on when it is dropped.
#[derive(Debug)]
pub(super) struct Flight {
    key: Key,
    flights: Flights,
    _waited_for: watch::Sender<()>,
}

/// The part that one of many has.
#[derive(Debug)]
pub(super) enum Part {
    /// To do the work.
    Lead(Flight),
    /// To wait until whoever does it is done.
    Follow(Following),
}

/// Waits for somebody else's work.
#[derive(Debug)]
pub(super) struct Following(watch::Receiver<()>);

impl Flights {
    /// Leads if nobody does.
    pub(super) fn join(&self, key: Key) -> Part {
        let mut flights = self.lock();
        if let Some(leader) = flights.get(&key) {
            return Part::Follow(Following(leader.clone()));
        }
        let (sender, receiver) = watch::channel(());
        flights.insert(key, receiver);
        drop(flights);
        Part::Lead(Flight { key, flights: self.clone(), _waited_for: sender })
    }

    /// No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, watch::Receiver<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Following {
    /// Returns when the leader is done, however that went.
    pub(super) async fn landing(mut self) {
        // Nothing is ever sent: the error says that the sender is gone.
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
        let flights = Flights::default();
        let (one, other) = ((Uuid::nil(), [1; 32]), (Uuid::nil(), [2; 32]));
        let Part::Lead(leader) = flights.join(one) else { panic!("the first leads") };
        let Part::Follow(following) = flights.join(one) else { panic!("the second waits") };
        assert!(matches!(flights.join(other), Part::Lead(_)), "another key is another work");
        let waits = tokio::spawn(following.landing());
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        drop(leader);
        waits.await.expect("it goes on");
        assert!(matches!(flights.join(one), Part::Lead(_)), "the next one leads");
        assert!(flights.lock().is_empty(), "nothing is left behind");
    }
}
