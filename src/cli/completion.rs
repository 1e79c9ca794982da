//! `cited completion`: completion of the commands for a shell.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::{Cli, output};

/// Arguments of `cited completion`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell.
    shell: Shell,
}

/// Prints the script that the shell reads.
pub(super) fn print(arguments: &Arguments) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut Cli::command(), "cited", &mut script);
    output::print(String::from_utf8(script)?)
}
