//! The settings of a collection for splitting its documents.

use serde::{Deserialize, Serialize};

/// Where a splitter prefers to cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitterKind {
    /// As suits the document: [`Self::Markdown`], [`Self::Code`] or [`Self::Recursive`].
    #[default]
    Auto,
    /// At paragraphs, else lines, else sentences, else words, below each heading that the format marks.
    Recursive,
    /// As [`Self::Recursive`]; headings are read from Markdown syntax.
    Markdown,
    /// As [`Self::Recursive`]; definitions of functions and types are the headings.
    Code,
    /// Wherever the budget is full, at a word; a heading that the format marks opens a piece all the same.
    Tokens,
}

impl SplitterKind {
    /// Its name, as used in lineage and requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Recursive => "recursive",
            Self::Markdown => "markdown",
            Self::Code => "code",
            Self::Tokens => "tokens",
        }
    }

    /// The kind to split a document with, which by itself would best be split by `suited`.
    #[must_use]
    pub const fn or(self, suited: Self) -> Self {
        match self {
            Self::Auto => suited,
            Self::Recursive | Self::Markdown | Self::Code | Self::Tokens => self,
        }
    }
}

/// The unit of a piece's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeUnit {
    /// Tokens of the embedder.
    #[default]
    Tokens,
    /// Unicode code points.
    Characters,
}

impl SizeUnit {
    /// Its name, as used in lineage and requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Characters => "characters",
        }
    }

    /// Smallest and largest size of a piece: the least leaves room for a sentence, and no embedder in use reads more
    /// than the most.
    const fn bounds(self) -> (usize, usize) {
        match self {
            Self::Tokens => (16, 32_768),
            Self::Characters => (64, 131_072),
        }
    }
}

/// How a collection's documents are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SplitterSettings {
    /// Where to cut.
    pub kind: SplitterKind,
    /// The unit of `size` and `overlap`.
    pub unit: SizeUnit,
    /// Largest piece. The embedder's window lowers it further, for either unit.
    pub size: usize,
    /// How much of a piece the next one repeats. Unset, 12 % of the piece.
    pub overlap: Option<usize>,
}

impl Default for SplitterSettings {
    fn default() -> Self {
        Self { kind: SplitterKind::default(), unit: SizeUnit::default(), size: 512, overlap: None }
    }
}

/// A fault of [`SplitterSettings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SplitterSettingsError {
    /// Pieces would be too small to hold any content, or too large for any embedder.
    #[error("must lie between {least} and {most} {}", unit.as_str())]
    Size {
        /// The unit of the size.
        unit: SizeUnit,
        /// Smallest size.
        least: usize,
        /// Largest size.
        most: usize,
    },
    /// A piece would repeat more text than it adds.
    #[error("must be at most half of the size")]
    Overlap,
}

impl SplitterSettings {
    /// Checks what a client sent. [`super::split`] also copes with settings that fail here.
    ///
    /// # Errors
    ///
    /// The first value found out of range.
    pub fn check(&self) -> Result<(), SplitterSettingsError> {
        let (least, most) = self.unit.bounds();
        if !(least..=most).contains(&self.size) {
            return Err(SplitterSettingsError::Size { unit: self.unit, least, most });
        }
        match self.overlap {
            Some(overlap) if overlap > self.size / 2 => Err(SplitterSettingsError::Overlap),
            Some(_) | None => Ok(()),
        }
    }
}
