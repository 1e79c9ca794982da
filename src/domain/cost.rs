//! What model calls cost, in whole billionths of a US dollar: sums of many small amounts stay exact.

use super::budget::Usage;

/// Billionths in a dollar.
const NANO: f64 = 1e9;
/// A dollar a million tokens is this many picodollars (10⁻¹² dollars) a token.
const PICO_PER_TOKEN: f64 = 1e6;
/// Amounts above this many dollars are mistakes, and soon do not fit.
const HIGHEST_AMOUNT: f64 = 1e9;
/// Prices above this many dollars a million tokens are mistakes.
const HIGHEST_PRICE: f64 = 1e6;

/// An amount of money in billionths of a US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NanoUsd(u64);

impl NanoUsd {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// This many billionths of a dollar.
    #[must_use]
    pub const fn new(nano_usd: u64) -> Self {
        Self(nano_usd)
    }

    /// Billionths of a dollar.
    #[must_use]
    pub const fn nano_usd(self) -> u64 {
        self.0
    }

    /// Dollars, for showing.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "amounts over 9 million dollars may lose a billionth")]
    pub fn usd(self) -> f64 {
        self.0 as f64 / NANO
    }

    /// A whole number of billionths from dollars; `None` if it is negative, not a number or absurd.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
    pub fn from_usd(usd: f64) -> Option<Self> {
        (0.0..=HIGHEST_AMOUNT).contains(&usd).then(|| Self((usd * NANO).round() as u64))
    }

    /// The difference; nothing where it would be less.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The sum; the largest amount where it would be more.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// What a model's tokens cost. The default is nothing: no price is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    prompt_pico_usd: u64,
    completion_pico_usd: u64,
}

impl Price {
    /// A price in US dollars a million tokens; `None` if it is negative, not a number or absurd.
    #[must_use]
    pub fn per_million(prompt_usd: f64, completion_usd: f64) -> Option<Self> {
        Some(Self { prompt_pico_usd: per_token(prompt_usd)?, completion_pico_usd: per_token(completion_usd)? })
    }

    /// The cost of a call, rounded up to the billionth.
    #[must_use]
    pub const fn of(self, usage: Usage) -> NanoUsd {
        let prompt = self.prompt_pico_usd.saturating_mul(usage.prompt_tokens);
        let completion = self.completion_pico_usd.saturating_mul(usage.completion_tokens);
        NanoUsd(prompt.saturating_add(completion).div_ceil(1_000))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
fn per_token(usd_per_million: f64) -> Option<u64> {
    (0.0..=HIGHEST_PRICE).contains(&usd_per_million).then(|| (usd_per_million * PICO_PER_TOKEN).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(prompt_tokens: u64, completion_tokens: u64) -> Usage {
        Usage { prompt_tokens, completion_tokens, is_estimated: false }
    }

    #[test]
    fn a_million_tokens_cost_the_price() {
        let price = Price::per_million(0.15, 0.6).expect("a price");
        assert_eq!(price.of(usage(1_000_000, 0)), NanoUsd::new(150_000_000));
        assert_eq!(price.of(usage(0, 1_000_000)), NanoUsd::new(600_000_000));
        assert!((price.of(usage(1_000_000, 1_000_000)).usd() - 0.75).abs() < 1e-12);
    }

    #[test]
    fn the_cheapest_token_is_not_free() {
        let price = Price::per_million(0.0375, 0.0).expect("a price");
        assert_eq!(price.of(usage(1, 0)), NanoUsd::new(38), "37.5 billionths, rounded up");
        assert_eq!(Price::default().of(usage(9, 9)), NanoUsd::ZERO);
    }

    #[test]
    fn impossible_prices_are_refused() {
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e7] {
            assert_eq!(Price::per_million(wrong, 0.0), None);
            assert_eq!(Price::per_million(0.0, wrong), None);
        }
    }
}
