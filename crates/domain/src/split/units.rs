//! The smallest parts that pieces are made of, each with its tokens and the cut before it.
//!
//! A unit is a sentence; one that is long for the budget is split into phrases, and phrases that are still too long (a
//! data block, a text without spaces under a tiny budget) into slices, graphemes and finally characters. Each stage
//! counts its part of the text once.

use std::{ops::Range, sync::Arc};

use unicode_segmentation::UnicodeSegmentation;

use super::tables::{Place, Row, Tables};
use super::{Outline, SplitSource, TokenCounter, costs::Limits};
use crate::entry_label::{entry_label, is_field};
use crate::markdown::cells;
use crate::wording::start_of_line;

/// The quality of a position for a cut, from worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cut {
    /// Inside a word.
    Character,
    /// Between words, at a line end in mid-sentence, or between what introduces a text and the text: a heading, a line
    /// that ends in a colon, the name above an indented definition.
    Word,
    /// Between two cells of a row. Only a row that is longer than a piece is cut.
    Cell,
    Sentence,
    Line,
    Paragraph,
    /// Before the name of an entry in a list of options, settings or fields.
    Entry,
}

/// A part of the text without white space at its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) bytes: Range<usize>,
    /// Tokens, or a sixteenth of the characters if that is more; at least 1.
    pub(super) cost: usize,
    /// The cut that a piece which begins here makes.
    pub(super) cut: Cut,
    /// The row of a table or the block of code that it is a part of; shared, since there may be a million units.
    pub(super) whole: Option<Arc<Range<usize>>>,
}

/// A piece has at most this many characters per token of its budget. Tokenizers give a single
/// "unknown" token to a long word and none to control characters, so that a piece without this
/// bound could be a megabyte of base64. Running text has four to five characters per token.
const MAX_CHARACTERS_PER_TOKEN: usize = 16;

/// Phrases are cut at white space once they have this many bytes, elsewhere at twice as many.
const PHRASE_BYTES: usize = 32;

/// Graphemes in a slice of something without words.
const SLICE_GRAPHEMES: usize = 32;

/// Takes `text` apart into units that fit the `smallest` budget several times over.
pub(super) fn units_of(
    source: &SplitSource<'_>,
    tables: &Tables,
    smallest: Limits,
    counter: &dyn TokenCounter,
) -> Vec<Unit> {
    let text = source.text;
    // An eighth fills budgets and overlaps well; under eight tokens, sentences would be lost to it.
    let part_of = |budget: usize, least: usize| (budget / 8).max(budget.min(least));
    let largest_cost = part_of(smallest.tokens, 8);
    let most_characters = smallest.characters.map_or(usize::MAX, |characters| part_of(characters, 32));
    let mut builder = Builder {
        text,
        outline: source.outline,
        counter,
        largest_cost,
        most_characters,
        gap_start: 0,
        whole: None,
        units: Vec::with_capacity(text.len() / 64),
    };
    builder.text(tables, source.outline.unread());
    if builder.units.is_empty() {
        // A text of nothing but links is still one.
        builder.text(tables, &[]);
    }
    builder.units
}

/// Ranks the cut at `start`, given the white space `gap` between it and the sentence before.
fn cut_before(text: &str, gap_start: usize, gap: &str, start: usize, outline: &Outline) -> Cut {
    if let Some(heading) = outline.heading_lines_at(start) {
        if heading.start >= gap_start {
            return Cut::Paragraph;
        }
        // The first sentence after a heading's lines is not to be separated from it.
        if gap_start <= heading.end {
            return Cut::Word;
        }
    }
    let line_ends = line_ends(gap);
    if outline.is_source() && line_ends > 0 {
        // Text that closes a block belongs to the block.
        let closes = text.get(start..).is_some_and(|rest| rest.starts_with(['}', ')', ']']));
        return if closes {
            Cut::Word
        } else if line_ends == 1 {
            Cut::Line
        } else {
            Cut::Paragraph
        };
    }
    let code = outline.code_at(start);
    match line_ends {
        0 => Cut::Sentence,
        _ if code.is_some_and(|code| is_at_fence(text, code, gap_start, start)) => Cut::Word,
        1 if is_wrapped(text, gap_start, start) || is_hanging(text, gap_start, start) => Cut::Word,
        1 | 2 if text.get(..gap_start).is_some_and(|before| before.ends_with([':', '：'])) => Cut::Word,
        1 => Cut::Line,
        _ if code.is_some() => Cut::Line,
        _ if text.get(start..).is_some_and(begins_entry) => Cut::Entry,
        _ => Cut::Paragraph,
    }
}

