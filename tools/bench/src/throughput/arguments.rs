//! The command line of `ingest`.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use crate::arguments::{number, release_build};

/// Arguments of the command.
pub const USAGE: &str = "\
Measures bulk ingest at several sizes beside raw COPY of the same rows. Usage:

  cargo run --release -p cited-bench -- ingest [OPTIONS]

  --chunks N,N,…             sizes (20000,100000,500000)
  --built-in-paragraphs N    documents of the rows with the built-in embedder (1000); 0 leaves them out
  --binary PATH              the service (target/release/cited)
  --folder DIR               where databases are made and removed again (the folder for temporary files)";

/// The measurement to run.
#[derive(Debug)]
pub struct ThroughputArguments {
    pub chunks: Vec<usize>,
    pub built_in_paragraphs: usize,
    pub binary: PathBuf,
    pub folder: PathBuf,
}

impl ThroughputArguments {
    /// Reads what follows `ingest`.
    pub fn read(mut given: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut arguments = Self {
            chunks: vec![20_000, 100_000, 500_000],
            built_in_paragraphs: 1_000,
            binary: release_build(),
            folder: std::env::temp_dir(),
        };
        while let Some(name) = given.next() {
            let mut value = || given.next().with_context(|| format!("{name} needs a value\n\n{USAGE}"));
            match name.as_str() {
                "--chunks" => arguments.chunks = value()?.split(',').map(number).collect::<anyhow::Result<_>>()?,
                "--built-in-paragraphs" => arguments.built_in_paragraphs = number(&value()?)?,
                "--binary" => arguments.binary = value()?.into(),
                "--folder" => arguments.folder = value()?.into(),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(arguments)
    }
}
