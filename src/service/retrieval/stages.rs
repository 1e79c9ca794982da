//! The stages of retrieval: the selection that runs, and the figures of each.

use serde::Serialize;
use tokio::time::Instant;

use crate::{domain::grouping::Grouping, store::Selection};

/// Which halves of retrieval run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) enum Mode {
    /// Both, fused.
    #[default]
    Hybrid,
    /// Vectors only.
    Dense,
    /// BM25 only.
    Lexical,
}

/// Method by which two rankings are fused into one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) enum Fusion {
    /// By their scores, the vectors with the share of their embedding model.
    #[default]
    Weighted,
    /// By their ranks.
    ReciprocalRank,
}

/// Which stages run, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Stages {
    /// Which rankings there are.
    pub(crate) mode: Mode,
    /// How they are fused.
    pub(crate) fusion: Fusion,
    /// Whether the best passages are reranked.
    pub(crate) rerank: bool,
    /// Which passages become one result.
    pub(crate) grouping: Grouping,
}

impl Default for Stages {
    fn default() -> Self {
        Self { mode: Mode::Hybrid, fusion: Fusion::Weighted, rerank: true, grouping: Grouping::default() }
    }
}

/// Selectivity of a filter, and the resulting search method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FilterTrace {
    /// Chunks in the collections.
    pub(crate) chunks: u64,
    /// Approximate number of chunks that pass the filter; `None` where it was not determined.
    pub(crate) matching: Option<u64>,
    /// Whether the search starts from the documents that pass, not from its indexes.
    pub(crate) is_narrow: bool,
}

impl FilterTrace {
    pub(super) fn of(selection: &Selection<'_>) -> Option<Self> {
        let Selection { filter, chunks, matching, .. } = *selection;
        (!filter.is_empty()).then(|| Self { chunks, matching, is_narrow: selection.is_narrow() })
    }
}

/// One ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ListTrace {
    /// Passages in it.
    pub(crate) found: usize,
    /// How long it took, statistics or the query's vector included.
    pub(crate) duration_ms: f64,
}

impl ListTrace {
    pub(super) fn since(started: Instant, found: usize) -> Self {
        Self { found, duration_ms: milliseconds(started) }
    }
}

/// The share of the collections that the dense half can find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// Chunks in the collections.
    pub(crate) chunks: u64,
    /// Chunks that have a vector.
    pub(crate) embedded: u64,
}

impl Coverage {
    /// Share of the chunks that have a vector, 0 to 1; 1 if there are no chunks.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(crate) fn fraction(self) -> f64 {
        if self.chunks == 0 { 1.0 } else { self.embedded as f64 / self.chunks as f64 }
    }
}

/// The reranker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RerankedBy {
    /// The learned weights of features of the text.
    BuiltIn,
    /// The configured model.
    Model,
}

/// The reranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RerankTrace {
    /// The reranker.
    pub(crate) by: RerankedBy,
    /// Passages that were reranked.
    pub(crate) passages: usize,
    /// How long it took.
    pub(crate) duration_ms: f64,
}

/// Figures of each stage; `None` for one that did not run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StageTrace {
    /// The filter.
    pub(crate) filter: Option<FilterTrace>,
    /// BM25.
    pub(crate) lexical: Option<ListTrace>,
    /// Vectors.
    pub(crate) dense: Option<ListTrace>,
    /// The share of the collections that vectors could find.
    pub(crate) coverage: Option<Coverage>,
    /// Passages in the fused ranking.
    pub(crate) fused: usize,
    /// The reranking of the best passages.
    pub(crate) rerank: Option<RerankTrace>,
    /// Passages that contain the quoted phrases of the query, and are therefore ranked first.
    pub(crate) quoted: usize,
    /// Passages that were removed as duplicates of a better one.
    pub(crate) collapsed: usize,
    /// Passages that were merged into the source of a neighbour.
    pub(crate) merged: usize,
    /// Whether the caller may not know how much there is, because some of it is hidden from it.
    pub(crate) hides_counts: bool,
}

impl StageTrace {
    /// The figures of a result that was there already.
    pub(super) fn taking_no_time(self) -> Self {
        let list = |trace: ListTrace| ListTrace { duration_ms: 0.0, ..trace };
        Self {
            lexical: self.lexical.map(list),
            dense: self.dense.map(list),
            rerank: self.rerank.map(|trace| RerankTrace { duration_ms: 0.0, ..trace }),
            ..self
        }
    }
}

pub(super) fn milliseconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1_000.0
}
