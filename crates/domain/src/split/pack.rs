//! Packs units into pieces: fills the budget and cuts at the best position in the second half of it.

use std::borrow::Cow;
use std::ops::Range;

use super::costs::Costs;
use super::sections::{Section, sections};
use super::tables::Tables;
use super::units::{Cut, Unit, begins_entry, begins_numbered};
use super::{FrontComposer, SizeUnit, SplitSource, SplitterKind, SplitterSettings, TokenCounter, Window};

/// A finished piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed {
    pub(super) bytes: Range<usize>,
    /// Exact number of tokens.
    pub(super) tokens: usize,
    pub(super) heading_path: Vec<String>,
    pub(super) table_header: Option<String>,
}

/// Number of wrong estimates before [`Packer::fit`] switches to bisection.
const PATIENCE: usize = 4;

/// Sections that take less than this part of the smallest budget share a piece.
const SMALL_SECTION: usize = 16;

/// The same for definitions in source code, whose names are words of the text: as much of it as possible stays together.
const SMALL_DEFINITION: usize = 2;

/// Most units of an entry that names what is left of it.
const LONGEST_ENTRY: usize = 128;

pub(super) struct Packer<'input> {
    pub(super) source: &'input SplitSource<'input>,
    pub(super) tables: &'input Tables,
    pub(super) settings: &'input SplitterSettings,
    pub(super) window: Window,
    pub(super) counter: &'input dyn TokenCounter,
    pub(super) fronts: FrontComposer<'input>,
    pub(super) units: &'input [Unit],
    pub(super) costs: Costs,
    /// Tokens of a piece under the longest text in front.
    pub(super) smallest: usize,
}

