//! The connection to the database is lost when an upload, or a part of a stream, is committed, and before the service learns of
//! it.

use std::sync::{Arc, Mutex};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, postgres::PgConnectOptions};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
};

use crate::{
    database,
    harness::{Answer, TestApp, send},
    scripted::ModelServer,
};

const OPERATOR: &str = "a-key-of-the-operator-0123456789";

/// The statement that writes the job of an upload, and those that add a part of a stream to it and that close it.
const JOB: &str = "INSERT INTO job (tenant_id";
const PART: &str = "UPDATE job SET items = items";
const END: &str = "UPDATE job SET receiving_until = NULL";
/// Documents of a stream that come in two parts.
const TWO_PARTS: usize = 501;

/// When a way to a database is cut: at the COMMIT of a transaction that has made this statement.
#[derive(Clone, Copy, Debug)]
struct Cut {
    after: &'static str,
    /// Whether the COMMIT is carried out, and its reply lost; else it does not arrive.
    is_committed: bool,
}

/// A way to a database that can be cut once.
struct Way {
    port: u16,
    next: Arc<Mutex<Option<Cut>>>,
}

impl Way {
    async fn to(database: &PgConnectOptions) -> Self {
        let socket = database.get_socket().expect("a socket").join(format!(".s.PGSQL.{}", database.get_port()));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let (port, next) = (listener.local_addr().expect("bound").port(), Arc::new(Mutex::new(None)));
        let cut = Arc::clone(&next);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await.expect("the database");
                tokio::spawn(pass(client, server, Arc::clone(&cut)));
            }
        });
        Self { port, next }
    }

    fn cut(&self, cut: Cut) {
        *self.next.lock().expect("no panic") = Some(cut);
    }

    fn was_cut(&self) -> bool {
        self.next.lock().expect("no panic").is_none()
    }
}

