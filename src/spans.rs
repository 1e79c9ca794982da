//! Spans for traces: a request, the stages of an ask, its model calls and its work in the database.
//!
//! Names and attributes are those of OpenTelemetry: HTTP and database conventions 1.41, `GenAI` conventions 0.1.0, and
//! `cited.*` beyond them. No attribute holds a question, a document, a key, or the name of a tenant or a collection.
//! Functions that are a span as a whole say so themselves (`#[tracing::instrument(target = "cited::trace", …)]`).

use axum::http::HeaderMap;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::{Span, field::Empty, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Target of all spans; logs leave it out.
pub(crate) const TARGET: &str = "cited::trace";
/// Routes that are asked every few seconds by machines.
const PROBES: [&str; 3] = ["/livez", "/readyz", "/metrics"];

/// A request as it arrives.
pub(crate) struct RequestSpan<'a> {
    pub(crate) method: &'a str,
    pub(crate) route: &'a str,
    pub(crate) request_id: &'a str,
    /// They may name the span of the caller (`traceparent`).
    pub(crate) headers: &'a HeaderMap,
}

/// The span of a request; none for probes.
pub(crate) fn request(request: &RequestSpan<'_>) -> Span {
    let RequestSpan { method, route, request_id, headers } = request;
    if PROBES.contains(route) {
        return Span::none();
    }
    let span = info_span!(
        target: TARGET,
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        cited.request_id = request_id,
    );
    if !span.is_disabled() {
        // It fails only for a span that has begun already.
        let _ = span.set_parent(TraceContextPropagator::new().extract(&HeaderExtractor(headers)));
    }
    span
}

/// Notes how a request was answered.
pub(crate) fn answered(span: &Span, status: u16) {
    span.record("http.response.status_code", status);
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
}

/// The span of an ask.
pub(crate) fn ask(level: &str) -> Span {
    info_span!(target: TARGET, "ask", cited.validation.level = level, cited.outcome = Empty)
}

/// Notes in the current span, which is that of an ask, how the ask ended.
pub(crate) fn ask_ended(outcome: &'static str) {
    Span::current().record("cited.outcome", outcome);
}

/// The span of a call to a chat model.
pub(crate) fn chat(role: &'static str, provider: &str, model: &str) -> Span {
    info_span!(
        target: TARGET,
        "chat",
        otel.name = format!("chat {model}"),
        otel.kind = "client",
        otel.status_code = Empty,
        error.r#type = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider,
        gen_ai.request.model = model,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        cited.role = role,
    )
}

/// The span of a call of a tool by an agent, within that of its request.
pub(crate) fn tool(request: &Span, name: &'static str) -> Span {
    info_span!(
        target: TARGET,
        parent: request,
        "tool",
        otel.name = format!("tools/call {name}"),
        otel.status_code = Empty,
        error.r#type = Empty,
        mcp.method.name = "tools/call",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
    )
}

/// Notes what a reply cost in tokens.
pub(crate) fn used(span: &Span, input_tokens: u64, output_tokens: u64) {
    span.record("gen_ai.usage.input_tokens", input_tokens);
    span.record("gen_ai.usage.output_tokens", output_tokens);
}

/// Notes that a call failed, by the kind of its failure.
pub(crate) fn failed(span: &Span, kind: &'static str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind);
}

/// The span of making the vectors of some texts.
pub(crate) fn embeddings(model: &str, texts: usize) -> Span {
    info_span!(
        target: TARGET,
        "embeddings",
        otel.name = format!("embeddings {model}"),
        otel.kind = "client",
        gen_ai.operation.name = "embeddings",
        gen_ai.request.model = model,
        cited.texts = texts,
    )
}

/// Adds the headers that name the current span to a request to another service.
pub(crate) fn inject(headers: &mut HeaderMap) {
    TraceContextPropagator::new().inject_context(&Span::current().context(), &mut HeaderInjector(headers));
}
