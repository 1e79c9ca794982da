//! Everything that a provider can do badly, in both dialects, and how an ask is to end that meets it.

use std::time::Duration;

use serde_json::json;

use crate::{
    dialect::Dialect,
    scripted::{Piece, Reply},
};

pub(super) const ANSWER: &str = "Everyone has 28 days of paid annual leave a year [^1].";

/// How an ask is to end: `answered` or the code of a problem, and the kind of the provider's failure.
pub(super) type End = (&'static str, Option<&'static str>);

/// Something that a provider does badly.
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// At once, or as a stream.
    pub(super) reply: fn(Dialect, bool) -> Reply,
    pub(super) end: End,
    /// The names of the frames of a stream, those of words and claims once for each draft; the status of the last one is
    /// that of the answer that comes at once.
    pub(super) frames: &'static [&'static str],
}

pub(super) fn body(is_stream: bool, bytes: Vec<Piece>) -> Reply {
    Reply::Pieces(if is_stream { "text/event-stream" } else { "application/json" }, bytes)
}

fn bytes(text: &str) -> Piece {
    Piece::Bytes(text.as_bytes().to_vec())
}

/// The beginning of a good reply.
fn half(dialect: Dialect, is_stream: bool) -> Vec<Piece> {
    let begun = match (dialect, is_stream) {
        (_, true) => dialect.begin().concat() + &dialect.piece("Everyone has 28"),
        (Dialect::OpenAi, false) => "{\"choices\": [{\"message\": {\"content\": \"Everyone has 28".to_owned(),
        (Dialect::Anthropic, false) => "{\"content\": [{\"type\": \"text\", \"text\": \"Everyone has 28".to_owned(),
    };
    vec![bytes(&begun)]
}

/// A good reply without any text.
fn empty(dialect: Dialect, is_stream: bool) -> Reply {
    let text = match (dialect, is_stream) {
        (Dialect::OpenAi, true) => "data: {\"choices\": []}\n\ndata: [DONE]\n\n".to_owned(),
        (Dialect::OpenAi, false) => json!({"choices": []}).to_string(),
        (Dialect::Anthropic, true) => {
            dialect.begin().into_iter().take(1).chain(dialect.end(false, true).into_iter().skip(1)).collect()
        }
        (Dialect::Anthropic, false) => json!({"content": [], "stop_reason": "end_turn"}).to_string(),
    };
    body(is_stream, vec![bytes(&text)])
}

