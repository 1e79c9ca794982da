//! The command line.

use std::{path::PathBuf, str::FromStr, time::Duration};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// The usage text of all commands.
pub const USAGE: &str = "\
Measures a release build of Cited. Usage:

  cargo run --release -p cited-bench -- [OPTIONS]
  cargo run --release -p cited-bench -- size [OPTIONS]     (see there: size --help)
  cargo run --release -p cited-bench -- ingest [OPTIONS]   (ingest --help)
  cargo run --release -p cited-bench -- bulk [OPTIONS]     (bulk --help)
  cargo run --release -p cited-bench -- single [OPTIONS]   (single --help)

  --binary PATH                the service (target/release/cited)
  --paragraphs N               documents of the main profile (20000)
  --built-in-paragraphs N      documents of the profile with built-in models (1000); 0 leaves it out
  --singles N                  documents that are sent one by one (1000); 0 leaves them out
  --keep-run                   make this run the one that later ones are compared with (bench/last.json)
  --without-slow-models        leave out the asks of models that take 200 ms
  --clients N,N                how many ask at once (1,8,32,128)
  --members JSON               what each ask of the main profile has beside question and collection ({})
  --seconds N                  time of each run of asks (10)
  --keep DIR                   keep the database of the main profile there, and use what is there already
  --models-only PORT           only run the model server, for looking at the service with other tools";

/// The measurement to run.
#[derive(Debug)]
pub struct Arguments {
    pub binary: PathBuf,
    pub paragraphs: usize,
    pub built_in_paragraphs: usize,
    pub singles: usize,
    pub keep_run: bool,
    pub slow_models: bool,
    pub clients: Vec<usize>,
    pub members: Value,
    pub run: Duration,
    pub keep: Option<PathBuf>,
    pub models_only: Option<u16>,
}

impl Arguments {
    /// Reads the command line.
    pub fn read(given: &mut impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut arguments = Self {
            binary: release_build(),
            paragraphs: 20_000,
            built_in_paragraphs: 1_000,
            singles: 1_000,
            keep_run: false,
            slow_models: true,
            clients: vec![1, 8, 32, 128],
            members: json!({}),
            run: Duration::from_secs(10),
            keep: None,
            models_only: None,
        };
        while let Some(name) = given.next() {
            let mut value = || given.next().with_context(|| format!("{name} needs a value\n\n{USAGE}"));
            match name.as_str() {
                "--binary" => arguments.binary = value()?.into(),
                "--paragraphs" => arguments.paragraphs = number(&value()?)?,
                "--built-in-paragraphs" => arguments.built_in_paragraphs = number(&value()?)?,
                "--singles" => arguments.singles = number(&value()?)?,
                "--keep-run" => arguments.keep_run = true,
                "--without-slow-models" => arguments.slow_models = false,
                "--clients" => arguments.clients = value()?.split(',').map(number).collect::<anyhow::Result<_>>()?,
                "--members" => arguments.members = serde_json::from_str(&value()?)?,
                "--seconds" => arguments.run = Duration::from_secs(number(&value()?)?),
                "--keep" => arguments.keep = Some(value()?.into()),
                "--models-only" => arguments.models_only = Some(number(&value()?)?),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(arguments)
    }
}

/// The service, where a release build leaves it.
pub fn release_build() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/release/cited"))
}

/// A number of the command line.
pub fn number<T: FromStr>(text: &str) -> anyhow::Result<T> {
    text.parse().ok().with_context(|| format!("{text:?} is not a number that fits\n\n{USAGE}"))
}
