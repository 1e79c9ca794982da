//! Detects the format of a document, by its bytes first and by its declared media type second.

use super::{
    Cause, ExtractError, Format, MediaType,
    archive::{Archive, is_archive},
    compressed,
    decode::may_be_text,
    mail, manual,
    media_type::essence,
    msg, notebook, rst,
};

/// Number of bytes at the start that may contain the signature of a PDF: producers may put other bytes before it.
const PDF_PREFIX: usize = 1024;

/// Number of comments and instructions that are skipped in front of a page, counted twice: each may be either.
const MAX_PROLOG: usize = 32;

/// Signature of Office files before 2007 and of current encrypted ones: a compound file (MS-CFB).
const COMPOUND_FILE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// The detected format of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Detected {
    pub(super) format: Format,
    /// Its media type: the declared one if it agrees, else that of the format.
    pub(super) media_type: String,
}

impl Detected {
    fn of(format: Format, declared: &str) -> Self {
        let agrees = MediaType::parse(declared).is_some_and(|known| known.format == format);
        let media_type = if agrees { essence(declared) } else { MediaType::of(format).name.to_owned() };
        Self { format, media_type }
    }
}

/// Whether a document is read by large libraries, which should run in a separate process in case they fail.
///
/// True for all documents that have a signature, for web pages and what is read as such, for notebooks and for mail; false for
/// text that is read line by line.
#[must_use]
pub fn needs_isolation(bytes: &[u8], declared: &str) -> bool {
    signature(bytes).is_some()
        || looks_like_html(bytes)
        || mail_format(bytes, declared).is_some()
        || manual::looks_like_manual(bytes)
        || text(bytes, declared).format == Format::Restructured
        || may_be_notebook(declared) && notebook::looks_like_notebook(bytes)
        || MediaType::parse(declared).is_some_and(|known| {
            matches!(known.format, Format::Html | Format::Manual | Format::AsciiDoc | Format::Notebook)
        })
}

/// Whether a file with this beginning looks like a document: one that can be read, or one for which the error explains
/// how to save it. Pictures, programs and archives do not.
#[must_use]
pub fn looks_like_document(beginning: &[u8]) -> bool {
    let beginning = &*compressed::beginning_of(beginning);
    match signature(beginning) {
        Some(Signature::Pdf | Signature::CompoundFile | Signature::RichText) => true,
        Some(Signature::Zip | Signature::Other(_)) => false,
        None => may_be_text(beginning),
    }
}

/// Formats that are recognised by the first bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signature {
    Pdf,
    Zip,
    CompoundFile,
    RichText,
    Other(&'static str),
}

fn signature(bytes: &[u8]) -> Option<Signature> {
    let beginning = bytes.get(..PDF_PREFIX).unwrap_or(bytes);
    if bytes.starts_with(b"%PDF") || beginning.windows(5).any(|window| window == b"%PDF-") {
        return Some(Signature::Pdf);
    }
    if is_archive(bytes) {
        return Some(Signature::Zip);
    }
    if bytes.starts_with(COMPOUND_FILE) {
        return Some(Signature::CompoundFile);
    }
    if bytes.starts_with(b"{\\rtf") {
        return Some(Signature::RichText);
    }
    let other = infer::get(bytes).filter(|found| found.matcher_type() != infer::MatcherType::Text)?;
    Some(Signature::Other(other.mime_type()))
}

