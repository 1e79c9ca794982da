//! Everything through a real `PgBouncer` in transaction mode, where it is installed: 1.21 or newer, which keeps prepared
//! statements. `CITED_TEST_PGBOUNCER` names the program, `CITED_TEST_REQUIRE_PGBOUNCER` fails the test without one.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::Stdio,
};

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{
    ConnectOptions, Connection,
    postgres::{PgConnectOptions, PgSslMode},
};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::private_postgres::folder;
use crate::{
    database,
    harness::{TestApp, send},
    process::command,
    scripted::ModelServer,
    wait,
};

/// Sessions that the pooler keeps for each user.
const SESSIONS: usize = 3;
/// Uploads and asks at once, of each service: several times as many as there are sessions.
const AT_ONCE: usize = 12;

/// A running pooler; it ends with the value.
struct Pooler {
    url: String,
    _folder: TempDir,
    _child: Child,
}

/// The program, if it is there and keeps prepared statements.
async fn program() -> Option<PathBuf> {
    let named = std::env::var_os("CITED_TEST_PGBOUNCER").map(PathBuf::from);
    let places = std::env::var_os("PATH").unwrap_or_default();
    let mut usual = std::env::split_paths(&places).chain([PathBuf::from("/usr/sbin")]);
    let program =
        named.or_else(|| usual.find_map(|place| Some(place.join("pgbouncer")).filter(|path| path.is_file())))?;
    let version = Command::new(&program).arg("--version").output().await.ok()?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let mut numbers = version.split_whitespace().nth(1)?.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    ((numbers.next()?, numbers.next()?) >= (1, 21)).then_some(program)
}

