//! Logs (JSON for machines, text for people) and traces. Never questions, documents, prompts or keys.

mod traces;

use std::{io::IsTerminal, str::FromStr};

use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{FilterExt, filter_fn},
    fmt,
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

use self::traces::TraceExport;
pub(crate) use self::traces::TraceSettings;
use crate::spans;

/// Content and format of the log.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Filter in the syntax of `tracing-subscriber`, such as `info,cited=debug`.
    pub(crate) filter: String,
    /// Format of a line.
    pub(crate) format: Format,
}

/// Format of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text for people.
    Text,
    /// JSON for machines.
    Json,
}

impl Default for Format {
    /// Text on a terminal, JSON otherwise.
    fn default() -> Self {
        if std::io::stderr().is_terminal() { Self::Text } else { Self::Json }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Text => "text",
            Self::Json => "json",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            other => Err(format!("{other:?} is not a log format; use text or json")),
        }
    }
}

/// The export of traces, which runs until the end of the process.
pub(crate) struct Telemetry {
    traces: Option<TraceExport>,
}

impl Telemetry {
    /// Sends the last traces.
    pub(crate) async fn end(self) {
        if let Some(traces) = self.traces {
            traces.end().await;
        }
    }
}

/// Starts logging to standard error, and sending traces if there is somebody to send them to.
///
/// # Errors
/// If the filter cannot be read, the collector is no HTTP server, or logging was started before.
pub(crate) fn start(log: &Settings, traces: Option<&TraceSettings>) -> anyhow::Result<Telemetry> {
    let filter =
        EnvFilter::try_new(&log.filter).map_err(|error| anyhow::anyhow!("CITED_LOG is {:?}: {error}", log.filter))?;
    // The library of MCP logs questions and answers, at levels that a filter may ask for. Spans are for traces.
    let filter =
        filter.and(filter_fn(|metadata| !metadata.target().starts_with("rmcp") && metadata.target() != spans::TARGET));
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = match log.format {
        Format::Text => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
        Format::Json => lines.json().flatten_event(true).boxed(),
    };
    let traces = traces.map(TraceExport::start).transpose()?;
    let exported = traces.as_ref().map(|traces| {
        let layer = tracing_opentelemetry::layer().with_tracer(traces.tracer());
        let layer = layer.with_location(false).with_threads(false).with_target(false).with_tracked_inactivity(false);
        layer.with_filter(filter_fn(|metadata| metadata.target() == spans::TARGET))
    });
    let started = tracing_subscriber::registry().with(lines.with_filter(filter)).with(exported).try_init();
    started.map_err(|error| anyhow::anyhow!("logging cannot be started: {error}"))?;
    Ok(Telemetry { traces })
}
