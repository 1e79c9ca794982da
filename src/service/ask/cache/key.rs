//! The key of a cached answer: SHA-256 of everything that decides the answer.
//!
//! The key is a derived serialisation, so a new member of the request, of its filter, of the stages of retrieval or of
//! the limits is automatically part of it. Omissions are explicit and have their reasons: of the request, the members
//! of [`AskExecution`]; of the deployment's settings, those that [`SettingsKey::of`] skips.
//!
//! [`AskExecution`]: crate::service::ask::AskExecution

use serde::Serialize;

use crate::{
    domain::{
        budget::Limits,
        citation::{Level, Urn},
        fingerprint::{Hash, content_hash},
    },
    providers::chat::{CallRole, ModelName},
    service::{
        ask::{AskRequest, Settings, context::AskContext, retrieve::Corpus},
        instructions::RoleInstructions,
        retrieval::{Hit, Retrieved},
    },
};

/// The release, because it determines prompts, parsers and judges.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// Everything that decides an answer, together with the release. JSON of structs and lists is canonical: members are in
/// the order of their declaration.
#[derive(Debug, Serialize)]
pub(super) struct CacheKey<'a> {
    request: &'a AskRequest,
    /// The level that is applied, which the models may have lowered.
    effective_level: Level,
    /// The limits that result from the request and the deployment.
    limits: &'a Limits,
    may_search_web: bool,
    /// The models of every role, in the order in which they are tried.
    models: Vec<(CallRole, Vec<ModelName>)>,
    /// The instructions of the deployment to these models.
    instructions: &'a RoleInstructions,
    settings: SettingsKey,
    /// The passages found for the question, in their order. They name the versions of their documents.
    passages: Vec<Urn>,
    /// The caller that they were found for, as access control lists know it.
    caller: Option<Vec<i32>>,
}

impl<'a> CacheKey<'a> {
    /// The key of the answer to an ask for whose question these passages were found.
    pub(super) fn of(ask: &'a AskContext, corpus: &Corpus, found: &Retrieved) -> Self {
        Self {
            request: &ask.request,
            effective_level: ask.models.level,
            limits: ask.budget.limits(),
            may_search_web: corpus.may_search_web,
            models: ask.models.names(),
            instructions: &ask.services.instructions,
            settings: SettingsKey::of(&ask.services.settings),
            passages: found.hits.iter().map(Hit::urn).collect(),
            caller: found.caller.clone(),
        }
    }

    pub(super) fn hash(&self) -> Hash {
        let canonical = serde_json::to_vec(&(RELEASE, self)).expect("plain structs and lists can be serialised");
        content_hash(&canonical)
    }
}

/// The settings of a deployment that decide an answer.
#[derive(Debug, Serialize)]
struct SettingsKey {
    min_correct_fraction: f32,
    max_rewrite_attempts: u32,
}

impl SettingsKey {
    /// Destructures the settings, so that a new one must be handled here before this compiles.
    const fn of(settings: &Settings) -> Self {
        let Settings {
            min_correct_fraction,
            max_rewrite_attempts,
            // Represented in the key by the result of it and the request: the limits and the level that are applied.
            limits: _,
            allows_mode_fallback: _,
            choice: _,
            // An ask that exceeds them has no answer to cache.
            timeout: _,
            daily_cost: _,
            // These decide which data is stored, not its content.
            audit: _,
            cache: _,
            // Part of the request, which names a number of its own or has this one.
            top_k: _,
        } = settings;
        Self { min_correct_fraction: *min_correct_fraction, max_rewrite_attempts: *max_rewrite_attempts }
    }
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
