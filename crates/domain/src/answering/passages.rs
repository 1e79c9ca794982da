//! Passages instead of an answer, where no sentence can be one: each under its title and heading, quoted word for word.

use super::choose::Scored;
use super::compose::NEARER;
use super::excerpt::{Excerpt, Sources};
use super::lines::lines_of;
use super::need::{Need, PassageReason, need};
use super::pointer::leads_elsewhere;
use super::quote::{code, escape_markers, marked, plain_line};
use super::ranking::rank;
use super::read_source::ReadSource;
use super::row::labelled;
use super::rows_asked::counts_rows;
use super::superlative::asks_for_extreme;
use super::units::{Unit, UnitKind};
use super::{AnswerSource, ExtractiveAnswer, GivenPassage, Material, QuotedPassages, SentenceCandidate};
use crate::citation::{Attribution, Basis, Draft, Level, PreparedSource, findings};
use crate::evidence::passage::PassageEvidence;
use crate::late_interaction::Likeness;
use crate::markdown::{BlockKind, blocks};
use crate::planning::QuestionType;

/// Share of the best score from which the paragraph of a sentence is given rather than that of a title or a label.
const NEARLY_AS_GOOD: f32 = 0.75;

/// Most sections that come nearest, each of another source.
const MOST_CLOSEST: usize = 3;

/// A line break within a paragraph of Markdown.
const LINE_BREAK: &str = "  \n";

/// Longest lead-in, in bytes.
const LONGEST_LEAD_IN: usize = 200;

/// The passages for a question that no quoted sentence answers; `None` if a sentence may.
///
/// `likenesses` runs parallel to `candidates`, as in [`compose`](super::compose()).
#[must_use]
pub fn passages(
    material: &Material<'_>,
    question_type: QuestionType,
    candidates: &[SentenceCandidate],
    likenesses: Option<&[Likeness]>,
) -> Option<QuotedPassages> {
    let likenesses = likenesses.filter(|likenesses| likenesses.len() == candidates.len());
    let mut ranked = rank(candidates, likenesses);
    let best_row = ranked.first().filter(|(best, _)| best.is_row && asks_for_extreme(&material.question.asked));
    if let Some((best, _)) = best_row {
        return best.is_fragment.then(|| table_of(material, &ranked, best))?;
    }
    let need = need(material.question, question_type)?;
    let sources = Sources::new(material, &ranked);
    // A sentence that leads in a list or code begins the paragraph that explains.
    let leads_in = |candidate: &SentenceCandidate| need == Need::Explanation && candidate.text.ends_with([':', '：']);
    ranked.retain(|(candidate, _)| !candidate.is_fragment || leads_in(candidate));
    let excerpts = sources.excerpts(&need, &ranked);
    let mut page = QuotedPassages { text: String::new(), passages: Vec::new() };
    for excerpt in excerpts.chosen {
        page.push(&sources, excerpt);
    }
    if page.passages.is_empty() {
        return None;
    }
    for sentence in &excerpts.missing {
        page.paragraph(sentence);
    }
    Some(page)
}

/// The table of a row, where it cannot be told which of its rows has the most of something.
fn table_of(material: &Material<'_>, ranked: &[Scored<'_>], row: &SentenceCandidate) -> Option<QuotedPassages> {
    let sources = Sources::new(material, ranked);
    let mut page = QuotedPassages { text: String::new(), passages: Vec::new() };
    page.push(&sources, sources.paragraph_of(row.source, row.range.start, PassageReason::List)?);
    (!page.passages.is_empty()).then_some(page)
}

