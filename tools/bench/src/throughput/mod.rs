//! How ingest holds at size: one stream of paragraphs at each size, and the same finished rows by `COPY`.
//!
//! Each size has a service and a database of its own, so that its highest memory is that of this size. The paragraphs
//! are made while they are sent: no size has to fit into memory on this side either.

mod arguments;
mod load;
mod table;

use std::{fs, path::Path};

pub use arguments::{ThroughputArguments, USAGE};
use load::{Indexing, Loaded};

use crate::{
    model_server::ModelServer,
    progress,
    raw_copy::{self, Copied},
    service::{Service, Setup, open_to_postgres},
};

/// One service with an empty database: a stream into it, and what `COPY` takes for what is then stored.
pub struct Run {
    pub name: String,
    pub loaded: Loaded,
    pub copied: Copied,
}

/// Measures all sizes and prints the tables.
pub async fn run(arguments: &ThroughputArguments) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("cited-ingest-").tempdir_in(&arguments.folder)?;
    open_to_postgres(folder.path())?;
    let models = ModelServer::start(0).await?;
    let setup = |name: &str, models: Option<String>| Setup {
        binary: arguments.binary.clone(),
        data_dir: folder.path().join(name),
        models,
    };
    let mut sizes = Vec::new();
    for chunks in &arguments.chunks {
        let name = format!("{chunks} paragraphs");
        let setup = setup(&format!("paragraphs-{chunks}"), Some(models.base_url()));
        sizes.push(measure(name, &setup, *chunks, Indexing::Complete).await?);
    }
    let mut built_in = Vec::new();
    let paragraphs = arguments.built_in_paragraphs;
    for indexing in [Indexing::Complete, Indexing::Progressive].into_iter().filter(|_| paragraphs > 0) {
        let setup = setup(&format!("built-in-{}", indexing.name()), None);
        built_in.push(measure(format!("`{}`", indexing.name()), &setup, paragraphs, indexing).await?);
    }
    table::print(&sizes, paragraphs, &built_in);
    Ok(())
}

async fn measure(name: String, setup: &Setup, paragraphs: usize, indexing: Indexing) -> anyhow::Result<Run> {
    let service = Service::start(setup).await?;
    progress(&format!("{name}: ingest"));
    let loaded = load::run(&service, paragraphs, indexing).await?;
    progress(&format!("{name}: raw COPY of the same rows"));
    let copied = raw_copy::run(&setup.binary, &setup.data_dir).await?;
    service.stop().await?;
    remove(&setup.data_dir)?;
    Ok(Run { name, loaded, copied })
}

/// The next size needs the room.
fn remove(data_dir: &Path) -> anyhow::Result<()> {
    Ok(fs::remove_dir_all(data_dir)?)
}
