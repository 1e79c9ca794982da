//! The cluster: created once by `initdb`, either completely or not at all.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use super::{
    Durability, PrivatePostgresError, SUPERUSER,
    binaries::Binaries,
    data_dir::{DataDir, cluster_of, password_of},
    log_file::last_lines,
    random_hex,
    unprivileged::RunAs,
};

/// Permissions with which Postgres refuses a cluster: the group may only read it, others nothing.
const OTHERS: u32 = 0o027;

/// Prefix of a cluster that is being created. The rest of the name is random: an `initdb` that outlived a killed
/// service must not write into the directory of the next one.
const STAGING_PREFIX: &str = "cluster-unfinished-";

/// The password of the superuser. `Debug` does not show it.
#[derive(Clone)]
pub(super) struct Password(String);

impl Password {
    /// The password, for the connection options only; it must never be printed.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Password(…)")
    }
}

/// The major version that a cluster was made with, or `None` if there is no cluster.
///
/// # Errors
/// If the version cannot be read.
pub(super) fn major_of(cluster: &Path) -> Result<Option<String>, PrivatePostgresError> {
    let path = cluster.join("PG_VERSION");
    match fs::read_to_string(&path) {
        Ok(version) => Ok(Some(version.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(PrivatePostgresError::file("read", path)(error)),
    }
}

/// Creates the cluster unless it exists, and returns the superuser's password.
///
/// `initdb` works in a directory under another name, which is renamed when everything is done. A crash at any point
/// leaves either no cluster or a complete one; an unfinished one is removed here.
///
/// # Errors
/// If `initdb` or the file system fails, or if the cluster exists and its password does not.
pub(super) fn ensure(
    data: &DataDir,
    binaries: &Binaries,
    run_as: &RunAs,
    durability: Durability,
) -> Result<Password, PrivatePostgresError> {
    remove_unfinished(data.root())?;
    if data.cluster().exists() {
        return existing(data.root());
    }
    tracing::info!(data_dir = %data.root().display(), postgres = %binaries.version, "creating the private database");
    // A new password for each attempt, written before initdb reads it: when the cluster appears,
    // its password is on disk.
    let password = write_password(data, run_as)?;
    let staging = data.root().join(format!("{STAGING_PREFIX}{}", random_hex(8)?));
    DirBuilder::new().mode(0o700).create(&staging).map_err(PrivatePostgresError::file("create", &staging))?;
    run_as.give(&staging)?;
    initdb(data, binaries, run_as, durability, &staging)?;
    let cluster = data.cluster();
    fs::rename(&staging, &cluster).map_err(PrivatePostgresError::file("create", &cluster))?;
    sync_directory(data.root())?;
    Ok(password)
}

/// Checks that the cluster of a data directory can be started, and returns the superuser's password.
///
/// # Errors
/// If others can enter the cluster, which Postgres refuses, or its password is missing.
pub(super) fn existing(root: &Path) -> Result<Password, PrivatePostgresError> {
    let cluster = cluster_of(root);
    let mode = fs::metadata(&cluster).map_err(PrivatePostgresError::file("read", &cluster))?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(PrivatePostgresError::OpenToOthers { path: cluster, mode: mode & 0o777 });
    }
    read_password(password_of(root))
}

fn remove_unfinished(root: &Path) -> Result<(), PrivatePostgresError> {
    let entries = fs::read_dir(root).map_err(PrivatePostgresError::file("read", root))?;
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(STAGING_PREFIX) {
            let path = entry.path();
            tracing::warn!(path = %path.display(), "removing an unfinished database of an interrupted start");
            // The initdb of a start that was killed may still write into it. It does not disturb anything meanwhile.
            if let Err(error) = fs::remove_dir_all(&path) {
                tracing::warn!(path = %path.display(), %error, "not removed yet; the next start will try again");
            }
        }
    }
    Ok(())
}

fn initdb(
    data: &DataDir,
    binaries: &Binaries,
    run_as: &RunAs,
    durability: Durability,
    staging: &Path,
) -> Result<(), PrivatePostgresError> {
    let program = binaries.directory.join("initdb");
    let mut command = run_as.command(&program);
    command
        .arg("--pgdata")
        .arg(staging)
        .arg("--pwfile")
        .arg(data.password_file())
        .args(["--username", SUPERUSER])
        .args(["--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C"])
        .args(["--data-checksums", "--no-instructions"]);
    // Text must sort and fold alike on every machine, which the C library's locales do not promise.
    // Postgres 16 has no built-in provider; its plain C locale folds ASCII only.
    if binaries.major >= 17 {
        command.args(["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]);
    }
    match durability {
        Durability::Full => {}
        Durability::None => {
            command.arg("--no-sync");
        }
    }
    let output = command.output().map_err(PrivatePostgresError::file("run", program))?;
    if output.status.success() {
        return Ok(());
    }
    Err(PrivatePostgresError::InitFailed {
        status: output.status.to_string(),
        output: last_lines(&String::from_utf8_lossy(&output.stderr)),
    })
}

fn write_password(data: &DataDir, run_as: &RunAs) -> Result<Password, PrivatePostgresError> {
    let path = data.password_file();
    let password = random_hex(32)?;
    // An existing file belongs to no cluster; a new file has the permissions asked for.
    let _ = fs::remove_file(&path);
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| {
            file.write_all(password.as_bytes())?;
            file.sync_all()
        })
        .map_err(PrivatePostgresError::file("write", &path))?;
    // initdb reads it as the user that Postgres runs as, who has full control over the database anyway.
    run_as.give(&path)?;
    Ok(Password(password))
}

fn read_password(path: PathBuf) -> Result<Password, PrivatePostgresError> {
    let password = fs::read_to_string(&path)
        .and_then(|text| match text.trim() {
            "" => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty")),
            password => Ok(password.to_owned()),
        })
        .map_err(|source| PrivatePostgresError::PasswordMissing { path, source })?;
    Ok(Password(password))
}

/// Makes a rename last through a power cut.
fn sync_directory(path: &Path) -> Result<(), PrivatePostgresError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(PrivatePostgresError::file("sync", path))
}
