//! A background task that dies ends the process; one that does not move makes the service not ready.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use cited::{App, Clock, Config, Context, Core, Shutdown, SystemClock};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor, postgres::PgConnectOptions};
use time::OffsetDateTime;

use crate::{
    database,
    harness::{Answer, client, send},
    operations::private_postgres::{folder, kill_now, postmaster},
    process::{Process, command, embedded, output_of},
    scripted::{ModelServer, Reply, Role},
    wait,
};

/// Longest wait for what must happen, also on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A clock that panics once, in the first task that reads it after it was broken.
struct FragileClock {
    breaks: AtomicBool,
}

impl Clock for FragileClock {
    fn now(&self) -> OffsetDateTime {
        assert!(!self.breaks.swap(false, Ordering::SeqCst), "the clock broke");
        SystemClock.now()
    }
}

fn fragile() -> (Arc<FragileClock>, Context) {
    let clock = Arc::new(FragileClock { breaks: AtomicBool::new(false) });
    let context = Context { clock: Arc::<FragileClock>::clone(&clock), ..Context::system() };
    (clock, context)
}

fn config(database: &PgConnectOptions) -> Config {
    let settings = [
        ("CITED_LISTEN", "127.0.0.1:0".to_owned()),
        ("CITED_EMBEDDING_THREADS", "1".to_owned()),
        ("DATABASE_URL", database::url(database)),
    ];
    let variables: BTreeMap<String, String> = settings.map(|(name, value)| (name.to_owned(), value)).into();
    Config::from_sources(variables, "").expect("a valid configuration")
}

fn assert_names_the_panic(ended: anyhow::Result<()>) {
    let error = format!("{:#}", ended.expect_err("a task died"));
    assert!(error.contains("the task \"") && error.contains("panicked: the clock broke"), "{error}");
}

#[tokio::test]
async fn a_background_task_that_panics_ends_the_service() {
    let database = database::create().await;
    let (clock, context) = fragile();
    let app = App::build(&config(&database), context).await.expect("the service starts");
    let base = format!("http://127.0.0.1:{}", app.port());
    let shutdown = Shutdown::default();
    let running = tokio::spawn(app.run_until_stopped(shutdown.clone()));
    let client = client();
    assert_eq!(send(client.get(format!("{base}/readyz"))).await.status, 200);

    clock.breaks.store(true, Ordering::SeqCst);
    let ended = tokio::time::timeout(PATIENCE, running).await.expect("the service ends").expect("no panic");
    assert_names_the_panic(ended);
    assert!(shutdown.soft.is_cancelled(), "the others were told to stop");
    client.get(format!("{base}/livez")).send().await.expect_err("nothing listens any more");
}

#[tokio::test]
async fn a_background_task_that_panics_ends_a_worker_without_http() {
    let database = database::create().await;
    let (clock, context) = fragile();
    let core = Core::build(&config(&database), context).await.expect("the worker starts");
    let running = tokio::spawn(core.work_until_stopped(Shutdown::default()));

    clock.breaks.store(true, Ordering::SeqCst);
    let ended = tokio::time::timeout(PATIENCE, running).await.expect("the worker ends").expect("no panic");
    assert_names_the_panic(ended);
}

/// The private Postgres cannot be started again, so the part that watches it fails.
#[tokio::test]
async fn a_service_that_loses_its_database_for_good_ends_with_a_failing_exit_code() {
    let folder = folder();
    let settings = embedded(folder.path());
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let service = Process::serve(&settings).await;
    assert_eq!(readiness(&service).await.status, 200);

    let second = output_of(&mut command(&["eval", "--attack"], &settings)).await;
    let told = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(told.contains("or measure the service that uses it, with --server http://127.0.0.1:"), "{told}");

    std::fs::remove_file(folder.path().join("data/cluster/global/pg_control")).expect("removed");
    kill_now(postmaster(folder.path()).expect("the postmaster"));
    let (code, lines) = service.ended().await;
    assert_eq!(code, Some(1), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("a background task failed; the service stops")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("cited: ") && line.contains("5 times in a row")), "{lines:#?}");
}

