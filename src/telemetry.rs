//! Logs: JSON for machines, text for people. Never questions, documents, prompts or keys.

use std::{fmt, io::IsTerminal, str::FromStr};

use tracing_subscriber::{EnvFilter, filter::filter_fn, layer::SubscriberExt, util::SubscriberInitExt};

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

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// Starts logging to standard error.
///
/// # Errors
/// If the filter cannot be read or logging was started before.
pub(crate) fn start(settings: &Settings) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&settings.filter)
        .map_err(|error| anyhow::anyhow!("CITED_LOG is {:?}: {error}", settings.filter))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // It logs questions and answers, at levels that a filter may ask for.
    let without_mcp = filter_fn(|metadata| !metadata.target().starts_with("rmcp"));
    let started = match settings.format {
        Format::Text => builder.with_ansi(std::io::stderr().is_terminal()).finish().with(without_mcp).try_init(),
        Format::Json => builder.json().flatten_event(true).finish().with(without_mcp).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("logging cannot be started: {error}"))
}
