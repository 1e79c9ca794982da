//! The data that is needed, in addition to a stored text, to split it again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::Described;
use crate::{
    domain::split::{Heading, PageMap, SplitterKind},
    extract::Extracted,
};

/// The metadata given for a document, and the structure that was found when it was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Layout {
    /// Title that was given with the document.
    pub(super) given_title: Option<String>,
    /// Title that the document itself contains.
    pub(super) found_title: Option<String>,
    /// Media type as which it was read.
    pub(super) declared: String,
    /// Media type that was requested for the URL.
    pub(super) requested: Option<String>,
    /// The splitting method that suits its kind of text.
    pub(super) splitter: SplitterKind,
    /// Its headings in order, where they are not part of the text's own syntax.
    pub(super) headings: Vec<Heading>,
    /// Where its pages begin.
    pub(super) pages: PageMap,
}

/// The stored form; versioned because it outlives the process that wrote it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "v")]
enum Stored {
    #[serde(rename = "1")]
    V1(Layout),
}

impl Layout {
    pub(super) fn of(described: &Described, extracted: &Extracted) -> Self {
        Self {
            given_title: described.origin.title.clone(),
            found_title: extracted.title.clone(),
            declared: described.origin.media_type.clone(),
            requested: described.origin.requested_media_type.clone(),
            splitter: extracted.splitter,
            headings: extracted.headings.clone(),
            pages: extracted.pages.clone(),
        }
    }

    pub(super) fn store(self) -> Value {
        serde_json::to_value(Stored::V1(self)).expect("a layout of plain values is JSON")
    }

    /// An error for a layout that a newer release stored.
    pub(super) fn read(stored: Value) -> serde_json::Result<Self> {
        serde_json::from_value(stored).map(|Stored::V1(layout)| layout)
    }
}
