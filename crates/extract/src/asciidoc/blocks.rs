//! The blocks of a document as those of a web page.

use std::{borrow::Cow, collections::HashMap};

use asciidoc_parser::{
    blocks::{
        AdmonitionBlock, Block, ChildBlocks, IsBlock, MediaBlock, MediaType, QuoteBlock, QuoteType, RawDelimitedBlock,
        SectionBlock, SectionType, SimpleBlock, SimpleBlockStyle,
    },
    document,
};

use super::{
    super::{ExtractError, content::MAX_TEXT_BYTES, html},
    inlines::{NOTE, TAGS},
    text::{unindented, without_macros},
    too_large,
};

/// Longest page that is written. Tags are at most about as long as the text between them.
const LONGEST_PAGE: usize = 2 * MAX_TEXT_BYTES;

/// Deepest level of a heading in HTML.
const DEEPEST_HEADING: usize = 6;

/// Whether a block is a part of a book, a section above chapters.
pub(super) fn is_part(block: &Block<'_>) -> bool {
    matches!(block, Block::Section(section) if section.level() == 0 && section.section_type() != SectionType::Discrete)
}

/// Writes a document as a page.
pub(super) struct Writer {
    pub(super) html: String,
    /// Texts of the footnotes by their number.
    footnotes: HashMap<String, String>,
    /// Numbers of the footnotes whose text comes after the block under way.
    noted: Vec<String>,
    /// Levels by which headings stand below those that the document gives them.
    lowered: usize,
    /// Level of the last heading.
    pub(super) level: usize,
    /// Open cells of tables.
    pub(super) cells: usize,
    /// What is put before the next paragraph: the label of an admonition, the letter of an item.
    pub(super) label: String,
}

impl Writer {
    pub(super) fn new(footnotes: &[document::Footnote]) -> Self {
        Self {
            // Marked as the content, since what looks like a menu or a frame is none in such a document.
            html: "<main>".to_owned(),
            footnotes: texts(footnotes),
            noted: Vec::new(),
            lowered: 0,
            level: 1,
            cells: 0,
            label: String::new(),
        }
    }

    pub(super) fn finish(self) -> String {
        self.html
    }

    /// Writes the title of the document. Parts of a book stand below it.
    pub(super) fn title(&mut self, title: &str, has_parts: bool) {
        self.heading(1, title);
        self.lowered = usize::from(has_parts);
    }

    /// Writes blocks that stand one below the other, each with its footnotes.
    pub(super) fn flow(&mut self, blocks: ChildBlocks<'_>) -> Result<(), ExtractError> {
        for block in blocks {
            self.block(block)?;
            self.notes();
        }
        Ok(())
    }

    /// Writes the footnotes that are due.
    pub(super) fn notes(&mut self) {
        for number in std::mem::take(&mut self.noted) {
            if let Some(text) = self.footnotes.get(&number).cloned() {
                let text = self.inline(&text);
                self.paragraph(&format!("[{number}] {text}"));
            }
        }
    }

