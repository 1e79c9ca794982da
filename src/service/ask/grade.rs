//! Grading a round: calibrated features decide the clear cases, a model the doubtful ones.

use super::{
    AskError,
    call::Call,
    pool::{GradedBy, GradedHit},
    run::Ask,
};
use crate::{
    domain::{
        evidence::Inquiry,
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
            .map(|(hit, verdict)| {
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

    /// Puts the passages that the features leave in doubt before the model, all in one call.
    async fn ask_the_model(&mut self, graded: &mut [GradedHit]) -> Result<(), AskError> {
        let Some(chain) = self.chain(CallRole::Grade) else { return Ok(()) };
        let doubtful: Vec<&mut GradedHit> =
            graded.iter_mut().filter(|hit| hit.by == GradedBy::BuiltIn && !hit.verdict.is_clear).collect();
        // A budget without a call for it leaves the calibrated verdicts, which stand all the same.
        if doubtful.is_empty() || self.budget.llm_calls_left() == Some(0) {
            return Ok(());
        }
        let urns: Vec<String> = doubtful.iter().map(|hit| hit.hit.urn().to_string()).collect();
        let sources: Vec<prompt::Source<'_>> = doubtful
            .iter()
            .zip(&urns)
            .map(|(hit, urn)| prompt::Source { urn, title: &hit.hit.passage.title, text: &hit.hit.passage.text })
            .collect();
        let call = Call {
            role: CallRole::Grade,
            messages: prompt::grade::messages(&self.request.question, &sources),
            sources: &sources,
            format: Some(prompt::grade::format()),
        };
        let reply_text = self.call(&chain, call).await?.text;
        let verdicts: Vec<Verdict> = reply::read(&reply_text, doubtful.len());
        for (hit, verdict) in doubtful.into_iter().zip(verdicts) {
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