/// Detects the format of a document.
///
/// # Errors
/// `unsupported`, `encrypted` or `malformed` for bytes that cannot be text.
pub(super) fn detect(bytes: &[u8], declared: &str) -> Result<Detected, ExtractError> {
    // A message that brings a PDF, or mentions its signature, is a message.
    let is_inside = |found: &Signature| matches!(found, Signature::Pdf) && !bytes.starts_with(b"%PDF");
    let found = signature(bytes).filter(|found| !(is_inside(found) && mail_format(bytes, declared).is_some()));
    match found {
        // A file that only mentions the signature of a PDF is a text about one.
        Some(Signature::Pdf)
            if !bytes.starts_with(b"%PDF") && is_text_by_name(declared) && std::str::from_utf8(bytes).is_ok() =>
        {
            Ok(text(bytes, declared))
        }
        Some(Signature::Pdf) => Ok(Detected::of(Format::Pdf, declared)),
        Some(Signature::Zip) => in_archive(bytes).map(|format| Detected::of(format, declared)),
        Some(Signature::CompoundFile) => in_compound_file(bytes).map(|format| Detected::of(format, declared)),
        Some(Signature::RichText) => Ok(Detected::of(Format::Rtf, declared)),
        // Text of some programs begins like another format; the name and the declared type are more reliable then.
        Some(Signature::Other(_)) if is_text_by_name(declared) && std::str::from_utf8(bytes).is_ok() => {
            Ok(text(bytes, declared))
        }
        Some(Signature::Other(found @ ("image/png" | "image/jpeg" | "image/tiff" | "image/webp"))) => {
            Ok(Detected { format: Format::Picture, media_type: found.to_owned() })
        }
        Some(Signature::Other(found)) => Err(unsupported(&format!("of type {found}"), advice_for(found))),
        None => Ok(match mail_format(bytes, declared) {
            Some(format) => Detected::of(format, declared),
            None => text(bytes, declared),
        }),
    }
}

/// The format of mail, by its first lines, or by its declared type if they do not deny it.
fn mail_format(bytes: &[u8], declared: &str) -> Option<Format> {
    let declared = MediaType::parse(declared).map(|known| known.format);
    let is_other = declared.is_some_and(|format| format.is_text() && format != Format::Plain);
    if declared == Some(Format::Mailbox) && bytes.starts_with(b"From ") || !is_other && mail::looks_like_mailbox(bytes)
    {
        return Some(Format::Mailbox);
    }
    let is_message = declared == Some(Format::Mail) && begins_like_text(bytes);
    (is_message || !is_other && mail::looks_like_message(bytes)).then_some(Format::Mail)
}

/// Whether the first kilobyte of a document may be text.
pub(super) fn begins_like_text(bytes: &[u8]) -> bool {
    const BEGINNING: usize = 1024;
    may_be_text(bytes.get(..BEGINNING).unwrap_or(bytes))
}

fn is_text_by_name(declared: &str) -> bool {
    MediaType::parse(declared).is_some_and(|known| known.format.is_text())
}

/// Whether a media type leaves it open that a document is a notebook: one of JSON, or of text of which nothing is known.
fn may_be_notebook(declared: &str) -> bool {
    MediaType::parse(declared).is_none_or(|known| matches!(known.format, Format::Json | Format::Plain))
}

/// The format of text, which has no signature.
fn text(bytes: &[u8], declared: &str) -> Detected {
    match MediaType::parse(declared) {
        _ if may_be_notebook(declared) && notebook::looks_like_notebook(bytes) => {
            Detected::of(Format::Notebook, declared)
        }
        Some(known) if known.format.is_text() && known.format != Format::Plain => {
            Detected { format: known.format, media_type: essence(declared) }
        }
        _ if manual::looks_like_manual(bytes) => Detected::of(Format::Manual, declared),
        _ if looks_like_html(bytes) => Detected::of(Format::Html, declared),
        _ if rst::looks_like_rst(bytes) => Detected::of(Format::Restructured, declared),
        None if essence(declared) == "application/octet-stream" && looks_like_json(bytes) => {
            Detected::of(Format::Json, declared)
        }
        // Any other text is read as it is, under the name that it came with.
        None if essence(declared) != "application/octet-stream" && essence(declared).contains('/') => {
            Detected { format: Format::Plain, media_type: essence(declared) }
        }
        _ => Detected::of(Format::Plain, declared),
    }
}

