//! The `cited` command.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cited::cli::Cli::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("cited: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(cli.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cited: {error:#}");
            ExitCode::FAILURE
        }
    }
}
