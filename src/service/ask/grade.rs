//! Grading a round: calibrated features decide the clear cases, a model the doubtful ones.

use tokio::time::Instant;

use super::{
    AskError, SkipCause,
    call::Call,
    pool::{GradedBy, GradedHit},
    run::Ask,
};
use crate::{
    domain::{
        evidence::{Inquiry, passage::PassageEvidence},
        grading::{
            Verdict,
            calibrated::{self, GradedRound},
            features,
            question::Answerability,
            reply,
        },
        prompt,
    },
    providers::chat::CallRole,
    service::retrieval::{Hit, Retrieved},
};

impl Ask<'_> {
    /// Grades what was found. A passage of an earlier round keeps its grade: grades are relative to
    /// the question, not to the query that found it.
    pub(super) async fn grade(
        &mut self,
        inquiry: &Inquiry,
        found: &Retrieved,
    ) -> Result<(Vec<GradedHit>, Answerability), AskError> {
        let titles: Vec<String> = found.hits.iter().map(Hit::title).collect();
        let passages: Vec<features::Passage<'_>> =
            found.hits.iter().zip(&titles).map(|(hit, title)| passage_of(hit, title)).collect();
        let evidence = features::evidence_of(self.analyzer, inquiry, &passages);
        let GradedRound { answerability, verdicts } = calibrated::grade(inquiry, &passages, &evidence);
        let mut graded: Vec<GradedHit> = found
            .hits
            .iter()
            .zip(verdicts)
            .zip(&evidence)
            .map(|((hit, verdict), evidence)| {
                let verdict =
                    Verdict { is_clear: verdict.is_clear && !self.says_more(inquiry, hit, evidence), ..verdict };
                if let Some(known) = self.pool.known(hit.passage.key) {
                    return GradedHit { hit: hit.clone(), ..known.clone() };
                }
                // What answers a part of the question helps to answer it.
                let better = self.sub_questions.better(hit.passage.key, verdict.grade);
                GradedHit { hit: hit.clone(), verdict: better.cloned().unwrap_or(verdict), by: GradedBy::BuiltIn }
            })
            .collect();
        self.ask_the_model(&mut graded).await?;
        Ok((graded, answerability))
    }

    /// Whether the context of a passage speaks of what is asked where the passage itself does not. The features know the
    /// passage alone; a model is shown both.
    fn says_more(&self, inquiry: &Inquiry, hit: &Hit, evidence: &PassageEvidence) -> bool {
        let context = hit.passage.context.as_deref();
        context.is_some_and(|context| inquiry.terms.mask_of(self.analyzer, context) & !evidence.mask() != 0)
    }

    /// Puts the passages that the features leave in doubt before the model, all in one call.
    async fn ask_the_model(&mut self, graded: &mut [GradedHit]) -> Result<(), AskError> {
        let Some(chain) = self.chain(CallRole::Grade) else { return Ok(()) };
        let is_doubtful = |hit: &&GradedHit| hit.by == GradedBy::BuiltIn && !hit.verdict.is_clear;
        let doubtful: Vec<&GradedHit> = graded.iter().filter(is_doubtful).collect();
        if doubtful.is_empty() {
            return Ok(());
        }
        // A budget without a call for it leaves the calibrated verdicts, which stand all the same.
        if self.budget.llm_calls_left() == Some(0) {
            self.warn_skipped(CallRole::Grade, SkipCause::NoCallLeft);
            return Ok(());
        }
        let urns: Vec<String> = doubtful.iter().map(|hit| hit.hit.urn().to_string()).collect();
        let sources: Vec<prompt::Source<'_>> =
            doubtful.iter().zip(&urns).map(|(hit, urn)| hit.to_be_judged(urn)).collect();
        let call = Call {
            role: CallRole::Grade,
            messages: prompt::grade::messages(&self.request.question, &sources),
            sources: &sources,
            format: Some(prompt::grade::format()),
        };
        let (request, allowance) = self.reserve(&chain, call).await?;
        let started = Instant::now();
        // An answer begun early is a bonus: what keeps it from being begun does not end the ask.
        self.early_draft = self.begin_early_draft(graded).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "no answer is begun early");
            None
        });
        let grading = chain.complete(&request, allowance);
        let result = match &mut self.early_draft {
            Some(draft) => draft.go_on_beside(grading).await,
            None => grading.await,
        };
        let reply = self.note_result(CallRole::Grade, started, result)?;
        let verdicts: Vec<Verdict> = reply::read(&reply.text, doubtful.len());
        for (hit, verdict) in graded.iter_mut().filter(|hit| is_doubtful(&&**hit)).zip(verdicts) {
            hit.verdict = Verdict { probability: verdict.probability.or(hit.verdict.probability), ..verdict };
            hit.by = GradedBy::Model;
        }
        Ok(())
    }
}

pub(super) fn passage_of<'p>(hit: &'p Hit, title: &'p str) -> features::Passage<'p> {
    features::Passage {
        title,
        text: &hit.passage.text,
        dense: hit.dense.map(narrow),
        lexical: hit.lexical.map_or(0.0, narrow),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "scores were single precision before they were fused")]
fn narrow(score: f64) -> f32 {
    score as f32
}
