//! States of ingest jobs and of their items, and how a job's state follows from those of its items.

use serde::{Deserialize, Serialize};

/// The kind of work a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// It ingests documents.
    Ingest,
    /// It builds stored documents into the next index of their collection.
    Index,
}

/// State of a job as a caller sees it. The last four are terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Accepted and durable; no item has been claimed.
    Queued,
    /// At least one item has been claimed.
    Running,
    /// Every document is stored, or was there unchanged, or was deleted while it waited.
    Succeeded,
    /// Some documents are stored and some failed; or documents lack only their vectors.
    Partial,
    /// No document could be stored.
    Failed,
    /// Stopped on request; or all of its documents were deleted while they waited.
    Cancelled,
}

/// When a document becomes searchable: by its words, and by its vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Indexing {
    /// By both at once: it is stored together with its vectors.
    #[default]
    Complete,
    /// By its words as soon as it is split; its vectors follow.
    Progressive,
}

/// State of one document of a job. All but the first three are terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// Waits for a worker.
    Queued,
    /// Claimed; the claim is void when its lease runs out.
    Running,
    /// Stored, and found by its words; its vectors wait or are being made.
    Searchable,
    /// Stored as a new document or a new version.
    Succeeded,
    /// Stored already with the same content and settings; nothing was done.
    Unchanged,
    /// Failed; stage, cause and message describe the failure.
    Failed,
    /// Stopped on request before it was done.
    Cancelled,
}

/// A step of ingest, in order; used to report time spent and the point of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Reading the submitted input.
    Load,
    /// Bytes to text.
    Extract,
    /// Text to pieces.
    Split,
    /// Pieces to chunks.
    Chunk,
    /// Chunks to vectors.
    Embed,
    /// Writing to the database.
    Store,
}

/// Remarks on the reading of a document: damage that was repaired, and parts without text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadingNotes {
    /// Characters that a wrong decoding had damaged before the document was sent, and that were restored.
    pub repaired_characters: u32,
    /// Control characters that were dropped.
    pub dropped_characters: u32,
    /// Pages without text, from 1: they are scans, or drawn.
    pub pages_without_text: Vec<u32>,
    /// Pages whose text was recognised in a picture (OCR), from 1.
    pub recognised_pages: Vec<u32>,
    /// Attachments of a message that are not read, each with the reason. The others are documents of their own.
    pub unread_attachments: Vec<String>,
}

impl ReadingNotes {
    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How many items of a job are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemCounts {
    /// Waiting or claimed.
    pub unfinished: u64,
    /// Stored.
    pub succeeded: u64,
    /// Left as they were.
    pub unchanged: u64,
    /// Given up.
    pub failed: u64,
    /// Stopped with the job.
    pub stopped: u64,
    /// Taken out by a delete of their source or collection.
    pub dropped: u64,
    /// Failed and stopped items that are stored and found by their words all the same.
    pub found_by_words: u64,
}

impl ItemCounts {
    /// The terminal state of a job with these items, or `None` while one is unfinished. Items dropped by a delete
    /// matter only if there are no others: no caller waits for their result.
    #[must_use]
    pub fn terminal_state(&self, is_cancelled: bool) -> Option<JobState> {
        let stored = self.succeeded + self.unchanged + self.found_by_words;
        if self.unfinished > 0 {
            None
        } else if is_cancelled || self.stopped > 0 || (self.dropped > 0 && stored + self.failed == 0) {
            Some(JobState::Cancelled)
        } else if self.failed == 0 {
            Some(JobState::Succeeded)
        } else if stored > 0 {
            Some(JobState::Partial)
        } else {
            Some(JobState::Failed)
        }
    }
}

/// A part of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Documents.
    pub documents: u64,
    /// Their size as submitted, in bytes. Documents that are fetched, or stored already, have none.
    pub bytes: u64,
}

/// The speed of a job since it was started.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Documents settled per second.
    pub documents_per_second: f64,
    /// Bytes settled per second, if the settled documents have a known size.
    pub bytes_per_second: Option<f64>,
    /// Seconds that the rest takes at this pace: by bytes where they are known, because documents differ in size, and
    /// by documents otherwise.
    pub seconds_left: f64,
}

impl Pace {
    /// Computes the pace from the seconds since the start, the share settled since then, and the share left. Returns
    /// `None` before anything is settled: there is no basis for an estimate.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn of(elapsed_s: f64, done: Share, left: Share) -> Option<Self> {
        if done.documents == 0 || elapsed_s <= 0.0 {
            return None;
        }
        let documents_per_second = done.documents as f64 / elapsed_s;
        let bytes_per_second = (done.bytes > 0).then(|| done.bytes as f64 / elapsed_s);
        let seconds_left = match bytes_per_second {
            Some(rate) if left.bytes > 0 => left.bytes as f64 / rate,
            _ => left.documents as f64 / documents_per_second,
        };
        Some(Self { documents_per_second, bytes_per_second, seconds_left })
    }
}

