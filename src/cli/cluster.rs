//! `cited cluster`: splits the database up by tenants over several servers, and looks at it.

use anyhow::bail;
use clap::{Args, Subcommand};
use uuid::Uuid;

use super::{ids, output::print_line};
use crate::{
    config::{Config, Database},
    store::{
        cluster::{Address, ClusterStatus, Coordinator, Move, Promotion, Split, Standbys, Step},
        connect_options,
    },
};

/// Tenants that are listed at most.
const LISTED_TENANTS: usize = 20;

const NOTHING_TO_MOVE: &str = "nothing is to be moved";

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
        #[arg(value_parser = ids::tenant)]
        tenant: Uuid,
        /// Print where the tenant is and with how many it shares its shards, and change nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Let a standby take the place of a server that was lost. Can be repeated.
    Promote {
        /// HOST:PORT of the server that was lost, as `cited cluster status` prints it. It must not answer any more.
        lost: Address,
        /// HOST:PORT of its standby, as the other servers reach it.
        standby: Address,
    },
    /// Move shards until all nodes hold about as many bytes. The servers go on with it if this command ends.
    Rebalance {
        /// Print what would be moved, and move nothing.
        #[arg(long)]
        dry_run: bool,
    },
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
        Action::Isolate { tenant, dry_run: true } => {
            let (node, others) = coordinator.neighbours(tenant).await?;
            print_line(format_args!("the tenant is on {node} and shares its shards with {others} others"))
        }
        Action::Isolate { tenant, .. } => {
            coordinator.isolate(tenant).await?;
            print_line("the tenant has shards of its own; cited cluster rebalance moves them where there is room")
        }
        Action::Promote { ref lost, ref standby } => {
            print_promotion(&coordinator.promote(lost, standby).await?, lost, standby)
        }
        Action::Rebalance { dry_run: true } => print_moves(&coordinator.moves().await?),
        Action::Rebalance { .. } if coordinator.rebalance().await? => print_line("shards were moved"),
        Action::Rebalance { .. } => print_line(NOTHING_TO_MOVE),
        Action::Status => print_status(&coordinator.status().await?),
    }
}

/// Prints the steps as a script.
fn print_plan(steps: &[Step]) -> anyhow::Result<()> {
    if steps.is_empty() {
        print_line("-- nothing is to be done")?;
    }
    for step in steps {
        print_line(format_args!("-- {}\n{};\n", step.about, step.sql))?;
    }
    Ok(())
}

fn print_done(steps: &[Step]) -> anyhow::Result<()> {
    for step in steps {
        print_line(&step.about)?;
    }
    match steps.len() {
        0 => print_line("the database is split up already"),
        number => print_line(format_args!("the database is split up by tenants: {number} steps")),
    }
}

fn print_moves(moves: &[Move]) -> anyhow::Result<()> {
    for Move { source, target, shards, bytes } in moves {
        print_line(format_args!("{shards} shards with {bytes} bytes would be moved from {source} to {target}"))?;
    }
    if moves.is_empty() {
        print_line(NOTHING_TO_MOVE)?;
    }
    Ok(())
}

fn print_promotion(promotion: &Promotion, lost: &Address, standby: &Address) -> anyhow::Result<()> {
    match promotion {
        Promotion::Told => print_line(format_args!("{standby} has the place of {lost}, and all servers know it")),
        Promotion::Untold(silent) => print_line(format_args!(
            "{standby} has the place of {lost}; {} do not answer, and Citus tells the servers by itself",
            silent.join(", ")
        )),
        Promotion::Repeated => print_line(format_args!("{standby} is a server of the cluster already")),
    }
}

fn print_status(status: &ClusterStatus) -> anyhow::Result<()> {
    match status.steps {
        0 => print_line("the schema is split up by tenants")?,
        steps => print_line(format_args!(
            "the schema is not split up yet: {steps} steps are to be done; run cited cluster init"
        ))?,
    }
    print_line(format_args!(
        "\n{:<32} {:<16} {:>8} {:>14} {:>9} {:>14}",
        "node", "", "shards", "bytes", "standbys", "bytes behind"
    ))?;
    for node in &status.nodes {
        let role = match (node.is_coordinator, node.is_active, node.standbys.is_some()) {
            (_, _, false) => "does not answer",
            (_, false, true) => "not active",
            (true, true, true) => "coordinator",
            (false, true, true) => "worker",
        };
        let bytes = node.bytes.map_or_else(|| "not read".to_owned(), |bytes| bytes.to_string());
        let (standbys, behind) = match node.standbys {
            Some(Standbys { number: 0, .. }) => ("none".to_owned(), String::new()),
            Some(Standbys { number, behind }) => (number.to_string(), behind.to_string()),
            None => Default::default(),
        };
        let line = format!("{:<32} {role:<16} {:>8} {bytes:>14} {standbys:>9} {behind:>14}", node.address, node.shards);
        print_line(line.trim_end())?;
    }
    if let Some(skew) = status.skew() {
        print_line(format_args!("the fullest node holds {skew:.2} times the mean"))?;
    }
    print_line(format_args!("commits over several nodes that are not finished: {}", status.unfinished))?;
    if status.tenants.is_empty() {
        return Ok(());
    }
    print_line(format_args!("\n{:<36} {:<24} {:<32} {:>8} {:>14}", "tenant", "name", "node", "shard", "bytes"))?;
    for place in status.tenants.iter().take(LISTED_TENANTS) {
        let (name, node) = (&place.name, &place.node);
        print_line(format_args!(
            "{:<36} {name:<24} {node:<32} {:>8} {:>14}",
            place.tenant.0, place.shard, place.bytes
        ))?;
    }
    if let Some(more) = status.tenants.len().checked_sub(LISTED_TENANTS).filter(|more| *more > 0) {
        print_line(format_args!("and {more} smaller ones"))?;
    }
    Ok(())
}
