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
            content.heading(1, &title.lines.join(" "))?;
        }
        for shape in shapes.iter().filter(|shape| !shape.is_title) {
            content.block(&shape.lines.join("\n"))?;
        }
        let notes = relations_of(&mut archive, &path)?.into_values().find(|(_, kind)| kind == "notesSlide");
        if let Some((notes, _)) = notes
            && let Some(xml) = archive.text(&notes)?
        {
            for shape in Shapes::read(&xml)?.iter().filter(|shape| shape.is_body) {
                content.block(&shape.lines.join("\n"))?;
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

/// A box of a slide, or a table.
#[derive(Debug, Default)]
struct Shape {
    is_title: bool,
    /// The body of a page of notes, as opposed to its page number.
    is_body: bool,
    lines: Vec<String>,
}

#[derive(Debug, Default)]
struct Shapes {
    done: Vec<Shape>,
    shape: Shape,
    line: String,
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
                Token::Text(text) if shapes.in_text && shapes.skipped == 0 => shapes.line.push_str(&text),
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
                self.shape.is_body = kind.as_deref() == Some("body");
            }
            "t" => self.in_text = true,
            "br" => self.line.push('\n'),
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
                self.shape.lines.extend(lines);
            }
            "tbl" => {
                let lines = self.grid.last_lines();
                self.shape.lines.extend(lines);
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

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.trim().is_empty() {
        } else if self.row.is_some() {
            let words = [self.cell.as_str(), line.trim()].join(" ");
            self.cell = words.split_whitespace().collect::<Vec<_>>().join(" ");
        } else {
            self.shape.lines.push(line.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::packed;

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
