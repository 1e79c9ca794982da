//! Documents of word processors: paragraphs, headings by style, lists with their numbers, tables, notes.
//!
//! Text that was deleted or moved away under change tracking is left out, numbers of headings are not worked out.

mod merged;
mod notes;
mod run;
mod symbols;

use std::borrow::Cow;

use super::super::{
    ExtractError,
    archive::Archive,
    content::Content,
    grid::{Cell, Grid, RowKind, Span},
    look::Look,
    xml::{Element, Token, walk},
};
use super::{
    bold::BoldParagraphs,
    numbering::{ListPlace, Numbering},
    read_title,
    styles::{Role, Styles, is_on, outline},
};
use merged::{Merge, Merged};
use notes::Notes;
use run::Run;
use symbols::symbol;

/// Columns by which each level of a list is indented.
const INDENT: &str = "   ";

/// Adds a document.
pub(crate) fn document(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    let mut archive = Archive::open(bytes)?;
    let styles = archive.text("word/styles.xml")?.map(|xml| Styles::read(&xml)).transpose()?.unwrap_or_default();
    let numbering = archive.text("word/numbering.xml")?.map(|xml| Numbering::read(&xml)).transpose()?;
    let mut numbering = numbering.unwrap_or_default();
    read_title(&mut archive, content)?;
    let mut notes = Notes::default();
    for part in ["word/footnotes.xml", "word/endnotes.xml"] {
        if let Some(xml) = archive.text(part)? {
            Body::new(&styles, &mut numbering, &mut notes, &mut Content::default()).read(&xml)?;
        }
    }
    if let Some(xml) = archive.text("word/document.xml")? {
        Body::new(&styles, &mut numbering, &mut notes, content).read(&xml)?;
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
    /// How its style looks.
    look: Look,
    /// How many notes the text above it names.
    notes: usize,
}

/// A row that is being read.
#[derive(Debug, Default)]
struct Row {
    cells: Vec<Cell>,
    merges: Vec<Merge>,
    /// The cell under way.
    cell: Cell,
    merge: Merge,
    /// Whether the document repeats it on each page.
    is_header: bool,
    /// Whether it holds text that is not bold.
    has_plain: bool,
}

struct Body<'input> {
    styles: &'input Styles,
    numbering: &'input mut Numbering,
    notes: &'input mut Notes,
    content: &'input mut Content,
    /// The note under way.
    note: Option<String>,
    /// Open paragraphs: that of a text box lies in another.
    paragraphs: Vec<Paragraph>,
    /// Open rows: that of a table in a cell lies in another.
    rows: Vec<Row>,
    /// The table that the next row goes on with.
    grid: Grid,
    merged: Merged,
    /// Whether the paragraph before was an entry of a list.
    item_follows: bool,
    /// Open elements that hold text.
    texts: usize,
    /// Open runs.
    runs: Vec<Run>,
    /// Whether properties of a paragraph are open: those of its mark are not those of a run.
    in_properties: bool,
    /// Open elements inside one that is left out.
    skipped: usize,
    /// Paragraphs in bold; headings, if no style marks any.
    bold: BoldParagraphs,
    has_headings: bool,
}