/// Passes on what both sides say, until one of them ends or the connection is cut.
async fn pass(mut client: TcpStream, mut server: UnixStream, next: Arc<Mutex<Option<Cut>>>) {
    let (mut asked, mut replied) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let mut has_written = false;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(count @ 1..) = read else { return };
                let said = &asked[..count];
                let holds = |what: &str| said.windows(what.len()).any(|window| window == what.as_bytes());
                let cut = *next.lock().expect("no panic");
                has_written |= cut.is_some_and(|cut| holds(cut.after));
                let cut = cut.filter(|_| has_written && holds("COMMIT") && next.lock().expect("no panic").take().is_some());
                if cut.is_none_or(|cut| cut.is_committed) {
                    let _ = server.write_all(said).await;
                }
                if cut.is_some() {
                    if cut.is_some_and(|cut| cut.is_committed) {
                        let _ = server.read(&mut replied).await;
                    }
                    return;
                }
            }
            read = server.read(&mut replied) => {
                let Ok(count @ 1..) = read else { return };
                if client.write_all(&replied[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_whose_commit_was_not_learned_of_is_accepted_once() {
    let small = "Boats land here. ".to_owned();
    for (path, text) in [
        // Stored before it is accepted.
        ("/v1/documents?wait=true", small.clone()),
        // Through the queue: not waited for, or too large.
        ("/v1/documents", small.clone()),
        ("/v1/documents?wait=true", small.repeat(2_000)),
        // Written by itself.
        ("/v1/documents", small.repeat(8_000)),
    ] {
        for name in [None, Some("a-name")] {
            in_doubt(path, &text, name).await;
        }
    }
}

/// A service that reaches its database by a way that can be cut.
struct Reached {
    /// Served as long as this is there.
    _models: ModelServer,
    app: TestApp,
    way: Way,
    database: PgConnectOptions,
    key: String,
}

impl Reached {
    async fn start(documents_per_day: &str) -> Self {
        let models = ModelServer::start().await;
        let database = database::create().await;
        let way = Way::to(&database).await;
        let mut url = database.to_url_lossy();
        url.set_host(Some("127.0.0.1")).expect("a host");
        url.set_port(Some(way.port)).expect("a port");
        url.set_query(Some("sslmode=disable"));
        let settings = [
            ("DATABASE_URL", url.as_str()),
            ("CITED_API_KEYS", OPERATOR),
            ("CITED_KEY_PEPPER", "a-pepper-of-the-tests-0123456789-0123456789"),
            ("CITED_KEY_DOCUMENTS_PER_DAY", documents_per_day),
        ];
        let app = TestApp::start_with_embeddings(&models, &settings).await;
        let wanted = json!({"name": "one", "scopes": ["admin"]});
        let made = send(app.request(Method::POST, "/v1/keys").bearer_auth(OPERATOR).json(&wanted)).await;
        let key = made.body["secret"].as_str().expect("a secret").to_owned();
        let collection = app.request(Method::POST, "/v1/collections").bearer_auth(&key).json(&json!({"name": "c"}));
        assert_eq!(send(collection).await.status, 201);
        Self { _models: models, app, way, database, key }
    }

    async fn send(&self, request: RequestBuilder, name: Option<&str>) -> Answer {
        let request = request.bearer_auth(&self.key);
        send(name.into_iter().fold(request, |request, name| request.header("Idempotency-Key", name))).await
    }

    async fn upload(&self, (path, name): (&str, Option<&str>), body: &Value) -> Answer {
        self.send(self.app.request(Method::POST, path).json(body), name).await
    }

    /// A stream of documents.
    async fn stream(&self, name: Option<&str>, documents: usize) -> Answer {
        let line = |number| format!("{}\n", json!({"source": format!("d{number}"), "text": format!("Boat {number}.")}));
        let request = self.app.request(Method::POST, "/v1/documents/bulk?collection=c&wait=true");
        let body: String = (0..documents).map(line).collect();
        self.send(request.header("content-type", "application/x-ndjson").body(body), name).await
    }

    /// Jobs, their items, documents, events of this kind, and what is counted against the quota.
    async fn kept(&self, event: &str) -> [i64; 5] {
        let tenant = "tenant_id = '00000000-0000-7000-8000-000000000001'";
        let number = async |sql: &str| database::number(&self.database, sql).await;
        [
            number(&format!("SELECT count(*) FROM job WHERE {tenant}")).await,
            number(&format!("SELECT COALESCE(sum(items), 0)::bigint FROM job WHERE {tenant}")).await,
            number(&format!("SELECT count(*) FROM document WHERE {tenant}")).await,
            number(&format!("SELECT count(*) FROM security_event WHERE {tenant} AND action = '{event}'")).await,
            number("SELECT COALESCE(sum(documents), 0)::bigint FROM key_usage_daily").await,
        ]
    }
}

async fn in_doubt(path: &str, text: &str, name: Option<&str>) {
    let case = format!("{path}, {} bytes, {name:?}", text.len());
    let reached = Reached::start("2").await;
    let body = json!({"collection": "c", "documents": [{"source": "a", "text": text}]});

    reached.way.cut(Cut { after: JOB, is_committed: true });
    let first = reached.upload((path, name), &body).await;
    assert!(reached.way.was_cut(), "{case}");
    assert!([200, 202].contains(&first.status), "{case}: {first:?}");
    assert!(!first.headers.contains_key("idempotency-replayed"), "{case}: {first:?}");
    let job = format!("/v1/jobs/{}", first.body["id"].as_str().expect("an id"));
    crate::wait::until("it is over", async || {
        reached.send(reached.app.request(Method::GET, &job), None).await.body["state"] == "succeeded"
    })
    .await;
    assert_eq!(reached.kept("create_documents").await, [1; 5], "{case}");
    if name.is_some() {
        let again = reached.upload((path, name), &body).await;
        assert_eq!(again.headers.get("idempotency-replayed").expect("a mark"), "true", "{case}: {again:?}");
        assert_eq!(again.body["id"], first.body["id"], "{case}");
        assert_eq!(reached.kept("create_documents").await, [1; 5], "{case}");
    }
    reached.app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_a_stream_whose_commit_was_not_learned_of_is_accepted_once() {
    for (after, documents) in [(JOB, 1), (PART, TWO_PARTS), (END, 1)] {
        for name in [None, Some("a-name")] {
            let case = format!("{after}, {name:?}");
            let reached = Reached::start("600").await;
            reached.way.cut(Cut { after, is_committed: true });
            let first = reached.stream(name, documents).await;
            assert!(reached.way.was_cut(), "{case}");
            assert_eq!((first.status, &first.body["state"]), (200, &json!("succeeded")), "{case}: {first:?}");
            assert_eq!(first.body["is_incomplete"], false, "{case}");
            let all = i64::try_from(documents).expect("few");
            assert_eq!(reached.kept("stream_documents").await, [1, all, all, 1, all], "{case}");
            if name.is_some() {
                let again = reached.stream(name, documents).await;
                assert_eq!(again.headers.get("idempotency-replayed").expect("a mark"), "true", "{case}: {again:?}");
                assert_eq!(again.body["id"], first.body["id"], "{case}");
                assert_eq!(reached.kept("stream_documents").await, [1, all, all, 1, all], "{case}");
            }
            reached.app.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_a_stream_that_was_not_committed_is_told_as_refused_and_counted_nowhere() {
    for (after, documents, [jobs, accepted]) in [(JOB, 1, [0, 0]), (PART, TWO_PARTS, [1, 500])] {
        let reached = Reached::start("600").await;
        reached.way.cut(Cut { after, is_committed: false });
        let first = reached.stream(Some("a-name"), documents).await;
        assert!(reached.way.was_cut(), "{after}");
        first.assert_problem(503, "database_unavailable");
        assert_eq!(first.body["job"].is_string(), jobs == 1, "{after}: {first:?}");
        crate::wait::until("what was accepted is stored", async || {
            reached.kept("stream_documents").await == [jobs, accepted, accepted, jobs, accepted]
        })
        .await;
        // The name is free again.
        let again = reached.stream(Some("a-name"), 1).await;
        assert_eq!((again.status, &again.body["state"]), (200, &json!("succeeded")), "{after}: {again:?}");
        assert!(!again.headers.contains_key("idempotency-replayed"), "{after}: {again:?}");
        reached.app.stop().await;
    }
    // A job is closed again where that was lost.
    let reached = Reached::start("600").await;
    reached.way.cut(Cut { after: END, is_committed: false });
    let closed = reached.stream(None, 1).await;
    assert!(reached.way.was_cut());
    assert_eq!((closed.status, &closed.body["is_incomplete"]), (200, &json!(false)), "{closed:?}");
    reached.app.stop().await;
}
