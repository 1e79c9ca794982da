//! Streams of both protocols, split at any position.

use futures::{StreamExt, stream};
use proptest::prelude::*;
use secrecy::SecretString;

use super::*;
use crate::providers::{
    anthropic::MessageReader,
    chat::{FinishReason, ReportedUsage},
    openai::ChunkReader,
    server::{Authentication, Server, ServerSettings},
};

const OPENAI: &str = include_str!("../../tests/fixtures/openai/stream.sse");
const OPENAI_TOOL_CALL: &str = include_str!("../../tests/fixtures/openai/tool_call.sse");
const ANTHROPIC: &str = include_str!("../../tests/fixtures/anthropic/stream.sse");
const ANTHROPIC_OVERLOADED: &str = include_str!("../../tests/fixtures/anthropic/overloaded.sse");
const ANTHROPIC_TOOL_USE: &str = include_str!("../../tests/fixtures/anthropic/tool_use.sse");

#[derive(Clone, Copy, Debug)]
enum Protocol {
    OpenAi,
    Anthropic,
}

fn server() -> Server {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let settings = ServerSettings {
        provider: "p".to_owned(),
        base_url: "http://127.0.0.1:1/v1".parse().expect("a URL"),
        api_key: Some(SecretString::from("hunter2")),
        authentication: Authentication::Bearer,
        timeout: Duration::from_secs(1),
    };
    Server::new(settings).expect("a client").for_model("m")
}

/// Reads a reply from bytes that arrive in these pieces, optionally followed by a broken connection.
fn read(
    protocol: Protocol,
    pieces: Vec<Vec<u8>>,
    ending: Option<ProviderErrorKind>,
) -> Result<Vec<ReplyPart>, ProviderErrorKind> {
    let server = server();
    let fail = {
        let server = server.clone();
        move |kind, detail| server.fail(kind, detail)
    };
    let broken = ending.map(|kind| Err(fail(kind, "gone".to_owned())));
    let bytes = stream::iter(pieces.into_iter().map(|piece| Ok(Bytes::from(piece))).chain(broken));
    let events = events(bytes, fail.clone());
    let parts = match protocol {
        Protocol::OpenAi => parts(events, ChunkReader::new(server), fail),
        Protocol::Anthropic => parts(events, MessageReader::new(server), fail),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let read: Vec<_> = runtime.block_on(parts.collect());
    read.into_iter().collect::<Result<_, ProviderError>>().map_err(|error| error.kind)
}

fn whole(protocol: Protocol, text: &str) -> Result<Vec<ReplyPart>, ProviderErrorKind> {
    read(protocol, vec![text.as_bytes().to_vec()], None)
}

/// The text, and how the reply ended.
fn joined(parts: &[ReplyPart]) -> (String, Option<ReplyEnd>) {
    let mut text = String::new();
    let mut end = None;
    for part in parts {
        match part {
            ReplyPart::Text(piece) => text.push_str(piece),
            ReplyPart::End(reached) => end = Some(*reached),
        }
    }
    (text, end)
}

const TEXT: &str = "Die Frist beträgt 28 Tage – 👍. [^1]";
const END: ReplyEnd =
    ReplyEnd { finish: FinishReason::Stop, usage: Some(ReportedUsage { prompt_tokens: 219, completion_tokens: 14 }) };

#[test]
fn both_protocols_say_the_same() {
    for (protocol, text) in [(Protocol::OpenAi, OPENAI), (Protocol::Anthropic, ANTHROPIC)] {
        let parts = whole(protocol, text).expect("a reply");
        assert_eq!(joined(&parts), (TEXT.to_owned(), Some(END)), "{protocol:?}");
        assert_eq!(parts.len(), 5, "four pieces and the end: {parts:?}");
        let windows = text.replace('\n', "\r\n");
        assert_eq!(whole(protocol, &windows).as_ref(), Ok(&parts), "{protocol:?} with CRLF");
        let marked = format!("\u{feff}{text}");
        assert_eq!(whole(protocol, &marked).as_ref(), Ok(&parts), "{protocol:?} with a byte order mark");
    }
}

#[test]
fn an_empty_reason_to_finish_is_none() {
    let chunk = |words: &str, reason: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{words}\"}},\"finish_reason\":\"{reason}\"}}]}}\n\n")
    };
    let begun = [chunk("Twenty", ""), chunk(" days", "")].concat();
    let broken = read(Protocol::OpenAi, vec![begun.clone().into_bytes()], Some(ProviderErrorKind::Interrupted));
    assert_eq!(broken, Err(ProviderErrorKind::Interrupted), "what breaks off is no whole reply");
    let ended = whole(Protocol::OpenAi, &(begun + &chunk("", "stop") + "data: [DONE]\n\n")).expect("a reply");
    assert_eq!(joined(&ended).0, "Twenty days");
}

