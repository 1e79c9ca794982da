//! Statements and keys by tenant: a row is found, unique and referred to within its tenant alone. Row level security does not
//! depend on it; a database that is split up by tenants does.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::Value;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, Row};

use crate::database;

/// Beginnings of the statements that touch rows of several tenants, by their purpose. No request waits for one of them.
const OF_ALL_TENANTS: [&str; 18] = [
    // Records that are kept for a time go.
    "DELETE FROM answer_cache WHERE expires_at",
    "DELETE FROM ask_audit WHERE (tenant_id, ask_id) IN (SELECT tenant_id, ask_id FROM ask_audit WHERE asked_at",
    "DELETE FROM idempotency_key WHERE created_at",
    "DELETE FROM job j USING unnest($1::uuid[], $2::uuid[]) AS gone",
    "DELETE FROM job_item i USING unnest($1::uuid[], $2::uuid[]) AS gone",
    "DELETE FROM key_usage_daily WHERE day",
    "DELETE FROM usage_daily WHERE day",
    "SELECT j.tenant_id, j.job_id FROM job j WHERE j.finished_at <",
    "SELECT k.job_id AS \"job_id!\" FROM collection_index",
    "SELECT s.tenant_id, s.number, s.sealed_at",
    "WITH old AS MATERIALIZED",
    // The queue is one for all.
    "SELECT tenant_id, job_id, receiving_until <",
    "UPDATE job_item SET state = 'failed', stage = CASE phase WHEN 'embed' THEN 'embed' ELSE 'load' END, cause = 'worker_lost'",
    "UPDATE job_item SET state = 'queued', lease_until = NULL, lost =",
    "WITH RECURSIVE waiting AS",
    // Measurements, graphs of vectors, seals.
    "SELECT count(*) AS \"jobs!\"",
    "SELECT i.tenant_id, i.index_id, p.dimension, s.chunks - s.unembedded_chunks AS \"vectors!\"",
    "SELECT to_jsonb(e) AS \"row!: Json<SecurityEvent>\" FROM security_event_waiting w JOIN security_event e USING (tenant_id, event_id) WHERE w.tenant_id = (",
];

/// Whether a statement touches rows of several tenants on purpose.
pub(crate) fn is_of_all_tenants(statement: &str) -> bool {
    OF_ALL_TENANTS.iter().any(|start| statement.starts_with(start))
}

/// Checked statements of the service, with white space as one blank.
pub(crate) fn statements() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(".sqlx");
    let files = fs::read_dir(folder).expect("descriptions of statements");
    let query = |text: String| {
        let described: Value = serde_json::from_str(&text).expect("JSON");
        described["query"].as_str().expect("a statement").to_owned()
    };
    files
        .map(|file| query(fs::read_to_string(file.expect("a file").path()).expect("a description")))
        .map(|query| (query.split_whitespace().collect::<Vec<_>>().join(" "), query))
        .collect()
}

/// Plans without values, so that a condition shows whose it is.
async fn plan(connection: &mut PgConnection, statement: &str) -> Result<Value, sqlx::Error> {
    let explain = format!("EXPLAIN (GENERIC_PLAN, FORMAT JSON) {statement}");
    let row = connection.fetch_one(sqlx::raw_sql(AssertSqlSafe(explain))).await?;
    Ok(row.get(0))
}

/// Tables of these that a plan reads without the tenant of the statement in its condition.
fn unbound(plan: &Value, tables: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    match plan {
        Value::Array(parts) => parts.iter().for_each(|part| unbound(part, tables, found)),
        Value::Object(node) => {
            let is_read = node.get("Node Type").is_some_and(|kind| kind != "ModifyTable");
            let table = node.get("Relation Name").and_then(Value::as_str).filter(|table| tables.contains(*table));
            let conditions =
                ["Index Cond", "Recheck Cond", "Filter"].into_iter().filter_map(|member| node.get(member)?.as_str());
            let is_bound = conditions.into_iter().any(|condition| condition.contains("tenant_id = $"));
            if let Some(table) = table.filter(|_| is_read && !is_bound) {
                found.insert(table.to_owned());
            }
            node.values().for_each(|member| unbound(member, tables, found));
        }
        _ => {}
    }
}

