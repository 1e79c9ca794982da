//! Defaults and limits that a deployment sets for its asks.

use std::time::Duration;

use crate::{
    domain::{budget::Limits, corrective::LoopSettings, cost::NanoUsd},
    providers::chat::ModelName,
};

/// Most passages that a request or the deployment can have retrieved and graded per round.
pub(crate) const MOST_PASSAGES: usize = 100;
/// Longest time for which an answer may be cached.
pub(crate) const LONGEST_CACHE_LIFE: Duration = Duration::from_hours(30 * 24);

/// Defaults and limits of the deployment.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Passages that are retrieved and graded per round, unless the request says how many.
    pub(crate) top_k: usize,
    /// Share of correct passages among the candidates that is sufficient to generate.
    pub(crate) min_correct_fraction: f32,
    /// Most rewrites of one question.
    pub(crate) max_rewrite_attempts: u32,
    /// Limits of one ask; a request may ask for less.
    pub(crate) limits: Limits,
    /// Longest ask; a request may ask for less.
    pub(crate) timeout: Duration,
    /// Highest cost of the model calls of a tenant on one day (UTC); `None` is no limit.
    pub(crate) daily_cost: Option<NanoUsd>,
    /// Models that a request may name; `None` for all that are configured.
    pub(crate) choice: Option<Vec<ModelName>>,
    /// Whether models that cannot cite may answer without any proof; the answer then contains a warning.
    pub(crate) allows_mode_fallback: bool,
    /// The texts of an ask that the audit stores.
    pub(crate) audit: AuditSettings,
    /// Settings of the answer cache.
    pub(crate) cache: CacheSettings,
}

/// Settings of the answer cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheSettings {
    /// How long an answer is cached unless the request specifies it; `None` then caches nothing.
    pub(crate) life: Option<Duration>,
    /// Most cached answers of a tenant; the oldest are removed.
    pub(crate) most_answers: u32,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { life: None, most_answers: 10_000 }
    }
}

/// Texts that the audit stores in addition to figures, names and digests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AuditSettings {
    /// The question and the queries made of it.
    pub(crate) keeps_questions: bool,
    /// The answer.
    pub(crate) keeps_answers: bool,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { keeps_questions: true, keeps_answers: false }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let LoopSettings { min_correct_fraction, max_rewrite_attempts, .. } = LoopSettings::default();
        Self {
            top_k: 8,
            min_correct_fraction,
            max_rewrite_attempts,
            limits: Limits::ask(),
            timeout: Duration::from_secs(30),
            daily_cost: None,
            choice: None,
            allows_mode_fallback: false,
            audit: AuditSettings::default(),
            cache: CacheSettings::default(),
        }
    }
}
