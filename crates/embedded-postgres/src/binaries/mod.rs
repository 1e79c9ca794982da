//! Finds a suitable Postgres: a supported major version, with pgvector, that can be run.

mod places;
mod probe;
#[cfg(test)]
mod tests;

use std::{fmt, path::PathBuf};

use places::Places;
use probe::Probe;

use super::{PrivatePostgresError, Settings, Skipped, cluster, data_dir::cluster_of, unprivileged::RunAs};

/// The major versions that the service is tested with.
const SUPPORTED_MAJORS: std::ops::RangeInclusive<u32> = 16..=18;

/// The minimum version of pgvector: iterative index scans came with 0.8.
const LEAST_PGVECTOR: (u32, u32) = (0, 8);

/// A suitable Postgres.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    /// The directory that contains `postgres` and `initdb`.
    pub directory: PathBuf,
    /// The version, such as `18.4`.
    pub version: String,
    /// The major version, such as `18`.
    pub major: u32,
    /// The version of pgvector that it offers, such as `0.8.5`.
    pub pgvector: String,
    /// How it was found.
    pub source: Source,
    /// The places that were checked before it, and why they were rejected.
    pub skipped: Vec<Skipped>,
}

/// How a Postgres was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `CITED_POSTGRES_BIN` names it.
    Configured,
    /// It is installed on the machine.
    Installed,
    /// `scripts/fetch-postgres` unpacked it.
    Unpacked,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Configured => "set by CITED_POSTGRES_BIN",
            Self::Installed => "installed",
            Self::Unpacked => "unpacked by scripts/fetch-postgres",
        })
    }
}

impl fmt::Display for Binaries {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { directory, version, pgvector, source, .. } = self;
        write!(formatter, "Postgres {version} with pgvector {pgvector} in {} ({source})", directory.display())
    }
}

/// Finds the Postgres that a start with these settings would use. Runs a few short commands and
/// blocks meanwhile.
///
/// A configured directory is used or refused, never skipped. Otherwise the first suitable one is used; if the data
/// directory already contains a database, the first of the major version that created it.
///
/// # Errors
/// [`PrivatePostgresError::NoBinaries`] or [`PrivatePostgresError::OtherMajor`], with every place that was checked.
pub fn find_binaries(settings: &Settings) -> Result<Binaries, PrivatePostgresError> {
    let cluster = cluster_of(&settings.data_dir);
    let run_as = RunAs::choose(&cluster)?;
    let wanted_major = cluster::major_of(&cluster)?;
    find_among(&Places::of(settings), &run_as, wanted_major.as_deref()).map_err(|skipped| match wanted_major {
        Some(found) => PrivatePostgresError::OtherMajor { path: cluster, found, skipped },
        None => PrivatePostgresError::NoBinaries { skipped },
    })
}

/// The first suitable candidate, or the reasons why none is suitable.
fn find_among(places: &Places, run_as: &RunAs, wanted_major: Option<&str>) -> Result<Binaries, Vec<Skipped>> {
    let (candidates, mut skipped) = places.candidates();
    for candidate in candidates {
        let place = candidate.directory.display().to_string();
        match Probe::new(&candidate.directory, run_as).and_then(|probe| probe.check(wanted_major)) {
            Ok(probe) => {
                return Ok(Binaries {
                    directory: candidate.directory,
                    version: probe.version,
                    major: probe.major,
                    pgvector: probe.pgvector,
                    source: candidate.source,
                    skipped,
                });
            }
            Err(reason) => skipped.push(Skipped { place, reason }),
        }
    }
    Err(skipped)
}
