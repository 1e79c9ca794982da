//! Defaults and limits that a deployment sets for its asks.

use std::time::Duration;

use crate::domain::{budget::Limits, corrective::LoopSettings, cost::NanoUsd};

/// Longest time that an answer may be given again.
pub const LONGEST_CACHE_LIFE: Duration = Duration::from_hours(30 * 24);

/// Defaults and limits of the deployment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Share of correct passages among the candidates that is enough to generate.
    pub min_correct_fraction: f32,
    /// Most rewrites of one question.
    pub max_rewrite_attempts: u32,
    /// Limits of one ask; a request may ask for less.
    pub limits: Limits,
    /// Longest ask; a request may ask for less.
    pub timeout: Duration,
    /// Most that the model calls of a tenant may cost on one day (UTC); `None` is no limit.
    pub daily_cost: Option<NanoUsd>,
    /// Whether models that cannot cite may answer without any proof, which the answer then says.
    pub allows_mode_fallback: bool,
    /// Texts that the audit holds of an ask.
    pub audit: AuditSettings,
    /// Answers that are given again.
    pub cache: CacheSettings,
}

/// Answers that are given again.
#[derive(Clone, Copy, Debug)]
pub struct CacheSettings {
    /// How long an answer is good unless the request says so; `None` caches nothing then.
    pub life: Option<Duration>,
    /// Most answers of a tenant; the oldest make way.
    pub most_answers: u32,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { life: None, most_answers: 10_000 }
    }
}

/// Texts that the audit holds in addition to figures, names and digests.
#[derive(Clone, Copy, Debug)]
pub struct AuditSettings {
    /// The question and the queries made of it.
    pub keeps_questions: bool,
    /// The answer.
    pub keeps_answers: bool,
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
            min_correct_fraction,
            max_rewrite_attempts,
            limits: Limits::ask(),
            timeout: Duration::from_secs(30),
            daily_cost: None,
            allows_mode_fallback: false,
            audit: AuditSettings::default(),
            cache: CacheSettings::default(),
        }
    }
}
