//! Documents of word processors: paragraphs, headings by style, lists with their numbers, tables, notes.
//!
//! Text that was deleted or moved away under change tracking is left out, numbers of headings are not worked out.

use super::super::{
    ExtractError,
    archive::Archive,
    content::Content,
    grid::{Cell, Grid, RowKind, Span},
    xml::{Element, Token, walk},
};
use super::{
    bold::BoldParagraphs,
    numbering::{ListPlace, Numbering},
    read_title,
    styles::{Role, Styles, outline},
};

/// Columns by which each level of a list is indented.
const INDENT: &str = "   ";

/// Adds a document.
pub(crate) fn document(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    let mut archive = Archive::open(bytes)?;
    let styles = archive.text("word/styles.xml")?.map(|xml| Styles::read(&xml)).transpose()?.unwrap_or_default();
    let numbering = archive.text("word/numbering.xml")?.map(|xml| Numbering::read(&xml)).transpose()?;
    let mut numbering = numbering.unwrap_or_default();
    read_title(&mut archive, content)?;
    for part in ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"] {
        if let Some(xml) = archive.text(part)? {
            Body::new(&styles, &mut numbering, content).read(&xml)?;
        }
    }
    Ok(())
}

/// A paragraph that is being read.
#[derive(Debug, Default)]
struct Paragraph {
    text: String,
    role: Option<Role>,
    is_item: bool,
    place: ListPlace,
    /// The list that its style names.
    styled: ListPlace,
    /// Whether it holds text that is not bold.
    has_plain: bool,
}

/// A row that is being read.
#[derive(Debug, Default)]
struct Row {
    cells: Vec<Cell>,
    /// The cell under way.
    cell: Cell,
    /// Whether the document repeats it on each page.
    is_header: bool,
    /// Whether it holds text that is not bold.
    has_plain: bool,
}

struct Body<'input> {
    styles: &'input Styles,
    numbering: &'input mut Numbering,
    content: &'input mut Content,
    /// Open paragraphs: that of a text box lies in another.
    paragraphs: Vec<Paragraph>,
    /// Open rows: that of a table in a cell lies in another.
    rows: Vec<Row>,
    /// The table that the next row goes on with.
    grid: Grid,
    /// Whether the paragraph before was an entry of a list.
    item_follows: bool,
    /// Open elements that hold text.
    texts: usize,
    runs: usize,
    /// Whether the run under way is bold.
    is_bold: bool,
    /// Open elements inside one that is left out.
    skipped: usize,
    /// Paragraphs in bold; headings, if no style marks any.
    bold: BoldParagraphs,
    has_headings: bool,
}

impl<'input> Body<'input> {
    fn new(styles: &'input Styles, numbering: &'input mut Numbering, content: &'input mut Content) -> Self {
        Self {
            styles,
            numbering,
            content,
            paragraphs: Vec::new(),
            rows: Vec::new(),
            grid: Grid::default(),
            item_follows: false,
            texts: 0,
            runs: 0,
            is_bold: false,
            skipped: 0,
            bold: BoldParagraphs::default(),
            has_headings: false,
        }
    }

    fn read(mut self, xml: &str) -> Result<(), ExtractError> {
        walk(xml, |token| {
            match token {
                Token::Open(element) => self.open(&element),
                Token::Close(name) => return self.close(name),
                Token::Text(text) if self.texts > 0 && self.skipped == 0 => self.add(&text),
                Token::Text(_) => {}
            }
            Ok(())
        })?;
        if !self.has_headings {
            self.bold.head(self.content);
        }
        Ok(())
    }

    fn open(&mut self, element: &Element<'_>) {
        let name = element.name();
        // A fallback repeats its alternative; moved text is read at its new position.
        if self.skipped > 0 || matches!(name, "Fallback" | "moveFrom") {
            self.skipped += 1;
            return;
        }
        match name {
            "p" => self.paragraphs.push(Paragraph::default()),
            "r" => (self.runs, self.is_bold) = (self.runs + 1, false),
            "b" if self.runs > 0 => self.is_bold = is_on(element),
            "t" => self.texts += 1,
            "tab" | "ptab" if self.runs > 0 => self.add("\t"),
            "br" | "cr" if self.runs > 0 => self.add("\n"),
            "noBreakHyphen" => self.add("-"),
            "tr" => self.rows.push(Row::default()),
            "gridSpan" | "tblHeader" => self.describe_row(element),
            "pStyle" | "outlineLvl" | "numPr" | "numId" | "ilvl" => self.describe(element),
            _ => {}
        }
    }

