//! Examines the servers of a cluster for `cited doctor`. Changes nothing.

use std::collections::BTreeMap;

use serde::Deserialize;
use sqlx::{Connection, Executor, PgConnection, Row};

use crate::store::{
    StoreError,
    cluster::{init::is_split, status},
    diagnostics::{Finding, Remedy},
    login::RuntimeRole,
};

/// Shards of the fullest server to the mean from which moving some is worth the trouble.
const MUCH_FULLER: f64 = 1.5;

/// Read on each server, the coordinator included. A commit over several servers takes moments; one that is older was left by
/// a server that died.
const OF_A_SERVER: &str = "SELECT jsonb_build_object(
    'postgres', current_setting('server_version'),
    'citus', (SELECT extversion FROM pg_extension WHERE extname = 'citus'),
    'vector', (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
    'prepared', current_setting('max_prepared_transactions')::int,
    'connections', current_setting('max_connections')::int,
    'unfinished', (SELECT count(*) FROM pg_prepared_xacts
                   WHERE database = current_database() AND prepared < now() - INTERVAL '1 minute'))";

/// Says of each server whether it did a command, and what that returned. A server that is away is one that did not.
const ON_EACH: &str =
    "SELECT n.nodename || ':' || n.nodeport AS address, n.groupid = 0 AS is_coordinator, r.success, r.result
     FROM run_command_on_all_nodes($1, give_warning_for_connection_errors => true) r JOIN pg_dist_node n USING (nodeid)
     ORDER BY n.groupid";

/// A server as it describes itself.
#[derive(Debug, Deserialize)]
struct Server {
    postgres: String,
    citus: Option<String>,
    vector: Option<String>,
    prepared: i32,
    connections: i32,
    unfinished: i64,
}

/// Examines the servers of a cluster, if the server is the coordinator of one.
///
/// # Errors
/// [`StoreError::Unavailable`] when the coordinator does not answer.
pub(in crate::store) async fn examine(connection: &mut PgConnection) -> Result<Vec<Finding>, StoreError> {
    let has_citus: bool = sqlx::query_scalar("SELECT to_regclass('pg_catalog.pg_dist_node') IS NOT NULL")
        .fetch_one(&mut *connection)
        .await?;
    if !has_citus {
        return Ok(Vec::new());
    }
    let nodes: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_dist_node WHERE noderole = 'primary' AND groupid <> 0
             AND (SELECT groupid FROM pg_dist_local_group) = 0",
    )
    .fetch_one(&mut *connection)
    .await?;
    if nodes == 0 {
        return Ok(Vec::new());
    }
    connection.execute("SET client_min_messages = error").await?;
    let mut findings = vec![splitting(connection, nodes).await?];
    let answers = on_each_server(connection, OF_A_SERVER).await?;
    findings.extend(servers(&answers));
    if answers.values().all(|answer| answer.described.is_some()) {
        for role in [RuntimeRole::Requests, RuntimeRole::Queue] {
            findings.push(reached_as(connection, role).await?);
        }
        findings.extend(balance(connection).await?);
    }
    Ok(findings)
}

async fn splitting(connection: &mut PgConnection, nodes: i64) -> Result<Finding, StoreError> {
    let about = "cluster";
    Ok(if is_split(connection).await? {
        Finding::good(about, format!("split up by tenants, {nodes} servers beside the coordinator"))
    } else {
        Finding::good(about, format!("not split up yet; cited cluster init does that, over {nodes} servers"))
    })
}

/// An answer of a server.
pub(super) struct Answer {
    is_coordinator: bool,
    /// The result of the command there; `None` if the server did not answer.
    pub(super) described: Option<String>,
}

/// Has a command carried out on each server; returns the answers by address.
pub(super) async fn on_each_server(
    connection: &mut PgConnection,
    command: &str,
) -> Result<BTreeMap<String, Answer>, StoreError> {
    let rows = sqlx::query(ON_EACH).bind(command).fetch_all(connection).await?;
    let answers = rows.into_iter().map(|row| {
        let described = row.try_get::<bool, _>("success")?.then(|| row.try_get("result")).transpose()?;
        Ok((row.try_get("address")?, Answer { is_coordinator: row.try_get("is_coordinator")?, described }))
    });
    answers.collect::<Result<_, sqlx::Error>>().map_err(StoreError::from)
}