macro_rules! stored_as_text {
    ($type:ty { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $type {
            /// Name in the database and in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The state with that name, if there is one.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

stored_as_text!(JobState {
    Queued = "queued", Running = "running", Succeeded = "succeeded",
    Partial = "partial", Failed = "failed", Cancelled = "cancelled",
});
stored_as_text!(Indexing { Complete = "complete", Progressive = "progressive" });
stored_as_text!(JobKind { Ingest = "ingest", Index = "index" });
stored_as_text!(ItemState {
    Queued = "queued", Running = "running", Searchable = "searchable", Succeeded = "succeeded",
    Unchanged = "unchanged", Failed = "failed", Cancelled = "cancelled",
});
stored_as_text!(Stage {
    Load = "load", Extract = "extract", Split = "split",
    Chunk = "chunk", Embed = "embed", Store = "store",
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_job_ends_when_its_last_item_does() {
        let none = ItemCounts::default();
        let cases = [
            (ItemCounts { unfinished: 1, succeeded: 5, ..none }, None),
            (ItemCounts { succeeded: 2, unchanged: 1, ..none }, Some(JobState::Succeeded)),
            (ItemCounts { unchanged: 3, ..none }, Some(JobState::Succeeded)),
            (ItemCounts { succeeded: 1, failed: 1, ..none }, Some(JobState::Partial)),
            (ItemCounts { unchanged: 1, failed: 1, ..none }, Some(JobState::Partial)),
            (ItemCounts { failed: 2, ..none }, Some(JobState::Failed)),
            (ItemCounts { failed: 2, found_by_words: 1, ..none }, Some(JobState::Partial)),
            // Cancelled once, after which the items that had failed were tried again.
            (ItemCounts { succeeded: 1, stopped: 1, ..none }, Some(JobState::Cancelled)),
            (ItemCounts { succeeded: 9, dropped: 1, ..none }, Some(JobState::Succeeded)),
            (ItemCounts { succeeded: 8, failed: 1, dropped: 1, ..none }, Some(JobState::Partial)),
            (ItemCounts { failed: 1, dropped: 9, ..none }, Some(JobState::Failed)),
            (ItemCounts { dropped: 2, ..none }, Some(JobState::Cancelled)),
        ];
        for (counts, expected) in cases {
            assert_eq!(counts.terminal_state(false), expected, "{counts:?}");
            assert_eq!(counts.terminal_state(true), expected.map(|_| JobState::Cancelled), "{counts:?}");
        }
    }

    proptest! {
        #[test]
        fn a_delete_changes_nothing_that_is_left_to_be_told(
            [unfinished, succeeded, unchanged, failed, stopped, found] in prop::array::uniform6(0_u64..3), dropped in 1_u64..3, is_cancelled: bool,
        ) {
            let found_by_words = found.min(failed + stopped);
            let counts = ItemCounts { unfinished, succeeded, unchanged, failed, stopped, dropped, found_by_words };
            let without = ItemCounts { dropped: 0, ..counts };
            prop_assume!(unfinished + succeeded + unchanged + failed + stopped > 0);
            prop_assert_eq!(counts.terminal_state(is_cancelled), without.terminal_state(is_cancelled));
            let is_over = counts.terminal_state(is_cancelled).is_some();
            prop_assert_eq!(is_over, unfinished == 0, "it ends with its last item and not before");
        }
    }

    #[test]
    fn the_rest_takes_as_long_as_what_is_done_suggests() {
        let share = |documents, bytes| Share { documents, bytes };
        let pace = |documents_per_second, bytes_per_second, seconds_left| {
            Some(Pace { documents_per_second, bytes_per_second, seconds_left })
        };
        // One large document and ten small ones.
        assert_eq!(Pace::of(10.0, share(10, 500), share(1, 1_000)), pace(1.0, Some(50.0), 20.0));
        assert_eq!(Pace::of(10.0, share(10, 500), share(0, 0)), pace(1.0, Some(50.0), 0.0));
        // URLs, whose size is unknown: in all documents, in the rest, in the first ones.
        assert_eq!(Pace::of(10.0, share(5, 0), share(20, 0)), pace(0.5, None, 40.0));
        assert_eq!(Pace::of(10.0, share(5, 500), share(20, 0)), pace(0.5, Some(50.0), 40.0));
        assert_eq!(Pace::of(10.0, share(5, 0), share(20, 500)), pace(0.5, None, 40.0));
        assert_eq!(Pace::of(10.0, share(0, 0), share(20, 1_000)), None);
        assert_eq!(Pace::of(0.0, share(5, 10), share(20, 1_000)), None);
    }

    #[test]
    fn names_round_trip_and_match_json() {
        for state in [
            JobState::Queued,
            JobState::Running,
            JobState::Succeeded,
            JobState::Partial,
            JobState::Failed,
            JobState::Cancelled,
        ] {
            assert_eq!(JobState::from_name(state.as_str()), Some(state));
            assert_eq!(serde_json::json!(state), state.as_str());
        }
        for indexing in [Indexing::Complete, Indexing::Progressive] {
            assert_eq!(Indexing::from_name(indexing.as_str()), Some(indexing));
            assert_eq!(serde_json::json!(indexing), indexing.as_str());
        }
        for kind in [JobKind::Ingest, JobKind::Index] {
            assert_eq!(JobKind::from_name(kind.as_str()), Some(kind));
            assert_eq!(serde_json::json!(kind), kind.as_str());
        }
        for stage in [Stage::Load, Stage::Extract, Stage::Split, Stage::Chunk, Stage::Embed, Stage::Store] {
            assert_eq!(Stage::from_name(stage.as_str()), Some(stage));
            assert_eq!(serde_json::json!(stage), stage.as_str());
        }
    }
}
