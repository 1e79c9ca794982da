//! What the failures of model servers mean.

use std::time::Duration;

use reqwest::header::{self, HeaderMap};
use serde_json::Value;

use crate::providers::ProviderErrorKind;

/// Codes and words by which servers say that waiting will not help. `OpenAI` sends
/// `insufficient_quota` and `billing_hard_limit_reached` with 429, Anthropic `billing_error` with
/// 402 and "credit balance is too low" with 400, Google's `OpenAI` door "exceeded your current quota"
/// with 429, `OpenRouter` "insufficient credits" with 402, `DeepSeek` "insufficient balance" with 402.
const QUOTA_WORDS: [&str; 7] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_error",
    "credit balance is too low",
    "exceeded your current quota",
    "insufficient credits",
    "insufficient balance",
];
/// Codes and words for a prompt that is too long (`OpenAI`, llama.cpp, vLLM, Anthropic).
const CONTEXT_WORDS: [&str; 5] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "maximum context length",
    "prompt is too long",
    "request_too_large",
];

/// The kind of a failure by its status and body.
pub(super) fn classify(status: u16, body: &str) -> ProviderErrorKind {
    let body = body.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| body.contains(word));
    match status {
        402 => ProviderErrorKind::QuotaExhausted,
        400..=499 if says(&QUOTA_WORDS) => ProviderErrorKind::QuotaExhausted,
        429 => ProviderErrorKind::RateLimited,
        401 | 403 => ProviderErrorKind::Unauthorized,
        408 => ProviderErrorKind::Timeout,
        500.. => ProviderErrorKind::ServerError,
        _ if says(&CONTEXT_WORDS) => ProviderErrorKind::ContextLength,
        _ => ProviderErrorKind::Rejected,
    }
}

/// What a body says in words: `error.message`, `error`, `message` or `detail`, else the body.
pub(super) fn message_of(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else { return body.to_owned() };
    let error = value.get("error").unwrap_or(&value);
    [error.get("message"), Some(error), error.get("detail")]
        .into_iter()
        .flatten()
        .find_map(Value::as_str)
        .map_or_else(|| body.to_owned(), str::to_owned)
}

/// `Retry-After` in seconds (RFC 9110, section 10.2.3); the date form is not used by model servers.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_apart() {
        let cases = [
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, ProviderErrorKind::QuotaExhausted),
            (429, r#"{"error":{"message":"You exceeded your current quota"}}"#, ProviderErrorKind::QuotaExhausted),
            (429, r#"{"type":"error","error":{"type":"rate_limit_error"}}"#, ProviderErrorKind::RateLimited),
            (429, "slow down", ProviderErrorKind::RateLimited),
            (402, "pay", ProviderErrorKind::QuotaExhausted),
            (400, "Your credit balance is too low to access the API", ProviderErrorKind::QuotaExhausted),
            (400, r#"{"error":{"code":"context_length_exceeded"}}"#, ProviderErrorKind::ContextLength),
            (400, "prompt is too long: 210000 tokens > 200000 maximum", ProviderErrorKind::ContextLength),
            (400, "bad", ProviderErrorKind::Rejected),
            (404, "no such model", ProviderErrorKind::Rejected),
            (401, "who are you", ProviderErrorKind::Unauthorized),
            (403, "not yours", ProviderErrorKind::Unauthorized),
            (408, "", ProviderErrorKind::Timeout),
            (503, "", ProviderErrorKind::ServerError),
            (529, r#"{"type":"error","error":{"type":"overloaded_error"}}"#, ProviderErrorKind::ServerError),
        ];
        for (status, body, expected) in cases {
            assert_eq!(classify(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn messages_are_found_in_every_form() {
        let cases = [
            (r#"{"error": {"message": "a"}}"#, "a"),
            (r#"{"error": "b"}"#, "b"),
            (r#"{"message": "c"}"#, "c"),
            (r#"{"detail": "d"}"#, "d"),
            (r#"{"x": 1}"#, r#"{"x": 1}"#),
            ("plain", "plain"),
        ];
        for (body, expected) in cases {
            assert_eq!(message_of(body), expected);
        }
    }

    #[test]
    fn retry_after_is_read_in_seconds() {
        let read = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RETRY_AFTER, value.parse().expect("a header"));
            retry_after(&headers)
        };
        assert_eq!(read("7"), Some(Duration::from_secs(7)));
        assert_eq!(read("0.5"), Some(Duration::from_millis(500)));
        for unreadable in ["soon", "-1", "NaN", "1e30", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(read(unreadable), None, "{unreadable}");
        }
    }
}