/// Each server as it describes itself, held against the coordinator.
fn servers(answers: &BTreeMap<String, Answer>) -> Vec<Finding> {
    let parse = |answer: &Answer| serde_json::from_str::<Server>(answer.described.as_deref()?).ok();
    let Some(coordinator) = answers.values().find(|answer| answer.is_coordinator).and_then(parse) else {
        return Vec::new();
    };
    let servers = answers.iter().map(|(address, answer)| match parse(answer) {
        None => Finding::fault(
            "cluster server",
            format!("{address} does not answer"),
            "start it, or let the coordinator reach it as the owner of the tables; its tenants get 503 meanwhile",
        ),
        Some(server) => of_server(address, &server, &coordinator),
    });
    servers.collect()
}

fn of_server(address: &str, server: &Server, coordinator: &Server) -> Finding {
    let about = "cluster server";
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "none".to_owned());
    let found = format!(
        "{address}, Postgres {}, Citus {}, pgvector {}",
        server.postgres,
        version(&server.citus),
        version(&server.vector)
    );
    let remedy = if server.citus != coordinator.citus {
        Some(Remedy::Needed(
            "install the Citus of the coordinator there, and run ALTER EXTENSION citus UPDATE".to_owned(),
        ))
    } else if server.vector != coordinator.vector {
        Some(Remedy::Needed(
            "install the pgvector of the coordinator there, and run ALTER EXTENSION vector UPDATE".to_owned(),
        ))
    } else if server.prepared == 0 {
        Some(Remedy::Needed(
            "set max_prepared_transactions to max_connections there: nothing that concerns several servers can be committed"
                .to_owned(),
        ))
    } else if server.unfinished > 0 {
        Some(Remedy::Advised(format!(
            "{} commits over several servers are not finished there since more than a minute, and keep rows locked; SELECT \
             recover_prepared_transactions() at the coordinator finishes them",
            server.unfinished
        )))
    } else if server.prepared < server.connections {
        Some(Remedy::Advised(format!(
            "max_prepared_transactions is {} there; with as many as max_connections ({}) no commit has to wait",
            server.prepared, server.connections
        )))
    } else {
        None
    };
    Finding { about, found, remedy }
}

/// Whether the coordinator reaches the other servers as a role of the service.
async fn reached_as(connection: &mut PgConnection, role: RuntimeRole) -> Result<Finding, StoreError> {
    let about = "cluster role";
    let name = role.name();
    let may_log_in: Option<bool> = sqlx::query_scalar("SELECT rolcanlogin FROM pg_roles WHERE rolname = $1")
        .bind(name)
        .fetch_optional(&mut *connection)
        .await?;
    if may_log_in != Some(true) {
        return Ok(Finding::good(about, format!("{name}, which is let in with the first start")));
    }
    let mut transaction = connection.begin().await?;
    transaction.execute(role.taken_over()).await?;
    let answers = on_each_server(&mut transaction, "SELECT 1").await?;
    transaction.rollback().await?;
    let closed: Vec<&str> =
        answers.iter().filter(|(_, answer)| answer.described.is_none()).map(|(address, _)| address.as_str()).collect();
    Ok(if closed.is_empty() {
        Finding::good(about, format!("{name}, let in by all"))
    } else {
        Finding::fault(
            about,
            format!("{name} is not let in by {}", closed.join(", ")),
            format!("let {name} in from the other servers, by pg_hba.conf or by certificates (citus.node_conninfo)"),
        )
    })
}

/// How evenly the shards lie.
async fn balance(connection: &mut PgConnection) -> Result<Option<Finding>, StoreError> {
    let Some(skew) = status::skew(&status::nodes(connection).await?) else { return Ok(None) };
    let found = format!("the fullest server holds {skew:.2} times the mean");
    let remedy = (skew > MUCH_FULLER).then(|| {
        Remedy::Advised(
            "cited cluster rebalance moves shards; a tenant that is larger than others is moved by itself \
             after cited cluster isolate"
                .to_owned(),
        )
    });
    Ok(Some(Finding { about: "balance", found, remedy }))
}
