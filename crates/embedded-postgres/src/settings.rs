//! Settings of the private Postgres.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{PrivatePostgresError, unprivileged::service_is_root};

/// Where `scripts/fetch-postgres` unpacks for root, and where everyone looks as well.
pub(super) const ROOT_CACHE_DIR: &str = "/var/cache/cited";
const ROOT_DATA_DIR: &str = "/var/lib/cited";

/// Settings of the private Postgres.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Directory of the database, its log and its lock. Created if missing.
    pub data_dir: PathBuf,
    /// The bin directory of the Postgres to use. `None` searches for one.
    pub bin_dir: Option<PathBuf>,
    /// Where `scripts/fetch-postgres` unpacks.
    pub cache_dir: PathBuf,
    /// The value of `PATH`, for the search.
    pub search_path: Option<OsString>,
    /// The data that a crash of the machine may lose.
    pub durability: Durability,
}

/// The data that a crash of the machine may lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A crash loses nothing that was committed.
    #[default]
    Full,
    /// A crash of the machine may lose the whole database; a killed process still loses nothing. For tests and other
    /// temporary data.
    None,
}

/// The environment values that the default folders depend on. Empty and relative ones count as
/// unset, as the XDG specification has it.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub xdg_data_home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`.
    pub xdg_cache_home: Option<PathBuf>,
}

impl Settings {
    /// The data directory when `CITED_DATA_DIR` is not set.
    ///
    /// # Errors
    /// If no home folder is known.
    pub fn default_data_dir(folders: &Folders) -> Result<PathBuf, PrivatePostgresError> {
        folders
            .choose(ROOT_DATA_DIR, folders.xdg_data_home.as_deref(), ["Library/Application Support", ".local/share"])
            .ok_or(PrivatePostgresError::NoHome { what: "the database", variable: "CITED_DATA_DIR" })
    }

    /// Where `scripts/fetch-postgres` unpacks. The script chooses likewise.
    ///
    /// Root uses a folder that everyone can reach, because Postgres does not run as root.
    ///
    /// # Errors
    /// If no home folder is known.
    pub fn default_cache_dir(folders: &Folders) -> Result<PathBuf, PrivatePostgresError> {
        folders
            .choose(ROOT_CACHE_DIR, folders.xdg_cache_home.as_deref(), ["Library/Caches", ".cache"])
            .ok_or(PrivatePostgresError::NoHome { what: "Postgres", variable: "CITED_POSTGRES_BIN" })
    }
}

impl Folders {
    fn choose(&self, for_root: &str, xdg: Option<&Path>, in_home: [&str; 2]) -> Option<PathBuf> {
        if service_is_root() {
            return Some(for_root.into());
        }
        let [on_macos, elsewhere] = in_home;
        let home = self.home.as_deref().filter(|home| home.is_absolute());
        if cfg!(target_os = "macos") {
            return home.map(|home| home.join(on_macos).join("cited"));
        }
        xdg.filter(|folder| folder.is_absolute())
            .map(Path::to_owned)
            .or_else(|| home.map(|home| home.join(elsewhere)))
            .map(|folder| folder.join("cited"))
    }
}
