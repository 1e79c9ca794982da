//! Postgres killed, the service killed, and what they leave behind.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use embedded_postgres::PrivatePostgres;
use nix::{
    sys::signal::kill,
    unistd::{Pid, geteuid},
};
use sqlx::ConnectOptions;

use super::{
    assert_all_is_there, folder, kill_now, postmaster, processes_in, settings, stop_and_check, write_something,
};
use crate::wait;

/// Names the data directory to the service that a test starts in order to kill it.
const VICTIM_DATA_DIR: &str = "CITED_TEST_VICTIM_DATA_DIR";

#[tokio::test]
async fn a_killed_postmaster_comes_back_with_all_data() {
    let folder = folder();
    let postgres = PrivatePostgres::start(&settings(folder.path())).await.unwrap();
    let options = postgres.connect_options();
    write_something(&options).await;
    let killed = postmaster(folder.path()).unwrap();
    kill_now(killed);
    wait::until("Postgres is started again", async || {
        postmaster(folder.path()).is_some_and(|pid| pid != killed) && options.connect().await.is_ok()
    })
    .await;
    assert_all_is_there(&options).await;
    stop_and_check(postgres, folder).await;
}

#[tokio::test]
async fn a_crash_loop_is_given_up_and_reported() {
    let folder = folder();
    let postgres = PrivatePostgres::start(&settings(folder.path())).await.unwrap();
    fs::remove_file(folder.path().join("data/cluster/global/pg_control")).unwrap();
    kill_now(postmaster(folder.path()).unwrap());
    let error = tokio::time::timeout(Duration::from_mins(1), postgres.failed()).await.unwrap();
    let message = error.to_string();
    assert!(message.contains("5 times in a row"), "{message}");
    assert!(message.contains("pg_control"), "the log is quoted: {message}");
    postgres.stop().await.unwrap();
    assert_eq!(processes_in(folder.path()), [] as [String; 0]);
}

#[tokio::test]
async fn stopping_while_it_is_being_started_again_leaves_nothing() {
    let folder = folder();
    let postgres = PrivatePostgres::start(&settings(folder.path())).await.unwrap();
    kill_now(postmaster(folder.path()).unwrap());
    postgres.stop().await.unwrap();
    assert_eq!(processes_in(folder.path()), [] as [String; 0]);
}

/// Not a test: the service that other tests kill. Started by [`victim`] only.
#[tokio::test]
#[ignore = "started by other tests, in a process of its own"]
async fn service_to_be_killed() {
    let Some(folder) = env::var_os(VICTIM_DATA_DIR) else {
        return;
    };
    let postgres = PrivatePostgres::start(&settings(Path::new(&folder))).await.unwrap();
    println!("\nready");
    panic!("{}", postgres.failed().await);
}

/// Starts a service in another process. With `until`, waits until it prints that line.
fn victim(folder: &Path, until: Option<&str>) -> Child {
    // The name of a test begins after the name of its binary.
    let module = module_path!().split_once("::").map_or(String::new(), |(_, path)| format!("{path}::"));
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture"])
        .arg(format!("{module}service_to_be_killed"))
        .env(VICTIM_DATA_DIR, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    if let Some(until) = until {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line == until), "the service ended too early");
    }
    child
}

fn kill_victim(mut victim: Child) {
    victim.kill().unwrap();
    victim.wait().unwrap();
}

#[tokio::test]
async fn the_orphan_of_a_killed_service_is_stopped_and_its_data_kept() {
    let folder = folder();
    let service = victim(folder.path(), Some("ready"));
    let settings = settings(folder.path());
    let refused = PrivatePostgres::start(&settings).await.unwrap_err().to_string();
    assert!(refused.contains(&format!("process {}", service.id())), "{refused}");
    kill_victim(service);
    let orphan = postmaster(folder.path()).unwrap();
    assert!(kill(Pid::from_raw(orphan), None).is_ok(), "the orphan lives on");

    let postgres = PrivatePostgres::start(&settings).await.unwrap();
    assert_ne!(postmaster(folder.path()), Some(orphan));
    write_something(&postgres.connect_options()).await;
    stop_and_check(postgres, folder).await;
}

#[tokio::test]
async fn a_service_killed_over_and_over_during_its_starts_recovers() {
    let folder = folder();
    for round in 0..8 {
        let service = victim(folder.path(), None);
        // Different moments of a first start: before, amid and after initdb.
        tokio::time::sleep(Duration::from_millis(150 * round)).await;
        kill_victim(service);
    }
    let postgres = PrivatePostgres::start(&settings(folder.path())).await.unwrap();
    write_something(&postgres.connect_options()).await;
    // An initdb of a killed service ends when it finds its directory gone.
    wait::until("only one Postgres is left", async || {
        !processes_in(folder.path()).iter().any(|process| process.contains("unfinished"))
    })
    .await;
    postgres.stop().await.unwrap();
    // A folder that one of them still wrote into during the first start is left to the next.
    let postgres = PrivatePostgres::start(&settings(folder.path())).await.unwrap();
    assert_all_is_there(&postgres.connect_options()).await;
    let unfinished = fs::read_dir(folder.path().join("data")).unwrap().flatten();
    let unfinished = unfinished.filter(|entry| entry.file_name().display().to_string().contains("unfinished"));
    assert_eq!(unfinished.count(), 0);
    stop_and_check(postgres, folder).await;
}

#[tokio::test]
async fn a_stale_pid_file_that_names_an_unrelated_process_does_not_matter() {
    let folder = folder();
    let settings = settings(folder.path());
    let postgres = PrivatePostgres::start(&settings).await.unwrap();
    write_something(&postgres.connect_options()).await;
    postgres.stop().await.unwrap();
    // A process of the same user as Postgres, since Postgres itself disregards those of others.
    let cluster = folder.path().join("data/cluster");
    let owner = fs::metadata(&cluster).unwrap();
    let mut sleep = Command::new("sleep");
    sleep.arg("600");
    if geteuid().is_root() {
        sleep.uid(owner.uid()).gid(owner.gid());
    }
    let mut unrelated = sleep.spawn().unwrap();
    let stale = format!("{}\n{}\n1700000000\n5432\n/tmp\n\n", unrelated.id(), cluster.display());
    fs::write(cluster.join("postmaster.pid"), stale).unwrap();

    let postgres = PrivatePostgres::start(&settings).await.unwrap();
    assert_all_is_there(&postgres.connect_options()).await;
    assert!(unrelated.try_wait().unwrap().is_none(), "the unrelated process lives on");
    unrelated.kill().unwrap();
    unrelated.wait().unwrap();
    stop_and_check(postgres, folder).await;
}