impl Packer<'_> {
    /// All pieces of the text.
    pub(super) fn pack(&self) -> Vec<Packed> {
        let part = if self.source.outline.is_source() { SMALL_DEFINITION } else { SMALL_SECTION };
        let small = self.costs.budget(self.smallest) / part;
        let cost = |units: &Range<usize>| self.costs.between(units.start, units.end);
        let mut pieces = Vec::new();
        for section in sections(self.source, self.units, small, cost) {
            self.pack_section(&section, &mut pieces);
        }
        pieces
    }

    /// Adds the pieces of a section.
    fn pack_section(&self, section: &Section, pieces: &mut Vec<Packed>) {
        let heading_path = self.source.outline.path_of(section.heading);
        let below_headings = self.budget(&heading_path, None);
        let last = section.units.end;
        // Units before `covered` are in some piece; a piece that begins before it overlaps.
        let (mut first, mut covered) = (section.units.start, section.units.start);
        let mut cut_row = None;
        while covered < last {
            let entry = self.entry_over(section.units.start..last, first);
            let (heading_path, last) = match &entry {
                Some(entry) => {
                    (Cow::Owned([heading_path.as_slice(), std::slice::from_ref(&entry.name)].concat()), entry.end)
                }
                None => (Cow::Borrowed(&heading_path), last),
            };
            let begins = self.units.get(first).map(|unit| unit.bytes.start);
            let table_header = begins.and_then(|byte| self.tables.header_at(self.source.text, byte, &mut cut_row));
            let header = table_header.as_deref();
            let budget = match (header, &entry) {
                (None, None) => below_headings,
                _ => self.budget(&heading_path, header),
            };
            let Some((end, bytes, tokens)) = self.fit(first..last, covered, budget) else {
                // The overlap left no space for new text.
                first = covered;
                continue;
            };
            pieces.push(Packed { bytes, tokens, heading_path: heading_path.into_owned(), table_header });
            covered = end;
            first = self.overlap_start(first..last, end, budget);
        }
    }

    /// The entry of a list that the unit stands in without beginning it; `None` of the last one of a section, since what is below
    /// the list belongs to no entry.
    fn entry_over(&self, section: Range<usize>, unit: usize) -> Option<EntryOver> {
        let is_entry = |unit: &usize| self.units.get(*unit).is_some_and(|unit| unit.cut == Cut::Entry);
        if self.settings.kind == SplitterKind::Tokens || is_entry(&unit) {
            return None;
        }
        // The first one below a heading is not cut from it.
        let is_first = |unit: &usize| {
            let start = self.units.get(*unit).map_or(0, |unit| unit.bytes.start);
            let is_at_line = self.source.text.get(..start).is_some_and(|before| before.ends_with('\n'));
            is_at_line && self.source.text.get(start..).is_some_and(begins_entry)
        };
        let start = (section.start..unit).rev().take(LONGEST_ENTRY).find(|unit| is_entry(unit) || is_first(unit))?;
        let end = (unit + 1..section.end).take(LONGEST_ENTRY).find(is_entry)?;
        let outline = self.source.outline;
        let heading = |at: usize| self.units.get(at).and_then(|unit| outline.innermost_at(unit.bytes.start));
        if self.has_left(start, unit) {
            return None;
        }
        let begins = self.units.get(start).map(|unit| unit.bytes.start)?;
        // A page break alone begins no line, though it parts paragraphs.
        let above = self.source.text.get(..begins)?.trim_end_matches([' ', '\t']);
        if !above.ends_with('\n') {
            return None;
        }
        let unit = self.units.get(unit).map(|unit| unit.bytes.start)?;
        let (name, _) = self.source.text.get(begins..unit)?.split_once(": ")?;
        (heading(start) == heading(end - 1)).then(|| EntryOver { name: name.to_owned(), end })
    }

    /// Whether numbered paragraphs that the entry from unit `start` does not announce begin before or at `unit`: they are items
    /// of the whole text, as those of minutes below who was there.
    fn has_left(&self, start: usize, unit: usize) -> bool {
        let text = self.source.text;
        let inner = self.units.get(start + 1..=unit).unwrap_or_default().iter();
        let mut lines = inner.map(|unit| text.split_at(unit.bytes.start)).filter(|(above, _)| above.ends_with('\n'));
        let first = lines.find(|(_, below)| begins_numbered(below));
        first.is_some_and(|(above, _)| !above.trim_end().ends_with([':', '：']))
    }

    /// Budget of a piece under these headings, and below this header of a table.
    fn budget(&self, heading_path: &[String], table_header: Option<&str>) -> Budget {
        let most_tokens = match self.settings.unit {
            SizeUnit::Tokens => self.settings.size,
            SizeUnit::Characters => usize::MAX,
        };
        let front = self.fronts.compose(heading_path, table_header);
        let tokens = self.window.piece_budget(front.tokens, most_tokens);
        Budget { tokens, cost: self.costs.budget(tokens) }
    }

    /// The piece that begins with the first of `units`: the unit after it, its bytes and tokens. `None` if it would not
    /// reach beyond `covered`, or not to the end of a row or of code, and might with a later start.
    fn fit(&self, units: Range<usize>, covered: usize, budget: Budget) -> Option<(usize, Range<usize>, usize)> {
        let costs = &self.costs;
        let first = units.start;
        let mut limit = self.limit(&units, budget.cost);
        let mut misfits = 0;
        loop {
            let end = costs.last_within(first, limit).max(first + 1).min(units.end);
            if end <= covered && first < covered {
                return None;
            }
            let end = self.end_of_whole(first, end);
            let end = self.before_whole(first, covered, end)?;
            let end = if end == units.end { end } else { self.best_cut(first, covered, end, budget.cost) };
            let bytes = self.bytes_of(first, end);
            let text = self.source.text.get(bytes.clone()).unwrap_or_default();
            let tokens = self.counter.count(text);
            let excess = costs.excess(text, tokens, budget.tokens);
            if excess.is_none() || end == first + 1 {
                return Some((end, bytes, tokens));
            }
            // A tokenizer may count more for the whole than for its parts.
            let cost = costs.between(first, end);
            let excess = excess.unwrap_or_default();
            let next = if misfits < PATIENCE { cost.saturating_sub(excess) } else { cost / 2 };
            limit = next.min(cost.saturating_sub(1));
            misfits += 1;
        }
    }

    /// The most that a piece which begins with the first of `units` may cost.
    ///
    /// A row or a block of code that begins it is not cut for the sake of what comes after it.
    fn limit(&self, units: &Range<usize>, budget: usize) -> usize {
        let limit = self.costs.tail_aware_limit(units.start, units.end, budget);
        let whole = self.units.get(units.start).and_then(|unit| unit.whole.as_deref());
        let whole = whole.map_or(0, |whole| self.costs.between(units.start, self.unit_at(whole.end)));
        if whole <= budget { limit.max(whole) } else { limit }
    }

    /// The end of a piece that begins within a row or code that was cut: its header names that row alone, and no text
    /// follows the closing fence of code, which would open code to whoever reads the piece alone.
    fn end_of_whole(&self, first: usize, end: usize) -> usize {
        let whole = self.units.get(first).and_then(Unit::cut_whole);
        whole.map_or(end, |whole| end.min(self.unit_at(whole.end)))
    }

    /// Moves the end of a piece before a row or a block of code that it would cut. `None` if the piece may hold that with a
    /// later start; one that fits in no piece is cut.
    fn before_whole(&self, first: usize, covered: usize, end: usize) -> Option<usize> {
        let Some(whole) = self.units.get(end).and_then(Unit::cut_whole) else { return Some(end) };
        let begins = self.unit_at(whole.start);
        let least = first.max(covered);
        if begins > least {
            // A line that introduces it stays with it.
            let stands_alone = |begins: &usize| self.units.get(*begins).is_none_or(|unit| unit.cut > Cut::Cell);
            return (least + 1..=begins).rev().find(stands_alone).or(Some(begins));
        }
        (first == covered).then_some(end)
    }

    /// The best position to end a piece of the units from `first` that may hold those before `end`.
    fn best_cut(&self, first: usize, covered: usize, end: usize, budget: usize) -> usize {
        if self.settings.kind == SplitterKind::Tokens {
            return end;
        }
        let end_byte = self.units.get(end).map_or(usize::MAX, |unit| unit.bytes.start);
        // Cuts inside a row or code only in one that is cut in any case.
        let is_allowed = |unit: &Unit| unit.cut_whole().is_none_or(|whole| whole.end > end_byte);
        (first.max(covered) + 1..=end)
            .rev()
            .map_while(|candidate| {
                let unit = self.units.get(candidate)?;
                (self.costs.between(first, candidate) >= budget / 2).then_some((unit, candidate))
            })
            .filter(|(unit, _)| is_allowed(unit))
            .map(|(unit, candidate)| (unit.cut, candidate))
            .max()
            .map_or(end, |(_, candidate)| candidate)
    }

    /// Where the piece after the one that ends before unit `end` begins: up to the overlap before that.
    ///
    /// Nothing is repeated from another section or from the entry before, no code, and of a table only its header.
    fn overlap_start(&self, units: Range<usize>, end: usize, budget: Budget) -> usize {
        let begins_entry = self.units.get(end).is_some_and(|unit| unit.cut == Cut::Entry);
        if end >= units.end || begins_entry && self.settings.kind != SplitterKind::Tokens {
            return end;
        }
        let overlap = self.costs.overlap(self.settings.overlap, budget.cost);
        let is_repeated = |candidate: &usize| {
            let is_text = self.units.get(*candidate).is_some_and(|unit| unit.whole.is_none());
            is_text && self.costs.between(*candidate, end) <= overlap
        };
        let start = (units.start + 1..end).rev().take_while(is_repeated).last().unwrap_or(end);
        if self.settings.kind == SplitterKind::Tokens {
            return start;
        }
        // Whole sentences, if one fits; else the words that do.
        let begins_sentence = |unit: &usize| self.units.get(*unit).is_some_and(|unit| unit.cut >= Cut::Sentence);
        (start..end).find(begins_sentence).unwrap_or(start)
    }

    /// Number of the first unit that begins at or after a byte.
    fn unit_at(&self, byte: usize) -> usize {
        self.units.partition_point(|unit| unit.bytes.start < byte)
    }

    fn bytes_of(&self, first: usize, end: usize) -> Range<usize> {
        let start = self.units.get(first).map_or(0, |unit| unit.bytes.start);
        let stop = end.checked_sub(1).and_then(|last| self.units.get(last)).map_or(start, |unit| unit.bytes.end);
        start..stop
    }
}

/// An entry of a list that a piece begins within.
struct EntryOver {
    name: String,
    /// The unit after it.
    end: usize,
}

/// The budget of a piece.
#[derive(Debug, Clone, Copy)]
struct Budget {
    tokens: usize,
    /// In the unit of the costs.
    cost: usize,
}
