//! How long at least one of several things was under way.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Adds up the time in which anything is under way; what overlaps counts once.
#[derive(Debug, Default)]
pub struct Busy {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    under_way: usize,
    /// When the first of those under way began.
    since: Option<Instant>,
    sum: Duration,
}

/// Something under way, until it is dropped.
pub struct UnderWay<'a>(&'a Busy);

impl Busy {
    /// Something begins.
    pub fn begin(&self) -> UnderWay<'_> {
        let mut state = self.state();
        state.under_way += 1;
        state.since.get_or_insert_with(Instant::now);
        drop(state);
        UnderWay(self)
    }

    /// The time so far.
    pub fn sum(&self) -> Duration {
        let state = self.state();
        state.sum + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.under_way -= 1;
        if state.under_way == 0
            && let Some(since) = state.since.take()
        {
            state.sum += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    const SLEPT: Duration = Duration::from_millis(20);

    #[test]
    fn what_overlaps_counts_once_and_pauses_do_not_count() {
        let busy = Busy::default();
        let first = busy.begin();
        let second = busy.begin();
        sleep(SLEPT);
        drop(first);
        sleep(SLEPT);
        assert!(busy.sum() >= 2 * SLEPT, "what is still under way counts: {:?}", busy.sum());
        drop(second);
        let sum = busy.sum();
        sleep(SLEPT);
        assert_eq!(busy.sum(), sum);
        drop(busy.begin());
        assert!(busy.sum() >= sum && busy.sum() < sum + SLEPT);
    }
}
