//! The sentences of a passage and the question terms in each.

use std::ops::Range;

use super::{QuestionTerms, TermMask};
use crate::lexical::analyzer::Analyzer;
use crate::markdown::{BlockKind, PlacedGroups, RowOfGroup};
use crate::sentence::{Sentence, sentences};
use crate::wording::answers_yes_or_no;

/// Terms that may lie between two neighbours of the question for them to count as neighbours in a
/// sentence too.
const NEAR: usize = 3;

/// A sentence of a passage and the question terms it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceEvidence {
    /// Bytes of its words in the passage, without bullets, quote marks and heading signs.
    pub range: Range<usize>,
    /// Number of its block in the passage: sentences of one paragraph share it.
    pub block: usize,
    /// The kind of its block.
    pub kind: BlockKind,
    /// Bytes of the header above it in the passage, if it is a row of a table.
    pub header: Option<Range<usize>>,
    /// Bytes of the row that names its group, if it is a row of a table in which rows do: "Americas:".
    pub group: Option<Range<usize>>,
    /// Question terms in it, in the header above it, or in the name of its group.
    pub mask: TermMask,
    /// Its length in terms.
    pub length: usize,
    /// Neighbouring pairs of question terms that are near each other here, as bits of the first.
    pub pairs: TermMask,
}

/// A passage and the question terms it holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PassageEvidence {
    /// Question terms in the title of its document or in the headings above it.
    pub title_mask: TermMask,
    /// Question terms in its text.
    pub text_mask: TermMask,
    /// Its sentences in order, headings and table rows included, code and rules left out.
    pub sentences: Vec<SentenceEvidence>,
    /// Bytes of its blocks of code in order, each with the question terms in it.
    pub code: Vec<(Range<usize>, TermMask)>,
}

impl PassageEvidence {
    /// Looks for the question's terms in `title` (with the heading path, if any) and `text`.
    #[must_use]
    pub fn new(analyzer: &Analyzer, question: &QuestionTerms, title: &str, text: &str) -> Self {
        let title_mask = question.mask_of(analyzer, title) | question.resembled_in(title);
        let mut evidence = Self { title_mask, ..Self::default() };
        let groups = PlacedGroups::of(text);
        let mut table = TableAbove::default();
        for sentence in sentences(text).into_iter().filter(|sentence| sentence.has_words) {
            let range = sentence.words();
            let words = text.get(range.clone()).unwrap_or_default();
            let found = scan(analyzer, question, words);
            let mask = found.mask()
                | question.resembled_in(words)
                | question.in_ranges_of(words)
                | question.in_months_of(words)
                | question.in_currencies_of(words)
                | question.in_numbered_of(words)
                | columns_meant(question, sentence.kind, words);
            evidence.text_mask |= mask;
            table.read(text, &groups, &sentence, mask);
            if sentence.kind == BlockKind::Code {
                evidence.code.push((range.clone(), mask));
            }
            // "No, not any more." has no term and says all.
            let says_something = found.length > 0 || answers_yes_or_no(words);
            if matches!(sentence.kind, BlockKind::Code | BlockKind::Rule) || !says_something {
                continue;
            }
            evidence.sentences.push(SentenceEvidence {
                range,
                block: sentence.block,
                kind: sentence.kind,
                header: table.header.clone(),
                group: table.group.clone().filter(|_| sentence.kind == BlockKind::TableRow),
                mask: mask | table.mask | table.group_mask,
                length: found.length,
                pairs: found.pairs(question),
            });
        }
        evidence
    }

    /// Question terms in title or text.
    #[must_use]
    pub const fn mask(&self) -> TermMask {
        self.title_mask | self.text_mask
    }

    /// The sentence that covers most of the question's mass, the first of equals.
    #[must_use]
    pub fn best_sentence(&self, question: &QuestionTerms) -> Option<&SentenceEvidence> {
        let mut best: Option<(f32, &SentenceEvidence)> = None;
        for sentence in &self.sentences {
            let weight = question.weight_of(sentence.mask);
            if best.is_none_or(|(highest, _)| weight > highest) {
                best = Some((weight, sentence));
            }
        }
        best.map(|(_, sentence)| sentence)
    }
}

