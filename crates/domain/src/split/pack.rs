//! Packs units into pieces: fills the budget and cuts at the best position in the second half of it.

use std::ops::Range;

use super::costs::Costs;
use super::units::{Cut, Unit};
use super::{FrontComposer, SizeUnit, SplitSource, SplitterKind, SplitterSettings, TokenCounter, Window};

/// A finished piece: byte range and exact number of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed {
    pub(super) bytes: Range<usize>,
    pub(super) tokens: usize,
}

/// Number of wrong estimates before [`Packer::fit`] switches to bisection.
const PATIENCE: usize = 4;

pub(super) struct Packer<'input> {
    pub(super) source: &'input SplitSource<'input>,
    pub(super) settings: &'input SplitterSettings,
    pub(super) window: Window,
    pub(super) counter: &'input dyn TokenCounter,
    pub(super) fronts: FrontComposer<'input>,
    pub(super) units: &'input [Unit],
    pub(super) costs: Costs,
}

impl Packer<'_> {
    /// All pieces of the text.
    pub(super) fn pack(&self) -> Vec<Packed> {
        let mut pieces = Vec::new();
        // Units before `covered` are in some piece; a piece that begins before it overlaps.
        let (mut first, mut covered) = (0, 0);
        let mut budget = None;
        while covered < self.units.len() {
            let allowed = self.budget_at(first, &mut budget);
            let Some((end, packed)) = self.fit(first, covered, allowed) else {
                // The overlap left no space for new text.
                first = covered;
                continue;
            };
            pieces.push(packed);
            covered = end;
            first = self.overlap_start(first, end, allowed);
        }
        pieces
    }

    /// Budget of a piece that begins with unit `first`; computed anew only under another heading.
    fn budget_at(&self, first: usize, last: &mut Option<KnownBudget>) -> Budget {
        let byte = self.units.get(first).map_or(0, |unit| unit.bytes.start);
        let heading = self.source.outline.innermost_at(byte);
        match last {
            Some(known) if known.heading == heading => known.budget,
            Some(_) | None => {
                let front = self.fronts.compose(&self.source.outline.path_at(byte));
                let most_tokens = match self.settings.unit {
                    SizeUnit::Tokens => self.settings.size,
                    SizeUnit::Characters => usize::MAX,
                };
                let tokens = self.window.piece_budget(front.tokens, most_tokens);
                let budget = Budget { tokens, cost: self.costs.budget(tokens) };
                *last = Some(KnownBudget { heading, budget });
                budget
            }
        }
    }

    /// The piece that begins with unit `first` and the unit after it; `None` if it would not reach
    /// beyond `covered` and might with a later start.
    fn fit(&self, first: usize, covered: usize, budget: Budget) -> Option<(usize, Packed)> {
        let costs = &self.costs;
        let mut limit = costs.tail_aware_limit(first, budget.cost);
        let mut misfits = 0;
        loop {
            let end = costs.last_within(first, limit).max(first + 1).min(self.page_end(first));
            if end <= covered && first < covered {
                return None;
            }
            let end = self.best_cut(first, covered, end, budget.cost);
            let bytes = self.bytes_of(first, end);
            let text = self.source.text.get(bytes.clone()).unwrap_or_default();
            let tokens = self.counter.count(text);
            let excess = costs.excess(text, tokens, budget.tokens);
            if excess.is_none() || end == first + 1 {
                return Some((end, Packed { bytes, tokens }));
            }
            // A tokenizer may count more for the whole than for its parts.
            let cost = costs.between(first, end);
            let excess = excess.unwrap_or_default();
            let next = if misfits < PATIENCE { cost.saturating_sub(excess) } else { cost / 2 };
            limit = next.min(cost.saturating_sub(1));
            misfits += 1;
        }
    }

    /// The unit after the last one on the page of unit `first`; without pages, after the last one of all.
    fn page_end(&self, first: usize) -> usize {
        let page_of = |unit: &Unit| self.source.pages.page_at(unit.bytes.start);
        let page = self.units.get(first).and_then(page_of);
        self.units.partition_point(|unit| page_of(unit) <= page)
    }

    /// The best position to end a piece of the units from `first` that may hold those before `end`.
    fn best_cut(&self, first: usize, covered: usize, end: usize, budget: usize) -> usize {
        if end == self.page_end(first) || self.settings.kind == SplitterKind::Tokens {
            return end;
        }
        (first.max(covered) + 1..=end)
            .rev()
            .map_while(|candidate| {
                let cut = self.units.get(candidate)?.cut;
                let filled = self.costs.between(first, candidate);
                // A heading is worth a piece that is only a quarter full, other cuts one half full.
                let enough = if cut == Cut::Heading { budget / 4 } else { budget / 2 };
                (filled >= budget / 4).then_some((filled >= enough).then_some((cut, candidate)))
            })
            .flatten()
            .max()
            .map_or(end, |(_, candidate)| candidate)
    }

    /// Where the piece after the one of units `first..end` begins: up to the overlap before `end`.
    ///
    /// Nothing is repeated across a heading: the text before it belongs to another section; nor from another page.
    fn overlap_start(&self, first: usize, end: usize, budget: Budget) -> usize {
        let overlap = self.costs.overlap(self.settings.overlap, budget.cost);
        let cut_at = |unit: usize| self.units.get(unit).map(|unit| unit.cut);
        if end >= self.page_end(first) || cut_at(end) == Some(Cut::Heading) {
            return end;
        }
        let mut start = end;
        for candidate in (first + 1..end).rev() {
            if self.costs.between(candidate, end) > overlap {
                break;
            }
            start = candidate;
            if cut_at(candidate) == Some(Cut::Heading) {
                break;
            }
        }
        if self.settings.kind == SplitterKind::Tokens {
            return start;
        }
        // Whole sentences, if one fits; else the words that do.
        (start..end).find(|unit| cut_at(*unit) >= Some(Cut::Sentence)).unwrap_or(start)
    }

    fn bytes_of(&self, first: usize, end: usize) -> Range<usize> {
        let start = self.units.get(first).map_or(0, |unit| unit.bytes.start);
        let stop = end.checked_sub(1).and_then(|last| self.units.get(last)).map_or(start, |unit| unit.bytes.end);
        start..stop
    }
}

/// The budget of a piece.
#[derive(Debug, Clone, Copy)]
struct Budget {
    tokens: usize,
    /// In the unit of the costs.
    cost: usize,
}

/// The last budget that was computed.
#[derive(Debug)]
struct KnownBudget {
    /// The innermost heading that it is for, if there is one.
    heading: Option<usize>,
    budget: Budget,
}
