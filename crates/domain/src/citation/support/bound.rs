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

    /// Whether a value stands so to the number.
    pub(super) fn holds(self, value: f64, number: f64) -> bool {
        let is_close = (value - number).abs() <= INEXACT * value.abs();
        match self {
            Self::Above => value > number,
            Self::Below => value < number,
            Self::About => is_close,
            Self::Almost => is_close && value <= number,
        }
    }
}
