//! Numbers as the API shows them.

/// To a hundredth, as for milliseconds.
pub(super) fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// To a thousandth, as for seconds and rates.
pub(super) fn thousandths(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

/// The digits of the number itself: `0.31` and not `0.3100000023841858`, also by way of a JSON value.
pub(super) fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| value.into())
}
