//! Extracts text from files: takes bytes and a declared media type, and returns text with its headings and pages, or a
//! typed cause.
//!
//! Pure: no I/O, no clock. Text formats are read in time and memory in proportion to their size. The others are read by
//! large libraries, whose failures on hostile input cannot all be foreseen; [`needs_isolation`] identifies those
//! formats, and the caller reads them in a process that may fail.

mod archive;
mod asciidoc;
mod attachments;
mod bars;
mod comments;
mod compressed;
mod content;
mod converted;
mod decode;
mod detect;
mod epub;
mod error;
mod grid;
mod header;
mod html;
mod json;
mod legacy_word;
mod look;
mod mail;
mod manual;
mod markdown;
mod media_type;
mod msg;
mod notebook;
mod office;
mod open_document;
mod parts;
mod pdf;
mod plain;
mod recognise;
mod repair;
mod rich_text;
mod rows;
mod rst;
mod superscript;
mod terminal;
mod xml;

use serde::{Deserialize, Serialize};

pub use attachments::Attachment;
pub use content::MAX_TEXT_BYTES;
pub use detect::{looks_like_document, needs_isolation};
pub use error::{Cause, ExtractError};
pub use media_type::{Format, MediaType};
pub use pdf::MAX_PAGES;
pub use recognise::Recognise;

use self::{
    attachments::Attachments,
    content::Content,
    detect::{Detected, detect},
};
use domain::{
    job::ReadingNotes,
    split::{Heading, PageMap, SplitterKind, headings_of_markdown},
};

/// The media type of files of settings.
const SETTINGS: &str = "application/toml";

/// The result of extracting a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// Its text; every range of chunks and quotes points into it.
    pub text: String,
    /// Its title, if the document itself names one.
    pub title: Option<String>,
    /// Media type, detected by content.
    pub media_type: String,
    /// How its kind of text is best split.
    pub splitter: SplitterKind,
    /// Its headings in order, where they are not part of the text's own syntax.
    pub headings: Vec<Heading>,
    /// Where its pages begin.
    pub pages: PageMap,
    /// Characters that were restored or dropped, and parts without text.
    pub notes: ReadingNotes,
    /// Documents that are attached to it and can be read, those in attached messages included.
    pub attachments: Vec<Attachment>,
}

/// Extracts the text of a document. `declared` is the media type given by its sender or its name; if the content
/// contradicts it, the content wins. A file compressed by gzip is read as what it holds. Pictures and pages without text are read by `recogniser`, if there is one.
///
/// # Errors
/// Any [`Cause`] but `timed_out` and `crashed`.
pub fn extract(bytes: &[u8], declared: &str, recogniser: Option<&dyn Recognise>) -> Result<Extracted, ExtractError> {
    let unpacked = compressed::unpacked(bytes)?;
    let bytes = &*unpacked;
    if bytes.is_empty() {
        return Err(ExtractError::empty());
    }
    let Detected { format, media_type } = detect(bytes, declared)?;
    let mut content = Content { attachments: Attachments::new(recogniser.is_some()), ..Content::default() };
    let text = if format.is_text() { text_of(bytes, declared, format, &mut content.notes)? } else { String::new() };
    let may_be_settings = format == Format::Plain || media_type == SETTINGS;
    if may_be_settings && comments::explain(&text) {
        comments::document(&text, &mut content)?;
        return Ok(finish(content, Format::Plain, media_type));
    }
    match format {
        Format::Plain => {
            let text = plain::with_bars(&text);
            let text = plain::written_out(plain::joined(&text));
            let text = bars::closed(&text, bars::Marked::ByLayout);
            content.headings = plain::headings(&text);
            content.set_text(text.into_owned())?;
        }
        Format::Markdown => markdown::document(&text, &mut content)?,
        Format::Code => content.set_text(text)?,
        Format::Html => html::page(&text, &mut content)?,
        Format::Manual => manual::page(&text, &mut content)?,
        Format::AsciiDoc => asciidoc::document(&text, &mut content)?,
        Format::Notebook => notebook::document(&text, &mut content)?,
        Format::Restructured => rst::page(&text, &mut content)?,
        Format::Table => {
            rows::separated(&text, media_type != MediaType::of(Format::Table).name, &mut content)?;
        }
        Format::Json => json::document(&text, &mut content)?,
        Format::JsonLines => json::lines(&text, &mut content)?,
        Format::Pdf => pdf::document(bytes, recogniser, &mut content)?,
        Format::Picture => recognise::picture(bytes, recogniser, &mut content)?,
        Format::Docx => office::document(bytes, &mut content)?,
        Format::Pptx => office::presentation(bytes, &mut content)?,
        Format::Xlsx => office::workbook(bytes, &mut content)?,
        Format::Epub => epub::book(bytes, &mut content)?,
        Format::Xls | Format::Xlsb => converted::workbook(bytes, &mut content)?,
        Format::Ods => office::open_workbook(bytes, &mut content)?,
        Format::Rtf => converted::document(bytes, anydoc::Format::Rtf, &mut content)?,
        Format::Doc => converted::document(bytes, anydoc::Format::Doc, &mut content)?,
        Format::Ppt => converted::document(bytes, anydoc::Format::Ppt, &mut content)?,
        Format::Odt => converted::document(bytes, anydoc::Format::Odt, &mut content)?,
        Format::Odp => converted::document(bytes, anydoc::Format::Odp, &mut content)?,
        Format::Mail => mail::message(bytes, &mut content)?,
        Format::Mailbox => mail::mailbox(bytes, &mut content)?,
        Format::Outlook => msg::message(bytes, &mut content)?,
    }
    if content.text.trim().is_empty() {
        return Err(ExtractError::empty());
    }
    Ok(finish(content, format, media_type))
}

