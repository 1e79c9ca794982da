//! Rounding of numbers for API responses.

use std::time::Duration;

/// Rounds to hundredths, used for milliseconds.
pub(super) fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Rounds to thousandths, used for seconds and rates.
pub(super) fn thousandths(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

/// Converts with the shortest digits of the `f32`: `0.31` instead of `0.3100000023841858`, also through a JSON value.
pub(super) fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| value.into())
}

/// A time in seconds, rounded up: a client that waits so long is served.
pub(super) fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
