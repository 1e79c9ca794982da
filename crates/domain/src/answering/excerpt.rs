//! Selects the passages for a question that no quoted sentence answers.

use std::ops::Range;

use super::calculation::Figure;
use super::candidate::SentenceCandidate;
use super::choose::Scored;
use super::header::Headers;
use super::naming::words_in;
use super::need::{Need, PassageReason, is_headed_as_reason};
use super::read_source::ReadSource;
use super::rows_asked::{RowsAsked, rows_asked_for};
use super::select::is_of_another_year;
use super::units::{Unit, UnitKind, sections, units};
use super::{AnswerSource, Material};
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::evidence::measure::counts;
use crate::markdown::cells;

/// Most passages of an answer.
const MOST_PASSAGES: usize = 4;

/// Most passages that explain something.
const MOST_EXPLANATIONS: usize = 3;

/// Share of the best sentence's score from which the paragraph of another one is worth reading too.
pub(super) const WORTH_READING: f32 = 0.85;

/// The same for a row or a paragraph with figures.
const OF_FIGURES: f32 = 0.7;

/// Fewest items or rows of a list.
const FEWEST_MEMBERS: usize = 2;

/// Share of the question's weight that the headings and the lead-in of a list must hold for it to be the one asked for.
const LIST_ASKED_FOR: f32 = 0.5;

/// Largest section that is given whole, in bytes, where it tells what to do, and where it comes nearest to an answer.
pub(super) const LONGEST_STEPS: usize = 1500;
const LONGEST_CLOSEST: usize = 800;

/// Share of the question's weight in the title and headings of a source that answers as a whole.
const HEADED_BY_QUESTION: f32 = 0.5;

/// Share of the question's weight that a sentence must hold to be the list asked for.
const NAMED_BY_SENTENCE: f32 = 0.8;

/// A part of a source that is quoted, and why.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Excerpt {
    pub(super) source: usize,
    /// Positions of its units.
    pub(super) units: Range<usize>,
    /// Position of the heading of its section, if it has one.
    pub(super) heading: Option<usize>,
    pub(super) reason: PassageReason,
    /// The thing it is about, if several are compared.
    pub(super) about: Option<String>,
}

/// The passages chosen, and the parts of the question that none is about.
#[derive(Debug, Default)]
pub(super) struct Excerpts {
    pub(super) chosen: Vec<Excerpt>,
    pub(super) missing: Vec<String>,
}

/// The sources of an answer, read as units.
pub(super) struct Sources<'m> {
    pub(super) material: &'m Material<'m>,
    read: Vec<ReadSource<'m>>,
}

impl<'m> Sources<'m> {
    pub(super) fn new(material: &'m Material<'m>, ranked: &[Scored<'_>]) -> Self {
        let read = |(number, (source, evidence)): (usize, (&'m AnswerSource<'m>, _))| {
            let units = units(source, evidence);
            let score = |unit: &Unit| {
                let own = ranked
                    .iter()
                    .filter(|(found, _)| found.source == number && unit.range.contains(&found.range.start));
                own.map(|(_, score)| *score).fold(0.0, f32::max)
            };
            let (scores, sections) = (units.iter().map(score).collect(), sections(&units));
            ReadSource { source, scores, sections, units, headers: Headers::of(source, evidence) }
        };
        Self { material, read: material.sources.iter().zip(material.evidence).enumerate().map(read).collect() }
    }

    pub(super) const fn question(&self) -> &'m Question {
        self.material.question
    }

    pub(super) fn read(&self) -> &[ReadSource<'m>] {
        &self.read
    }

