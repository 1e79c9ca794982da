//! The data directory: its layout, and the lock that restricts it to one service process.
//!
//! ```text
//! lock           held for life, names the process
//! password       of the superuser, 0600
//! cluster/       what initdb made; belongs to the user that Postgres runs as
//! run/           the socket
//! postgres.log   and postgres.log.1
//! ```

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use nix::unistd::geteuid;

use super::{PrivatePostgresError, random_hex, unprivileged::RunAs};

/// The port, which is only part of the socket's file name.
pub(super) const SOCKET_PORT: u16 = 5432;

/// A socket address holds 103 bytes of path on macOS and 107 on Linux; the lesser serves both.
const SOCKET_PATH_BYTES: usize = 103;

/// Where the socket goes when the data directory's path is too long. Not `TMPDIR`: that may be as
/// long.
const SHORT_DIR: &str = "/tmp";

/// An existing, locked data directory. Dropping it releases the lock.
#[derive(Debug)]
pub(super) struct DataDir {
    root: PathBuf,
    lock: File,
}

impl Drop for DataDir {
    /// A program that is being started at this moment still has the file open, and with it the lock, unless that is given up.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

impl DataDir {
    /// Creates the directory if need be and takes its lock.
    ///
    /// # Errors
    /// If another process holds the lock, if `run_as` cannot reach the directory, or if the file
    /// system refuses.
    pub(super) fn open(root: &Path, run_as: &RunAs) -> Result<Self, PrivatePostgresError> {
        let root = std::path::absolute(root).map_err(PrivatePostgresError::file("find", root))?;
        create_passable(&root, run_as)?;
        let root = root.canonicalize().map_err(PrivatePostgresError::file("open", &root))?;
        run_as.check_reach(&root, "CITED_DATA_DIR")?;
        let lock = lock(&root)?;
        Ok(Self { root, lock })
    }

    /// The directory itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The directory that Postgres uses as its data directory.
    pub(super) fn cluster(&self) -> PathBuf {
        cluster_of(&self.root)
    }

    /// The superuser's password.
    pub(super) fn password_file(&self) -> PathBuf {
        password_of(&self.root)
    }

    /// The file that Postgres writes its log to.
    pub(super) fn log_file(&self) -> PathBuf {
        self.root.join("postgres.log")
    }
}

/// Checks that a data directory could be used now, and creates and changes nothing; `None` if there is none yet.
///
/// # Errors
/// If another process holds its lock, or `run_as` cannot reach it or the place where it would be made.
pub(super) fn look(root: &Path, run_as: &RunAs) -> Result<Option<PathBuf>, PrivatePostgresError> {
    let root = std::path::absolute(root).map_err(PrivatePostgresError::file("find", root))?;
    if !root.is_dir() {
        if let Some(ancestor) = root.ancestors().find(|ancestor| ancestor.is_dir()) {
            run_as.check_reach(ancestor, "CITED_DATA_DIR")?;
        }
        return Ok(None);
    }
    run_as.check_reach(&root, "CITED_DATA_DIR")?;
    let path = root.join("lock");
    match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(PrivatePostgresError::file("open", &path)(error)),
        Ok(mut file) => match file.try_lock_shared() {
            Ok(()) => file.unlock().map_err(PrivatePostgresError::file("unlock", &path))?,
            Err(TryLockError::WouldBlock) => return Err(in_use(&root, &mut file)),
            Err(TryLockError::Error(error)) => return Err(PrivatePostgresError::file("lock", &path)(error)),
        },
    }
    Ok(Some(root))
}

/// The error of a data directory whose lock another process holds.
fn in_use(root: &Path, lock: &mut File) -> PrivatePostgresError {
    let mut holder = String::new();
    // The number is optional: without it the message still describes the error.
    let read = lock.rewind().and_then(|()| lock.read_to_string(&mut holder));
    let holder = match read {
        Ok(_) if !holder.is_empty() => format!("process {holder}"),
        _ => "another process".to_owned(),
    };
    PrivatePostgresError::InUse { path: root.to_owned(), holder }
}

/// Where the superuser's password is in a data directory.
pub(super) fn password_of(root: &Path) -> PathBuf {
    root.join("password")
}

/// Where the cluster is in a data directory that need not exist.
pub(super) fn cluster_of(root: &Path) -> PathBuf {
    root.join("cluster")
}

