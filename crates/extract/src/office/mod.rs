//! Office documents (ISO/IEC 29500): archives of XML parts. And workbooks of other formats.

mod bold;
mod docx;
mod number_format;
mod numbering;
mod ods;
mod pptx;
mod relations;
mod sheet;
mod styles;
mod values;
mod xlsx;

pub(super) use docx::document;
pub(super) use numbering::numeral;
pub(super) use ods::open_workbook;
pub(super) use pptx::presentation;
pub(super) use relations::resolve;
pub(super) use sheet::{Sheet, Text};
pub(super) use xlsx::workbook;

use super::{
    ExtractError,
    archive::Archive,
    content::Content,
    xml::{Token, walk},
};

/// Takes the title from the properties that an office document may have: of Office or of `OpenDocument`.
pub(super) fn read_title(archive: &mut Archive<'_>, content: &mut Content) -> Result<(), ExtractError> {
    let part = if archive.has("meta.xml") { "meta.xml" } else { "docProps/core.xml" };
    let Some(properties) = archive.text(part)? else { return Ok(()) };
    let mut is_title = false;
    let mut title = String::new();
    walk(&properties, |token| {
        match token {
            Token::Open(element) => is_title = element.name() == "title",
            Token::Close(_) => is_title = false,
            Token::Text(text) if is_title => title.push_str(&text),
            Token::Text(_) => {}
        }
        Ok(())
    })?;
    content.name(&title);
    Ok(())
}