proptest! {
    #[test]
    fn any_cut_of_the_bytes_gives_the_same_pieces(
        is_openai: bool,
        is_crlf: bool,
        cuts in proptest::collection::vec(0.0_f64..1.0, 0..40),
    ) {
        let (protocol, text) =
            if is_openai { (Protocol::OpenAi, OPENAI) } else { (Protocol::Anthropic, ANTHROPIC) };
        let text = if is_crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
        let bytes = text.as_bytes();
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let mut places: Vec<usize> = cuts.iter().map(|cut| (cut * bytes.len() as f64) as usize).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let pieces = places.windows(2).map(|pair| bytes[pair[0]..pair[1]].to_vec()).collect();
        prop_assert_eq!(read(protocol, pieces, None), whole(protocol, &text));
    }

    #[test]
    fn a_reply_that_breaks_off_anywhere_is_whole_or_an_error(is_openai: bool, cut in 0.0_f64..1.0, is_reset: bool) {
        let (protocol, text) =
            if is_openai { (Protocol::OpenAi, OPENAI) } else { (Protocol::Anthropic, ANTHROPIC) };
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let place = (cut * text.len() as f64) as usize;
        let ending = is_reset.then_some(ProviderErrorKind::Interrupted);
        match read(protocol, vec![text.as_bytes()[..place].to_vec()], ending) {
            Ok(parts) => {
                let (text, end) = joined(&parts);
                prop_assert_eq!((text.as_str(), end.map(|end| end.finish)), (TEXT, Some(FinishReason::Stop)));
            }
            Err(kind) => prop_assert_eq!(kind, ProviderErrorKind::Interrupted),
        }
    }

    #[test]
    fn no_bytes_make_it_panic(is_openai: bool, bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let protocol = if is_openai { Protocol::OpenAi } else { Protocol::Anthropic };
        let mut stream = b"data: ".to_vec();
        stream.extend(bytes);
        stream.extend(b"\n\n");
        prop_assert!(read(protocol, vec![stream], None).is_err(), "it has no end");
    }
}

#[test]
fn every_single_byte_can_come_alone() {
    for (protocol, text) in [(Protocol::OpenAi, OPENAI), (Protocol::Anthropic, ANTHROPIC)] {
        let pieces = text.bytes().map(|byte| vec![byte]).collect();
        assert_eq!(read(protocol, pieces, None), whole(protocol, text));
    }
}

#[test]
fn a_missing_last_event_is_no_fault() {
    let without_done = OPENAI.replace("data: [DONE]\n\n", "");
    assert_eq!(whole(Protocol::OpenAi, &without_done), whole(Protocol::OpenAi, OPENAI));
    let without_stop = ANTHROPIC.replace("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "");
    assert_eq!(whole(Protocol::Anthropic, &without_stop), whole(Protocol::Anthropic, ANTHROPIC));
    let unexplained = "data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"}}]}\n\ndata: [DONE]\n\n";
    let (text, end) = joined(&whole(Protocol::OpenAi, unexplained).expect("a reply"));
    assert_eq!((text.as_str(), end), ("Yes.", Some(ReplyEnd { finish: FinishReason::Stop, usage: None })));
}

#[test]
fn bytes_that_are_not_utf8_are_no_reply() {
    for bad in [&b"a\xffb"[..], b"\xc3b", b"\xed\xa0\x80", b"\xf0\x9f\x91"] {
        let (begin, end) =
            (b"data: {\"choices\":[{\"delta\":{\"content\":\"", b"\"},\"finish_reason\":\"stop\"}]}\n\n");
        let bytes = [&begin[..], bad, end].concat();
        for at in 0..bytes.len() {
            let pieces = vec![bytes[..at].to_vec(), bytes[at..].to_vec()];
            let read = read(Protocol::OpenAi, pieces, None);
            assert_eq!(read, Err(ProviderErrorKind::InvalidReply), "{bad:?} cut at {at}");
        }
    }
}

