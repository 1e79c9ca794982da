//! How far it is, on standard error: a bar for people, now and then a line for logs.

use std::{
    fmt,
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

/// How many documents are how far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Nothing more will happen to them.
    pub(super) settled: usize,
    /// They are found by their words.
    pub(super) searchable: usize,
    /// They failed.
    pub(super) failed: usize,
    /// They are on their way, or there.
    pub(super) sent: usize,
}

impl fmt::Display for Course {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { searchable, failed, sent, .. } = self;
        write!(formatter, "{sent} sent, {searchable} searchable, {failed} failed")
    }
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

    /// So far it is.
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
