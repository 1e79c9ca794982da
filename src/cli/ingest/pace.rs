//! How quickly documents are settled, from what was done in the last minute.

use std::{collections::VecDeque, time::Duration, time::Instant};

/// Length of the window; work before it is no measure of the work to come.
const WINDOW: Duration = Duration::from_mins(1);
/// Nothing is said of the pace before it was watched for this long.
const KNOWN_AFTER: Duration = Duration::from_secs(10);
/// Time between two samples.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// Numbers of settled documents over the last minute.
#[derive(Debug, Default)]
pub(super) struct Pace(VecDeque<(Instant, usize)>);

impl Pace {
    /// Records how many documents are settled at this moment.
    pub(super) fn note(&mut self, now: Instant, settled: usize) {
        if self.0.back().is_some_and(|(last, _)| now.saturating_duration_since(*last) < SAMPLE_EVERY) {
            return;
        }
        self.0.push_back((now, settled));
        // The oldest sample that is kept is the last one before the window, so that the window is covered.
        while self.0.get(1).is_some_and(|(second, _)| now.saturating_duration_since(*second) >= WINDOW) {
            self.0.pop_front();
        }
    }

    /// Documents per second, and the time that as many as `left` take; `None` before that is known.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub(super) fn rate(&self, left: usize) -> Option<(f64, Duration)> {
        let ((first, before), (last, now)) = (self.0.front()?, self.0.back()?);
        let watched = last.saturating_duration_since(*first);
        let done = now.saturating_sub(*before);
        if watched < KNOWN_AFTER || done == 0 {
            return None;
        }
        let per_second = done as f64 / watched.as_secs_f64();
        Some((per_second, Duration::try_from_secs_f64(left as f64 / per_second).ok()?))
    }

    /// The rate in words, such as `3.2/s, 2 min left`; empty before it is known.
    pub(super) fn text(&self, left: usize) -> String {
        self.rate(left)
            .map_or_else(String::new, |(per_second, time)| format!("{per_second:.1}/s, {} left", rounded(time)))
    }
}

/// A time as exactly as it can be foreseen.
pub(super) fn rounded(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..90 => format!("{seconds} s"),
        seconds @ 90..5_400 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{} h", (seconds + 1_800) / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(samples: &[(u64, usize)]) -> Pace {
        let start = Instant::now();
        let mut pace = Pace::default();
        for (second, settled) in samples {
            pace.note(start + Duration::from_secs(*second), *settled);
        }
        pace
    }

    #[test]
    fn nothing_is_said_before_it_is_known() {
        assert_eq!(pace(&[]).text(5), "");
        assert_eq!(pace(&[(0, 0), (9, 90)]).text(5), "");
        assert_eq!(pace(&[(0, 0), (30, 0)]).text(5), "");
        assert_eq!(pace(&[(0, 0), (10, 20)]).text(100), "2.0/s, 50 s left");
    }

    #[test]
    fn only_the_last_minute_counts() {
        let samples: Vec<(u64, usize)> = (0..=300).map(|second| (second, 1_000)).collect();
        assert_eq!(pace(&samples).text(5), "");
        let samples: Vec<(u64, usize)> =
            (0..=300).map(|second| (second, 10 * usize::try_from(second).unwrap())).collect();
        let slow: Vec<(u64, usize)> =
            (1..=60).map(|second| (300 + second, 3_000 + usize::try_from(second).unwrap())).collect();
        assert_eq!(pace(&[samples, slow].concat()).text(600), "1.0/s, 10 min left");
    }

    #[test]
    fn times_are_as_exact_as_they_can_be() {
        let texts = [0, 89, 90, 200, 5_399, 5_400, 90_000].map(|seconds| rounded(Duration::from_secs(seconds)));
        assert_eq!(texts, ["0 s", "89 s", "2 min", "3 min", "90 min", "2 h", "25 h"]);
    }
}
