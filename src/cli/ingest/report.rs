//! The report of a run.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

/// Largest number of failed documents that are named per cause; the JSON report names all of them.
const NAMED: usize = 10;

/// The outcome of a run.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// Documents stored, new or in a new version.
    pub(super) stored: u64,
    /// Number of chunks of those documents.
    pub(super) chunks: u64,
    /// Documents that were already stored exactly as sent.
    pub(super) unchanged: u64,
    /// Documents that are found by their words: all of the above, and failed ones that only lack vectors.
    pub(super) searchable: u64,
    /// Documents that are not stored, or lack vectors.
    pub(super) failed: Vec<Failure>,
    /// Number of skipped files in folders, by file extension.
    pub(super) skipped: BTreeMap<String, usize>,
    /// Number of symbolic links in folders, which were skipped.
    pub(super) links: usize,
    /// Ids of the jobs of this run.
    pub(super) jobs: Vec<String>,
    /// Duration of the run, in seconds.
    pub(super) seconds: f64,
}

/// A document that is not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Failure {
    /// Source of the document.
    pub(super) source: String,
    /// Typed cause.
    pub(super) cause: String,
    /// How to resolve the failure.
    pub(super) message: String,
}

impl Failure {
    /// A document that could not be read on this machine.
    pub(super) fn here(source: String, message: String) -> Self {
        Self { source, cause: "unreadable".to_owned(), message }
    }
}

impl Report {
    /// Total number of documents of the run.
    pub(super) fn documents(&self) -> usize {
        usize::try_from(self.stored + self.unchanged).unwrap_or(usize::MAX).saturating_add(self.failed.len())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{} documents in {:.1} s: {} stored in {} chunks, {} unchanged, {} failed",
            self.documents(),
            self.seconds,
            self.stored,
            self.chunks,
            self.unchanged,
            self.failed.len()
        )?;
        let by_words = self.searchable.saturating_sub(self.stored + self.unchanged);
        if by_words > 0 {
            writeln!(
                formatter,
                "{by_words} of those that failed are found by their words; run the command again, and their vectors are made"
            )?;
        }
        if !self.skipped.is_empty() {
            let total: usize = self.skipped.values().sum();
            let kinds: Vec<String> = self.skipped.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            writeln!(
                formatter,
                "{total} files passed over, which are of no format that is read: {}",
                kinds.join(", ")
            )?;
        }
        if self.links > 0 {
            writeln!(
                formatter,
                "{} symbolic links passed over; name them, or where they lead, and they are taken",
                self.links
            )?;
        }
        let mut causes: BTreeMap<&str, Vec<&Failure>> = BTreeMap::new();
        for failure in &self.failed {
            causes.entry(&failure.cause).or_default().push(failure);
        }
        for (cause, failures) in causes {
            writeln!(formatter, "\n{cause} ({})", failures.len())?;
            for failure in failures.iter().take(NAMED) {
                writeln!(formatter, "  {}: {}", failure.source, failure.message)?;
            }
            if failures.len() > NAMED {
                writeln!(formatter, "  and {} more; --json names them", failures.len() - NAMED)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_stand_by_cause() {
        let failure = |source: &str, cause: &str| Failure {
            source: source.to_owned(),
            cause: cause.to_owned(),
            message: "do this".to_owned(),
        };
        let mut failed: Vec<Failure> =
            (0..12).map(|number| failure(&format!("{number}.pdf"), "no_text_layer")).collect();
        failed.push(failure("a.docx", "encrypted"));
        let skipped = BTreeMap::from([(".png".to_owned(), 2), (".zip".to_owned(), 1)]);
        let report = Report {
            stored: 3,
            chunks: 9,
            unchanged: 1,
            failed,
            skipped,
            links: 4,
            seconds: 1.25,
            ..Report::default()
        };
        let text = report.to_string();
        let expected = "17 documents in 1.2 s: 3 stored in 9 chunks, 1 unchanged, 13 failed\n\
                        3 files passed over, which are of no format that is read: 2 .png, 1 .zip\n\
                        4 symbolic links passed over; name them, or where they lead, and they are taken\n\
                        \nencrypted (1)\n  a.docx: do this\n\
                        \nno_text_layer (12)\n  0.pdf: do this\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("  9.pdf: do this\n  and 2 more; --json names them\n"), "{text}");
    }
}
