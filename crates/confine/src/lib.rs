//! Takes away from a process what reading a document does not need: its user's rights, files, the network, other
//! processes. What is taken away does not come back.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod user;

use std::path::Path;

use serde::{Deserialize, Serialize};

/// A lock, and whether it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Its name.
    pub name: String,
    /// Why it does not hold; `None` if it does.
    pub missing: Option<String>,
}

/// Confines this process for good. It must have one thread only: some locks hold for the calling thread and those that it
/// starts. With `program` it may start that program, which may read what is installed; without, it may do nothing but
/// compute, and read and write the files that are open.
#[must_use]
pub fn confine(program: Option<&Path>) -> Vec<Lock> {
    #[cfg(target_os = "linux")]
    return vec![
        lock("not root", user::leave_root()),
        lock("no new privileges", user::gain_no_privileges()),
        lock("closed files", files::close(program)),
        lock("few files", files::limit()),
        lock("limited calls", calls::limit(program.is_some())),
    ];
    #[cfg(not(target_os = "linux"))]
    {
        let _ = program;
        let missing = || Err("this system has none that Cited knows".to_owned());
        ["not root", "no new privileges", "closed files", "few files", "limited calls"]
            .map(|name| lock(name, missing()))
            .to_vec()
    }
}

fn lock(name: &str, held: Result<(), String>) -> Lock {
    Lock { name: name.to_owned(), missing: held.err() }
}
