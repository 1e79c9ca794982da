//! First step: selects the sentences worth ranking, by their words alone.

use std::ops::Range;

use super::AnswerSource;
use super::entry::Entry;
use super::form::{bonus, is_code, is_fragment, tells_default};
use super::quote::{plain_line, quotable};
use super::row::labelled;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::evidence::{Question, QuestionTerms, TermMask};
use crate::markdown::{BlockKind, cells};
use crate::wording::lower_case_words;

/// Most candidates: embedding them is the costly part of an extractive answer.
pub const MAX_CANDIDATES: usize = 32;

/// Credit for question terms in the title or in the sentence before: they name the subject that the sentence continues.
const SUBJECT_CREDIT: f32 = 0.5;

/// Longest sentence, in bytes, that is brought as context.
const LONGEST_CONTEXT: usize = 400;

/// Share of the question's weight in the name of an entry from which the question is for that entry.
const NAMED_ENTRY: f32 = 0.5;

/// Words of a title that name nothing.
const TITLE_FILLERS: [&str; 8] = ["a", "an", "and", "for", "in", "of", "on", "the"];

/// Words that point back when a sentence starts with them.
const POINTING_BACK: [&str; 26] = [
    "he",
    "she",
    "it",
    "they",
    "this",
    "that",
    "these",
    "those",
    "his",
    "her",
    "its",
    "their",
    "him",
    "them",
    "such",
    "both",
    "however",
    "therefore",
    "thus",
    "hence",
    "instead",
    "otherwise",
    "consequently",
    "moreover",
    "default",
    "defaults",
];

/// Openings of a sentence about what the one before leaves out.
const IF_LEFT_OUT: [&str; 4] = ["if omitted", "if unset", "if not set", "if not given"];

/// A sentence that may be quoted.
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceCandidate {
    pub(super) source: usize,
    pub(super) range: Range<usize>,
    pub(super) text: String,
    /// The title of its document and the sentence, which is what is embedded.
    embedded: String,
    /// Share of the question's idf mass in it, with what it is credited for.
    pub(super) lexical: f32,
    /// Share in the titles above it and in the sentence before it that it does not hold itself.
    pub(super) subject: f32,
    /// Share in the sentence before it, and in the one after it without what it holds itself.
    pub(super) beside: f32,
    /// Share of neighbouring question terms that are also neighbours in this sentence.
    pub(super) pairs: f32,
    pub(super) mask: TermMask,
    pub(super) holds_kind: bool,
    /// How well it fits the kind of thing asked for, 0 to 1.
    pub(super) fit: f32,
    pub(super) probability: f32,
    /// The sentence before, or the first one of its entry, when this one begins with words that point back at it.
    pub(super) context: Option<(Range<usize>, String)>,
    /// Share of the question's weight in the name of the entry that it opens.
    pub(super) opens: f32,
    /// Bonus for having the form that the question asks for.
    pub(super) bonus: f32,
    /// Whether it says nothing by itself.
    pub(super) is_fragment: bool,
    /// Whether it is a row of a table.
    pub(super) is_row: bool,
    /// Share of the question's weight in the first cell of a row, which mostly names what the row is about.
    pub(super) named: f32,
    /// Share of the title of its document that the question holds.
    pub(super) about: f32,
    /// How nearly the heading above it is the question, 0 to 1.
    pub(super) headed: f32,
    /// Terms of the innermost heading above it.
    pub(super) heading: TermMask,
    /// Question terms in it, in the titles above it, in the sentence before it, and in the first one of its entry.
    pub(super) held: TermMask,
    /// Sequential number of the sentence within its source, to detect neighbours.
    pub(super) place: usize,
}

impl SentenceCandidate {
    /// The sentence as it would be quoted.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text to be embedded: a sentence seldom names the subject of its document.
    #[must_use]
    pub fn embedded(&self) -> &str {
        &self.embedded
    }

    /// Whether it says nothing by itself, so that it is not quoted.
    #[must_use]
    pub const fn is_fragment(&self) -> bool {
        self.is_fragment
    }

    /// Begins the quotation with the line of its entry, unless that is a heading.
    fn begin_with(&mut self, source: &AnswerSource<'_>, entry: &Entry, terms: &QuestionTerms) {
        let range = below_heading(source, entry.range.start..self.range.end);
        let text = source.text.get(range.clone()).and_then(quotable);
        if let Some(text) = text.filter(|_| range.start == entry.range.start) {
            self.embedded = embedded(source, &text);
            (self.text, self.range) = (text, range);
            self.mask |= entry.mask;
            self.subject = terms.share(self.held & !self.mask);
            self.lexical = lexical(terms, self.mask, self.subject);
        }
    }

    /// Place of its source in the list, from 0.
    #[must_use]
    pub const fn source(&self) -> usize {
        self.source
    }
}