impl Pooler {
    async fn start(program: &Path, database: &PgConnectOptions) -> Self {
        let socket = database.get_socket().expect("the server of the tests listens on a socket").clone();
        let url = database.to_url_lossy();
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        let folder = folder();
        let port =
            std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let place = folder.path().display();
        let users = format!("\"{user}\" \"{password}\"\n");
        let settings = format!(
            "[databases]\n* = host={} port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             pool_mode = transaction\ndefault_pool_size = {SESSIONS}\nmax_client_conn = 200\nmax_prepared_statements = 200\n\
             ignore_startup_parameters = extra_float_digits\nauth_type = scram-sha-256\nauth_file = {place}/users\n\
             auth_user = {user}\nauth_query = SELECT usename, passwd FROM pg_shadow WHERE usename = $1\nadmin_users = {user}\n",
            socket.display(),
            database.get_port(),
        );
        for (name, text) in [("users", users), ("pgbouncer.ini", settings)] {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("rights");
        }
        let mut starting = Command::new(program);
        starting
            .arg(folder.path().join("pgbouncer.ini"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // It refuses to be root, and needs to reach the socket of the server.
        if nix::unistd::geteuid().is_root() {
            let owner = fs::metadata(&socket).expect("the folder of the socket");
            starting.uid(owner.uid()).gid(owner.gid());
        }
        let child = starting.kill_on_drop(true).spawn().expect("the pooler starts");
        let options = PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(port)
            .username(user)
            .password(password)
            .database(database.get_database().expect("a name"))
            .ssl_mode(PgSslMode::Disable);
        wait::until_ok("the pooler lets somebody in", async || options.connect().await?.close().await).await;
        Self { url: options.to_url_lossy().to_string(), _folder: folder, _child: child }
    }
}

/// A service with three documents of its own, each asked for while the others are stored, and one deleted.
async fn use_it(app: &TestApp, name: &str) {
    let one = async |number: usize| {
        let (source, collection) = (format!("{name}-{number}"), format!("c{}", number % 2));
        let text = format!("The {name} boat number {number} lands at noon.");
        let body = json!({"collection": collection, "documents": [{"source": source, "text": text}]});
        let job = app.post("/v1/documents?wait=true", body).await;
        assert_eq!((job.status, &job.body["counts"]["failed"]), (200, &json!(0)), "{job:?}");
        let question = format!("When does the {name} boat number {number} land?");
        let ask = json!({"question": question, "collections": [collection], "cache": {"ttl_s": 60}});
        let answer = app.ask(ask).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body["sources"].to_string().contains("noon"), "{answer:?}");
        let id = job.body["items"][0]["document_id"].as_str().expect("an id");
        if number.is_multiple_of(3) {
            assert_eq!(app.delete(&format!("/v1/documents/{id}")).await.status, 200);
            assert_eq!(app.get(&format!("/v1/documents/{id}")).await.status, 404);
        }
    };
    futures::future::join_all((0..AT_ONCE).map(one)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_services_and_a_worker_share_few_sessions_of_a_pooler() {
    let Some(program) = program().await else {
        assert!(
            std::env::var_os("CITED_TEST_REQUIRE_PGBOUNCER").is_none(),
            "no PgBouncer of 1.21 or newer is installed"
        );
        eprintln!("skipped: no PgBouncer of 1.21 or newer is installed");
        return;
    };
    let models = ModelServer::start().await;
    let database = database::create().await;
    let pooler = Pooler::start(&program, &database).await;
    let (direct, embedding) = (database::url(&database), models.base_url());
    let settings = [
        ("DATABASE_URL", pooler.url.as_str()),
        ("DATABASE_DIRECT_URL", direct.as_str()),
        ("CITED_EMBEDDING_BASE_URL", embedding.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
    ];
    let here = TestApp::start(database.clone(), &settings).await;
    let there = TestApp::start(database.clone(), &settings).await;
    let mut worker =
        command(&["worker"], &settings).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a worker");
    tokio::join!(use_it(&here, "red"), use_it(&there, "blue"));

    // Many documents, which all three work off.
    let lines: String = (0..600)
        .map(|number| format!("{{\"source\": \"m{number}\", \"text\": \"Boat {number} is moored.\"}}\n"))
        .collect();
    let bulk = here.request(Method::POST, "/v1/documents/bulk?collection=many&wait=true");
    let bulk = send(bulk.header("content-type", "application/x-ndjson").body(lines)).await;
    assert_eq!((bulk.status, &bulk.body["counts"]["documents"]), (200, &json!(600)), "{:?}", bulk.body);
    assert_eq!(bulk.body["counts"]["failed"], 0);
    // A document that one has stored is found by the other; tenants of transactions do not mix.
    let found =
        there.post("/v1/search", json!({"query": "boat 417 moored", "collections": ["many"], "mode": "lexical"})).await;
    assert_eq!(found.body["results"][0]["source"], "m417", "{found:?}");
    for mode in ["dense", "hybrid"] {
        let found =
            there.post("/v1/search", json!({"query": "boat moored", "collections": ["many"], "mode": mode})).await;
        assert!(found.body["results"].as_array().is_some_and(|results| !results.is_empty()), "{found:?}");
    }
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename IN ('cited_app', 'cited_worker')";
    let sessions = database::number(&database, sessions).await;
    assert!((1..=2 * i64::try_from(SESSIONS).expect("few")).contains(&sessions), "{sessions} sessions");
    // No setting of a transaction stays in a session that the next client gets.
    let mut client = pooled(&pooler.url).connect().await.expect("a session");
    let left: Option<String> = sqlx::query_scalar("SELECT NULLIF(current_setting('cited.tenant', true), '')")
        .fetch_one(&mut client)
        .await
        .expect("a setting");
    assert_eq!(left, None);
    client.close().await.expect("close");

    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(i32::try_from(worker.id().expect("it runs")).expect("a process")),
        nix::sys::signal::Signal::SIGTERM,
    )
    .expect("a signal");
    assert!(worker.wait().await.expect("it ends").success());
    let ended: Value = here.get("/v1/jobs?limit=5").await.body;
    assert!(ended["jobs"].as_array().is_some_and(|jobs| !jobs.is_empty()), "{ended}");
    here.stop().await;
    there.stop().await;
}

fn pooled(url: &str) -> PgConnectOptions {
    url.parse().expect("a URL")
}
