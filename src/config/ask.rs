//! Settings of asks and of their audit.

use std::time::Duration;

use super::{ingest::read_destinations, reader::Reader};
use crate::{
    domain::{budget::Limits, cost::NanoUsd},
    providers::{chat::ModelName, outbound::Rule, web_search},
    service::{
        ask::{AuditSettings, CacheSettings, LONGEST_CACHE_LIFE, MOST_PASSAGES, Settings},
        sweep::Retention,
    },
};

/// Days that a row of the audit is kept unless configured otherwise.
const AUDIT_RETENTION_DAYS: u32 = 90;
/// Days that a job is kept after its end unless configured otherwise.
const JOB_RETENTION_DAYS: u32 = 90;
/// Days that a security event is kept unless configured otherwise.
const SECURITY_EVENT_RETENTION_DAYS: u32 = 365;
/// Number of pages that are used from a web search unless configured otherwise.
const WEB_RESULTS: usize = 5;
/// Largest number of pages that can be configured: each one is graded and shown to a model.
const MOST_WEB_RESULTS: usize = 20;
/// Time limit of a web search unless configured otherwise.
const WEB_TIMEOUT: Duration = Duration::from_secs(5);
/// Setting of where a web search may lead besides the search engine and the public internet.
const WEB_SEARCH_ALLOW: &str = "CITED_WEB_SEARCH_ALLOW";
/// Longest retention, a century: longer ones are mistakes, and do not fit a date.
const LONGEST_RETENTION_DAYS: u32 = 36_500;

/// Reads all settings of asks; faults are added to the reader.
pub(super) fn read(reader: &mut Reader) -> Settings {
    let defaults = Settings::default();
    let limits = Limits {
        llm_calls: Some(reader.value("CITED_ASK_LLM_CALLS", defaults.limits.llm_calls.unwrap_or(u32::MAX))),
        prompt_tokens: Some(reader.value("CITED_ASK_PROMPT_TOKENS", defaults.limits.prompt_tokens.unwrap_or(u32::MAX))),
        completion_tokens: reader.value("CITED_ASK_COMPLETION_TOKENS", defaults.limits.completion_tokens),
        source_bytes: Some(reader.value("CITED_ASK_SOURCE_BYTES", defaults.limits.source_bytes.unwrap_or(u64::MAX))),
        ..defaults.limits
    };
    let settings = Settings {
        limits,
        timeout: reader.seconds("CITED_ASK_TIMEOUT_S", defaults.timeout),
        daily_cost: read_daily_cost(reader),
        top_k: reader.value("CITED_TOP_K", defaults.top_k),
        min_correct_fraction: reader.value("CITED_MIN_CORRECT_FRACTION", defaults.min_correct_fraction),
        max_rewrite_attempts: reader.value("CITED_MAX_REWRITE_ATTEMPTS", defaults.max_rewrite_attempts),
        choice: read_choice(reader),
        allows_mode_fallback: reader.value("CITED_MODE_FALLBACK", defaults.allows_mode_fallback),
        audit: AuditSettings {
            keeps_questions: reader.value("CITED_AUDIT_QUESTIONS", defaults.audit.keeps_questions),
            keeps_answers: reader.value("CITED_AUDIT_ANSWERS", defaults.audit.keeps_answers),
        },
        cache: CacheSettings {
            life: read_cache_life(reader),
            most_answers: reader.value("CITED_CACHE_MAX_ANSWERS", defaults.cache.most_answers),
        },
    };
    if !(1..=MOST_PASSAGES).contains(&settings.top_k) {
        reader.fault(format!("CITED_TOP_K is {}; it must be 1 to {MOST_PASSAGES}", settings.top_k));
    }
    if !(0.0..=1.0).contains(&settings.min_correct_fraction) {
        reader.fault("CITED_MIN_CORRECT_FRACTION must lie between 0 and 1".to_owned());
    }
    if limits.completion_tokens == 0 {
        reader.fault("CITED_ASK_COMPLETION_TOKENS must be 1 or more".to_owned());
    }
    settings
}

/// The models that a request may name; the empty list is all that are configured.
fn read_choice(reader: &mut Reader) -> Option<Vec<ModelName>> {
    let form = "models as provider:model";
    let models = reader.list("CITED_ASK_MODELS", form, |entry| entry.parse::<ModelName>().ok());
    (!models.is_empty()).then_some(models)
}

/// How long an answer is cached; 0 turns the cache off.
fn read_cache_life(reader: &mut Reader) -> Option<Duration> {
    let life = reader.seconds_within("CITED_CACHE_TTL_S", Duration::ZERO, Duration::ZERO..=LONGEST_CACHE_LIFE);
    Some(life).filter(|life| !life.is_zero())
}

fn read_daily_cost(reader: &mut Reader) -> Option<NanoUsd> {
    let usd = reader.optional::<f64>("CITED_DAILY_COST_USD")?;
    let limit = NanoUsd::from_usd(usd);
    if limit.is_none() {
        reader.fault(format!("CITED_DAILY_COST_USD is {usd}; it must be an amount of dollars, 0 or more"));
    }
    limit
}

/// A search engine that is used if the documents do not suffice; `None` if none is configured.
pub(super) fn read_web_search(reader: &mut Reader) -> Option<web_search::Settings> {
    let endpoint = reader.url("CITED_WEB_SEARCH_URL");
    let results = reader.value("CITED_WEB_SEARCH_RESULTS", WEB_RESULTS);
    if !(1..=MOST_WEB_RESULTS).contains(&results) {
        reader.fault(format!("CITED_WEB_SEARCH_RESULTS is {results}; it must be 1 to {MOST_WEB_RESULTS}"));
    }
    let timeout = reader.seconds("CITED_WEB_SEARCH_TIMEOUT_S", WEB_TIMEOUT);
    let allow = read_destinations(reader, WEB_SEARCH_ALLOW);
    endpoint.map(|endpoint| {
        let destinations = Rule::for_server(WEB_SEARCH_ALLOW, &endpoint, allow);
        web_search::Settings { endpoint, destinations, results, timeout }
    })
}

/// How long rows of the records are kept.
pub(super) fn read_retention(reader: &mut Reader) -> Retention {
    Retention {
        audit: read_days(reader, "CITED_AUDIT_RETENTION_DAYS", AUDIT_RETENTION_DAYS),
        jobs: read_days(reader, "CITED_JOB_RETENTION_DAYS", JOB_RETENTION_DAYS),
        security_events: read_days(reader, "CITED_SECURITY_EVENT_RETENTION_DAYS", SECURITY_EVENT_RETENTION_DAYS),
    }
}

/// How long something is kept; `None` means forever.
fn read_days(reader: &mut Reader, name: &'static str, default: u32) -> Option<Duration> {
    let days = reader.value(name, default);
    if days > LONGEST_RETENTION_DAYS {
        reader.fault(format!("{name} is {days}; it must be at most {LONGEST_RETENTION_DAYS}, or 0 to keep all"));
        return None;
    }
    (days > 0).then(|| Duration::from_hours(u64::from(days) * 24))
}