/// The section around the best sentence, or of a long one what follows, for a question whose answer is too doubtful to be
/// given as one, that of the nearest passage, and those of sentences nearly as good: the answer may stand beside the sentence,
/// or in another source. A title or a part of a list may be the best here. Without any sentence that is related to the
/// question, what stands around the code that is, or the beginning of the likeliest source whose headings are. `None` if it
/// cannot be quoted.
#[must_use]
pub fn closest(
    material: &Material<'_>,
    candidates: &[SentenceCandidate],
    likenesses: Option<&[Likeness]>,
    answer: Option<&ExtractiveAnswer>,
) -> Option<QuotedPassages> {
    let likenesses = likenesses.filter(|likenesses| likenesses.len() == candidates.len());
    let mut ranked = rank(candidates, likenesses);
    let sources = Sources::new(material, &ranked);
    let is_list_of_pages = |(found, _): &Scored<'_>| {
        let heading = sources.get(found.source).and_then(|read| read.source.heading.last());
        heading.is_some_and(|heading| leads_elsewhere(heading))
    };
    if !ranked.iter().all(is_list_of_pages) {
        ranked.retain(|scored| !is_list_of_pages(scored));
    }
    let mut page = QuotedPassages { text: String::new(), passages: Vec::new() };
    let Some((first, highest)) = ranked.first().copied() else {
        match sources.around_code() {
            Some(code) => page.push_all(&sources, code),
            None => page.push(&sources, sources.beginning_of_likeliest()?),
        }
        return (!page.passages.is_empty()).then_some(page);
    };
    // Their number is told by the rows that have what is asked for, and so are people with something.
    if let Some(rows) = sources.rows(&ranked, !counts_rows(material.question)) {
        page.push_all(&sources, rows);
        return (!page.passages.is_empty()).then_some(page);
    }
    let quoted = answer.filter(|answer| answer.is_rivalled).and_then(ExtractiveAnswer::best);
    let is_quoted = |(found, _): &&Scored<'_>| {
        quoted.is_some_and(|quoted| quoted.source == found.source && quoted.range == found.range)
    };
    let says_something = |(found, score): &&Scored<'_>| !found.is_fragment && *score >= NEARLY_AS_GOOD * highest;
    let best = ranked.iter().find(is_quoted).or_else(|| ranked.iter().find(says_something));
    let best = best.map_or(first, |(found, _)| *found);
    let is_nearest = |(found, _): &&Scored<'_>| found.behind <= 0.0 && !found.is_fragment;
    let nearest = ranked.iter().find(is_nearest).filter(|_| best.behind > NEARER);
    let others = ranked.iter().filter(says_something);
    // One that begins within a sentence is not given.
    if let Some(section) = headed_as_asked(material).and_then(|(source, at)| sources.section_of(source, at)) {
        page.push_all(&sources, section);
    }
    let sections = std::iter::once(best).chain(nearest.into_iter().chain(others).map(|(found, _)| *found));
    for found in sections {
        let is_given = page.passages.iter().any(|given| given.source_index == found.source);
        if page.passages.len() < MOST_CLOSEST && !is_given {
            page.push_all(&sources, sources.section_of(found.source, found.range.start)?);
        }
    }
    (!page.passages.is_empty()).then_some(page)
}

/// The source whose title and headings hold all of a question, which is for that section then ("paint drying time"), and the
/// byte at which its text begins.
fn headed_as_asked(material: &Material<'_>) -> Option<(usize, usize)> {
    let terms = &material.question.terms;
    if terms.terms().len() < 2 {
        return None;
    }
    let is_asked = |(_, (source, evidence)): &(usize, (&AnswerSource<'_>, &PassageEvidence))| {
        !source.heading.is_empty() && terms.share(evidence.title_mask) >= 1.0
    };
    let of_sources = material.sources.iter().zip(material.evidence).enumerate();
    of_sources.filter(is_asked).find_map(|(number, (_, evidence))| {
        let first = evidence.sentences.iter().find(|sentence| sentence.kind != BlockKind::Heading)?;
        Some((number, first.range.start))
    })
}

impl QuotedPassages {
    /// Adds the excerpts of a source.
    fn push_all(&mut self, sources: &Sources<'_>, excerpts: Vec<Excerpt>) {
        for excerpt in excerpts {
            self.push(sources, excerpt);
        }
    }

    /// Adds an excerpt, unless nothing of it can be quoted.
    fn push(&mut self, sources: &Sources<'_>, excerpt: Excerpt) {
        let Some(read) = sources.get(excerpt.source) else { return };
        let mut quoted = Quoted { text: String::new(), number: excerpt.source + 1, is_cited: false, last: None };
        let units = read.units.get(excerpt.units.clone()).unwrap_or_default();
        for unit in units.iter().filter(|unit| units.len() == 1 || !is_head_of_mail(read, unit)) {
            quoted.unit(read, unit);
        }
        if !quoted.is_cited {
            return;
        }
        let Excerpt { source, reason, about, heading, .. } = excerpt;
        let passage = GivenPassage { source_index: source, reason, about };
        // Entries of one section and rows of one table are one passage.
        let is_piecewise = matches!(
            reason,
            PassageReason::Steps | PassageReason::Figures | PassageReason::List | PassageReason::Closest
        );
        if !is_piecewise || self.passages.last() != Some(&passage) {
            if let Some(lead_in) = lead_in(read, heading) {
                self.paragraph(&lead_in);
            }
            self.passages.push(passage);
        }
        self.paragraph(&quoted.text);
    }

    fn paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }
}

