//! How far it is, on standard error: a bar for people, now and then a line for logs.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

/// Least time between two lines.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Where progress is shown.
#[derive(Debug)]
pub(super) enum Progress {
    /// A terminal.
    Bar(ProgressBar),
    /// A file or a pipe.
    Lines {
        /// All documents.
        of: usize,
        /// The last line.
        told: Instant,
    },
}

impl Progress {
    /// For so many documents.
    pub(super) fn new(documents: usize) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::Lines { of: documents, told: Instant::now() };
        }
        let bar = ProgressBar::new(u64::try_from(documents).unwrap_or(u64::MAX));
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} documents  {elapsed} (left {eta})  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self::Bar(bar)
    }

    /// So many documents are settled, so many of them failed, so many are sent.
    pub(super) fn tell(&mut self, settled: usize, failed: usize, sent: usize) {
        match self {
            Self::Bar(bar) => {
                bar.set_position(u64::try_from(settled).unwrap_or(u64::MAX));
                bar.set_message(format!("{sent} sent, {failed} failed"));
            }
            Self::Lines { of, told } if told.elapsed() >= TELL_EVERY => {
                *told = Instant::now();
                eprintln!("{settled} of {of} documents, {sent} sent, {failed} failed");
            }
            Self::Lines { .. } => {}
        }
    }

    /// Something that whoever watches should know.
    pub(super) fn note(&self, text: &str) {
        match self {
            Self::Bar(bar) => bar.println(text),
            Self::Lines { .. } => eprintln!("{text}"),
        }
    }

    pub(super) fn end(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