/// Claims wait for a lock that the test holds, so the workers hang; the database answers all the while.
#[tokio::test]
async fn workers_that_do_not_move_make_the_service_not_ready() {
    let database = database::create().await;
    let url = database::url(&database);
    let service = Process::serve(&[("DATABASE_URL", &url)]).await;
    let mut blocker = database.connect().await.expect("a connection");
    assert_eq!(readiness(&service).await.status, 200);

    let mut lock = blocker.begin().await.expect("a transaction");
    lock.execute("LOCK TABLE job_item IN ACCESS EXCLUSIVE MODE").await.expect("locked");
    let stalled = eventually(&service, 503).await;
    stalled.assert_problem(503, "tasks_stalled");
    let tasks: Vec<&Value> = stalled.body["stalled"].as_array().expect("a list").iter().collect();
    let name = |task: &Value| task["task"].as_str().expect("a name").to_owned();
    // The workers fall silent at different times, so any of them may be the first that is overdue.
    let worker = tasks.into_iter().find(|task| name(task).starts_with("worker ")).expect("a worker is named");
    let named = format!("{} has not moved since {}", name(worker), worker["since"].as_str().expect("a time"));
    assert!(stalled.body["detail"].as_str().expect("a text").contains(&named), "{named}: {stalled:?}");

    lock.rollback().await.expect("unlocked");
    eventually(&service, 200).await;
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
}

/// An ask whose model is slow is answered after the first signal, and the log tells what the service waits for.
#[tokio::test]
async fn a_stop_says_what_it_waits_for() {
    const DOCUMENT: &str = "Everyone has 28 days of paid annual leave a year.";
    let model = ModelServer::start().await;
    model.say(Role::Grade, "1: correct");
    model.reply(Role::Answer, Reply::Slow(Duration::from_secs(4), format!("{DOCUMENT} [^1]")));
    let (url, base) = (database::url(&database::create().await), model.base_url());
    let chat = [("CITED_CHAT_BASE_URL", base.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let service = Process::serve(&[&chat[..], &[("DATABASE_URL", &url), ("CITED_LISTN", "x")]].concat()).await;
    let document = json!({"documents": [{"source": "leave.md", "text": DOCUMENT}]});
    let stored = send(client().post(format!("{}/v1/documents?wait=true", service.base)).json(&document)).await;
    assert_eq!(stored.status, 200, "{stored:?}");
    let ask = json!({"question": "How many days of paid annual leave does everyone have?", "speculative": "off"});
    let asked = tokio::spawn(send(client().post(format!("{}/v1/ask", service.base)).json(&ask)));
    wait::until("the model is asked", async || !model.calls(Role::Answer).is_empty()).await;

    service.signal(Signal::SIGTERM);
    let (code, lines) = service.ended().await;
    assert_eq!(code, Some(0), "{lines:#?}");
    assert_eq!(asked.await.expect("no panic").status, 200);
    let told = |text: &str| {
        lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find(|line| line["message"] == text)
    };
    let first = told("stopping: work under way is being finished; a second signal drops it").expect("it is told");
    assert_eq!(first["gives_up_in_s"], 25, "{first}");
    let requests = told("stopping: requests are being answered").unwrap_or_else(|| panic!("{lines:#?}"));
    assert_eq!(requests["requests"], 1, "{requests}");
    let tasks = told("stopping: work under way is being finished").unwrap_or_else(|| panic!("{lines:#?}"));
    assert!(tasks["waiting_for"].as_str().is_some_and(|names| names.contains("HTTP server")), "{tasks}");
}

async fn readiness(service: &Process) -> Answer {
    send(client().get(format!("{}/readyz", service.base))).await
}

/// The answer of `/readyz` once it has this status.
async fn eventually(service: &Process, status: u16) -> Answer {
    wait::until_ok(&format!("/readyz answers {status}"), async || {
        let answer = readiness(service).await;
        if answer.status == status { Ok(answer) } else { Err(answer) }
    })
    .await
}
