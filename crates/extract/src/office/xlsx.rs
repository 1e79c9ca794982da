//! Workbooks (ISO/IEC 29500), read cell by cell: a sheet with one cell in its last corner is not all the cells between.

use std::io::Cursor;

use calamine::{Reader, Xlsx, XlsxError};

use super::super::{ExtractError, archive::Archive, content::Content};
use super::{
    read_title,
    sheet::{Sheet, needs_password},
};

/// Rows and columns of the largest sheet (ISO/IEC 29500-1 sets no limit; these are those of all programs that write
/// it).
const MAX_ROWS: u32 = 1_048_576;
const MAX_COLUMNS: u32 = 16_384;

/// Adds a workbook. A formula counts as the value it had when the workbook was saved.
pub(crate) fn workbook(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    read_title(&mut Archive::open(bytes)?, content)?;
    // The reader unpacks whole parts, regardless of their size.
    Archive::open(bytes)?.check_size()?;
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(|error| failure(&error))?;
    for name in workbook.sheet_names() {
        let mut cells = match workbook.worksheet_cells_reader(&name) {
            Ok(cells) => cells,
            // Sheets of charts have no cells.
            Err(XlsxError::NotAWorksheet(_)) => continue,
            Err(error) => return Err(failure(&error)),
        };
        let mut sheet = Sheet::new(name);
        while let Some(cell) = cells.next_cell().map_err(|error| failure(&error))? {
            let (number, column) = cell.get_position();
            // An invalid reference overflows in the reader.
            if number >= MAX_ROWS || column >= MAX_COLUMNS {
                return Err(ExtractError::malformed("workbook", "a cell lies outside of what a sheet can hold"));
            }
            sheet.push(number, column, cell.get_value(), content)?;
        }
        sheet.finish(content)?;
    }
    Ok(())
}

fn failure(error: &XlsxError) -> ExtractError {
    match error {
        XlsxError::Password => needs_password(),
        other => ExtractError::malformed("workbook", other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cause, archive::tests::packed};

    fn read(rows: &str) -> Result<Content, ExtractError> {
        const KIND: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let relation = |id: &str, kind: &str, target: &str| {
            format!("<Relationships><Relationship Id='{id}' Type='{KIND}/{kind}' Target='{target}'/></Relationships>")
        };
        let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
        let parts = [
            ("_rels/.rels", relation("b", "officeDocument", "xl/workbook.xml")),
            ("xl/_rels/workbook.xml.rels", relation("s", "worksheet", "worksheets/s.xml")),
            ("xl/workbook.xml", "<workbook><sheets><sheet name='Staff' r:id='s'/></sheets></workbook>".to_owned()),
            ("xl/worksheets/s.xml", sheet),
        ];
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, part)| (*name, part.as_bytes())).collect();
        let mut content = Content::default();
        workbook(&packed(&parts), &mut content).map(|()| content)
    }

    #[test]
    fn cells_lie_within_what_a_sheet_can_hold() {
        let row = |place: &str| format!("<row><c r='{place}' t='str'><v>Words</v></c></row>");
        assert_eq!(read(&row("XFD1048576")).expect("the last cell of all").text, "Staff\n\nWords");
        for outside in ["XFE1", "A1048577", "ZZZZ1"] {
            assert_eq!(read(&row(outside)).expect_err(outside).cause, Cause::Malformed, "{outside}");
        }
    }
}