    fn describe_row(&mut self, element: &Element<'_>) {
        let Some(row) = self.rows.last_mut() else { return };
        let value = element.attribute("val");
        if element.name() == "tblHeader" {
            row.is_header = is_on(element);
        } else {
            row.cell.span = Span { columns: value.and_then(|value| value.parse().ok()).unwrap_or(1), rows: 1 };
        }
    }

    fn describe(&mut self, element: &Element<'_>) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let value = element.attribute("val").unwrap_or_default();
        match element.name() {
            "pStyle" => {
                paragraph.role = self.styles.role(&value);
                paragraph.styled = self.styles.place(&value);
            }
            "outlineLvl" => paragraph.role = outline(&value).or(paragraph.role),
            "numPr" => paragraph.is_item = true,
            _ => paragraph.place.read(element),
        }
    }

    fn close(&mut self, name: &str) -> Result<(), ExtractError> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return Ok(());
        }
        match name {
            "p" => return self.end_paragraph(),
            "r" => self.runs = self.runs.saturating_sub(1),
            "t" => self.texts = self.texts.saturating_sub(1),
            "tc" => {
                if let Some(row) = self.rows.last_mut() {
                    row.cells.push(std::mem::take(&mut row.cell));
                }
            }
            "tr" => return self.end_row(),
            "tbl" if self.rows.is_empty() => return self.grid.end(self.content),
            _ => {}
        }
        Ok(())
    }

    fn add(&mut self, text: &str) {
        let is_plain = !self.is_bold && !text.trim().is_empty();
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
            paragraph.has_plain |= is_plain;
        }
        if let Some(row) = self.rows.last_mut() {
            row.has_plain |= is_plain;
        }
    }

    fn end_paragraph(&mut self) -> Result<(), ExtractError> {
        let Some(paragraph) = self.paragraphs.pop() else { return Ok(()) };
        if paragraph.text.trim().is_empty() {
            return Ok(());
        }
        if let Some(row) = self.rows.last_mut() {
            join(&mut row.cell.text, &paragraph.text);
            return Ok(());
        }
        let follows = std::mem::replace(&mut self.item_follows, false);
        let place = paragraph.place.or(&paragraph.styled);
        // A paragraph may leave the list of its style.
        let is_item = (paragraph.is_item || paragraph.role == Some(Role::Item)) && place.list.as_deref() != Some("0");
        match paragraph.role {
            Some(Role::Title) => {
                self.content.name(&paragraph.text);
                self.content.heading(1, &paragraph.text)
            }
            Some(Role::Heading(level)) => {
                self.has_headings = true;
                self.content.heading(level, &paragraph.text)
            }
            Some(Role::Item) | None if is_item => self.write_item(&paragraph.text, &place, follows),
            Some(Role::Item) | None => {
                self.content.block(&paragraph.text)?;
                if !paragraph.has_plain {
                    self.bold.add(self.content, &paragraph.text);
                }
                Ok(())
            }
        }
    }

    fn write_item(&mut self, text: &str, place: &ListPlace, follows: bool) -> Result<(), ExtractError> {
        self.item_follows = true;
        let indent = INDENT.repeat(if follows { place.level.unwrap_or(0) } else { 0 });
        let text = format!("{indent}{} {}", self.numbering.next_mark(place), text.trim_start());
        if follows { self.content.line(&text) } else { self.content.block(&text) }
    }

    fn end_row(&mut self) -> Result<(), ExtractError> {
        let Some(row) = self.rows.pop() else { return Ok(()) };
        if let Some(outer) = self.rows.last_mut() {
            join(&mut outer.cell.text, &Grid::only_line(row.cells));
            outer.has_plain = true;
            return Ok(());
        }
        let kind = match (row.is_header, row.has_plain) {
            (true, _) => RowKind::Header,
            (false, false) => RowKind::LikeHeader,
            (false, true) => RowKind::Unknown,
        };
        self.grid.write(row.cells, kind, self.content)
    }
}

/// Whether a property that is present is not switched off.
fn is_on(element: &Element<'_>) -> bool {
    !matches!(element.attribute("val").as_deref(), Some("0" | "false" | "off"))
}

/// Adds words to a cell, which is one line.
fn join(cell: &mut String, text: &str) {
    for word in text.split_whitespace() {
        if !cell.is_empty() {
            cell.push(' ');
        }
        cell.push_str(word);
    }
}

#[cfg(test)]
mod tests;