#[test]
fn what_comes_after_the_end_may_be_malformed() {
    let end = OPENAI.find("data: [DONE]").expect("the end");
    let bytes = [&OPENAI.as_bytes()[..end], b"data: \xff\n\n"].concat();
    for at in (0..bytes.len()).step_by(61).chain(end..bytes.len()) {
        let pieces = vec![bytes[..at].to_vec(), bytes[at..].to_vec()];
        assert_eq!(read(Protocol::OpenAi, pieces, None), whole(Protocol::OpenAi, OPENAI), "cut at {at}");
    }
}

#[test]
fn a_cut_for_length_is_told() {
    let cut = OPENAI.replace("\"finish_reason\":\"stop\"", "\"finish_reason\":\"length\"");
    let (_, end) = joined(&whole(Protocol::OpenAi, &cut).expect("a reply"));
    assert_eq!(end.map(|end| end.finish), Some(FinishReason::Length));
    let cut = ANTHROPIC.replace("end_turn", "max_tokens");
    let (_, end) = joined(&whole(Protocol::Anthropic, &cut).expect("a reply"));
    assert_eq!(end.map(|end| end.finish), Some(FinishReason::Length));
}

#[test]
fn who_says_nothing_has_replied_unless_it_calls_a_tool() {
    let empty = "data: {\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"stop\"}]}\n\n";
    assert_eq!(joined(&whole(Protocol::OpenAi, empty).expect("a reply")).0, "");
    let said = OPENAI_TOOL_CALL.replace("\"content\":null", "\"content\":\"28 days [^1].\"");
    assert_eq!(joined(&whole(Protocol::OpenAi, &said).expect("a reply")).0, "28 days [^1].");
}

#[test]
fn what_is_no_reply_is_told_apart() {
    let filtered = OPENAI.replace("\"finish_reason\":\"stop\"", "\"finish_reason\":\"content_filter\"");
    let refused = ANTHROPIC.replace("end_turn", "refusal");
    let wordless = OPENAI_TOOL_CALL.replace("\"content\":null", "\"content\":\"\"");
    let blank =
        OPENAI_TOOL_CALL.replace("\"content\":null", "\"content\":\"\\n\\n\"").replace("\"tool_calls\"}", "\"stop\"}");
    let begun = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
                 \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let wordless_use = format!("{begun}{ANTHROPIC_TOOL_USE}");
    let busy = r#"data: {"error":{"message":"Too many requests","code":429}}"#.to_owned() + "\n\n";
    let failed = r#"data: {"error":"CUDA out of memory"}"#.to_owned() + "\n\n";
    let cases = [
        (Protocol::OpenAi, OPENAI_TOOL_CALL, ProviderErrorKind::InvalidReply),
        (Protocol::OpenAi, &wordless, ProviderErrorKind::InvalidReply),
        (Protocol::OpenAi, &blank, ProviderErrorKind::InvalidReply),
        (Protocol::Anthropic, ANTHROPIC_TOOL_USE, ProviderErrorKind::InvalidReply),
        (Protocol::Anthropic, &wordless_use, ProviderErrorKind::InvalidReply),
        (Protocol::Anthropic, ANTHROPIC_OVERLOADED, ProviderErrorKind::ServerError),
        (Protocol::OpenAi, &filtered, ProviderErrorKind::Filtered),
        (Protocol::Anthropic, &refused, ProviderErrorKind::Filtered),
        (Protocol::OpenAi, &busy, ProviderErrorKind::RateLimited),
        (Protocol::OpenAi, &failed, ProviderErrorKind::ServerError),
        (Protocol::OpenAi, "data: <html>\n\n", ProviderErrorKind::InvalidReply),
        (Protocol::OpenAi, "data: {\"choices\":[]}\n\ndata: [DONE]\n\n", ProviderErrorKind::InvalidReply),
        (Protocol::OpenAi, "", ProviderErrorKind::Interrupted),
        (
            Protocol::Anthropic,
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
            ProviderErrorKind::InvalidReply,
        ),
    ];
    for (protocol, text, kind) in cases {
        assert_eq!(whole(protocol, text), Err(kind), "{text}");
    }
}
