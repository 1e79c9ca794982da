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
pub struct CheckSource {
    /// Permanent name of a stored passage.
    pub urn: Option<Urn>,
    /// The caller's own name for a passage of the request.
    pub id: Option<String>,
    /// Its title, with the headings above it.
    pub title: String,
    /// Its words.
    pub text: String,
    /// Where they start in their document, in code points.
    pub start: usize,
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
pub struct CheckReport {
    /// How strictly it was checked.
    pub level: Level,
    /// Its factual sentences, in order of appearance.
    pub claims: Vec<CheckedClaim>,
    /// Its faults at this level, and those of stricter ones.
    pub findings: Findings,
    /// Why a verifying model had no say, if one should have had.
    pub warning: Option<AskWarning>,
    /// What it was held against, in marker order.
    pub sources: Vec<CheckSource>,
    /// Calls, tokens and cost of models.
    pub usage: Spent,
}
