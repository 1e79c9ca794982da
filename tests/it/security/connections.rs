//! Connections that do nothing: of clients to the service, and of the service to the database.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use sqlx::{ConnectOptions, Connection, Executor};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
};

use crate::{
    database,
    harness::{TestApp, client, send},
    scripted::ModelServer,
};

/// Connections that are sent nothing, or the beginning of something, and are kept open.
async fn hold(app: &TestApp, count: usize) -> Vec<TcpStream> {
    let address = app.base.trim_start_matches("http://");
    let mut held = Vec::new();
    for number in 0..count {
        let mut stream = TcpStream::connect(address).await.expect("the service accepts");
        let beginnings: [&[u8]; 4] = [b"", b"P", b"PRI * HTTP/2.0\r\n", b"GET / HTTP/1.1\r\nHost: "];
        // The service may have closed it already.
        let _ = stream.write_all(beginnings[number % 4]).await;
        held.push(stream);
    }
    held
}

async fn assert_alive(app: &TestApp) {
    for _ in 0..20 {
        let started = Instant::now();
        // Each over a connection of its own.
        let answer = send(client().request(Method::GET, format!("{}/livez", app.base))).await;
        assert_eq!(answer.status, 200);
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_keep_nobody_out() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let held = hold(&app, 2_000).await;
    assert_alive(&app).await;
    drop(held);
    app.stop().await;
    // Also when there is no place for all of them.
    let app = TestApp::start_with_embeddings(&server, &[("CITED_MAX_CONNECTIONS", "100")]).await;
    let held = hold(&app, 2_000).await;
    assert_alive(&app).await;
    drop(held);
    app.stop().await;
}

/// Passes bytes on, each part after a delay.
async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, delay: Duration) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        tokio::time::sleep(delay).await;
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

/// The port of a way to a database on which every reply takes a while.
async fn slow_way(socket: std::path::PathBuf, delay: Duration) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("bound").port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = UnixStream::connect(&socket).await.expect("the database");
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            tokio::spawn(pass(from_client, to_server, Duration::ZERO));
            tokio::spawn(pass(from_server, to_client, delay));
        }
    });
    port
}

/// Sessions of the service that have had an open transaction for a while without a statement.
const LEFT_OPEN: &str = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cited' \
     AND datname = current_database() AND state LIKE 'idle in transaction%' AND state_change < now() - interval '1 second'";

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_during_begin_leaves_no_transaction_open() {
    let delay = Duration::from_millis(20);
    let database = database::create().await;
    let socket = database.get_socket().expect("a socket").join(format!(".s.PGSQL.{}", database.get_port()));
    let mut slow = database.to_url_lossy();
    slow.set_host(Some("127.0.0.1")).expect("a host");
    slow.set_port(Some(slow_way(socket, delay).await)).expect("a port");
    slow.set_query(Some("sslmode=disable"));
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("DATABASE_URL", slow.as_str())]).await;
    let address = app.base.trim_start_matches("http://");
    for round in 0..40 {
        // Keeps connections in use, so that a request begins with BEGIN and not with a question whether they live.
        let (first, second) = tokio::join!(app.get("/v1/jobs"), app.get("/v1/jobs"));
        assert_eq!((first.status, second.status), (200, 200), "{first:?}");
        let mut client = TcpStream::connect(address).await.expect("the service accepts");
        client.write_all(b"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("sent");
        tokio::time::sleep(Duration::from_millis(2 + round % 16)).await;
        drop(client);
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(database::number(&database, LEFT_OPEN).await, 0);
    app.stop().await;
}

#[tokio::test]
async fn a_lock_is_not_waited_for_without_end() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_DATABASE_LOCK_TIMEOUT_S", "1")]).await;
    let mut other = app.database.connect().await.expect("the database answers");
    other.execute("BEGIN; LOCK TABLE collection IN ACCESS EXCLUSIVE MODE").await.expect("locked");
    let started = Instant::now();
    let answer = app.post("/v1/collections", json!({"name": "c"})).await;
    answer.assert_problem(503, "database_unavailable");
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    other.execute("ROLLBACK").await.expect("unlocked");
    other.close().await.expect("close");
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    app.stop().await;
}

/// Records the time limits of the session that creates a collection.
const RECORD: &str = "CREATE TABLE seen_limit (name text, value text); GRANT INSERT ON seen_limit TO PUBLIC;
    CREATE FUNCTION record_limits() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
        INSERT INTO seen_limit SELECT name, setting FROM pg_settings WHERE name LIKE ''%timeout''; RETURN NULL; END';
    CREATE TRIGGER record_limits AFTER INSERT ON collection FOR EACH STATEMENT EXECUTE FUNCTION record_limits()";

#[tokio::test]
async fn the_server_ends_statements_locks_and_transactions_that_take_too_long() {
    let server = ModelServer::start().await;
    let settings = [("CITED_DATABASE_LOCK_TIMEOUT_S", "7"), ("CITED_DATABASE_STATEMENT_TIMEOUT_S", "8")];
    let app = TestApp::start_with_embeddings(&server, &settings).await;
    database::execute(&app.database, RECORD).await;
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    for (name, limit) in
        [("lock_timeout", 7_000), ("statement_timeout", 8_000), ("idle_in_transaction_session_timeout", 60_000)]
    {
        let seen = format!("SELECT value::bigint FROM seen_limit WHERE name = '{name}'");
        assert_eq!(database::number(&app.database, &seen).await, limit, "{name}");
    }
    app.stop().await;
}