/// Calls of a tool that nobody offered.
fn tool_calls(dialect: Dialect, is_stream: bool) -> Reply {
    let text = match (dialect, is_stream) {
        (Dialect::OpenAi, true) => include_str!("../../fixtures/openai/tool_call.sse").to_owned(),
        (Dialect::OpenAi, false) => include_str!("../../fixtures/openai/tool_call.json").to_owned(),
        (Dialect::Anthropic, true) => include_str!("../../fixtures/anthropic/tool_use.sse").to_owned(),
        (Dialect::Anthropic, false) => {
            let block = json!({"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "leave"}});
            json!({"content": [block], "stop_reason": "tool_use"}).to_string()
        }
    };
    body(is_stream, vec![bytes(&text)])
}

/// The same with an empty text beside the call, as some servers put it.
fn wordless_tool_calls(dialect: Dialect, is_stream: bool) -> Reply {
    let text = match (dialect, is_stream) {
        (Dialect::OpenAi, true) => {
            include_str!("../../fixtures/openai/tool_call.sse").replace("\"content\":null", "\"content\":\"\"")
        }
        (Dialect::OpenAi, false) => {
            include_str!("../../fixtures/openai/tool_call.json").replace("\"content\": null", "\"content\": \"\"")
        }
        (Dialect::Anthropic, true) => {
            dialect.begin().concat()
                + include_str!("../../fixtures/anthropic/tool_use.sse").split_once("\n\n").expect("a beginning").1
        }
        (Dialect::Anthropic, false) => {
            let blocks = json!([{"type": "text", "text": ""},
                {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "leave"}}]);
            json!({"content": blocks, "stop_reason": "tool_use"}).to_string()
        }
    };
    body(is_stream, vec![bytes(&text)])
}

/// A good reply but for one byte in the midst of a word.
fn malformed(dialect: Dialect, is_stream: bool) -> Reply {
    let marked = ANSWER.replace("paid", "pa@id");
    let text = match (dialect, is_stream) {
        (_, true) => dialect.stream(&marked, false, true),
        (Dialect::OpenAi, false) => {
            json!({"choices": [{"message": {"content": marked}, "finish_reason": "stop"}]}).to_string()
        }
        (Dialect::Anthropic, false) => {
            json!({"content": [{"type": "text", "text": marked}], "stop_reason": "end_turn"}).to_string()
        }
    };
    let bytes = text.bytes().map(|byte| if byte == b'@' { 0xff } else { byte }).collect();
    body(is_stream, vec![Piece::Bytes(bytes)])
}

/// A text that comes character by character where it comes in pieces.
fn letter_by_letter(dialect: Dialect, is_stream: bool, text: &str) -> Reply {
    if !is_stream {
        return Reply::Text(text.to_owned());
    }
    let pieces: String = text.chars().map(|sign| dialect.piece(&sign.to_string())).collect();
    body(true, vec![bytes(&(dialect.begin().concat() + &pieces + &dialect.end(false, true).concat()))])
}

pub(super) const MANY_MARKERS: &str = "ten thousand markers";
pub(super) const CUT: &str = "cut at the token limit";

pub(super) const UNAVAILABLE: &str = "providers_unavailable";
/// Nothing was told but what the answer would have been written from.
pub(super) const NO_WORD: &[&str] = &["sources", "error"];
/// Some words were, and are void.
pub(super) const VOID: &[&str] = &["sources", "draft", "retry", "error"];
pub(super) const TOLD: &[&str] = &["sources", "draft", "answer"];

pub(super) const FAULTS: [Fault; 19] = [
    Fault {
        name: "500",
        reply: |_, _| Reply::Status(500, "oops".to_owned()),
        end: (UNAVAILABLE, Some("server_error")),
        frames: NO_WORD,
    },
    Fault {
        name: "429 for now",
        reply: |_, _| Reply::Status(429, "slow down".to_owned()),
        end: (UNAVAILABLE, Some("rate_limited")),
        frames: NO_WORD,
    },
    Fault {
        name: "reset at once",
        reply: |_, is_stream| body(is_stream, vec![Piece::Break]),
        end: (UNAVAILABLE, Some("interrupted")),
        frames: NO_WORD,
    },
    Fault {
        name: "reset mid-body",
        reply: |dialect, is_stream| {
            body(is_stream, half(dialect, is_stream).into_iter().chain([Piece::Break]).collect())
        },
        end: (UNAVAILABLE, Some("interrupted")),
        frames: VOID,
    },
    Fault {
        name: "one byte a second",
        reply: |dialect, is_stream| {
            let trickle =
                ANSWER.bytes().flat_map(|byte| [Piece::Wait(Duration::from_secs(1)), Piece::Bytes(vec![byte])]);
            body(is_stream, half(dialect, is_stream).into_iter().chain(trickle).collect())
        },
        end: ("deadline", Some("timeout")),
        frames: &["sources", "draft", "error"],
    },
    Fault {
        name: "never",
        reply: |_, _| Reply::Slow(Duration::from_secs(30), ANSWER.to_owned()),
        end: ("deadline", Some("timeout")),
        frames: NO_WORD,
    },
    Fault {
        name: "HTML",
        reply: |_, is_stream| {
            body(is_stream, vec![bytes(if is_stream { "data: <html>busy</html>\n\n" } else { "<html>busy</html>" })])
        },
        end: (UNAVAILABLE, Some("invalid_reply")),
        frames: NO_WORD,
    },
    Fault {
        name: "no UTF-8",
        reply: |_, is_stream| {
            let begin = bytes(if is_stream { "data: " } else { "" });
            body(is_stream, vec![begin, Piece::Bytes(vec![0xff, 0xfe, b'\n', b'\n'])])
        },
        end: (UNAVAILABLE, Some("invalid_reply")),
        frames: NO_WORD,
    },
    Fault {
        name: "malformed UTF-8 in a good reply",
        reply: malformed,
        end: (UNAVAILABLE, Some("invalid_reply")),
        frames: VOID,
    },
    Fault { name: "no choice", reply: empty, end: (UNAVAILABLE, Some("invalid_reply")), frames: NO_WORD },
    Fault {
        name: "tool calls instead of text",
        reply: tool_calls,
        end: (UNAVAILABLE, Some("invalid_reply")),
        frames: NO_WORD,
    },
    Fault {
        name: "tool calls with an empty text",
        reply: wordless_tool_calls,
        end: (UNAVAILABLE, Some("invalid_reply")),
        frames: NO_WORD,
    },
    Fault {
        name: "401",
        reply: |_, _| Reply::Status(401, json!({"error": {"message": "no"}}).to_string()),
        end: (UNAVAILABLE, Some("unauthorized")),
        frames: NO_WORD,
    },
    Fault {
        name: "an invented source, twice",
        reply: |_, _| Reply::Text("Everyone has 28 days of leave [^4].".to_owned()),
        end: ("citation_validation", None),
        frames: &["sources", "draft", "retry", "draft", "retry", "error"],
    },
    Fault {
        name: MANY_MARKERS,
        reply: |_, _| Reply::Text(format!("{ANSWER}{}", "[^1]".repeat(10_000))),
        end: ("answered", None),
        frames: TOLD,
    },
    Fault {
        // The description of its faults does not fit into a second prompt.
        name: "ten thousand invented markers",
        reply: |_, _| Reply::Text((1..=10_000).map(|number| format!("[^{number}]")).collect()),
        end: ("budget_exceeded", None),
        frames: VOID,
    },
    Fault {
        name: "a marker in many pieces",
        reply: |dialect, is_stream| letter_by_letter(dialect, is_stream, ANSWER),
        end: ("answered", None),
        frames: TOLD,
    },
    Fault { name: CUT, reply: |_, _| Reply::Cut(ANSWER.to_owned()), end: ("answered", None), frames: TOLD },
    // The last, because a provider without quota is left alone for a while.
    Fault {
        name: "429 for good",
        reply: |_, _| {
            Reply::Status(429, json!({"error": {"code": "insufficient_quota", "message": "pay"}}).to_string())
        },
        end: (UNAVAILABLE, Some("quota_exhausted")),
        frames: NO_WORD,
    },
];