fn text_of(bytes: &[u8], declared: &str, format: Format, notes: &mut ReadingNotes) -> Result<String, ExtractError> {
    let charset = media_type::charset(declared).map(str::to_owned);
    let charset = charset.or_else(|| if format == Format::Html { html::charset(bytes) } else { None });
    let text = decode::decode(bytes, charset.as_deref(), notes)?;
    // In source code they are written on purpose.
    let text = if format == Format::Code { text } else { terminal::shown(text) };
    // A form feed ends a page of plain text.
    Ok(if format == Format::Plain { text.replace('\u{c}', "\n") } else { text })
}

/// Longest name of what a manual is about, in bytes.
const LONGEST_NAME: usize = 60;

fn finish(content: Content, format: Format, media_type: String) -> Extracted {
    let Content { text, headings, pages, title, mut notes, attachments } = content;
    let (attachments, unread) = attachments.finish();
    notes.unread_attachments = unread;
    let splitter = match format {
        Format::Markdown | Format::Notebook => SplitterKind::Markdown,
        Format::Code => SplitterKind::Code,
        _ => SplitterKind::Recursive,
    };
    let title = title.or_else(|| match format {
        Format::Markdown => first_heading(&text),
        // Often below the code that everything else needs.
        Format::Notebook => title_among(&headings_of_markdown(&text), text.len()),
        // The first of several: a sheet, often called "Sheet1", or a message.
        Format::Xlsx | Format::Xls | Format::Xlsb | Format::Ods | Format::Mailbox => None,
        _ => title_among(&headings, 0),
    });
    let title = title.and_then(|title| if title == "NAME" { named_below(&text) } else { Some(title) });
    Extracted { text, title, media_type, splitter, headings, pages, notes, attachments }
}

/// The subject of a manual without a title, by the line of its first section: `jar` of "jar - keeps things".
fn named_below(text: &str) -> Option<String> {
    let is_heading = |line: &&str| line.trim_start_matches(['#', ' ']).trim_end() == "NAME";
    let below = text.lines().skip_while(|line| !is_heading(line)).skip(1);
    let (name, _) = below.map(str::trim).find(|line| !line.is_empty())?.split_once(" - ")?;
    (name.len() <= LONGEST_NAME).then(|| name.trim().to_owned())
}

/// The first heading of Markdown text if it comes before any other text.
fn first_heading(text: &str) -> Option<String> {
    title_among(&headings_of_markdown(text), text.len() - text.trim_start().len())
}

