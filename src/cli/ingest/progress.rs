//! Progress on standard error: a bar on a terminal, an occasional line for logs.

use std::{
    fmt,
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

/// Minimum time between two lines.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Output of the progress.
#[derive(Debug)]
pub(super) enum Progress {
    /// A terminal.
    Bar(ProgressBar),
    /// A file or a pipe.
    Lines {
        /// Total number of documents.
        of: usize,
        /// Time of the last line.
        told: Instant,
    },
}

/// Number of documents in each state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Documents that have reached a final state.
    pub(super) settled: usize,
    /// Documents that are found by their words.
    pub(super) searchable: usize,
    /// Documents that failed.
    pub(super) failed: usize,
    /// Documents that have been sent or are being sent.
    pub(super) sent: usize,
}

impl fmt::Display for Course {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { searchable, failed, sent, .. } = self;
        write!(formatter, "{sent} sent, {searchable} searchable, {failed} failed")
    }
}

impl Progress {
    /// Progress of this number of documents.
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

    /// Shows the current state.
    pub(super) fn tell(&mut self, course: &Course) {
        match self {
            Self::Bar(bar) => {
                bar.set_position(u64::try_from(course.settled).unwrap_or(u64::MAX));
                bar.set_message(course.to_string());
            }
            Self::Lines { of, told } if told.elapsed() >= TELL_EVERY => {
                *told = Instant::now();
                eprintln!("{} of {of} documents, {course}", course.settled);
            }
            Self::Lines { .. } => {}
        }
    }

    /// Shows a message to the user.
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