/// The sentences of `sources` that share most with the question, at most [`MAX_CANDIDATES`], best
/// first. `evidence` runs parallel to `sources` and is made of the same texts.
#[must_use]
pub fn candidates(
    question: &Question,
    sources: &[AnswerSource<'_>],
    evidence: &[PassageEvidence],
) -> Vec<SentenceCandidate> {
    let mut found = Vec::new();
    for (index, (source, evidence)) in sources.iter().zip(evidence).enumerate() {
        let mut before: Option<&SentenceEvidence> = None;
        let mut entry: Option<Entry> = None;
        for (place, sentence) in evidence.sentences.iter().enumerate() {
            if before.is_none_or(|before| before.block != sentence.block) {
                entry = Entry::begun_by(source.text, sentence);
            }
            let above = Above { before, entry: entry.as_ref().filter(|entry| entry.range.end <= sentence.range.start) };
            let candidate = candidate(question, source, evidence, above, sentence);
            if let Some(mut candidate) = candidate {
                candidate.source = index;
                candidate.place = place;
                candidate.beside = question.terms.share(beside(evidence, place));
                candidate.context = context(source, above, sentence);
                if let Some(entry) = entry.as_ref().filter(|entry| entry.is_opened_by(source.text, sentence)) {
                    let named = question.terms.share(words_in(question, entry.name(source.text)));
                    // A default stands elsewhere in its entry.
                    if named >= NAMED_ENTRY && !tells_default(&question.text) {
                        candidate.opens = named;
                        candidate.begin_with(source, entry, &question.terms);
                    }
                }
                found.push(candidate);
            }
            if let Some(entry) = entry.as_mut().filter(|entry| entry.is_bare(source.text)) {
                entry.range.end = sentence.range.end;
            }
            before = Some(sentence);
        }
    }
    // Sorting is stable: of equals the one from the better source, and the earlier one, comes first.
    found.sort_by(|one, two| prior(two).total_cmp(&prior(one)));
    found.truncate(MAX_CANDIDATES);
    found
}

/// Question terms in the sentence before one, and those in the one after it that it does not hold itself.
fn beside(evidence: &PassageEvidence, place: usize) -> TermMask {
    let mask = |place: Option<usize>| place.and_then(|place| evidence.sentences.get(place)).map_or(0, |held| held.mask);
    mask(place.checked_sub(1)) | mask(place.checked_add(1)) & !mask(Some(place))
}

/// The text above a sentence that tells what it is about.
#[derive(Clone, Copy)]
struct Above<'e> {
    /// The sentence before.
    before: Option<&'e SentenceEvidence>,
    /// The entry that it is a part of.
    entry: Option<&'e Entry>,
}

impl Above<'_> {
    /// Question terms in it.
    fn mask(self) -> TermMask {
        self.before.map_or(0, |before| before.mask) | self.entry.map_or(0, |entry| entry.mask)
    }
}

/// Lexical score plus a small share of the source's own probability, so that a good passage contributes sentences even
/// if they share no word with the question.
fn prior(candidate: &SentenceCandidate) -> f32 {
    candidate.lexical + 0.2 * candidate.probability
}

fn candidate(
    question: &Question,
    source: &AnswerSource<'_>,
    evidence: &PassageEvidence,
    above: Above<'_>,
    sentence: &SentenceEvidence,
) -> Option<SentenceCandidate> {
    let can_state = matches!(sentence.kind, BlockKind::Paragraph | BlockKind::TableRow);
    let range = below_heading(source, sentence.range.clone());
    let words = source.text.get(range.clone())?;
    if !can_state || words.trim_end().ends_with('?') {
        return None;
    }
    let row = header_of(source, evidence, sentence).map(|header| labelled(header, words));
    let text = row.and_then(|row| quotable(&row)).or_else(|| quotable(words))?;
    let held = sentence.mask | evidence.title_mask | above.mask();
    let subject = question.terms.share(held & !sentence.mask);
    let heading = source.heading.last().map_or("", String::as_str);
    let in_heading = words_in(question, heading);
    let holds_kind = question.kind.is_held_by(&question.text, &text);
    let is_row = sentence.kind == BlockKind::TableRow;
    Some(SentenceCandidate {
        bonus: bonus(question, &text),
        about: about(&question.text, source.title),
        headed: about(&question.text, heading).min(question.terms.share(in_heading)),
        heading: in_heading,
        held,
        is_fragment: !is_row && (is_cut(source, sentence.range.start) || is_fragment(&text) || is_code(&text)),
        named: if is_row { named(question, words) } else { 0.0 },
        source: 0,
        range,
        lexical: lexical(&question.terms, sentence.mask, subject),
        subject,
        beside: 0.0,
        opens: 0.0,
        embedded: embedded(source, &text),
        pairs: question.terms.pair_share(sentence.pairs),
        mask: sentence.mask,
        holds_kind,
        fit: if holds_kind { question.kind.fit(&question.text, &text) } else { 0.0 },
        text,
        probability: source.probability,
        context: None,
        is_row,
        place: 0,
    })
}

/// Share of the question's weight in a sentence, with the credit for what names its subject.
fn lexical(terms: &QuestionTerms, mask: TermMask, subject: f32) -> f32 {
    terms.share(mask) + SUBJECT_CREDIT * subject
}

