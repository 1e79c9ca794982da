//! The plans of the statements of the service on a database that is split up by tenants.

use std::collections::BTreeMap;

use serde_json::Value;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, Row};

use super::{Cluster, DEFAULT_TENANT};
use crate::security::statements::{is_of_all_tenants, statements};

/// Holds the plan of each checked statement of the service to one task. Those that are of all tenants have to have a plan.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn each_statement_is_sent_to_one_node() {
    let cluster = Cluster::start(2).await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "4"]).await;
    // Roles of functions log in nowhere; a function that is called alone, and not within a transaction as here, needs no login.
    for role in ["app", "worker", "lexical", "keys", "record"] {
        cluster.says(&format!("ALTER ROLE cited_{role} LOGIN")).await;
    }
    let mut connection = cluster.options().connect().await.expect("connect");
    let mut faults = BTreeMap::new();
    let mut sent = 0;
    for (short, statement) in statements() {
        // The owner registers vector spaces, before the service serves anybody.
        let is_of_owner = short.starts_with("INSERT INTO embedding_profile");
        if short.starts_with("SET ") || is_of_owner {
            continue;
        }
        // Planners take an empty array for one that no row is in.
        let planned = match tasks(&mut connection, &statement, 0).await {
            Ok(_) => tasks(&mut connection, &statement, 1).await,
            error => error,
        };
        match planned {
            Ok(_) if is_of_all_tenants(&short) => {}
            Ok(tasks) if tasks.iter().all(|tasks| *tasks == 1) => sent += usize::from(!tasks.is_empty()),
            Ok(tasks) => drop(faults.insert(short, format!("{tasks:?} tasks"))),
            Err(error) => drop(faults.insert(short, error.to_string())),
        }
    }
    assert!(faults.is_empty(), "{sent} are sent to one node, and not these: {faults:#?}");
    assert!(sent > 100, "{sent}");
    connection.close().await.expect("close");
}

/// Numbers of tasks of the parts of a plan that go to nodes, of a statement whose arrays have as many items.
async fn tasks(connection: &mut PgConnection, statement: &str, items: usize) -> Result<Vec<u64>, sqlx::Error> {
    let run =
        async |connection: &mut PgConnection, sql: String| connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await;
    run(connection, format!("BEGIN; SET LOCAL ROLE cited_worker; SET LOCAL cited.tenant = '{DEFAULT_TENANT}'")).await?;
    let planned = async {
        run(connection, format!("PREPARE planned AS {statement}")).await?;
        let types: Vec<String> =
            sqlx::query_scalar("SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'planned'")
                .persistent(false)
                .fetch_one(&mut *connection)
                .await?;
        let values: Vec<String> = types.iter().map(|name| format!("{}::{name}", some(name, items))).collect();
        let values = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
        let explain = format!("EXPLAIN (FORMAT JSON) EXECUTE planned{values}");
        let plan = connection.fetch_one(sqlx::raw_sql(AssertSqlSafe(explain))).await?.try_get::<Value, _>(0)?;
        // Nodes refuse some statements only while these run.
        match run(connection, format!("EXECUTE planned{values}")).await {
            Err(error) if is_of_the_statement(&error) => Err(error),
            _ => Ok(plan),
        }
    }
    .await;
    run(connection, "ROLLBACK; DEALLOCATE ALL".to_owned()).await?;
    let mut found = Vec::new();
    count_tasks(&planned?, &mut found);
    Ok(found)
}

/// Whether an error is one of the statement: something that Citus does not do, or cannot plan. Others are about the values,
/// which are made up, and about rights of the roles of functions.
fn is_of_the_statement(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code).unwrap_or_default();
    code == "0A000" || code.starts_with("XX") || (code.starts_with("42") && code != "42501")
}

fn count_tasks(plan: &Value, found: &mut Vec<u64>) {
    match plan {
        Value::Array(parts) => parts.iter().for_each(|part| count_tasks(part, found)),
        Value::Object(node) => {
            found.extend(node.get("Task Count").and_then(Value::as_u64));
            // Rows that are collected at the coordinator first: they cannot be copied under row level security.
            found.extend(node.get("INSERT/SELECT method").map(|_| 0));
            node.values().for_each(|member| count_tasks(member, found));
        }
        _ => {}
    }
}

/// A value of a type, as a literal. The tenant is the first parameter of every statement that has one.
fn some(name: &str, items: usize) -> String {
    if let Some(element) = name.strip_suffix("[]") {
        let values = vec![format!("{}::{element}", some(element, items)); items];
        return format!("ARRAY[{}]", values.join(", "));
    }
    match name {
        // An empty one would tell the planner that no row is wanted.
        "uuid" => format!("'{DEFAULT_TENANT}'"),
        "jsonb" | "json" => "'{}'".to_owned(),
        "boolean" => "true".to_owned(),
        "date" | "timestamp with time zone" => "'2026-01-01'".to_owned(),
        "interval" => "'1 minute'".to_owned(),
        // A text may be a position in the log.
        "bytea" | "text" => "'0/0'".to_owned(),
        "halfvec" => "'[1]'".to_owned(),
        "sparsevec" => "'{1:1}/1000000000'".to_owned(),
        _ => "1".to_owned(),
    }
}
