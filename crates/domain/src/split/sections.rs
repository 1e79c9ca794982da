//! Sections: the stretches of a text that pieces are cut from, each under headings that are true for all of it.

use std::ops::Range;

use super::SplitSource;
use super::units::Unit;

/// Most bytes without words for a reader, such as definitions of links, that a piece holds between two units.
const LONGEST_UNREAD: usize = 120;

/// Units that stand under the same headings, on one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// Numbers of the units.
    pub(super) units: Range<usize>,
    /// The innermost heading above all of them, if there is one. Those between it and the text are lines of the section.
    pub(super) heading: Option<usize>,
}

impl Section {
    /// The units that stand under `heading`, so far the one with this number.
    const fn of(unit: usize, heading: Option<usize>) -> Self {
        Self { units: unit..unit + 1, heading }
    }
}

/// The sections of a text, in order.
///
/// Headings that directly follow one another open one section. Neighbours that are shorter than `small`, as `cost`
/// measures them, share one under the heading that is above both, at most one level above the first: by itself such a
/// section would be a piece of a few words.
pub(super) fn sections(
    source: &SplitSource<'_>,
    units: &[Unit],
    small: usize,
    cost: impl Fn(&Range<usize>) -> usize,
) -> Vec<Section> {
    let is_small = |section: &Section| cost(&section.units) < small;
    let mut joined: Vec<Joined> = Vec::new();
    for section in apart(source, units) {
        if let Some(last) = joined.last_mut()
            && is_small(&last.section)
            && is_small(&section)
            && last.takes(&section, source, units)
        {
            last.section.units.end = section.units.end;
            last.section.heading = above_both(source, last.section.heading, section.heading);
        } else {
            let highest = section.heading.and_then(|heading| source.outline.above(heading));
            joined.push(Joined { section, highest });
        }
    }
    joined.into_iter().map(|joined| joined.section).collect()
}

/// The sections of a text as its headings and pages divide it.
fn apart(source: &SplitSource<'_>, units: &[Unit]) -> Vec<Section> {
    let outline = source.outline;
    let mut sections: Vec<Section> = Vec::new();
    // Whether the last section has more than the lines of its headings.
    let mut has_text = false;
    for (number, unit) in units.iter().enumerate() {
        let heading = outline.innermost_at(unit.bytes.start);
        let lines = outline.heading_lines_at(unit.bytes.start);
        let is_text = lines.is_none_or(|lines| unit.bytes.start >= lines.end);
        let is_parted = is_parted(source, units, number);
        let last =
            sections.last_mut().filter(|last| is_on_same_page(source, units, last.units.start, number) && !is_parted);
        match last {
            Some(last)
                if last.heading == heading || !has_text && heading.and_then(|it| outline.above(it)) == last.heading =>
            {
                last.units.end = number + 1;
                last.heading = heading;
                has_text |= is_text;
            }
            Some(_) | None => {
                // Lines of headings with nothing below them but badges: the pieces after those have them in their path.
                if is_parted && !has_text && sections.last().is_some_and(|last| last.heading == heading) {
                    sections.pop();
                }
                sections.push(Section::of(number, heading));
                has_text = is_text;
            }
        }
    }
    sections
}

/// Small sections that share one.
struct Joined {
    section: Section,
    /// The heading above the first of them: the highest that they may share.
    highest: Option<usize>,
}

impl Joined {
    /// Whether the next section may share this one.
    fn takes(&self, next: &Section, source: &SplitSource<'_>, units: &[Unit]) -> bool {
        let is_below = |highest| source.outline.upwards(next.heading).any(|heading| heading == highest);
        self.highest.is_none_or(is_below)
            && is_on_same_page(source, units, self.section.units.start, next.units.start)
            && !is_parted(source, units, next.units.start)
    }
}

/// The innermost heading that is above or equal to both.
fn above_both(source: &SplitSource<'_>, one: Option<usize>, other: Option<usize>) -> Option<usize> {
    let others: Vec<usize> = source.outline.upwards(other).collect();
    source.outline.upwards(one).find(|heading| others.contains(heading))
}

/// Whether so much that no reader sees stands before a unit that it would take the room of words.
fn is_parted(source: &SplitSource<'_>, units: &[Unit], number: usize) -> bool {
    let end_of = |number: usize| units.get(number).map(|unit| unit.bytes.end);
    let before = number.checked_sub(1).and_then(end_of).unwrap_or(0);
    let start = units.get(number).map_or(before, |unit| unit.bytes.start);
    source.outline.unread_within(&(before..start)) > LONGEST_UNREAD
}

fn is_on_same_page(source: &SplitSource<'_>, units: &[Unit], one: usize, other: usize) -> bool {
    let page_of = |number: usize| units.get(number).and_then(|unit| source.pages.page_at(unit.bytes.start));
    page_of(one) == page_of(other)
}
