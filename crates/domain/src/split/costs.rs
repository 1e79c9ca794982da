//! The units in which pieces are measured.

use super::units::Unit;

/// Default share of a piece that the next one repeats, in per cent. It is the customary value, and keeps a sentence or
/// two of context across a cut.
const OVERLAP_PERCENT: usize = 12;

/// The limits of a piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) tokens: usize,
    /// Where the size of pieces is set in characters.
    pub(super) characters: Option<usize>,
}

/// Sums of the costs of units: in tokens, or in characters where those run out first.
///
/// Both limits hold for every piece. Cuts are chosen by how full a piece is, measured by the limit that is reached
/// first, which for one text is nearly always the same one.
#[derive(Debug)]
pub(super) struct Costs {
    /// Cost of all units before each unit, and at the end of all units.
    before: Vec<usize>,
    /// Characters and tokens of all units, for converting one into the other.
    characters: usize,
    tokens: usize,
    most_characters: Option<usize>,
    counts_characters: bool,
}

impl Costs {
    /// The costs of a text's units under the tightest limits that apply.
    pub(super) fn of(text: &str, units: &[Unit], limits: Limits) -> Self {
        let tokens: usize = units.iter().map(|unit| unit.cost).sum();
        let places = limits.characters.map(|_| character_places(text, units)).unwrap_or_default();
        let characters = places.last().zip(places.first()).map_or(0, |(end, start)| end - start);
        let counts_characters = limits
            .characters
            .is_some_and(|most| most.saturating_mul(tokens) <= limits.tokens.saturating_mul(characters));
        let before = if counts_characters { places } else { token_sums(units) };
        Self { before, characters, tokens, most_characters: limits.characters, counts_characters }
    }

    /// The cost limit of a piece of the given number of tokens.
    pub(super) fn budget(&self, tokens: usize) -> usize {
        match self.most_characters {
            Some(characters) if self.counts_characters => characters,
            Some(_) | None => tokens,
        }
    }

    /// The excess of a finished piece over its limit, if it exceeds it.
    pub(super) fn excess(&self, text: &str, tokens: usize, most_tokens: usize) -> Option<usize> {
        let by_tokens = tokens
            .checked_sub(most_tokens)
            .filter(|excess| *excess > 0)
            .map(|excess| if self.counts_characters { scale(excess, self.characters, self.tokens) } else { excess });
        let by_characters = self.most_characters.and_then(|most| {
            let excess = text.chars().count().checked_sub(most).filter(|excess| *excess > 0)?;
            Some(if self.counts_characters { excess } else { scale(excess, self.tokens, self.characters) })
        });
        by_tokens.max(by_characters)
    }

    /// The overlap of a piece of this budget with the one before it, at most half of the budget.
    pub(super) fn overlap(&self, wanted: Option<usize>, budget: usize) -> usize {
        let in_characters = self.most_characters.is_some();
        let overlap = match wanted {
            Some(overlap) if in_characters && !self.counts_characters => {
                overlap.saturating_mul(self.tokens) / self.characters.max(1)
            }
            Some(overlap) => overlap,
            None => budget / 100 * OVERLAP_PERCENT + budget % 100 * OVERLAP_PERCENT / 100,
        };
        overlap.min(budget / 2)
    }

    fn at(&self, unit: usize) -> usize {
        self.before.get(unit).or(self.before.last()).copied().unwrap_or(0)
    }

    /// Cost of the units `first..end`.
    pub(super) fn between(&self, first: usize, end: usize) -> usize {
        self.at(end).saturating_sub(self.at(first))
    }

    /// Largest `end` for which the units `first..end` cost at most `limit`.
    pub(super) fn last_within(&self, first: usize, limit: usize) -> usize {
        let most = self.at(first).saturating_add(limit);
        self.before.partition_point(|cost| *cost <= most).saturating_sub(1)
    }

    /// The budget, or less if the last piece of the units before `end` would otherwise get hardly any text.
    pub(super) fn tail_aware_limit(&self, first: usize, end: usize, budget: usize) -> usize {
        let left = self.between(first, end);
        let smallest_tail = budget / 4;
        if left > budget && left - budget < smallest_tail { left - smallest_tail } else { budget }
    }
}

fn token_sums(units: &[Unit]) -> Vec<usize> {
    let mut sum = 0;
    let sums = units.iter().map(|unit| {
        sum += unit.cost;
        sum
    });
    std::iter::once(0).chain(sums).collect()
}

/// Start of each unit, in characters, and the end of the last one. Space between units is counted with the first.
fn character_places(text: &str, units: &[Unit]) -> Vec<usize> {
    let (mut byte, mut character) = (0, 0);
    let mut advance = |to: usize| {
        character += text.get(byte..to).map_or(0, |slice| slice.chars().count());
        byte = to;
        character
    };
    let mut places: Vec<usize> = units.iter().map(|unit| advance(unit.bytes.start)).collect();
    places.extend(units.last().map(|unit| advance(unit.bytes.end)));
    places
}

/// Converts `number` parts of `of` to parts of `to`, rounded up and at least 1.
fn scale(number: usize, to: usize, of: usize) -> usize {
    number.saturating_mul(to).div_ceil(of.max(1)).max(1)
}
