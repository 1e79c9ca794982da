//! Files, connections and signals, by Landlock.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

/// Newest version of the interface whose restrictions are asked for; an older kernel enforces those that it knows.
const VERSION: ABI = ABI::V6;

/// Folders that a program reads to run: libraries, its data, how they are found, and nothing of users and services.
const INSTALLED: [&str; 8] =
    ["/usr", "/lib", "/lib64", "/bin", "/opt", "/nix/store", "/etc/ld.so.cache", "/etc/ld.so.conf"];

/// Where a program's complaints go.
const NOWHERE: &str = "/dev/null";

/// Closes all files, TCP ports, abstract sockets and foreign processes; leaves a program what is installed, for reading.
pub(crate) fn close(program: Option<&Path>) -> Result<(), String> {
    match restrict(program) {
        Ok(RulesetStatus::NotEnforced) => Err("the kernel has no Landlock (Linux 5.13 with it switched on)".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("Landlock: {error}")),
    }
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
