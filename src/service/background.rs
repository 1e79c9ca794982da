//! Background loops of this process, and the heartbeats by which readiness detects that they make progress.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::metrics::LoopState;

/// A loop that ends only when it is stopped.
pub(crate) struct BackgroundTask {
    /// Name in logs and errors.
    pub(crate) name: String,
    /// The loop.
    pub(crate) run: BoxFuture<'static, ()>,
}

/// The loops of this process that must keep making progress.
#[derive(Clone, Default)]
pub(crate) struct Heartbeats {
    loops: Arc<Mutex<Vec<Weak<Loop>>>>,
}

struct Loop {
    name: String,
    /// Longest time between two heartbeats.
    limit: Duration,
    beat: Mutex<Beat>,
}

#[derive(Clone, Copy)]
struct Beat {
    at: Instant,
    next_due: Instant,
}

/// The heartbeat of one loop. A loop that ends drops it, and is then no longer expected to make progress.
pub(crate) struct Heartbeat(Arc<Loop>);

/// A loop that has sent no heartbeat for longer than any of its steps may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StalledLoop {
    /// Its name.
    pub(crate) name: String,
    /// Time since its last heartbeat.
    pub(crate) silent_for: Duration,
}

impl Heartbeats {
    /// Registers a loop of this name, which must send a heartbeat at least once within `limit`, from now on.
    #[must_use]
    pub(crate) fn expect(&self, name: impl Into<String>, limit: Duration) -> Heartbeat {
        let beat = Mutex::new(Beat::now(limit));
        let heartbeat = Heartbeat(Arc::new(Loop { name: name.into(), limit, beat }));
        let mut loops = lock(&self.loops);
        loops.retain(|known| known.strong_count() > 0);
        loops.push(Arc::downgrade(&heartbeat.0));
        heartbeat
    }

    /// Every loop, in the order in which they were started.
    #[must_use]
    pub(crate) fn states(&self) -> Vec<LoopState> {
        let now = Instant::now();
        let loops = lock(&self.loops);
        let states = loops.iter().filter_map(Weak::upgrade).map(|each| {
            let beat = *lock(&each.beat);
            let silent_seconds = now.duration_since(beat.at).as_secs_f64();
            LoopState { name: each.name.clone(), silent_seconds, is_stalled: now > beat.next_due }
        });
        states.collect()
    }

    /// Loops whose heartbeat is overdue, in the order in which they were started.
    #[must_use]
    pub(crate) fn stalled(&self) -> Vec<StalledLoop> {
        let now = Instant::now();
        let loops = lock(&self.loops);
        let overdue = loops.iter().filter_map(Weak::upgrade).filter_map(|each| {
            let beat = *lock(&each.beat);
            (now > beat.next_due)
                .then(|| StalledLoop { name: each.name.clone(), silent_for: now.duration_since(beat.at) })
        });
        overdue.collect()
    }
}

impl Heartbeat {
    /// Records a heartbeat.
    pub(crate) fn beat(&self) {
        self.beat_before(self.0.limit);
    }

    /// Records a heartbeat before a step that may take this long.
    pub(crate) fn beat_before(&self, longest_step: Duration) {
        *lock(&self.0.beat) = Beat::now(longest_step);
    }
}

impl Beat {
    fn now(limit: Duration) -> Self {
        let at = Instant::now();
        Self { at, next_due: at + limit }
    }
}

impl fmt::Display for StalledLoop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} has not moved for {} s", self.name, self.silent_for.as_secs())
    }
}

/// Locks ignoring poison: no code panics under these locks, and the guarded data is consistent at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    fn names(heartbeats: &Heartbeats) -> Vec<String> {
        heartbeats.stalled().into_iter().map(|stalled| stalled.name).collect()
    }

    fn wait_for_the_clock() {
        let begun = Instant::now();
        while begun.elapsed().is_zero() {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn a_loop_is_stalled_once_its_beat_is_overdue() {
        let heartbeats = Heartbeats::default();
        let quick = heartbeats.expect("quick", Duration::ZERO);
        let _slow = heartbeats.expect("slow", LONG);
        wait_for_the_clock();
        assert_eq!(names(&heartbeats), ["quick"]);
        quick.beat_before(LONG);
        assert_eq!(names(&heartbeats), [""; 0], "a long step was announced");
        quick.beat();
        wait_for_the_clock();
        assert_eq!(names(&heartbeats), ["quick"], "the step is over");
    }

    #[test]
    fn a_loop_that_has_ended_is_not_expected_to_move() {
        let heartbeats = Heartbeats::default();
        let ended = heartbeats.expect("ended", Duration::ZERO);
        wait_for_the_clock();
        drop(ended);
        assert_eq!(names(&heartbeats), [""; 0]);
    }

    #[test]
    fn it_is_told_for_how_long_a_loop_has_not_moved() {
        let stalled = StalledLoop { name: "worker 1".to_owned(), silent_for: Duration::from_millis(61_500) };
        assert_eq!(stalled.to_string(), "worker 1 has not moved for 61 s");
    }
}
