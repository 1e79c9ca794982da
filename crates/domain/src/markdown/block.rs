//! Markdown as the blocks that sentences and citations are read from.

use std::ops::Range;

use super::column_heads::ColumnHeads;
use super::definition::Definitions;
use super::leaf::{Leaf, LeafKind, leaves};
use super::line::{Lines, bullet, is_border, is_table_delimiter, is_table_row, marks, quote_marks, sign_marks};

/// Kinds of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Running text; also the text of a list item or of a quotation, HTML, and indented code.
    Paragraph,
    /// An ATX heading, or one line underlined by `===` or `---`.
    Heading,
    /// A fenced code block with its fences.
    Code,
    /// A row that heads the columns of a table: the one above its delimiter row, and those below it that say more about the
    /// columns.
    TableHeader,
    /// Any other row of a table.
    TableRow,
    /// Markup without words: thematic breaks, underlines, table delimiters, empty list items.
    Rule,
}

/// A block of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its kind.
    pub kind: BlockKind,
    /// Bytes from the start of its first line to the end of its last, line end excluded.
    pub range: Range<usize>,
    /// Byte at which its words start: after list bullets, quote marks and heading signs.
    pub content: usize,
    /// Whether a reader sees words in it: not in link reference definitions, pictures within links and HTML without text.
    pub has_words: bool,
}

/// Splits a text into its blocks, in order, without overlap.
///
/// Every character that is not white space lies in exactly one block: lines that belong to no leaf of the
/// parser, such as link reference definitions, are paragraphs.
#[must_use]
pub fn blocks(text: &str) -> Vec<Block> {
    let mut writer = Writer {
        text,
        blocks: Vec::new(),
        open: Open::Nothing,
        heads: None,
        definitions: Definitions::default(),
        has_words: true,
    };
    let mut lines = Lines::of(text).peekable();
    for leaf in leaves(text) {
        while let Some(line) = lines.next_if(|line| line.end < leaf.bytes.start) {
            writer.loose_line(&line);
        }
        let mut own = Vec::new();
        while let Some(line) = lines.next_if(|line| line.start < leaf.bytes.end) {
            own.push(line);
        }
        writer.leaf(&leaf, &own);
    }
    lines.for_each(|line| writer.loose_line(&line));
    writer.blocks
}

/// The last block, as far as the next line of text may belong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Paragraph,
    /// A row outside of a table, which a delimiter row makes a header.
    Row,
    Table,
}

struct Writer<'t> {
    text: &'t str,
    blocks: Vec<Block>,
    open: Open,
    /// The header of the open table, while further rows may belong to it.
    heads: Option<ColumnHeads>,
    /// The definitions of links since the last leaf.
    definitions: Definitions,
    /// Whether the lines that are being read have words for a reader.
    has_words: bool,
}

impl<'t> Writer<'t> {
    fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    fn leaf(&mut self, leaf: &Leaf, lines: &[Range<usize>]) {
        self.open = Open::Nothing;
        self.definitions = Definitions::default();
        self.has_words = leaf.has_words;
        let [first, rest @ ..] = lines else { return };
        let all = first.start..rest.last().unwrap_or(first).end;
        let words = self.words(first, marks(self.slice(first.start..leaf.bytes.start)));
        match leaf.kind {
            LeafKind::Fence => self.push(BlockKind::Code, all, words),
            LeafKind::Break => self.push(BlockKind::Rule, all, words),
            LeafKind::Heading(..) if rest.is_empty() => {
                let title = self.slice(words..first.end).trim_start_matches('#').trim_start();
                self.push(BlockKind::Heading, all, first.end - title.len());
            }
            LeafKind::Heading(..) => self.underlined(lines, words),
            LeafKind::Table => self.table(lines, words),
            LeafKind::Html => lines.iter().for_each(|line| self.html_line(line)),
            LeafKind::Text => self.paragraph(lines, words),
        }
        self.open = Open::Nothing;
    }

    /// A setext heading.
    ///
    /// A sentence with a line under it is still a sentence: the underline must not exempt it. The same goes for
    /// several lines, and for a single `-`, which may be the beginning of a list.
    fn underlined(&mut self, lines: &[Range<usize>], words: usize) {
        let Some((underline, title)) = lines.split_last() else { return };
        let under = self.words(underline, quote_marks(self.slice(underline.clone())));
        let is_bullet_begun = self.slice(under..underline.end).trim_end() == "-";
        match title {
            [line] if !is_bullet_begun && is_title(self.slice(words..line.end)) => {
                self.push(BlockKind::Heading, line.clone(), words);
            }
            _ => self.paragraph(title, words),
        }
        self.push(BlockKind::Rule, underline.clone(), under);
    }

    fn table(&mut self, lines: &[Range<usize>], words: usize) {
        let [header, delimiter, rows @ ..] = lines else { return self.paragraph(lines, words) };
        // Without "|" it is a sentence with a line under it.
        let is_header = self.slice(header.clone()).contains('|');
        self.push(if is_header { BlockKind::TableHeader } else { BlockKind::Paragraph }, header.clone(), words);
        self.heads = is_header.then(|| ColumnHeads::of(self.slice(words..header.end)));
        let words = self.words(delimiter, quote_marks(self.slice(delimiter.clone())));
        self.push(BlockKind::Rule, delimiter.clone(), words);
        self.open = Open::Table;
        for line in rows {
            self.line(line, self.words(line, quote_marks(self.slice(line.clone()))));
        }
    }

