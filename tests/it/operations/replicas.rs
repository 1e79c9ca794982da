//! Retrieval from streaming replicas: an ask finds all that was stored before it, whatever the replicas do.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Stdio,
};

use nix::unistd::{User, geteuid};
use serde_json::{Value, json};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::process::{Child, Command};

use super::private_postgres::{folder, settings};
use crate::{database, harness::TestApp, scripted::ModelServer, wait};

/// A Postgres of its own that streams, or is streamed to; it ends with the value.
struct Server {
    bin: PathBuf,
    place: PathBuf,
    child: Option<Child>,
}

/// A program of Postgres, as a user that it accepts.
fn program(bin: &Path, name: &str) -> Command {
    let mut command = Command::new(bin.join(name));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    if geteuid().is_root() {
        let user = account();
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    command
}

fn account() -> User {
    let named = |name| User::from_name(name).ok().flatten();
    named("postgres").or_else(|| named("nobody")).expect("an unprivileged user")
}

async fn run(mut command: Command) {
    assert!(command.status().await.expect("it runs").success(), "{command:?}");
}

impl Server {
    /// An empty place for a server below a folder.
    fn at(bin: &Path, folder: &Path, name: &str) -> Self {
        let place = folder.join(name);
        fs::create_dir(&place).expect("a folder");
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).expect("rights");
        if geteuid().is_root() {
            let user = account();
            chown(&place, Some(user.uid.as_raw()), Some(user.gid.as_raw())).expect("another owner");
        }
        Self { bin: bin.to_owned(), place, child: None }
    }

    async fn primary(bin: &Path, folder: &Path) -> Self {
        let mut server = Self::at(bin, folder, "primary");
        let mut initdb = program(bin, "initdb");
        initdb.args(["--username=postgres", "--auth=trust", "--no-sync", "--locale=C", "--encoding=UTF8", "--pgdata"]);
        initdb.arg(server.place.join("data"));
        run(initdb).await;
        server.start().await;
        server
    }

    async fn replica_of(primary: &Self, folder: &Path, name: &str) -> Self {
        let mut server = Self::at(&primary.bin, folder, name);
        let mut copy = program(&primary.bin, "pg_basebackup");
        copy.args(["--write-recovery-conf", "--no-sync", "--checkpoint=fast", "--username=postgres", "--host"]);
        copy.arg(&primary.place).arg("--pgdata").arg(server.place.join("data"));
        run(copy).await;
        server.start().await;
        server
    }

    async fn start(&mut self) {
        let mut postgres = program(&self.bin, "postgres");
        postgres.arg("-D").arg(self.place.join("data")).arg("-k").arg(&self.place);
        postgres.args([
            "-c",
            "listen_addresses=",
            "-c",
            "fsync=off",
            "-c",
            "shared_buffers=32MB",
            "-c",
            "max_connections=60",
        ]);
        self.child = Some(postgres.spawn().expect("it starts"));
        wait::until_ok("the server answers", async || {
            let mut connection = sqlx::ConnectOptions::connect(&self.options("postgres")).await?;
            sqlx::Connection::ping(&mut connection).await
        })
        .await;
    }

    async fn kill(&mut self) {
        self.child.take().expect("it runs").kill().await.expect("killed");
        let _ = fs::remove_file(self.place.join("data/postmaster.pid"));
    }

    fn options(&self, database: &str) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .host("localhost")
            .socket(&self.place)
            .port(5432)
            .username("postgres")
            .database(database)
            .ssl_mode(PgSslMode::Disable)
    }

    async fn says(&self, sql: &str) {
        database::execute(&self.options("postgres"), sql).await;
    }

    /// Searches that it served so far: scans of the table of collections, which begin each.
    async fn reads(&self) -> i64 {
        let sql = "SELECT (seq_scan + COALESCE(idx_scan, 0)) FROM pg_stat_user_tables WHERE relname = 'collection'";
        database::number(&self.options("cited"), sql).await
    }
}

async fn store(app: &TestApp, number: usize) {
    let text = format!("Boat {number} is moored at pier {number}.");
    let body = json!({"collection": "c", "documents": [{"source": format!("b{number}"), "text": text}]});
    let job = app.post("/v1/documents?wait=true", body).await;
    assert_eq!((job.status, &job.body["counts"]["failed"]), (200, &json!(0)), "{job:?}");
}

/// Stores a document, and asks for it at once by another process.
async fn store_and_find(here: &TestApp, there: &TestApp, number: usize) {
    store(here, number).await;
    let query = json!({"query": format!("pier {number}"), "collections": ["c"], "mode": "lexical", "top_k": 3});
    let found = there.post("/v1/search", query).await;
    assert_eq!(found.status, 200, "{number}: {found:?}");
    let sources: Vec<&Value> =
        found.body["results"].as_array().expect("results").iter().map(|hit| &hit["source"]).collect();
    assert!(sources.contains(&&json!(format!("b{number}"))), "{number}: {found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ask_finds_what_was_stored_before_whatever_replicas_do() {
    let folder = folder();
    let bin = embedded_postgres::find_binaries(&settings(folder.path())).expect("a Postgres").directory;
    let primary = Server::primary(&bin, folder.path()).await;
    primary.says("CREATE DATABASE cited").await;
    let mut one = Server::replica_of(&primary, folder.path(), "one").await;
    let two = Server::replica_of(&primary, folder.path(), "two").await;
    let url = |server: &Server| database::url(&server.options("cited"));
    let models = ModelServer::start().await;
    let (write, read, embedding) = (url(&primary), format!("{}, {}", url(&one), url(&two)), models.base_url());
    let settings = [
        ("DATABASE_URL", write.as_str()),
        ("DATABASE_READ_URL", read.as_str()),
        ("CITED_EMBEDDING_BASE_URL", embedding.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
    ];
    // Row level security would not bind the user of the URL, who is a superuser: the service logs in as its roles.
    let here = TestApp::start(primary.options("cited"), &settings).await;
    let there = TestApp::start(primary.options("cited"), &settings).await;
    for number in 0..10 {
        store_and_find(&here, &there, number).await;
    }
    wait::until("a replica was read", async || one.reads().await + two.reads().await > 0).await;

    // Both stand still: what they lack is read from the primary.
    for replica in [&one, &two] {
        replica.says("SELECT pg_wal_replay_pause()").await;
    }
    for number in 10..13 {
        store_and_find(&here, &there, number).await;
    }
    two.says("SELECT pg_wal_replay_resume()").await;
    let before = two.reads().await;
    // It is read again once it has caught up.
    wait::until("the replica that goes on is read", async || {
        let query = json!({"query": "pier", "collections": ["c"], "mode": "lexical"});
        assert_eq!(there.post("/v1/search", query).await.status, 200);
        two.reads().await > before
    })
    .await;
    store_and_find(&here, &there, 13).await;

    // One is gone, the other is promoted and then is no copy any more.
    one.kill().await;
    store_and_find(&here, &there, 14).await;
    two.says("SELECT pg_promote()").await;
    for number in 15..18 {
        store_and_find(&here, &there, number).await;
    }
    // The one that was gone comes back.
    one.start().await;
    let before = one.reads().await;
    wait::until("the replica that is back is read", async || {
        let query = json!({"query": "pier", "collections": ["c"], "mode": "lexical"});
        assert_eq!(there.post("/v1/search", query).await.status, 200);
        one.reads().await > before
    })
    .await;
    store_and_find(&here, &there, 18).await;
    here.stop().await;
    there.stop().await;
}
