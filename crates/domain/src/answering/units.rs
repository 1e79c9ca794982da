//! A source as the units that a passage is made of: paragraphs, items of lists, rows of tables, code.

use std::ops::Range;

use super::AnswerSource;
use super::candidate::{below_heading, is_cut};
use super::fragment::is_fragment;
use super::section::is_own_heading;
use crate::entry_label::is_field;
use crate::evidence::TermMask;
use crate::evidence::passage::PassageEvidence;
use crate::markdown::BlockKind;
use crate::sentence::{Sentence, sentences};

/// Kinds of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitKind {
    Heading,
    Paragraph,
    /// An item of a list.
    Item,
    Code,
    /// A row of a table.
    Row,
}

/// A block of a source that is quoted as a whole.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    pub(super) kind: UnitKind,
    /// Bytes in the source, with the markup before its words.
    pub(super) range: Range<usize>,
    /// Bytes of the words of its sentences.
    pub(super) sentences: Vec<Range<usize>>,
    /// The bullet or number before its words.
    pub(super) mark: String,
    /// Question terms in it.
    pub(super) mask: TermMask,
    /// Bytes of the header above it, if it is a row.
    pub(super) header: Option<Range<usize>>,
}

impl Unit {
    /// Whether it ends with a colon, or its last sentence announces what follows: that belongs to it.
    pub(super) fn leads_on(&self, text: &str) -> bool {
        let words = text.get(self.range.clone()).unwrap_or_default().trim_end();
        let last = || self.sentences.last().and_then(|last| text.get(last.clone()));
        self.kind == UnitKind::Paragraph && (words.ends_with([':', '：']) || last().is_some_and(announces))
    }

    /// Whether it is more than a title or a label.
    pub(super) fn says_something(&self, text: &str) -> bool {
        let words = text.get(self.range.clone()).unwrap_or_default().trim();
        match self.kind {
            UnitKind::Heading | UnitKind::Code => false,
            UnitKind::Item | UnitKind::Row => true,
            UnitKind::Paragraph => !is_fragment(words) || self.leads_on(text),
        }
    }

    /// Whether it is a paragraph that begins with what it is about, as an entry of a list does: "36: Bad download resume."
    pub(super) fn is_labelled(&self, text: &str) -> bool {
        let words = text.get(self.range.clone()).unwrap_or_default();
        let label = words.split_once(": ").map(|(label, _)| label).filter(|label| label.len() <= LONGEST_LABEL);
        self.kind == UnitKind::Paragraph
            && label.is_some_and(|label| {
                !label.contains([',', '.', '\n']) && !announces(label) && !is_field(label.trim_matches('*'))
            })
    }

    /// Whether it is a part of a list, a table or a listing, which is never quoted in part.
    pub(super) const fn is_member(&self) -> bool {
        matches!(self.kind, UnitKind::Item | UnitKind::Row)
    }
}

/// Longest label at the beginning of an entry, in bytes.
const LONGEST_LABEL: usize = 40;

/// Words of a sentence that announces a list.
const ANNOUNCING: [&str; 2] = ["following", "follows"];

/// Whether a text announces what comes after it: "The following is a summary of the commands."
pub(super) fn announces(text: &str) -> bool {
    let mut words = text.split(|sign: char| !sign.is_alphanumeric());
    words.any(|word| ANNOUNCING.iter().any(|announcing| word.eq_ignore_ascii_case(announcing)))
}

/// The units of a source in order; rules and headers of tables are none.
pub(super) fn units(source: &AnswerSource<'_>, evidence: &PassageEvidence) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut block = None;
    for sentence in sentences(source.text) {
        let words = sentence.words();
        if !sentence.has_words || is_cut(source, words.start) {
            continue;
        }
        let below = below_heading(source, words.clone());
        if below != words && sentence.kind == BlockKind::Paragraph {
            // The heading of plain text, on the line before.
            let heading = words.start..below.start;
            units.push(Unit {
                kind: UnitKind::Heading,
                range: heading.clone(),
                sentences: vec![heading],
                mark: String::new(),
                mask: 0,
                header: None,
            });
        }
        let known = evidence.sentences.iter().find(|known| known.range.start == words.start);
        let in_code =
            || evidence.code.iter().find(|(range, _)| range.start == words.start).map_or(0, |(_, mask)| *mask);
        let mask = known.map_or_else(in_code, |known| known.mask);
        let is_same_block = block.replace(sentence.block) == Some(sentence.block);
        let is_heading = sentence.kind == BlockKind::Paragraph
            && source.text.get(words.clone()).is_some_and(|words| is_own_heading(source, words));
        if let Some(unit) = units.last_mut().filter(|unit| is_same_block && unit.kind != UnitKind::Heading) {
            unit.range.end = sentence.range.end;
            unit.sentences.push(below);
            unit.mask |= mask;
        } else if let Some((kind, mark)) = kind_of(source.text, &sentence) {
            units.push(Unit {
                kind: if is_heading { UnitKind::Heading } else { kind },
                range: if below == words { sentence.range.clone() } else { below.start..sentence.range.end },
                sentences: vec![below],
                mark,
                mask,
                header: known.and_then(|known| known.header.clone()),
            });
        } else {
            block = None;
        }
    }
    units
}

/// The kind of the unit that begins with a sentence, and the mark before its words.
fn kind_of(text: &str, sentence: &Sentence) -> Option<(UnitKind, String)> {
    let lead = text.get(sentence.range.start..sentence.content).unwrap_or_default();
    let mark = lead.trim().trim_start_matches(['>', ' ', '\t']);
    match sentence.kind {
        BlockKind::Heading => Some((UnitKind::Heading, String::new())),
        BlockKind::Paragraph if mark.is_empty() => Some((UnitKind::Paragraph, String::new())),
        BlockKind::Paragraph => Some((UnitKind::Item, mark.to_owned())),
        BlockKind::Code => Some((UnitKind::Code, String::new())),
        BlockKind::TableRow => Some((UnitKind::Row, String::new())),
        BlockKind::TableHeader | BlockKind::Rule => None,
    }
}

/// The sections of a source: from each heading up to the next one.
pub(super) fn sections(units: &[Unit]) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = vec![0];
    // A heading right below another one opens no section of its own: the first would be empty.
    let is_heading = |at: usize| units.get(at).is_some_and(|unit| unit.kind == UnitKind::Heading);
    starts.extend((1..units.len()).filter(|at| is_heading(*at) && !is_heading(at - 1)));
    let ends = starts.iter().skip(1).copied().chain([units.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).filter(|section| !section.is_empty()).collect()
}
