//! Migrations that reach a database in another order than that of their numbers: a release may bring one with a lower
//! number than those that are applied.

use cited::store::{MIGRATOR, Store};
use serde_json::json;
use sqlx::{ConnectOptions, Connection, migrate::Migrator, postgres::PgConnectOptions};

use super::{database, harness::TestApp, scripted::ModelServer};

/// What there was before 0002, 0020, 0040 and 0041 came.
const EARLY: [i64; 4] = [1, 60, 61, 62];

/// Everything that migrations make, one line each.
const SCHEMA: &str = "
    WITH own AS (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE n.nspname = 'public' AND c.relname NOT LIKE '\\_sqlx%')
    SELECT line FROM (
        SELECT 'column ' || own.relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)
               || CASE WHEN attnotnull THEN ' not null' ELSE '' END || COALESCE(' ' || pg_get_expr(adbin, adrelid), '')
        FROM own JOIN pg_attribute a ON a.attrelid = own.oid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE own.relkind = 'r' AND attnum > 0 AND NOT attisdropped
        UNION ALL SELECT 'index ' || pg_get_indexdef(oid) FROM own WHERE relkind = 'i'
        UNION ALL SELECT 'rights ' || relname || ' ' || relrowsecurity || relforcerowsecurity || COALESCE(relacl::text, '') FROM own
        UNION ALL SELECT 'constraint ' || own.relname || ' ' || pg_get_constraintdef(k.oid) FROM own JOIN pg_constraint k ON k.conrelid = own.oid
        UNION ALL SELECT 'trigger ' || pg_get_triggerdef(t.oid) FROM own JOIN pg_trigger t ON t.tgrelid = own.oid WHERE NOT tgisinternal
        UNION ALL SELECT 'policy ' || tablename || ' ' || policyname || roles::text || cmd || COALESCE(qual, '') || COALESCE(with_check, '')
        FROM pg_policies
        UNION ALL SELECT 'function ' || pg_get_functiondef(f.oid) || COALESCE(f.proacl::text, '') || f.proowner::regrole
        FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace
        WHERE n.nspname = 'public' AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = f.oid AND d.deptype = 'e')
    ) AS everything (line) ORDER BY line";

async fn schema(options: &PgConnectOptions) -> Vec<String> {
    let mut connection = options.connect().await.expect("the database answers");
    let lines = sqlx::query_scalar(SCHEMA).fetch_all(&mut connection).await.expect("the catalog");
    connection.close().await.expect("close");
    lines
}

/// A database in which only migrations with these numbers ran.
async fn at_early_state() -> PgConnectOptions {
    let options = database::create_empty().await;
    run_early(&options).await;
    options
}

async fn run_early(options: &PgConnectOptions) {
    let early = MIGRATOR.iter().filter(|migration| EARLY.contains(&migration.version)).cloned().collect();
    let mut connection = options.connect().await.expect("the database answers");
    Migrator::with_migrations(early).run(&mut connection).await.expect("the early migrations");
    connection.close().await.expect("close");
}

#[tokio::test]
async fn the_order_in_which_migrations_came_leaves_no_trace() {
    let early = at_early_state().await;
    let before = schema(&early).await;
    Store::migrate(&early).await.expect("the rest runs");
    let after = schema(&early).await;
    assert!(after.len() > before.len(), "the rest brought something");
    let fresh = schema(&database::create().await).await;
    let only_early: Vec<&String> = after.iter().filter(|line| !fresh.contains(line)).collect();
    let only_fresh: Vec<&String> = fresh.iter().filter(|line| !after.contains(line)).collect();
    assert!(only_early.is_empty() && only_fresh.is_empty(), "{only_early:#?} {only_fresh:#?}");
}

