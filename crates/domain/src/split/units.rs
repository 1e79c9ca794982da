//! The smallest parts that pieces are made of, each with its tokens and the cut before it.
//!
//! A unit is a sentence; one that is long for the budget is split into phrases, and phrases that are still too long (a
//! data block, a text without spaces under a tiny budget) into slices, graphemes and finally characters. Each stage
//! counts its part of the text once.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::{Outline, TokenCounter, costs::Limits};

/// The quality of a position for a cut, from worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cut {
    /// Inside a word.
    Character,
    /// Between words, at a line end in mid-sentence, or between a heading and its text.
    Word,
    Sentence,
    Line,
    Paragraph,
    /// Before a heading.
    Heading,
}

/// A part of the text without white space at its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) bytes: Range<usize>,
    /// Tokens, or a sixteenth of the characters if that is more; at least 1.
    pub(super) cost: usize,
    /// The cut that a piece which begins here makes.
    pub(super) cut: Cut,
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
pub(super) fn units_of(text: &str, outline: &Outline, smallest: Limits, counter: &dyn TokenCounter) -> Vec<Unit> {
    // An eighth fills budgets and overlaps well; under eight tokens, sentences would be lost to it.
    let part_of = |budget: usize, least: usize| (budget / 8).max(budget.min(least));
    let largest_cost = part_of(smallest.tokens, 8);
    let most_characters = smallest.characters.map_or(usize::MAX, |characters| part_of(characters, 32));
    let mut builder =
        Builder { text, counter, largest_cost, most_characters, units: Vec::with_capacity(text.len() / 64) };
    let mut gap_start = 0;
    for (offset, segment) in text.split_sentence_bound_indices() {
        let start = offset + segment.len() - segment.trim_start().len();
        let end = offset + segment.trim_end().len();
        if start >= end {
            continue;
        }
        let gap = text.get(gap_start..start).unwrap_or_default();
        let cut = cut_before(text, gap_start, gap, start, outline);
        builder.add(start..end, cut, Stage::Sentence);
        gap_start = end;
    }
    builder.units
}

/// Ranks the cut at `start`, given the white space `gap` between it and the sentence before.
fn cut_before(text: &str, gap_start: usize, gap: &str, start: usize, outline: &Outline) -> Cut {
    if let Some(heading) = outline.heading_lines_at(start) {
        if heading.start >= gap_start {
            return Cut::Heading;
        }
        // Nor is the first sentence after a heading's lines to be separated from it.
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
    match line_ends {
        0 => Cut::Sentence,
        1 if is_wrapped(text, gap_start, start) => Cut::Word,
        1 => Cut::Line,
        _ if outline.is_code(start) => Cut::Line,
        _ => Cut::Paragraph,
    }
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

/// The stage to which a part has been split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Sentence,
    Phrase,
    Slice,
    Grapheme,
    Character,
}

impl Stage {
    const fn next(self) -> Option<Self> {
        match self {
            Self::Sentence => Some(Self::Phrase),
            Self::Phrase => Some(Self::Slice),
            Self::Slice => Some(Self::Grapheme),
            Self::Grapheme => Some(Self::Character),
            Self::Character => None,
        }
    }
}

struct Builder<'input> {
    text: &'input str,
    counter: &'input dyn TokenCounter,
    largest_cost: usize,
    most_characters: usize,
    units: Vec<Unit>,
}

impl Builder<'_> {
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
                    _ => self.units.push(Unit { bytes, cost, cut }),
                }
            }
        }
    }

    fn add_parts(&mut self, bytes: Range<usize>, cut: Cut, stage: Stage) {
        let text = self.text;
        let part = text.get(bytes.clone()).unwrap_or_default();
        let inner_cut = match stage {
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