/// Creates `path` with its missing ancestors, all passable for `run_as`, regardless of the umask.
fn create_passable(path: &Path, run_as: &RunAs) -> Result<(), PrivatePostgresError> {
    if path.is_dir() {
        return Ok(());
    }
    match path.parent() {
        Some(parent) if !parent.is_dir() => create_passable(parent, run_as)?,
        Some(parent) => run_as.check_reach(parent, "CITED_DATA_DIR")?,
        None => {}
    }
    match fs::create_dir(path) {
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(run_as.passable_mode()))
            .map_err(PrivatePostgresError::file("set the permissions of", path)),
        // Another process, starting at the same time, was faster.
        Err(_) if path.is_dir() => Ok(()),
        Err(error) => Err(PrivatePostgresError::file("create", path)(error)),
    }
}

/// Takes the lock of the data directory and writes the process number into it.
///
/// The operating system releases the lock when the process ends, however it ends, so it is never
/// stale.
fn lock(root: &Path) -> Result<File, PrivatePostgresError> {
    let path = root.join("lock");
    let failed = |action| PrivatePostgresError::file(action, &path);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(failed("open"))?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0).map_err(failed("write"))?;
            write!(file, "{}", std::process::id()).map_err(failed("write"))?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => Err(in_use(root, &mut file)),
        Err(TryLockError::Error(error)) => Err(failed("lock")(error)),
    }
}

/// The directory of the socket.
#[derive(Debug)]
pub(super) struct SocketDir {
    path: String,
    /// Outside the data directory, so it is removed at the end.
    is_temporary: bool,
}

impl SocketDir {
    /// Makes the directory: in the data directory, or in a short place when that path is too long
    /// for a socket.
    ///
    /// # Errors
    /// If no directory can be made that belongs to `run_as` alone.
    pub(super) fn prepare(data: &DataDir, run_as: &RunAs) -> Result<Self, PrivatePostgresError> {
        let inside = data.root.join("run");
        match inside.to_str() {
            Some(path) if socket_file(path).len() <= SOCKET_PATH_BYTES => {
                // Made anew, because Postgres may have run as another user before.
                match fs::remove_dir_all(&inside) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(PrivatePostgresError::file("clear", inside)(error));
                    }
                    Ok(()) | Err(_) => make_private(&inside, run_as)?,
                }
                Ok(Self { path: path.to_owned(), is_temporary: false })
            }
            Some(_) | None => Ok(Self { path: short_dir(&data.root, run_as)?, is_temporary: true }),
        }
    }

    /// The path, which is UTF-8 because both Postgres' and the driver's settings are text.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Removes socket and lock file. Postgres would refuse a lock file whose process number has
    /// been reused.
    ///
    /// To be called only while no Postgres runs on the data directory.
    pub(super) fn clear(&self) {
        let socket = socket_file(&self.path);
        // Usually neither is there.
        let _ = fs::remove_file(&socket);
        let _ = fs::remove_file(format!("{socket}.lock"));
    }
}

impl Drop for SocketDir {
    fn drop(&mut self) {
        if self.is_temporary {
            // Refused while a Postgres that was not stopped still has its socket there; the next
            // start uses the same directory.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

fn socket_file(directory: &str) -> String {
    format!("{directory}/.s.PGSQL.{SOCKET_PORT}")
}

/// Creates a private directory in a place that others can write to. Its name is derived from the data directory, so
/// that a service killed repeatedly leaves one such directory instead of many; if another user occupies that name,
/// another name is used.
fn short_dir(root: &Path, run_as: &RunAs) -> Result<String, PrivatePostgresError> {
    let mut hasher = DefaultHasher::new();
    root.hash(&mut hasher);
    let usual = format!("{SHORT_DIR}/cited-{:016x}", hasher.finish());
    if make_private(Path::new(&usual), run_as).is_ok() {
        return Ok(usual);
    }
    let other = format!("{usual}-{}", random_hex(8)?);
    make_private(Path::new(&other), run_as).map(|()| other)
}

/// Makes a directory that only `run_as` can enter, or takes over one that was made so before.
fn make_private(path: &Path, run_as: &RunAs) -> Result<(), PrivatePostgresError> {
    let failed = |action| PrivatePostgresError::file(action, path);
    if let Err(error) = DirBuilder::new().mode(0o700).create(path) {
        let metadata = fs::symlink_metadata(path).map_err(failed("create"))?;
        if metadata.is_dir() && metadata.uid() == run_as.uid() && metadata.mode() & 0o777 == 0o700 {
            // Nothing to change, and nothing may be changed: its owner could put a link in its
            // place meanwhile, and root would follow it.
            return Ok(());
        }
        // Phase-made by this service. Only its owner can have replaced it.
        if !(metadata.is_dir() && metadata.uid() == geteuid().as_raw()) {
            return Err(failed("create")(error));
        }
    }
    run_as.give(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(failed("set the permissions of"))
}