#[tokio::test]
async fn a_database_of_another_release_is_refused_with_what_to_do() {
    for (change, advice) in [
        (
            "UPDATE _sqlx_migrations SET version = 9999 WHERE version = 133",
            "newer release of Cited (its migration 9999",
        ),
        (
            "UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 133",
            "another build of Cited (its migration 133",
        ),
    ] {
        let options = database::create().await;
        let mut connection = options.connect().await.expect("the database answers");
        sqlx::query(change).execute(&mut connection).await.expect("a superuser may");
        connection.close().await.expect("close");
        let refused = Store::migrate(&options).await.expect_err(change).to_string();
        assert!(refused.contains(advice), "{refused}");
    }
}

#[tokio::test]
async fn what_an_older_release_stored_and_queued_is_served_after_the_migration() {
    let early = at_early_state().await;
    store_old(&early).await;
    is_served(&early, &early).await;
}

/// Who owns the tables is bound by their policies like everybody, unless a superuser.
#[tokio::test]
async fn it_is_after_a_migration_by_an_owner_who_is_no_superuser() {
    let early = database::create_empty().await;
    let name = early.get_database().expect("a name");
    let grants = format!(
        "CREATE ROLE plain_owner LOGIN PASSWORD 'x'; GRANT cited_app, cited_lexical TO plain_owner; CREATE EXTENSION vector;
         ALTER DATABASE {name} OWNER TO plain_owner; GRANT CREATE ON SCHEMA public TO plain_owner"
    );
    database::execute(&early, &grants).await;
    let owned = early.clone().username("plain_owner").password("x");
    run_early(&owned).await;
    store_old(&early).await;
    is_served(&early, &owned).await;
}

const TENANT: &str = "00000000-0000-7000-8000-000000000001";

/// A collection from before collections had a splitter, and a document that the old release had accepted.
async fn store_old(early: &PgConnectOptions) {
    let tenant = TENANT;
    database::execute(
        early,
        &format!(
            "INSERT INTO embedding_profile (model, dimension, distance) VALUES ('scripted-embedding', {}, 'cosine');
             INSERT INTO collection (tenant_id, collection_id, name, profile_id, created_at)
                 SELECT '{tenant}', '{tenant}', 'old', profile_id, now() FROM embedding_profile;
             INSERT INTO collection_statistic (tenant_id, collection_id) VALUES ('{tenant}', '{tenant}');
             INSERT INTO job (tenant_id, job_id, collection_id, collection_name, state, items, bytes, created_at)
                 VALUES ('{tenant}', '{tenant}', '{tenant}', 'old', 'queued', 1, 27, now());
             INSERT INTO job_tally (tenant_id, job_id) VALUES ('{tenant}', '{tenant}');
             INSERT INTO job_item (tenant_id, job_id, ordinal, source, payload, content, content_bytes, state, available_at)
                 VALUES ('{tenant}', '{tenant}', 0, 'old.txt', '{}', 'The old harbour is in Oban.', 27, 'queued', now());",
            super::scripted::DIMENSION,
            json!({"v": "1", "uri": "old.txt", "title": null, "media_type": "text/plain", "metadata": {}, "loader": "json"}),
        ),
    )
    .await;
}

/// By a service that knows this way in.
async fn is_served(early: &PgConnectOptions, login: &PgConnectOptions) {
    let server = ModelServer::start().await;
    let app = TestApp::start(
        early.clone(),
        &[
            ("DATABASE_URL", &database::url(login)),
            ("CITED_EMBEDDING_BASE_URL", &server.base_url()),
            ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ],
    )
    .await;
    assert_eq!(app.ended_job(TENANT).await["state"], "succeeded");
    app.ingest("old", &[("new.md", "The new harbour is in Mallaig.")]).await;
    let found = app.post("/v1/search", json!({"query": "old harbour", "collections": ["old"]})).await;
    let sources: Vec<&str> =
        found.body["results"].as_array().expect("results").iter().filter_map(|hit| hit["source"].as_str()).collect();
    assert_eq!(sources, ["old.txt", "new.md"], "{found:?}");
    let collection = app.get("/v1/collections/old").await.body;
    assert_eq!((&collection["documents"], &collection["splitter"]["size"]), (&json!(2), &json!(512)));
    app.stop().await;
}
