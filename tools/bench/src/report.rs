//! The tables that are printed.

use std::{collections::BTreeMap, fs};

use crate::{
    asks::{Asked, percentile_ms},
    comparison::Comparison,
    ingest::Ingested,
    ratios::{Figure, Ratios},
    raw_copy::Copied,
    raw_search::Searched,
    single::Singles,
};

/// A measurement, what it should be, and whether it is.
struct Line {
    name: String,
    value: String,
    target: Option<(String, bool)>,
}

/// Measurements in the order in which they are printed.
#[derive(Default)]
pub struct Report {
    lines: Vec<Line>,
    /// Printed below them.
    pub comparison: Comparison,
    singles: Option<Singles>,
    /// Printed first.
    pub ratios: Ratios,
    /// Runs of plain asks, for the ratios.
    asked: Vec<Asked>,
}

impl Report {
    /// A measurement without a target.
    pub fn note(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.push(name, value, None);
    }

    fn push(&mut self, name: impl Into<String>, value: impl Into<String>, target: Option<(&str, bool)>) {
        let target = target.map(|(text, is_met)| (text.to_owned(), is_met));
        self.lines.push(Line { name: name.into(), value: value.into(), target });
    }

    /// Ingest, with the raw copy of the same rows beside it.
    pub fn ingest(&mut self, ingested: &Ingested, copied: Option<&Copied>) {
        let rate = ingested.per_second();
        self.push(
            format!("ingest of {} documents of one paragraph", ingested.documents),
            format!("{rate:.0} documents/s"),
            Some(("600 or more", rate >= 600.0)),
        );
        self.note(
            "CPU of service and database for 1,000 documents",
            format!(
                "{} + {} s",
                per_thousand(ingested.service_cpu_s, ingested.documents),
                per_thousand(ingested.database_cpu_s, ingested.documents)
            ),
        );
        let Some(copied) = copied else { return };
        let slowest = copied.tables.iter().max_by_key(|(_, time)| *time).map_or("", |(table, _)| table);
        self.note(
            "raw COPY of the finished rows, same tables and indexes",
            format!("{:.0} documents/s (most of it {slowest})", copied.per_second()),
        );
        let ratio = rate / copied.per_second();
        self.ratios.note(Figure::Ingest, ratio);
        self.push("ingest over raw COPY", format!("{ratio:.2}"), Some(("0.50 or more", ratio >= 0.5)));
    }

    /// A run of asks.
    pub fn asks(&mut self, profile: &str, asked: &Asked, target: Option<AskTarget>) {
        let p50 = asked.percentile_ms(0.5);
        let target = target.map(|target| match target {
            AskTarget::PerSecond(least) => (format!("{least:.0}/s or more"), asked.per_second() >= least),
            AskTarget::MedianMs(most) => (format!("median under {most:.0} ms"), p50 < most),
        });
        let clients = if asked.clients == 1 { "1 client".to_owned() } else { format!("{} clients", asked.clients) };
        let value = format!(
            "{:.0}/s; median {p50:.1}, p95 {:.1}, p99 {:.1} ms",
            asked.per_second(),
            asked.percentile_ms(0.95),
            asked.percentile_ms(0.99)
        );
        self.push(
            format!("{profile}, {clients}"),
            value,
            target.as_ref().map(|(text, is_met)| (text.as_str(), *is_met)),
        );
        let (service, database) = asked.cpu_per_thousand();
        self.note(
            format!("{profile}, {clients}: CPU of service and database for 1,000 asks"),
            format!("{service:.2} + {database:.2} s; {} of {} answered", asked.answered, asked.asks),
        );
    }

    /// Single documents beside raw inserts.
    pub fn singles(&mut self, singles: Singles) {
        self.ratios.note(Figure::Singles, singles.rate_ratio());
        self.ratios.note(Figure::SingleCpu, singles.cpu_ratio());
        self.singles = Some(singles);
    }

    /// Keeps a run of plain asks for the ratios.
    pub fn keep(&mut self, asked: Asked) {
        self.asked.push(asked);
    }

    /// A run of bare vector searches, with the asks of as many clients.
    pub fn searches(&mut self, searched: &Searched) {
        #[expect(clippy::cast_precision_loss, reason = "a rate for a table")]
        let count = searched.searches as f64;
        let rate = count / searched.elapsed.as_secs_f64();
        if let Some(asked) = self.asked.iter().find(|asked| asked.clients == searched.clients) {
            if asked.clients == 1 {
                let alone = asked.percentile_ms(0.5) / percentile_ms(&searched.latencies, 0.5);
                self.ratios.note(Figure::AskAlone, alone);
            } else {
                let (service, database) = asked.cpu_per_thousand();
                let search = searched.database_cpu_s / count * 1_000.0;
                self.ratios.note(Figure::Asks, asked.per_second() / rate);
                self.ratios.note(Figure::AskCpu, (service + database) / search);
            }
        }
        let [p50, p99] = [0.5, 0.99].map(|share| percentile_ms(&searched.latencies, share));
        self.note(
            format!("raw SQL, ten nearest vectors, clients: {}", searched.clients),
            format!("{rate:.0}/s; median {p50:.1}, p99 {p99:.1} ms"),
        );
    }

    /// Resident memory of the service.
    pub fn memory(&mut self, profile: &str, (now, most): (f64, f64)) {
        self.ratios.note_most(Figure::Memory, most);
        self.push(
            format!("{profile}: resident memory without Postgres"),
            format!("{now:.0} MB, {most:.0} MB at most"),
            Some(("under 200 MB", most < 200.0)),
        );
    }

    /// Prints everything as Markdown tables.
    pub fn print(&self, last: &BTreeMap<String, f64>) {
        println!("{}\n", machine());
        println!("{}", self.ratios.table(last));
        println!("| measurement | value | target |\n|---|---|---|");
        for Line { name, value, target } in &self.lines {
            let target = target.as_ref().map_or_else(String::new, |(text, is_met)| {
                format!("{text}: {}", if *is_met { "met" } else { "**missed**" })
            });
            println!("| {name} | {value} | {target} |");
        }
        println!("\n{}", self.comparison.table());
        if let Some(singles) = &self.singles {
            println!("{}", singles.table());
        }
    }
}

/// The target of a run of asks.
#[derive(Clone, Copy, Debug)]
pub enum AskTarget {
    PerSecond(f64),
    MedianMs(f64),
}

fn per_thousand(seconds: f64, documents: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a rate for a table")]
    let thousands = documents as f64 / 1_000.0;
    format!("{:.2}", seconds / thousands)
}

/// The machine, and what else it was doing: with other work beside it the numbers are only good as
/// ratios of each other.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown").to_owned();
    format!(
        "{cores} cores, {}; everything on one machine, load generator and model server included; load average at the end {load}",
        model.unwrap_or_else(|| "unknown processor".to_owned())
    )
}
