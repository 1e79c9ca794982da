//! An answer in the form that the cache stores: the draft to be validated again, not the validated result.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    domain::{
        answering::GivenPassage,
        citation::{Attempt, Draft, Ruling, Verdict, validate},
        origin::Origin,
    },
    service::ask::{
        AskReport, AskWarning, GeneratedBy, GradedHit,
        context::AskContext,
        draft::{Written, basis},
        evidence_pool::EvidenceFound,
        record::{AttemptTrace, Stage},
        report::Findings,
    },
};

/// An entry of the cache.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    text: String,
    passages: Vec<GivenPassage>,
    is_second_draft: bool,
    model: String,
    provider: String,
    warnings: Vec<AskWarning>,
    missing: Vec<String>,
    evidence: EvidenceFound,
    /// A model's rulings on the claims for which the scorer is uncertain.
    rulings: Vec<Option<Ruling>>,
    confidence: Option<f32>,
    /// Number of the sources that were given to the model; the others were only found.
    used: usize,
    sources: Vec<GradedHit>,
}

impl Entry {
    /// The entry for an answer; `None` if the answer must not be reused.
    pub(super) fn of(report: &AskReport, used: usize) -> Option<Value> {
        let (answer, by) = report.outcome.written()?;
        if !may_be_kept(report) {
            return None;
        }
        let entry = Self {
            text: answer.text().to_owned(),
            passages: report.outcome.passages().to_vec(),
            is_second_draft: answer.attempts() > 1,
            model: by.model.clone(),
            provider: by.provider.clone(),
            warnings: report.warnings.clone(),
            missing: report.missing.clone(),
            evidence: report.evidence,
            rulings: report.trace.attempts.last().into_iter().flat_map(AttemptTrace::rulings).collect(),
            confidence: report.trace.attempts.last().and_then(|attempt| attempt.confidence),
            used,
            sources: report.sources.clone(),
        };
        serde_json::to_value(entry).ok()
    }
}

fn may_be_kept(report: &AskReport) -> bool {
    // A later search for the question may find the same passages while rewritten queries would find others.
    let is_of_the_question = report.trace.rounds.len() <= 1;
    // A change on the web is not detected here.
    let is_of_the_web = report.sources.iter().any(|graded| graded.hit.passage.origin == Origin::Web);
    // A new attempt may give a better answer.
    let is_makeshift =
        |warning: &AskWarning| matches!(warning, AskWarning::WebSearchFailed { .. } | AskWarning::ModelSkipped { .. });
    is_of_the_question && !is_of_the_web && !report.warnings.iter().any(is_makeshift)
}

/// The documents of the sources, each once, with their versions.
pub(super) fn documents_of(report: &AskReport) -> Vec<(Uuid, u32)> {
    let passages = report.sources.iter().flat_map(GradedHit::passages);
    let documents: BTreeSet<_> = passages.map(|passage| (passage.key.document_id, passage.version)).collect();
    documents.into_iter().collect()
}

/// Restores the answer and validates it again; `None` if it can no longer be read or no longer passes.
pub(super) fn recall(ask: &AskContext, answer: Value) -> Option<AskReport> {
    let entry: Entry = serde_json::from_value(answer).ok()?;
    let used: Arc<[GradedHit]> = entry.sources.get(..entry.used)?.into();
    let attempt = if entry.is_second_draft { Attempt::Retry } else { Attempt::First };
    ask.record.enter(Stage::Validate);
    let draft = Draft::over(entry.text, &basis(ask, &used)).with_rulings(&entry.rulings);
    let Verdict::Accept(answer) = validate(&draft, ask.models.level, attempt) else {
        return None;
    };
    let by = GeneratedBy { model: entry.model, provider: entry.provider };
    let Entry { passages, confidence, .. } = entry;
    let written = Written { text: answer.text().to_owned(), by: by.clone(), passages, confidence };
    ask.record.note_attempt(AttemptTrace {
        attempt: attempt.number(),
        errors: Vec::new(),
        by,
        rulings: Vec::new(),
        confidence,
    });
    ask.record.set_sources(used);
    ask.record.set_warnings(entry.warnings);
    let findings =
        Findings { sources: entry.sources, evidence: entry.evidence, missing: entry.missing, ..Findings::default() };
    let report = AskReport::with(ask, written.outcome(answer), findings);
    Some(AskReport { is_cache_hit: true, ..report })
}
