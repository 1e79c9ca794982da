//! Limits as clients are told of them (draft-ietf-httpapi-ratelimit-headers-10).

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::number::whole_seconds;

/// A limit, and what is left of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateLimit {
    pub(crate) name: &'static str,
    /// How much it allows.
    pub(crate) quota: u64,
    pub(crate) per: Per,
    pub(crate) remaining: u64,
    /// How long the client has to wait, if it has to.
    pub(crate) wait: Option<Duration>,
}

/// Of which time a limit is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Per {
    Minute,
    Day,
    /// Of no time, but of requests at once.
    Moment,
}

impl RateLimit {
    /// Adds the limit to those that a response tells of.
    pub(crate) fn tell(self, headers: &mut HeaderMap) {
        let Self { name, quota, per, remaining, wait } = self;
        let per = match per {
            Per::Minute => ";w=60",
            Per::Day => ";w=86400",
            Per::Moment => ";qu=\"concurrent-requests\"",
        };
        let after = wait.map(|wait| format!(";t={}", whole_seconds(wait))).unwrap_or_default();
        for (header, value) in [
            ("ratelimit-policy", format!("\"{name}\";q={quota}{per}")),
            ("ratelimit", format!("\"{name}\";r={remaining}{after}")),
        ] {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(HeaderName::from_static(header), value);
            }
        }
    }
}