/// A sentence after the title of its document.
fn embedded(source: &AnswerSource<'_>, text: &str) -> String {
    if source.title.is_empty() { text.to_owned() } else { format!("{}: {text}", source.title) }
}

/// Whether the sentence at a byte is the rest of one that begins before the passage.
pub(super) fn is_cut(source: &AnswerSource<'_>, start: usize) -> bool {
    let before = source.text.get(..start).unwrap_or_default();
    let begins_small = source.text.get(start..).is_some_and(|words| words.starts_with(char::is_lowercase));
    let has_capitals = || source.text.chars().any(char::is_uppercase);
    source.key.ordinal > 0 && before.trim().is_empty() && begins_small && has_capitals()
}

/// A sentence without the heading of plain text that stands on the line before it: one of the headings above the source,
/// or a line in capitals over indented text.
pub(super) fn below_heading(source: &AnswerSource<'_>, range: Range<usize>) -> Range<usize> {
    let words = source.text.get(range.clone()).unwrap_or_default();
    let Some((line, rest)) = words.split_once('\n') else { return range };
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_in_capitals = rest.starts_with([' ', '\t']) && line.chars().all(|sign| sign.is_uppercase() || sign == ' ');
    if is_in_capitals || source.heading.contains(&line) {
        range.end - rest.trim_start().len()..range.end
    } else {
        range
    }
}

/// Share of the words of a title that a question holds: of "tar(1)", and of "tar - The GNU Manual", those before the
/// name of the book. A document whose whole title is in the question is about what it asks.
pub(super) fn about(question: &str, title: &str) -> f32 {
    let singular = |word: String| word.trim_end_matches('s').to_owned();
    let asked: Vec<String> = lower_case_words(question).map(singular).collect();
    let named = [" - ", " – ", " | "].iter().fold(title, |title, sign| title.split(sign).next().unwrap_or(title));
    let is_name = |word: &String| word.chars().any(char::is_alphabetic) && !TITLE_FILLERS.contains(&word.as_str());
    let words: Vec<String> = lower_case_words(named).filter(is_name).map(singular).collect();
    let held = words.iter().filter(|word| asked.contains(word)).count();
    #[expect(clippy::cast_precision_loss, reason = "titles are short")]
    let share = held as f32 / words.len().max(1) as f32;
    share
}

/// Share of the question's weight in the first cell of a row.
fn named(question: &Question, row: &str) -> f32 {
    let name = cells(row).map(|(_, cell)| cell).find(|cell| !cell.is_empty()).unwrap_or_default();
    question.terms.share(words_in(question, name))
}

/// The question's terms that a text holds word for word.
fn words_in(question: &Question, text: &str) -> TermMask {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|sign: char| !sign.is_alphanumeric()).collect();
    let terms = question.terms.terms().iter().enumerate();
    // A term may be several words: "server.close".
    let held = terms.filter(|(_, term)| lower_case_words(&term.word).all(|word| words.contains(&word.as_str())));
    held.fold(0, |mask, (position, _)| mask | 1 << position)
}

/// The header above a row of a table: one in the source's text, or the one that stands before the source.
fn header_of<'s>(
    source: &AnswerSource<'s>,
    evidence: &PassageEvidence,
    sentence: &SentenceEvidence,
) -> Option<&'s str> {
    if sentence.kind != BlockKind::TableRow {
        return None;
    }
    let is_first_table = || evidence.sentences.iter().take_while(|other| other.range.start <= sentence.range.start);
    match &sentence.header {
        Some(header) => source.text.get(header.clone()),
        None if is_first_table().all(|other| other.kind == BlockKind::TableRow) => source.table_header,
        None => None,
    }
}

/// Whether a sentence begins with yes or no.
fn answers_yes_or_no(sentence: &str) -> bool {
    lower_case_words(sentence).next().is_some_and(|word| word == "yes" || word == "no")
}

/// The beginning of the entry or the sentence before, if `sentence` points back and it can stand in an answer.
fn context(source: &AnswerSource<'_>, above: Above<'_>, sentence: &SentenceEvidence) -> Option<(Range<usize>, String)> {
    let words = source.text.get(sentence.range.clone())?;
    let first = words.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty())?.to_lowercase();
    let opens = |opening: &&str| words.get(..opening.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(opening));
    if !POINTING_BACK.contains(&first.as_str()) && !IF_LEFT_OUT.iter().any(opens) {
        return None;
    }
    let before = above.before.filter(|before| before.block == sentence.block).map(|before| &before.range);
    let said = above.entry.map(|entry| &entry.range).or(before).filter(|said| said.len() <= LONGEST_CONTEXT)?;
    let words = source.text.get(said.clone())?;
    // "Yes." is short and says all.
    let text = quotable(words).or_else(|| plain_line(words).filter(|_| answers_yes_or_no(words)));
    Some((said.clone(), text.filter(|text| !is_fragment(text))?))
}
