//! The cost of model calls, in whole billionths of a US dollar: sums of many small amounts stay exact.

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

/// The price of a model's tokens. The default is zero: no price is known.
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
    use proptest::prelude::*;

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

    fn price() -> impl Strategy<Value = Price> {
        let usd = || prop_oneof![0.0..=10.0_f64, 0.0..=HIGHEST_PRICE];
        (usd(), usd()).prop_map(|(prompt, completion)| Price::per_million(prompt, completion).expect("a price"))
    }

    /// As much as any call takes.
    fn usual_usage() -> impl Strategy<Value = Usage> {
        (0..=1_000_000_u64, 0..=1_000_000_u64).prop_map(|(prompt, completion)| usage(prompt, completion))
    }

    fn any_usage() -> impl Strategy<Value = Usage> {
        let absurd = (any::<u64>(), any::<u64>()).prop_map(|(prompt, completion)| usage(prompt, completion));
        prop_oneof![usual_usage(), absurd]
    }

    proptest! {
        #[test]
        fn a_call_costs_what_its_tokens_do_rounded_up(price in price(), used in usual_usage()) {
            let cost_of = |pico: u64, tokens: u64| u128::from(pico) * u128::from(tokens);
            let exact = cost_of(price.prompt_pico_usd, used.prompt_tokens)
                + cost_of(price.completion_pico_usd, used.completion_tokens);
            let charged = u128::from(price.of(used).nano_usd()) * 1_000;
            prop_assert!((exact..exact + 1_000).contains(&charged), "{charged} for {exact}");
        }

        #[test]
        fn more_tokens_never_cost_less_however_many(price in price(), used in any_usage(), more in any_usage()) {
            prop_assert!(price.of(used) <= price.of(used.plus(more)));
        }

        #[test]
        fn calls_apart_cost_what_one_of_all_their_tokens_does_but_for_rounding(
            price in price(),
            one in usual_usage(),
            two in usual_usage(),
        ) {
            let (apart, together) = (price.of(one).plus(price.of(two)), price.of(one.plus(two)));
            prop_assert!(together <= apart && apart <= together.plus(NanoUsd::new(1)));
        }

        #[test]
        fn amounts_add_up_in_any_order_and_never_wrap_around(one: u64, two: u64, three: u64) {
            let [one, two, three] = [one, two, three].map(NanoUsd::new);
            prop_assert_eq!(one.plus(two), two.plus(one));
            prop_assert_eq!(one.plus(two).plus(three), one.plus(two.plus(three)));
            prop_assert!(one.minus(two) <= one && one <= one.plus(two));
            prop_assert_eq!(one.minus(two).plus(two), one.max(two));
        }

        #[test]
        fn what_is_shown_in_dollars_leads_back_to_the_amount(nano_usd in 0..=1_000_000_000_000_000_u64) {
            let amount = NanoUsd::new(nano_usd);
            prop_assert_eq!(NanoUsd::from_usd(amount.usd()), Some(amount));
        }

        #[test]
        fn no_number_of_dollars_makes_an_absurd_amount_or_price(usd in prop::num::f64::ANY) {
            let highest = NanoUsd::new(1_000_000_000_000_000_000);
            prop_assert!(NanoUsd::from_usd(usd).is_none_or(|amount| usd >= 0.0 && amount <= highest));
            let price = Price::per_million(usd, usd).unwrap_or_default();
            prop_assert!(price.of(usage(1_000_000, 0)) <= NanoUsd::new(1_000_000_000_000_000));
        }
    }
}
