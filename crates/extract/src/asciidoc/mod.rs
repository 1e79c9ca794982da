//! `AsciiDoc`: parsed by `asciidoc-parser`, written as a web page, and read as one.
//!
//! Nothing outside of the document is read: the parser opens no files, and directives that include other files are left
//! out. HTML that a document passes through is text to be read like that of any page.

mod blocks;
mod inlines;
mod lists;
mod source;
mod tables;
mod text;

use asciidoc_parser::{Parser, blocks::FindBlocks, document::InterpretedValue, parser::ModificationContext};

use self::{blocks::Writer, inlines::ForReaders, source::Source};
use super::{
    Cause, ExtractError,
    content::{Content, MAX_TEXT_BYTES},
    html,
};

/// Attributes whose values a processor takes from its clock.
const TAKEN_FROM_CLOCK: [&str; 8] =
    ["docdate", "docdatetime", "doctime", "docyear", "localdate", "localdatetime", "localtime", "localyear"];

/// Adds a document. Its title is that of its header.
///
/// # Errors
/// `too_large`, or `empty` if it only includes other files, since those are not read.
pub(super) fn document(text: &str, content: &mut Content) -> Result<(), ExtractError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(too_large());
    }
    let source = Source::read(text);
    html::page(&page(&source.text)?, content)?;
    if content.text.trim().is_empty() && source.includes {
        let message = "the document holds nothing but references to other files; send those";
        return Err(ExtractError::new(Cause::Empty, message));
    }
    Ok(())
}

/// The document as a web page.
fn page(source: &str) -> Result<String, ExtractError> {
    let mut parser = Parser::new()
        .with_inline_renderer(ForReaders)
        // Keys, buttons and menus are marked up whether or not the document says so: what says so is often included.
        .with_intrinsic_attribute_bool("experimental", true, ModificationContext::Anywhere);
    for name in TAKEN_FROM_CLOCK {
        parser = parser.with_intrinsic_attribute(name, "", ModificationContext::Anywhere);
    }
    // Git's manual writes two hyphens so; its settings define it.
    parser = parser.with_intrinsic_attribute("litdd", "&#45;&#45;", ModificationContext::Anywhere);
    let document = parser.parse(source);
    let value = |name: &str| match document.attribute_value(name) {
        InterpretedValue::Value(value) if !value.is_empty() => Some(value),
        _ => None,
    };
    let mut writer = Writer::new(document.catalog().footnotes());
    if let Some(title) = document.doctitle() {
        let has_parts = document.child_blocks().any(blocks::is_part);
        writer.title(title, has_parts);
    }
    let names: Vec<&str> = document.authors().iter().map(asciidoc_parser::document::Author::name).collect();
    let version = value("revnumber").map(|number| format!("version {number}"));
    let facts = [(!names.is_empty()).then(|| names.join(", ")), version, value("revdate"), value("revremark")];
    writer.paragraph(&facts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    writer.flow(document.child_blocks())?;
    Ok(writer.finish())
}

fn too_large() -> ExtractError {
    ExtractError::new(Cause::TooLarge, "the AsciiDoc document is too long, or grows so when it is read; split it")
}

#[cfg(test)]
mod tests;
