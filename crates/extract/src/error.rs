//! Why a document has no text.

use serde::{Deserialize, Serialize};

/// Typed cause, stable: programs branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// There is nothing in it.
    Empty,
    /// It has pages, and none of them has text.
    NoTextLayer,
    /// It needs a password.
    Encrypted,
    /// It is of a format that is not read.
    Unsupported,
    /// It, or what it unpacks to, is over a limit.
    TooLarge,
    /// It took longer than one document may.
    TimedOut,
    /// It is not what it says it is, or broken off.
    Malformed,
    /// It is said to be text and is not.
    Binary,
    /// Its bytes are not text in any encoding.
    Encoding,
    /// Reading it broke the reader.
    Crashed,
}

impl Cause {
    /// As jobs report it.
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

/// Why a document has no text, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractError {
    /// Typed cause.
    pub cause: Cause,
    /// What to do about it.
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
