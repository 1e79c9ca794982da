//! Numbers that a claim gives inexactly: "more than 10,000", "about 12,000".

use super::polarity::Claim;
use crate::citation::unit::unit_named;

/// Words before a number, and the relation of the value to it.
const BOUNDS: [(&[&str], Bound); 32] = [
    (&["more", "than"], Bound::Above),
    (&["over"], Bound::Above),
    (&["above"], Bound::Above),
    (&["exceeds"], Bound::Above),
    (&["exceeded"], Bound::Above),
    (&["exceeding"], Bound::Above),
    (&["mehr", "als"], Bound::Above),
    (&["über"], Bound::Above),
    (&["plus", "de"], Bound::Above),
    (&["less", "than"], Bound::Below),
    (&["fewer", "than"], Bound::Below),
    (&["under"], Bound::Below),
    (&["below"], Bound::Below),
    (&["weniger", "als"], Bound::Below),
    (&["unter"], Bound::Below),
    (&["moins", "de"], Bound::Below),
    (&["nearly"], Bound::Almost),
    (&["almost"], Bound::Almost),
    (&["close", "to"], Bound::Almost),
    (&["beinahe"], Bound::Almost),
    (&["fast"], Bound::Almost),
    (&["knapp"], Bound::Almost),
    (&["presque"], Bound::Almost),
    (&["about"], Bound::About),
    (&["approximately"], Bound::About),
    (&["around"], Bound::About),
    (&["roughly"], Bound::About),
    (&["circa"], Bound::About),
    (&["ca"], Bound::About),
    (&["etwa"], Bound::About),
    (&["rund"], Bound::About),
    (&["environ"], Bound::About),
];

/// Share of a value by which an inexact number may differ from it.
const INEXACT: f64 = 0.05;

/// The relation of a value to a number that a claim gives for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Above,
    Below,
    About,
    Almost,
}

impl Bound {
    /// The one whose words stand directly before a place in a claim, and the place of the first of them.
    pub(super) fn before(claim: &Claim<'_>, place: usize) -> Option<(Self, usize)> {
        let is_code = |word: &str| unit_named(word).is_some();
        let before = claim.words.get(..place)?;
        // "About EUR 4.8 billion".
        let before = before.split_last().filter(|(last, _)| is_code(last)).map_or(before, |(_, before)| before);
        BOUNDS.iter().find_map(|(words, bound)| {
            let start = before.len().checked_sub(words.len())?;
            let is_it = before.get(start..)?.iter().zip(*words).all(|(own, word)| own == word);
            is_it.then_some((*bound, start))
        })
    }

    /// Whether a value stands so to the number. One that is told as inexact is the value rounded.
    pub(super) fn holds(self, value: f64, number: f64) -> bool {
        let is_rounded = (value - number).abs() <= (INEXACT * value.abs()).min(last_digit(number) / 2.0 * (1.0 + 1e-9));
        match self {
            Self::Above => value > number,
            Self::Below => value < number,
            Self::About => is_rounded,
            Self::Almost => is_rounded && value <= number,
        }
    }
}

/// The value of one in the last digit of a number that is no zero: 1,000 of 12,000, and a tenth of 6.5.
fn last_digit(number: f64) -> f64 {
    let is_whole = |unit: &f64| ((number / unit).round() * unit - number).abs() <= 1e-9 * number.abs();
    (-6..=15)
        .rev()
        .map(|exponent| 10_f64.powi(exponent))
        .find(|unit| *unit <= number.abs() && is_whole(unit))
        .unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inexact_number_is_the_value_rounded() {
        let rows = [
            (12_400.0, 12_000.0, true),
            (12_400.0, 12_500.0, false),
            (199.8, 200.0, true),
            (199.8, 198.0, false),
            (6.56, 7.0, false),
            (6.8, 7.0, true),
            (0.0, 0.0, true),
        ];
        for (value, number, expected) in rows {
            assert_eq!(Bound::About.holds(value, number), expected, "{value} {number}");
        }
        assert!(Bound::Almost.holds(9_980.0, 10_000.0) && !Bound::Almost.holds(10_020.0, 10_000.0));
    }
}
