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
    /// The lines that are logged.
    pub(crate) filter: LogFilter,
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

/// Levels of a filter, without a target.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// A filter of the log in the syntax of `tracing-subscriber`, such as `info,cited=debug`.
#[derive(Clone, Debug)]
pub(crate) struct LogFilter(String);

impl LogFilter {
    /// Warnings and errors.
    pub(crate) fn warnings() -> Self {
        Self("warn".to_owned())
    }
}

impl Default for LogFilter {
    fn default() -> Self {
        Self("info".to_owned())
    }
}

impl std::fmt::Display for LogFilter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for LogFilter {
    type Err = String;

    /// A word alone is a level: the library would take a misspelt one for a target, and log nothing.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let directives: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut words = directives.iter().filter(|word| !word.is_empty() && !word.contains(['=', '[', '{']));
        let is_level = |word: &str| LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level));
        if let Some(word) = words.find(|word| !is_level(word)) {
            let levels = LEVELS.join(", ");
            return Err(format!("{word:?} is no level ({levels}); to log more of a part, write {word}=debug"));
        }
        let filter = directives.join(",");
        EnvFilter::try_new(&filter).map_err(|error| error.to_string())?;
        Ok(Self(filter))
    }
}

/// Starts logging to standard error, and sending traces if there is somebody to send them to.
///
/// # Errors
/// If the filter cannot be read, the collector is no HTTP server, or logging was started before.
pub(crate) fn start(log: &Settings, traces: Option<&TraceSettings>) -> anyhow::Result<Telemetry> {
    let filter = EnvFilter::try_new(&log.filter.0)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_level_is_told() {
        for filter in ["", "info", "INFO, cited=debug", "warn,cited::http=off", "off", "info,cited[request]=debug"] {
            assert!(filter.parse::<LogFilter>().is_ok(), "{filter}");
        }
        for filter in ["infoo", "info,verbose", "blub=xx", "cited"] {
            assert!(filter.parse::<LogFilter>().is_err(), "{filter}");
        }
    }
}
