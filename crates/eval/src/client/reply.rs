//! The parts of API responses that an evaluation reads.

use domain::citation::ClaimVerdict;
use domain::corrective::Grade;
use serde::Deserialize;

use super::JobState;
use crate::evaluation::NotIndexed;

#[derive(Deserialize)]
pub(super) struct JobReply {
    pub(super) id: String,
    state: String,
    counts: Counts,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Counts {
    documents: usize,
    unchanged: usize,
    failed: u64,
}

#[derive(Deserialize)]
struct Item {
    source: String,
    message: Option<String>,
}

/// A collection.
#[derive(Deserialize)]
pub(crate) struct CollectionReply {
    pub(crate) documents: u64,
    pub(crate) chunks: u64,
}

#[derive(Deserialize)]
pub(super) struct SearchReply {
    pub(super) results: Vec<SearchResult>,
}

/// A passage that a search found.
#[derive(Deserialize, PartialEq)]
pub(crate) struct SearchResult {
    /// Name of its document.
    pub(crate) source: String,
    pub(crate) scores: Scores,
}

#[derive(Deserialize, PartialEq)]
pub(crate) struct Scores {
    fused: f64,
}

/// A text that was checked.
#[derive(Deserialize)]
pub(super) struct CheckReply {
    pub(super) ok: bool,
    pub(super) claims: Vec<CheckedReply>,
}

#[derive(Deserialize)]
pub(super) struct CheckedReply {
    pub(super) verdict: ClaimVerdict,
    pub(super) support: f64,
}

/// An answer, or a problem document with the same members.
#[derive(Deserialize)]
pub(super) struct AskReply {
    pub(super) outcome: Option<String>,
    pub(super) code: Option<String>,
    pub(super) answer: Option<String>,
    /// The model that wrote the answer.
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) sources: Vec<SourceReply>,
    #[serde(default)]
    pub(super) usage: Usage,
    #[serde(default)]
    pub(super) trace: Trace,
}

#[derive(Deserialize)]
pub(super) struct SourceReply {
    pub(super) urn: String,
    pub(super) source: String,
    pub(super) title: String,
    pub(super) heading: Vec<String>,
    #[serde(default)]
    pub(super) table_header: Option<String>,
    pub(super) text: String,
    pub(super) grade: Option<Grade>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) llm_calls: u32,
    pub(super) cost_usd: f64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Trace {
    pub(super) rounds: Vec<Round>,
}

#[derive(Deserialize)]
pub(super) struct Round {
    pub(super) answerability: f32,
    pub(super) verdicts: Vec<VerdictReply>,
}

/// A grader's verdict on a passage.
#[derive(Deserialize)]
pub(super) struct VerdictReply {
    pub(super) urn: String,
    pub(super) probability: Option<f32>,
    /// `built_in` or `model`.
    pub(super) by: String,
    /// Whether the built-in grader was sure.
    pub(super) clear: bool,
}

impl JobReply {
    pub(super) fn state(self) -> JobState {
        let is_open = matches!(self.state.as_str(), "queued" | "running");
        JobState {
            settled: self.counts.documents
                + self.counts.unchanged
                + usize::try_from(self.counts.failed).unwrap_or(usize::MAX),
            is_open,
            not_indexed: (!is_open && self.state != "succeeded").then(|| self.failures()),
        }
    }

    fn failures(&self) -> NotIndexed {
        let first = self.items.first();
        let cause = first.and_then(|item| item.message.as_deref()).unwrap_or(self.state.as_str());
        let name = first.map_or("the job", |item| item.source.as_str());
        NotIndexed { documents: self.counts.failed, first: format!("{name:?}: {cause}") }
    }
}
