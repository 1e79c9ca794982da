//! The `cited` command.

use std::{process::ExitCode, time::Duration};

use clap::Parser;

/// Time that computing threads may continue after everything else has ended.
const LONGEST_END: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let cli = cited::Cli::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("cited: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(cli.run());
    // A thread that hangs must not keep the process alive.
    runtime.shutdown_timeout(LONGEST_END);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cited: {error:#}");
            ExitCode::FAILURE
        }
    }
}
