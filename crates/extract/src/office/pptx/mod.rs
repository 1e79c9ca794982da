//! Slides: each is a page, its title a heading, its speaker's notes stand below it.

mod order;

use std::borrow::Cow;

use super::super::{
    ExtractError,
    archive::Archive,
    content::Content,
    grid::{Cell, Grid, RowKind, Span},
    superscript::raised,
    xml::{Element, Token, walk},
};
use super::{read_title, relations::relations_of};
use order::{Place, from_top};

const PRESENTATION: &str = "ppt/presentation.xml";

/// Adds a presentation.
pub(crate) fn presentation(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    let mut archive = Archive::open(bytes)?;
    read_title(&mut archive, content)?;
    for path in slides(&mut archive)? {
        content.page();
        let Some(xml) = archive.text(&path)? else { continue };
        write_slide(Shapes::read(&xml)?, content)?;
        let notes = relations_of(&mut archive, &path)?.into_values().find(|(_, kind)| kind == "notesSlide");
        if let Some((notes, _)) = notes
            && let Some(xml) = archive.text(&notes)?
        {
            for shape in Shapes::read(&xml)?.iter().filter(|shape| shape.is_body) {
                content.block(&shape.text(false))?;
            }
        }
    }
    Ok(())
}

fn write_slide(shapes: Vec<Shape>, content: &mut Content) -> Result<(), ExtractError> {
    let shapes = shapes.into_iter().filter(|shape| !shape.is_margin);
    let (titles, shapes): (Vec<Shape>, Vec<Shape>) = shapes.partition(|shape| shape.is_title);
    let mut shapes = from_top(shapes);
    let is_headed = titles.is_empty() && shapes.len() > 1 && shapes.first().is_some_and(Shape::is_like_title);
    let first = usize::from(is_headed);
    for title in titles.into_iter().chain(shapes.drain(..first)) {
        content.heading(1, &title.lines.iter().map(|line| &*line.text).collect::<Vec<_>>().join(" "))?;
    }
    shapes.iter().try_for_each(|shape| content.block(&shape.text(shape.is_body)))
}

/// Paths of the slides in the order of the show.
fn slides(archive: &mut Archive<'_>) -> Result<Vec<String>, ExtractError> {
    let relations = relations_of(archive, PRESENTATION)?;
    let mut paths = Vec::new();
    let xml = archive.text(PRESENTATION)?.unwrap_or_default();
    walk(&xml, |token| {
        if let Token::Open(element) = token
            && element.name() == "sldId"
            && let Some((path, _)) = element.prefixed_attribute("id").and_then(|id| relations.get(&id))
        {
            paths.push(path.clone());
        }
        Ok(())
    })?;
    Ok(paths)
}

/// Levels of lists.
const LEVELS: usize = 9;

/// The sign before a paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Nothing,
    Bullet,
    Number,
}

/// A paragraph, or a row of a table.
#[derive(Debug, Default)]
struct Line {
    text: String,
    level: usize,
    /// None where the paragraph leaves it to the layout.
    mark: Option<Mark>,
}

/// A box of a slide, or a table.
#[derive(Debug, Default)]
struct Shape {
    is_title: bool,
    /// The body of a slide, or of a page of notes.
    is_body: bool,
    /// Its number, its date, or a line that stands on every slide.
    is_margin: bool,
    place: Place,
    lines: Vec<Line>,
}

/// Longest line that heads a slide which has no title, in characters.
const LONGEST_TITLE: usize = 80;

impl Shape {
    /// Whether it is a short line above the others, which heads them.
    fn is_like_title(&self) -> bool {
        let [line] = self.lines.as_slice() else { return false };
        let is_short = line.text.chars().count() <= LONGEST_TITLE && !line.text.contains('\n');
        let is_free = self.place.area.is_some() && !self.is_body && line.mark.is_none();
        is_short && is_free && !line.text.ends_with(['.', ',', ';', '!']) && line.text.contains(char::is_alphabetic)
    }

