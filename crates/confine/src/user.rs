//! The user of the process, and what it could become.

use nix::{
    sys::prctl,
    unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid},
};

/// The user and the group that own nothing.
const NOBODY: u32 = 65_534;

/// Makes a process of root one of nobody; another user stays.
pub(crate) fn leave_root() -> Result<(), String> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    let left = setgroups(&[]).and_then(|()| setresgid(group, group, group)).and_then(|()| setresuid(user, user, user));
    left.map_err(|error| format!("it stays root: {error}"))
}

/// Forbids to gain rights, such as by a program that has those of its owner.
pub(crate) fn gain_no_privileges() -> Result<(), String> {
    prctl::set_no_new_privs().map_err(|error| format!("no_new_privs: {error}"))
}
