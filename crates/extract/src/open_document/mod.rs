//! Documents in ODF (ISO/IEC 26300) as their programs show them: without hidden text and comments, with raised digits as
//! such, and with the values of cells in their formats. The readers of the format tell none of these from other text.

mod styles;

use std::io::Cursor;

use quick_xml::{
    Reader, Writer, XmlVersion,
    events::{BytesStart, BytesText, Event},
};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

use super::{ExtractError, archive::Archive, superscript::raised};
use styles::Styles;

const CONTENT: &str = "content.xml";

/// The document as it is shown. One whose content cannot be read is left as it is, to be refused by its reader.
pub(super) fn shown(bytes: &[u8]) -> Result<Vec<u8>, ExtractError> {
    let mut archive = Archive::open(bytes)?;
    // An encrypted one is no text.
    let Ok(Some(content)) = archive.text(CONTENT) else { return Ok(bytes.to_vec()) };
    let mut styles = Styles::default();
    // Programs open a document without these too.
    if let Ok(Some(common)) = archive.text("styles.xml") {
        styles.read(&common, "styles").unwrap_or_default();
    }
    // Readers of workbooks look for the end of a table, or of a comment, without end where the text ends before it: the
    // content is read to its end here.
    styles.read(&content, "automatic-styles")?;
    let rewritten = rewritten(&content, &styles)?;
    drop(content);
    replaced(bytes, &rewritten)
}

/// The archive with another content.
fn replaced(bytes: &[u8], content: &[u8]) -> Result<Vec<u8>, ExtractError> {
    let failure = |error: zip::result::ZipError| ExtractError::malformed("file", error);
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(failure)?;
    let mut writer = ZipWriter::new(Cursor::new(Vec::with_capacity(bytes.len())));
    for index in 0..archive.len() {
        let part = archive.by_index_raw(index).map_err(failure)?;
        if part.name().is_ok_and(|name| name == CONTENT) {
            drop(part);
            let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
            writer.start_file(CONTENT, options).map_err(failure)?;
            std::io::Write::write_all(&mut writer, content).map_err(|error| ExtractError::malformed("file", error))?;
        } else {
            writer.raw_copy_file(part).map_err(failure)?;
        }
    }
    Ok(writer.finish().map_err(failure)?.into_inner())
}

/// Content without what is not shown.
fn rewritten(content: &str, styles: &Styles) -> Result<Vec<u8>, ExtractError> {
    let mut reader = Reader::from_str(content);
    let mut writer = Writer::new(Vec::with_capacity(content.len()));
    let mut filter = Filter { styles, raised: Vec::new(), skipped: 0 };
    loop {
        match reader.read_event().map_err(|error| ExtractError::malformed("file", error))? {
            Event::Eof => return Ok(writer.into_inner()),
            event => {
                if let Some(event) = filter.kept(event) {
                    writer.write_event(event).map_err(|error| ExtractError::malformed("file", error))?;
                }
            }
        }
    }
}

/// Decides what is kept of the steps through a content.
struct Filter<'styles> {
    styles: &'styles Styles,
    /// Whether each open element is raised text.
    raised: Vec<bool>,
    /// Open elements inside one that is left out.
    skipped: usize,
}

impl Filter<'_> {
    fn kept<'xml>(&mut self, event: Event<'xml>) -> Option<Event<'xml>> {
        let is_raised = self.raised.last() == Some(&true);
        match event {
            Event::Start(_) if self.skipped > 0 => {
                self.skipped += 1;
                None
            }
            Event::End(_) if self.skipped > 0 => {
                self.skipped -= 1;
                None
            }
            _ if self.skipped > 0 => None,
            Event::Start(start) if self.is_hidden(&start) => {
                self.skipped = 1;
                None
            }
            Event::Empty(start) if self.is_hidden(&start) => None,
            Event::Start(start) => {
                let look = self.styles.look(&start);
                self.raised.push(look.is_raised.unwrap_or(is_raised));
                Some(Event::Start(if self.is_shown_otherwise(&start) { as_text(&start) } else { start }))
            }
            Event::End(end) => {
                self.raised.pop();
                Some(Event::End(end))
            }
            Event::Text(text) if is_raised => {
                let text = raised(&text.xml10_content());
                Some(Event::Text(BytesText::new(&text).into_owned()))
            }
            other => Some(other),
        }
    }

    /// Whether an element is a comment, or is not shown.
    fn is_hidden(&self, start: &BytesStart<'_>) -> bool {
        let is = |name: &str, value: &str| attribute(start, name).as_deref() == Some(value);
        match start.name().0 {
            "office:annotation" | "office:annotation-end" => true,
            "text:hidden-text" => !is("text:is-hidden", "false"),
            "text:section" => {
                is("text:display", "none") || is("text:display", "condition") && is("text:is-hidden", "true")
            }
            _ => self.styles.look(start).is_hidden == Some(true),
        }
    }

    /// Whether the text of a cell is its value in a format that says more than the value alone: a percentage, an amount of
    /// money, a time, or a number with zeros before it.
    fn is_shown_otherwise(&self, start: &BytesStart<'_>) -> bool {
        start.name().0 == "table:table-cell"
            && match attribute(start, "office:value-type").as_deref() {
                Some("percentage" | "currency" | "time") => true,
                Some("float") => self.styles.has_zeros(start),
                _ => false,
            }
    }
}

/// A cell whose text is its value.
fn as_text(start: &BytesStart<'_>) -> BytesStart<'static> {
    let is_kept = |name: &str| name.starts_with("table:") && name != "table:formula";
    let kept = start.attributes().filter_map(Result::ok).filter(|attribute| is_kept(attribute.key.0));
    let cell = BytesStart::new("table:table-cell").with_attributes(kept);
    cell.with_attributes([("office:value-type", "string")]).into_owned()
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = start.attributes().filter_map(Result::ok).find(|attribute| attribute.key.0 == name)?;
    attribute.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests;
