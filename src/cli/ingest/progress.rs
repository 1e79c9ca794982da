//! Progress on standard error: a bar on a terminal, an occasional line for logs.

use std::{
    fmt,
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use super::{super::terminal::shown, pace::Pace};

/// Minimum time between two lines.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Progress of a number of documents.
#[derive(Debug)]
pub(super) struct Progress {
    output: Output,
    /// Total number of documents.
    of: usize,
    pace: Pace,
}

/// Output of the progress.
#[derive(Debug)]
enum Output {
    /// A terminal.
    Bar(ProgressBar),
    /// A file or a pipe, and the time of the last line.
    Lines(Instant),
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
        let output = if std::io::stderr().is_terminal() { bar(documents) } else { Output::Lines(Instant::now()) };
        Self { output, of: documents, pace: Pace::default() }
    }

    /// Shows the current state.
    pub(super) fn tell(&mut self, course: &Course) {
        self.pace.note(Instant::now(), course.settled);
        let pace = self.pace.text(self.of.saturating_sub(course.settled));
        let pace = if pace.is_empty() { pace } else { format!(", {pace}") };
        match &mut self.output {
            Output::Bar(bar) => {
                bar.set_position(u64::try_from(course.settled).unwrap_or(u64::MAX));
                bar.set_message(format!("{course}{pace}"));
            }
            Output::Lines(told) if told.elapsed() >= TELL_EVERY => {
                *told = Instant::now();
                eprintln!("{} of {} documents, {course}{pace}", course.settled, self.of);
            }
            Output::Lines(_) => {}
        }
    }

    /// Shows a message to the user.
    pub(super) fn note(&self, text: &str) {
        let text = shown(text);
        match &self.output {
            Output::Bar(bar) => bar.println(text),
            Output::Lines(_) => eprintln!("{text}"),
        }
    }

    pub(super) fn end(&self) {
        if let Output::Bar(bar) = &self.output {
            bar.finish_and_clear();
        }
    }
}

fn bar(documents: usize) -> Output {
    let bar = ProgressBar::new(u64::try_from(documents).unwrap_or(u64::MAX));
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} documents  {elapsed}  {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    Output::Bar(bar)
}
