//! Started, used and stopped, in ordinary places and in odd ones.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use embedded_postgres::{Durability, PrivatePostgres, Settings, Source, find_binaries};
use sqlx::ConnectOptions;

use super::{assert_all_is_there, folder, number, processes_in, run, settings, stop_and_check, write_something};
use crate::wait;

#[tokio::test]
async fn data_survives_a_stop_and_a_start_and_no_process_is_left() {
    let folder = folder();
    let settings = Settings { durability: Durability::Full, ..settings(folder.path()) };
    let postgres = PrivatePostgres::start(&settings).await.unwrap();
    write_something(&postgres.connect_options()).await;
    assert!(!processes_in(folder.path()).is_empty());
    postgres.stop().await.unwrap();
    assert_eq!(processes_in(folder.path()), [] as [String; 0]);

    let postgres = PrivatePostgres::start(&settings).await.unwrap();
    assert_all_is_there(&postgres.connect_options()).await;
    stop_and_check(postgres, folder).await;
}

#[tokio::test]
async fn it_listens_on_its_socket_alone_and_the_password_is_nobody_elses() {
    let folder = folder();
    let postgres = PrivatePostgres::start(&settings(folder.path())).await.unwrap();
    let options = postgres.connect_options();
    assert_eq!(number(&options, "SELECT (current_setting('listen_addresses') = '')::int").await, 1);
    let refused = options.clone().password("guessed").connect().await.unwrap_err();
    assert!(refused.to_string().contains("password authentication failed"), "{refused}");
    let mode = |name: &str| {
        let metadata = fs::metadata(folder.path().join("data").join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!((mode("password"), mode("cluster"), mode("run")), (0o600, 0o700, 0o700));
    let debug = format!("{postgres:?}");
    let password = fs::read_to_string(folder.path().join("data/password")).unwrap();
    assert!(!debug.contains(&password));
    stop_and_check(postgres, folder).await;
}

#[tokio::test]
async fn pgvector_works_and_a_parallel_index_build_needs_no_shared_memory_device() {
    let folder = folder();
    let postgres = PrivatePostgres::start(&settings(folder.path())).await.unwrap();
    let options = postgres.connect_options();
    run(&options, "CREATE EXTENSION vector").await;
    run(
        &options,
        "CREATE TABLE point AS SELECT array_fill(number, ARRAY[3])::vector(3) AS place FROM generate_series(1, 20000) AS number",
    )
    .await;
    run(&options, "ALTER TABLE point SET (parallel_workers = 2)").await;
    run(&options, "CREATE INDEX ON point USING hnsw (place vector_l2_ops)").await;
    assert_eq!(
        number(&options, "SELECT (place <-> '[7,7,7]' = 0)::int FROM point ORDER BY place <-> '[7,7,7]' LIMIT 1").await,
        1
    );
    // A container's /dev/shm is smaller than one such build, which therefore must not need it.
    let is_set_apart = "SELECT (pg_size_bytes(current_setting('min_dynamic_shared_memory'))
            > pg_size_bytes(current_setting('maintenance_work_mem')))::int";
    assert_eq!(number(&options, is_set_apart).await, 1);
    stop_and_check(postgres, folder).await;
}

#[tokio::test]
async fn dropping_it_stops_postgres_too() {
    let folder = folder();
    drop(PrivatePostgres::start(&settings(folder.path())).await.unwrap());
    wait::until("no process is left", async || processes_in(folder.path()).is_empty()).await;
}

#[test]
fn a_runtime_that_ends_stops_postgres_too() {
    let folder = folder();
    let settings = settings(folder.path());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let postgres = runtime.block_on(PrivatePostgres::start(&settings)).unwrap();
    drop(runtime);
    drop(postgres);
    tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(wait::until("no process is left", async || processes_in(folder.path()).is_empty()));
}

#[tokio::test]
async fn a_path_too_long_for_a_socket_works() {
    let folder = folder();
    let deep = folder.path().join("d".repeat(90)).join("e".repeat(90));
    let postgres = PrivatePostgres::start(&settings(&deep)).await.unwrap();
    let socket_dir = postgres.connect_options().get_socket().unwrap().clone();
    assert!(!socket_dir.starts_with(folder.path()));
    assert_eq!(fs::metadata(&socket_dir).unwrap().permissions().mode() & 0o777, 0o700);
    write_something(&postgres.connect_options()).await;
    stop_and_check(postgres, folder).await;
    assert!(!socket_dir.exists());
}

#[tokio::test]
async fn a_path_with_odd_characters_works() {
    let folder = folder();
    let odd = folder.path().join("a b, \"c\" 'd' é");
    let postgres = PrivatePostgres::start(&settings(&odd)).await.unwrap();
    write_something(&postgres.connect_options()).await;
    stop_and_check(postgres, folder).await;
}

/// The script and the search must agree on the place.
#[test]
fn the_set_up_script_prints_the_directory_that_is_found() {
    let folder = folder();
    let settings = settings(folder.path());
    let Ok(found) = find_binaries(&settings) else {
        return;
    };
    // Without an unpacked copy the script would download one.
    if found.source != Source::Unpacked {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/fetch-postgres");
    let output = Command::new(script).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(Path::new(printed.trim_end()).canonicalize().unwrap(), found.directory);
}
