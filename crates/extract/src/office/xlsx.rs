//! Workbooks: each sheet is a heading, each row a line whose cells are labelled by the first row.

use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader, Xlsx, XlsxError};

use super::super::{
    Cause, ExtractError,
    archive::Archive,
    content::Content,
    rows::{Cell, Rows},
};
use super::read_title;

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
        let mut sheet = Sheet { name: Some(name), rows: Rows::default(), row: Vec::new(), number: 0 };
        while let Some(cell) = cells.next_cell().map_err(|error| failure(&error))? {
            let (number, column) = cell.get_position();
            // An invalid reference overflows in the reader.
            if number >= MAX_ROWS || column >= MAX_COLUMNS {
                return Err(ExtractError::malformed("workbook", "a cell lies outside of what a sheet can hold"));
            }
            if number != sheet.number {
                sheet.end_row(content)?;
                sheet.number = number;
            }
            sheet.row.push((usize::try_from(column).unwrap_or(usize::MAX), text_of(cell.get_value())));
        }
        sheet.end_row(content)?;
        sheet.rows.finish(content)?;
    }
    Ok(())
}

/// A sheet that is being read.
struct Sheet {
    /// Name of the sheet, until it has been written above the first row.
    name: Option<String>,
    rows: Rows,
    row: Vec<Cell>,
    number: u32,
}

impl Sheet {
    fn end_row(&mut self, content: &mut Content) -> Result<(), ExtractError> {
        let row = std::mem::take(&mut self.row);
        if row.iter().all(|(_, cell)| cell.trim().is_empty()) {
            return Ok(());
        }
        if let Some(name) = self.name.take() {
            content.heading(1, &name)?;
        }
        self.rows.push(&row, content)
    }
}

fn text_of(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(value) => value.to_string(),
        DataRef::DateTime(time) => time_of(time),
        DataRef::Error(_) | DataRef::Empty => String::new(),
    }
}

/// A date in ISO 8601, with the time of day unless it is midnight; a duration in hours.
fn time_of(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        return format!("{} h", time.as_f64() * 24.0);
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    match (hour, minute, second) {
        (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        _ if time.as_f64() < 1.0 => format!("{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
    }
}

fn failure(error: &XlsxError) -> ExtractError {
    match error {
        XlsxError::Password => {
            ExtractError::new(Cause::Encrypted, "the workbook needs a password; save it without one and send it again")
        }
        other => ExtractError::malformed("workbook", other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::packed;

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
