//! The log of the services that run within the tests, as `CITED_LOG=debug` would have it.

use std::{
    io,
    sync::{Mutex, Once},
};

use tracing_subscriber::{EnvFilter, fmt};

use super::WORDS;

static WATCHED: Once = Once::new();
/// Lines of the log that hold a word of a canary.
static FOUND: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps those lines that hold a word of a canary.
struct Search;

impl io::Write for Search {
    /// A line comes as one.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let lower = text.to_lowercase();
        if WORDS.iter().any(|word| lower.contains(word)) {
            FOUND.lock().expect("lock").push(text.into_owned());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Has the logs of all services of this process searched from now on: when the canaries are made, their names are those of
/// requests.
pub(crate) fn watch_logs() {
    WATCHED.call_once(|| {
        let filter = EnvFilter::new("info,cited=debug,sqlx=debug");
        let lines = fmt().json().with_env_filter(filter).with_writer(|| Search);
        lines.try_init().expect("nobody else has the log");
    });
}

/// Checks that no service of this process has logged a word of a canary so far.
pub(crate) fn assert_absent_from_logs() {
    let found = FOUND.lock().expect("lock").clone();
    assert!(found.is_empty(), "words of canaries stand in the log: {found:#?}");
}
