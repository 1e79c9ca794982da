//! The texts that an answer is checked against.

use std::sync::OnceLock;

use super::source::SourceParts;
use crate::split::lines_above_rows;

/// A source's text, parsed once so that many claims can be compared with it.
///
/// Parsing happens at the first comparison: an answer rarely cites more than a few of its sources.
#[derive(Debug, Clone)]
pub struct PreparedSource {
    /// The text, behind the header of the table whose later rows it begins with.
    text: String,
    /// Bytes of that header; 0 if there is none.
    repeated: usize,
    context: String,
    /// Code point of the document at which the text starts.
    start: usize,
    parts: OnceLock<SourceParts>,
}

/// The texts that an answer is checked against: its sources, and the question, whose words need no source.
#[derive(Debug, Clone)]
pub struct Basis {
    sources: Vec<PreparedSource>,
    question: PreparedSource,
}

impl Basis {
    /// Sources in marker order, and the question that the answer is to.
    #[must_use]
    pub fn new(sources: Vec<PreparedSource>, question: &str) -> Self {
        Self { sources, question: PreparedSource::new(question) }
    }

    /// The sources in marker order.
    #[must_use]
    pub fn sources(&self) -> &[PreparedSource] {
        &self.sources
    }

    /// The source that the marker with this number names.
    pub(super) fn source(&self, number: u32) -> Option<&PreparedSource> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.sources.get(index)
    }

    pub(super) const fn question(&self) -> &PreparedSource {
        &self.question
    }
}

impl PreparedSource {
    /// A source with this text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::with_context(text, "")
    }

    /// The same, for a source that was found by more than its text, such as its title and headings.
    ///
    /// A name that only the context holds ("Handbook of Acme") is not missing from the source, but words
    /// of the context are never quoted, for they do not stand in the text.
    #[must_use]
    pub fn with_context(text: &str, context: &str) -> Self {
        Self { text: text.to_owned(), repeated: 0, context: context.to_owned(), start: 0, parts: OnceLock::new() }
    }

    /// The same source, which begins with later rows of a table: they are read below its header, which is not quoted either.
    #[must_use]
    pub fn below(self, table_header: Option<&str>) -> Self {
        let header = table_header.map(lines_above_rows).unwrap_or_default();
        Self { text: format!("{header}{}", self.text()), repeated: header.len(), parts: OnceLock::new(), ..self }
    }

    /// The same source as a slice of its document that starts at this code point: quotes have their range there.
    #[must_use]
    pub fn starting_at(self, start: usize) -> Self {
        Self { start, parts: OnceLock::new(), ..self }
    }

    /// The text that was prepared.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.get(self.repeated..).unwrap_or_default()
    }

    /// The words it was found by that are not in its text.
    pub(super) fn context(&self) -> &str {
        &self.context
    }

    pub(super) fn parts(&self) -> &SourceParts {
        self.parts.get_or_init(|| SourceParts::of(&self.text, &self.context, self.start, self.repeated))
    }
}
