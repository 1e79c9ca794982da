//! Postgres servers of one database: a plain one, or a coordinator and servers with the rows of tenants.

use std::{
    fs::{self, Permissions},
    net::TcpListener,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use nix::unistd::{User, geteuid};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Executor,
    postgres::{PgConnectOptions, PgSslMode},
};

use crate::process;

const START_TIMEOUT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

/// Servers of one database. They end with the value.
pub struct Servers {
    /// The coordinator, or the plain server, first.
    all: Vec<Server>,
}

struct Server {
    child: Child,
    port: u16,
}

impl Servers {
    /// Starts servers below a folder: a plain one, or a coordinator and as many nodes.
    pub async fn start(citus: &Path, folder: &Path, nodes: usize) -> anyhow::Result<Self> {
        let mut all = Vec::with_capacity(nodes + 1);
        for number in 0..=nodes {
            let server = Server::start(citus, &folder.join(format!("server{number}")), nodes > 0).await?;
            server.says("postgres", "CREATE DATABASE cited").await?;
            if nodes > 0 {
                server.says("cited", "CREATE EXTENSION citus").await?;
            }
            all.push(server);
        }
        if let [coordinator, nodes @ ..] = all.as_slice()
            && !nodes.is_empty()
        {
            let own = format!("SELECT citus_set_coordinator_host('127.0.0.1', {})", coordinator.port);
            coordinator.says("cited", &own).await?;
            for node in nodes {
                let add = format!("SELECT citus_add_node('127.0.0.1', {})", node.port);
                coordinator.says("cited", &add).await?;
            }
        }
        Ok(Self { all })
    }

    /// How the service reaches the database.
    pub fn url(&self) -> anyhow::Result<String> {
        let first = self.all.first().context("a server")?;
        Ok(format!("postgres://postgres@127.0.0.1:{}/cited?sslmode=disable", first.port))
    }

    /// Servers with rows of tenants; none if there is a plain one.
    pub const fn nodes(&self) -> usize {
        self.all.len() - 1
    }

    /// The tenants with the server of each, counted from 0.
    pub async fn nodes_of(&self, tenants: &[String]) -> anyhow::Result<Vec<(String, usize)>> {
        if self.nodes() == 0 {
            return Ok(tenants.iter().map(|tenant| (tenant.clone(), 0)).collect());
        }
        let mut connection = self.all.first().context("a server")?.options("cited").connect().await?;
        let rows = sqlx::query_as::<_, (String, i32)>(
            "SELECT tenant, groupid FROM unnest($1::text[]) tenant, pg_dist_placement
             WHERE shardid = get_shard_id_for_distribution_column('collection', tenant::uuid)",
        )
        .bind(tenants)
        .fetch_all(&mut connection)
        .await?;
        connection.close().await?;
        // The coordinator is group 0, the others are numbered as they were added.
        rows.into_iter().map(|(tenant, group)| Ok((tenant, usize::try_from(group - 1)?))).collect()
    }

    /// CPU seconds of each server so far.
    pub fn cpu_seconds(&self) -> anyhow::Result<Vec<f64>> {
        self.all.iter().map(|server| process::tree_cpu_seconds(server.child.id())).collect()
    }
}

impl Server {
    async fn start(citus: &Path, place: &Path, has_citus: bool) -> anyhow::Result<Self> {
        fs::create_dir_all(place)?;
        fs::set_permissions(place, Permissions::from_mode(0o777))?;
        let data = place.join("data");
        let made = program(citus, "initdb")
            .args(["--username=postgres", "--auth=trust", "--no-sync", "--locale=C", "--encoding=UTF8", "--pgdata"])
            .arg(&data)
            .status()?;
        ensure!(made.success(), "initdb ended with {made}");
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut postgres = program(citus, "postgres");
        postgres.arg("-D").arg(&data).arg("-k").arg(place).arg("-p").arg(port.to_string());
        let mut settings =
            vec!["listen_addresses=127.0.0.1", "shared_buffers=256MB", "max_connections=200", "max_wal_size=4GB"];
        if has_citus {
            settings.extend(["shared_preload_libraries=citus", "wal_level=logical", "max_prepared_transactions=200"]);
        }
        postgres.args(settings.iter().flat_map(|setting| ["-c", setting]));
        let server = Self { child: postgres.spawn().context("Postgres cannot be started")?, port };
        let started = Instant::now();
        while let Err(error) = server.says("postgres", "SELECT 1").await {
            ensure!(started.elapsed() < START_TIMEOUT, "Postgres does not answer: {error:#}");
            tokio::time::sleep(POLL).await;
        }
        Ok(server)
    }

    fn options(&self, database: &str) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(self.port)
            .username("postgres")
            .database(database)
            .ssl_mode(PgSslMode::Disable)
    }

    async fn says(&self, database: &str, sql: &str) -> anyhow::Result<()> {
        let mut connection = self.options(database).connect().await?;
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await?;
        connection.close().await?;
        Ok(())
    }
}

impl Drop for Server {
    /// Told to end at once: what it holds goes with its folder.
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-QUIT", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
    }
}

/// A program of Postgres, as a user that it accepts.
fn program(citus: &Path, name: &str) -> Command {
    let mut command = Command::new(citus.join("bin").join(name));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let account = User::from_name("nobody").ok().flatten().filter(|_| geteuid().is_root());
    if let Some(account) = account {
        command.uid(account.uid.as_raw()).gid(account.gid.as_raw());
    }
    command
}

/// A folder of a Postgres with Citus, as `scripts/ensure-citus` prints it.
pub fn citus() -> anyhow::Result<PathBuf> {
    let place = std::env::var_os("CITED_TEST_CITUS");
    place.map(PathBuf::from).context("set CITED_TEST_CITUS to what scripts/ensure-citus prints")
}
