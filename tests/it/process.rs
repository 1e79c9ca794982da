//! The service as a process of its own, to be killed.

use std::{
    path::Path,
    process::{Output, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::Client;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::{canaries, harness::client};

/// Longest wait for a process to be ready, also on a busy machine.
const READY: Duration = Duration::from_mins(2);

/// The lines that a process has logged since it was ready.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

/// A running `cited`.
pub(crate) struct Process {
    child: Child,
    pub base: String,
    /// The operator's key, if there is one.
    operator: Option<String>,
    log: tokio::task::JoinHandle<()>,
    lines: Log,
}

/// A `cited` with nothing of the tests' own environment but what is needed.
pub(crate) fn command(arguments: &[&str], settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cited"));
    command.args(arguments).env_clear().kill_on_drop(true).stdin(Stdio::null());
    for name in ["PATH", "HOME", "XDG_CACHE_HOME", "CITED_POSTGRES_BIN"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs([
        ("CITED_LOG_FORMAT", "json"),
        ("CITED_LISTEN", "127.0.0.1:0"),
        ("CITED_EMBEDDING_THREADS", "1"),
        ("CITED_LEASE_S", "2"),
    ]);
    command.envs(settings.iter().copied());
    command
}

/// Runs a command to its end. Neither what it printed nor what it logged holds a word of a canary.
pub(crate) async fn output_of(command: &mut Command) -> Output {
    let output = command.output().await.expect("it runs");
    for printed in [&output.stdout, &output.stderr] {
        canaries::assert_absent("the output of a command", &String::from_utf8_lossy(printed));
    }
    output
}

/// Settings of a service with a private database in a folder.
pub(crate) fn embedded(folder: &Path) -> Vec<(String, String)> {
    vec![("CITED_DATA_DIR".to_owned(), folder.join("data").display().to_string())]
}

impl Process {
    /// Starts `cited serve` and waits until it listens.
    pub(crate) async fn serve(settings: &[(&str, &str)]) -> Self {
        Self::start("serve", settings, |line| Some(format!("http://{}", line["address"].as_str()?))).await
    }

    /// Starts `cited worker` and waits until it works: a start that loses its database fails.
    pub(crate) async fn worker(settings: &[(&str, &str)]) -> Self {
        let works = |line: &Value| line["message"].as_str().is_some_and(|text| text.contains("works on the queue"));
        Self::start("worker", settings, |line| works(line).then(String::new)).await
    }

    /// Starts a command and waits for the line of its log in which `ready` finds its base URL.
    async fn start(command: &str, settings: &[(&str, &str)], ready: impl Fn(&Value) -> Option<String>) -> Self {
        let mut child =
            self::command(&[command], settings).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let (base, seen) = tokio::time::timeout(READY, async {
            let mut seen = Vec::new();
            while let Some(line) = lines.next_line().await.expect("readable") {
                let parsed: Value = serde_json::from_str(&line).unwrap_or_default();
                seen.push(line);
                if let Some(base) = ready(&parsed) {
                    return (base, seen);
                }
            }
            panic!("the {command} ended: {seen:#?}");
        })
        .await
        .expect("it is ready in time");
        let kept = Log::new(Mutex::new(seen));
        let written = Arc::clone(&kept);
        // A full pipe would stop the process.
        let log = tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                written.lock().expect("lock").push(line);
            }
        });
        let keys = settings.iter().find(|(name, _)| *name == "CITED_API_KEYS");
        let operator = keys.and_then(|(_, keys)| keys.split(',').next()).map(str::to_owned);
        Self { child, base, operator, log, lines: kept }
    }

    /// Checks what it and its database have logged.
    async fn assert_nothing_hidden_is_logged(&self) {
        canaries::assert_absent("a log", &self.logged().join("\n"));
        canaries::assert_absent_from_the_log_of_postgres().await;
    }

    /// Its log, as it grows.
    pub(crate) fn log(&self) -> Log {
        Arc::clone(&self.lines)
    }

    /// The lines of its log.
    pub(crate) fn logged(&self) -> Vec<String> {
        self.lines.lock().expect("lock").clone()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(id) = self.child.id() {
            let pid = Pid::from_raw(i32::try_from(id).expect("a pid"));
            kill(pid, signal).expect("a signal to our own child");
        }
    }

    /// The most memory that it has held so far, where the system tells (Linux).
    pub(crate) fn peak_memory_bytes(&self) -> u64 {
        let status = self.child.id().and_then(|id| std::fs::read_to_string(format!("/proc/{id}/status")).ok());
        let status = status.unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak.map_or(0, |kilobytes| kilobytes.parse::<u64>().expect("a number") * 1024)
    }

    /// Waits until it ends by itself; its exit code, and all that it wrote to standard error since it listens.
    pub(crate) async fn ended(mut self) -> (Option<i32>, Vec<String>) {
        let status = tokio::time::timeout(READY, self.child.wait()).await.expect("ends in time").expect("status");
        (&mut self.log).await.expect("standard error is read to its end");
        self.assert_nothing_hidden_is_logged().await;
        (status.code(), self.lines.lock().expect("lock").clone())
    }

    /// Sends SIGKILL and waits for the end.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.expect("killed");
        self.assert_nothing_hidden_is_logged().await;
        self.log.abort();
    }

    /// Asks it to stop and waits; how long that took and whether it ended well.
    pub(crate) async fn stop(mut self) -> (Duration, bool) {
        canaries::assert_absent_from_metrics(&self.base, self.operator.as_deref()).await;
        let started = Instant::now();
        self.signal(Signal::SIGINT);
        let status = tokio::time::timeout(Duration::from_mins(1), self.child.wait())
            .await
            .expect("stops in time")
            .expect("status");
        self.assert_nothing_hidden_is_logged().await;
        self.log.abort();
        (started.elapsed(), status.success())
    }
}

/// A job as it ended, within a limit; the service at `base` may be away meanwhile.
pub(crate) async fn ended_job(base: &str, id: &str, limit: Duration) -> Value {
    ended_job_of(&client(), base, id, limit).await
}

/// The same for a client that presents a key.
pub(crate) async fn ended_job_of(client: &Client, base: &str, id: &str, limit: Duration) -> Value {
    let deadline = Instant::now() + limit;
    let mut job = None;
    loop {
        if let Ok(response) = client.get(format!("{base}/v1/jobs/{id}")).send().await {
            job = response.text().await.ok().and_then(|text| {
                canaries::assert_absent("a job", &text);
                serde_json::from_str::<Value>(&text).ok()
            });
        }
        match job {
            Some(job) if job["finished_at"].is_string() => return job,
            _ => assert!(Instant::now() < deadline, "the job does not end: {job:?}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
