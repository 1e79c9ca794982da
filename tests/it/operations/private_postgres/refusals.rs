//! Starts that must fail, and what they say.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    process::Command,
};

use embedded_postgres::{PrivatePostgres, PrivatePostgresError, Settings, find_binaries};
use nix::unistd::{User, geteuid};

use super::{folder, postmaster, processes_in, settings, stop_and_check};

#[tokio::test]
async fn a_second_start_on_the_same_directory_says_who_uses_it() {
    let folder = folder();
    let settings = settings(folder.path());
    let postgres = PrivatePostgres::start(&settings).await.unwrap();
    let error = PrivatePostgres::start(&settings).await.unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, PrivatePostgresError::InUse { .. }), "{message}");
    assert!(message.contains(&format!("is in use by process {}", std::process::id())), "{message}");
    stop_and_check(postgres, folder).await;
}

#[tokio::test]
async fn a_directory_closed_to_the_unprivileged_user_is_named() {
    if !geteuid().is_root() {
        return;
    }
    let folder = folder();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    let error = PrivatePostgres::start(&settings(&closed)).await.unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, PrivatePostgresError::Unreachable { .. }), "{message}");
    assert!(message.contains(&format!("chmod o+x {}", closed.display())), "{message}");
    assert!(!closed.join("data").exists());
}

#[tokio::test]
async fn a_closed_bin_directory_is_named() {
    if !geteuid().is_root() {
        return;
    }
    let folder = folder();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    let found = find_binaries(&settings(folder.path())).unwrap();
    symlink(&found.directory, closed.join("bin")).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    let settings = Settings { bin_dir: Some(closed.join("bin")), ..settings(folder.path()) };
    let message = PrivatePostgres::start(&settings).await.unwrap_err().to_string();
    assert!(message.contains("cannot reach"), "{message}");
    assert!(message.contains("CITED_POSTGRES_BIN"), "{message}");
}

#[tokio::test]
async fn a_cluster_of_another_major_version_says_what_to_do() {
    let folder = folder();
    let settings = settings(folder.path());
    PrivatePostgres::start(&settings).await.unwrap().stop().await.unwrap();
    fs::write(folder.path().join("data/cluster/PG_VERSION"), "14\n").unwrap();
    let message = PrivatePostgres::start(&settings).await.unwrap_err().to_string();
    assert!(message.contains("was made by Postgres 14"), "{message}");
    assert!(message.contains("Set CITED_POSTGRES_BIN"), "{message}");
}

#[tokio::test]
async fn a_lost_or_wrong_password_is_told_apart_from_a_slow_start() {
    let folder = folder();
    let settings = settings(folder.path());
    PrivatePostgres::start(&settings).await.unwrap().stop().await.unwrap();
    let password = folder.path().join("data/password");
    fs::write(&password, "guessed").unwrap();
    let message = PrivatePostgres::start(&settings).await.unwrap_err().to_string();
    assert!(message.contains("password authentication failed"), "{message}");
    fs::remove_file(&password).unwrap();
    let error = PrivatePostgres::start(&settings).await.unwrap_err();
    assert!(matches!(error, PrivatePostgresError::PasswordMissing { .. }), "{error}");
    assert_eq!(processes_in(folder.path()), [] as [String; 0]);
}

#[tokio::test]
async fn a_start_that_fails_quotes_the_log_and_leaves_nothing() {
    let folder = folder();
    let settings = settings(folder.path());
    PrivatePostgres::start(&settings).await.unwrap().stop().await.unwrap();
    let configuration = folder.path().join("data/cluster/postgresql.conf");
    fs::write(&configuration, "no_such_parameter = 1\n").unwrap();
    let message = PrivatePostgres::start(&settings).await.unwrap_err().to_string();
    assert!(message.contains("no_such_parameter"), "{message}");
    assert_eq!(processes_in(folder.path()), [] as [String; 0]);
}

#[tokio::test]
async fn a_cluster_of_another_user_is_refused_or_run_as_that_user() {
    if !geteuid().is_root() {
        return;
    }
    let folder = folder();
    let settings = settings(folder.path());
    PrivatePostgres::start(&settings).await.unwrap().stop().await.unwrap();
    chown(folder.path().join("data/cluster"), Some(0), None).unwrap();
    let error = PrivatePostgres::start(&settings).await.unwrap_err();
    assert!(matches!(error, PrivatePostgresError::ForeignOwner { owner: 0, .. }), "{error}");

    let nobody = User::from_name("nobody").unwrap().unwrap();
    let status = Command::new("chown").args(["-R", "nobody"]).arg(folder.path().join("data/cluster")).status().unwrap();
    assert!(status.success());
    let postgres = PrivatePostgres::start(&settings).await.unwrap();
    let postmaster = postmaster(folder.path()).unwrap();
    if let Ok(process) = fs::metadata(format!("/proc/{postmaster}")) {
        assert_eq!(process.uid(), nobody.uid.as_raw());
    }
    stop_and_check(postgres, folder).await;
}