    /// Its text. Paragraphs of the body of a slide are a list where there are several and nothing says that they are none:
    /// layouts give them bullets.
    fn text(&self, may_be_list: bool) -> String {
        let usual = if may_be_list && self.lines.len() > 1 { Mark::Bullet } else { Mark::Nothing };
        let mut numbers = [0_u32; LEVELS];
        let line = |line: &Line| {
            let mark = line.mark.unwrap_or(usual);
            let (_, here_and_below) = numbers.split_at_mut(line.level.min(LEVELS - 1));
            let number = here_and_below.first().map_or(1, |number| number + 1);
            here_and_below.fill(0);
            let indent = "  ".repeat(line.level);
            match mark {
                Mark::Nothing => line.text.clone(),
                Mark::Bullet => format!("{indent}- {}", line.text),
                Mark::Number => {
                    here_and_below.iter_mut().take(1).for_each(|last| *last = number);
                    format!("{indent}{number}. {}", line.text)
                }
            }
        };
        self.lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

#[derive(Debug, Default)]
struct Shapes {
    done: Vec<Shape>,
    shape: Shape,
    line: Line,
    /// The table under way, and whether its first row is a header.
    grid: Grid,
    header: Header,
    /// The row under way.
    row: Option<Row>,
    cell: Cell,
    in_text: bool,
    /// Whether the text under way stands above its line.
    is_raised: bool,
    skipped: usize,
    /// How many groups have begun, and the numbers of the open ones.
    groups: usize,
    open_groups: Vec<usize>,
}

/// What is known of the header of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Header {
    #[default]
    Nothing,
    /// The next row is one.
    First,
    /// The row before was one, with cells over several columns.
    Wide,
}

/// A row of a table that is being read.
#[derive(Debug, Default)]
struct Row {
    cells: Vec<Cell>,
    /// Whether a cell above reaches into it, or its first one is empty.
    lies_below: bool,
}

impl Shapes {
    /// The shapes with text, in the order in which they lie on each other.
    fn read(xml: &str) -> Result<Vec<Shape>, ExtractError> {
        let mut shapes = Self::default();
        walk(xml, |token| {
            match token {
                Token::Open(element) => shapes.open(&element),
                Token::Close(name) => shapes.close(name),
                Token::Text(text) if shapes.in_text && shapes.skipped == 0 => {
                    let text = if shapes.is_raised { Cow::Owned(raised(&text)) } else { Cow::Borrowed(text.as_ref()) };
                    shapes.line.text.push_str(&text);
                }
                Token::Text(_) => {}
            }
            Ok(())
        })?;
        Ok(shapes.done)
    }

    fn open(&mut self, element: &Element<'_>) {
        let name = element.name();
        if self.skipped > 0 || name == "Fallback" {
            self.skipped += 1;
            return;
        }
        match name {
            "sp" | "graphicFrame" => {
                self.shape = Shape::default();
                self.shape.place.group = self.open_groups.last().copied().unwrap_or(0);
            }
            "grpSp" => {
                self.groups += 1;
                self.open_groups.push(self.groups);
            }
            "off" | "ext" => self.place(element),
            "ph" => {
                let kind = element.attribute("type");
                self.shape.is_title = matches!(kind.as_deref(), Some("title" | "ctrTitle"));
                self.shape.is_body = matches!(kind.as_deref(), None | Some("body" | "obj"));
                self.shape.is_margin = matches!(kind.as_deref(), Some("sldNum" | "dt" | "ftr" | "hdr"));
            }
            "p" => self.line = Line::default(),
            "pPr" => {
                let level = element.attribute("lvl").and_then(|level| level.parse().ok());
                self.line.level = level.unwrap_or(0).min(LEVELS - 1);
            }
            "buNone" => self.line.mark = Some(Mark::Nothing),
            "buChar" | "buBlip" => self.line.mark = Some(Mark::Bullet),
            "buAutoNum" => self.line.mark = Some(Mark::Number),
            "t" => self.in_text = true,
            "r" | "fld" => self.is_raised = false,
            "rPr" => self.is_raised = number(element, "baseline").is_some_and(|percentage| percentage > 0),
            "br" => self.line.text.push('\n'),
            "tbl" => (self.grid, self.header) = (Grid::default(), Header::Nothing),
            "tblPr" if is_on(element, "firstRow") => self.header = Header::First,
            "tr" => self.row = Some(Row::default()),
            "tc" => self.begin_cell(element),
            _ => {}
        }
    }