/// Whether a document begins like a web page, or like a part of one.
fn looks_like_html(bytes: &[u8]) -> bool {
    const BEGINNINGS: [&str; 19] = [
        "!doctype html",
        "html",
        "head",
        "body",
        "title",
        "meta",
        "div",
        "p",
        "h1",
        "h2",
        "h3",
        "table",
        "ul",
        "ol",
        "dl",
        "section",
        "article",
        "main",
        "blockquote",
    ];
    let beginning = after_prolog(bytes);
    let Some(tag) = beginning.strip_prefix(b"<") else { return false };
    BEGINNINGS.iter().any(|name| {
        tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
            && tag.get(name.len()).is_none_or(|next| next.is_ascii_whitespace() || *next == b'>')
    })
}

/// The bytes after the byte order mark, white space, comments and processing instructions of a document of markup.
fn after_prolog(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
    for (open, close) in std::iter::repeat([("<!--", "-->"), ("<?", "?>")]).flatten().take(MAX_PROLOG) {
        if let Some(inside) = rest.strip_prefix(open.as_bytes())
            && let Some(end) = inside.windows(close.len()).position(|window| window == close.as_bytes())
        {
            rest = inside.get(end + close.len()..).unwrap_or_default().trim_ascii_start();
        }
    }
    rest
}

fn looks_like_json(bytes: &[u8]) -> bool {
    matches!(bytes.trim_ascii_start(), [b'{' | b'[', ..])
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// The format of a ZIP archive, by its parts.
fn in_archive(bytes: &[u8]) -> Result<Format, ExtractError> {
    let mut archive = Archive::open(bytes)?;
    let parts = [
        ("word/document.xml", Format::Docx),
        ("ppt/presentation.xml", Format::Pptx),
        ("xl/workbook.xml", Format::Xlsx),
        ("xl/workbook.bin", Format::Xlsb),
        ("META-INF/container.xml", Format::Epub),
    ];
    if let Some((_, format)) = parts.into_iter().find(|(part, _)| archive.has(part)) {
        return Ok(format);
    }
    if !archive.has("content.xml") {
        return Err(unsupported("a ZIP archive", "unpack it and send the files in it"));
    }
    let kind = archive.text("mimetype")?.unwrap_or_default();
    match MediaType::parse(&kind).map(|known| known.format) {
        Some(format @ (Format::Odt | Format::Odp | Format::Ods)) => Ok(format),
        _ => Err(unsupported("an OpenDocument file that is neither text, slides nor a workbook", "save it as PDF")),
    }
}

/// The format of a compound file, by its streams.
fn in_compound_file(bytes: &[u8]) -> Result<Format, ExtractError> {
    match anydoc::Format::from_bytes(bytes) {
        Some(anydoc::Format::Doc) => return Ok(Format::Doc),
        Some(anydoc::Format::Ppt) => return Ok(Format::Ppt),
        Some(anydoc::Format::Excel) => return Ok(Format::Xls),
        _ => {}
    }
    let has_stream = |name: &str| {
        // Names of streams are UTF-16.
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        bytes.windows(name.len()).any(|window| window == name)
    };
    // Before the next: what is attached to a message may be encrypted.
    if has_stream(msg::PROPERTIES) {
        return Ok(Format::Outlook);
    }
    // An encrypted Office file has this one (MS-OFFCRYPTO 2.3.4.4).
    if has_stream("EncryptedPackage") {
        let message = "the document needs a password; save it without one and send it again";
        return Err(ExtractError::new(Cause::Encrypted, message));
    }
    Err(unsupported(
        "a compound file in which no Word, Excel or PowerPoint document is found",
        "save it as DOCX, XLSX, PPTX or PDF",
    ))
}

fn advice_for(found: &str) -> &'static str {
    match found.split('/').next() {
        Some("image") => "recognise its text first (OCR) and send that",
        Some("audio" | "video") => "transcribe it and send the transcript",
        _ => "unpack or convert it, and send the text itself",
    }
}

