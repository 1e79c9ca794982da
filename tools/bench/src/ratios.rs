//! The figures that a run is judged by: ratios of measurements of the same run, which depend least on the machine, and
//! memory. Each stands beside its aim and beside the last run that was kept.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

/// Change from the last kept run that counts as one.
const NOTICEABLE: f64 = 0.1;

/// A figure of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Whole asks a second over bare vector searches a second, 32 clients.
    Asks,
    /// Median of an ask over that of a bare vector search, one client.
    AskAlone,
    /// CPU of service and database for an ask over that of the database for a bare vector search, 32 clients.
    AskCpu,
    /// Documents a second over raw `COPY`.
    Ingest,
    /// Single documents a second over raw `INSERT`s.
    Singles,
    /// CPU of a single document over that of raw `INSERT`s.
    SingleCpu,
    /// Most resident memory of the service, MB.
    Memory,
}

impl Figure {
    const ALL: [Self; 7] =
        [Self::Asks, Self::AskAlone, Self::AskCpu, Self::Ingest, Self::Singles, Self::SingleCpu, Self::Memory];

    /// Its name in the file of the kept run.
    const fn key(self) -> &'static str {
        match self {
            Self::Asks => "asks_over_searches",
            Self::AskAlone => "ask_over_search_alone",
            Self::AskCpu => "ask_cpu_over_search_cpu",
            Self::Ingest => "ingest_over_copy",
            Self::Singles => "singles_over_inserts",
            Self::SingleCpu => "single_cpu_over_insert_cpu",
            Self::Memory => "memory_mb",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Asks => "asks over bare vector searches, 32 clients",
            Self::AskAlone => "median of an ask over a bare vector search, 1 client",
            Self::AskCpu => "CPU of an ask over a bare vector search, 32 clients",
            Self::Ingest => "ingest over raw `COPY`",
            Self::Singles => "single documents over raw `INSERT`s, 8 clients",
            Self::SingleCpu => "CPU of a single document over raw `INSERT`s",
            Self::Memory => "resident memory without Postgres at most, MB",
        }
    }

    /// The target, and whether more is better.
    const fn aim(self) -> (Option<f64>, bool) {
        match self {
            Self::Asks => (Some(0.30), true),
            Self::AskAlone => (Some(2.5), false),
            Self::AskCpu => (None, false),
            Self::Ingest | Self::Singles => (Some(1.0), true),
            Self::SingleCpu => (Some(1.5), false),
            Self::Memory => (Some(250.0), false),
        }
    }
}

/// The figures of a run.
#[derive(Debug, Default)]
pub struct Ratios(BTreeMap<&'static str, f64>);

impl Ratios {
    /// Notes a figure.
    pub fn note(&mut self, figure: Figure, value: f64) {
        self.0.insert(figure.key(), value);
    }

    /// Notes a figure of which the largest of a run counts.
    pub fn note_most(&mut self, figure: Figure, value: f64) {
        let most = self.0.entry(figure.key()).or_insert(value);
        *most = most.max(value);
    }

    /// The table, beside the run that was kept last.
    pub fn table(&self, last: &BTreeMap<String, f64>) -> String {
        let mut table = "| figure | now | aim | last kept run | verdict |\n|---|---|---|---|---|\n".to_owned();
        for figure in Figure::ALL {
            let Some(now) = self.0.get(figure.key()) else { continue };
            let before = last.get(figure.key());
            let (aim, more_is_better) = figure.aim();
            let sign = if more_is_better { "or more" } else { "or less" };
            let aim = aim.map(|aim| (aim, if more_is_better { *now >= aim } else { *now <= aim }));
            let aimed = aim.map_or_else(String::new, |(aim, is_met)| {
                format!("{} {sign}: {}", shown(aim), if is_met { "met" } else { "**missed**" })
            });
            let known = before.map_or_else(String::new, |before| shown(*before));
            let verdict = before.map_or("", |before| verdict(*now, *before, more_is_better));
            // Writing to a String cannot fail.
            let _ = writeln!(table, "| {} | {} | {aimed} | {known} | {verdict} |", figure.name(), shown(*now));
        }
        table
    }

    /// Keeps the run in place of the last one.
    pub fn keep(&self) -> anyhow::Result<()> {
        let file = file();
        file.parent().map(fs::create_dir_all).transpose()?;
        let json = serde_json::to_string_pretty(&self.0)?;
        fs::write(&file, json + "\n").with_context(|| format!("{} cannot be written", file.display()))
    }
}

/// The run that was kept last; nothing if none was.
pub fn last() -> anyhow::Result<BTreeMap<String, f64>> {
    match fs::read(file()) {
        Ok(json) => Ok(serde_json::from_slice(&json).context("the last kept run cannot be read")?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error.into()),
    }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/last.json")
}

fn verdict(now: f64, before: f64, more_is_better: bool) -> &'static str {
    let change = if before > 0.0 { now / before - 1.0 } else { 0.0 };
    match (change.abs() < NOTICEABLE, (change > 0.0) == more_is_better) {
        (true, _) => "as before",
        (false, true) => "better",
        (false, false) => "**worse**",
    }
}

fn shown(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_held_against_aims_and_the_last_one() {
        let mut ratios = Ratios::default();
        ratios.note(Figure::Asks, 0.31);
        ratios.note(Figure::SingleCpu, 9.0);
        ratios.note_most(Figure::Memory, 60.0);
        ratios.note_most(Figure::Memory, 50.0);
        let last =
            BTreeMap::from([("asks_over_searches".to_owned(), 0.2), ("single_cpu_over_insert_cpu".to_owned(), 8.0)]);
        let table = ratios.table(&last);
        assert!(table.contains("| 0.31 | 0.30 or more: met | 0.20 | better |"), "{table}");
        assert!(table.contains("| 9.00 | 1.50 or less: **missed** | 8.00 | **worse** |"), "{table}");
        assert!(table.contains("| 60.00 | 250 or less: met |  |  |"), "{table}");
        assert!(!table.contains("COPY"), "it was not measured: {table}");
    }
}
