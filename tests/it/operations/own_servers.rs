//! Postgres servers of their own, for tests of several at once.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Stdio,
};

use nix::unistd::{User, geteuid};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::process::{Child, Command};

use crate::{database, wait};

/// A Postgres of its own; it ends with the value.
pub(crate) struct Server {
    pub(crate) bin: PathBuf,
    pub(crate) place: PathBuf,
    port: u16,
    settings: Vec<String>,
    child: Option<Child>,
}

/// A program of Postgres, as a user that it accepts.
pub(crate) fn program(bin: &Path, name: &str) -> Command {
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

pub(crate) async fn run(mut command: Command) {
    assert!(command.status().await.expect("it runs").success(), "{command:?}");
}

/// Ends all of these at the same moment, as a crash would, and starts them again. None of them is waited for before the last
/// one is told, or that one would have time to write what it held back.
pub(crate) async fn crash(servers: &mut [Server]) {
    let ending: Vec<Child> = servers.iter_mut().map(Server::tell_to_crash).collect();
    for mut child in ending {
        child.wait().await.expect("it ends");
    }
    for server in servers {
        server.start().await;
    }
}

impl Server {
    /// An empty place for a server below a folder, which listens on a socket only.
    pub(crate) fn at(bin: &Path, folder: &Path, name: &str) -> Self {
        let place = folder.join(name);
        fs::create_dir(&place).expect("a folder");
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).expect("rights");
        if geteuid().is_root() {
            let user = account();
            chown(&place, Some(user.uid.as_raw()), Some(user.gid.as_raw())).expect("another owner");
        }
        let settings = ["listen_addresses=", "fsync=off", "shared_buffers=32MB", "max_connections=60"];
        Self { bin: bin.to_owned(), place, port: 5432, settings: settings.map(str::to_owned).to_vec(), child: None }
    }

    /// The same on a port of loopback, with further settings.
    pub(crate) fn on_loopback(bin: &Path, folder: &Path, name: &str, settings: &[&str]) -> Self {
        let server = Self::at(bin, folder, name);
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port");
        let further = ["listen_addresses=127.0.0.1"].iter().chain(settings).map(|setting| (*setting).to_owned());
        Self { port: free.port(), settings: server.settings.iter().cloned().chain(further).collect(), ..server }
    }

    /// Makes an empty server and starts it.
    pub(crate) async fn make(&mut self) {
        let mut initdb = program(&self.bin, "initdb");
        initdb.args(["--username=postgres", "--auth=trust", "--no-sync", "--locale=C", "--encoding=UTF8", "--pgdata"]);
        initdb.arg(self.place.join("data"));
        run(initdb).await;
        self.start().await;
    }

    /// A server that streams from this one, on a port of its own, with the same settings.
    pub(crate) async fn standby(&self, folder: &Path, name: &str) -> Self {
        let settings: Vec<&str> = self.settings.iter().map(String::as_str).collect();
        let mut server = Self::on_loopback(&self.bin, folder, name, &settings);
        self.back_up(&server.place.join("data"), &["--write-recovery-conf"]).await;
        server.start().await;
        server
    }

    /// Copies all that it has to a folder, while it is used.
    async fn back_up(&self, folder: &Path, further: &[&str]) {
        let mut copy = program(&self.bin, "pg_basebackup");
        copy.args(["--no-sync", "--checkpoint=fast", "--username=postgres"]).args(further);
        copy.arg("--host").arg(&self.place).arg("--port").arg(self.port.to_string()).arg("--pgdata").arg(folder);
        run(copy).await;
    }

    /// From now on it keeps all that it logs, for recovery.
    pub(crate) async fn keep_logs(&mut self) {
        let archive = self.place.join("archive");
        self.says("ALTER SYSTEM SET archive_mode = on").await;
        let keep = format!("mkdir -p {0} && cp %p {0}/%f", archive.display());
        self.says(&format!("ALTER SYSTEM SET archive_command = '{keep}'")).await;
        self.crash().await;
        self.start().await;
    }

    /// Takes the backup from which it is restored.
    pub(crate) async fn back_up_for_recovery(&self) {
        self.back_up(&self.place.join("backup"), &[]).await;
    }

    /// Loses all that it has, and comes back from its backup and what it has kept since, up to a restore point.
    pub(crate) async fn restore(&mut self, point: &str) {
        let mut connection = sqlx::ConnectOptions::connect(&self.options("postgres")).await.expect("connect");
        let last: String = sqlx::query_scalar("SELECT pg_walfile_name(pg_switch_wal())")
            .fetch_one(&mut connection)
            .await
            .expect("the last log");
        sqlx::Connection::close(connection).await.expect("close");
        let kept = format!("SELECT (last_archived_wal >= '{last}')::int::bigint FROM pg_stat_archiver");
        wait::until_count(&self.options("postgres"), &kept, |kept| kept == 1).await;
        self.kill().await;
        let data = self.place.join("data");
        fs::remove_dir_all(&data).expect("removed");
        fs::rename(self.place.join("backup"), &data).expect("moved");
        let mut settings = fs::OpenOptions::new().append(true).open(data.join("postgresql.auto.conf")).expect("a file");
        let archive = self.place.join("archive");
        write!(
            settings,
            "archive_mode = off\nrestore_command = 'cp {}/%f %p'\nrecovery_target_name = '{point}'\n\
             recovery_target_action = promote\n",
            archive.display()
        )
        .expect("written");
        let signal = data.join("recovery.signal");
        fs::write(&signal, "").expect("written");
        if geteuid().is_root() {
            let user = account();
            chown(&signal, Some(user.uid.as_raw()), Some(user.gid.as_raw())).expect("another owner");
        }
        self.start().await;
        let recovering = "SELECT pg_is_in_recovery()::int::bigint";
        wait::until_count(&self.options("postgres"), recovering, |recovering| recovering == 0).await;
    }

    pub(crate) async fn start(&mut self) {
        let mut postgres = program(&self.bin, "postgres");
        postgres.arg("-D").arg(self.place.join("data")).arg("-k").arg(&self.place).arg("-p").arg(self.port.to_string());
        postgres.args(self.settings.iter().flat_map(|setting| ["-c", setting]));
        let log = fs::OpenOptions::new().create(true).append(true).open(self.log()).expect("a log");
        postgres.stderr(log);
        self.child = Some(postgres.spawn().expect("it starts"));
        wait::until_ok("the server answers", async || {
            let mut connection = sqlx::ConnectOptions::connect(&self.options("postgres")).await?;
            sqlx::Connection::ping(&mut connection).await
        })
        .await;
    }

    /// The file with all that it logs.
    pub(crate) fn log(&self) -> PathBuf {
        self.place.join("log")
    }

    /// The errors that it has logged, each once, with how often, and with its SQLSTATE where the prefix of lines ends in that.
    pub(crate) fn errors(&self) -> BTreeMap<String, usize> {
        let log = fs::read(self.log()).expect("a log");
        let mut errors = BTreeMap::new();
        for (prefix, error) in String::from_utf8_lossy(&log).lines().filter_map(|line| line.split_once(" ERROR:  ")) {
            let sqlstate = prefix.rsplit(' ').next().unwrap_or_default();
            *errors.entry(format!("{sqlstate} {error}")).or_insert(0) += 1;
        }
        errors
    }

    fn tell_to_crash(&mut self) -> Child {
        let child = self.child.take().expect("it runs");
        let id = child.id().and_then(|id| i32::try_from(id).ok()).expect("an id");
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), nix::sys::signal::Signal::SIGQUIT).expect("it is told");
        child
    }

    /// Ends it as a crash would.
    pub(crate) async fn crash(&mut self) {
        self.tell_to_crash().wait().await.expect("it ends");
    }

    pub(crate) async fn kill(&mut self) {
        self.child.take().expect("it runs").kill().await.expect("killed");
        let _ = fs::remove_file(self.place.join("data/postmaster.pid"));
    }

    /// How to reach it, by its socket.
    pub(crate) fn options(&self, database: &str) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .host("localhost")
            .socket(&self.place)
            .port(self.port)
            .username("postgres")
            .database(database)
            .ssl_mode(PgSslMode::Disable)
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    pub(crate) async fn says(&self, sql: &str) {
        database::execute(&self.options("postgres"), sql).await;
    }
}
