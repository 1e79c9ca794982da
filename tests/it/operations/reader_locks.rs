//! The locks of the process that reads documents, as the service asks for them, and the service itself behind its own.
#![cfg(target_os = "linux")]

use std::{os::unix::fs::PermissionsExt, path::Path, process::Stdio};

use tokio::process::Command;

use crate::{
    database,
    process::{Process, command, output_of},
};

/// A program in the reader's place that says that a lock is missing.
fn reader_without_a_lock(folder: &Path) -> String {
    let program = folder.join("reader");
    let locks = r#"[{"name": "not root", "missing": null}, {"name": "closed files", "missing": "no such thing here"}]"#;
    std::fs::write(&program, format!("#!/bin/sh\necho '{locks}'\n")).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
    program.display().to_string()
}

#[tokio::test]
async fn a_service_that_requires_locks_does_not_start_where_one_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (program, url) = (reader_without_a_lock(folder.path()), database::url(&database::create().await));
    let settings = [("DATABASE_URL", url.as_str()), ("CITED_EXTRACT_PROGRAM", &program)];
    for name in ["serve", "worker"] {
        let required = [&settings[..], &[("CITED_EXTRACT_LOCKS", "required")]].concat();
        let output = output_of(&mut command(&[name], &required)).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}: {said}");
        assert!(said.contains("lacks the lock closed files: no such thing here"), "{name}: {said}");
        assert!(said.contains("CITED_EXTRACT_LOCKS=available"), "{name}: {said}");
    }
    // Where it is not required the service starts, and says so.
    let service = Process::serve(&settings).await;
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
}

/// What another process of the user of this test, or of nobody where that is root, reads of a process.
async fn environment_of(process: u32) -> std::process::Output {
    as_its_user("cat").arg(format!("/proc/{process}/environ")).output().await.expect("cat runs")
}

fn as_its_user(program: &str) -> Command {
    if !nix::unistd::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", program]);
    command
}

#[tokio::test]
async fn the_environment_of_the_service_is_closed_to_others_of_its_user() {
    let secret = "a-key-in-the-environment-0123456789";
    // A copy that its user reaches, wherever this was built.
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("for all");
    let program = folder.path().join("cited");
    std::fs::copy(env!("CARGO_BIN_EXE_cited"), &program).expect("a copy");
    let mut open = as_its_user("sleep").arg("60").env("KEY", secret).kill_on_drop(true).spawn().expect("sleeps");
    let control = crate::wait::until_ok("a process that closes nothing can be read", async || {
        let read = environment_of(open.id().expect("it runs")).await;
        if read.status.success() && String::from_utf8_lossy(&read.stdout).contains(secret) { Ok(()) } else { Err(read) }
    });
    control.await;
    open.kill().await.expect("killed");

    // A database that never answers: the service is there, and waits for it.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("postgres://user@{}/d?sslmode=disable", silent.local_addr().expect("bound"));
    let mut service = as_its_user(program.to_str().expect("text"));
    service
        .arg("serve")
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    service.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    service.envs([
        ("DATABASE_URL", url.as_str()),
        ("CITED_API_KEYS", secret),
        ("CITED_LISTEN", "127.0.0.1:0"),
        ("CITED_EMBEDDING_THREADS", "1"),
    ]);
    let mut service = service.spawn().expect("it starts");
    let process = service.id().expect("it runs");
    let name = || std::fs::read_to_string(format!("/proc/{process}/comm")).expect("a name");
    // Before that it has read nothing from anybody.
    crate::wait::until("it closes itself", async || {
        name().trim() == "cited" && !environment_of(process).await.status.success()
    })
    .await;
    for _ in 0..3 {
        let read = environment_of(process).await;
        assert!(!read.status.success() && read.stdout.is_empty(), "{read:?}");
        assert!(service.try_wait().expect("its state").is_none(), "it runs all the while");
    }
    service.kill().await.expect("killed");
}