/// Whether a text begins with the name of an entry, and a colon: an option, or a word that is no remark.
pub(super) fn begins_entry(text: &str) -> bool {
    let begins_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-');
    entry_label(text).is_some_and(|label| label.starts_with(begins_name) && !is_field(label))
}

/// Whether a text begins with the number of a paragraph: `1. …`, `2) …`.
pub(super) fn begins_numbered(text: &str) -> bool {
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    (1..=2).contains(&(text.len() - rest.len())) && (rest.starts_with(". ") || rest.starts_with(") "))
}

/// Number of line ends in white space; a page break counts as two.
fn line_ends(gap: &str) -> usize {
    let mut before = '\0';
    let mut ends = 0;
    for character in gap.chars() {
        ends += match character {
            '\n' if before == '\r' => 0,
            '\n' | '\r' | '\u{85}' | '\u{2028}' => 1,
            '\u{c}' | '\u{2029}' => 2,
            _ => 0,
        };
        before = character;
    }
    ends
}

/// Whether a line end stands in mid-sentence: texts with fixed line width, such as those of PDF.
fn is_wrapped(text: &str, line_end: usize, next_line: usize) -> bool {
    let last = text.get(..line_end).and_then(|before| before.chars().next_back());
    let first = text.get(next_line..).and_then(|after| after.chars().next());
    last.is_some_and(|last| last.is_alphanumeric() || matches!(last, ',' | '-' | ')'))
        && first.is_some_and(char::is_lowercase)
}

/// Whether the lines before and after a gap in a code block are separated by nothing but one of its fences.
fn is_at_fence(text: &str, code: &Range<usize>, gap_start: usize, start: usize) -> bool {
    let opens = text.get(code.start..start_of_line(text, gap_start)).is_some_and(|lines| lines.trim().is_empty());
    opens || text.get(start..code.end).is_some_and(|rest| !rest.trim_end().contains('\n'))
}

/// Whether a line is indented below the one before, as the text of an option or a definition is below its name.
fn is_hanging(text: &str, line_end: usize, next_line: usize) -> bool {
    let indent = |at: usize| {
        let line = text.get(start_of_line(text, at)..at).unwrap_or_default();
        line.len() - line.trim_start_matches([' ', '\t']).len()
    };
    let is_list_item = text.get(next_line..).is_some_and(|line| line.starts_with(['-', '*', '+', '•']));
    indent(next_line) > indent(line_end) && !is_list_item
}

/// The stage to which a part has been split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Row,
    Cell,
    Sentence,
    Phrase,
    Slice,
    Grapheme,
    Character,
}

impl Unit {
    /// The row, or the code, that a cut before this unit would cut.
    pub(super) fn cut_whole(&self) -> Option<&Range<usize>> {
        self.whole.as_deref().filter(|whole| whole.start < self.bytes.start)
    }
}

impl Stage {
    const fn next(self) -> Option<Self> {
        match self {
            Self::Row => Some(Self::Cell),
            Self::Cell | Self::Sentence => Some(Self::Phrase),
            Self::Phrase => Some(Self::Slice),
            Self::Slice => Some(Self::Grapheme),
            Self::Grapheme => Some(Self::Character),
            Self::Character => None,
        }
    }
}

struct Builder<'input> {
    text: &'input str,
    outline: &'input Outline,
    counter: &'input dyn TokenCounter,
    largest_cost: usize,
    most_characters: usize,
    /// End of the last sentence or row.
    gap_start: usize,
    /// The row or the code that is being added.
    whole: Option<Arc<Range<usize>>>,
    units: Vec<Unit>,
}

