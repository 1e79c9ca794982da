//! Turns at the connections of a pool: who comes next while all of them are in use.
//!
//! A pool serves first come, first served: clients with expensive questions keep all others waiting, and a question that is
//! half answered waits behind those that have just arrived, until its time is up and its work was for nothing. Here the
//! tenant with the fewest connections comes next, and of a tenant those who have begun come before those who have not.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::oneshot, time::timeout};

use crate::{domain::identity::TenantId, store::StoreError};

/// How far the work has come that needs a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Progress {
    /// Nothing was done for it yet: it can be refused at little cost.
    New,
    /// It has had a connection before.
    Begun,
}

/// The turns of a process.
#[derive(Clone, Debug)]
pub(in crate::store) struct Turns(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    lines: Mutex<Lines>,
    /// Longest wait of new work, and of work that has begun.
    patience: [Duration; 2],
}

#[derive(Debug)]
struct Lines {
    free: u32,
    /// Of tenants that use connections or wait for one.
    by_tenant: HashMap<TenantId, Line>,
    /// Number of those who have waited so far.
    arrived: u64,
}

/// A tenant's connections in use, and those who wait for one.
#[derive(Debug, Default)]
struct Line {
    in_use: u32,
    new: VecDeque<Waiting>,
    begun: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    arrival: u64,
    turn: oneshot::Sender<Turn>,
}

/// The right to one connection, until it is dropped.
#[derive(Debug)]
pub(in crate::store) struct Turn {
    turns: Turns,
    tenant: TenantId,
}

impl Turns {
    /// Turns at so many connections.
    pub(in crate::store) fn new(connections: u32, for_new: Duration, for_begun: Duration) -> Self {
        let lines = Lines { free: connections, by_tenant: HashMap::new(), arrived: 0 };
        Self(Arc::new(Inner { lines: Mutex::new(lines), patience: [for_new, for_begun] }))
    }

    /// Waits for a turn of this tenant.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if others have all connections for too long.
    pub(in crate::store) async fn wait(&self, tenant: TenantId, progress: Progress) -> Result<Turn, StoreError> {
        let coming = {
            let mut lines = self.lines();
            if lines.free > 0 {
                // Nobody waits: connections are passed on when they become free.
                lines.free -= 1;
                lines.by_tenant.entry(tenant).or_default().in_use += 1;
                return Ok(Turn { turns: self.clone(), tenant });
            }
            lines.arrived += 1;
            let (turn, coming) = oneshot::channel();
            let waiting = Waiting { arrival: lines.arrived, turn };
            lines.by_tenant.entry(tenant).or_default().of(progress).push_back(waiting);
            coming
        };
        let [for_new, for_begun] = self.0.patience;
        let longest = if progress == Progress::New { for_new } else { for_begun };
        timeout(longest, coming).await.ok().and_then(Result::ok).ok_or(StoreError::Busy(longest))
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    /// Gives a tenant's connection back, and to the one whose turn it is, if anybody waits.
    fn pass_on(&mut self, tenant: TenantId) -> Option<(TenantId, Waiting)> {
        self.free += 1;
        if let Some(line) = self.by_tenant.get_mut(&tenant) {
            line.in_use -= 1;
        }
        // Those who have left are forgotten.
        for line in self.by_tenant.values_mut() {
            for waiting in [&mut line.new, &mut line.begun] {
                while waiting.front().is_some_and(|first| first.turn.is_closed()) {
                    waiting.pop_front();
                }
            }
        }
        self.by_tenant.retain(|_, line| line.in_use > 0 || line.arrival().is_some());
        let waiting = self.by_tenant.iter().filter_map(|(tenant, line)| Some((line.in_use, line.arrival()?, *tenant)));
        let (_, _, tenant) = waiting.min_by_key(|(in_use, arrival, _)| (*in_use, *arrival))?;
        let line = self.by_tenant.get_mut(&tenant)?;
        let first = line.begun.pop_front().or_else(|| line.new.pop_front())?;
        self.free -= 1;
        line.in_use += 1;
        Some((tenant, first))
    }
}

impl Line {
    const fn of(&mut self, progress: Progress) -> &mut VecDeque<Waiting> {
        match progress {
            Progress::New => &mut self.new,
            Progress::Begun => &mut self.begun,
        }
    }

