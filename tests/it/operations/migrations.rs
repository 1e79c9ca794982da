//! Databases that the service may not be able to use: of another release, of a build that was never released, and of an
//! owner with few rights.

use cited::Store;
use sqlx::postgres::PgConnectOptions;

use crate::{database, harness::TestApp, scripted::ModelServer};

async fn refusal(change: &str) -> String {
    let options = database::create().await;
    database::execute(&options, change).await;
    Store::migrate(&options).await.expect_err(change).to_string()
}

#[tokio::test]
async fn a_database_of_a_newer_release_is_refused_with_what_to_do() {
    let refused = refusal("UPDATE _sqlx_migrations SET version = 9999 WHERE version = 4").await;
    assert!(refused.contains("newer release of Cited (its migration 9999"), "{refused}");
    assert!(refused.contains("start that release, or restore a backup"), "{refused}");
}

/// Those builds had migrations with these numbers, and more.
#[tokio::test]
async fn a_database_of_an_unreleased_build_is_refused_with_what_to_do() {
    for change in [
        "UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 2",
        "UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 1;
         INSERT INTO _sqlx_migrations SELECT 133, 'chunkings', now(), true, '', 0",
        "UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 1; DELETE FROM _sqlx_migrations WHERE version > 1",
    ] {
        let refused = refusal(change).await;
        assert!(refused.contains("another build of Cited, one that was never released"), "{refused}");
        assert!(refused.contains("begin with an empty database or data directory and ingest anew"), "{refused}");
    }
}

#[tokio::test]
async fn what_is_refused_is_left_as_it_was() {
    let options = database::create().await;
    let change = "UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 1; DROP TABLE webhook CASCADE";
    database::execute(&options, change).await;
    database::execute(&options, "DELETE FROM _sqlx_migrations WHERE version > 1").await;
    Store::migrate(&options).await.expect_err("it is refused");
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename = 'webhook'";
    assert_eq!(database::number(&options, tables).await, 0);
    assert_eq!(database::number(&options, "SELECT count(*) FROM _sqlx_migrations").await, 1);
}

/// Databases from before tenants had quotas know what is kept as well as if it had been counted from the beginning.
#[tokio::test]
async fn what_was_stored_before_is_counted() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    for words in ["The old harbour is in Oban.", "The new harbour is in Mallaig."] {
        app.ingest("harbours", &[("harbour.txt", words)]).await;
    }
    app.ingest("others", &[("a.txt", "Some words."), ("b.txt", "Ünd more.")]).await;
    let database = app.database.clone();
    app.stop().await;
    database::execute(
        &database,
        "DROP SCHEMA without_canaries CASCADE; DROP TABLE collection_storage, tenant_quota; ALTER TABLE document DROP COLUMN bytes;
         ALTER TABLE document_version DROP COLUMN bytes; DELETE FROM _sqlx_migrations WHERE version = 7",
    )
    .await;
    Store::migrate(&database).await.expect("it is brought up to date");
    database::assert_consistent(&database).await;
    let former = "SELECT sum(former_versions)::bigint FROM collection_storage JOIN collection USING (tenant_id, collection_id) WHERE name = 'harbours'";
    assert_eq!(database::number(&database, former).await, 1);
}

/// The owner of the tables is bound by their policies like everybody, unless it is a superuser.
#[tokio::test]
async fn an_owner_who_is_no_superuser_makes_the_schema_and_is_served() {
    let empty = database::create_empty().await;
    let name = empty.get_database().expect("a name");
    let grants = format!(
        "CREATE ROLE plain_owner LOGIN PASSWORD 'x'; GRANT cited_app, cited_worker, cited_lexical, cited_keys, cited_record TO plain_owner; CREATE EXTENSION vector;
         ALTER DATABASE {name} OWNER TO plain_owner; GRANT CREATE ON SCHEMA public TO plain_owner"
    );
    database::execute(&empty, &grants).await;
    serve(&empty, &empty.clone().username("plain_owner").password("x")).await;
}

async fn serve(superuser: &PgConnectOptions, login: &PgConnectOptions) {
    let server = ModelServer::start().await;
    let app = TestApp::start(
        superuser.clone(),
        &[
            ("DATABASE_URL", &database::url(login)),
            ("CITED_EMBEDDING_BASE_URL", &server.base_url()),
            ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ],
    )
    .await;
    app.ingest("harbours", &[("old.txt", "The old harbour is in Oban."), ("new.md", "The new harbour is in Mallaig.")])
        .await;
    let query = serde_json::json!({"query": "old harbour", "collections": ["harbours"]});
    let found = app.post("/v1/search", query).await;
    let sources: Vec<&str> =
        found.body["results"].as_array().expect("results").iter().filter_map(|hit| hit["source"].as_str()).collect();
    assert_eq!(sources, ["old.txt", "new.md"], "{found:?}");
    app.stop().await;
}
