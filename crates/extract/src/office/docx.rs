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
        })
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
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
        if let Some(row) = self.rows.last_mut() {
            row.has_plain |= !self.is_bold && !text.trim().is_empty();
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
            Some(Role::Heading(level)) => self.content.heading(level, &paragraph.text),
            Some(Role::Item) | None if is_item => self.write_item(&paragraph.text, &place, follows),
            Some(Role::Item) | None => self.content.block(&paragraph.text),
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
mod tests {
    use super::*;
    use crate::archive::tests::packed;

    fn read(body: &str) -> Content {
        let document = format!("<w:document><w:body>{body}</w:body></w:document>");
        let styles = r#"<w:styles><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>"#;
        let parts = [("word/document.xml", document.as_bytes()), ("word/styles.xml", styles.as_bytes())];
        let mut content = Content::default();
        super::document(&packed(&parts), &mut content).expect("a document");
        content
    }

    #[test]
    fn paragraphs_headings_lists_and_tables() {
        let content = read(
            r#"<w:p><w:pPr><w:pStyle w:val="H1"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>Leave</w:t></w:r></w:p>
            <w:p><w:r><w:t xml:space="preserve">Everyone </w:t></w:r><w:r><w:t>has 28</w:t><w:tab/><w:t>days.</w:t></w:r></w:p>
            <w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>One</w:t></w:r></w:p><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Two</w:t></w:r></w:p>
            <w:tbl><w:tr><w:tc><w:p><w:r><w:t>A</w:t></w:r></w:p><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>In</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr>
            <w:tr><w:tc><w:p/></w:tc><w:tc><w:p><w:r><w:t>C</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"#,
        );
        assert_eq!(content.text, "Leave\n\nEveryone has 28\tdays.\n\n- One\n- Two\n\n| A b | In |\nC");
        assert_eq!((content.headings.len(), content.headings[0].level), (1, 1));
    }

    #[test]
    fn entries_of_lists_have_their_numbers() {
        let item = |list: u8, level: u8, text: &str| {
            format!(
                r#"<w:p><w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list}"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"#
            )
        };
        let rest = r#"<w:p><w:pPr><w:pStyle w:val="LN"/></w:pPr><w:r><w:t>Rest</w:t></w:r></w:p>"#;
        let plain = "<w:p><w:r><w:t>Then:</w:t></w:r></w:p>";
        let body = [item(1, 0, "Stir"), item(1, 1, "Well"), item(1, 0, "Paint"), plain.to_owned(), rest.to_owned()];
        let left = rest.replace("<w:pStyle", r#"<w:numPr><w:numId w:val="0"/></w:numPr><w:pStyle"#);
        let document =
            format!("<w:document><w:body>{}{}{left}</w:body></w:document>", body.concat(), item(2, 0, "Dry"));
        let lists = r#"<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
            <w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/><w:lvlText w:val="-"/></w:lvl></w:abstractNum>
            <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num></w:numbering>"#;
        let styles = r#"<w:styles><w:style w:styleId="LN"><w:name w:val="List Number"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style></w:styles>"#;
        let parts = [
            ("word/document.xml", document.as_bytes()),
            ("word/numbering.xml", lists.as_bytes()),
            ("word/styles.xml", styles.as_bytes()),
        ];
        let mut content = Content::default();
        super::document(&packed(&parts), &mut content).expect("a document");
        assert_eq!(content.text, "1. Stir\n   - Well\n2. Paint\n\nThen:\n\n1. Rest\n2. Dry\n\nRest");
    }

    #[test]
    fn rows_that_are_repeated_on_each_page_are_headers() {
        let cell = |text: &str| format!("<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>");
        let wide = cell("Days").replace("<w:tc>", r#"<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>"#);
        let content = read(&format!(
            "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>{}{wide}</w:tr><w:tr>{}{}{}</w:tr></w:tbl>",
            cell("Kind"),
            cell("Annual"),
            cell(""),
            cell("28"),
        ));
        assert_eq!(content.text, "| Kind | Days |  |\n|---|---|---|\n| Annual |  | 28 |");
        let marked = "<w:trPr><w:tblHeader/></w:trPr>";
        let content = read(&format!(
            "<w:tbl><w:tr>{marked}{}{wide}</w:tr><w:tr>{marked}{}{}{}</w:tr><w:tr>{}{}{}</w:tr></w:tbl>",
            cell("Kind"),
            cell(""),
            cell("paid"),
            cell("unpaid"),
            cell("Annual"),
            cell("28"),
            cell("5"),
        ));
        assert_eq!(content.text, "| Kind | Days – paid | Days – unpaid |\n|---|---|---|\n| Annual | 28 | 5 |");
    }

    #[test]
    fn a_first_row_in_bold_is_a_header() {
        let cell = |text: &str, property: &str| {
            format!("<w:tc><w:p><w:r><w:rPr>{property}</w:rPr><w:t>{text}</w:t></w:r></w:p></w:tc>")
        };
        let table = |property: &str| {
            let first = cell("Name", property) + &cell("Desk", property);
            let second = cell("Ada", "") + &cell("front", "");
            read(&format!("<w:tbl><w:tr>{first}</w:tr><w:tr>{second}</w:tr></w:tbl>")).text
        };
        assert_eq!(table("<w:b/>"), "| Name | Desk |\n|---|---|\n| Ada | front |");
        assert_eq!(table(r#"<w:b w:val="0"/>"#), "| Name | Desk |\n| Ada | front |");
    }

    #[test]
    fn each_text_is_taken_once() {
        let content = read(
            r"<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>Box</w:t></w:r></w:p></w:txbxContent></mc:Choice>
            <mc:Fallback><w:p><w:r><w:t>Box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent><w:t>Around</w:t></w:r></w:p>
            <w:p><w:del><w:r><w:delText>Old</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>Moved</w:t></w:r></w:moveFrom><w:ins><w:r><w:t>New</w:t></w:r></w:ins></w:p>",
        );
        assert_eq!(content.text, "Box\n\nAround\n\nNew");
    }
}
