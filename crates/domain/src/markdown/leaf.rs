//! The leaf blocks of Markdown text, as `pulldown-cmark` finds them.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::wording::start_of_line;

/// Bytes that are parsed at a time. The parser holds its whole tree, so this bounds memory for long documents.
const WINDOW: usize = 256 * 1024;

/// A block that holds text and no other block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) kind: LeafKind,
    /// From its first character to the end of its last line. List and quote marks stand before it on its first
    /// line, and may stand inside it on others.
    pub(crate) bytes: Range<usize>,
    /// Whether it lies in a list item or a quotation.
    pub(crate) is_nested: bool,
    /// Whether a reader sees words in it: not in pictures within links, nor in HTML without text.
    pub(crate) has_words: bool,
}

/// Kinds of leaf blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LeafKind {
    /// A paragraph, the text of a tight list item, or indented code.
    Text,
    /// A block of HTML.
    Html,
    /// A heading: its level and its words without markup. Those of pictures count where there are no others.
    Heading(u8, String),
    /// A fenced code block with its fences.
    Fence,
    /// A table with its delimiter row.
    Table,
    /// A thematic break.
    Break,
}

/// The leaf blocks of a text in order. Link reference definitions and empty list items are not among them.
pub(crate) fn leaves(text: &str) -> Vec<Leaf> {
    prose(text).unwrap_or_else(|| parsed(WINDOW, text))
}

/// The paragraphs of a text whose lines all begin with a letter or are blank: nothing else can begin so, and nothing but
/// other marks makes a table or a heading of the line above them. It is what the parser finds, at a fraction of its cost.
fn prose(text: &str) -> Option<Vec<Leaf>> {
    let mut paragraphs: Vec<Range<usize>> = Vec::new();
    let (mut at, mut is_open) = (0, false);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if line.starts_with(char::is_alphabetic) && !line.contains('\r') {
            match paragraphs.last_mut().filter(|_| is_open) {
                Some(paragraph) => paragraph.end = end,
                None => paragraphs.push(at..end),
            }
            is_open = true;
        } else if line.trim_end_matches('\n').bytes().all(|byte| byte == b' ') {
            is_open = false;
        } else {
            return None;
        }
        at = end;
    }
    let leaf = |bytes| Leaf { kind: LeafKind::Text, bytes, is_nested: false, has_words: true };
    Some(paragraphs.into_iter().map(leaf).collect())
}

/// The leaf blocks as the parser finds them, `size` bytes at a time.
pub(super) fn parsed(size: usize, text: &str) -> Vec<Leaf> {
    let text = &*with_plain_line_ends(text);
    let mut leaves = Vec::new();
    let (mut from, mut length) = (0, size);
    loop {
        let rest = text.get(from..).unwrap_or_default();
        let window = whole_lines(rest, length);
        let mut reader = Reader::default();
        for (event, range) in Parser::new_ext(window, Options::ENABLE_TABLES).into_offset_iter() {
            reader.read(event, range);
        }
        for leaf in reader.leaves.iter_mut().filter(|leaf| leaf.kind == LeafKind::Html) {
            leaf.has_words = window.get(leaf.bytes.clone()).is_some_and(has_words_beside_tags);
        }
        if window.len() == rest.len() {
            leaves.extend(reader.leaves.into_iter().map(|leaf| leaf.moved(from)));
            return leaves;
        }
        // The last block may go on behind the window; those before it are complete, and none depends on another.
        let end = reader.last_block.map_or(0, |start| start_of_line(window, start));
        let complete = reader.leaves.into_iter().take_while(|leaf| leaf.bytes.start < end);
        leaves.extend(complete.map(|leaf| leaf.moved(from)));
        from += end;
        length = if end > 0 { size } else { 2 * length };
    }
}

/// Fewest tildes of a line under a title of plain text.
const SHORTEST_RULE: usize = 5;

/// The text with other white space at the end of its lines replaced by spaces, and tildes under a title by hyphens, at the
/// same offsets.
///
/// A line of no-break spaces is not blank to `CommonMark`, but it is to every reader. The parser does not expect a tab
/// after a closing fence, and the unclosed fence would hide the text after it. So would a line of tildes that is as long as
/// the line above it, as plain text underlines titles: it opens no code.
pub(super) fn with_plain_line_ends(text: &str) -> Cow<'_, str> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii() && !matches!(byte, b'\t' | b'\x0b' | b'\x0c'));
    if is_plain && !text.contains("~~~~~") {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut above = ["", ""];
    for line in text.split_inclusive(['\n', '\r']) {
        let content = line.trim_end_matches(['\n', '\r']);
        let mut words = content.trim_end_matches([' ', '\t']);
        if words.trim().is_empty() {
            words = "";
        }
        if underlines_title(words, above) {
            plain.extend(std::iter::repeat_n('-', words.len()));
        } else {
            plain.push_str(words);
        }
        let [_, last] = above;
        above = [last, words];
        plain.extend(std::iter::repeat_n(' ', content.len() - words.len()));
        plain.push_str(line.get(content.len()..).unwrap_or_default());
    }
    Cow::Owned(plain)
}

