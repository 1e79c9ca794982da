//! One database per test, copied from a template that has the schema.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use cited::Store;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, postgres::PgConnectOptions};
use tokio::sync::OnceCell;

use crate::{
    canaries,
    citus::{self, Cluster},
    made_databases,
    operations::own_servers::Server,
    process::command,
    throw_away_postgres,
};

/// Templates of databases: with the schema alone, with another tenant, with hidden documents as well.
const TEMPLATE: &str = "cited_template";
const WITHOUT_HIDDEN: &str = "cited_template_of_two";
const WITH_HIDDEN: &str = "cited_template_with_hidden";

static PREPARED: OnceCell<()> = OnceCell::const_new();
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Options of a superuser of the shared server.
pub(crate) async fn server() -> PgConnectOptions {
    tokio::task::spawn_blocking(throw_away_postgres::connect_options).await.expect("the shared server starts")
}

async fn administrator() -> PgConnection {
    server().await.database("postgres").connect().await.expect("the shared server answers")
}

/// A fresh database with the schema, in which are [canaries].
pub(crate) async fn create() -> PgConnectOptions {
    PREPARED
        .get_or_init(|| async {
            let template = match cluster().await {
                None => copy("template1", TEMPLATE).await,
                Some(cluster) => {
                    let ports: Vec<u16> = cluster.nodes.iter().map(Server::port).collect();
                    cluster.create(TEMPLATE, &ports).await;
                    server().await.database(TEMPLATE)
                }
            };
            Store::migrate(&template).await.expect("the migrations run");
            if cluster().await.is_some() {
                split(&template).await;
            }
            close(TEMPLATE).await;
            for (name, with_hidden_documents) in [(WITHOUT_HIDDEN, false), (WITH_HIDDEN, true)] {
                canaries::make(&copy(TEMPLATE, name).await, with_hidden_documents).await;
                close(name).await;
            }
            canaries::watch_logs();
        })
        .await;
    copy(if canaries::is_excepted() { WITHOUT_HIDDEN } else { WITH_HIDDEN }, &new_name("test")).await
}

