//! The private Postgres through its whole life, with everything killed that can be killed.

mod life;
mod recovery;
mod refusals;

use std::{
    env,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use embedded_postgres::{Durability, Folders, PrivatePostgres, Settings};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use sqlx::{ConnectOptions, Connection, postgres::PgConnectOptions};
use tempfile::TempDir;

/// Settings for a data directory `data` in `folder`, with whatever Postgres is there.
pub(crate) fn settings(folder: &Path) -> Settings {
    let folders = Folders {
        home: env::var_os("HOME").map(PathBuf::from),
        xdg_data_home: None,
        xdg_cache_home: env::var_os("XDG_CACHE_HOME").map(PathBuf::from),
    };
    Settings {
        data_dir: folder.join("data"),
        bin_dir: env::var_os("CITED_POSTGRES_BIN").map(PathBuf::from),
        cache_dir: Settings::default_cache_dir(&folders).unwrap(),
        search_path: env::var_os("PATH"),
        durability: Durability::None,
    }
}

/// A folder that the unprivileged user can pass through, removed in the end.
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    folder
}

/// The number that a query yields.
pub(crate) async fn number(options: &PgConnectOptions, query: &'static str) -> i64 {
    let mut connection = options.connect().await.unwrap();
    let number: i32 = sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    number.into()
}

async fn run(options: &PgConnectOptions, statement: &'static str) {
    let mut connection = options.connect().await.unwrap();
    sqlx::query(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

async fn write_something(options: &PgConnectOptions) {
    run(options, "CREATE TABLE kept AS SELECT * FROM generate_series(1, 1000) AS number").await;
}

async fn assert_all_is_there(options: &PgConnectOptions) {
    assert_eq!(number(options, "SELECT count(*)::int FROM kept").await, 1000);
}

pub(crate) fn postmaster(folder: &Path) -> Option<i32> {
    let text = fs::read_to_string(folder.join("data/cluster/postmaster.pid")).ok()?;
    text.lines().next()?.parse().ok()
}

pub(crate) fn kill_now(pid: i32) {
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
}

/// Processes that still work in `folder` or name it in their command line.
fn processes_in(folder: &Path) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else {
        let list = Command::new("/bin/ps").args(["-axww", "-o", "command="]).output().unwrap();
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        return list.lines().filter(|line| line.contains(folder.to_str().unwrap())).map(str::to_owned).collect();
    };
    let describe = |process: PathBuf| {
        let command = fs::read(process.join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let directory = fs::read_link(process.join("cwd")).unwrap_or_default();
        let is_meant = directory.starts_with(folder) || command.contains(folder.to_str().unwrap());
        is_meant.then_some(command)
    };
    processes.flatten().filter_map(|entry| describe(entry.path())).collect()
}

/// Ends a test: nothing may be left.
async fn stop_and_check(postgres: PrivatePostgres, folder: TempDir) {
    postgres.stop().await.unwrap();
    assert_eq!(processes_in(folder.path()), [] as [String; 0]);
    assert_eq!(postmaster(folder.path()), None);
    folder.close().unwrap();
}
