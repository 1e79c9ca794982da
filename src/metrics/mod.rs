//! Counts and measures of the service, in the format of Prometheus.
//!
//! Labels have few values, all known when the service starts: routes, outcomes, stages, the configured models. None holds
//! anything of a request, a document, a key or a tenant.

mod labels;
mod state;

use std::{sync::Arc, time::Duration};

use prometheus_client::{
    encoding::prometheus_text,
    metrics::{
        counter::Counter,
        family::{Family, MetricConstructor},
        histogram::{Histogram, exponential_buckets},
        info::Info,
    },
    registry::{Registry, Unit},
};

pub(crate) use self::{
    labels::ModelLabel,
    state::{LoopState, PoolState, QueueState, TableState},
};
use self::{
    labels::{AskLabels, CallLabels, DraftLabels, ModelLabels, RequestLabels, RouteLabels, StageLabels, TokenLabels},
    state::StateGauges,
};
use tracing::Span;

use crate::{
    domain::{budget::Usage, cost::NanoUsd},
    spans,
};

/// Media type of the text that [`Metrics::render`] writes.
pub(crate) const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// A counter of dollars and seconds.
type FloatCounter = Counter<f64, std::sync::atomic::AtomicU64>;

/// Makes histograms of seconds.
#[derive(Clone, Copy, Debug)]
struct Seconds {
    /// Upper bound of the first bucket; each further one is twice as large.
    least: f64,
    buckets: u16,
}

/// From 1 ms to 131 s: what takes longer has reached a time limit.
const SECONDS: Seconds = Seconds { least: 0.001, buckets: 18 };

impl MetricConstructor<Histogram> for Seconds {
    fn new_metric(&self) -> Histogram {
        Histogram::new(exponential_buckets(self.least, 2.0, self.buckets))
    }
}

type Durations<L> = Family<L, Histogram, Seconds>;

/// Counts and measures of a process; copies share them.
#[derive(Clone)]
pub struct Metrics(Arc<Instruments>);

struct Instruments {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Durations<RouteLabels>,
    asks: Family<AskLabels, Counter>,
    ask_seconds: Durations<StageLabels>,
    drafts: Family<DraftLabels, Counter>,
    early_drafts: Family<DraftLabels, Counter>,
    cached_answers: Counter,
    calls: Family<CallLabels, Counter>,
    call_seconds: Durations<ModelLabels>,
    tokens: Family<TokenLabels, Counter>,
    cost: Family<ModelLabels, FloatCounter>,
    state: StateGauges,
}

/// A request that was responded to.
pub(crate) struct Responded<'a> {
    /// Its method; methods that HTTP does not define are counted as one.
    pub(crate) method: &'a str,
    /// Its route, as the router writes it.
    pub(crate) route: &'a str,
    pub(crate) status: u16,
    /// Time until the head of the response.
    pub(crate) duration: Duration,
}

/// An ask that has ended.
pub(crate) struct EndedAsk<'a> {
    pub(crate) outcome: &'static str,
    /// Reason of the outcome, if it has one: of a fixed set.
    pub(crate) reason: &'a str,
    /// Seconds of each stage that ran, and of all as `total`.
    pub(crate) stages: &'a [(&'static str, f64)],
    pub(crate) accepted_drafts: u64,
    pub(crate) rejected_drafts: u64,
    pub(crate) is_cache_hit: bool,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("cited");
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "Version of the service", version);
        let mut made = Maker(&mut registry);
        Self(Arc::new(Instruments {
            requests: made.family("http_requests", "Requests that were responded to, by method, route and status"),
            request_seconds: made.seconds("http_request_duration", "Time until the head of the response"),
            asks: made.family("asks", "Asks that ended, by outcome and reason"),
            ask_seconds: made.seconds("ask_stage_duration", "Time of asks by stage; the stage total is the whole ask"),
            drafts: made.family("ask_drafts", "Drafts of answers by the result of their check"),
            early_drafts: made
                .family("ask_early_drafts", "Drafts that were begun while a model graded, by what became of them"),
            cached_answers: made.counter("ask_cached_answers", "Answers that came from the cache"),
            calls: made.family("model_calls", "Calls to configured models, by role and outcome"),
            call_seconds: made.seconds("model_call_duration", "Time of calls that were answered"),
            tokens: made.family("model_tokens", "Tokens of calls to configured models, by kind"),
            cost: made.dollars("model_cost_usd", "Cost of calls to configured models at the configured prices"),
            state: StateGauges::register(made.0),
            registry,
        }))
    }
}

/// Registers what it makes.
struct Maker<'r>(&'r mut Registry);

