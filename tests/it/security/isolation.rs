//! Row level security: what the runtime role can and cannot see.

use cited::{PoolSettings, Store, StoreError};
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, Row};

use crate::{citus, database, harness::TestApp, scripted::ModelServer};

const TABLES: [&str; 34] = [
    "tenant",
    "tenant_quota",
    "api_key",
    "principal",
    "collection",
    "collection_index",
    "collection_storage",
    "index_statistic",
    "document_index",
    "term_statistic",
    "document",
    "document_field",
    "document_reader",
    "chunk",
    "chunk_embedding",
    "job",
    "job_item",
    "job_tally",
    "job_stage",
    "job_context",
    "job_embedding",
    "idempotency_key",
    "webhook",
    "ask_audit",
    "document_version",
    "deleted_document",
    "usage_daily",
    "key_usage_daily",
    "answer_cache",
    "answer_source",
    "erasure",
    "security_event",
    "security_event_waiting",
    "security_seal",
];
const OTHER: &str = "00000000-0000-7000-8000-0000000000ff";
const DEFAULT: &str = "00000000-0000-7000-8000-000000000001";

async fn count(connection: &mut PgConnection, table: &str) -> i64 {
    let row = connection.fetch_one(AssertSqlSafe(format!("SELECT count(*) FROM {table}"))).await.expect(table);
    row.get(0)
}

/// A service that has a row of the default tenant in every table.
async fn filled(server: &ModelServer) -> TestApp {
    let app = TestApp::with_embeddings(server).await;
    app.ingest("c", &[("a.md", "Other words."), ("b.md", "More words.")]).await;
    let found = app.get("/v1/documents?source_prefix=b&collection=c").await;
    let deleted = found.body["documents"][0]["id"].as_str().expect("id");
    assert_eq!(app.delete(&format!("/v1/documents/{deleted}")).await.status, 200);
    app.ingest("c", &[("a.md", "Some words.")]).await;
    let rows = "SET search_path = without_canaries, public;
        INSERT INTO idempotency_key SELECT tenant_id, 'key', NULL, job_id, NULL, NULL, now() FROM job LIMIT 1;
        INSERT INTO answer_cache SELECT tenant_id, 'key', '{}', now(), now() + interval '1 day' FROM job LIMIT 1;
        INSERT INTO answer_source SELECT tenant_id, job_id, 'key', 1 FROM job LIMIT 1;
        INSERT INTO document_index SELECT tenant_id, document_id, collection_id, version, fingerprint, NULL, chunks FROM document;
        INSERT INTO principal (tenant_id, name) SELECT tenant_id, 'user:ada' FROM job LIMIT 1;
        INSERT INTO document_reader SELECT tenant_id, collection_id, document_id, 1 FROM document LIMIT 1;
        INSERT INTO document_field SELECT tenant_id, collection_id, document_id, 'key', 1, NULL FROM document LIMIT 1;
        INSERT INTO api_key (tenant_id, key_id, name, code, scopes, created_at) SELECT tenant_id, 'key', 'key', '', '{ask}', now() FROM job LIMIT 1;
        INSERT INTO job_context SELECT tenant_id, job_id, 1, 1, 0, 1, 1, 1, false FROM job LIMIT 1;
        INSERT INTO erasure SELECT tenant_id, job_id, now(), NULL, '{}', '{}', '[]' FROM job LIMIT 1;
        INSERT INTO security_event SELECT tenant_id, job_id, now(), 'ask', NULL, NULL, NULL, NULL, '{}', 1 FROM job LIMIT 1;
        INSERT INTO security_event_waiting SELECT tenant_id, gen_random_uuid() FROM job LIMIT 1;
        INSERT INTO security_seal SELECT tenant_id, 1000, now(), '{}', '', '', false FROM job LIMIT 1;
        INSERT INTO tenant_quota SELECT tenant_id, NULL, NULL, NULL, NULL FROM job LIMIT 1;
        INSERT INTO usage_daily SELECT tenant_id, '2026-01-31', 1, 1 FROM job LIMIT 1;
        INSERT INTO key_usage_daily SELECT tenant_id, '2026-01-31', 'key', 1, 1 FROM job LIMIT 1;
        INSERT INTO webhook (tenant_id, job_id, url) SELECT tenant_id, job_id, 'https://example.org/' FROM job";
    database::execute(&app.database, rows).await;
    assert_eq!(app.ask(json!({"question": "Some words?", "collections": ["c"]})).await.status, 200);
    app
}

