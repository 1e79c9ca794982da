//! A source, read as units with the scores of their sentences: its lists, sections and entries.

use std::ops::Range;

use super::AnswerSource;
use super::excerpt::{Excerpt, LONGEST_STEPS, WORTH_READING};
use super::header::Headers;
use super::need::PassageReason;
use super::units::{Unit, UnitKind};
use crate::command_options::entry_options;
use crate::evidence::TermMask;

/// Most entries of a list of options, or rows of a table, that tell what to do.
const MOST_ENTRIES: usize = 3;

/// Fewest paragraphs of a section that begin with a label for it to be a list of entries.
const FEWEST_LABELS: usize = 2;

/// A source, its units, and how well they answer.
pub(super) struct ReadSource<'m> {
    pub(super) source: &'m AnswerSource<'m>,
    pub(super) units: Vec<Unit>,
    pub(super) sections: Vec<Range<usize>>,
    /// Score of the best sentence of each unit; 0 where none is related to the question.
    pub(super) scores: Vec<f32>,
    pub(super) headers: Headers<'m>,
}

impl ReadSource<'_> {
    fn unit(&self, at: usize) -> Option<&Unit> {
        self.units.get(at)
    }

    /// Whether a unit begins with the command for a purpose: "To remove lids, use `jar strip`".
    pub(super) fn names_command(&self, at: usize) -> bool {
        let words = self.unit(at).and_then(|unit| self.source.text.get(unit.range.clone())).unwrap_or_default();
        let said = words.trim_start_matches(['*', '_', '-', ' ', '\n']);
        ["To ", "You can ", "Use ", "Run "].iter().any(|begin| said.starts_with(begin))
            && said.matches('`').count() >= 2
    }

    /// Position of the heading of a section, if it has one.
    pub(super) fn heading(&self, section: &Range<usize>) -> Option<usize> {
        let of_section = section.clone().take_while(|at| self.is_of(*at, UnitKind::Heading));
        of_section.last()
    }

    pub(super) fn is_of(&self, at: usize, kind: UnitKind) -> bool {
        self.unit(at).is_some_and(|unit| unit.kind == kind)
    }

    /// The header above a row.
    pub(super) fn header_of(&self, row: &Unit) -> Option<&str> {
        self.headers.above(row.range.start, row.header.as_ref())
    }

    fn is_member(&self, at: usize) -> bool {
        self.unit(at).is_some_and(Unit::is_member)
    }

    fn leads_on(&self, at: usize) -> bool {
        self.unit(at).is_some_and(|unit| unit.leads_on(self.source.text))
    }

    /// The terms of the question that units hold.
    pub(super) fn mask(&self, units: &Range<usize>) -> TermMask {
        self.units.get(units.clone()).unwrap_or_default().iter().fold(0, |mask, unit| mask | unit.mask)
    }

    pub(super) fn holds(&self, section: &Range<usize>, kind: UnitKind) -> bool {
        section.clone().any(|at| self.is_of(at, kind))
    }

    pub(super) fn items(&self, section: &Range<usize>) -> usize {
        section.clone().filter(|at| self.is_of(*at, UnitKind::Item)).count()
    }

    pub(super) fn best_score(&self, units: &Range<usize>) -> f32 {
        self.scores.get(units.clone()).unwrap_or_default().iter().copied().fold(0.0, f32::max)
    }

    /// Length of units without headings, in bytes.
    pub(super) fn bytes_of_words(&self, units: &Range<usize>) -> usize {
        let all = self.units.get(units.clone()).unwrap_or_default().iter();
        all.filter(|unit| unit.kind != UnitKind::Heading).map(|unit| unit.range.len()).sum()
    }

    /// The unit of a section with the best sentence, the first of equals.
    pub(super) fn best_unit(&self, section: &Range<usize>) -> Option<(usize, f32)> {
        let scored = section.clone().filter_map(|at| Some((at, *self.scores.get(at)?)));
        let related = scored.filter(|(at, score)| *score > 0.0 && !self.is_of(*at, UnitKind::Heading));
        related.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// The entry of an option that a unit stands in. A paragraph about the question below an option that is not stands below the
    /// list, and in no entry.
    pub(super) fn entry_at(&self, section: &Range<usize>, at: usize) -> Option<Range<usize>> {
        let words = |at: usize| self.source.text.get(self.unit(at)?.range.clone());
        let begins = |at: &usize| words(*at).is_some_and(|words| !entry_options(words).is_empty());
        let entry = from_one_to_the_next(section, at, begins)?;
        let is_last = entry.end == section.end && entry.start < at;
        let is_below = is_last && self.is_silent(entry.start) && !self.is_silent(at);
        (!is_below).then_some(entry)
    }

    /// Whether a unit has nothing of the question.
    fn is_silent(&self, at: usize) -> bool {
        self.unit(at).is_none_or(|unit| unit.mask == 0) && self.scores.get(at).is_none_or(|score| *score <= 0.0)
    }

    /// Of a list of entries the one that a unit stands in and those that answer about as well, in the order of the section;
    /// `None` elsewhere, and where they are longer than `most` bytes. Entries are those of options, or names and what they
    /// are: "36: Bad download resume."
    pub(super) fn entries_near(&self, section: &Range<usize>, at: usize, most: usize) -> Option<Vec<Range<usize>>> {
        let is_labelled = |at: &usize| self.unit(*at).is_some_and(|unit| unit.is_labelled(self.source.text));
        let has_labels = section.clone().filter(is_labelled).count() >= FEWEST_LABELS;
        let labelled_at = |at| from_one_to_the_next(section, at, is_labelled).filter(|_| has_labels);
        let entry_at = |at| self.entry_at(section, at).or_else(|| labelled_at(at));
        let own = entry_at(at)?;
        let mut near = self.best_of(section, each_once(section, entry_at));
        if !near.contains(&own) {
            near.push(own);
            near.sort_by_key(|entry| entry.start);
        }
        (near.iter().map(|entry| self.length(entry)).sum::<usize>() <= most).then_some(near)
    }

    /// The entries of a section with the best sentences, in the order of the section.
    pub(super) fn best_entries(&self, section: &Range<usize>) -> Vec<Range<usize>> {
        self.best_of(section, each_once(section, |at| self.entry_at(section, at)))
    }

    /// The rows of a section with the best sentences, in the order of the section.
    pub(super) fn best_rows(&self, section: &Range<usize>) -> Vec<Range<usize>> {
        let rows = section.clone().filter(|at| self.is_of(*at, UnitKind::Row)).map(|at| at..at + 1).collect();
        self.best_of(section, rows)
    }

    /// Those parts of a section that are worth reading, in its order.
    fn best_of(&self, section: &Range<usize>, mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
        let least = self.best_score(section) * WORTH_READING;
        parts.retain(|part| self.best_score(part) >= least);
        parts.sort_by(|one, two| self.best_score(two).total_cmp(&self.best_score(one)));
        parts.truncate(MOST_ENTRIES);
        parts.sort_by_key(|part| part.start);
        parts
    }

    /// The first unit of a section that is no heading.
    pub(super) fn first_words(&self, section: &Range<usize>) -> Option<usize> {
        let says_something = |at: &usize| self.unit(*at).is_some_and(|unit| unit.says_something(self.source.text));
        section.clone().find(says_something)
    }

    /// The list or the table that a unit stands in; empty if it stands in none.
    pub(super) fn run(&self, section: &Range<usize>, at: usize) -> Range<usize> {
        let start = (section.start..at).rev().take_while(|before| self.is_member(*before)).last().unwrap_or(at);
        let end = (at..section.end).take_while(|next| self.is_member(*next)).last().map_or(at, |last| last + 1);
        start.min(end)..end
    }

    /// The units with the lead-in before them, if there is one.
    pub(super) fn with_lead_in(&self, section: &Range<usize>, units: Range<usize>) -> Range<usize> {
        let before = units.start.checked_sub(1).filter(|before| section.contains(before));
        let start = before.filter(|before| self.leads_on(*before)).unwrap_or(units.start);
        start..units.end
    }

    /// A unit with what belongs to it: the whole list with its lead-in, the code after its sentence.
    pub(super) fn whole_run(&self, section: &Range<usize>, at: usize) -> Range<usize> {
        let run = self.run(section, at);
        let units = if run.is_empty() { at..at + 1 } else { self.with_lead_in(section, run) };
        self.complete(section, units)
    }

    /// The units with all that cannot be cut off after them: a list, code, what a lead-in announces.
    fn complete(&self, section: &Range<usize>, mut units: Range<usize>) -> Range<usize> {
        while units.end < section.end {
            let last = units.end - 1;
            let continues = self.is_member(last) && self.is_member(units.end);
            let is_code = self.is_of(units.end, UnitKind::Code);
            if !(self.leads_on(last) || continues || is_code) {
                break;
            }
            units.end += 1;
        }
        units
    }

    /// The whole section, or, of one that is longer than `most` bytes, what belongs to the unit and as much after it as fits.
    pub(super) fn around(&self, section: &Range<usize>, anchor: usize, most: usize) -> Range<usize> {
        let first = section.clone().find(|at| !self.is_of(*at, UnitKind::Heading)).unwrap_or(section.start);
        let first = if self.entry_at(section, first).is_some() { anchor } else { first };
        if self.length(&(first..section.end)) <= most {
            return self.without_last_title(first..section.end);
        }
        let mut units = self.whole_run(section, anchor);
        while units.end < section.end {
            let more = self.complete(section, units.start..units.end + 1);
            if self.length(&more) > most {
                break;
            }
            units = more;
        }
        self.without_last_title(units)
    }

    /// The units without a title at their end, whose text is cut off.
    fn without_last_title(&self, units: Range<usize>) -> Range<usize> {
        let is_title = |at: usize| {
            let unit = self.unit(at).filter(|unit| unit.kind == UnitKind::Paragraph);
            unit.is_some_and(|unit| !unit.says_something(self.source.text))
        };
        let end = units.clone().rev().take_while(|at| *at > units.start && is_title(*at)).last();
        units.start..end.unwrap_or(units.end)
    }

    fn length(&self, units: &Range<usize>) -> usize {
        let own = self.units.get(units.clone()).unwrap_or_default();
        own.iter().map(|unit| unit.range.len()).sum()
    }

    /// The first section that says something, or of a long one what fits; `source` is the number of the source.
    pub(super) fn first_section(&self, source: usize, reason: PassageReason) -> Option<Excerpt> {
        let section = self.sections.iter().find(|section| self.first_words(section).is_some())?;
        let units = self.around(section, self.first_words(section)?, LONGEST_STEPS);
        Some(self.excerpt(source, section, units, reason))
    }

    pub(super) fn excerpt(
        &self,
        source: usize,
        section: &Range<usize>,
        units: Range<usize>,
        reason: PassageReason,
    ) -> Excerpt {
        Excerpt { source, units, heading: self.heading(section), reason, about: None }
    }
}

/// The units of a section from the last one up to `at` that begins something to before the next one that does.
fn from_one_to_the_next(section: &Range<usize>, at: usize, begins: impl Fn(&usize) -> bool) -> Option<Range<usize>> {
    let start = (section.start..=at).rev().find(&begins)?;
    let end = (start + 1..section.end).find(&begins).unwrap_or(section.end);
    Some(start..end)
}

/// The entries of the units of a section, each once.
fn each_once(section: &Range<usize>, entry_at: impl Fn(usize) -> Option<Range<usize>>) -> Vec<Range<usize>> {
    let mut entries: Vec<Range<usize>> = section.clone().filter_map(entry_at).collect();
    entries.dedup();
    entries
}
