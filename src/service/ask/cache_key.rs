//! The key of a cached answer: SHA-256 of everything that decides the answer.
//!
//! The key is a derived serialisation, so a new member of the request, of its filter, of the stages of retrieval or of the
//! limits is part of it without further ado. What is left out is named: of the request [`AskExecution`], which says why for
//! each member, and of the deployment's settings what [`SettingsKey::of`] passes over.
//!
//! [`AskExecution`]: super::AskExecution

use serde::Serialize;

use super::{AskRequest, Settings};
use crate::{
    domain::{
        budget::Limits,
        citation::{Level, Urn},
        fingerprint::{Hash, content_hash},
    },
    providers::chat::{CallRole, ModelName},
};

/// Prompts, parsers and judges are those of a release.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// Everything that decides an answer beside the release. JSON of structs and lists is canonical: members stand in the
/// order of their declaration.
#[derive(Debug, Serialize)]
pub(super) struct CacheKey<'a> {
    pub(super) request: &'a AskRequest,
    /// The level that is applied, which the models may have lowered.
    pub(super) effective_level: Level,
    /// The limits that result from the request and the deployment.
    pub(super) limits: &'a Limits,
    pub(super) may_search_web: bool,
    /// The models of every role, in the order in which they are tried.
    pub(super) models: Vec<(CallRole, Vec<ModelName>)>,
    pub(super) settings: SettingsKey,
    /// The passages found for the question, in their order. They name the versions of their documents.
    pub(super) passages: Vec<Urn>,
}

impl CacheKey<'_> {
    pub(super) fn hash(&self) -> Hash {
        let canonical = serde_json::to_vec(&(RELEASE, self)).expect("plain structs and lists can be serialised");
        content_hash(&canonical)
    }
}

/// The settings of a deployment that decide an answer.
#[derive(Debug, Serialize)]
pub(super) struct SettingsKey {
    min_correct_fraction: f32,
    max_rewrite_attempts: u32,
}

impl SettingsKey {
    /// Takes the settings apart, so that a new one must be placed here before this compiles.
    pub(super) const fn of(settings: &Settings) -> Self {
        let Settings {
            min_correct_fraction,
            max_rewrite_attempts,
            // In the key as what results from it and the request: the limits and the level that are applied.
            limits: _,
            allows_mode_fallback: _,
            // An ask that exceeds them has no answer to keep.
            timeout: _,
            daily_cost: _,
            // About what is kept, not about what it says.
            audit: _,
            cache: _,
        } = settings;
        Self { min_correct_fraction: *min_correct_fraction, max_rewrite_attempts: *max_rewrite_attempts }
    }
}

#[cfg(test)]
#[path = "cache_key_tests.rs"]
mod tests;