    /// Of the one who comes first.
    fn arrival(&self) -> Option<u64> {
        self.begun.front().or(self.new.front()).map(|first| first.arrival)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = self.turns.lines().pass_on(self.tenant);
        // Nobody is woken under the lock, and the turn of one who has left in this moment is dropped under none.
        if let Some((tenant, waiting)) = next {
            drop(waiting.turn.send(Turn { turns: self.turns.clone(), tenant }));
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinHandle;

    use super::*;

    const ONE: TenantId = TenantId(uuid::Uuid::from_u128(1));
    const OTHER: TenantId = TenantId(uuid::Uuid::from_u128(2));

    fn turns(connections: u32) -> Turns {
        Turns::new(connections, Duration::from_secs(5), Duration::from_secs(30))
    }

    /// Waits in a task of its own, which has begun to wait when this returns.
    async fn waiting(turns: &Turns, tenant: TenantId, progress: Progress) -> JoinHandle<Result<Turn, StoreError>> {
        let turns = turns.clone();
        let task = tokio::spawn(async move { turns.wait(tenant, progress).await });
        tokio::task::yield_now().await;
        task
    }

    #[tokio::test]
    async fn the_tenant_with_the_fewest_connections_comes_next() {
        let turns = turns(2);
        let first = turns.wait(ONE, Progress::New).await.expect("free");
        let second = turns.wait(ONE, Progress::New).await.expect("free");
        let mut of_one = Vec::new();
        for _ in 0..20 {
            of_one.push(waiting(&turns, ONE, Progress::Begun).await);
        }
        let of_other = waiting(&turns, OTHER, Progress::New).await;
        drop(first);
        let other = of_other.await.expect("no panic").expect("its turn, though it came last");
        assert!(of_one.iter().all(|one| !one.is_finished()));
        drop(second);
        // Both connections have gone to each of them once; the next is for whoever waits.
        let third = of_one.remove(0).await.expect("no panic").expect("its turn");
        drop((other, third));
        for one in of_one {
            drop(one.await.expect("no panic").expect("its turn"));
        }
        assert_eq!(turns.lines().free, 2);
    }

    #[tokio::test]
    async fn what_has_begun_comes_before_what_has_not_and_each_in_its_order() {
        let turns = turns(1);
        let held = turns.wait(ONE, Progress::New).await.expect("free");
        let new = waiting(&turns, ONE, Progress::New).await;
        let begun = waiting(&turns, ONE, Progress::Begun).await;
        let later = waiting(&turns, ONE, Progress::Begun).await;
        drop(held);
        let first = begun.await.expect("no panic").expect("its turn");
        assert!(!new.is_finished() && !later.is_finished());
        drop(first);
        let second = later.await.expect("no panic").expect("its turn");
        assert!(!new.is_finished());
        drop(second);
        drop(new.await.expect("no panic").expect("its turn"));
    }

    #[tokio::test]
    async fn who_waits_too_long_is_refused_and_takes_no_connection_along() {
        let turns = Turns::new(1, Duration::from_millis(10), Duration::from_secs(30));
        let held = turns.wait(ONE, Progress::New).await.expect("free");
        let left = waiting(&turns, OTHER, Progress::Begun).await;
        left.abort();
        let refused = turns.wait(ONE, Progress::New).await.expect_err("too long");
        assert!(matches!(refused, StoreError::Busy(_)), "{refused}");
        drop(held);
        assert_eq!(turns.lines().free, 1);
        drop(turns.wait(ONE, Progress::New).await.expect("free"));
        let next = turns.wait(OTHER, Progress::New).await.expect("free");
        let known: Vec<TenantId> = turns.lines().by_tenant.keys().copied().collect();
        assert_eq!(known, [OTHER], "tenants without connections are forgotten");
        drop(next);
        assert!(turns.lines().by_tenant.is_empty());
    }
}
