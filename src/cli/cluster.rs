//! `cited cluster`: splits the database up by tenants over several servers, and looks at it.

use anyhow::bail;
use clap::{Args, Subcommand};
use uuid::Uuid;

use super::terminal::shown;
use crate::{
    config::{Config, Database},
    store::{
        cluster::{ClusterStatus, Coordinator, Split, Step},
        connect_options,
    },
};

/// Tenants that are listed at most.
const LISTED_TENANTS: usize = 20;

/// Arguments of `cited cluster`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Split the database at `DATABASE_URL`, the coordinator of a Citus cluster, up by tenants. Can be repeated.
    Init {
        /// Print what would be done, and change nothing.
        #[arg(long)]
        dry_run: bool,
        /// Shards of each table: as many as there will ever be nodes, or more. Cannot be changed later.
        #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
        shards: u32,
    },
    /// Give a tenant shards of its own, so that it can be moved by itself.
    Isolate {
        /// Id of the tenant.
        tenant: Uuid,
    },
    /// Move shards until all nodes hold about as many bytes. The servers go on with it if this command ends.
    Rebalance,
    /// Print nodes, shards, tenants with their places and sizes, and what is not finished.
    Status,
}

/// Runs the command.
///
/// # Errors
/// In words for an operator.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Database::Server { primary, direct, .. } = &config.database else {
        bail!("set DATABASE_URL to the coordinator of a Citus cluster; the embedded database is one server");
    };
    let mut coordinator = Coordinator::connect(&connect_options(direct.as_ref().unwrap_or(primary))?).await?;
    match arguments.action {
        Action::Init { dry_run: true, .. } => print_plan(&coordinator.plan().await?),
        Action::Init { shards, .. } => print_done(&coordinator.split(Split { shards }).await?),
        Action::Isolate { tenant } => {
            coordinator.isolate(tenant).await?;
            println!("the tenant has shards of its own; cited cluster rebalance moves them where there is room");
        }
        Action::Rebalance if coordinator.rebalance().await? => println!("shards were moved"),
        Action::Rebalance => println!("nothing is to be moved"),
        Action::Status => print_status(&coordinator.status().await?),
    }
    Ok(())
}

/// Prints the steps as a script.
fn print_plan(steps: &[Step]) {
    if steps.is_empty() {
        println!("-- nothing is to be done");
    }
    for step in steps {
        println!("-- {}\n{};\n", step.about, step.sql);
    }
}

fn print_done(steps: &[Step]) {
    for step in steps {
        println!("{}", step.about);
    }
    match steps.len() {
        0 => println!("the database is split up already"),
        number => println!("the database is split up by tenants: {number} steps"),
    }
}

fn print_status(status: &ClusterStatus) {
    match status.steps {
        0 => println!("the schema is split up by tenants"),
        steps => println!("the schema is not split up yet: {steps} steps are to be done; run cited cluster init"),
    }
    println!("\n{:<32} {:<12} {:>8} {:>14}", "node", "", "shards", "bytes");
    for node in &status.nodes {
        let role = match (node.is_coordinator, node.is_active) {
            (_, false) => "not active",
            (true, true) => "coordinator",
            (false, true) => "worker",
        };
        println!("{:<32} {role:<12} {:>8} {:>14}", shown(&node.address), node.shards, node.bytes);
    }
    if let Some(skew) = status.skew() {
        println!("the fullest node holds {skew:.2} times the mean");
    }
    println!("commits over several nodes that are not finished: {}", status.unfinished);
    if status.tenants.is_empty() {
        return;
    }
    println!("\n{:<36} {:<24} {:<32} {:>8} {:>14}", "tenant", "name", "node", "shard", "bytes");
    for place in status.tenants.iter().take(LISTED_TENANTS) {
        let (name, node) = (shown(&place.name), shown(&place.node));
        println!("{:<36} {name:<24} {node:<32} {:>8} {:>14}", place.tenant.0, place.shard, place.bytes);
    }
    if let Some(more) = status.tenants.len().checked_sub(LISTED_TENANTS).filter(|more| *more > 0) {
        println!("and {more} smaller ones");
    }
}
