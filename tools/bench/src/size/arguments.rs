//! The command line of `size`.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context as _, bail};

use super::graphs::Graph;
use crate::arguments::{number, release_build};

/// Arguments of the command.
pub const USAGE: &str = "\
Measures search over collections of several sizes. Usage:

  cargo run --release -p cited-bench -- size [OPTIONS]

  --chunks N,N,…     sizes (10000,100000,1000000)
  --binary PATH      the service (target/release/cited)
  --seconds N        time of each run of searches (5); 0 leaves them out
  --questions N      questions whose exact results are found, for recall (200)
  --curve            recall and time of lexical search by candidate budget as well
  --filters          recall and time of filtered searches, from one matching chunk to all, as well
  --neighbours       recall, time and CPU of vector search in small collections and topics beside the large collection, as
                     well, and over one graph of all vectors; replaces a fifth of the documents
  --graphs D:M:C,…   recall and time of vector search over HNSW graphs built for it, as well: of the first D
                     numbers of each vector, m = M, ef_construction = C (384:16:64,256:16:64)
  --keep DIR         keep the databases there, and use what is there already";

/// The measurement to run.
#[derive(Debug)]
pub struct SizeArguments {
    pub chunks: Vec<usize>,
    pub binary: PathBuf,
    pub run: Duration,
    pub questions: usize,
    pub curve: bool,
    pub filters: bool,
    pub neighbours: bool,
    pub graphs: Vec<Graph>,
    pub keep: Option<PathBuf>,
}

impl SizeArguments {
    /// Reads what follows `size`.
    pub fn read(mut given: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut arguments = Self {
            chunks: vec![10_000, 100_000, 1_000_000],
            binary: release_build(),
            run: Duration::from_secs(5),
            questions: 200,
            curve: false,
            filters: false,
            neighbours: false,
            graphs: Vec::new(),
            keep: None,
        };
        while let Some(name) = given.next() {
            let mut value = || given.next().with_context(|| format!("{name} needs a value\n\n{USAGE}"));
            match name.as_str() {
                "--chunks" => arguments.chunks = value()?.split(',').map(number).collect::<anyhow::Result<_>>()?,
                "--binary" => arguments.binary = value()?.into(),
                "--seconds" => arguments.run = Duration::from_secs(number(&value()?)?),
                "--questions" => arguments.questions = number(&value()?)?,
                "--curve" => arguments.curve = true,
                "--neighbours" => arguments.neighbours = true,
                "--filters" => arguments.filters = true,
                "--graphs" => arguments.graphs = value()?.split(',').map(str::parse).collect::<anyhow::Result<_>>()?,
                "--keep" => arguments.keep = Some(value()?.into()),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(arguments)
    }
}
