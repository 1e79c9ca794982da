//! Workbooks (ISO/IEC 29500), read cell by cell: a sheet with one cell in its last corner is not all the cells between.

use std::{collections::HashMap, io::Cursor};

use calamine::{Font, Reader, SheetVisible, Style, Xlsx, XlsxError};

use super::super::{ExtractError, archive::Archive, content::Content};
use super::{
    number_format::Format,
    read_title,
    sheet::{Sheet, Text, needs_password},
    values::text_of,
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
    let is_shown = |sheet: &&calamine::Sheet| sheet.visible == SheetVisible::Visible;
    let names: Vec<String> =
        workbook.sheets_metadata().iter().filter(is_shown).map(|sheet| sheet.name.clone()).collect();
    for name in names {
        // A sheet can be read without them.
        let merged = workbook.merge_cells_by_sheet_name(&name).unwrap_or_default();
        let mut cells = match workbook.worksheet_cells_reader(&name) {
            Ok(cells) => cells,
            // Sheets of charts have no cells.
            Err(XlsxError::NotAWorksheet(_)) => continue,
            Err(error) => return Err(failure(&error)),
        };
        let mut sheet = Sheet::new(Some(name), merged);
        let mut looks: HashMap<usize, Look> = HashMap::new();
        while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(|error| failure(&error))? {
            let (number, column) = cell.get_position();
            // An invalid reference overflows in the reader.
            if number >= MAX_ROWS || column >= MAX_COLUMNS {
                return Err(ExtractError::malformed("workbook", "a cell lies outside of what a sheet can hold"));
            }
            let look = looks.entry(style).or_insert_with(|| Look::of(cells.styles().get(style)));
            let text = Text { text: text_of(cell.get_value(), &look.format), is_bold: look.is_bold };
            sheet.push((number, column), text, content)?;
        }
        sheet.finish(content)?;
    }
    Ok(())
}

/// How a cell looks.
struct Look {
    is_bold: bool,
    format: Format,
}

impl Look {
    fn of(style: Option<&Style>) -> Self {
        let font = style.and_then(|style| style.font.as_ref());
        let format = style.and_then(|style| style.number_format.as_ref());
        Self {
            is_bold: font.is_some_and(Font::is_bold),
            format: format.map_or(Format::General, |format| Format::of(&format.format_code)),
        }
    }
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
        read_sheet(&format!("<sheetData>{rows}</sheetData>"), "")
    }

    /// A workbook with a sheet of this content and state.
    fn read_sheet(sheet: &str, state: &str) -> Result<Content, ExtractError> {
        const KIND: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let relation = |id: &str, kind: &str, target: &str| {
            format!("<Relationship Id='{id}' Type='{KIND}/{kind}' Target='{target}'/>")
        };
        let relations = |relations: &[String]| format!("<Relationships>{}</Relationships>", relations.concat());
        let styles = "<styleSheet><numFmts count='2'><numFmt numFmtId='170' formatCode='000000'/><numFmt numFmtId='171' formatCode='#,##0.00 &quot;€&quot;'/></numFmts><fonts count='2'><font/><font><b/></font></fonts><cellXfs count='5'><xf numFmtId='0'/><xf numFmtId='0' fontId='1'/><xf numFmtId='170'/><xf numFmtId='171'/><xf numFmtId='20'/></cellXfs></styleSheet>";
        let inside = [relation("s", "worksheet", "worksheets/s.xml"), relation("t", "styles", "styles.xml")];
        let parts = [
            ("_rels/.rels", relations(&[relation("b", "officeDocument", "xl/workbook.xml")])),
            ("xl/_rels/workbook.xml.rels", relations(&inside)),
            (
                "xl/workbook.xml",
                format!("<workbook><sheets><sheet name='Staff' {state} r:id='s'/></sheets></workbook>"),
            ),
            ("xl/styles.xml", styles.to_owned()),
            ("xl/worksheets/s.xml", format!("<worksheet>{sheet}</worksheet>")),
        ];
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, part)| (*name, part.as_bytes())).collect();
        let mut content = Content::default();
        workbook(&packed(&parts), &mut content).map(|()| content)
    }

    fn text(place: &str, style: u8, text: &str) -> String {
        format!("<c r='{place}' s='{style}' t='str'><v>{text}</v></c>")
    }

    fn number(place: &str, style: u8, number: &str) -> String {
        format!("<c r='{place}' s='{style}'><v>{number}</v></c>")
    }

    #[test]
    fn values_are_shown_in_their_formats() {
        let rows = [
            [text("A1", 1, "No."), text("B1", 1, "Rent"), text("C1", 1, "At")],
            [number("A2", 2, "417"), number("B2", 3, "18600"), number("C2", 4, "0.3125")],
        ];
        let rows: String = rows.iter().map(|row| format!("<row>{}</row>", row.concat())).collect();
        assert_eq!(read(&rows).expect("a workbook").text, "Staff\n\n| No.: 000417 | Rent: 18,600.00 € | At: 07:30 |");
    }

    #[test]
    fn merged_cells_reach_over_columns_and_rows() {
        let rows = [
            vec![text("A1", 0, "Depot"), text("B1", 0, "Diesel")],
            vec![text("B2", 0, "Litres"), text("C2", 0, "Price")],
            vec![text("A3", 0, "Kiel"), number("B3", 0, "12"), number("C3", 0, "1.5")],
            vec![number("B4", 0, "14"), number("C4", 0, "1.6")],
        ];
        let rows: String = rows.iter().map(|row| format!("<row>{}</row>", row.concat())).collect();
        let merged =
            "<mergeCells><mergeCell ref='A1:A2'/><mergeCell ref='B1:C1'/><mergeCell ref='A3:A4'/></mergeCells>";
        let content = read_sheet(&format!("<sheetData>{rows}</sheetData>{merged}"), "").expect("a workbook");
        assert_eq!(
            content.text,
            "Staff\n\n| Depot: Kiel | Diesel – Litres: 12 | Diesel – Price: 1.5 |\n| Depot: Kiel | Diesel – Litres: 14 | Diesel – Price: 1.6 |"
        );
    }

    #[test]
    fn merged_cells_without_a_place_are_none() {
        let sheet = format!(
            "<sheetData><row>{}</row></sheetData><mergeCells><mergeCell ref='?'/></mergeCells>",
            text("A1", 0, "Words")
        );
        assert_eq!(read_sheet(&sheet, "").expect("a workbook").text, "Staff\n\nWords");
    }

    #[test]
    fn hidden_sheets_are_left_out() {
        let sheet = format!("<sheetData><row hidden='1'>{}</row></sheetData>", text("A1", 0, "Words"));
        assert_eq!(read_sheet(&sheet, "").expect("a workbook").text, "Staff\n\nWords");
        for state in ["hidden", "veryHidden"] {
            assert_eq!(read_sheet(&sheet, &format!("state='{state}'")).expect("a workbook").text, "");
        }
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