    pub(super) fn get(&self, source: usize) -> Option<&ReadSource<'m>> {
        self.read.get(source)
    }

    /// The passages for a need; none if a sentence answers the question, or nothing is related to it.
    pub(super) fn excerpts(&self, need: &Need, ranked: &[Scored<'_>]) -> Excerpts {
        let chosen = match need {
            Need::Listing | Need::Explanation | Need::Overview if let Some(notes) = self.release() => notes,
            Need::Comparison if let Some(section) = self.headed_as_both() => vec![section],
            Need::Comparison if let Some(section) = self.difference(ranked) => vec![section],
            // Rows of a table that stand side by side compare by themselves.
            Need::Comparison if ranked.first().is_some_and(|(best, _)| best.is_row) => Vec::new(),
            Need::Comparison => return self.compared(ranked),
            Need::Steps => self.steps(),
            Need::Overview => self.overview(ranked),
            Need::Listing if let Some(rows) = self.rows(ranked, false) => rows,
            // A sentence that lists what is asked for answers by itself.
            Need::Listing if ranked.first().is_some_and(|(best, _)| self.lists(best)) => Vec::new(),
            Need::Listing => self.listing(),
            Need::Reason if ranked.first().is_some_and(|(best, _)| best.holds_kind) => Vec::new(),
            Need::Reason if let Some(section) = self.headed_reason(ranked) => vec![section],
            Need::Reason | Need::Explanation => self.explanation(ranked),
            Need::Calculation(figure) if ranked.first().is_some_and(|(best, _)| figure.is_told_by(&best.text)) => {
                Vec::new()
            }
            Need::Calculation(figure) => self.rows_of_all(*figure, ranked).unwrap_or_else(|| self.figures(ranked)),
            Need::Count(counted) => self.counted(counted, ranked),
        };
        Excerpts { chosen, missing: Vec::new() }
    }

    /// What is to be counted, where no sentence tells how many there are: the rows with the value that the question names, or the
    /// list that the best sentence is an item of, if it is named for such things.
    fn counted(&self, counted: &str, ranked: &[Scored<'_>]) -> Vec<Excerpt> {
        let is_told = |(found, _): &Scored<'_>| !found.is_row && counts(&found.text, counted);
        let Some((best, _)) = ranked.first().filter(|_| !ranked.iter().any(is_told)) else { return Vec::new() };
        if let Some(rows) = self.rows(ranked, true) {
            return rows;
        }
        let Some((_, _, at)) = self.unit_of(best.source, best.range.start) else { return Vec::new() };
        let has_best = |list: &Excerpt| list.source == best.source && list.units.contains(&at);
        self.listing().into_iter().filter(has_best).collect()
    }

    /// Share of the question that the units, their heading and the title hold.
    pub(super) fn share(&self, source: usize, units: Range<usize>) -> f32 {
        let title = self.material.evidence.get(source).map_or(0, |evidence| evidence.title_mask);
        let own = self.get(source).map_or(0, |read| read.mask(&units));
        self.material.question.terms.share(title | own)
    }

    /// The section under a heading for reasons in the document of the best sentence.
    fn headed_reason(&self, ranked: &[Scored<'_>]) -> Option<Excerpt> {
        let own = self.get(ranked.first()?.0.source)?.source.key.document_id;
        let is_reason = |(_, read): &(usize, &ReadSource<'_>)| {
            read.source.key.document_id == own && is_headed_as_reason(read.source.heading)
        };
        let (number, read) = self.read.iter().enumerate().find(is_reason)?;
        read.first_section(number, PassageReason::Explanation)
    }

    /// The passages of the best source's document in its order, each from its beginning.
    fn overview(&self, ranked: &[Scored<'_>]) -> Vec<Excerpt> {
        let best = ranked.first().map_or(0, |(found, _)| found.source);
        let Some(document) = self.get(best).map(|read| read.source.key.document_id) else { return Vec::new() };
        let mut own: Vec<(usize, &ReadSource<'_>)> =
            self.read.iter().enumerate().filter(|(_, read)| read.source.key.document_id == document).collect();
        own.sort_by_key(|(_, read)| read.source.key.ordinal);
        let first = |(number, read): (usize, &ReadSource<'_>)| {
            let section = read.sections.iter().find(|section| read.first_words(section).is_some())?.clone();
            let units = read.whole_run(&section, read.first_words(&section)?);
            Some(read.excerpt(number, &section, units, PassageReason::Overview))
        };
        own.into_iter().filter_map(first).take(MOST_PASSAGES).collect()
    }

    /// Whether a sentence is a list of what the question asks for.
    fn lists(&self, sentence: &SentenceCandidate) -> bool {
        let question = self.material.question;
        let is_list = question.kind == AnswerKind::List && sentence.holds_kind;
        is_list && question.terms.share(sentence.mask) >= NAMED_BY_SENTENCE
    }

    /// The rows that are asked for, where the best sentence is one and there are several. `is_by_name` asks for those alone with
    /// a value that the question names with its column.
    pub(super) fn rows(&self, ranked: &[Scored<'_>], is_by_name: bool) -> Option<Vec<Excerpt>> {
        let (best, _) = ranked.first().filter(|(best, _)| best.is_row)?;
        let (_, _, at) = self.unit_of(best.source, best.range.start)?;
        let RowsAsked { rows, are_named } = rows_asked_for(self.material.question, &self.read, (best.source, at));
        if is_by_name && !are_named {
            return None;
        }
        let excerpt = |(source, units): (usize, Range<usize>)| {
            let read = self.get(source)?;
            let section = read.sections.iter().find(|section| section.contains(&units.start))?;
            Some(read.excerpt(source, section, units, PassageReason::List))
        };
        // A single one, too, where another one is the best by its words.
        let is_other =
            are_named && rows.first().is_some_and(|(source, units)| (*source, units.start) != (best.source, at));
        (rows.len() > 1 || is_other).then(|| rows.into_iter().filter_map(excerpt).collect())
    }

    /// The list or the table whose lead-in or heading names what is asked for.
    fn listing(&self) -> Vec<Excerpt> {
        let mut best: Option<(f32, Excerpt)> = None;
        for (number, read) in self.read.iter().enumerate() {
            for section in &read.sections {
                let mut at = section.start;
                while at < section.end {
                    let run = read.run(section, at);
                    at = run.end.max(at + 1);
                    if run.len() < FEWEST_MEMBERS {
                        continue;
                    }
                    let units = read.with_lead_in(section, run.clone());
                    let heading = section.start..section.start + usize::from(read.heading(section).is_some());
                    let named = self.share(number, units.start..run.start).max(self.share(number, heading));
                    if named >= LIST_ASKED_FOR && best.as_ref().is_none_or(|(highest, _)| named > *highest) {
                        best = Some((named, read.excerpt(number, section, units, PassageReason::List)));
                    }
                }
            }
        }
        best.into_iter().map(|(_, excerpt)| excerpt).collect()
    }

    /// The paragraphs of the best sentences, that of the best source's first among them, whatever its score.
    fn explanation(&self, ranked: &[Scored<'_>]) -> Vec<Excerpt> {
        let mut chosen: Vec<Excerpt> = Vec::new();
        let highest = ranked.first().map_or(0.0, |(_, score)| *score);
        let says_something = |found: &SentenceCandidate| !found.is_row && found.mask != 0;
        let of_best = ranked.iter().find(|(found, _)| found.source == 0 && says_something(found));
        let near = ranked.iter().filter(|(_, score)| *score >= highest * WORTH_READING);
        for (found, _) in of_best.into_iter().chain(near) {
            let Some(excerpt) = self.paragraph_of(found.source, found.range.start, PassageReason::Explanation) else {
                continue;
            };
            let is_there = chosen.iter().any(|other| other.overlaps(&excerpt));
            if !is_there && chosen.len() < MOST_EXPLANATIONS {
                chosen.push(excerpt);
            }
        }
        chosen
    }

    /// The table of the best row, for the sum or the average of a column: the question names none of its rows.
    fn rows_of_all(&self, figure: Figure, ranked: &[Scored<'_>]) -> Option<Vec<Excerpt>> {
        let is_over_all = |best: &SentenceCandidate| best.is_row && best.named <= 0.0;
        let (best, _) = ranked.first().filter(|(best, _)| is_over_all(best))?;
        match figure {
            Figure::Average | Figure::Sum => {
                Some(vec![self.paragraph_of(best.source, best.range.start, PassageReason::Figures)?])
            }
            Figure::Change | Figure::RelativeChange | Figure::Share => None,
        }
    }

    /// The best row or paragraph of the best source that holds a number, and those that hold more of the question.
    fn figures(&self, ranked: &[Scored<'_>]) -> Vec<Excerpt> {
        let mut chosen: Vec<Excerpt> = Vec::new();
        let mut held = 0;
        let Some((best, highest)) = ranked.first() else { return chosen };
        let holds_number = |found: &SentenceCandidate| found.text.chars().any(|sign| sign.is_ascii_digit());
        let near = ranked.iter().filter(|(found, score)| found.source == best.source && *score >= highest * OF_FIGURES);
        for (found, _) in near.filter(|(found, _)| holds_number(found)) {
            let excerpt = self.figure_of(found.source, found.range.start);
            let Some(excerpt) = excerpt.filter(|excerpt| !chosen.iter().any(|other| other.overlaps(excerpt))) else {
                continue;
            };
            let is_first_or_adds = held == 0 || found.mask & !held != 0;
            if is_first_or_adds && chosen.len() < MOST_PASSAGES {
                held |= found.mask;
                chosen.push(excerpt);
            }
        }
        chosen.sort_by_key(|excerpt| excerpt.units.start);
        chosen
    }

    /// The paragraph in which a sentence stands, with the list or code that belongs to it.
    pub(super) fn paragraph_of(&self, source: usize, start: usize, reason: PassageReason) -> Option<Excerpt> {
        let (read, section, unit) = self.unit_of(source, start)?;
        Some(read.excerpt(source, section, read.whole_run(section, unit), reason))
    }

    /// A row, if the question has words of its first cell that no other row of its source has there.
    fn row_alone(&self, read: &ReadSource<'_>, row: usize) -> Option<Range<usize>> {
        let named = |unit: &Unit| {
            let (_, name) = cells(read.source.text.get(unit.range.clone())?).next()?;
            Some(words_in(self.question(), name)).filter(|mask| *mask != 0)
        };
        let own = named(read.units.get(row)?)?;
        let rows = read.units.iter().filter(|unit| unit.kind == UnitKind::Row);
        let alike = rows.filter_map(named).filter(|mask| mask & own == own).count();
        (alike == 1).then_some(row..row + 1)
    }

    /// The section in which a sentence stands, or of a long one what follows the sentence; of a list of entries those that
    /// are about the question; of a table the row that the question names, or all of it.
    pub(super) fn section_of(&self, source: usize, start: usize) -> Option<Vec<Excerpt>> {
        let (read, section, unit) = self.unit_of(source, start)?;
        let parts = if read.is_of(unit, UnitKind::Row) {
            vec![self.row_alone(read, unit).unwrap_or_else(|| read.whole_run(section, unit))]
        } else if let Some(entries) = read.entries_near(section, unit, LONGEST_CLOSEST) {
            entries
        } else {
            vec![read.around(section, unit, LONGEST_CLOSEST)]
        };
        let excerpt = |units| read.excerpt(source, section, units, PassageReason::Closest);
        Some(parts.into_iter().map(excerpt).collect())
    }

    /// The beginning of the source that most likely answers, of those whose headings are about the question and that are of no
    /// other year.
    pub(super) fn beginning_of_likeliest(&self) -> Option<Excerpt> {
        let by_probability = |(_, one): &(usize, &ReadSource<'_>), (_, two): &(usize, &ReadSource<'_>)| {
            one.source.probability.total_cmp(&two.source.probability)
        };
        let is_headed = |(number, read): &(usize, &ReadSource<'_>)| {
            self.share(*number, 0..0) >= HEADED_BY_QUESTION && !is_of_another_year(read.source, self.question())
        };
        // Of equals the last is the greatest.
        let (number, read) = self.read.iter().enumerate().filter(is_headed).rev().max_by(by_probability)?;
        read.first_section(number, PassageReason::Closest)
    }

    /// What stands around the code that holds most of the question, which no sentence may hold.
    pub(super) fn around_code(&self) -> Option<Vec<Excerpt>> {
        let terms = &self.question().terms;
        let of_sources = self.material.evidence.iter().enumerate();
        let code = of_sources.flat_map(|(number, evidence)| evidence.code.iter().map(move |code| (number, code)));
        let about = code.filter(|(_, (_, mask))| terms.share(*mask) >= HEADED_BY_QUESTION);
        // Of equals the last is the greatest.
        let most = about.rev().max_by(|(_, (_, one)), (_, (_, two))| terms.share(*one).total_cmp(&terms.share(*two)));
        most.and_then(|(number, (range, _))| self.section_of(number, range.start))
    }

    /// The row, or the paragraph, in which a figure stands.
    fn figure_of(&self, source: usize, start: usize) -> Option<Excerpt> {
        let (read, section, unit) = self.unit_of(source, start)?;
        let is_row = read.is_of(unit, UnitKind::Row);
        let units = if is_row { unit..unit + 1 } else { read.whole_run(section, unit) };
        Some(read.excerpt(source, section, units, PassageReason::Figures))
    }

    /// The source, the section and the position of the unit of a sentence.
    pub(super) fn unit_of(&self, source: usize, start: usize) -> Option<(&ReadSource<'m>, &Range<usize>, usize)> {
        let read = self.get(source)?;
        let unit = read.units.iter().position(|unit| unit.range.start <= start && start < unit.range.end)?;
        let section = read.sections.iter().find(|section| section.contains(&unit))?;
        Some((read, section, unit))
    }
}

impl Excerpt {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.source == other.source && self.units.start < other.units.end && other.units.start < self.units.end
    }
}
