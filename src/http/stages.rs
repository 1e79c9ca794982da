//! The stages of retrieval: the switches in requests, and their form in traces.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::number::hundredths;
use crate::{
    domain::grouping::Grouping,
    service::retrieval::{FilterTrace, Fusion, ListTrace, Mode, RerankedBy, StageTrace, Stages, VectorScan},
};

/// Which halves of retrieval run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SearchMode)]
pub(super) enum ModeBody {
    /// Vectors and BM25, fused.
    #[default]
    Hybrid,
    /// Vectors only.
    Dense,
    /// BM25 only.
    Lexical,
}

impl From<ModeBody> for Mode {
    fn from(mode: ModeBody) -> Self {
        match mode {
            ModeBody::Hybrid => Self::Hybrid,
            ModeBody::Dense => Self::Dense,
            ModeBody::Lexical => Self::Lexical,
        }
    }
}

/// How the lexical and the dense ranking are fused.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = FusionMethod)]
pub(super) enum FusionBody {
    /// By score; vectors are weighted with the share of their embedding model.
    #[default]
    Weighted,
    /// By rank.
    ReciprocalRank,
}

/// How the passages found are fused, reranked and merged.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = SearchStages)]
pub(super) struct StagesBody {
    /// How the lexical and the dense ranking are fused: `weighted`, by score, with vectors weighted by the share of
    /// their embedding model (0.5 unless configured; that of the built-in model follows each query);
    /// `reciprocal_rank`, by rank.
    fusion: FusionBody,
    /// Reorders the best passages, fifty unless the deployment says otherwise: by the reranking model, if the deployment
    /// has one, else by the positions of the query's words in their text.
    #[schema(default = true)]
    rerank: bool,
    /// Removes a passage whose words are contained in a better one, and lists it in that passage's `duplicates`.
    #[schema(default = true)]
    collapse_duplicates: bool,
    /// Merges neighbouring chunks of one document into one source.
    #[schema(default = true)]
    merge_neighbours: bool,
}

impl Default for StagesBody {
    fn default() -> Self {
        Self { fusion: FusionBody::Weighted, rerank: true, collapse_duplicates: true, merge_neighbours: true }
    }
}

impl StagesBody {
    pub(super) fn read(self, mode: ModeBody) -> Stages {
        let Self { fusion, rerank, collapse_duplicates, merge_neighbours } = self;
        Stages {
            mode: mode.into(),
            fusion: match fusion {
                FusionBody::Weighted => Fusion::Weighted,
                FusionBody::ReciprocalRank => Fusion::ReciprocalRank,
            },
            rerank,
            grouping: Grouping { collapse_duplicates, merge_neighbours },
        }
    }
}

/// Name of a vector scan in the API.
pub(super) const fn scan_name(scan: VectorScan) -> &'static str {
    match scan {
        VectorScan::Exact => "exact",
        VectorScan::Iterative => "iterative",
    }
}

/// The work of each stage of one search; null for a stage that did not run.
pub(super) fn stages_json(stages: Stages, trace: &StageTrace, scan: Option<VectorScan>) -> Value {
    let list = |list: ListTrace| json!({"found": list.found, "duration_ms": hundredths(list.duration_ms)});
    let dense = trace.dense.map(|dense| {
        json!({
            "found": dense.found,
            "duration_ms": hundredths(dense.duration_ms),
            "scan": scan.map(scan_name),
            "coverage": trace.coverage.filter(|_| !trace.hides_counts).map(|coverage| json!({
                "chunks": coverage.chunks,
                "embedded": coverage.embedded,
                "fraction": (coverage.fraction() * 10_000.0).floor() / 10_000.0,
            })),
        })
    });
    let is_hybrid = stages.mode == Mode::Hybrid;
    let method = match stages.fusion {
        Fusion::Weighted => "weighted",
        Fusion::ReciprocalRank => "reciprocal_rank",
    };
    json!({
        "filter": trace.filter.filter(|_| !trace.hides_counts).map(filter_json),
        "lexical": trace.lexical.map(list),
        "dense": dense,
        "fusion": is_hybrid.then(|| json!({"method": method, "passages": trace.fused})),
        "rerank": trace.rerank.map(|rerank| {
            let by = match rerank.by {
                RerankedBy::BuiltIn => "built_in",
                RerankedBy::Model => "model",
            };
            json!({"by": by, "passages": rerank.passages, "duration_ms": hundredths(rerank.duration_ms)})
        }),
        "quoted": trace.quoted,
        "collapsed": trace.collapsed,
        "merged": trace.merged,
    })
}

fn filter_json(filter: FilterTrace) -> Value {
    let starts_from = if filter.is_narrow { "documents" } else { "indexes" };
    json!({"chunks": filter.chunks, "matching_about": filter.matching, "starts_from": starts_from})
}