#[tokio::test]
async fn without_a_tenant_or_with_another_nothing_is_seen() {
    let server = ModelServer::start().await;
    let app = filled(&server).await;
    let mut connection = app.database.connect().await.expect("connect");
    connection.execute("SET ROLE cited_app").await.expect("role");
    for (tenant, visible) in [(None, false), (Some(OTHER), false), (Some(DEFAULT), true)] {
        if let Some(tenant) = tenant {
            connection.execute(AssertSqlSafe(format!("SET cited.tenant = '{tenant}'"))).await.expect("tenant");
        }
        for table in TABLES {
            assert_eq!(count(&mut connection, table).await > 0, visible, "{table} as {tenant:?}");
        }
        let asked = tenant.unwrap_or(OTHER);
        let search = format!(
            "SELECT count(*) FROM lexical_search('{asked}', ARRAY(SELECT index_id FROM collection),
            (SELECT array_agg(term_id) FROM term_statistic), '{{}}', '{{}}', '{{1:1}}/1000000000', NULL, NULL, NULL, NULL, NULL, 10)"
        );
        let found: i64 = connection.fetch_one(AssertSqlSafe(search)).await.expect("search").get(0);
        assert_eq!(found > 0, visible, "lexical_search as {tenant:?}");
        let counts = format!(
            "SELECT COALESCE(sum(document_frequency), 0)::bigint FROM seen_frequencies('{asked}',
            (SELECT array_agg(index_id) FROM term_statistic), (SELECT array_agg(term_id) FROM term_statistic), '{{}}')"
        );
        let counted: i64 = connection.fetch_one(AssertSqlSafe(counts)).await.expect("counts").get(0);
        assert_eq!(counted > 0, visible, "seen_frequencies as {tenant:?}");
    }
    connection.close().await.expect("close");
    app.stop().await;
}

/// Statements without any condition of their own change, delete and make no row of another tenant.
#[tokio::test]
async fn no_row_of_another_tenant_is_written_whatever_a_statement_says() {
    let server = ModelServer::start().await;
    let app = filled(&server).await;
    let mut connection = app.database.connect().await.expect("connect");
    for table in TABLES {
        // A copy of its row, for tables that make some of their columns themselves.
        let columns = "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
            WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''";
        let columns: String = sqlx::query_scalar(columns).bind(table).fetch_one(&mut connection).await.expect(table);
        let row = format!("SELECT quote_literal(to_jsonb(t)) FROM {table} t LIMIT 1");
        let row: String = connection.fetch_one(AssertSqlSafe(row)).await.expect(table).get(0);
        let insert = format!(
            "INSERT INTO {table} ({columns}) SELECT {columns} FROM jsonb_populate_record(NULL::{table}, {row}::jsonb)"
        );
        for (tenant, statement) in [
            (OTHER, format!("UPDATE {table} SET tenant_id = tenant_id")),
            (OTHER, format!("DELETE FROM {table}")),
            (OTHER, insert),
            (DEFAULT, format!("UPDATE {table} SET tenant_id = '{OTHER}'")),
        ] {
            let session = format!("BEGIN; SET LOCAL ROLE cited_app; SET LOCAL cited.tenant = '{tenant}'");
            connection.execute(sqlx::raw_sql(AssertSqlSafe(session))).await.expect("session");
            match connection.execute(AssertSqlSafe(statement.clone())).await {
                Ok(done) => {
                    assert_eq!((tenant, done.rows_affected()), (OTHER, 0), "{statement}");
                    assert!(!statement.starts_with("INSERT"), "{statement}");
                }
                Err(error) => {
                    let refused = ["violates row-level security policy", "permission denied"];
                    let error = error.to_string();
                    assert!(refused.iter().any(|refusal| error.contains(refusal)), "{statement}: {error}");
                }
            }
            connection.execute("ROLLBACK").await.expect("rolled back");
        }
    }
    connection.close().await.expect("close");
    app.stop().await;
}

