//! The tables: a line for each measurement, a column for each run.

use std::time::Duration;

use super::Run;
use crate::report::machine;

/// Share of the rate of raw `COPY` that ingest should reach.
const LEAST_OF_COPY: f64 = 0.5;

/// Prints everything as Markdown.
pub fn print(sizes: &[Run], built_in_paragraphs: usize, built_in: &[Run]) {
    println!("{}", machine());
    if !sizes.is_empty() {
        println!("\nOne bulk request, a model server that answers at once:\n");
        runs(sizes);
        flatness(sizes);
    }
    if !built_in.is_empty() {
        println!("\nOne bulk request of {built_in_paragraphs} paragraphs, the built-in embedder:\n");
        runs(built_in);
    }
}

fn runs(runs: &[Run]) {
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    println!("| measurement | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(runs.len()));
    line(runs, "chunks", |run| run.loaded.chunks.to_string());
    line(runs, "searchable (found by words)", |run| rate(run, run.loaded.searchable));
    line(runs, "complete (vectors included)", |run| rate(run, run.loaded.complete));
    line(runs, "raw `COPY` of the finished rows, same tables and indexes", |run| {
        let slowest = run.copied.tables.iter().max_by_key(|(_, time)| *time).map_or("", |(table, _)| table);
        format!("{} (most of it {slowest})", rate(run, run.copied.elapsed))
    });
    line(runs, "complete over raw `COPY`", |run| {
        let ratio = run.copied.elapsed.as_secs_f64() / run.loaded.complete.as_secs_f64();
        let verdict = if ratio >= LEAST_OF_COPY { "met" } else { "**missed**" };
        format!("{ratio:.2} ({LEAST_OF_COPY:.2} or more: {verdict})")
    });
    line(runs, "searchable over raw `COPY`", |run| {
        format!("{:.2}", run.copied.elapsed.as_secs_f64() / run.loaded.searchable.as_secs_f64())
    });
    line(runs, "CPU of service and database for 1,000 chunks", |run| {
        let thousands = count(run.loaded.chunks) / 1_000.0;
        format!("{:.2} + {:.2} s", run.loaded.service_cpu_s / thousands, run.loaded.database_cpu_s / thousands)
    });
    line(runs, "resident memory without Postgres, at the end and at most", |run| {
        let (now, most) = run.loaded.memory_mb;
        format!("{now:.0} MB, {most:.0} MB")
    });
}

/// Whether memory grows with the size.
fn flatness(sizes: &[Run]) {
    if let (Some(least), Some(most)) = (
        sizes.iter().min_by_key(|run| run.loaded.chunks),
        sizes.iter().max_by_key(|run| run.loaded.chunks).filter(|_| sizes.len() > 1),
    ) {
        println!(
            "\nMost memory at {} over that at {}: {:.2}, for {:.0} times the chunks.",
            most.name,
            least.name,
            most.loaded.memory_mb.1 / least.loaded.memory_mb.1,
            count(most.loaded.chunks) / count(least.loaded.chunks)
        );
    }
}

fn line(runs: &[Run], name: &str, value: impl Fn(&Run) -> String) {
    let values: Vec<String> = runs.iter().map(value).collect();
    println!("| {name} | {} |", values.join(" | "));
}

fn rate(run: &Run, elapsed: Duration) -> String {
    format!("{:.0} chunks/s", count(run.loaded.chunks) / elapsed.as_secs_f64())
}

#[expect(clippy::cast_precision_loss, reason = "a number for a table")]
fn count(chunks: usize) -> f64 {
    chunks as f64
}
