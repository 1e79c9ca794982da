//! Results of commands on standard output.

use std::{
    fmt,
    io::{self, Write as _},
};

use anyhow::Context as _;
use serde::Serialize;

use super::terminal::{shown, shown_json};

/// Prints a text as it is [fit for a terminal](shown). If its reader has enough, such as `head`, the rest is dropped.
///
/// # Errors
/// If standard output takes no more for another reason, such as a full disk.
pub(super) fn print(text: impl fmt::Display) -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    match write!(output, "{}", shown(&text.to_string())).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.context("the result cannot be printed"),
    }
}

/// Prints a line, as [`print`] prints a text.
///
/// # Errors
/// As [`print`].
pub(super) fn print_line(line: impl fmt::Display) -> anyhow::Result<()> {
    print(format_args!("{line}\n"))
}

/// Prints a value as JSON of several lines.
///
/// # Errors
/// As [`print`].
pub(super) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print_line(shown_json(&serde_json::to_string_pretty(value)?))
}
