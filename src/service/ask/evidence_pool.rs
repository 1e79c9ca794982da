//! Passages of all rounds, each once, with its grade.

use std::{cmp::Ordering, collections::HashSet};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        citation::PreparedSource,
        corrective::{Evidence, Grade},
        grading::Verdict,
        identity::ChunkKey,
        prompt,
    },
    service::retrieval::Hit,
    store::Passage,
};

/// The grader of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum GradedBy {
    /// The calibrated features.
    BuiltIn,
    /// The configured model.
    Model,
}

impl GradedBy {
    /// Name in the trace.
    #[must_use]
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built_in",
            Self::Model => "model",
        }
    }
}

/// A passage with its grade.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GradedHit {
    /// The passage.
    pub(crate) hit: Hit,
    /// The verdict of its grader.
    pub(crate) verdict: Verdict,
    /// The grader.
    pub(crate) by: GradedBy,
}

impl GradedHit {
    /// A passage with its calibrated grade.
    pub(super) fn built_in(hit: Hit, verdict: Verdict) -> Self {
        Self { hit, verdict, by: GradedBy::BuiltIn }
    }

    /// Prepares the passage for checking claims against it. A claim may name something that only the title contains.
    pub(super) fn prepare(&self) -> PreparedSource {
        let start = usize::try_from(self.hit.passage.start_char).unwrap_or(usize::MAX);
        let Passage { text, table_header, .. } = self.hit.passage.as_ref();
        PreparedSource::with_context(text, &self.hit.title()).below(table_header.as_deref()).starting_at(start)
    }

    /// The form in which a model is shown the passage to judge it, together with its context.
    pub(super) fn to_be_judged<'p>(&'p self, urn: &'p str) -> prompt::Source<'p> {
        let context = self.hit.passage.context.as_deref().unwrap_or_default();
        prompt::Source { context, ..self.hit.shown(urn) }
    }

    /// The passage and its duplicates elsewhere.
    pub(super) fn passages(&self) -> impl Iterator<Item = &Passage> {
        std::iter::once(&self.hit.passage).chain(&self.hit.duplicates).map(AsRef::as_ref)
    }
}

/// How far the passages of all rounds answer the question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EvidenceFound {
    /// Probability that a passage of the best round answers it; `None` if there was nothing to grade.
    pub(crate) answerability: Option<f32>,
    /// Passages graded correct, each counted once.
    pub(crate) correct: usize,
    /// Passages graded ambiguous.
    pub(crate) ambiguous: usize,
    /// Passages graded incorrect.
    pub(crate) incorrect: usize,
}

/// Passages seen so far, in the order they were found.
#[derive(Debug, Default)]
pub(super) struct EvidencePool {
    hits: Vec<GradedHit>,
    keys: HashSet<ChunkKey>,
}

impl EvidencePool {
    /// The grade of a passage from an earlier round.
    pub(super) fn known(&self, key: ChunkKey) -> Option<&GradedHit> {
        self.hits.iter().find(|known| known.hit.passage.key == key)
    }

    /// Adds a round's passages; returns the number of new ones. A passage of an earlier round gets the grade of this one.
    pub(super) fn add(&mut self, graded: Vec<GradedHit>) -> usize {
        let before = self.hits.len();
        for hit in graded {
            if self.keys.insert(hit.hit.passage.key) {
                self.hits.push(hit);
            } else if let Some(known) = self.hits.iter_mut().find(|known| known.hit.passage.key == hit.hit.passage.key)
            {
                (known.verdict, known.by) = (hit.verdict, hit.by);
            }
        }
        self.hits.len() - before
    }

    /// All passages, in the order they were found.
    pub(super) fn hits(&self) -> &[GradedHit] {
        &self.hits
    }

    /// Sums up the grades of all passages; `best` is the answerability of the best round.
    pub(super) fn found(&self, best: Option<f32>) -> EvidenceFound {
        let count = |grade| self.hits.iter().filter(|graded| graded.verdict.grade == grade).count();
        EvidenceFound {
            answerability: best.filter(|_| !self.hits.is_empty()),
            correct: count(Grade::Correct),
            ambiguous: count(Grade::Ambiguous),
            incorrect: count(Grade::Incorrect),
        }
    }

    /// The passages to generate over: best grade first, then the more probable, then the better match.
    pub(super) fn evidence(&self, over: Evidence) -> Vec<GradedHit> {
        let mut chosen: Vec<GradedHit> =
            self.hits.iter().filter(|graded| over.admits(graded.verdict.grade)).cloned().collect();
        chosen.sort_by(by_worth);
        chosen
    }

    /// The evidence in marker order, then the other passages found, at most `limit` in all.
    pub(super) fn sources(&self, evidence: Vec<GradedHit>, limit: usize) -> Vec<GradedHit> {
        let same = |graded: &GradedHit| graded.hit.duplicates.iter().map(|passage| passage.key).collect::<Vec<_>>();
        let used: HashSet<ChunkKey> =
            evidence.iter().flat_map(|graded| graded.hit.keys().chain(same(graded))).collect();
        let room = limit.saturating_sub(evidence.len());
        let rest = self.hits.iter().filter(|graded| !used.contains(&graded.hit.passage.key)).take(room).cloned();
        evidence.into_iter().chain(rest).collect()
    }
}

/// Order of passages by their worth as evidence: best grade first, then the more probable, then the better match.
pub(super) fn by_worth(one: &GradedHit, two: &GradedHit) -> Ordering {
    let match_of = |graded: &GradedHit| graded.hit.reranked.unwrap_or(graded.hit.fused);
    let probability = |graded: &GradedHit| graded.verdict.probability.unwrap_or(0.0);
    two.verdict
        .grade
        .cmp(&one.verdict.grade)
        .then(probability(two).total_cmp(&probability(one)))
        .then(match_of(two).total_cmp(&match_of(one)))
        .then(one.hit.passage.key.cmp(&two.hit.passage.key))
}
