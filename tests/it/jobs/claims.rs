//! Claims: which items they take, and that none is taken twice.

use cited::{Lease, Phase};
use sqlx::{ConnectOptions, Connection, Executor};

use super::leases::{LEASE, at, queue, queued, uuid};
use crate::{database, wait};

#[tokio::test]
async fn a_claim_is_exclusive_and_bounded_by_items_and_bytes() {
    let (store, _) = queued(15).await;
    let first = store.jobs().claim(Phase::Store, &LEASE, at(1)).await.expect("claim").expect("work");
    assert_eq!(first.items.len(), 10);
    let small = Lease { max_bytes: 250, ..LEASE };
    let second = store.jobs().claim(Phase::Store, &small, at(1)).await.expect("claim").expect("work");
    assert_eq!(second.items.len(), 2, "two of 100 bytes fit into 250");
    assert!(second.handle.fence > first.handle.fence);
    let tiny = Lease { max_bytes: 1, ..LEASE };
    let third = store.jobs().claim(Phase::Store, &tiny, at(1)).await.expect("claim").expect("work");
    assert_eq!(third.items.len(), 1, "one always fits");
    let mut all: Vec<i32> =
        [&first, &second, &third].iter().flat_map(|claim| claim.items.iter().map(|item| item.key.ordinal)).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 13, "nothing is claimed twice");
    store.close().await;
}

#[tokio::test]
async fn items_that_are_too_large_are_left_to_later_claims() {
    let (store, options) = queued(3).await;
    let mut owner = options.connect().await.expect("connect");
    owner.execute("UPDATE job_item SET content_bytes = 99 WHERE ordinal = 2").await.expect("smaller");
    let jobs = store.jobs();
    let claim = async |lease: Lease| {
        let claim = jobs.claim(Phase::Store, &lease, at(1)).await.expect("claim");
        claim.map(|claim| claim.items.iter().map(|item| item.key.ordinal).collect::<Vec<_>>())
    };
    let below = Lease { below_bytes: Some(100), ..LEASE };
    assert_eq!(claim(below).await, Some(vec![2]));
    assert_eq!(claim(below).await, None);
    assert_eq!(claim(LEASE).await, Some(vec![0, 1]));
    owner.close().await.expect("close");
    store.close().await;
}

#[tokio::test]
async fn claims_at_the_same_time_share_no_item() {
    let (store, options) = queued(3).await;
    queue(&store, uuid(3), 1).await;
    // Holds up whoever has taken items, at their jobs.
    let mut holder = options.connect().await.expect("connect");
    holder.execute("BEGIN; SELECT FROM job FOR UPDATE").await.expect("locked");
    let let_go = async {
        let waiters =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        wait::until_count(&options, waiters, |waiting| waiting == 1).await;
        holder.execute("COMMIT").await.expect("let go");
    };
    let jobs = store.jobs();
    let claim = || jobs.claim(Phase::Store, &LEASE, at(1));
    let (one, other, ()) = tokio::join!(claim(), claim(), let_go);
    let claimed = [one, other].map(|claim| claim.expect("claim").map_or(0, |claim| claim.items.len()));
    assert_eq!(claimed.iter().sum::<usize>(), 4, "{claimed:?}");
    let attempts = database::number(&options, "SELECT max(attempts)::bigint FROM job_item").await;
    assert_eq!(attempts, 1);
    holder.close().await.expect("close");
    store.close().await;
}

#[tokio::test]
async fn what_a_delete_holds_is_not_looked_at_again_and_again() {
    let (store, options) = queued(2).await;
    let mut holder = options.connect().await.expect("connect");
    holder.execute("BEGIN; SELECT FROM job_item FOR UPDATE").await.expect("locked");
    assert!(store.jobs().claim(Phase::Store, &LEASE, at(1)).await.expect("claim").is_none());
    holder.execute("ROLLBACK").await.expect("let go");
    let claim = store.jobs().claim(Phase::Store, &LEASE, at(1)).await.expect("claim").expect("work");
    assert_eq!(claim.items.len(), 2);
    holder.close().await.expect("close");
    store.close().await;
}
