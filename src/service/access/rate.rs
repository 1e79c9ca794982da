//! How often a key or an address may be used, by the generic cell rate algorithm. Each process counts by itself.

use std::{
    hash::Hash,
    num::NonZeroU32,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
};

/// Entries above which those are forgotten for the first time that have rested long enough to have their whole rate again.
const MANY_ENTRIES: usize = 10_000;

/// The requests that are left after one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Requests per minute, and at once after a minute of rest.
    pub(crate) per_minute: u32,
    /// Requests that could follow at once.
    pub(crate) remaining: u32,
    /// How long the request that was refused has to wait; `None` for one that is served.
    pub(crate) wait: Option<Duration>,
}

/// The requests of each key, or of each address.
pub(super) struct Rate<K: Clone + Eq + Hash> {
    per_minute: NonZeroU32,
    clock: DefaultClock,
    entries: DefaultKeyedRateLimiter<K, StateInformationMiddleware>,
    /// Entries above which they are looked through next.
    looked_through_above: AtomicUsize,
}

impl<K: Clone + Eq + Hash> Rate<K> {
    /// A limit of so many requests per minute for each.
    pub(super) fn new(per_minute: NonZeroU32) -> Self {
        let entries = RateLimiter::keyed(Quota::per_minute(per_minute)).with_middleware();
        Self { per_minute, clock: DefaultClock::default(), entries, looked_through_above: MANY_ENTRIES.into() }
    }

    /// Counts a request.
    pub(super) fn turn(&self, entry: &K) -> Turn {
        self.turns(entry, NonZeroU32::MIN)
    }

    /// Counts a request as so many, all of them or none.
    pub(super) fn turns(&self, entry: &K, weight: NonZeroU32) -> Turn {
        self.forget_the_rested();
        let per_minute = self.per_minute.get();
        // One that counts as more than a minute has takes all of it.
        let weight = weight.min(self.per_minute);
        let counted = self.entries.check_key_n(entry, weight).expect("a minute has as many");
        match counted {
            Ok(state) => Turn { per_minute, remaining: state.remaining_burst_capacity(), wait: None },
            Err(refusal) => Turn { per_minute, remaining: 0, wait: Some(refusal.wait_time_from(self.clock.now())) },
        }
    }

    /// Looks through all entries where they are many: not again before there are twice as many as were left, so that
    /// whoever comes from ever new addresses does not make each request cost as much as all of them.
    fn forget_the_rested(&self) {
        if self.entries.len() > self.looked_through_above.load(Ordering::Relaxed) {
            self.entries.retain_recent();
            self.looked_through_above.store(MANY_ENTRIES.max(2 * self.entries.len()), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_requests_count_as_several() {
        let number = |number| NonZeroU32::new(number).expect("not zero");
        let rate = Rate::new(number(10));
        assert_eq!(rate.turns(&"a", number(7)).remaining, 3);
        let refused = rate.turns(&"a", number(7));
        assert!(refused.wait.is_some_and(|wait| wait <= Duration::from_secs(24)), "{refused:?}");
        assert_eq!(rate.turns(&"a", number(3)).remaining, 0, "what was refused took nothing");
        assert!(rate.turns(&"b", number(1_000)).wait.is_none(), "more than a minute has is a minute");
        assert!(rate.turn(&"b").wait.is_some());
    }

    #[test]
    fn many_entries_are_looked_through_each_time_that_they_have_doubled() {
        let rate = Rate::new(NonZeroU32::MIN);
        let mut seen = vec![rate.looked_through_above.load(Ordering::Relaxed)];
        for entry in 0..9 * MANY_ENTRIES {
            rate.turn(&entry);
            let above = rate.looked_through_above.load(Ordering::Relaxed);
            seen.extend((seen.last() != Some(&above)).then_some(above));
        }
        assert_eq!(seen, [10_000, 20_002, 40_006, 80_014, 160_030]);
    }

    #[test]
    fn a_key_is_held_to_its_own_rate() {
        let rate = Rate::new(NonZeroU32::new(2).expect("two"));
        let left = |key: &'static str| rate.turn(&key).remaining;
        assert_eq!((left("a"), left("a")), (1, 0));
        let refused = rate.turn(&"a");
        let wait = refused.wait.expect("a third within a minute is refused");
        assert!(wait <= Duration::from_secs(30), "{wait:?}");
        assert_eq!((refused.per_minute, refused.remaining), (2, 0));
        assert!(rate.turn(&"b").wait.is_none());
    }
}