impl Builder<'_> {
    /// Adds the whole text but the ranges that no reader sees.
    fn text(&mut self, tables: &Tables, unread: &[Range<usize>]) {
        self.gap_start = 0;
        let mut end = 0;
        for row in tables.rows() {
            self.read_sentences(end..row.bytes.start, unread);
            self.row(row);
            end = row.bytes.end;
        }
        self.read_sentences(end..self.text.len(), unread);
    }

    /// Adds the sentences of running text outside of the ranges that no reader sees.
    fn read_sentences(&mut self, bytes: Range<usize>, unread: &[Range<usize>]) {
        let mut start = bytes.start;
        let first = unread.partition_point(|range| range.end <= bytes.start);
        for range in unread.iter().skip(first).take_while(|range| range.start < bytes.end) {
            self.sentences(start..range.start.max(start));
            start = range.end.max(start).min(bytes.end);
        }
        self.sentences(start..bytes.end);
    }

    /// Adds the sentences of running text.
    fn sentences(&mut self, bytes: Range<usize>) {
        let text = self.text;
        let from = bytes.start;
        for (offset, segment) in text.get(bytes).unwrap_or_default().split_sentence_bound_indices() {
            let start = from + offset + segment.len() - segment.trim_start().len();
            let end = from + offset + segment.trim_end().len();
            if start < end {
                let cut = self.cut_before(start);
                self.enter_code(start);
                self.add(start..end, cut, Stage::Sentence);
                self.gap_start = end;
            }
        }
        self.whole = None;
    }

    /// Notes the code that the sentence at a byte stands in: an odd fence would turn the text after it into code.
    fn enter_code(&mut self, start: usize) {
        let code = self.outline.code_at(start);
        if code != self.whole.as_deref() {
            self.whole = code.cloned().map(Arc::new);
        }
    }

    /// Adds a row of a table: as one unit, or cell by cell.
    fn row(&mut self, row: &Row) {
        let line = self.text.get(row.bytes.clone()).unwrap_or_default();
        let bytes = row.bytes.start + line.len() - line.trim_start().len()..row.bytes.start + line.trim_end().len();
        let cut = match row.place {
            Place::BelowCaption | Place::BelowHeader => Cut::Word,
            Place::First => self.cut_before(bytes.start),
            Place::Later => Cut::Line,
        };
        self.gap_start = bytes.end;
        self.whole = Some(Arc::new(bytes.clone()));
        self.add(bytes, cut, Stage::Row);
        self.whole = None;
    }

    /// Ranks the cut at `start`, given the text before it.
    fn cut_before(&self, start: usize) -> Cut {
        let gap = self.text.get(self.gap_start..start).unwrap_or_default();
        cut_before(self.text, self.gap_start, gap, start, self.outline)
    }

    /// Adds a part as one unit if its cost allows, else its parts at the next stage.
    fn add(&mut self, bytes: Range<usize>, cut: Cut, stage: Stage) {
        let Some(part) = self.text.get(bytes.clone()) else {
            return;
        };
        let trimmed = part.trim();
        if trimmed.is_empty() {
            return;
        }
        let start = bytes.start + part.len() - part.trim_start().len();
        let bytes = start..start + trimmed.len();
        let characters = trimmed.chars().count();
        let by_length = characters.div_ceil(MAX_CHARACTERS_PER_TOKEN);
        // A part that is too long by its characters alone need not be counted.
        let fits_by_length = by_length <= self.largest_cost && characters <= self.most_characters;
        match stage.next() {
            Some(next) if !fits_by_length => self.add_parts(bytes, cut, next),
            next => {
                let cost = self.counter.count(trimmed).max(by_length).max(1);
                match next {
                    Some(next) if cost > self.largest_cost => self.add_parts(bytes, cut, next),
                    _ => self.units.push(Unit { bytes, cost, cut, whole: self.whole.clone() }),
                }
            }
        }
    }

    fn add_parts(&mut self, bytes: Range<usize>, cut: Cut, stage: Stage) {
        let text = self.text;
        let part = text.get(bytes.clone()).unwrap_or_default();
        let inner_cut = match stage {
            Stage::Row | Stage::Cell => Cut::Cell,
            Stage::Sentence | Stage::Phrase => Cut::Word,
            Stage::Slice | Stage::Grapheme | Stage::Character => Cut::Character,
        };
        let mut start = bytes.start;
        let mut add = |end: usize| {
            if end > start {
                self.add(start..end, if start == bytes.start { cut } else { inner_cut }, stage);
                start = end;
            }
        };
        match stage {
            Stage::Row | Stage::Cell => cells(part).for_each(|(end, _)| add(bytes.start + end)),
            Stage::Sentence | Stage::Phrase => {
                phrase_ends(part).for_each(|end| add(bytes.start + end));
            }
            Stage::Slice => {
                part.grapheme_indices(true).step_by(SLICE_GRAPHEMES).for_each(|(end, _)| add(bytes.start + end));
            }
            Stage::Grapheme => part.grapheme_indices(true).for_each(|(end, _)| add(bytes.start + end)),
            Stage::Character => part.char_indices().for_each(|(end, _)| add(bytes.start + end)),
        }
        add(bytes.end);
    }
}

/// Byte offsets in `part` where one phrase ends and the next begins.
fn phrase_ends(part: &str) -> impl Iterator<Item = usize> + '_ {
    let mut start = 0;
    part.split_word_bound_indices().filter_map(move |(offset, word)| {
        let end = offset + word.len();
        let enough = if word.ends_with(char::is_whitespace) { PHRASE_BYTES } else { 2 * PHRASE_BYTES };
        (end - start >= enough).then(|| {
            start = end;
            end
        })
    })
}
