//! Compares the migrations that were applied to a database with those of this build.

use sqlx::PgConnection;

use crate::store::{MIGRATOR, StoreError};

/// How the schema of a database relates to that of this build.
pub(in crate::store) enum SchemaVersion {
    /// Only migrations of this build are missing, this many; 0: the schema is that of this build.
    Behind(usize),
    /// A migration was applied that this build does not know: a newer release used the database.
    Newer(i64),
    /// An applied migration has the number of one of this build but other content: an unreleased build used the
    /// database.
    Foreign(i64),
}

impl SchemaVersion {
    /// Reads the applied migrations of a database, which may be empty.
    pub(in crate::store) async fn of(connection: &mut PgConnection) -> Result<Self, StoreError> {
        let is_there = sqlx::query_scalar!(r#"SELECT to_regclass('_sqlx_migrations') IS NOT NULL AS "is_there!""#)
            .fetch_one(&mut *connection)
            .await?;
        // The first migration run creates the table, so the query cannot be checked at compile time against an empty
        // database.
        let applied: Vec<(i64, Vec<u8>)> = if is_there {
            sqlx::query_as("SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version")
                .fetch_all(connection)
                .await?
        } else {
            Vec::new()
        };
        // Checked before unknown numbers: builds from before the first release had more migrations than that release
        // has.
        for (version, checksum) in &applied {
            if MIGRATOR.iter().any(|known| known.version == *version && *known.checksum != **checksum) {
                return Ok(Self::Foreign(*version));
            }
        }
        if let Some((version, _)) = applied.iter().find(|(version, _)| !MIGRATOR.version_exists(*version)) {
            return Ok(Self::Newer(*version));
        }
        Ok(Self::Behind(MIGRATOR.iter().count().saturating_sub(applied.len())))
    }

    /// Returns an error for a database that this build must not change.
    pub(in crate::store) fn refuse(self) -> Result<(), StoreError> {
        match self {
            Self::Behind(_) => Ok(()),
            Self::Newer(version) => Err(StoreError::Unsuitable(format!(
                "the database was used by a newer release of Cited (its migration {version} is not known here); start that \
                 release, or restore a backup from before it"
            ))),
            Self::Foreign(version) => Err(StoreError::Unsuitable(format!(
                "the database was made by another build of Cited, one that was never released (its migration {version} is \
                 another one); start that build, or begin with an empty database or data directory and ingest anew"
            ))),
        }
    }
}
