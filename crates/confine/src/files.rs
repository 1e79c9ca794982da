//! Files, connections and signals, by Landlock.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};
use nix::sys::resource::{Resource, setrlimit};

/// Newest version of the interface whose restrictions are asked for; an older kernel enforces those that it knows.
const VERSION: ABI = ABI::V6;

/// Folders that a program reads to run: libraries, its data, how they are found, and nothing of users and services.
const INSTALLED: [&str; 8] =
    ["/usr", "/lib", "/lib64", "/bin", "/opt", "/nix/store", "/etc/ld.so.cache", "/etc/ld.so.conf"];

/// Where a program's complaints go.
const NOWHERE: &str = "/dev/null";

/// Most files that are open at once: input, output, errors, and what a program reads to run.
const MOST_OPEN: u64 = 64;

/// Closes all files, TCP ports, abstract sockets and foreign processes; leaves a program what is installed, for reading.
pub(crate) fn close(program: Option<&Path>) -> Result<(), String> {
    match restrict(program) {
        Ok(RulesetStatus::NotEnforced) => Err("the kernel has no Landlock (Linux 5.13 with it switched on)".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("Landlock: {error}")),
    }
}

/// Limits how many files are open at once, in a program that is started too: the process has the limit of the service, which is
/// as high as that of its connections.
///
/// Processes and threads are not limited here: that limit (`RLIMIT_NPROC`) counts those of all processes of the user, so that one
/// low enough to hold would also end readers whose user has many of them elsewhere, the service itself among these.
pub(crate) fn limit() -> Result<(), String> {
    setrlimit(Resource::RLIMIT_NOFILE, MOST_OPEN, MOST_OPEN).map_err(|error| format!("RLIMIT_NOFILE: {error}"))
}

fn restrict(program: Option<&Path>) -> Result<RulesetStatus, RulesetError> {
    let readable = program.iter().flat_map(|program| {
        let installed = INSTALLED.iter().map(PathBuf::from);
        installed.chain(program.parent().map(Path::to_path_buf))
    });
    let restricted = Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))?
        .handle_access(AccessNet::from_all(VERSION))?
        .scope(Scope::from_all(VERSION))?
        .create()?
        .add_rules(path_beneath_rules(readable, AccessFs::from_read(VERSION)))?
        .add_rules(path_beneath_rules(program.map(|_| NOWHERE), AccessFs::from_file(VERSION)))?
        .restrict_self()?;
    Ok(restricted.ruleset)
}
