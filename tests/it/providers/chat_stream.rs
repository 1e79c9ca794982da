//! Chat calls piece by piece, over HTTP.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc, time::Duration};

use cited::{
    CallRole, ChatChain, ChatEvent, ChatModels, ChatReply, ChatRequest, Config, FinishReason, Metrics,
    ProviderErrorKind, ProvidersUnavailable,
};
use domain::{
    budget::{Budget, ChatSize, Limits, Spent},
    cost::NanoUsd,
    prompt::Message,
    split::TokenCounter,
};
use futures::StreamExt;
use tokio::time::Instant;

use crate::{
    dialect::{Dialect, pieces},
    scripted::{ModelServer, Piece, Reply, Role},
};

const TEXT: &str = "Jeder hat 28 Tage Urlaub – 👍 [^1].";

/// Words, for a tokenizer.
fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The models `a:m`, `b:m`, … of these servers, in order; those of the second kind speak Anthropic's API.
fn chain(servers: &[(&ModelServer, Dialect)], further: &str) -> ChatChain {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut models = Vec::new();
    let mut file = String::new();
    for ((server, dialect), name) in servers.iter().zip(["a", "b", "c"]) {
        let kind = match dialect {
            Dialect::OpenAi => "openai",
            Dialect::Anthropic => "anthropic",
        };
        models.push(format!("{name}:m"));
        write!(
            file,
            "[providers.{name}]\nkind = \"{kind}\"\nbase_url = \"{}\"\n\
             [prices.\"{name}:m\"]\nprompt_usd_per_million = 1\ncompletion_usd_per_million = 2\n",
            server.base_url()
        )
        .expect("a String takes everything");
    }
    let variables =
        BTreeMap::from([("HOME".to_owned(), "/nowhere".to_owned()), ("CITED_MODELS".to_owned(), models.join(","))]);
    let config = Config::from_sources(variables, &format!("{file}{further}")).expect("valid");
    let counter: Arc<dyn TokenCounter + Send + Sync> = Arc::new(words);
    let models = ChatModels::new(&config.chat, counter, Metrics::default()).expect("clients");
    models.chain(CallRole::Generate, &[]).expect("models")
}

fn request(limit: Duration) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::system("You answer."), Message::user("How many days?")],
        temperature: 0.0,
        seed: Some(7),
        format: None,
        shared_bytes: 0,
        deadline: Instant::now() + limit,
    }
}

const LIMIT: Duration = Duration::from_secs(30);

/// All events of a call, and what it spent.
async fn listen(chain: &ChatChain, limit: Duration) -> (Vec<Result<ChatEvent, ProvidersUnavailable>>, Spent) {
    let budget = Budget::new(Limits::ask());
    let allowance = budget.reserve_chat(ChatSize { prompt_tokens: 50, ..ChatSize::default() }).expect("a call");
    let events = chain.stream(request(limit), allowance).collect().await;
    (events, budget.spent())
}

async fn whole(chain: &ChatChain) -> ChatReply {
    let allowance = Budget::new(Limits::ask()).reserve_chat(ChatSize::default()).expect("a call");
    chain.complete(&request(LIMIT), allowance).await.expect("a reply")
}

/// One word per event.
fn told(events: &[Result<ChatEvent, ProvidersUnavailable>]) -> Vec<String> {
    let tell = |event: &Result<ChatEvent, ProvidersUnavailable>| match event {
        Ok(ChatEvent::Started(model)) => format!("started {model}"),
        Ok(ChatEvent::Delta(text)) => text.clone(),
        Ok(ChatEvent::Void(attempt)) => format!("void {}", attempt.error.kind.as_str()),
        Ok(ChatEvent::Done(reply)) => format!("done {}", reply.text),
        Err(error) => format!("failed {}", error.attempts.len()),
    };
    events.iter().map(tell).collect()
}

fn events_of(pieces: impl IntoIterator<Item = String>, last: Piece) -> Reply {
    let bytes = pieces.into_iter().map(|piece| Piece::Bytes(piece.into_bytes()));
    Reply::Pieces("text/event-stream", bytes.chain([last]).collect())
}

#[tokio::test]
async fn pieces_joined_are_the_whole_reply_in_both_protocols() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let server = ModelServer::start().await;
        server.say(Role::Answer, TEXT);
        let chain = chain(&[(&server, dialect)], "");
        let (events, spent) = listen(&chain, LIMIT).await;
        let mut expected = vec!["started a:m".to_owned()];
        expected.extend(pieces(TEXT));
        expected.push(format!("done {TEXT}"));
        assert_eq!(told(&events), expected, "{dialect:?}");
        let Some(Ok(ChatEvent::Done(streamed))) = events.last() else { panic!("no end: {events:?}") };
        let at_once = whole(&chain).await;
        assert_eq!(
            (&streamed.text, streamed.finish, streamed.usage, streamed.cost),
            (&at_once.text, at_once.finish, at_once.usage, at_once.cost)
        );
        assert_eq!((streamed.usage.prompt_tokens, streamed.usage.completion_tokens), (100, 20));
        assert_eq!((spent.prompt_tokens, spent.cost), (100, NanoUsd::new(140_000)));
        let calls = server.calls(Role::Answer);
        assert_eq!((&calls[0].body["stream"], &calls[1].body["stream"]), (&true.into(), &false.into()));
        assert_eq!(calls[0].body["messages"], calls[1].body["messages"]);
    }
}

