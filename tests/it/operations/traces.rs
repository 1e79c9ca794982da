//! Traces by OTLP: a receiver decodes what the service sends.

use std::{
    collections::BTreeMap,
    future::IntoFuture,
    sync::{Arc, Mutex},
};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use nix::sys::signal::Signal;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::any_value::Value as Attribute,
    trace::v1::{Span, span::SpanKind},
};
use prost::Message;
use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{
    database,
    harness::{client, send},
    process::Process,
    scripted::{ModelServer, Role},
};

const DOCUMENT: &str = "Everyone has 28 days of paid annual leave a year.";
const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const KEY: &str = "operator-key-0123456789";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A collector that keeps what it is sent.
struct Receiver {
    base: String,
    bodies: Arc<Mutex<Vec<Bytes>>>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Receiver {
    async fn start() -> Self {
        async fn keep(State(bodies): State<Arc<Mutex<Vec<Bytes>>>>, headers: HeaderMap, body: Bytes) {
            assert_eq!(headers["content-type"], "application/x-protobuf");
            bodies.lock().expect("lock").push(body);
        }
        let bodies = Arc::<Mutex<Vec<Bytes>>>::default();
        let router = Router::new().route("/v1/traces", post(keep)).with_state(Arc::clone(&bodies));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        Self { base, bodies, serving: tokio::spawn(axum::serve(listener, router).into_future()) }
    }

    /// The spans of all bodies.
    fn spans(&self) -> Vec<Span> {
        let bodies = self.bodies.lock().expect("lock");
        let decoded = bodies.iter().map(|body| ExportTraceServiceRequest::decode(body.clone()).expect("protobuf"));
        let scopes = decoded.flat_map(|request| request.resource_spans).flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn attributes(span: &Span) -> BTreeMap<&str, String> {
    let shown = |value: &Attribute| match value {
        Attribute::StringValue(text) => text.clone(),
        Attribute::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let value = |one: Option<&Attribute>| one.map(shown).unwrap_or_default();
    span.attributes
        .iter()
        .map(|one| (one.key.as_str(), value(one.value.as_ref().and_then(|value| value.value.as_ref()))))
        .collect()
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A service with a scripted model, and a document; its traces go to this URL.
async fn service(model: &ModelServer, collector: &str) -> Process {
    model.say(Role::Grade, "1: correct");
    model.say(Role::Answer, &format!("{DOCUMENT} [^1]"));
    let (url, chat) = (database::url(&database::create().await), model.base_url());
    let settings = [
        ("DATABASE_URL", url.as_str()),
        ("CITED_CHAT_BASE_URL", &chat),
        ("CITED_CHAT_MODEL", "scripted-chat"),
        ("CITED_API_KEYS", KEY),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector),
    ];
    let service = Process::serve(&settings).await;
    let document = json!({"collection": "secretcollection", "documents": [{"source": "leave.md", "text": DOCUMENT}]});
    let path = format!("{}/v1/documents?wait=true", service.base);
    let stored = send(client().post(path).bearer_auth(KEY).json(&document)).await;
    assert_eq!(stored.status, 200, "{stored:?}");
    service
}

async fn ask(service: &Process) {
    let body = json!({"question": QUESTION, "collections": ["secretcollection"], "speculative": "off"});
    let request = client().post(format!("{}/v1/ask", service.base)).bearer_auth(KEY).json(&body);
    let answer = send(request.header("traceparent", format!("00-{TRACE}-{CALLER}-01"))).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
}

#[tokio::test]
async fn an_ask_is_one_trace_from_its_caller_to_the_database_and_the_model() {
    let (receiver, model) = (Receiver::start().await, ModelServer::start().await);
    let service = service(&model, &receiver.base).await;
    ask(&service).await;
    send(client().get(format!("{}/livez", service.base))).await;
    service.signal(Signal::SIGTERM);
    let (code, lines) = service.ended().await;
    assert_eq!(code, Some(0), "{lines:#?}");

    let spans = receiver.spans();
    let of_trace: Vec<&Span> = spans.iter().filter(|span| hex(&span.trace_id) == TRACE).collect();
    let named = |name: &str| {
        let found = of_trace.iter().find(|span| span.name == name);
        *found.unwrap_or_else(|| panic!("{name}: {:?}", of_trace.iter().map(|span| &span.name).collect::<Vec<_>>()))
    };
    let path_of = |span: &Span| {
        let (mut path, mut parent) = (vec![span.name.clone()], span.parent_span_id.clone());
        while let Some(above) = of_trace.iter().find(|span| span.span_id == parent) {
            path.push(above.name.clone());
            parent.clone_from(&above.parent_span_id);
        }
        assert_eq!(hex(&parent), CALLER, "{path:?}");
        path
    };
    let request = named("POST /v1/ask");
    let of_request = attributes(request);
    assert_eq!((request.kind(), of_request["http.response.status_code"].as_str()), (SpanKind::Server, "200"));
    assert_eq!(attributes(named("ask"))["cited.outcome"], "answered");
    assert_eq!(path_of(named("lexical_search")), ["lexical_search", "retrieve", "ask", "POST /v1/ask"]);
    assert_eq!(attributes(named("lexical_search"))["db.system.name"], "postgresql");
    assert_eq!(path_of(named("write_audit")), ["write_audit", "ask", "POST /v1/ask"]);
    let call = named("chat scripted-chat");
    let writing = attributes(call);
    assert_eq!((call.kind(), writing["cited.role"].as_str()), (SpanKind::Client, "generate"));
    assert_eq!(path_of(call)[1..], ["generate", "ask", "POST /v1/ask"]);
    let expected = [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "scripted-chat"),
    ];
    assert!(expected.iter().all(|(name, value)| writing[name] == *value), "{writing:?}");
    assert!(writing["gen_ai.usage.output_tokens"].parse::<u64>().is_ok_and(|tokens| tokens > 0), "{writing:?}");
    // The model server is told the trace, and the span that calls it.
    let told = model.calls(Role::Answer)[0].headers["traceparent"].to_str().expect("text").to_owned();
    assert_eq!(told, format!("00-{TRACE}-{}-01", hex(&call.span_id)));
    assert!(spans.iter().any(|span| span.name == "commit_batch"), "ingest has spans");
    assert!(!spans.iter().any(|span| span.name.contains("livez")), "probes have none");

    let sent = receiver
        .bodies
        .lock()
        .expect("lock")
        .iter()
        .map(|body| String::from_utf8_lossy(body).into_owned())
        .collect::<String>();
    for private in ["annual", "leave", "secretcollection", KEY, "28 days"] {
        assert!(!sent.contains(private), "{private} is in a trace");
    }
    assert!(!lines.iter().any(|line| line.contains("cited::trace")), "{lines:#?}");
}

#[tokio::test]
async fn a_call_of_a_tool_is_a_span_within_its_request() {
    let (receiver, model) = (Receiver::start().await, ModelServer::start().await);
    let service = service(&model, &receiver.base).await;
    for arguments in [json!({"question": QUESTION}), json!({"query": QUESTION})] {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": arguments}});
        let request = client().post(format!("{}/mcp", service.base)).bearer_auth(KEY).json(&call);
        let request = request.header("accept", "application/json, text/event-stream");
        let request = request.header("traceparent", format!("00-{TRACE}-{CALLER}-01"));
        let answer = send(request).await;
        assert_eq!((answer.status, answer.body["result"].is_object()), (200, true), "{answer:?}");
    }
    service.signal(Signal::SIGTERM);
    let (code, lines) = service.ended().await;
    assert_eq!(code, Some(0), "{lines:#?}");
    let spans = receiver.spans();
    let named =
        |name: &str| spans.iter().filter(|span| span.name == name && hex(&span.trace_id) == TRACE).collect::<Vec<_>>();
    let (requests, tools, asks) = (named("POST /mcp"), named("tools/call ask"), named("ask"));
    assert_eq!((requests.len(), tools.len(), asks.len()), (2, 2, 1), "the wrong call asks nothing");
    for (tool, request) in tools.iter().zip(&requests) {
        assert_eq!(tool.parent_span_id, request.span_id);
        assert_eq!(attributes(tool)["gen_ai.tool.name"], "ask");
        assert_eq!(attributes(tool)["mcp.method.name"], "tools/call");
    }
    let ask = asks[0];
    assert!(tools.iter().any(|tool| tool.span_id == ask.parent_span_id), "the ask is within the call");
    let failed: Vec<bool> = tools.iter().map(|tool| attributes(tool).contains_key("error.type")).collect();
    assert_eq!(failed.iter().filter(|is_failed| **is_failed).count(), 1, "{tools:#?}");
}

#[tokio::test]
async fn a_collector_that_is_away_is_told_once_and_keeps_nothing_up() {
    let model = ModelServer::start().await;
    let service = service(&model, "http://127.0.0.1:9").await;
    for _ in 0..3 {
        ask(&service).await;
    }
    service.signal(Signal::SIGTERM);
    let (code, lines) = service.ended().await;
    assert_eq!(code, Some(0), "{lines:#?}");
    let told = lines.iter().filter(|line| line.contains("the collector of traces does not take them"));
    assert_eq!(told.count(), 1, "{lines:#?}");
}
