//! Files to text: bytes and a media type in, text out, or a typed cause.
//!
//! Pure and bounded; a panic in here would be contained by the caller.

mod decode;
mod media_type;

pub use decode::decode;
pub use media_type::MediaType;

use crate::domain::split::{Outline, SplitterKind};

/// What a document turned into.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// Its text; every range of chunks and quotes points into it.
    pub text: String,
    /// Its title, if the document itself names one.
    pub title: Option<String>,
    /// How its kind of text is best split.
    pub splitter: SplitterKind,
}

/// Why a document has no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractError {
    /// Typed cause, stable.
    pub cause: &'static str,
    /// What to do about it.
    pub message: String,
}

impl ExtractError {
    fn new(cause: &'static str, message: impl Into<String>) -> Self {
        Self { cause, message: message.into() }
    }
}

/// Extracts the text of a document.
///
/// # Errors
/// `unsupported`, `encoding`, `binary` or `empty`.
pub fn extract(bytes: &[u8], media_type: &str) -> Result<Extracted, ExtractError> {
    let kind = MediaType::parse(media_type).ok_or_else(|| {
        ExtractError::new("unsupported", format!("{media_type:?} cannot be read; send {}", MediaType::SUPPORTED))
    })?;
    let text = decode(bytes)?;
    if text.trim().is_empty() {
        return Err(ExtractError::new(
            "empty",
            "the document holds no text; send its content in \"text\" or as a file",
        ));
    }
    let splitter = match kind {
        MediaType::Plain => SplitterKind::Recursive,
        MediaType::Markdown => SplitterKind::Markdown,
    };
    let title = match kind {
        MediaType::Plain => None,
        MediaType::Markdown => first_heading(&text),
    };
    Ok(Extracted { text, title, splitter })
}

/// The first heading of Markdown text if it comes before any other text.
fn first_heading(text: &str) -> Option<String> {
    let outline = Outline::of(SplitterKind::Markdown, text);
    let first = text.len() - text.trim_start().len();
    outline.path_at(first).pop().filter(|title| !title.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_names_its_title() {
        let extracted = extract(b"\n# Annual leave\n\nText.", "text/markdown; charset=utf-8").expect("readable");
        assert_eq!(extracted.title.as_deref(), Some("Annual leave"));
        assert_eq!(extract(b"Text.\n\n# Later", "text/markdown").expect("readable").title, None);
    }

    #[test]
    fn each_failure_has_its_cause() {
        let cases: [(&[u8], &str, &str); 4] = [
            (b"%PDF-1.7", "application/pdf", "unsupported"),
            (b" \n\t ", "text/plain", "empty"),
            (b"\xff\xfe\xfd\x80 text", "text/plain", "encoding"),
            (b"a\0b", "text/plain", "binary"),
        ];
        for (bytes, media_type, cause) in cases {
            assert_eq!(extract(bytes, media_type).expect_err(cause).cause, cause);
        }
    }
}
