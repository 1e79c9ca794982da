//! First step: selects the sentences worth ranking, by their words alone.

use std::ops::Range;

use super::AnswerSource;
use super::quote::quotable;
use super::row::labelled;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::evidence::{Question, TermMask};
use crate::markdown::BlockKind;

/// Most candidates: embedding them is the costly part of an extractive answer.
pub const MAX_CANDIDATES: usize = 32;

/// Credit for question terms in the title or in the sentence before: they name the subject that the sentence continues.
const SUBJECT_CREDIT: f32 = 0.5;

/// Longest sentence, in bytes, that is brought as context.
const LONGEST_CONTEXT: usize = 400;

/// Words that point back when a sentence starts with them.
const POINTING_BACK: [&str; 24] = [
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
];

/// A sentence that may be quoted.
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceCandidate {
    pub(super) source: usize,
    pub(super) range: Range<usize>,
    pub(super) text: String,
    /// Share of the question's idf mass in it, with what it is credited for.
    pub(super) lexical: f32,
    /// Share of neighbouring question terms that are also neighbours in this sentence.
    pub(super) pairs: f32,
    pub(super) mask: TermMask,
    pub(super) holds_kind: bool,
    /// How well it fits the kind of thing asked for, 0 to 1.
    pub(super) fit: f32,
    pub(super) probability: f32,
    /// The sentence before, when this one begins with a word that points back at it.
    pub(super) context: Option<(Range<usize>, String)>,
    /// Whether it is a row of a table.
    pub(super) is_row: bool,
    /// Sequential number of the sentence within its source, to detect neighbours.
    pub(super) place: usize,
}

impl SentenceCandidate {
    /// The sentence as it would be quoted; the caller embeds this text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
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
        for (place, sentence) in evidence.sentences.iter().enumerate() {
            let candidate = candidate(question, source, evidence, before, sentence);
            if let Some(mut candidate) = candidate {
                candidate.source = index;
                candidate.place = place;
                candidate.context = context(source, before, sentence);
                found.push(candidate);
            }
            before = Some(sentence);
        }
    }
    // Sorting is stable: of equals the one from the better source, and the earlier one, comes first.
    found.sort_by(|one, two| prior(two).total_cmp(&prior(one)));
    found.truncate(MAX_CANDIDATES);
    found
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
    before: Option<&SentenceEvidence>,
    sentence: &SentenceEvidence,
) -> Option<SentenceCandidate> {
    let can_state = matches!(sentence.kind, BlockKind::Paragraph | BlockKind::TableRow);
    let words = source.text.get(sentence.range.clone())?;
    if !can_state || words.trim_end().ends_with('?') {
        return None;
    }
    let row = header_of(source, evidence, sentence).map(|header| labelled(header, words));
    let text = row.and_then(|row| quotable(&row)).or_else(|| quotable(words))?;
    let subject = (evidence.title_mask | before.map_or(0, |before| before.mask)) & !sentence.mask;
    let holds_kind = question.kind.is_held_by(&question.text, &text);
    Some(SentenceCandidate {
        source: 0,
        range: sentence.range.clone(),
        lexical: question.terms.share(sentence.mask) + SUBJECT_CREDIT * question.terms.share(subject),
        pairs: question.terms.pair_share(sentence.pairs),
        mask: sentence.mask,
        holds_kind,
        fit: if holds_kind { question.kind.fit(&question.text, &text) } else { 0.0 },
        text,
        probability: source.probability,
        context: None,
        is_row: sentence.kind == BlockKind::TableRow,
        place: 0,
    })
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

/// The sentence before, if `sentence` points back at it and it can stand in an answer.
fn context(
    source: &AnswerSource<'_>,
    before: Option<&SentenceEvidence>,
    sentence: &SentenceEvidence,
) -> Option<(Range<usize>, String)> {
    let before = before.filter(|before| before.block == sentence.block && before.range.len() <= LONGEST_CONTEXT)?;
    let words = source.text.get(sentence.range.clone())?;
    let first = words.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty())?.to_lowercase();
    if !POINTING_BACK.contains(&first.as_str()) {
        return None;
    }
    let text = quotable(source.text.get(before.range.clone())?)?;
    Some((before.range.clone(), text))
}