/// Asks go with the documents that they were answered from, receipts of erasures with their tenant, and neither otherwise.
#[tokio::test]
async fn the_role_that_serves_requests_deletes_no_record() {
    let server = ModelServer::start().await;
    let app = filled(&server).await;
    let mut connection = app.database.connect().await.expect("connect");
    let session = format!("SET ROLE cited_app; SET cited.tenant = '{DEFAULT}'");
    connection.execute(AssertSqlSafe(session)).await.expect("session");
    let asks = count(&mut connection, "ask_audit").await;
    assert!(asks > 0);
    for statement in [
        "DELETE FROM ask_audit",
        "UPDATE ask_audit SET question = NULL",
        "TRUNCATE ask_audit",
        "DELETE FROM erasure",
        "UPDATE erasure SET erased = '{}'",
    ] {
        let refused = connection.execute(statement).await.expect_err(statement);
        assert!(refused.to_string().contains("permission denied"), "{statement}: {refused}");
    }
    for (tenant, part, is_of_asks) in [
        (DEFAULT, "", false),
        (DEFAULT, "/", false),
        (DEFAULT, "cited:", false),
        (DEFAULT, "/019ee0a1-0000-7000-8000-000000000000@", false),
        (OTHER, "cited:c/", false),
        (DEFAULT, "cited:c/", true),
    ] {
        let erase = format!("SELECT erase_asks('{tenant}', ARRAY['{part}'])");
        let erased: i64 = connection.fetch_one(AssertSqlSafe(erase)).await.expect(part).get(0);
        assert_eq!(erased > 0, is_of_asks, "{part}");
        assert_eq!(count(&mut connection, "ask_audit").await, asks - erased, "{part}");
    }
    connection.close().await.expect("close");
    app.stop().await;
}

#[tokio::test]
async fn a_check_reaches_no_passage_of_another_tenant() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("a.md", "Some words.")]).await;
    let found = app.post("/v1/search", json!({"query": "words", "collections": ["c"]})).await;
    let by_urn = json!({"text": "Some words.", "urns": [found.body["results"][0]["urn"]]});
    let by_name = json!({"text": "Some words.", "collections": ["c"]});
    for body in [&by_urn, &by_name] {
        assert_eq!(app.post("/v1/check", body.clone()).await.status, 200);
    }
    // Everything becomes another tenant's but the caller, whose key is looked up again after a second; foreign keys would only
    // prescribe the order.
    let moved = TABLES.into_iter().filter(|table| !matches!(*table, "tenant" | "api_key"));
    let moved: Vec<String> = moved.map(|table| format!("UPDATE {table} SET tenant_id = '{OTHER}'")).collect();
    let moved = moved.join(";");
    database::execute(
        &app.database,
        &format!("SET session_replication_role = replica; SET search_path = without_canaries, public; {moved}"),
    )
    .await;
    for body in [by_urn, by_name] {
        app.post("/v1/check", body).await.assert_problem(404, "not_found");
    }
    app.stop().await;
}

#[tokio::test]
async fn the_lexical_functions_never_leave_the_tenant_even_for_known_identities() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("a.md", "Some words.")]).await;
    let mut connection = app.database.connect().await.expect("connect");
    // As superuser: the identities that a thief would have to know.
    let row = connection
        .fetch_one("SELECT (array_agg(DISTINCT index_id))[1]::text, array_agg(term_id)::text FROM term_statistic")
        .await
        .expect("row");
    let (collection, terms): (String, String) = (row.get(0), row.get(1));
    connection.execute(AssertSqlSafe(format!("SET ROLE cited_app; SET cited.tenant = '{OTHER}'"))).await.expect("role");
    let sql = format!(
        "SELECT count(*) FROM lexical_search('{OTHER}', ARRAY['{collection}'::uuid], '{terms}'::int[], '{terms}'::int[], '{terms}'::int[], '{{1:1}}/1000000000', NULL, NULL, NULL, NULL, NULL, 10)"
    );
    let found: i64 = connection.fetch_one(AssertSqlSafe(sql)).await.expect("search").get(0);
    assert_eq!(found, 0);
    let sql = format!(
        "SELECT sum(document_frequency)::bigint FROM seen_frequencies('{OTHER}',
         ARRAY(SELECT '{collection}'::uuid FROM unnest('{terms}'::int[])), '{terms}'::int[], NULL)"
    );
    let counted: i64 = connection.fetch_one(AssertSqlSafe(sql)).await.expect("counts").get(0);
    assert_eq!(counted, 0);
    connection.close().await.expect("close");
    app.stop().await;
}

#[tokio::test]
async fn every_table_with_a_tenant_is_forced_and_has_a_policy() {
    let database = database::create().await;
    let unprotected = "SELECT count(*) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname <> 'tenant'
          AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid))";
    assert_eq!(database::number(&database, unprotected).await, 0);
    // Whatever else can be read of: a new one is a tenant's, or known here.
    let others = "SELECT count(*) FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
        AND NOT relforcerowsecurity AND relname NOT IN ('_sqlx_migrations', 'embedding_profile')";
    assert_eq!(database::number(&database, others).await, 0);
    let protected = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relforcerowsecurity";
    assert_eq!(database::number(&database, protected).await, i64::try_from(TABLES.len()).expect("few"));
}