fn unsupported(what: &str, advice: &str) -> ExtractError {
    ExtractError::new(
        Cause::Unsupported,
        format!("the document is {what}, which is not read; {advice}. What is read: {}", MediaType::SUPPORTED),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8], declared: &str) -> (Format, String) {
        let Detected { format, media_type } = detect(bytes, declared).expect("readable");
        (format, media_type)
    }

    #[test]
    fn content_goes_before_names() {
        let cases: [(&[u8], &str, Format, &str); 24] = [
            (b"%PDF-1.7 ...", "text/plain", Format::Pdf, "application/pdf"),
            (b"From: a@b.example\nDate: now\n\n%PDF-1.7", "message/rfc822", Format::Mail, "message/rfc822"),
            (b"\n\n%PDF-1.7 ...", "application/octet-stream", Format::Pdf, "application/pdf"),
            (b"# Files\n\nOne starts with %PDF-1.7.", "text/markdown", Format::Markdown, "text/markdown"),
            (b" <!DOCTYPE HTML>\n<p>", "text/plain", Format::Html, "text/html"),
            (b"<html lang=de>", "application/pdf", Format::Html, "text/html"),
            (b"<!-- saved --> <?xml version='1.0'?>\n<HTML>", "text/plain", Format::Html, "text/html"),
            (b"<div class=a>words</div>", "application/octet-stream", Format::Html, "text/html"),
            (b"<p>words</p>", "text/plain", Format::Html, "text/html"),
            (b"<!-- only a comment", "text/plain", Format::Plain, "text/plain"),
            (b"{\\rtf1 words}", "text/plain", Format::Rtf, "application/rtf"),
            (b"From: a@b\nDate: x\nMessage-ID: <1@b>\n\nwords", "text/plain", Format::Mail, "message/rfc822"),
            (b"Subject: words\n\nwords", "message/rfc822", Format::Mail, "message/rfc822"),
            (b"From: a@b\nDate: x\nMessage-ID: <1@b>\n\n# Words", "text/markdown", Format::Markdown, "text/markdown"),
            (b"<htmlx>", "text/plain", Format::Plain, "text/plain"),
            (b"<!doctype html>", "text/markdown", Format::Markdown, "text/markdown"),
            (b"words", "application/pdf", Format::Plain, "text/plain"),
            (b"words", "text/x-markdown; charset=utf-8", Format::Markdown, "text/x-markdown"),
            (b"a: 1", "application/octet-stream", Format::Plain, "text/plain"),
            (b"{\"a\": 1}", "application/octet-stream", Format::Json, "application/json"),
            (b"{a: 1}", "application/octet-stream", Format::Plain, "text/plain"),
            (b"<a/>", "application/xml", Format::Plain, "application/xml"),
            (b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", "image/jpeg", Format::Picture, "image/png"),
            (b"BM is a company.", "text/plain", Format::Plain, "text/plain"),
        ];
        for (bytes, declared, format, media_type) in cases {
            assert_eq!(found(bytes, declared), (format, media_type.to_owned()), "{declared} {bytes:?}");
        }
    }

    #[test]
    fn what_is_not_read_is_named() {
        let encrypted =
            [COMPOUND_FILE, &"EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat();
        let cases: [(&[u8], Cause, &str); 5] = [
            (b"BM\x9a\0\0\0\0\0\0\0", Cause::Unsupported, "bmp"),
            (b"PK\x03\x04 broken", Cause::Malformed, "damaged"),
            (b"\x1f\x8b\x08\0\0\0\0\0", Cause::Unsupported, "gzip"),
            (COMPOUND_FILE, Cause::Unsupported, "compound file"),
            (&encrypted, Cause::Encrypted, "password"),
        ];
        for (bytes, cause, word) in cases {
            let error = detect(bytes, "application/octet-stream").expect_err("unreadable");
            assert!(error.cause == cause && error.message.contains(word), "{error:?}");
            assert!(needs_isolation(bytes, "text/plain"));
        }
        assert!(!needs_isolation(b"words", "text/plain") && needs_isolation(b"words", "text/html"));
    }
}
