//! The `cited` command.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cited::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cited: {error:#}");
            ExitCode::FAILURE
        }
    }
}