    /// Notes where the shape under way is.
    fn place(&mut self, element: &Element<'_>) {
        let names = if element.name() == "off" { ["x", "y"] } else { ["cx", "cy"] };
        let [Some(one), Some(other)] = names.map(|name| number(element, name)) else { return };
        match (element.name(), self.shape.place.area) {
            ("off", None) => self.shape.place.area = Some([one, other, 0, 0]),
            ("ext", Some([left, top, 0, 0])) => self.shape.place.area = Some([left, top, one, other]),
            _ => {}
        }
    }

    fn begin_cell(&mut self, element: &Element<'_>) {
        // Cells that another one reaches over are there too.
        let is_covered = ["hMerge", "vMerge"].map(|name| is_on(element, name));
        if let Some(row) = &mut self.row {
            row.lies_below |= is_covered == [false, true];
        }
        if is_covered.contains(&true) {
            self.skipped = 1;
            return;
        }
        let extent = |name| number(element, name).and_then(|cells| usize::try_from(cells).ok()).unwrap_or(1);
        self.cell.span = Span { columns: extent("gridSpan"), rows: extent("rowSpan") };
    }

    fn end_row(&mut self) {
        let Row { cells, lies_below } = self.row.take().unwrap_or_default();
        let lies_below = lies_below || cells.first().is_some_and(|cell| cell.text.is_empty());
        let kind = match self.header {
            Header::First => RowKind::Header,
            Header::Wide if lies_below => RowKind::LikeHeader,
            Header::Wide | Header::Nothing => RowKind::Unknown,
        };
        let is_wide = kind == RowKind::Header && cells.iter().any(|cell| cell.span.columns > 1);
        self.header = if is_wide { Header::Wide } else { Header::Nothing };
        let lines = self.grid.lines(cells, kind);
        self.add_rows(lines);
    }

    fn close(&mut self, name: &str) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        match name {
            "t" => self.in_text = false,
            "p" => self.end_line(),
            "tc" => {
                let cell = std::mem::take(&mut self.cell);
                if let Some(row) = &mut self.row {
                    row.cells.push(cell);
                }
            }
            "tr" => self.end_row(),
            "grpSp" => drop(self.open_groups.pop()),
            "tbl" => {
                let lines = self.grid.last_lines();
                self.add_rows(lines);
            }
            "sp" | "graphicFrame" => {
                let shape = std::mem::take(&mut self.shape);
                if !shape.lines.is_empty() {
                    self.done.push(shape);
                }
            }
            _ => {}
        }
    }

    fn add_rows(&mut self, rows: Vec<String>) {
        let row = |text: String| Line { text, level: 0, mark: Some(Mark::Nothing) };
        self.shape.lines.extend(rows.into_iter().map(row));
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = line.text.trim();
        if text.is_empty() {
        } else if self.row.is_some() {
            let words = [self.cell.text.as_str(), text].join(" ");
            self.cell.text = words.split_whitespace().collect::<Vec<_>>().join(" ");
        } else {
            self.shape.lines.push(Line { text: text.to_owned(), ..line });
        }
    }
}

fn number(element: &Element<'_>, name: &str) -> Option<i64> {
    element.attribute(name)?.trim_end_matches('%').parse().ok()
}

fn is_on(element: &Element<'_>, name: &str) -> bool {
    matches!(element.attribute(name).as_deref(), Some("1" | "true"))
}

#[cfg(test)]
mod tests;
