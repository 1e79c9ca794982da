//! The connection to the database is lost after an upload was committed, and before the service learns of it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use reqwest::Method;
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

/// The statement that writes the job of an upload.
const JOB: &[u8] = b"INSERT INTO job (tenant_id";

/// A way to a database that is cut once: when a transaction has written a job and its COMMIT was carried out, before the reply
/// to that is passed on.
struct Way {
    port: u16,
    is_armed: Arc<AtomicBool>,
}

impl Way {
    async fn to(database: &PgConnectOptions) -> Self {
        let socket = database.get_socket().expect("a socket").join(format!(".s.PGSQL.{}", database.get_port()));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let (port, is_armed) = (listener.local_addr().expect("bound").port(), Arc::new(AtomicBool::new(false)));
        let armed = Arc::clone(&is_armed);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await.expect("the database");
                tokio::spawn(pass(client, server, Arc::clone(&armed)));
            }
        });
        Self { port, is_armed }
    }

    fn cut_next(&self) {
        self.is_armed.store(true, Ordering::SeqCst);
    }

    fn was_cut(&self) -> bool {
        !self.is_armed.load(Ordering::SeqCst)
    }
}

/// Passes on what both sides say, until one of them ends or the connection is cut.
async fn pass(mut client: TcpStream, mut server: UnixStream, is_armed: Arc<AtomicBool>) {
    let (mut asked, mut replied) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let mut has_written = false;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(count @ 1..) = read else { return };
                let said = &asked[..count];
                let holds = |what: &[u8]| said.windows(what.len()).any(|window| window == what);
                has_written |= is_armed.load(Ordering::SeqCst) && holds(JOB);
                let _ = server.write_all(said).await;
                if has_written && holds(b"COMMIT") && is_armed.swap(false, Ordering::SeqCst) {
                    let _ = server.read(&mut replied).await;
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

async fn upload(app: &TestApp, key: &str, (path, name): (&str, Option<&str>), body: &Value) -> Answer {
    let mut request = app.request(Method::POST, path).bearer_auth(key).json(body);
    if let Some(name) = name {
        request = request.header("Idempotency-Key", name);
    }
    send(request).await
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

async fn in_doubt(path: &str, text: &str, name: Option<&str>) {
    let case = format!("{path}, {} bytes, {name:?}", text.len());
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
        ("CITED_KEY_DOCUMENTS_PER_DAY", "2"),
    ];
    let app = TestApp::start_with_embeddings(&models, &settings).await;
    let wanted = json!({"name": "one", "scopes": ["admin"]});
    let made = send(app.request(Method::POST, "/v1/keys").bearer_auth(OPERATOR).json(&wanted)).await;
    let key = made.body["secret"].as_str().expect("a secret");
    let collection = app.request(Method::POST, "/v1/collections").bearer_auth(key).json(&json!({"name": "c"}));
    assert_eq!(send(collection).await.status, 201);
    let body = json!({"collection": "c", "documents": [{"source": "a", "text": text}]});

    way.cut_next();
    let first = upload(&app, key, (path, name), &body).await;
    assert!(way.was_cut(), "{case}");
    assert!([200, 202].contains(&first.status), "{case}: {first:?}");
    assert!(!first.headers.contains_key("idempotency-replayed"), "{case}: {first:?}");
    let job = format!("/v1/jobs/{}", first.body["id"].as_str().expect("an id"));
    crate::wait::until("it is over", async || {
        send(app.request(Method::GET, &job).bearer_auth(key)).await.body["state"] == "succeeded"
    })
    .await;
    let number = async |sql: &str| database::number(&database, sql).await;
    let tenant = "tenant_id = '00000000-0000-7000-8000-000000000001'";
    let jobs = format!("SELECT count(*) FROM job WHERE {tenant}");
    let documents = format!("SELECT count(*) FROM document WHERE {tenant}");
    let events = format!("SELECT count(*) FROM security_event WHERE {tenant} AND action = 'create_documents'");
    let used = "SELECT sum(documents)::bigint FROM key_usage_daily";
    for (what, sql) in [("job", jobs.as_str()), ("document", &documents), ("event", &events), ("of the quota", used)] {
        assert_eq!(number(sql).await, 1, "{what}: {case}");
    }
    if name.is_some() {
        let again = upload(&app, key, (path, name), &body).await;
        assert_eq!(again.headers.get("idempotency-replayed").expect("a mark"), "true", "{case}: {again:?}");
        assert_eq!(again.body["id"], first.body["id"], "{case}");
        assert_eq!((number(&jobs).await, number(used).await), (1, 1), "{case}");
    }
    app.stop().await;
}
