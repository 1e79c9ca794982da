//! Tables of a document as those of a web page.

use asciidoc_parser::blocks::{ColumnStyle, TableBlock, TableCell, TableCellContent, TableRow};

use super::{
    super::ExtractError,
    blocks::{Writer, caption_of},
};

impl Writer {
    /// Writes a table. One inside a cell becomes text: a row of a page is one line.
    pub(super) fn table<'a>(&mut self, table: &'a TableBlock<'a>) -> Result<(), ExtractError> {
        let rows = table.header_row().into_iter().map(|row| (row, true));
        let rows = rows.chain(table.body_rows().iter().chain(table.footer_row()).map(|row| (row, false)));
        let caption = caption_of(table);
        if self.cells > 0 {
            self.paragraph_of(&caption);
            for (row, _) in rows {
                self.line(row)?;
            }
            return Ok(());
        }
        self.paragraph_of(&caption);
        self.push(&["<table>"]);
        for (row, is_header) in rows {
            self.push(&["<tr>"]);
            for cell in row.cells() {
                let name = if is_header || cell.style() == ColumnStyle::Header { "th" } else { "td" };
                self.push(&[&format!("<{name} colspan=\"{}\" rowspan=\"{}\">", cell.colspan(), cell.rowspan())]);
                self.content(cell)?;
                self.push(&["</", name, ">"]);
            }
            self.push(&["</tr>"]);
        }
        self.push(&["</table>"]);
        self.notes();
        Ok(())
    }

    /// Writes a row of a table inside a cell.
    fn line<'a>(&mut self, row: &'a TableRow<'a>) -> Result<(), ExtractError> {
        for (place, cell) in row.cells().iter().enumerate() {
            self.push(&[if place == 0 { "<p>" } else { ", " }]);
            self.content(cell)?;
        }
        self.push(&[";</p>"]);
        Ok(())
    }

    fn content<'a>(&mut self, cell: &'a TableCell<'a>) -> Result<(), ExtractError> {
        match cell.content() {
            TableCellContent::Simple(text) => {
                let text = self.inline(text.rendered_html());
                self.push(&[&text]);
                Ok(())
            }
            TableCellContent::AsciiDoc(own) => {
                self.cells += 1;
                let written = self.cell(own.blocks(), own.footnotes());
                self.cells -= 1;
                written
            }
        }
    }
}
