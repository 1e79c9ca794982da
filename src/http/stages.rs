//! The stages of retrieval, as requests switch them and traces show them.

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
    /// Both, fused.
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

/// How two rankings become one.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = FusionMethod)]
pub(super) enum FusionBody {
    /// By their scores, the vectors with the share of their embedding model.
    #[default]
    Weighted,
    /// By their ranks.
    ReciprocalRank,
}

/// What happens to the passages that were found.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = SearchStages)]
pub(super) struct StagesBody {
    /// How the lexical and the dense ranking become one: `weighted`, by their scores, the vectors with the share of their
    /// embedding model (0.5 unless configured); `reciprocal_rank`, by their ranks.
    fusion: FusionBody,
    /// Order the best fifty anew: by the reranking model, if the deployment has one, else by where their text holds the
    /// words of the query.
    #[schema(default = true)]
    rerank: bool,
    /// A passage whose words stand in a better one gives up its place and is named in its `duplicates`.
    #[schema(default = true)]
    collapse_duplicates: bool,
    /// Neighbouring chunks of one document become one source.
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

/// Name of a scan in the API.
pub(super) const fn scan_name(scan: VectorScan) -> &'static str {
    match scan {
        VectorScan::Exact => "exact",
        VectorScan::Iterative => "iterative",
    }
}

/// What each stage of one search did; null for one that did not run.
pub(super) fn stages_json(stages: Stages, trace: &StageTrace, scan: Option<VectorScan>) -> Value {
    let list = |list: ListTrace| json!({"found": list.found, "duration_ms": hundredths(list.duration_ms)});
    let dense = trace.dense.map(|dense| {
        json!({
            "found": dense.found,
            "duration_ms": hundredths(dense.duration_ms),
            "scan": scan.map(scan_name),
            "coverage": trace.coverage.map(|coverage| json!({
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
        "filter": trace.filter.map(filter_json),
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
