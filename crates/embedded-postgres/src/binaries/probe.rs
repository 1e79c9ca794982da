//! Determines the versions of the Postgres in a directory.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    super::unprivileged::{RunAs, is_denied},
    LEAST_PGVECTOR, SUPPORTED_MAJORS,
    places::leading_number,
};

/// The versions reported by one Postgres.
#[derive(Debug)]
pub(super) struct Probe {
    pub(super) version: String,
    pub(super) major: u32,
    /// Empty if there is no pgvector.
    pub(super) pgvector: String,
}

impl Probe {
    /// Queries the Postgres in `directory`, as the user that would run it.
    ///
    /// # Errors
    /// Why it cannot be run, as a sentence for people.
    pub(super) fn new(directory: &Path, run_as: &RunAs) -> Result<Self, String> {
        if !directory.is_dir() {
            return Err("there is no such directory".to_owned());
        }
        run_as.check_reach(directory, "CITED_POSTGRES_BIN").map_err(|error| error.to_string())?;
        if !directory.join("initdb").is_file() {
            return Err("it holds no initdb".to_owned());
        }
        let answer = ask(run_as, &directory.join("postgres"), "--version")?;
        let version = version_in(&answer).ok_or_else(|| format!("it calls itself `{answer}`"))?;
        Ok(Self {
            major: leading_number(&version),
            version,
            pgvector: pgvector_of(directory, run_as).unwrap_or_default(),
        })
    }

    /// Returns the Postgres if it is suitable.
    ///
    /// # Errors
    /// The reason why it is not suitable, as a sentence for people.
    pub(super) fn check(self, wanted_major: Option<&str>) -> Result<Self, String> {
        let Self { version, major, pgvector } = &self;
        if !SUPPORTED_MAJORS.contains(major) {
            let (least, most) = (SUPPORTED_MAJORS.start(), SUPPORTED_MAJORS.end());
            return Err(format!("Postgres {version}, and {least} to {most} are supported"));
        }
        if pgvector.is_empty() {
            return Err(format!("Postgres {version} has no pgvector"));
        }
        let (least_major, least_minor) = LEAST_PGVECTOR;
        if major_and_minor(pgvector) < LEAST_PGVECTOR {
            return Err(format!(
                "Postgres {version} has pgvector {pgvector}, and {least_major}.{least_minor} is needed"
            ));
        }
        match wanted_major {
            Some(wanted) if wanted != major.to_string() => {
                Err(format!("Postgres {version}, and the database was made by {wanted}"))
            }
            Some(_) | None => Ok(self),
        }
    }
}

/// The output of a program for one option.
fn ask(run_as: &RunAs, program: &Path, option: &str) -> Result<String, String> {
    let name = program.file_name().unwrap_or_default().display();
    match run_as.command(program).arg(option).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().next().unwrap_or_default();
            Err(format!("{name} does not run ({}) {line}", output.status).trim_end().to_owned())
        }
        Err(error) if is_denied(&error) => Err(format!("{name} may not be executed")),
        Err(error) => Err(format!("{name} cannot be run: {error}")),
    }
}

/// The version in a line such as `postgres (PostgreSQL) 16.4 (Debian 16.4-1)`.
fn version_in(answer: &str) -> Option<String> {
    let (_, rest) = answer.split_once("(PostgreSQL) ")?;
    let version = rest.split_whitespace().next()?;
    version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
}

/// The default version in pgvector's control file.
fn pgvector_of(directory: &Path, run_as: &RunAs) -> Option<String> {
    share_dirs(directory, run_as).into_iter().find_map(|share| {
        let control = fs::read_to_string(share.join("extension/vector.control")).ok()?;
        control.lines().find_map(default_version)
    })
}

/// Where extensions may be described: where `pg_config` says, else where packages put them (some
/// leave `pg_config` to a development package).
fn share_dirs(directory: &Path, run_as: &RunAs) -> Vec<PathBuf> {
    if let Ok(share) = ask(run_as, &directory.join("pg_config"), "--sharedir") {
        return vec![share.into()];
    }
    let install = directory.parent().unwrap_or(directory);
    let version = install.file_name().unwrap_or_default();
    vec![install.join("share/postgresql"), install.join("share"), Path::new("/usr/share/postgresql").join(version)]
}

fn default_version(line: &str) -> Option<String> {
    let (name, value) = line.split_once('=')?;
    (name.trim() == "default_version").then(|| value.trim().trim_matches('\'').to_owned())
}

fn major_and_minor(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(leading_number);
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}
