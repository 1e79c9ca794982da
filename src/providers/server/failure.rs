//! Classifies the failures of model servers.

use serde_json::Value;

use crate::providers::ProviderErrorKind;

/// Codes and phrases by which servers report that waiting will not help. `OpenAI` sends `insufficient_quota` and
/// `billing_hard_limit_reached` with 429, Anthropic `billing_error` with 402 and "credit balance is too low" with 400,
/// Google's `OpenAI` endpoint "exceeded your current quota" with 429, `OpenRouter` "insufficient credits" with 402,
/// `DeepSeek` "insufficient balance" with 402.
const QUOTA_WORDS: [&str; 7] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_error",
    "credit balance is too low",
    "exceeded your current quota",
    "insufficient credits",
    "insufficient balance",
];
/// Codes and phrases for a prompt that is too long (`OpenAI`, llama.cpp, vLLM, Anthropic).
const CONTEXT_WORDS: [&str; 5] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "maximum context length",
    "prompt is too long",
    "request_too_large",
];

/// Classifies a failure by its status and body.
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

/// The error message in a body: `error.message`, `error`, `message` or `detail`, else the body.
pub(super) fn message_of(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else { return body.to_owned() };
    let error = value.get("error").unwrap_or(&value);
    [error.get("message"), Some(error), error.get("detail")]
        .into_iter()
        .flatten()
        .find_map(Value::as_str)
        .map_or_else(|| body.to_owned(), str::to_owned)
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
}
