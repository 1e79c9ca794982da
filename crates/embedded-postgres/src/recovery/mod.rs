//! Cleans up after a run that was not stopped: Postgres processes that outlived their service or their postmaster, and
//! a `postmaster.pid` whose number now belongs to another process.
//!
//! All of this happens under the lock of the data directory, so no other service is starting or
//! running here.

mod processes;

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use processes::processes_of;

use super::PrivatePostgresError;

/// Time limit of a clean ("fast") shutdown, which writes everything that is in the buffers.
pub(super) const FAST_SHUTDOWN_LIMIT: Duration = Duration::from_secs(30);

/// Time limit of an immediate shutdown. It writes nothing; the next start recovers.
pub(super) const IMMEDIATE_SHUTDOWN_LIMIT: Duration = Duration::from_secs(8);

/// Time limit for processes without a postmaster to notice that and end by themselves.
const NOTICE_LIMIT: Duration = Duration::from_secs(3);

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Ends every Postgres process of this cluster and removes a `postmaster.pid` that would keep the
/// next from starting. Blocks.
///
/// # Errors
/// If a process does not end, or the pid file cannot be removed.
pub(super) fn clear_leftovers(cluster: &Path) -> Result<(), PrivatePostgresError> {
    let recorded = recorded_pid(cluster);
    let leftovers = processes_of(cluster);
    if !leftovers.is_empty() {
        tracing::warn!(?leftovers, "stopping a Postgres left over from an earlier run");
        end_all(cluster, recorded, &leftovers)?;
    }
    match recorded_pid(cluster) {
        // Postgres itself sees that a dead process holds nothing. It goes by the number alone
        // though, so when that belongs to an unrelated process it would refuse to start. That no
        // process of this cluster lives has just been seen to.
        Some(pid) if is_alive(pid) => {
            let path = cluster.join("postmaster.pid");
            tracing::warn!(pid, "removing a stale postmaster.pid, which names an unrelated process");
            fs::remove_file(&path).map_err(PrivatePostgresError::file("remove", path))
        }
        Some(_) | None => Ok(()),
    }
}

/// Ends the processes, from the weakest signal to the strongest, each with a time limit. Only the postmaster, which
/// forwards it, gets the weak signal; children without a postmaster end when they notice that it is gone.
fn end_all(cluster: &Path, recorded: Option<i32>, leftovers: &[i32]) -> Result<(), PrivatePostgresError> {
    match recorded.filter(|pid| leftovers.contains(pid)) {
        Some(postmaster) => {
            send(postmaster, Signal::SIGINT);
            if wait_for_end(cluster, FAST_SHUTDOWN_LIMIT) {
                return Ok(());
            }
        }
        None if wait_for_end(cluster, NOTICE_LIMIT) => return Ok(()),
        None => {}
    }
    for signal in [Signal::SIGQUIT, Signal::SIGKILL] {
        for pid in processes_of(cluster) {
            send(pid, signal);
        }
        if wait_for_end(cluster, IMMEDIATE_SHUTDOWN_LIMIT) {
            return Ok(());
        }
    }
    match processes_of(cluster).first() {
        Some(&pid) => Err(PrivatePostgresError::Leftover { path: cluster.to_owned(), pid }),
        None => Ok(()),
    }
}

fn wait_for_end(cluster: &Path, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while !processes_of(cluster).is_empty() {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}

/// The process that `postmaster.pid` names. A half-written file names none.
fn recorded_pid(cluster: &Path) -> Option<i32> {
    let text = fs::read_to_string(cluster.join("postmaster.pid")).ok()?;
    text.lines().next()?.trim().parse().ok().filter(|&pid: &i32| pid > 1)
}

fn is_alive(pid: i32) -> bool {
    !matches!(kill(Pid::from_raw(pid), None), Err(Errno::ESRCH))
}

/// Sends a signal. A process that is gone already needs none.
pub(super) fn send(pid: i32, signal: Signal) {
    match kill(Pid::from_raw(pid), signal) {
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(error) => {
            tracing::warn!(pid, %signal, %error, "a process of Postgres cannot be signalled");
        }
    }
}
