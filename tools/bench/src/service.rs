//! The service under test: a process of the release binary with its embedded Postgres.

use std::{
    fs::{self, Permissions},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use hyper::Method;
use tokio::process::{Child, Command};

use crate::{client::Client, process, tls};

/// The first start makes a database and is the longest.
const START_TIMEOUT: Duration = Duration::from_mins(2);
const POLL: Duration = Duration::from_millis(5);

/// How to start it.
#[derive(Clone, Debug)]
pub struct Setup {
    pub binary: PathBuf,
    /// Kept between starts; holds the database.
    pub data_dir: PathBuf,
    /// Model server for everything; without one the built-in models do the work.
    pub models: Option<String>,
}

/// The key of the operator of a service with [`KEYS`].
pub const OPERATOR: &str = "a-key-of-the-operator-0123456789";

/// Settings of a service that demands keys.
pub const KEYS: [(&str, &str); 2] =
    [("CITED_API_KEYS", OPERATOR), ("CITED_KEY_PEPPER", "a-pepper-of-the-bench-0123456789-0123456789")];

/// Lets Postgres reach data directories in this folder: it runs as another user when this is root.
pub fn open_to_postgres(folder: &Path) -> anyhow::Result<()> {
    Ok(fs::set_permissions(folder, Permissions::from_mode(0o755))?)
}

/// A running service.
pub struct Service {
    child: Child,
    pub address: SocketAddr,
    pub pid: u32,
    setup: Setup,
    started: Instant,
}

impl Service {
    /// Starts it and waits until it is ready.
    pub async fn start(setup: &Setup) -> anyhow::Result<Self> {
        Self::start_with_settings(setup, &[]).await
    }

    /// The same with more settings.
    pub async fn start_with_settings(setup: &Setup, settings: &[(&str, &str)]) -> anyhow::Result<Self> {
        Self::start_with(setup, &["CITED_CHAT", "CITED_EMBEDDING"], settings).await
    }

    /// The same with the built-in embedder, whatever else comes from the model server.
    pub async fn start_with_chat(setup: &Setup) -> anyhow::Result<Self> {
        Self::start_with(setup, &["CITED_CHAT"], &[]).await
    }

    async fn start_with(setup: &Setup, roles: &[&str], settings: &[(&str, &str)]) -> anyhow::Result<Self> {
        let address = free_address()?;
        let started = Instant::now();
        #[expect(clippy::disallowed_methods, reason = "the benchmark has no configuration but this")]
        let log = std::env::var("CITED_LOG").unwrap_or_else(|_| "warn,cited::http=info".to_owned());
        let mut command = Command::new(&setup.binary);
        command
            .arg("serve")
            .env_remove("DATABASE_URL")
            .env_remove("DATABASE_READ_URL")
            .env("CITED_LISTEN", address.to_string())
            .env("CITED_DATA_DIR", &setup.data_dir)
            .env("CITED_LOG", log)
            .env("CITED_LOG_FORMAT", "json")
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log_file(&setup.data_dir)?);
        if let Some(models) = &setup.models {
            for name in roles {
                command.env(format!("{name}_BASE_URL"), models).env(format!("{name}_MODEL"), "bench");
            }
            command.env("CITED_EMBEDDING_DIMENSION", crate::vectors::DIMENSION.to_string());
        }
        let child = command.spawn().with_context(|| {
            format!("{} cannot be started; build it first: cargo build --release", setup.binary.display())
        })?;
        let pid = child.id().context("the service ended at once")?;
        let mut service = Self { child, address, pid, setup: setup.clone(), started };
        let has_tls = settings.iter().any(|setting| tls::SETTINGS.contains(setting));
        service.wait_until_ready(has_tls).await?;
        Ok(service)
    }

    async fn wait_until_ready(&mut self, has_tls: bool) -> anyhow::Result<()> {
        while self.started.elapsed() < START_TIMEOUT {
            if let Some(status) = self.child.try_wait()? {
                bail!("the service ended with {status}; its log is in {}", self.setup.data_dir.display());
            }
            let connected =
                if has_tls { Client::connect_by_tls(self.address).await } else { Client::connect(self.address).await };
            if let Ok(mut client) = connected
                && let Ok((status, _)) = client.send(Method::GET, "/readyz", None).await
                && status.is_success()
            {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
        bail!("the service was not ready within {} s", START_TIMEOUT.as_secs())
    }

    /// Time since the process was started.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// CPU seconds so far: of the service, and of its Postgres.
    pub fn cpu_seconds(&self) -> anyhow::Result<(f64, f64)> {
        let postmaster = process::postmaster(&self.setup.data_dir.join("cluster"))?;
        Ok((process::cpu_seconds(self.pid)?, process::tree_cpu_seconds(postmaster)?))
    }

    /// Resident memory of the service alone, in MB: now, and the most so far.
    pub fn memory_mb(&self) -> anyhow::Result<(f64, f64)> {
        process::memory_mb(self.pid)
    }

    /// Stops it as Ctrl-C does, and waits until it and its Postgres are gone.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        interrupt(self.pid).context("the service could not be told to stop")?;
        self.child.wait().await?;
        Ok(())
    }
}

impl Drop for Service {
    /// A run that failed still stops its service as Ctrl-C does: killed, it would leave Postgres behind.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = interrupt(self.pid);
        }
    }
}

fn interrupt(pid: u32) -> std::io::Result<()> {
    std::process::Command::new("kill").args(["-INT", &pid.to_string()]).status().map(|_| ())
}

/// Beside the data directory's contents, which are the service's own.
fn log_file(data_dir: &Path) -> anyhow::Result<Stdio> {
    let path = data_dir.with_extension("log");
    path.parent().map(std::fs::create_dir_all).transpose()?;
    let file = std::fs::File::options().create(true).append(true).open(&path);
    Ok(file.with_context(|| format!("{} cannot be written", path.display()))?.into())
}

/// A port that was free a moment ago.
fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