async fn texts(connection: &mut PgConnection, sql: &'static str) -> BTreeSet<String> {
    sqlx::query_scalar(sql).fetch_all(connection).await.expect(sql).into_iter().collect()
}

const TABLES: &str =
    "SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
    WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace";

#[tokio::test]
async fn each_statement_names_the_tenant_of_every_table_that_it_reads() {
    let database = database::create().await;
    // The conditions of the policies are not those of the statements.
    let mut connection = database.connect().await.expect("connect");
    let tables = texts(&mut connection, TABLES).await;
    connection.execute("SET enable_hashjoin = off; SET enable_mergejoin = off").await.expect("settings");
    let mut unlisted = BTreeMap::new();
    let mut unseen: BTreeSet<&str> = OF_ALL_TENANTS.into_iter().collect();
    for (short, statement) in statements() {
        let mut found = BTreeSet::new();
        if !short.starts_with("SET ") {
            unbound(&plan(&mut connection, &statement).await.expect(&short), &tables, &mut found);
        }
        let listed = OF_ALL_TENANTS.iter().find(|start| short.starts_with(**start));
        match listed {
            Some(listed) if !found.is_empty() => {
                unseen.remove(listed);
            }
            None if !found.is_empty() => {
                unlisted.insert(short, found);
            }
            _ => {}
        }
    }
    assert!(unlisted.is_empty(), "give each of these tables the tenant, or list the statement: {unlisted:#?}");
    assert!(unseen.is_empty(), "these are bound now, or gone: {unseen:#?}");
    connection.close().await.expect("close");
}

/// Keys hold the tenant, so that a value that one tenant has is free for all others.
#[tokio::test]
async fn keys_are_those_of_a_tenant() {
    let database = database::create().await;
    let mut connection = database.connect().await.expect("connect");
    let without_primary_key = "SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
        WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
          AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indkey[0] = a.attnum)";
    // Found by document, or by value.
    assert_eq!(texts(&mut connection, without_primary_key).await, BTreeSet::from(["document_field".to_owned()]));
    let unique_over_tenants = "SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = 'tenant_id'
        WHERE i.indisunique AND i.indrelid::regclass::text <> 'tenant' AND NOT a.attnum = ANY (i.indkey::smallint[])
          AND i.indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)";
    // A key is looked up before anybody knows its tenant.
    assert_eq!(texts(&mut connection, unique_over_tenants).await, BTreeSet::from(["api_key_unique".to_owned()]));
    let foreign_over_tenants = "SELECT k.conname::text FROM pg_constraint k
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attname = 'tenant_id'
        JOIN pg_attribute r ON r.attrelid = k.confrelid AND r.attname = 'tenant_id'
        WHERE k.contype = 'f' AND array_position(k.conkey, a.attnum) IS DISTINCT FROM array_position(k.confkey, r.attnum)";
    assert_eq!(texts(&mut connection, foreign_over_tenants).await, BTreeSet::new());
    let to_tables_of_all = "SELECT DISTINCT k.confrelid::regclass::text FROM pg_constraint k WHERE k.contype = 'f'
        AND NOT EXISTS (SELECT FROM pg_attribute r WHERE r.attrelid = k.confrelid AND r.attname = 'tenant_id')";
    assert_eq!(texts(&mut connection, to_tables_of_all).await, BTreeSet::from(["embedding_profile".to_owned()]));
    connection.close().await.expect("close");
}

/// Rows that are inserted together take their tenant from a row that is there: a parameter tells a database that is split up
/// nothing of where they belong. The tables of the queue stay together, and so do principals.
#[test]
fn rows_that_are_inserted_together_take_their_tenant_from_a_row() {
    let kept_together = ["job", "job_item", "job_tally", "job_stage", "principal"];
    for statement in statements().into_keys() {
        for insert in statement.split("INSERT INTO ").skip(1) {
            let table = insert.split(' ').next().unwrap_or_default();
            let is_by_parameter = insert.contains(") SELECT $1, ");
            assert!(!is_by_parameter || kept_together.contains(&table), "{statement}");
        }
    }
}
