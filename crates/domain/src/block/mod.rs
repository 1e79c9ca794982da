//! The block structure of Markdown, and of plain text, which is Markdown without markup.
//!
//! Only what sentences and citations need: paragraphs, headings, tables, rules and fenced code, each
//! inside the lists and quotes that hold it. Lists and quotes matter because they end a fence that
//! nobody closed: taking what follows for code would hide it from the citation check.
//! Follows `CommonMark` 0.31 (sections 4.1 to 4.5, 5.1 and 5.2) and GFM tables; indented code and HTML
//! count as paragraphs, so that nothing said in them goes unchecked.

mod line;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::line::{
    Fence, Indent, bytes_of_columns, closes, heading_signs, is_plain, is_setext_underline, is_table_delimiter,
    is_table_row, is_thematic_break, list_mark, opens_fence, quote_mark,
};

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Running text; also the text of a list item or of a quote.
    Paragraph,
    /// An ATX heading, or one line underlined by `===` or `---`.
    Heading,
    /// A fenced code block with its fences.
    Code,
    /// The row above the delimiter row of a table.
    TableHeader,
    /// Any other row of a table.
    TableRow,
    /// Markup without words: thematic breaks, table delimiters, empty list items.
    Rule,
}

/// A block of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Bytes from the start of its first line to the end of its last, line end excluded.
    pub range: Range<usize>,
    /// Byte at which its words start: after list bullets, quote marks and heading signs.
    pub content: usize,
}

/// A list item or a quote; text belongs to it while its lines keep the indent or the mark.
#[derive(Debug, Clone, Copy)]
enum Container {
    Quote,
    /// Columns of indent that keep a line in the item.
    Item(usize),
}

/// Deepest nesting followed. Deeper markup counts as text, which bounds the work per line.
const MAX_DEPTH: usize = 32;

/// Splits a text into its blocks, in order, without overlap.
///
/// Every character that is not white space lies in exactly one block. Linear in the text.
#[must_use]
pub fn blocks(text: &str) -> Vec<Block> {
    let mut scanner = Scanner {
        text,
        blocks: Vec::new(),
        containers: Vec::new(),
        fence: None,
        paragraph_open: false,
        table_open: false,
    };
    for line in (Lines { text, next: 0 }) {
        scanner.line(line);
    }
    scanner.blocks
}

/// Ranges of lines without their ends, which are `\n`, `\r\n` or `\r`.
struct Lines<'t> {
    text: &'t str,
    next: usize,
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.next..).filter(|rest| !rest.is_empty())?;
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let ending = rest.get(length..).unwrap_or_default();
        let line = self.next..self.next + length;
        self.next = line.end
            + match ending {
                _ if ending.starts_with("\r\n") => 2,
                "" => 0,
                _ => 1,
            };
        Some(line)
    }
}

struct Scanner<'t> {
    text: &'t str,
    blocks: Vec<Block>,
    containers: Vec<Container>,
    fence: Option<Fence>,
    /// Whether the last block is a paragraph that the next line may continue.
    paragraph_open: bool,
    /// Whether the last block belongs to a table that the next line may continue.
    table_open: bool,
}

