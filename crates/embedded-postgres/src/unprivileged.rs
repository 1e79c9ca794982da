//! Postgres refuses to run as root. When the service is root, Postgres and its tools run as an
//! unprivileged user, who must be able to reach the data directory and the binaries.

use std::{
    fs, io,
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use nix::{
    errno::Errno,
    unistd::{Gid, Uid, User, geteuid},
};

use super::PrivatePostgresError;

/// Tried in this order. `postgres` comes with the distributions' packages; `nobody` is everywhere,
/// but may be shared with other services, hence second.
const ACCOUNTS: [&str; 2] = ["postgres", "nobody"];

/// The user that Postgres runs as.
#[derive(Debug, Clone)]
pub(super) struct RunAs {
    /// `None` when it runs as the same user as the service.
    account: Option<Account>,
}

#[derive(Debug, Clone)]
struct Account {
    name: String,
    uid: u32,
    gid: u32,
}

impl RunAs {
    /// Chooses the user. An existing cluster keeps its owner, so that a data directory remains usable after a
    /// `postgres` account is added, and one created by an ordinary user remains usable under `sudo`.
    ///
    /// # Errors
    /// If the cluster belongs to a user that this process cannot become, or no account exists.
    pub(super) fn choose(cluster: &Path) -> Result<Self, PrivatePostgresError> {
        let owner = fs::metadata(cluster).ok().map(|metadata| (metadata.uid(), metadata.gid()));
        let service = geteuid();
        match owner {
            Some((uid, _)) if uid == 0 || (!service.is_root() && uid != service.as_raw()) => {
                Err(PrivatePostgresError::ForeignOwner { path: cluster.to_owned(), owner: uid })
            }
            _ if !service.is_root() => Ok(Self { account: None }),
            Some((uid, gid)) => Ok(Self { account: Some(Account::of_owner(uid, gid)) }),
            None => ACCOUNTS
                .iter()
                .find_map(|name| Account::named(name))
                .map(|account| Self { account: Some(account) })
                .ok_or(PrivatePostgresError::NoUnprivilegedUser),
        }
    }

    /// A command that runs as this user, in a process group of its own and with an empty
    /// environment.
    ///
    /// Its own group, because Ctrl-C in a terminal signals the whole foreground group and the
    /// service alone decides when Postgres stops. An empty environment, because `PG…` variables
    /// would change what the tools do and because the service's own environment holds API keys.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .current_dir("/")
            .stdin(Stdio::null())
            .process_group(0);
        if let Some(account) = &self.account {
            // Setting the user as root also drops the supplementary groups.
            command.uid(account.uid).gid(account.gid);
        }
        command
    }

    /// Gives a path to this user.
    ///
    /// # Errors
    /// If the file system refuses.
    pub(super) fn give(&self, path: &Path) -> Result<(), PrivatePostgresError> {
        match &self.account {
            Some(account) => chown(path, Some(account.uid), Some(account.gid))
                .map_err(PrivatePostgresError::file("change the owner of", path)),
            None => Ok(()),
        }
    }

    /// The numeric id of this user.
    pub(super) fn uid(&self) -> u32 {
        self.account.as_ref().map_or_else(|| geteuid().as_raw(), |account| account.uid)
    }

    /// The mode for directories that this user must pass through but not read.
    pub(super) fn passable_mode(&self) -> u32 {
        if self.account.is_some() { 0o711 } else { 0o700 }
    }

    /// Checks that this user can enter `directory`, by doing so: permission bits alone do not tell
    /// (access control lists, mount options).
    ///
    /// # Errors
    /// [`PrivatePostgresError::Unreachable`], which names the ancestor to open and `variable`, the
    /// setting to change instead.
    pub(super) fn check_reach(&self, directory: &Path, variable: &'static str) -> Result<(), PrivatePostgresError> {
        let Some(account) = &self.account else {
            return Ok(());
        };
        // The standard library changes the user first and the directory second, so this fails with
        // EACCES where Postgres would.
        let probe = self.command(Path::new("/bin/sh")).args(["-c", ":"]).current_dir(directory).status();
        match probe {
            Err(error) if is_denied(&error) => Err(PrivatePostgresError::Unreachable {
                user: account.name.clone(),
                path: directory.to_owned(),
                ancestor: account.first_closed(directory),
                variable,
            }),
            Err(error) => Err(PrivatePostgresError::file("enter, as the user for Postgres,", directory)(error)),
            Ok(_) => Ok(()),
        }
    }
}

impl Account {
    fn named(name: &str) -> Option<Self> {
        let user = User::from_name(name).ok().flatten()?;
        (!user.uid.is_root()).then(|| Self { name: user.name, uid: user.uid.as_raw(), gid: user.gid.as_raw() })
    }

    /// The owner of files, who need not be in the user database (a container, another machine's
    /// volume).
    fn of_owner(uid: u32, gid: u32) -> Self {
        match User::from_uid(Uid::from_raw(uid)).ok().flatten() {
            Some(user) => Self { name: user.name, uid, gid: user.gid.as_raw() },
            None => Self { name: format!("with id {uid}"), uid, gid: Gid::from_raw(gid).as_raw() },
        }
    }

    /// The outermost ancestor (or the directory itself) whose permission bits do not let this
    /// account pass.
    fn first_closed(&self, directory: &Path) -> PathBuf {
        let resolved = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let mut ancestors: Vec<&Path> = resolved.ancestors().collect();
        ancestors.reverse();
        ancestors
            .into_iter()
            .find(|ancestor| fs::metadata(ancestor).is_ok_and(|metadata| !self.may_pass(&metadata)))
            .unwrap_or(&resolved)
            .to_owned()
    }

    fn may_pass(&self, metadata: &fs::Metadata) -> bool {
        let search_bit = if metadata.uid() == self.uid {
            0o100
        } else if metadata.gid() == self.gid {
            0o010
        } else {
            0o001
        };
        metadata.mode() & search_bit != 0
    }
}

/// Whether an operation failed for lack of permission on a path. `EPERM`, which a failing change of
/// user gives, is another matter.
pub(super) fn is_denied(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::EACCES as i32)
}

/// Whether the service itself runs as root.
pub(super) fn service_is_root() -> bool {
    geteuid().is_root()
}
