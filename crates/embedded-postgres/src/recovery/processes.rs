//! Identifies the processes that are the Postgres of a cluster. A process number alone proves nothing: numbers are
//! reused.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

/// The living Postgres processes that work on `cluster`, the children of a postmaster that is gone included.
///
/// Postgres and all its children work in the directory of their cluster, and keep their program's name whatever they
/// write into their title. The directory is compared by identity, so a renamed path or a mount does not matter.
pub(super) fn processes_of(cluster: &Path) -> Vec<i32> {
    let (Some(cluster), Ok(mut system)) = (identity(cluster), System::new()) else { return Vec::new() };
    let directories = ProcessRefreshKind::nothing().without_tasks().with_cwd(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::All, false, directories);
    let works_here = system.processes().values().filter(|process| {
        process.name() == "postgres" && process.cwd().and_then(identity).is_some_and(|directory| directory == cluster)
    });
    works_here.filter_map(|process| i32::try_from(process.pid().as_u32()).ok()).collect()
}

/// Device and number of a directory.
fn identity(directory: &Path) -> Option<(u64, u64)> {
    fs::metadata(directory).ok().map(|directory| (directory.dev(), directory.ino()))
}