impl<'input> Body<'input> {
    fn new(
        styles: &'input Styles,
        numbering: &'input mut Numbering,
        notes: &'input mut Notes,
        content: &'input mut Content,
    ) -> Self {
        Self {
            styles,
            numbering,
            notes,
            content,
            note: None,
            paragraphs: Vec::new(),
            rows: Vec::new(),
            grid: Grid::default(),
            merged: Merged::default(),
            item_follows: false,
            texts: 0,
            runs: Vec::new(),
            in_properties: false,
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
        self.notes.write(usize::MAX, self.content)?;
        if !self.has_headings {
            self.bold.head(self.content);
        }
        Ok(())
    }

    fn open(&mut self, element: &Element<'_>) {
        let name = element.name();
        // A fallback repeats its alternative; moved text is read at its new position.
        if self.skipped > 0 || matches!(name, "Fallback" | "moveFrom" | "del") {
            self.skipped += 1;
            return;
        }
        match name {
            "p" => self.paragraphs.push(Paragraph { notes: self.notes.count(), ..Paragraph::default() }),
            "pPr" => self.in_properties = true,
            "r" => self.runs.push(Run::default()),
            "b" | "rStyle" | "vanish" | "vertAlign" if !self.in_properties => self.describe_run(element),
            "t" => self.texts += 1,
            "tab" | "ptab" if !self.runs.is_empty() => self.add("\t"),
            "br" | "cr" if !self.runs.is_empty() => self.add("\n"),
            "noBreakHyphen" => self.add("-"),
            "sym" => self.add_symbol(element),
            "footnote" | "endnote" => self.note = element.attribute("id"),
            "footnoteReference" | "endnoteReference" => self.add_note(element),
            "tr" => self.rows.push(Row::default()),
            "gridSpan" | "tblHeader" | "vMerge" => self.describe_row(element),
            "pStyle" | "outlineLvl" | "numPr" | "numId" | "ilvl" => self.describe(element),
            _ => {}
        }
    }

    fn describe_row(&mut self, element: &Element<'_>) {
        let Some(row) = self.rows.last_mut() else { return };
        let value = element.attribute("val");
        match element.name() {
            "tblHeader" => row.is_header = is_on(element),
            "vMerge" => row.merge = if value.as_deref() == Some("restart") { Merge::Begins } else { Merge::GoesOn },
            _ => row.cell.span = Span { columns: value.and_then(|value| value.parse().ok()).unwrap_or(1), rows: 1 },
        }
    }

    fn describe_run(&mut self, element: &Element<'_>) {
        let Some(run) = self.runs.last_mut() else { return };
        match element.name() {
            "b" => run.is_bold = is_on(element),
            "rStyle" => run.own = run.own.or(self.styles.look(&element.attribute("val").unwrap_or_default())),
            _ => run.own.read(element),
        }
    }

    fn describe(&mut self, element: &Element<'_>) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let value = element.attribute("val").unwrap_or_default();
        match element.name() {
            "pStyle" => {
                paragraph.role = self.styles.role(&value);
                paragraph.styled = self.styles.place(&value);
                paragraph.look = self.styles.look(&value);
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
            "pPr" => self.in_properties = false,
            "r" => drop(self.runs.pop()),
            "footnote" | "endnote" => {
                let text = std::mem::take(&mut self.content.text);
                if let Some(id) = self.note.take() {
                    self.notes.add(name, id, &text);
                }
            }
            "t" => self.texts = self.texts.saturating_sub(1),
            "tc" => {
                if let Some(row) = self.rows.last_mut() {
                    row.cells.push(std::mem::take(&mut row.cell));
                    row.merges.push(std::mem::take(&mut row.merge));
                }
            }
            "tr" => return self.end_row(),
            "tbl" if self.rows.is_empty() => {
                self.merged = Merged::default();
                return self.grid.end(self.content);
            }
            _ => {}
        }
        Ok(())
    }

    /// Text as the run under way shows it.
    fn shown<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        let look = self.paragraphs.last().map(|paragraph| paragraph.look).unwrap_or_default();
        self.runs.last().map_or(Some(Cow::Borrowed(text)), |run| run.shown(text, look))
    }

    fn add(&mut self, text: &str) {
        let Some(text) = self.shown(text) else { return };
        let is_bold = self.runs.last().is_some_and(|run| run.is_bold);
        let is_plain = !is_bold && !text.trim().is_empty();
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(&text);
            paragraph.has_plain |= is_plain;
        }
        if let Some(row) = self.rows.last_mut() {
            row.has_plain |= is_plain;
        }
    }

    fn add_symbol(&mut self, element: &Element<'_>) {
        let [font, place] = ["font", "char"].map(|name| element.attribute(name).unwrap_or_default());
        if let Some(sign) = symbol(&font, &place) {
            self.add(sign.encode_utf8(&mut [0; 4]));
        }
    }

    /// Adds the mark of a note.
    fn add_note(&mut self, element: &Element<'_>) {
        if self.shown("").is_none() {
            return;
        }
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let kind = element.name().strip_suffix("Reference").unwrap_or_default();
        let number = element.attribute("id").and_then(|id| self.notes.number(kind, id));
        let is_heading = matches!(paragraph.role, Some(Role::Title | Role::Heading(_)));
        if let Some(number) = number.filter(|_| !is_heading) {
            paragraph.text.extend(["[", &number.to_string(), "]"]);
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
                self.notes.write(paragraph.notes, self.content)?;
                self.content.name(&paragraph.text);
                self.content.heading(1, &paragraph.text)
            }
            Some(Role::Heading(level)) => {
                self.has_headings = true;
                self.notes.write(paragraph.notes, self.content)?;
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
        let Some(mut row) = self.rows.pop() else { return Ok(()) };
        if let Some(outer) = self.rows.last_mut() {
            join(&mut outer.cell.text, &Grid::only_line(row.cells));
            outer.has_plain = true;
            return Ok(());
        }
        self.merged.fill(&mut row.cells, &row.merges);
        let kind = match (row.is_header, row.has_plain) {
            (true, _) => RowKind::Header,
            (false, false) => RowKind::LikeHeader,
            (false, true) => RowKind::Unknown,
        };
        self.grid.write(row.cells, kind, self.content)
    }
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
