//! Slides: each is a page, its title a heading, its speaker's notes stand below it.

use super::super::{
    ExtractError,
    archive::Archive,
    content::Content,
    grid::{Cell, Grid, RowKind},
    xml::{Element, Token, walk},
};
use super::{read_title, relations::relations_of};

const PRESENTATION: &str = "ppt/presentation.xml";

/// Adds a presentation.
pub(crate) fn presentation(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    let mut archive = Archive::open(bytes)?;
    read_title(&mut archive, content)?;
    for path in slides(&mut archive)? {
        content.page();
        let Some(xml) = archive.text(&path)? else { continue };
        let shapes = Shapes::read(&xml)?;
        for title in shapes.iter().filter(|shape| shape.is_title) {
            content.heading(1, &title.lines.iter().map(|line| &*line.text).collect::<Vec<_>>().join(" "))?;
        }
        for shape in shapes.iter().filter(|shape| !shape.is_title && !shape.is_margin) {
            content.block(&shape.text(shape.is_body))?;
        }
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
    lines: Vec<Line>,
}

impl Shape {
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
    has_header: bool,
    /// Cells of the row under way.
    row: Option<Vec<Cell>>,
    cell: String,
    in_text: bool,
    skipped: usize,
}

impl Shapes {
    /// The shapes with text, in the order in which they lie on each other.
    fn read(xml: &str) -> Result<Vec<Shape>, ExtractError> {
        let mut shapes = Self::default();
        walk(xml, |token| {
            match token {
                Token::Open(element) => shapes.open(&element),
                Token::Close(name) => shapes.close(name),
                Token::Text(text) if shapes.in_text && shapes.skipped == 0 => shapes.line.text.push_str(&text),
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
            "sp" | "graphicFrame" => self.shape = Shape::default(),
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
            "br" => self.line.text.push('\n'),
            "tbl" => (self.grid, self.has_header) = (Grid::default(), false),
            "tblPr" => self.has_header = matches!(element.attribute("firstRow").as_deref(), Some("1" | "true")),
            "tr" => self.row = Some(Vec::new()),
            _ => {}
        }
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
                    row.push(Cell { text: cell, ..Cell::default() });
                }
            }
            "tr" => {
                let cells = self.row.take().unwrap_or_default();
                let lines = self.grid.lines(cells, RowKind::of(std::mem::take(&mut self.has_header)));
                self.add_rows(lines);
            }
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
            let words = [self.cell.as_str(), text].join(" ");
            self.cell = words.split_whitespace().collect::<Vec<_>>().join(" ");
        } else {
            self.shape.lines.push(Line { text: text.to_owned(), ..line });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::packed;

    #[test]
    fn paragraphs_of_a_body_are_a_list() {
        let shape = |kind: &str, paragraphs: &[(&str, &str)]| {
            let paragraph = |(properties, text): &(&str, &str)| {
                format!("<a:p><a:pPr {properties}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>")
            };
            let paragraphs: String = paragraphs.iter().map(paragraph).collect();
            format!("<p:sp><p:nvPr>{kind}</p:nvPr><p:txBody><a:lstStyle/>{paragraphs}</p:txBody></p:sp>")
        };
        let read = |xml: &str| {
            Shapes::read(xml).expect("shapes").iter().map(|shape| shape.text(shape.is_body)).collect::<Vec<_>>()
        };
        let body = "<p:ph idx='1'/>";
        assert_eq!(read(&shape(body, &[(">", "Alone.")])), ["Alone."]);
        let many = [(">", "Ask"), ("lvl='1'>", "early"), (">", "Wait"), ("><a:buNone/>", "No entry")];
        assert_eq!(read(&shape(body, &many)), ["- Ask\n  - early\n- Wait\nNo entry"]);
        assert_eq!(read(&shape("", &many)), ["Ask\nearly\nWait\nNo entry"]);
        let steps = [
            ("><a:buAutoNum type='arabicPeriod'/>", "Ask"),
            ("lvl='1'><a:buChar char='•'/>", "early"),
            ("><a:buAutoNum type='arabicPeriod'/>", "Wait"),
            (">", "Then"),
            ("><a:buAutoNum type='arabicPeriod'/>", "Go"),
        ];
        assert_eq!(read(&shape("", &steps)), ["1. Ask\n  - early\n2. Wait\nThen\n1. Go"]);
    }

    #[test]
    fn slides_are_pages_in_the_order_of_the_show() {
        let text = |words: &str| format!("<a:p><a:r><a:t>{words}</a:t></a:r></a:p>");
        let slide = |shapes: &str| format!("<p:sld><p:spTree>{shapes}</p:spTree></p:sld>");
        let first = slide(&format!(
            "<p:sp>{}</p:sp><p:sp><p:nvPr><p:ph type='title'/></p:nvPr>{}</p:sp>",
            text("Body &amp; more"),
            text("Opening")
        ));
        let second = slide(&format!(
            "<p:graphicFrame><a:tbl><a:tr><a:tc>{}</a:tc><a:tc>{}</a:tc></a:tr></a:tbl></p:graphicFrame>",
            text("A"),
            text("1")
        ));
        let notes = format!(
            "<p:notes><p:sp><p:ph type='sldNum'/>{}</p:sp><p:sp><p:ph type='body'/>{}</p:sp></p:notes>",
            text("7"),
            text("Say hello.")
        );
        let parts: [(&str, &str); 6] = [
            (
                PRESENTATION,
                "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='b'/><p:sldId id='257' r:id='a'/></p:sldIdLst></p:presentation>",
            ),
            (
                "ppt/_rels/presentation.xml.rels",
                "<R><R Id='a' Target='slides/s1.xml'/><R Id='b' Target='/ppt/slides/s2.xml'/></R>",
            ),
            ("ppt/slides/s1.xml", &second),
            ("ppt/slides/s2.xml", &first),
            ("ppt/slides/_rels/s2.xml.rels", "<R><R Id='n' Type='http://x/notesSlide' Target='../notes/n.xml'/></R>"),
            ("ppt/notes/n.xml", &notes),
        ];
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        let mut content = Content::default();
        presentation(&packed(&parts), &mut content).expect("a presentation");
        assert_eq!(content.text, "Opening\n\nBody & more\n\nSay hello.\n\n| A | 1 |");
        assert_eq!(content.pages.count(), 2);
        assert_eq!(content.pages.page_at(content.text.len() - 1), Some(2));
        assert_eq!(content.headings[0].text, "Opening");
    }
}
