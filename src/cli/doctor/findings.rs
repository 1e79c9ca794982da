//! Findings of the doctor, each with what to do about it, and the verdict that they lead to.

use std::fmt;

use anyhow::bail;

use super::super::output::print_line;

/// Columns of the names of what was found.
const WIDTH: usize = 36;

/// The findings so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    faults: usize,
    warnings: usize,
    /// Whether a service runs at the address already.
    is_running: bool,
}

impl Findings {
    /// Notes that a service runs at the address already: another one would not start beside it.
    pub(super) const fn note_running(&mut self) {
        self.is_running = true;
    }

    pub(super) const fn is_running(&self) -> bool {
        self.is_running
    }

    /// Prints something that is as it should be.
    pub(super) fn good(about: impl fmt::Display, found: impl fmt::Display) {
        print(format_args!("  {about:<WIDTH$} {found}"));
    }

    /// Prints what keeps the service from starting, below what it is about.
    pub(super) fn fault(&mut self, remedy: impl fmt::Display) {
        self.faults += 1;
        print(format_args!("  {:<WIDTH$} → {remedy}", ""));
    }

    /// Prints what lets the service start and should be looked at, below what it is about.
    pub(super) fn warning(&mut self, remedy: impl fmt::Display) {
        self.warnings += 1;
        print(format_args!("  {:<WIDTH$} ! {remedy}", ""));
    }

    /// Prints whether the service would start and answer.
    ///
    /// # Errors
    /// If it would not.
    pub(super) fn verdict(&self) -> anyhow::Result<()> {
        let starts = if self.is_running {
            "a Cited runs at the address already; with these settings it would start again"
        } else {
            "the service would start"
        };
        match (self.faults, self.warnings) {
            (0, 0) if self.is_running => print_line(format_args!("\nVerdict: {starts}.")),
            (0, 0) => print_line("\nVerdict: the service would start and answer."),
            (0, 1) => print_line(format_args!("\nVerdict: {starts}; look at the line that begins with !")),
            (0, more) => print_line(format_args!("\nVerdict: {starts}; look at the {more} lines that begin with !")),
            (1, _) => bail!("the service would not start: the problem at the line that begins with → must be solved"),
            (more, _) => {
                bail!("the service would not start: the {more} problems at the lines that begin with → must be solved")
            }
        }
    }
}

/// Prints a finding. A standard output that takes no more is reported with the verdict.
fn print(finding: fmt::Arguments<'_>) {
    let _ = print_line(finding);
}
