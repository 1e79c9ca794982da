//! How often a key or an address may be used, by the generic cell rate algorithm. Each process counts by itself.

use std::{hash::Hash, num::NonZeroU32, time::Duration};

use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
};

/// Entries above which those are forgotten that have rested long enough to have their whole rate again.
const MOST_ENTRIES: usize = 10_000;

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
}

impl<K: Clone + Eq + Hash> Rate<K> {
    /// A limit of so many requests per minute for each.
    pub(super) fn new(per_minute: NonZeroU32) -> Self {
        let entries = RateLimiter::keyed(Quota::per_minute(per_minute)).with_middleware();
        Self { per_minute, clock: DefaultClock::default(), entries }
    }

    /// Counts a request.
    pub(super) fn turn(&self, entry: &K) -> Turn {
        self.turns(entry, NonZeroU32::MIN)
    }

    /// Counts a request as so many, all of them or none.
    pub(super) fn turns(&self, entry: &K, weight: NonZeroU32) -> Turn {
        if self.entries.len() > MOST_ENTRIES {
            self.entries.retain_recent();
        }
        let per_minute = self.per_minute.get();
        // One that counts as more than a minute has takes all of it.
        let weight = weight.min(self.per_minute);
        let counted = self.entries.check_key_n(entry, weight).expect("a minute has as many");
        match counted {
            Ok(state) => Turn { per_minute, remaining: state.remaining_burst_capacity(), wait: None },
            Err(refusal) => Turn { per_minute, remaining: 0, wait: Some(refusal.wait_time_from(self.clock.now())) },
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
