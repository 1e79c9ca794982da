//! The benchmark at its smallest, on a debug build: it runs to its end and prints its tables.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The service beside the benchmark, where `cargo build --bin cited` leaves it; `scripts/test` builds it first.
fn service() -> PathBuf {
    let service = Path::new(env!("CARGO_BIN_EXE_cited-bench")).with_file_name("cited");
    assert!(service.exists(), "{} is not there; build it: cargo build --bin cited", service.display());
    service
}

#[test]
fn a_small_run_measures_asks_the_naive_loop_and_the_cache() {
    let output = Command::new(env!("CARGO_BIN_EXE_cited-bench"))
        .args(["--paragraphs", "200", "--built-in-paragraphs", "20", "--without-slow-models"])
        .args(["--clients", "2", "--seconds", "1", "--binary"])
        .arg(service())
        .output()
        .expect("the benchmark starts");
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}\n{printed}");
    for row in
        ["| ingest", "| `/v1/ask` | 2 |", "| naive loop | 2 |", "| `/v1/ask`, from the cache | 2 |", "| built in: ask"]
    {
        assert!(printed.lines().any(|line| line.starts_with(row)), "no row {row:?}: {printed}\n{errors}");
    }
}