#[tokio::test]
async fn a_model_that_dies_on_its_way_is_void_and_followed_by_the_next() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let (dying, good) = (ModelServer::start().await, ModelServer::start().await);
        let first_words = dialect.begin().into_iter().chain([dialect.piece("Jeder hat "), dialect.piece("99")]);
        dying.reply(Role::Answer, events_of(first_words, Piece::Break));
        good.say(Role::Answer, "Ja.");
        let chain = chain(&[(&dying, dialect), (&good, Dialect::OpenAi)], "");
        let (events, spent) = listen(&chain, LIMIT).await;
        let expected = ["started a:m", "Jeder hat ", "99", "void interrupted", "started b:m", "Ja.", "done Ja."];
        assert_eq!(told(&events), expected);
        let Some(Ok(ChatEvent::Done(reply))) = events.last() else { panic!("no end") };
        assert_eq!(reply.failed.len(), 1);
        // 5 words and 2 messages of 4 were sent in vain, 3 words came back; then 100 and 20 were reported.
        assert_eq!((spent.prompt_tokens, spent.completion_tokens), (100 + 13, 20 + 3), "{spent:?}");
        assert!(spent.has_estimates);
    }
}

#[tokio::test]
async fn a_call_that_nobody_answers_ends_once() {
    let server = ModelServer::start().await;
    server.reply(
        Role::Answer,
        events_of(Dialect::OpenAi.begin().into_iter().chain([Dialect::OpenAi.piece("Je")]), Piece::Break),
    );
    let chain = chain(&[(&server, Dialect::OpenAi)], "");
    let (events, _) = listen(&chain, LIMIT).await;
    assert_eq!(told(&events), ["started a:m", "Je", "void interrupted", "failed 1"]);
    let gone = ModelServer::start().await;
    let chain = self::chain(&[(&gone, Dialect::OpenAi)], "");
    drop(gone);
    tokio::task::yield_now().await;
    let (events, _) = listen(&chain, LIMIT).await;
    assert_eq!(told(&events), ["failed 1"]);
}

#[tokio::test]
async fn one_byte_a_second_ends_at_the_deadline() {
    let server = ModelServer::start().await;
    let body = Dialect::OpenAi.stream(TEXT, false, true);
    let trickle = body.bytes().flat_map(|byte| [Piece::Bytes(vec![byte]), Piece::Wait(Duration::from_secs(1))]);
    server.reply(Role::Answer, Reply::Pieces("text/event-stream", trickle.collect()));
    let chain = chain(&[(&server, Dialect::OpenAi)], "");
    let (events, _) = listen(&chain, Duration::from_millis(1_500)).await;
    let Some(Err(error)) = events.last() else { panic!("no error: {events:?}") };
    assert_eq!((events.len(), error.attempts[0].error.kind), (1, ProviderErrorKind::Timeout));
    assert_eq!(server.once_abandoned().await, 1);
}

#[tokio::test]
async fn who_stops_listening_ends_the_call_and_pays_for_what_was_said() {
    let server = ModelServer::start().await;
    let dialect = Dialect::OpenAi;
    let begun = dialect.begin().into_iter().chain([dialect.piece("Jeder hat ")]);
    server.reply(Role::Answer, events_of(begun, Piece::Wait(Duration::from_mins(1))));
    let chain = chain(&[(&server, dialect)], "");
    let budget = Budget::new(Limits::ask());
    let allowance = budget.reserve_chat(ChatSize { prompt_tokens: 50, ..ChatSize::default() }).expect("a call");
    let mut stream = chain.stream(request(LIMIT), allowance);
    assert!(matches!(stream.next().await, Some(Ok(ChatEvent::Started(_)))));
    assert!(matches!(stream.next().await, Some(Ok(ChatEvent::Delta(_)))));
    drop(stream);
    assert_eq!(server.once_abandoned().await, 1);
    let spent = budget.spent();
    assert_eq!((spent.prompt_tokens, spent.completion_tokens, spent.has_estimates), (13, 2, true));
}

#[tokio::test]
async fn the_usage_is_not_waited_for_forever() {
    let server = ModelServer::start().await;
    let dialect = Dialect::OpenAi;
    let until_the_reason =
        dialect.begin().into_iter().chain([dialect.piece("Ja.")]).chain(dialect.end(false, false).into_iter().take(1));
    server.reply(Role::Answer, events_of(until_the_reason, Piece::Wait(Duration::from_mins(1))));
    let chain = chain(&[(&server, dialect)], "");
    let (events, spent) = listen(&chain, LIMIT).await;
    assert_eq!(told(&events), ["started a:m", "Ja.", "done Ja."]);
    assert!(spent.has_estimates);
}

#[tokio::test]
async fn a_model_that_does_not_stream_says_all_at_once() {
    for (further, reply) in [
        ("[capabilities.\"a:m\"]\nstreaming = false", Reply::Cut(TEXT.to_owned())),
        (
            "",
            Reply::Pieces(
                "application/json",
                vec![Piece::Bytes(
                    br#"{"choices": [{"message": {"content": "Ja."}, "finish_reason": "length"}]}"#.to_vec(),
                )],
            ),
        ),
    ] {
        let server = ModelServer::start().await;
        server.reply(Role::Answer, reply);
        let chain = chain(&[(&server, Dialect::OpenAi)], further);
        let (events, _) = listen(&chain, LIMIT).await;
        let Some(Ok(ChatEvent::Done(reply))) = events.last() else { panic!("no end: {events:?}") };
        assert_eq!((events.len(), reply.finish), (3, FinishReason::Length));
    }
}