    fn paragraph(&mut self, lines: &[Range<usize>], words: usize) {
        let borders = self.borders(lines);
        for (number, line) in lines.iter().enumerate() {
            let marks = || self.words(line, quote_marks(self.slice(line.clone())));
            let words = if number == 0 { words } else { marks() };
            match borders.iter().position(|border| *border == number) {
                Some(place) => self.border(line, words, place == 1),
                None => self.line(line, words),
            }
        }
    }

    /// The lines above, below and right under the header of a table that is drawn in characters; none where every row has
    /// a line under it, so that nothing tells the header.
    fn borders(&self, lines: &[Range<usize>]) -> Vec<usize> {
        let is_drawn = |line: &Range<usize>| is_border(self.slice(line.clone()));
        let borders: Vec<usize> =
            lines.iter().enumerate().filter(|(_, line)| is_drawn(line)).map(|(number, _)| number).take(4).collect();
        let [top, under, bottom] = borders.as_slice() else { return Vec::new() };
        let rows = lines.get(*top..*bottom).unwrap_or_default().iter().filter(|line| !is_drawn(line));
        let are_rows = rows.into_iter().all(|line| is_table_row(self.slice(line.clone()), false));
        if are_rows && *under == top + 2 && *bottom > under + 2 { borders } else { Vec::new() }
    }

    /// A line of such a table; the row above the one under the header names the columns.
    fn border(&mut self, line: &Range<usize>, words: usize, is_under_header: bool) {
        if is_under_header {
            self.make_header();
        }
        self.push(BlockKind::Rule, line.clone(), words);
        self.open = if is_under_header { Open::Table } else { Open::Nothing };
    }

    /// A line that no leaf holds: an empty list item, or part of a link reference definition.
    fn loose_line(&mut self, line: &Range<usize>) {
        let whole = self.slice(line.clone());
        self.has_words = !self.definitions.hold(whole);
        if self.open != Open::Paragraph && marks(whole) == whole.trim_end().len() && !whole.trim().is_empty() {
            self.open = Open::Nothing;
            self.push(BlockKind::Rule, line.clone(), line.end);
        } else {
            self.html_line(line);
        }
    }

    /// A line of HTML.
    ///
    /// List items in it are blocks of their own, so that a marker in one does not cover the one before. Their
    /// numbers count as words, for they may be years or amounts.
    fn html_line(&mut self, line: &Range<usize>) {
        let whole = self.slice(line.clone());
        let words = self.words(line, sign_marks(whole));
        let has_words = self.slice(words..line.end).chars().any(char::is_alphanumeric);
        if marks(whole) > quote_marks(whole) {
            self.open = Open::Nothing;
        }
        if has_words || whole.trim().is_empty() {
            self.line(line, words);
        } else {
            self.open = Open::Nothing;
            self.push(BlockKind::Rule, line.clone(), words);
        }
    }

    /// A line of running text, unless it is blank, a row of a table, or begins with a bullet.
    fn line(&mut self, line: &Range<usize>, words: usize) {
        let said = self.slice(words..line.end);
        if said.trim().is_empty() {
            self.open = Open::Nothing;
            if !self.slice(line.clone()).trim().is_empty() {
                self.push(BlockKind::Rule, line.clone(), words);
            }
        } else if is_table_delimiter(said) && self.open != Open::Table {
            if self.open == Open::Row {
                self.make_header();
            }
            self.push(BlockKind::Rule, line.clone(), words);
            self.open = Open::Table;
        } else if is_table_row(said, self.open == Open::Table) {
            let kind = self.kind_of_row(said);
            self.push(kind, line.clone(), words);
            if self.open != Open::Table {
                self.open = Open::Row;
            }
        } else if let Some(block) =
            self.blocks.last_mut().filter(|_| self.open == Open::Paragraph && bullet(said).is_none())
        {
            block.range.end = line.end;
        } else {
            self.push(BlockKind::Paragraph, line.clone(), words + bullet(said).unwrap_or(0));
            self.open = Open::Paragraph;
        }
    }

    /// Makes the row before a delimiter the header of the table that begins with it.
    fn make_header(&mut self) {
        if let Some(row) = self.blocks.last_mut() {
            row.kind = BlockKind::TableHeader;
            self.heads = self.text.get(row.content..row.range.end).map(ColumnHeads::of);
        }
    }

    fn kind_of_row(&mut self, row: &str) -> BlockKind {
        if !row.chars().any(char::is_alphanumeric) {
            BlockKind::Rule
        } else if self.open == Open::Table && self.heads.as_mut().is_some_and(|heads| heads.takes(row)) {
            BlockKind::TableHeader
        } else {
            BlockKind::TableRow
        }
    }

    /// Byte at which the words of a line begin, after `marks` bytes and white space.
    fn words(&self, line: &Range<usize>, marks: usize) -> usize {
        line.end - self.slice(line.start + marks..line.end).trim_start_matches([' ', '\t']).len()
    }

    fn push(&mut self, kind: BlockKind, range: Range<usize>, content: usize) {
        let content = content.clamp(range.start, range.end);
        if !matches!(kind, BlockKind::TableHeader | BlockKind::Rule) {
            self.heads = None;
        }
        self.blocks.push(Block { kind, range, content, has_words: self.has_words });
    }
}

/// Whether a line with a line under it is a heading.
fn is_title(line: &str) -> bool {
    !line.trim_end().ends_with(['.', '!', '?', '。', '！', '？'])
        && !is_table_row(line, false)
        && bullet(line).is_none()
}
