//! The log of Postgres: one file in the data directory, and the one before it.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::PrivatePostgresError;

/// A larger log is renamed at the next start, in bytes.
const ROTATE_ABOVE_BYTES: u64 = 8 * 1024 * 1024;

/// Largest part of the log that an error message quotes, in bytes.
const TAIL_BYTES: u64 = 8 * 1024;
const TAIL_LINES: usize = 20;

/// The log of one run of Postgres: the file, and where in it this run begins.
#[derive(Debug)]
pub(super) struct RunLog {
    path: PathBuf,
    begins_at: u64,
}

impl RunLog {
    /// Opens the log for appending, and renames a large one first. Postgres writes to the returned file.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub(super) fn open(path: &Path) -> Result<(Self, File), PrivatePostgresError> {
        if fs::metadata(path).is_ok_and(|metadata| metadata.len() > ROTATE_ABOVE_BYTES) {
            fs::rename(path, path.with_extension("log.1")).map_err(PrivatePostgresError::file("put aside", path))?;
        }
        let open_error = || PrivatePostgresError::file("open", path);
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(open_error())?;
        let begins_at = file.metadata().map_err(open_error())?.len();
        Ok((Self { path: path.to_owned(), begins_at }, file))
    }

    /// Where the log is.
    pub(super) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The last lines of this run. Never fails: it serves an error message about something else.
    pub(super) fn tail(&self) -> String {
        let read = || -> std::io::Result<String> {
            let mut file = File::open(&self.path)?;
            let end = file.metadata()?.len();
            file.seek(SeekFrom::Start(self.begins_at.max(end.saturating_sub(TAIL_BYTES))))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        match read() {
            Ok(text) => last_lines(&text),
            Err(error) => format!("(the log cannot be read: {error})"),
        }
    }
}

/// The last lines of a text, as many as an error message should quote.
pub(super) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(TAIL_LINES);
    match lines.get(skipped..) {
        Some(tail) if !tail.is_empty() => tail.join("\n"),
        _ => "(nothing)".to_owned(),
    }
}
