//! How often a key may be used, by the generic cell rate algorithm. Each process counts by itself.

use std::{num::NonZeroU32, time::Duration};

use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
};

/// The requests that are left to a key after one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyTurn {
    /// Requests per minute, and at once after a minute of rest.
    pub(crate) per_minute: u32,
    /// Requests that could follow at once.
    pub(crate) remaining: u32,
    /// How long the request that was refused has to wait; `None` for one that is served.
    pub(crate) wait: Option<Duration>,
}

/// The requests of each key.
pub(super) struct KeyRate {
    per_minute: NonZeroU32,
    clock: DefaultClock,
    keys: DefaultKeyedRateLimiter<String, StateInformationMiddleware>,
}

impl KeyRate {
    /// A limit of so many requests per minute for each key.
    pub(super) fn new(per_minute: NonZeroU32) -> Self {
        let keys = RateLimiter::keyed(Quota::per_minute(per_minute)).with_middleware();
        Self { per_minute, clock: DefaultClock::default(), keys }
    }

    /// Counts a request of a key. Only keys that exist are counted, so that guesses take no memory.
    pub(super) fn turn(&self, key_id: &str) -> KeyTurn {
        let per_minute = self.per_minute.get();
        match self.keys.check_key(&key_id.to_owned()) {
            Ok(state) => KeyTurn { per_minute, remaining: state.remaining_burst_capacity(), wait: None },
            Err(refusal) => KeyTurn { per_minute, remaining: 0, wait: Some(refusal.wait_time_from(self.clock.now())) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_held_to_its_own_rate() {
        let rate = KeyRate::new(NonZeroU32::new(2).expect("two"));
        let left = |key: &str| rate.turn(key).remaining;
        assert_eq!((left("a"), left("a")), (1, 0));
        let refused = rate.turn("a");
        let wait = refused.wait.expect("a third within a minute is refused");
        assert!(wait <= Duration::from_secs(30), "{wait:?}");
        assert_eq!((refused.per_minute, refused.remaining), (2, 0));
        assert!(rate.turn("b").wait.is_none());
    }
}
