//! Workbooks in ODF (ISO/IEC 26300). A sheet is read as a whole.

use std::io::Cursor;

use calamine::{Ods, OdsError, Reader, SheetVisible};

use super::super::{Cause, ExtractError, archive::Archive, content::Content, open_document};
use super::{
    number_format::Format,
    read_title,
    sheet::{Sheet, Text, needs_password},
    values::text_of,
};

/// Adds a workbook in ODF.
pub(crate) fn open_workbook(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    let mut archive = Archive::open(bytes)?;
    archive.check_size()?;
    read_title(&mut archive, content)?;
    let shown = open_document::shown(bytes)?;
    let mut workbook: Ods<_> = Ods::new(Cursor::new(shown)).map_err(|error| match error {
        OdsError::Password => needs_password(),
        other => damaged(&other),
    })?;
    let is_shown = |sheet: &&calamine::Sheet| sheet.visible == SheetVisible::Visible;
    let sheets = workbook.sheets_metadata().iter().filter(is_shown);
    for name in sheets.map(|sheet| sheet.name.clone()).collect::<Vec<_>>() {
        let cells = workbook.worksheet_range(&name).map_err(|error| damaged(&error))?;
        let mut sheet = Sheet::new(Some(name), []);
        for (row, column, value) in cells.used_cells() {
            let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
            let text = Text { text: text_of(value, &Format::General), is_bold: false };
            sheet.push((number(row), number(column)), text, content)?;
        }
        sheet.finish(content)?;
    }
    Ok(())
}

fn damaged(error: &OdsError) -> ExtractError {
    match error {
        OdsError::CellLimitExceeded { requested, max } => ExtractError::new(
            Cause::TooLarge,
            format!(
                "a row or column of the workbook is repeated to {requested} cells, more than {max}; split the workbook"
            ),
        ),
        other => ExtractError::malformed("workbook", other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::packed;

    /// The content of a workbook with these rows.
    fn body(rows: &str) -> String {
        format!(
            "<office:document-content xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0' xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0'><office:body><office:spreadsheet><table:table table:name='Staff'>{rows}</table:table></office:spreadsheet></office:body></office:document-content>"
        )
    }

    fn sheet(rows: &str) -> Result<Content, ExtractError> {
        workbook(&body(rows))
    }

    fn workbook(body: &str) -> Result<Content, ExtractError> {
        let parts: [(&str, &[u8]); 3] = [
            ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
            ("META-INF/manifest.xml", b"<manifest/>"),
            ("content.xml", body.as_bytes()),
        ];
        let mut content = Content::default();
        open_workbook(&packed(&parts), &mut content).map(|()| content)
    }

    #[test]
    fn open_document_sheets_are_labelled_rows() {
        let text = |text: &str| {
            format!("<table:table-cell office:value-type='string'><text:p>{text}</text:p></table:table-cell>")
        };
        let rows = format!(
            "<table:table-row>{}{}{}</table:table-row><table:table-row>{}<table:table-cell office:value-type='date' office:date-value='2021-03-01'><text:p>1 March</text:p></table:table-cell><table:table-cell office:value-type='float' office:value='25.5'><text:p>25.5</text:p></table:table-cell></table:table-row>",
            text("Name"),
            text("Since"),
            text("Days"),
            text("Mira")
        );
        let content = sheet(&rows).expect("a workbook");
        assert_eq!(content.text, "Staff\n\n| Name: Mira | Since: 2021-03-01 | Days: 25.5 |");
    }

    #[test]
    fn values_are_shown_in_their_formats_and_hidden_sheets_are_not() {
        let rows = "<table:table-row><table:table-cell office:value-type='percentage' office:value='-.0974'><text:p>-9.7 %</text:p></table:table-cell></table:table-row>";
        assert_eq!(sheet(rows).expect("a workbook").text, "Staff\n\n-9.7 %");
        let hidden = "<office:automatic-styles><style:style style:name='t' style:family='table'><style:table-properties table:display='false'/></style:style></office:automatic-styles><office:body>";
        let body =
            body(rows).replace("<office:body>", hidden).replace("<table:table ", "<table:table table:style-name='t' ");
        assert_eq!(workbook(&body).expect("a workbook").text, "");
    }

    #[test]
    fn repeated_cells_have_an_end() {
        let cell = "<table:table-cell office:value-type='string' table:number-columns-repeated='16384'><text:p>x</text:p></table:table-cell>";
        let rows = format!("<table:table-row table:number-rows-repeated='1048576'>{cell}</table:table-row>");
        assert_eq!(sheet(&rows).expect_err("a bomb").cause, Cause::TooLarge);
        let rows = "<table:table-row table:number-rows-repeated='1048575'><table:table-cell/></table:table-row><table:table-row><table:table-cell table:number-columns-repeated='16383'/><table:table-cell office:value-type='string'><text:p>Corner</text:p></table:table-cell></table:table-row>";
        assert_eq!(sheet(rows).expect("a workbook").text, "Staff\n\nCorner");
    }

    #[test]
    fn content_that_breaks_off_is_malformed() {
        let rows = "<table:table-row><table:table-cell office:value-type='string'><office:annotation><text:p>Note</text:p></office:annotation><text:p>Words</text:p></table:table-cell></table:table-row>";
        let body = body(rows);
        assert_eq!(workbook(&body).expect("a workbook").text, "Staff\n\nWords");
        for inside in ["<text:p>Note", "</table:table-row>", "</table:table>", "</office:body>"] {
            let end = body.find(inside).expect("it is there");
            assert_eq!(
                workbook(body.get(..end).expect("a boundary")).expect_err("it breaks off").cause,
                Cause::Malformed,
                "{inside}"
            );
        }
    }

    #[test]
    fn what_is_no_workbook_is_malformed() {
        let cause = open_workbook(b"PK\x03\x04 broken", &mut Content::default()).expect_err("broken").cause;
        assert_eq!(cause, Cause::Malformed);
    }
}