/// Whether a line is of tildes under a title that is set off from what stands above it.
fn underlines_title(line: &str, [before, title]: [&str; 2]) -> bool {
    let is_rule = line.len() >= SHORTEST_RULE && line.bytes().all(|byte| byte == b'~');
    let is_title = before.is_empty() && title.starts_with(char::is_alphanumeric);
    is_rule && is_title && title.chars().count().abs_diff(line.len()) <= 1
}

/// Whether HTML has letters or digits outside of its tags and comments.
fn has_words_beside_tags(html: &str) -> bool {
    let mut rest = html;
    while let Some((text, tag)) = rest.split_once('<') {
        if has_letters(text) {
            return true;
        }
        let (end, length) = if tag.starts_with("!--") { ("-->", 3) } else { (">", 1) };
        rest = tag.find(end).and_then(|at| tag.get(at + length..)).unwrap_or_default();
    }
    has_letters(rest)
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// The first lines of a text that are `length` bytes together, or a little more.
fn whole_lines(text: &str, length: usize) -> &str {
    let after = text.as_bytes().get(length..).unwrap_or_default();
    let end = after.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| length + at + 1);
    text.get(..end).unwrap_or(text)
}

impl Leaf {
    /// The same leaf of a text that has so many bytes more before it.
    pub(crate) fn moved(self, by: usize) -> Self {
        Self { bytes: self.bytes.start + by..self.bytes.end + by, ..self }
    }
}

/// Gathers leaves from the parser's events.
#[derive(Debug, Default)]
struct Reader {
    leaves: Vec<Leaf>,
    /// Open lists and quotations.
    depth: usize,
    /// End of the last leaf that the parser names as a block. Events before it belong to that leaf.
    leaf_end: usize,
    /// Whether the last leaf is the text of a tight list item, for which the parser has no event of its own.
    is_item_text: bool,
    /// Start of the last block that lies in no other.
    last_block: Option<usize>,
    /// Open pictures.
    pictures: usize,
    /// The words that stand for the pictures of the last heading.
    pictured: String,
    /// Open links.
    links: usize,
}

impl Reader {
    fn read(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Paragraph | Tag::CodeBlock(CodeBlockKind::Indented)) => self.leaf(LeafKind::Text, range),
            Event::Start(Tag::HtmlBlock) => self.leaf(LeafKind::Html, range),
            Event::Start(Tag::Heading { level, .. }) => {
                self.pictured.clear();
                self.leaf(LeafKind::Heading(number(level), String::new()), range);
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => self.leaf(LeafKind::Fence, range),
            Event::Start(Tag::Table(_)) => self.leaf(LeafKind::Table, range),
            Event::Rule => self.leaf(LeafKind::Break, range),
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => {
                self.block(range.start);
                self.depth += 1;
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => {
                self.is_item_text = false;
                self.depth = self.depth.saturating_sub(1);
            }
            Event::Start(Tag::Item) | Event::End(TagEnd::Item) => self.is_item_text = false,
            event if range.start < self.leaf_end => self.inside(&event),
            event @ Event::End(_) => self.inside(&event),
            event if self.is_item_text => {
                if let Some(leaf) = self.leaves.last_mut() {
                    leaf.bytes.end = leaf.bytes.end.max(range.end);
                }
                self.inside(&event);
            }
            event => {
                self.leaves.push(Leaf { kind: LeafKind::Text, bytes: range, is_nested: true, has_words: false });
                self.is_item_text = true;
                self.inside(&event);
            }
        }
    }

    fn leaf(&mut self, kind: LeafKind, bytes: Range<usize>) {
        self.block(bytes.start);
        self.leaf_end = bytes.end;
        (self.links, self.pictures) = (0, 0);
        let has_words = !matches!(kind, LeafKind::Text);
        self.leaves.push(Leaf { kind, bytes, is_nested: self.depth > 0, has_words });
    }

    fn block(&mut self, start: usize) {
        self.is_item_text = false;
        if self.depth == 0 {
            self.last_block = Some(start);
        }
    }

    /// Reads an event inside the last leaf: whether it is words, and those of a heading.
    fn inside(&mut self, event: &Event<'_>) {
        let Some(leaf) = self.leaves.last_mut() else { return };
        match event {
            Event::Start(Tag::Link { .. }) => self.links += 1,
            Event::End(TagEnd::Link) => self.links = self.links.saturating_sub(1),
            Event::Start(Tag::Image { .. }) => self.pictures += 1,
            Event::End(TagEnd::Image) => self.pictures = self.pictures.saturating_sub(1),
            // A picture in a link is a badge or a button.
            Event::Text(text) | Event::Code(text) if self.links == 0 || self.pictures == 0 => {
                leaf.has_words |= has_letters(text);
            }
            _ => {}
        }
        let LeafKind::Heading(_, title) = &mut leaf.kind else { return };
        let words = if self.pictures > 0 { &mut self.pictured } else { &mut *title };
        match event {
            Event::Text(text) | Event::Code(text) => words.push_str(text),
            Event::SoftBreak | Event::HardBreak => words.push(' '),
            // A title may be a logo; badges beside a name are no part of it.
            Event::End(TagEnd::Heading(_)) if title.trim().is_empty() => title.clone_from(&self.pictured),
            _ => {}
        }
    }
}

const fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
