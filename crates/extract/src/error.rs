//! Errors: the reason why a document has no text.

use serde::{Deserialize, Serialize};

/// Typed cause. It is stable, because programs branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The document is empty.
    Empty,
    /// The document has pages, and none of them has text.
    NoTextLayer,
    /// The document needs a password.
    Encrypted,
    /// The format of the document is not supported.
    Unsupported,
    /// The document, or its unpacked content, is over a limit.
    TooLarge,
    /// Reading took longer than one document may.
    TimedOut,
    /// The document is not in its declared format, or is truncated.
    Malformed,
    /// The document is declared as text and is not.
    Binary,
    /// The bytes are not text in any encoding.
    Encoding,
    /// The reader crashed.
    Crashed,
}

impl Cause {
    /// The name of the cause in jobs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NoTextLayer => "no_text_layer",
            Self::Encrypted => "encrypted",
            Self::Unsupported => "unsupported",
            Self::TooLarge => "too_large",
            Self::TimedOut => "timed_out",
            Self::Malformed => "malformed",
            Self::Binary => "binary",
            Self::Encoding => "encoding",
            Self::Crashed => "crashed",
        }
    }
}

/// The reason why a document has no text, and how to resolve it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractError {
    /// Typed cause.
    pub cause: Cause,
    /// How to resolve the failure.
    pub message: String,
}

impl ExtractError {
    /// A failure of one document.
    #[must_use]
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into() }
    }

    pub(super) fn malformed(what: &str, detail: impl std::fmt::Display) -> Self {
        Self::new(
            Cause::Malformed,
            format!("the {what} is damaged or incomplete ({detail}); open it, save it anew and send it again"),
        )
    }

    pub(super) fn empty() -> Self {
        Self::new(
            Cause::Empty,
            "the document holds no text; if it should, save it anew and send it again, else leave it out",
        )
    }
}
