//! How search holds at size: the same measurements over growing collections, side by side.
//!
//! A collection is begun by the service, whose rows are the pattern for the rest: those are made with the
//! service's own analyzer and weights, stored without the large indexes, and the indexes are built at the
//! end. What the service stored itself is made here as well and compared.

mod arguments;
mod curve;
mod facts;
mod fill;
mod filters;
mod graphs;
mod indexes;
mod latency;
mod neighbours;
mod table;
mod truth;

use std::{fs, path::Path};

pub use arguments::{SizeArguments, USAGE};
use facts::Facts;
use table::Column;

use crate::{
    model_server::ModelServer,
    progress, raw_copy,
    raw_search::RawSearch,
    service::{Service, Setup, open_to_postgres},
};

/// Measures all sizes and prints one table.
pub async fn run(arguments: &SizeArguments) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("cited-size-").tempdir()?;
    let root = arguments.keep.as_deref().unwrap_or_else(|| folder.path());
    fs::create_dir_all(root)?;
    open_to_postgres(root)?;
    let models = ModelServer::start(0).await?;
    let mut columns = Vec::new();
    for chunks in &arguments.chunks {
        let setup = Setup {
            binary: arguments.binary.clone(),
            data_dir: root.join(format!("chunks-{chunks}")),
            models: Some(models.base_url()),
        };
        columns.push(measure(arguments, *chunks, &setup).await?);
        if arguments.keep.is_none() {
            fs::remove_dir_all(&setup.data_dir)?;
        }
    }
    table::print(&columns);
    Ok(())
}

async fn measure(arguments: &SizeArguments, chunks: usize, setup: &Setup) -> anyhow::Result<Column> {
    let facts = known_or_made(arguments, chunks, setup).await?;
    // A start afresh: no plan or page of the fill is left in the service.
    let service = Service::start(setup).await?;
    progress(&format!("{chunks} chunks: recall"));
    let recall = truth::recall(&service, &facts).await?;
    let curve = if arguments.curve { curve::run(&setup.data_dir, &facts).await? } else { Vec::new() };
    let graphs = if arguments.graphs.is_empty() {
        Vec::new()
    } else {
        graphs::run(&setup.data_dir, &facts, &arguments.graphs).await?
    };
    let filters = if arguments.filters { filters::run(&service, &setup.data_dir, &facts).await? } else { Vec::new() };
    let neighbours =
        if arguments.neighbours { neighbours::run(&service, &setup.data_dir, chunks).await? } else { Vec::new() };
    let mut searches = Vec::new();
    let mut raw = Vec::new();
    if !arguments.run.is_zero() {
        progress(&format!("{chunks} chunks: searches"));
        searches = latency::all(&service, &facts.questions, arguments.run).await?;
        let vectors = RawSearch::connect(&setup.data_dir, &facts.questions).await?;
        for clients in latency::CLIENTS {
            raw.push(vectors.run(&service, clients, arguments.run).await?);
        }
    }
    service.stop().await?;
    Ok(Column { chunks, facts, recall, searches, raw, curve, graphs, filters, neighbours })
}

/// Returns the facts that an earlier run kept, or those of a new collection.
async fn known_or_made(arguments: &SizeArguments, chunks: usize, setup: &Setup) -> anyhow::Result<Facts> {
    let file = setup.data_dir.with_extension("json");
    if file.exists() {
        return Facts::read(&file);
    }
    let service = Service::start(setup).await?;
    let mut facts = fill::run(&service, &setup.data_dir, chunks, arguments.questions).await?;
    progress(&format!("{chunks} chunks: exact results"));
    truth::find(&setup.data_dir, &mut facts, arguments.questions).await?;
    service.stop().await?;
    facts.write(&file)?;
    Ok(facts)
}

/// A session past the service's roles and policies.
async fn superuser(data_dir: &Path) -> anyhow::Result<sqlx::PgConnection> {
    use sqlx::Connection as _;
    Ok(sqlx::PgConnection::connect_with(&raw_copy::superuser(data_dir)?).await?)
}