/// The header of the table that is being read.
#[derive(Debug, Default)]
struct TableAbove {
    header: Option<Range<usize>>,
    /// Question terms in it.
    mask: TermMask,
    /// The last row that names those below it, and the question terms in it.
    group: Option<Range<usize>>,
    group_mask: TermMask,
    /// Whether the last row is of the header.
    is_under_way: bool,
    /// Where the last sentence ends.
    end: usize,
}

impl TableAbove {
    /// Takes note of the next sentence of a text, whose own question terms are in `mask`.
    fn read(&mut self, text: &str, groups: &PlacedGroups<'_>, sentence: &Sentence, mask: TermMask) {
        if is_apart(text, self.end, sentence.range.start) {
            *self = Self::default();
        }
        self.end = sentence.range.end;
        match sentence.kind {
            BlockKind::TableHeader if self.is_under_way => {
                self.mask |= mask;
                if let Some(header) = &mut self.header {
                    header.end = sentence.range.end;
                }
            }
            BlockKind::TableHeader => {
                *self =
                    Self { header: Some(sentence.words()), mask, is_under_way: true, end: self.end, ..Self::default() };
            }
            BlockKind::TableRow => {
                self.is_under_way = false;
                let words = text.get(sentence.words()).unwrap_or_default();
                match RowOfGroup::of(words, groups) {
                    RowOfGroup::Name => (self.group, self.group_mask) = (Some(sentence.words()), mask),
                    RowOfGroup::Sum => (self.group, self.group_mask) = (None, 0),
                    RowOfGroup::Member => {}
                }
            }
            BlockKind::Rule => {}
            BlockKind::Paragraph | BlockKind::Heading | BlockKind::Code => {
                *self = Self { end: self.end, ..Self::default() }
            }
        }
    }
}

/// Question terms that mean a column of the table that a sentence of this kind is of.
fn columns_meant(question: &QuestionTerms, kind: BlockKind, words: &str) -> TermMask {
    match kind {
        BlockKind::TableHeader => question.in_columns_of(words, true),
        BlockKind::TableRow => question.in_columns_of(words, false),
        _ => 0,
    }
}

/// Whether a blank line stands between two places of a text: rows beyond it are of another table.
pub(crate) fn is_apart(text: &str, end: usize, start: usize) -> bool {
    text.get(end..start).is_some_and(|gap| gap.matches('\n').count() > 1)
}

/// Where question terms stand in a text.
struct Found {
    /// Place among the text's terms, position among the question's.
    places: Vec<(usize, usize)>,
    /// Terms of the text.
    length: usize,
}

fn scan(analyzer: &Analyzer, question: &QuestionTerms, text: &str) -> Found {
    let mut found = Found { places: Vec::new(), length: 0 };
    analyzer.for_each_term_or_other(question.openings(), text, |stem| {
        if let Some(stem) = stem {
            found.places.extend(question.positions(stem).map(|position| (found.length, position)));
        }
        found.length += 1;
    });
    found
}

impl Found {
    fn mask(&self) -> TermMask {
        self.places.iter().fold(0, |mask, (_, position)| mask | 1 << position)
    }

    fn pairs(&self, question: &QuestionTerms) -> TermMask {
        let mut pairs = 0;
        let last = question.terms().len().saturating_sub(1);
        for (index, (place, position)) in self.places.iter().enumerate() {
            let is_near =
                |(other, neighbour): &&(usize, usize)| *neighbour == position + 1 && other.abs_diff(*place) <= NEAR;
            // Places ascend, so only those close by can be near.
            let mut around = self.places.iter().skip(index.saturating_sub(NEAR)).take(2 * NEAR + 1);
            if *position < last && around.any(|other| is_near(&other)) {
                pairs |= 1 << position;
            }
        }
        pairs
    }
}