/// The name of a database of this test alone, which is removed after it.
fn new_name(kind: &str) -> String {
    let name = format!("{kind}_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    made_databases::remove_after_this_test(&name);
    name
}

/// Has a template ready to be copied. On one server that only waits for its sessions to end, which they do at once.
async fn close(template: &str) {
    if let Some(cluster) = cluster().await {
        cluster.close(template).await;
    }
}

/// The cluster, where tests run on one.
async fn cluster() -> Option<Arc<Cluster>> {
    tokio::task::spawn_blocking(throw_away_postgres::cluster).await.expect("the shared servers start")
}

/// Splits a database up by tenants.
async fn split(options: &PgConnectOptions) {
    let shards = citus::DATA_NODES.to_string();
    let arguments = ["cluster", "init", "--shards", &shards];
    let output = command(&arguments, &[("DATABASE_URL", &url(options))]).output().await.expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A copy of a database.
async fn copy(template: &str, name: &str) -> PgConnectOptions {
    if let Some(cluster) = cluster().await {
        cluster.copy(template, name).await;
        return server().await.database(name);
    }
    let mut connection = administrator().await;
    // Copying waits for sessions on the template to end, which they do at once.
    let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.expect("a database of its own");
    connection.close().await.expect("close");
    be_terse(name).await;
    server().await.database(name)
}

/// A copy of the database of a test, in which nobody works meanwhile.
pub(crate) async fn copy_of(options: &PgConnectOptions) -> PgConnectOptions {
    copy(options.get_database().expect("a name"), &new_name("test")).await
}

/// Keeps details of errors out of the log, as the private Postgres does for the database of the service.
async fn be_terse(name: &str) {
    let mut connection = administrator().await;
    let sql = format!("ALTER DATABASE {name} SET log_error_verbosity = 'terse'");
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.expect("a terse log");
    connection.close().await.expect("close");
}

/// A fresh database with nothing in it.
pub(crate) async fn create_empty() -> PgConnectOptions {
    // The roles that migrations grant rights to belong to the server, and come with the template.
    drop(create().await);
    let name = new_name("empty");
    let mut connection = administrator().await;
    connection
        .execute(sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}"))))
        .await
        .expect("a database of its own");
    connection.close().await.expect("close");
    server().await.database(&name)
}

/// The URL that reaches a database.
pub(crate) fn url(options: &PgConnectOptions) -> String {
    options.to_url_lossy().to_string()
}

/// A single number from SQL, as superuser: past row level security, without the tenant that is in every database.
pub(crate) async fn number(options: &PgConnectOptions, sql: &str) -> i64 {
    let mut connection = options.connect().await.expect("the database answers");
    connection.execute("SET search_path = without_canaries, public").await.expect("a search path");
    let counted = count(&mut connection, sql).await;
    let number = match counted {
        Err(error) if citus::is_beyond_it(&error) => {
            connection.execute(citus::ROWS_OF_ALL_NODES).await.expect("copies of all rows");
            count(&mut connection, sql).await.expect(sql)
        }
        counted => counted.expect(sql),
    };
    connection.close().await.expect("close");
    number
}

async fn count(connection: &mut PgConnection, sql: &str) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar::<_, i64>(AssertSqlSafe(sql.to_owned())).fetch_one(connection).await
}

/// Runs statements as superuser.
pub(crate) async fn execute(options: &PgConnectOptions, sql: &str) {
    let mut connection = options.connect().await.expect("the database answers");
    if citus::is_wanted() {
        // A change of several tables is one after the other.
        connection.execute("SET citus.multi_shard_modify_mode = 'sequential'").await.expect("a setting");
    }
    let mut done = connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await;
    // Servers of a cluster lock one after the other, so that a change of many tables meets what the service does.
    while done.as_ref().is_err_and(citus::is_deadlock) {
        done = connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await;
    }
    done.expect(sql);
    connection.close().await.expect("close");
}

/// Laws of every database at rest: no orphan, no double, statistics equal to a recount. Each statement counts what
/// breaks it.
pub(crate) const LAWS: [(&str, &str); 19] = [
        ("documents whose chunk count is wrong", "SELECT count(*) FROM document d JOIN collection l USING (tenant_id, collection_id)
            WHERE d.chunks <> (SELECT count(*) FROM chunk c WHERE c.document_id = d.document_id AND c.index_id = l.index_id)"),
        ("documents whose chunk count in the next index is wrong", "SELECT count(*) FROM document_index o
            WHERE chunks <> (SELECT count(*) FROM chunk c WHERE c.document_id = o.document_id AND c.index_id = o.index_id)"),
        ("chunks of an index that does not know their document", "SELECT count(*) FROM chunk c
            WHERE NOT EXISTS (SELECT FROM collection l WHERE l.index_id = c.index_id)
              AND NOT EXISTS (SELECT FROM document_index o WHERE o.document_id = c.document_id AND o.index_id = c.index_id)"),
        ("documents that know wrongly how many of their chunks have no vector", "SELECT count(*) FROM document d JOIN collection l USING (tenant_id, collection_id)
            WHERE d.unembedded_chunks <> (SELECT count(*) FROM chunk c WHERE c.document_id = d.document_id AND c.index_id = l.index_id AND NOT EXISTS
                (SELECT FROM chunk_embedding e WHERE e.document_id = c.document_id AND e.index_id = c.index_id AND e.ordinal = c.ordinal))"),
        ("documents without vectors that no job owes them", "SELECT count(*) FROM document d WHERE unembedded_chunks > 0 AND NOT EXISTS
            (SELECT FROM job_item i WHERE i.document_id = d.document_id AND phase = 'embed' AND stored_version = d.version AND state NOT IN ('succeeded', 'unchanged'))"),
        ("vectors without a chunk", "SELECT count(*) FROM chunk_embedding e WHERE NOT EXISTS (SELECT FROM chunk c WHERE e.document_id = c.document_id AND e.index_id = c.index_id AND e.ordinal = c.ordinal)"),
        ("vectors of another model than that of their index", "SELECT count(*) FROM chunk_embedding e JOIN collection_index i USING (index_id) WHERE e.profile_id <> i.profile_id"),
        ("collections with more than two indexes", "SELECT count(*) FROM (SELECT FROM collection_index GROUP BY collection_id HAVING count(*) > 2) crowded"),
        ("attachments without their message", "SELECT count(*) FROM document a WHERE attached_to IS NOT NULL AND NOT EXISTS
            (SELECT FROM document m WHERE m.collection_id = a.collection_id AND m.source = a.attached_to)"),
        ("sources stored twice", "SELECT count(*) FROM (SELECT FROM document GROUP BY collection_id, source HAVING count(*) > 1) doubled"),
        ("collections whose storage is counted wrongly", "SELECT count(*) FROM collection c LEFT JOIN collection_storage s USING (tenant_id, collection_id)
            WHERE (COALESCE(s.bytes, 0), COALESCE(s.former_versions, 0), COALESCE(s.former_bytes, 0)) <>
                ((SELECT COALESCE(sum(octet_length(d.text) + octet_length(d.metadata::text)), 0)::bigint FROM document d WHERE d.collection_id = c.collection_id),
                 (SELECT count(*) FROM document_version v JOIN document d USING (document_id) WHERE d.collection_id = c.collection_id),
                 (SELECT COALESCE(sum(v.bytes), 0)::bigint FROM document_version v JOIN document d USING (document_id) WHERE d.collection_id = c.collection_id))"),
        ("indexes whose counters are wrong", "SELECT count(*) FROM index_statistic s WHERE
            documents <> (SELECT count(DISTINCT document_id) FROM chunk c WHERE c.index_id = s.index_id) OR
            chunks <> (SELECT count(*) FROM chunk c WHERE c.index_id = s.index_id) OR
            unembedded_chunks <> (SELECT count(*) FROM chunk c WHERE c.index_id = s.index_id AND NOT EXISTS
                (SELECT FROM chunk_embedding e WHERE e.document_id = c.document_id AND e.index_id = c.index_id AND e.ordinal = c.ordinal))"),
        ("terms whose document frequency is wrong", "SELECT count(*) FROM
            (SELECT index_id, term_id, document_frequency FROM term_statistic WHERE document_frequency <> 0) stored
            FULL JOIN (SELECT index_id, unnest(terms) AS term_id, count(*) AS recount FROM chunk GROUP BY 1, 2) counted
            USING (index_id, term_id)
            WHERE document_frequency IS DISTINCT FROM recount"),
        ("settled items that still hold content", "SELECT count(*) FROM job_item WHERE state NOT IN ('queued', 'running', 'failed')
            AND (content IS NOT NULL OR payload IS NOT NULL OR contexts IS NOT NULL)"),
        ("uploads kept for a collection that is gone", "SELECT count(*) FROM job_item i JOIN job j USING (tenant_id, job_id)
            WHERE (content IS NOT NULL OR payload IS NOT NULL) AND NOT EXISTS (SELECT FROM collection c WHERE c.collection_id = j.collection_id)"),
        ("failed items that would give vectors to a document that is gone", "SELECT count(*) FROM job_item i WHERE phase = 'embed' AND state = 'failed'
            AND content IS NOT NULL AND NOT EXISTS (SELECT FROM document d WHERE d.document_id = i.document_id)"),
        ("tallies that a recount contradicts", "SELECT count(*) FROM job_tally t WHERE
            (succeeded, unchanged, failed, cancelled, bytes, chunks, embedding_calls, reused_vectors, searchable, searchable_bytes) IS DISTINCT FROM
            (SELECT (count(*) FILTER (WHERE state = 'succeeded'), count(*) FILTER (WHERE state = 'unchanged'),
                     count(*) FILTER (WHERE state = 'failed'), count(*) FILTER (WHERE state = 'cancelled'),
                     COALESCE(sum(content_bytes) FILTER (WHERE state NOT IN ('queued', 'running')), 0)::bigint,
                     COALESCE(sum(i.chunks) FILTER (WHERE state = 'succeeded'), 0),
                     COALESCE(sum(i.embedding_calls) FILTER (WHERE state NOT IN ('queued', 'running')), 0),
                     COALESCE(sum(i.chunks - i.embedding_calls) FILTER (WHERE state = 'succeeded'), 0),
                     count(*) FILTER (WHERE phase = 'embed' AND state NOT IN ('succeeded', 'unchanged')),
                     COALESCE(sum(content_bytes) FILTER (WHERE phase = 'embed' AND state IN ('queued', 'running')), 0)::bigint)
             FROM job_item i WHERE i.tenant_id = t.tenant_id AND i.job_id = t.job_id)"),
        ("jobs without a tally", "SELECT count(*) FROM job j WHERE NOT EXISTS (SELECT FROM job_tally t WHERE t.job_id = j.job_id)"),
        ("ended jobs with something to do", "SELECT count(*) FROM job_item i JOIN job j USING (tenant_id, job_id) WHERE i.state IN ('queued', 'running') AND j.finished_at IS NOT NULL"),
];

/// Checks what must hold of every database at rest.
pub(crate) async fn assert_consistent(options: &PgConnectOptions) {
    for (law, sql) in LAWS {
        assert_eq!(number(options, sql).await, 0, "{law}");
    }
}
