//! The outcome of a check.

use crate::{
    domain::{
        budget::Spent,
        citation::{CheckedClaim, Findings, Level, Urn},
    },
    service::ask::AskWarning,
};

/// A passage that claims are held against.
#[derive(Clone, Debug)]
pub(crate) struct CheckSource {
    /// Permanent name of a stored passage.
    pub(crate) urn: Option<Urn>,
    /// The caller's own name for a passage of the request.
    pub(crate) id: Option<String>,
    /// Its title, with the headings above it.
    pub(crate) title: String,
    /// The header of the table whose later rows it begins with.
    pub(crate) table_header: Option<String>,
    /// Its words.
    pub(crate) text: String,
    /// Where they start in their document, in code points.
    pub(crate) start: usize,
}

impl CheckSource {
    /// The name under which a model is shown it.
    pub(super) fn name(&self) -> String {
        let urn = self.urn.as_ref().map(ToString::to_string);
        urn.or_else(|| self.id.clone()).unwrap_or_default()
    }
}

/// A text that was checked.
#[derive(Clone, Debug)]
pub(crate) struct CheckReport {
    /// How strictly it was checked.
    pub(crate) level: Level,
    /// Its factual sentences, in order of appearance.
    pub(crate) claims: Vec<CheckedClaim>,
    /// Its faults at this level, and those of stricter ones.
    pub(crate) findings: Findings,
    /// Why a verifying model had no say, if one should have had.
    pub(crate) warning: Option<AskWarning>,
    /// The sources it was checked against, in marker order.
    pub(crate) sources: Vec<CheckSource>,
    /// Calls, tokens and cost of models.
    pub(crate) usage: Spent,
}
