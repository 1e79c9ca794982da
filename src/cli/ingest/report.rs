//! The report of a run.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::super::wording::counted;
use crate::domain::job::ReadingNotes;

/// Largest number of failed documents that are named per cause; the JSON report names all of them.
const NAMED: usize = 10;

/// Cause of a failure to read on this machine.
const UNREADABLE: &str = "unreadable";
/// Cause of a failure to send a file that is too large.
pub(super) const TOO_LARGE: &str = "body_too_large";

/// The outcome of a run.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// Documents stored, new or in a new version.
    pub(super) stored: u64,
    /// Number of chunks of those documents.
    pub(super) chunks: u64,
    /// Documents that were already stored exactly as sent.
    pub(super) unchanged: u64,
    /// Documents that were deleted because their file is gone; null unless a folder is kept in step.
    pub(super) deleted: Option<u64>,
    /// Documents that are found by their words: all of the above, and failed ones that only lack vectors.
    pub(super) searchable: u64,
    /// Documents that are not stored, or lack vectors.
    pub(super) failed: Vec<Failure>,
    /// Stored documents that were damaged or lack pages.
    pub(super) noted: Vec<Note>,
    /// Number of skipped files in folders, by file extension.
    pub(super) skipped: BTreeMap<String, usize>,
    /// Number of symbolic links in folders, which were skipped.
    pub(super) links: usize,
    /// Number of hidden or ignored files and folders, which were left out.
    pub(super) hidden: usize,
    /// Ids of the jobs of this run.
    pub(super) jobs: Vec<String>,
    /// Duration of the run, in seconds.
    pub(super) seconds: f64,
    /// Why not everything was done; null if it was.
    pub(super) error: Option<String>,
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

/// A stored document about which something was conspicuous when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// Source of the document.
    pub(super) source: String,
    /// The remarks.
    pub(super) reading: ReadingNotes,
}

impl Failure {
    /// A document that could not be read on this machine.
    pub(super) fn here(source: String, message: String) -> Self {
        Self { source, cause: UNREADABLE.to_owned(), message }
    }

    /// Whether it could not be read on this machine.
    pub(super) fn is_here(&self) -> bool {
        self.cause == UNREADABLE
    }

    /// Whether it was not sent, though its name is of use.
    pub(super) fn is_unsent(&self) -> bool {
        self.is_here() || self.cause == TOO_LARGE
    }
}

/// On one line: a name that would break it is escaped.
impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, message, .. } = self;
        if source.contains(char::is_control) {
            write!(formatter, "{source:?}: {message}")
        } else {
            write!(formatter, "{source}: {message}")
        }
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
            "{} in {:.1} s: {} stored in {}, {} unchanged, {} failed{}",
            counted(self.documents(), "document"),
            self.seconds,
            self.stored,
            counted(self.chunks, "chunk"),
            self.unchanged,
            self.failed.len(),
            self.deleted.map_or_else(String::new, |deleted| format!(", {deleted} deleted"))
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
                "{} passed over, which {} of no format that is read: {}",
                counted(total, "file"),
                if total == 1 { "is" } else { "are" },
                kinds.join(", ")
            )?;
        }
        if self.links > 0 {
            writeln!(
                formatter,
                "{} passed over; named by itself, or by where it leads, a link is taken",
                counted(self.links, "symbolic link")
            )?;
        }
        if self.hidden > 0 {
            let things = if self.hidden == 1 { "file or folder" } else { "files and folders" };
            writeln!(formatter, "{} hidden or ignored {things} left out; --all takes them", self.hidden)?;
        }
        self.write_notes(formatter)?;
        let mut causes: BTreeMap<&str, Vec<&Failure>> = BTreeMap::new();
        for failure in &self.failed {
            causes.entry(&failure.cause).or_default().push(failure);
        }
        for (cause, failures) in causes {
            let lines: Vec<String> = failures.iter().map(ToString::to_string).collect();
            write_list(formatter, cause, &lines)?;
        }
        Ok(())
    }
}

impl Report {
    /// Writes which documents lack pages, and which were damaged.
    fn write_notes(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut pages, mut recognised, mut attachments, mut damage) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let numbers = |pages: &[u32]| pages.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        for Note { source, reading } in &self.noted {
            let ReadingNotes {
                repaired_characters,
                dropped_characters,
                pages_without_text,
                recognised_pages,
                unread_attachments,
            } = reading;
            if !pages_without_text.is_empty() {
                pages.push(format!("{source}: {}", numbers(pages_without_text)));
            }
            if !recognised_pages.is_empty() {
                recognised.push(format!("{source}: {}", numbers(recognised_pages)));
            }
            if !unread_attachments.is_empty() {
                attachments.push(format!("{source}: {}", unread_attachments.join(", ")));
            }
            if repaired_characters + dropped_characters > 0 {
                damage.push(format!("{source}: {repaired_characters} repaired, {dropped_characters} dropped"));
            }
        }
        write_list(formatter, "pages without text; recognise the text of scans first (OCR)", &pages)?;
        write_list(formatter, "pages whose text was recognised (OCR)", &recognised)?;
        write_list(formatter, "attachments that are not read", &attachments)?;
        write_list(formatter, "damaged characters", &damage)
    }
}

/// Writes some of the lines below a heading, if there are any.
fn write_list(formatter: &mut fmt::Formatter<'_>, heading: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(formatter, "\n{heading} ({})", lines.len())?;
    for line in lines.iter().take(NAMED) {
        writeln!(formatter, "  {line}")?;
    }
    if lines.len() > NAMED {
        writeln!(formatter, "  and {} more; --json names them", lines.len() - NAMED)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        let report = Report {
            stored: 1,
            chunks: 1,
            links: 1,
            hidden: 1,
            skipped: BTreeMap::from([(".png".to_owned(), 1)]),
            ..Report::default()
        };
        let expected = "1 document in 0.0 s: 1 stored in 1 chunk, 0 unchanged, 0 failed\n\
                        1 file passed over, which is of no format that is read: 1 .png\n\
                        1 symbolic link passed over; named by itself, or by where it leads, a link is taken\n\
                        1 hidden or ignored file or folder left out; --all takes them\n";
        assert_eq!(report.to_string(), expected);
    }

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
        let note = |source: &str, reading: ReadingNotes| Note { source: source.to_owned(), reading };
        let noted = vec![
            note("b.pdf", ReadingNotes { pages_without_text: vec![2, 5], ..ReadingNotes::default() }),
            note("c.txt", ReadingNotes { repaired_characters: 20, dropped_characters: 1, ..ReadingNotes::default() }),
        ];
        let report = Report {
            noted,
            stored: 3,
            chunks: 9,
            unchanged: 1,
            failed,
            skipped,
            links: 4,
            hidden: 2,
            seconds: 1.25,
            ..Report::default()
        };
        let text = report.to_string();
        let expected = "17 documents in 1.2 s: 3 stored in 9 chunks, 1 unchanged, 13 failed\n\
                        3 files passed over, which are of no format that is read: 2 .png, 1 .zip\n\
                        4 symbolic links passed over; named by itself, or by where it leads, a link is taken\n\
                        2 hidden or ignored files and folders left out; --all takes them\n\
                        \npages without text; recognise the text of scans first (OCR) (1)\n  b.pdf: 2, 5\n\
                        \ndamaged characters (1)\n  c.txt: 20 repaired, 1 dropped\n\
                        \nencrypted (1)\n  a.docx: do this\n\
                        \nno_text_layer (12)\n  0.pdf: do this\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("  9.pdf: do this\n  and 2 more; --json names them\n"), "{text}");
    }
}
