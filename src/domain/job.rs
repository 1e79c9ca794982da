//! States of ingest jobs and of their items, and how the one follows from the other.

use serde::{Deserialize, Serialize};

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// It brings documents.
    Ingest,
    /// It gives stored documents vectors of another model.
    Reembed,
    /// It splits stored documents again.
    Resplit,
}

/// State of a job as a caller sees it. The last four are terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Accepted and durable; no item has been claimed.
    Queued,
    /// At least one item has been claimed.
    Running,
    /// Every document is stored, or was there unchanged.
    Succeeded,
    /// Some documents are stored, some failed; or they lack nothing but vectors.
    Partial,
    /// No document could be stored.
    Failed,
    /// Stopped on request.
    Cancelled,
}

/// When a document can be found: by its words, and by its meaning.
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
    /// Given up; stage, cause and message say why.
    Failed,
    /// Stopped on request before it was done.
    Cancelled,
}

/// A step of ingest, in order: where the time went, where a document failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Reading what was handed in.
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
    /// Stopped.
    pub cancelled: u64,
    /// Of the given up and stopped those that are stored and found by their words all the same.
    pub found_by_words: u64,
}

impl ItemCounts {
    /// The terminal state of a job with these items, or `None` while one is unfinished.
    #[must_use]
    pub fn terminal_state(&self) -> Option<JobState> {
        let stored = self.succeeded + self.unchanged + self.found_by_words;
        if self.unfinished > 0 {
            None
        } else if self.cancelled > 0 {
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

/// How fast a job goes since it was started, measured in bytes because documents differ in size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Bytes settled per second.
    pub bytes_per_second: f64,
    /// Seconds that the rest takes at this pace.
    pub seconds_left: f64,
}

impl Pace {
    /// From seconds since the start, bytes settled since then, and bytes that wait. `None` before
    /// anything is settled: there is nothing to go by.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn of(elapsed_s: f64, bytes_done: u64, bytes_left: u64) -> Option<Self> {
        if bytes_done == 0 || elapsed_s <= 0.0 {
            return None;
        }
        let bytes_per_second = bytes_done as f64 / elapsed_s;
        Some(Self { bytes_per_second, seconds_left: bytes_left as f64 / bytes_per_second })
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
stored_as_text!(JobKind { Ingest = "ingest", Reembed = "reembed", Resplit = "resplit" });
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
            (ItemCounts { succeeded: 1, cancelled: 1, ..none }, Some(JobState::Cancelled)),
        ];
        for (counts, expected) in cases {
            assert_eq!(counts.terminal_state(), expected, "{counts:?}");
        }
    }

    #[test]
    fn the_rest_takes_as_long_as_what_is_done_suggests() {
        assert_eq!(Pace::of(10.0, 500, 1_000), Some(Pace { bytes_per_second: 50.0, seconds_left: 20.0 }));
        assert_eq!(Pace::of(10.0, 500, 0).map(|pace| pace.seconds_left), Some(0.0));
        assert_eq!(Pace::of(10.0, 0, 1_000), None);
        assert_eq!(Pace::of(0.0, 10, 1_000), None);
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
        for kind in [JobKind::Ingest, JobKind::Reembed, JobKind::Resplit] {
            assert_eq!(JobKind::from_name(kind.as_str()), Some(kind));
            assert_eq!(serde_json::json!(kind), kind.as_str());
        }
        for stage in [Stage::Load, Stage::Extract, Stage::Split, Stage::Chunk, Stage::Embed, Stage::Store] {
            assert_eq!(Stage::from_name(stage.as_str()), Some(stage));
            assert_eq!(serde_json::json!(stage), stage.as_str());
        }
    }
}