impl<'t> Scanner<'t> {
    fn rest(&self, from: usize, line: &Range<usize>) -> &'t str {
        self.text.get(from..line.end).unwrap_or_default()
    }

    fn line(&mut self, line: Range<usize>) {
        let (matched, at) = self.match_containers(&line);
        if let Some(fence) = self.fence {
            if matched == self.containers.len() {
                self.extend_last(line.end);
                if closes(fence, self.rest(at, &line)) {
                    self.fence = None;
                }
                return;
            }
            self.fence = None;
        }
        if self.rest(at, &line).trim().is_empty() {
            self.containers.truncate(matched);
            self.close_leaf();
            if !self.rest(line.start, &line).trim().is_empty() {
                self.push(BlockKind::Rule, line, at);
            }
            return;
        }
        let all_matched = matched == self.containers.len();
        if all_matched && self.underline(&line, at) {
            return;
        }
        let (starts, at) = self.new_containers(&line, at, matched);
        if !starts.is_empty() {
            self.containers.truncate(matched);
            self.close_leaf();
            self.containers.extend(starts);
        } else if !all_matched {
            let lazy = self.paragraph_open && is_plain(self.rest(at, &line));
            if !lazy {
                self.containers.truncate(matched);
                self.close_leaf();
            }
        }
        self.leaf(line, at);
    }

    /// How many open containers the line continues, and where the line goes on after their marks.
    fn match_containers(&self, line: &Range<usize>) -> (usize, usize) {
        let mut at = line.start;
        let mut matched = 0;
        for container in &self.containers {
            let rest = self.rest(at, line);
            let indent = Indent::of(rest);
            match container {
                Container::Quote => match quote_mark(rest, &indent) {
                    Some(width) => at += width,
                    None => break,
                },
                Container::Item(_) if rest.trim().is_empty() => {}
                Container::Item(columns) if indent.columns >= *columns => {
                    at += bytes_of_columns(rest, *columns);
                }
                Container::Item(_) => break,
            }
            matched += 1;
        }
        (matched, at)
    }

    /// The lists and quotes that this line opens, and where the line goes on after their marks.
    fn new_containers(&self, line: &Range<usize>, mut at: usize, matched: usize) -> (Vec<Container>, usize) {
        let mut starts = Vec::new();
        while matched + starts.len() < MAX_DEPTH {
            let rest = self.rest(at, line);
            let indent = Indent::of(rest);
            if let Some(width) = quote_mark(rest, &indent) {
                starts.push(Container::Quote);
                at += width;
                continue;
            }
            // A line of running text that begins "1999. " must not become a list.
            let interrupts = self.paragraph_open && starts.is_empty() && matched == self.containers.len();
            match list_mark(rest, &indent, interrupts) {
                Some((columns, width)) if !is_thematic_break(rest) => {
                    starts.push(Container::Item(columns));
                    at += width;
                }
                _ => break,
            }
        }
        (starts, at)
    }

    /// Handles a line that turns what stands above it into a heading or a table header.
    fn underline(&mut self, line: &Range<usize>, at: usize) -> bool {
        let rest = self.rest(at, line);
        let is_delimiter = is_table_delimiter(rest);
        if !(is_delimiter || self.paragraph_open && is_setext_underline(rest)) {
            return false;
        }
        let text = self.text;
        let paragraph_open = self.paragraph_open;
        let starts_table = !self.table_open || !is_delimiter;
        if let Some(above) = self.blocks.last_mut() {
            let words = text.get(above.content..above.range.end).unwrap_or_default();
            let one_line = paragraph_open && !words.contains(['\n', '\r']);
            let is_row = above.kind == BlockKind::TableRow
                && text.get(above.range.end..line.start).is_some_and(|gap| gap.len() <= 2);
            // A sentence with a line under it is still a sentence: the underline must not exempt it.
            let is_title = one_line && !words.trim_end().ends_with(['.', '!', '?', '。', '！', '？']);
            if is_delimiter && starts_table && (is_row || one_line && words.contains('|')) {
                above.kind = BlockKind::TableHeader;
            } else if !is_delimiter && is_title {
                above.kind = BlockKind::Heading;
            }
        }
        self.close_leaf();
        self.push(BlockKind::Rule, line.clone(), at);
        self.table_open = is_delimiter;
        true
    }

    fn leaf(&mut self, line: Range<usize>, at: usize) {
        let rest = self.rest(at, &line);
        let indent = Indent::of(rest);
        let words = at + indent.bytes;
        if let Some(fence) = opens_fence(rest) {
            self.close_leaf();
            self.fence = Some(fence);
            self.push(BlockKind::Code, line, words);
        } else if rest.trim().is_empty() || is_thematic_break(rest) {
            self.close_leaf();
            self.push(BlockKind::Rule, line, words);
        } else if let Some(signs) = heading_signs(rest) {
            self.close_leaf();
            self.push(BlockKind::Heading, line, at + signs);
        } else if is_table_row(rest, self.table_open) {
            self.paragraph_open = false;
            self.push(BlockKind::TableRow, line, words);
        } else if self.paragraph_open {
            self.extend_last(line.end);
        } else {
            self.close_leaf();
            self.push(BlockKind::Paragraph, line, words);
            self.paragraph_open = true;
        }
    }

    fn close_leaf(&mut self) {
        self.paragraph_open = false;
        self.table_open = false;
    }

    fn push(&mut self, kind: BlockKind, range: Range<usize>, content: usize) {
        let content = content.min(range.end);
        self.blocks.push(Block { kind, range, content });
    }

    fn extend_last(&mut self, end: usize) {
        if let Some(block) = self.blocks.last_mut() {
            block.range.end = end;
        }
    }
}