/// The title of a source and the headings above a passage of it, as a heading; `None` where they cannot be one.
fn lead_in(read: &ReadSource<'_>, heading: Option<usize>) -> Option<String> {
    let own = heading.and_then(|at| read.units.get(at)?.sentences.first());
    let own = own.and_then(|words| read.source.text.get(words.clone()));
    let headings = read.source.heading.iter().map(String::as_str);
    // Titles of web pages often begin with their first heading.
    let is_said = read.source.heading.first().is_some_and(|first| read.source.title.starts_with(first.as_str()));
    let title = Some(read.source.title).filter(|_| !is_said);
    let mut names: Vec<String> = Vec::new();
    for name in title.into_iter().chain(headings).chain(own).filter(|name| !is_of_box(name)) {
        // Signs of markup could pair with those of the next name.
        let name = name.trim_end_matches(['#', ' ']).replace(['`', '*', '~', '<', '>'], " ");
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        if !name.is_empty() && !names.last().is_some_and(|last| repeats(last, &name)) {
            names.push(name);
        }
    }
    let line = escape_markers(&names.join(" › "));
    let line = line.trim_end_matches(['.', '!', ':', '。', '！', '：', ' ']);
    let heading = format!("### {line}");
    let is_heading = matches!(blocks(&heading).as_slice(), [block] if block.kind == BlockKind::Heading);
    let has_words = line.len() <= LONGEST_LEAD_IN && line.chars().any(char::is_alphanumeric);
    (has_words && is_heading && states_nothing_else(&heading, read)).then_some(heading)
}

/// Whether the heading below another has the same words, but for a number before them.
fn repeats(above: &str, below: &str) -> bool {
    above.strip_suffix(below).is_some_and(|number| !number.contains(char::is_alphabetic))
}

/// Whether a paragraph is the head of a mail: who wrote to whom, and when.
fn is_head_of_mail(read: &ReadSource<'_>, unit: &Unit) -> bool {
    const FIELDS: [&str; 6] = ["From: ", "To: ", "Cc: ", "Date: ", "Reply-To: ", "Subject: "];
    let text = read.source.text.get(unit.range.clone()).unwrap_or_default();
    let is_field = |line: &str| FIELDS.iter().any(|field| line.starts_with(field));
    unit.kind == UnitKind::Paragraph && text.lines().count() > 1 && text.lines().all(is_field)
}

/// Whether a heading is that of a box of remarks.
fn is_of_box(heading: &str) -> bool {
    const BOXES: [&str; 6] = ["caution", "important", "note", "notes", "tip", "warning"];
    BOXES.contains(&heading.trim_end_matches([':', ' ']).to_lowercase().as_str())
}

/// Whether the check of an answer finds nothing in a lead-in but what its source holds: an odd title may read otherwise
/// beside others.
fn states_nothing_else(lead_in: &str, read: &ReadSource<'_>) -> bool {
    let context: Vec<&str> =
        std::iter::once(read.source.title).chain(read.source.heading.iter().map(String::as_str)).collect();
    let source = PreparedSource::with_context(read.source.text, &context.join(" "));
    let draft = Draft::read(lead_in, &Basis::new(vec![source], ""), Attribution::Best);
    findings(&draft, Level::Cited).errors.is_empty()
}

/// The quoted words of an excerpt.
struct Quoted {
    text: String,
    /// The number of its source in markers.
    number: usize,
    is_cited: bool,
    /// The kind of the last unit.
    last: Option<UnitKind>,
}

impl Quoted {
    fn unit(&mut self, read: &ReadSource<'_>, unit: &Unit) {
        let text = read.source.text;
        let written = match unit.kind {
            UnitKind::Heading => None,
            UnitKind::Code => code(text.get(unit.range.clone()).unwrap_or_default()),
            UnitKind::Row => {
                let row = text.get(unit.range.clone()).unwrap_or_default();
                let line = read.header_of(unit).map_or_else(|| row.to_owned(), |header| labelled(header, row));
                self.marked_line(&[&line]).map(|line| format!("- {line}"))
            }
            UnitKind::Paragraph => {
                let lines: Vec<String> =
                    lines_of(text, &unit.sentences).iter().filter_map(|line| self.marked_line(line)).collect();
                (!lines.is_empty()).then(|| lines.join(LINE_BREAK))
            }
            UnitKind::Item => {
                let words: Vec<&str> = unit.sentences.iter().filter_map(|words| text.get(words.clone())).collect();
                self.marked_line(&words).map(|line| format!("{} {line}", list_mark(&unit.mark)))
            }
        };
        let Some(written) = written else { return };
        if self.last.is_some() {
            // Members of one list stand line by line; anything else is a paragraph of its own.
            let is_in_list = self.last == Some(unit.kind) && unit.is_member();
            self.text.push_str(if is_in_list { "\n" } else { "\n\n" });
        }
        self.text.push_str(&written);
        self.last = Some(unit.kind);
    }

    /// The sentences that can be quoted on one line, each with its marker.
    fn marked_line(&mut self, sentences: &[&str]) -> Option<String> {
        let quoted = sentences.iter().filter_map(|words| Some(marked(&plain_line(words)?, self.number)));
        let line = quoted.collect::<Vec<_>>().join(" ");
        self.is_cited |= !line.is_empty();
        (!line.is_empty()).then_some(line)
    }
}

/// The bullet or number before an item, as Markdown knows it.
fn list_mark(mark: &str) -> &str {
    let is_number =
        mark.strip_suffix(['.', ')']).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_number { mark } else { "-" }
}