    /// Writes what a cell of a table holds: a document of its own.
    pub(super) fn cell<'a>(
        &mut self,
        blocks: &'a [Block<'a>],
        footnotes: &[document::Footnote],
    ) -> Result<(), ExtractError> {
        let outer = std::mem::replace(&mut self.footnotes, texts(footnotes));
        for block in blocks {
            self.block(block)?;
            self.notes();
        }
        self.footnotes = outer;
        Ok(())
    }

    fn block<'a>(&mut self, block: &'a Block<'a>) -> Result<(), ExtractError> {
        if self.html.len() > LONGEST_PAGE {
            return Err(too_large());
        }
        match block {
            Block::Section(section) => self.section(section),
            Block::Preamble(preamble) => self.flow(preamble.child_blocks()),
            Block::Simple(simple) => {
                self.simple(simple);
                Ok(())
            }
            Block::RawDelimited(raw) => {
                self.raw(raw);
                Ok(())
            }
            Block::Media(media) => {
                self.media(media);
                Ok(())
            }
            Block::List(list) => self.list(list),
            Block::ListItem(item) => self.flow(item.child_blocks()),
            Block::CompoundDelimited(compound) => {
                self.caption(compound);
                self.flow(compound.child_blocks())
            }
            Block::Admonition(admonition) => self.admonition(admonition),
            Block::Quote(quote) => self.quote(quote),
            Block::Table(table) => self.table(table),
            // A line, a table of contents, the value of an attribute, and kinds that are not there yet.
            _ => Ok(()),
        }
    }

    fn section<'a>(&mut self, section: &'a SectionBlock<'a>) -> Result<(), ExtractError> {
        let mut title = section.caption().unwrap_or_default().to_owned();
        if title.is_empty() {
            title = section.section_number().map(|number| format!("{number}. ")).unwrap_or_default();
        }
        title.push_str(section.section_title());
        if self.cells > 0 {
            self.paragraph_of(&title);
        } else {
            self.heading(section.level() + 1 + self.lowered, &title);
        }
        self.flow(section.child_blocks())
    }

    pub(super) fn heading(&mut self, level: usize, title: &str) {
        self.level = level.min(DEEPEST_HEADING);
        let title = self.inline(title);
        let level = self.level.to_string();
        self.push(&["<h", &level, ">", &title, "</h", &level, ">"]);
    }

    /// Writes the title of a block, with the number that it has.
    fn caption<'a>(&mut self, block: &'a impl IsBlock<'a>) {
        let caption = caption_of(block);
        self.paragraph_of(&caption);
    }

    /// Writes the title of a list or of code, which introduces it.
    pub(super) fn lead<'a>(&mut self, block: &'a impl IsBlock<'a>) {
        let mut caption = caption_of(block);
        if caption.ends_with(char::is_alphanumeric) {
            caption.push(':');
        }
        self.paragraph_of(&caption);
    }

    /// Writes text that the parser has rendered as a paragraph.
    pub(super) fn paragraph_of(&mut self, rendered: &str) {
        let text = self.inline(rendered);
        self.paragraph(&text);
    }

    /// Writes a paragraph of HTML.
    pub(super) fn paragraph(&mut self, html: &str) {
        if html.trim().is_empty() {
            return;
        }
        let label = std::mem::take(&mut self.label);
        // A cell is one line.
        let around = if self.cells > 0 { [" ", ""] } else { ["<p>", "</p>"] };
        self.push(&[around[0], &label, html, around[1]]);
    }

    pub(super) fn push(&mut self, parts: &[&str]) {
        self.html.extend(parts.iter().copied());
    }

    /// Writes the label under way by itself, before something that is no paragraph.
    pub(super) fn end_label(&mut self) {
        let label = std::mem::take(&mut self.label);
        if !label.is_empty() {
            self.push(&["<p>", label.trim_end(), "</p>"]);
        }
    }

    fn simple<'a>(&mut self, simple: &'a SimpleBlock<'a>) {
        if simple.declared_style() == Some("comment") {
            return;
        }
        let rendered = simple.content().rendered_html();
        match (simple.style(), simple.declared_style()) {
            // The parser takes away the indent of the first line, wherever the others begin.
            (SimpleBlockStyle::Literal, None) => {
                self.lead(simple);
                self.preformatted(&unindented(simple.content().original().data()));
            }
            // A synopsis is a style of manual pages that the parser does not know.
            (SimpleBlockStyle::Paragraph, style) if !matches!(style, Some("literal" | "synopsis")) => {
                self.caption(simple);
                self.paragraph_of(rendered);
            }
            _ => {
                self.lead(simple);
                self.preformatted(rendered);
            }
        }
    }

    fn raw<'a>(&mut self, raw: &'a RawDelimitedBlock<'a>) {
        let rendered = raw.content().rendered_html();
        match raw.resolved_context().as_ref() {
            "comment" => {}
            "pass" => {
                self.caption(raw);
                self.end_label();
                self.html.push_str(&html::closed(rendered));
            }
            _ => {
                self.lead(raw);
                self.preformatted(rendered);
            }
        }
    }

    pub(super) fn preformatted(&mut self, rendered: &str) {
        self.end_label();
        let text = self.inline(rendered);
        // A line break in front is none.
        self.push(&["<pre>\n", &text, "</pre>"]);
    }

    /// Writes the description of a picture, and the title of any medium.
    fn media<'a>(&mut self, media: &'a MediaBlock<'a>) {
        let described = media.macro_attrlist().named_or_positional_attribute("alt", 1);
        let described = described
            .filter(|_| media.type_() == MediaType::Image)
            .map(asciidoc_parser::attributes::ElementAttribute::value);
        let caption = caption_of(media);
        if let Some(described) = described.filter(|text| !caption.contains(text)) {
            self.paragraph_of(described);
        }
        self.paragraph_of(&caption);
    }

    fn admonition<'a>(&mut self, admonition: &'a AdmonitionBlock<'a>) -> Result<(), ExtractError> {
        self.label = format!("{}: ", self.inline(admonition.label()));
        self.caption(admonition);
        match admonition.content() {
            Some(content) => self.paragraph_of(content.rendered_html()),
            None => self.flow(admonition.child_blocks())?,
        }
        self.label.clear();
        Ok(())
    }

    fn quote<'a>(&mut self, quote: &'a QuoteBlock<'a>) -> Result<(), ExtractError> {
        self.caption(quote);
        match quote.content() {
            Some(content) if quote.type_() == QuoteType::Verse => {
                let lines = self.inline(content.rendered_html()).replace('\n', "<br>");
                self.paragraph(&lines);
            }
            Some(content) => self.paragraph_of(content.rendered_html()),
            None => self.flow(quote.child_blocks())?,
        }
        let source: Vec<&str> = [quote.attribution(), quote.citetitle()].into_iter().flatten().collect();
        if !source.is_empty() {
            self.paragraph_of(&format!("— {}", source.join(", ")));
        }
        Ok(())
    }

    /// Text that the parser has rendered, with the numbers of its footnotes, and with no tag of another's that is not
    /// closed.
    pub(super) fn inline(&mut self, rendered: &str) -> String {
        let rendered = without_macros(rendered);
        let is_own = |tag: &str| TAGS.iter().any(|own| tag.starts_with(own));
        let is_closed = rendered.match_indices('<').all(|(at, _)| rendered.get(at..).is_some_and(is_own));
        let rendered = if is_closed { rendered } else { Cow::Owned(html::closed(&rendered)) };
        let mut text = String::with_capacity(rendered.len());
        let mut rest = &*rendered;
        while let Some((before, after)) = rest.split_once(NOTE.0) {
            let (number, after) = after.split_once(NOTE.1).unwrap_or_default();
            self.noted.push(number.to_owned());
            text.extend([before, "[", number, "]"]);
            rest = after;
        }
        text.push_str(rest);
        text
    }
}

fn texts(footnotes: &[document::Footnote]) -> HashMap<String, String> {
    footnotes.iter().map(|note| (note.index.clone(), note.text.clone())).collect()
}

/// The title of a block with its number, "Table 1: Tides", which no full stop divides.
pub(super) fn caption_of<'a>(block: &'a impl IsBlock<'a>) -> String {
    let Some(title) = block.title() else { return String::new() };
    match block.caption().map(|caption| caption.trim_end().trim_end_matches('.')) {
        Some(caption) if !caption.is_empty() => format!("{caption}: {title}"),
        Some(_) | None => title.to_owned(),
    }
}