fn one_connection() -> PoolSettings {
    PoolSettings { max_connections: 1, ..PoolSettings::default() }
}

/// Where the login were a superuser's, one statement (`RESET ROLE`) would undo row level security.
#[tokio::test]
async fn pools_log_in_as_roles_that_cannot_bypass() {
    let app = TestApp::built_in().await;
    app.ingest("c", &[("a.md", "Boats land here.")]).await;
    let logins = |condition: &str| {
        format!(
            "SELECT count(*) FROM pg_stat_activity JOIN pg_roles ON usename = rolname
             WHERE datname = current_database() AND application_name = 'cited' AND pid <> pg_backend_pid() AND {condition}"
        )
    };
    for (condition, are_there) in [
        ("usename = 'cited_app'", true),
        ("usename = 'cited_worker'", true),
        ("usename NOT IN ('cited_app', 'cited_worker')", false),
        ("(rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)", false),
    ] {
        assert_eq!(database::number(&app.database, &logins(condition)).await > 0, are_there, "{condition}");
    }
    app.stop().await;
}

/// The roles that its owner has no right to let in have to be taken over.
#[tokio::test]
async fn a_login_that_could_bypass_is_refused() {
    let database = database::create().await;
    let grants =
        "CREATE ROLE bypassing_login LOGIN PASSWORD 'x' BYPASSRLS; GRANT cited_app, cited_worker TO bypassing_login";
    database::execute(&database, grants).await;
    let options = database.clone().username("bypassing_login").password("x");
    match Store::connect(&options, &[], &one_connection()).await {
        Err(StoreError::Unsuitable(detail)) => {
            assert!(detail.contains("log in as bypassing_login") && detail.contains("pg_hba.conf"), "{detail}");
        }
        other => panic!("it is not refused: {other:?}"),
    }
    database::execute(&database, "ALTER ROLE bypassing_login NOBYPASSRLS").await;
    Store::connect(&options, &[], &one_connection()).await.expect("it is bound now").close().await;
    database::execute(&database, "DROP ROLE bypassing_login").await;
}

#[tokio::test]
async fn a_table_that_does_not_bind_its_owner_is_refused() {
    let database = database::create().await;
    Store::connect(&database, &[], &one_connection()).await.expect("all are bound").close().await;
    database::execute(&database, "ALTER TABLE webhook NO FORCE ROW LEVEL SECURITY").await;
    database::execute(&database, "ALTER TABLE chunk DISABLE ROW LEVEL SECURITY").await;
    match Store::connect(&database, &[], &one_connection()).await {
        Err(StoreError::Unsuitable(detail)) => assert!(detail.contains("not forced on chunk, webhook"), "{detail}"),
        other => panic!("it is not refused: {other:?}"),
    }
}

/// A worker sees the queue of every tenant and no document; a request sees its tenant. Numbers of tenants: there are two.
#[tokio::test]
async fn each_runtime_role_sees_its_own_share() {
    let app = TestApp::built_in().await;
    app.ingest("c", &[("a.md", "Boats land here.")]).await;
    for (role, table, seen) in [
        ("cited_app", "job_item", 0),
        ("cited_app", "document", 0),
        ("cited_worker", "job_item", 2),
        ("cited_worker", "document", 0),
        ("cited_worker", "chunk", 0),
        ("cited_worker", "collection", 0),
    ] {
        let mut connection = app.database.connect().await.expect("connect");
        connection.execute(AssertSqlSafe(format!("SET ROLE {role}"))).await.expect("role");
        let counted =
            connection.fetch_one(AssertSqlSafe(format!("SELECT count(DISTINCT tenant_id) FROM {table}"))).await;
        let count: i64 = match counted {
            // Nodes refuse what comes to their rows without a tenant.
            Err(error) if citus::is_wanted() && error.to_string().contains("\"cited.tenant\"") => 0,
            counted => counted.expect("row").get(0),
        };
        assert_eq!(count, seen, "{role} {table}");
        connection.close().await.expect("close");
    }
    app.stop().await;
}

#[tokio::test]
async fn migrations_run_twice_without_harm_and_old_servers_are_refused_by_name() {
    let database = database::create().await;
    Store::migrate(&database).await.expect("again");
    let error = Store::migrate(&database.clone().username("nobody_like_this")).await.expect_err("no such user");
    assert!(matches!(error, StoreError::Database(_) | StoreError::Unavailable(_)), "{error:?}");
}