/// The first heading if it begins at `first` or before, and is not one of a series.
fn title_among(headings: &[Heading], first: usize) -> Option<String> {
    let (title, others) = headings.split_first()?;
    let mut siblings = others.iter().filter(|other| other.level == title.level);
    let before_number = |text: &str| {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let number = words.iter().position(|word| word.contains(|sign: char| sign.is_ascii_digit()))?;
        Some(words.into_iter().take(number).collect::<Vec<_>>())
    };
    // "Changes in version 1.2" above "Changes in version 1.1" is the newest section of a log, which it does not name, nor
    // does the first question name a list of them.
    let own = before_number(&title.text);
    let asks = |heading: &Heading| heading.text.ends_with('?');
    let is_one_of_many =
        siblings.any(|other| own.is_some() && before_number(&other.text) == own || asks(title) && asks(other));
    let is_title = title.bytes.start <= first && !title.text.is_empty() && !is_one_of_many;
    is_title.then(|| title.text.clone())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markdown_names_its_title() {
        let extracted = extract(b"\n# Annual leave\n\nText.", "text/markdown; charset=utf-8", None).expect("readable");
        assert_eq!(extracted.title.as_deref(), Some("Annual leave"));
        assert_eq!((extracted.media_type.as_str(), extracted.splitter), ("text/markdown", SplitterKind::Markdown));
        assert_eq!(extract(b"Text.\n\n# Later", "text/markdown", None).expect("readable").title, None);
        let title = |text: &[u8]| extract(text, "text/markdown", None).expect("readable").title;
        assert_eq!(title(b"# Title\n\n# Part\n\nText.").as_deref(), Some("Title"));
        assert_eq!(title(b"# Paint 2\n\n# Part 1\n\nText.").as_deref(), Some("Paint 2"));
        assert_eq!(title(b"# Version 1.2\n\nText.").as_deref(), Some("Version 1.2"));
        assert_eq!(title(b"# Version 1.2\n\nText.\n\n# Version 1.1 (May)\n\nText."), None);
    }

    #[test]
    fn a_manual_is_named_by_its_first_section() {
        let title = |text: &[u8]| extract(text, "text/plain", None).expect("readable").title;
        let page =
            b"NAME\n    Jar::Lid - closes jars\n\nSYNOPSIS\n    use Jar::Lid;\n\nDESCRIPTION\n    It closes them.\n";
        assert_eq!(title(page).as_deref(), Some("Jar::Lid"));
        assert_eq!(title(b"NAME\n    Ada and Bo.\n\nAGE\n    Old.\n"), None);
    }

    #[test]
    fn the_newest_section_of_a_log_is_no_title() {
        let log = "Changes in version 1.2 (June)\n-----------------------------\n\n * Colours mix.\n\nChanges in version 1.1 (May)\n----------------------------\n\n * The lid closes.\n";
        let extracted = extract(log.as_bytes(), "text/plain", None).expect("readable");
        assert_eq!(extracted.headings.len(), 2, "{:?}", extracted.headings);
        assert_eq!(extracted.title, None);
    }

    #[test]
    fn the_first_of_many_questions_is_no_title() {
        let title = |text: &[u8], kind: &str| extract(text, kind, None).expect("readable").title;
        assert_eq!(title(b"Q: Is it dry?\nA: Yes.\n\nQ: Where is it sold?\nA: In shops.\n", "text/plain"), None);
        assert_eq!(title(b"**Is it dry?** Yes.\n\n**Where is it sold?** In shops.\n", "text/markdown"), None);
        assert_eq!(title(b"# Is it dry?\n\nYes.\n", "text/markdown").as_deref(), Some("Is it dry?"));
    }

    #[test]
    fn each_failure_has_its_cause() {
        let cases: [(&[u8], &str, Cause); 7] = [
            (b"%PDF-1.7", "application/pdf", Cause::Malformed),
            (b"", "application/pdf", Cause::Empty),
            (b" \n\t ", "text/plain", Cause::Empty),
            (b"<html><script>x</script></html>", "text/html", Cause::Empty),
            (b"\xff\xfe\xfd\x80 text", "text/plain", Cause::Encoding),
            (b"a\0b", "text/plain", Cause::Binary),
            (b"{", "application/json", Cause::Malformed),
        ];
        for (bytes, media_type, cause) in cases {
            assert_eq!(extract(bytes, media_type, None).expect_err("unreadable").cause, cause, "{media_type}");
        }
    }

    #[test]
    fn a_form_feed_ends_a_line() {
        assert_eq!(
            extract(b"Oil.\n\x0c\nChalk.\x0cLime.", "text/plain", None).expect("readable").text,
            "Oil.\n\n\nChalk.\nLime."
        );
    }

    #[test]
    fn web_pages_say_how_they_are_encoded() {
        let page = b"<html><meta charset='iso-8859-5'><p>\xbf\xe0\xd8\xd2\xd5\xe2</p></html>";
        assert_eq!(extract(page, "text/html", None).expect("readable").text, "Привет");
    }

    proptest! {
        #[test]
        fn text_formats_never_panic(
            text in "([a-z,;\t|\"{}\\[\\]:<>/=&#\n 0-9é漢]|<td>|<tr>|<table>|</table>|<h1>|<pre>){0,80}",
            media_type in prop::sample::select(vec!["text/html", "text/x-rst", "text/csv", "text/tsv", "application/json", "text/asciidoc", "application/x-ipynb+json", "application/x-ndjson", "text/x-rust", "text/markdown"]),
        ) {
            if let Ok(extracted) = extract(text.as_bytes(), media_type, None) {
                prop_assert!(!extracted.text.trim().is_empty());
                for heading in &extracted.headings {
                    prop_assert_eq!(extracted.text.get(heading.bytes.clone()), Some(heading.text.as_str()));
                }
            }
        }
    }
}