impl Maker<'_> {
    fn counter(&mut self, name: &str, help: &str) -> Counter {
        let counter = Counter::default();
        self.0.register(name, help, counter.clone());
        counter
    }

    fn family<L: labels::Labels>(&mut self, name: &str, help: &str) -> Family<L, Counter> {
        let family = Family::default();
        self.0.register(name, help, family.clone());
        family
    }

    fn dollars<L: labels::Labels>(&mut self, name: &str, help: &str) -> Family<L, FloatCounter> {
        let family = Family::default();
        self.0.register(name, help, family.clone());
        family
    }

    fn seconds<L: labels::Labels>(&mut self, name: &str, help: &str) -> Durations<L> {
        let family = Family::new_with_constructor(SECONDS);
        self.0.register_with_unit(name, help, Unit::Seconds, family.clone());
        family
    }
}

impl Metrics {
    /// Counts a request.
    pub(crate) fn note_request(&self, request: &Responded<'_>) {
        let Responded { method, route, status, duration } = request;
        let place = RouteLabels::new(method, route);
        self.0.request_seconds.get_or_create(&place).observe(duration.as_secs_f64());
        self.0.requests.get_or_create(&place.with_status(*status)).inc();
    }

    /// Counts an ask.
    pub(crate) fn note_ask(&self, ask: &EndedAsk<'_>) {
        let of = &self.0;
        of.asks.get_or_create(&AskLabels::new(ask.outcome, ask.reason)).inc();
        for (stage, seconds) in ask.stages {
            of.ask_seconds.get_or_create(&StageLabels::new(stage)).observe(*seconds);
        }
        for (result, drafts) in [("accepted", ask.accepted_drafts), ("rejected", ask.rejected_drafts)] {
            of.drafts.get_or_create(&DraftLabels::new(result)).inc_by(drafts);
        }
        of.cached_answers.inc_by(u64::from(ask.is_cache_hit));
    }

    /// Counts a draft that was begun while a model graded.
    pub(crate) fn note_early_draft(&self, has_stood: bool) {
        let result = if has_stood { "stood" } else { "dropped" };
        self.0.early_drafts.get_or_create(&DraftLabels::new(result)).inc();
    }

    /// The meter of the calls of a role.
    pub(crate) fn calls_as(&self, role: &'static str) -> CallMeter {
        CallMeter { metrics: self.clone(), role }
    }

    /// Sets the state of the database and of the queue; `None` if it cannot be asked.
    pub(crate) fn set_state(&self, queue: Option<&QueueState>, tables: &[TableState]) {
        self.0.state.set(queue, tables);
    }

    /// Sets the state of this process.
    pub(crate) fn set_process(&self, pools: &[PoolState], loops: &[LoopState]) {
        self.0.state.set_process(pools, loops);
    }

    /// Everything as text.
    ///
    /// # Errors
    /// Never, as far as is known: text is written to memory.
    pub(crate) fn render(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.0.registry)?;
        Ok(text)
    }
}

/// Counts the calls to models that are made in one role.
#[derive(Clone)]
pub(crate) struct CallMeter {
    metrics: Metrics,
    role: &'static str,
}

impl CallMeter {
    /// The span of a call.
    pub(crate) fn span(&self, model: ModelLabel<'_>) -> Span {
        spans::chat(self.role, model.provider, model.model)
    }

    /// Counts a call that was answered.
    pub(crate) fn answered(&self, model: ModelLabel<'_>, usage: Usage, cost: NanoUsd, duration: Duration) {
        self.count(model, "answered");
        let labels = ModelLabels::new(model, self.role);
        self.metrics.0.call_seconds.get_or_create(&labels).observe(duration.as_secs_f64());
        self.spend(&labels, usage, cost);
    }

    /// Counts a call whose reply was not awaited to its end.
    pub(crate) fn abandoned(&self, model: ModelLabel<'_>, usage: Usage, cost: NanoUsd) {
        self.count(model, "abandoned");
        self.spend(&ModelLabels::new(model, self.role), usage, cost);
    }

    /// Counts a call that failed, by the kind of its failure, or one that was not made (`skipped`).
    pub(crate) fn count(&self, model: ModelLabel<'_>, outcome: &'static str) {
        let labels = ModelLabels::new(model, self.role).with_outcome(outcome);
        self.metrics.0.calls.get_or_create(&labels).inc();
    }

    fn spend(&self, labels: &ModelLabels, usage: Usage, cost: NanoUsd) {
        let of = &self.metrics.0;
        for (kind, tokens) in [("prompt", usage.prompt_tokens), ("completion", usage.completion_tokens)] {
            of.tokens.get_or_create(&labels.with_kind(kind)).inc_by(tokens);
        }
        of.cost.get_or_create(labels).inc_by(cost.usd());
    }
}
