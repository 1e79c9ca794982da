//! Resolves a citation after the answer was given.

use uuid::Uuid;

use super::{ServiceError, principals::principal_numbers};
pub(crate) use crate::store::{CitedPassage, CitedState};
use crate::{
    domain::{
        access::Grant,
        citation::Urn,
        comparison::{Comparison, compare, successor},
    },
    store::{CitedChunks, DocumentText, Store},
};

/// Code points of the document that are shown on each side of a passage.
const CONTEXT_CHARS: u32 = 2000;

/// A cited passage and what the document says around it, or in its place, now.
#[derive(Clone, Debug)]
pub(crate) struct CitedInDocument {
    /// State of the passage.
    pub(crate) state: CitedState,
    /// The document's text before and after a passage that is current.
    pub(crate) around: Option<Around>,
    /// A superseded passage beside the part of the current version that says most of it; `None` if no part does.
    pub(crate) now: Option<Comparison>,
}

/// The text around a passage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    /// Text before the passage.
    pub(crate) before: String,
    /// Text after it.
    pub(crate) after: String,
    /// Whether the document begins earlier.
    pub(crate) is_cut_before: bool,
    /// Whether the document goes on.
    pub(crate) is_cut_after: bool,
}

/// The use case.
#[derive(Clone)]
pub(crate) struct CitationService {
    store: Store,
}

impl CitationService {
    /// Citations of this store.
    #[must_use]
    pub(crate) const fn new(store: Store) -> Self {
        Self { store }
    }

    /// The current state of a cited passage. Where the document is hidden from the caller, the same is done as where there is
    /// none, so that the time tells nothing either.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] when no passage of this name ever existed, or the caller may not see its document.
    pub(crate) async fn get(&self, grant: &Grant, urn: &Urn) -> Result<CitedState, ServiceError> {
        let missing = || no_citation(urn);
        // A citation is found only under the name of its document's collection.
        if !grant.reaches(urn.collection()) {
            return Err(missing());
        }
        let cited = CitedChunks {
            collection: urn.collection(),
            document_id: document_of(urn).ok_or_else(missing)?,
            version: urn.version(),
            chunks: urn.chunks(),
            caller: principal_numbers(&self.store, grant).await?,
        };
        self.store.documents().cited(grant.tenant(), &cited).await?.ok_or_else(missing)
    }

    /// The same, with the text around it or in its place.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub(crate) async fn in_document(&self, grant: &Grant, urn: &Urn) -> Result<CitedInDocument, ServiceError> {
        let state = self.get(grant, urn).await?;
        let mut cited = CitedInDocument { state, around: None, now: None };
        if matches!(cited.state, CitedState::Deleted { .. }) {
            return Ok(cited);
        }
        let Some(id) = document_of(urn) else { return Ok(cited) };
        // A document that was deleted in this moment is shown without its text.
        let Some(text) = self.store.documents().document_text(grant.tenant(), id).await? else { return Ok(cited) };
        match &cited.state {
            CitedState::Current(passage) => cited.around = around(passage, urn.version(), &text),
            CitedState::Superseded { passage: Some(passage), .. } => {
                cited.now = successor(&passage.text, &text.text).map(|now| compare(&passage.text, now));
            }
            CitedState::Superseded { passage: None, .. } | CitedState::Deleted { .. } => {}
        }
        Ok(cited)
    }
}

/// Error: there never was such a passage.
fn no_citation(urn: &Urn) -> ServiceError {
    ServiceError::NotFound { what: "citation", name: urn.to_string() }
}

fn document_of(urn: &Urn) -> Option<Uuid> {
    urn.document().parse().ok()
}

/// The text on both sides; `None` if the document was replaced after the passage was read.
fn around(passage: &CitedPassage, version: u32, document: &DocumentText) -> Option<Around> {
    if document.version != version {
        return None;
    }
    let from = passage.start_char.saturating_sub(CONTEXT_CHARS);
    let to = passage.end_char.saturating_add(CONTEXT_CHARS);
    let slice = |start: u32, end: u32| -> String {
        let (start, length) = (usize::try_from(start).ok(), usize::try_from(end.saturating_sub(start)).ok());
        document.text.chars().skip(start.unwrap_or(usize::MAX)).take(length.unwrap_or(usize::MAX)).collect()
    };
    let after = slice(passage.end_char, to);
    let shown = u32::try_from(after.chars().count()).unwrap_or(u32::MAX);
    let is_cut_after = shown == CONTEXT_CHARS && !slice(to, to.saturating_add(1)).is_empty();
    Some(Around { before: slice(from, passage.start_char), after, is_cut_before: from > 0, is_cut_after })
}
