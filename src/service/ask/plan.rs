//! Planning: what is looked for beside the question itself, and what of it the answer lacks.

use std::collections::HashMap;

use futures::future::try_join_all;

use super::{AskError, SkipCause, call::Call, grade::passage_of, run::Ask, stage::Stage};
use crate::{
    domain::{
        citation::CitedAnswer,
        corrective::Grade,
        evidence::Inquiry,
        grading::{Verdict, calibrated, features},
        identity::ChunkKey,
        planning::{self, Plan, Said, Strategy},
        prompt,
    },
    providers::chat::CallRole,
    service::retrieval::{Hit, Retrieved},
    store::SearchedCollection,
};

/// How many times the usual passages a broad search looks at.
const BREADTH: usize = 2;
/// Most passages that it looks at.
const MOST_PASSAGES: usize = 100;

/// What became of the sub-questions.
#[derive(Debug, Default)]
pub(super) struct SubQuestions {
    /// Verdicts with respect to a sub-question that are better than any other.
    verdicts: HashMap<ChunkKey, Verdict>,
    /// Places of those that nothing was found for.
    unanswered: Vec<usize>,
    inquiries: Vec<Inquiry>,
}

impl SubQuestions {
    /// What a sub-question makes of a passage, if that is better than what the whole question does.
    pub(super) fn better(&self, key: ChunkKey, whole: Grade) -> Option<&Verdict> {
        self.verdicts.get(&key).filter(|verdict| verdict.grade > whole)
    }

    /// What each asks for.
    pub(super) fn inquiries(&self) -> impl Iterator<Item = &Inquiry> {
        self.inquiries.iter()
    }

    fn note(&mut self, place: usize, hits: &[Hit], inquiry: Inquiry, verdicts: Vec<Verdict>) {
        self.inquiries.push(inquiry);
        if verdicts.iter().all(|verdict| verdict.grade == Grade::Incorrect) {
            self.unanswered.push(place);
        }
        for (hit, verdict) in hits.iter().zip(verdicts).filter(|(_, verdict)| verdict.grade == Grade::Correct) {
            self.verdicts.insert(hit.passage.key, verdict);
        }
    }
}

impl Ask<'_> {
    /// The first retrieval: for the question and, at the same time, for what the plan adds.
    pub(super) async fn retrieve_as_planned(
        &mut self,
        collections: &[SearchedCollection],
    ) -> Result<Retrieved, AskError> {
        let plan = self.make_plan().await?;
        self.clock.enter(Stage::Retrieve);
        let top_k = match plan.strategy {
            Strategy::BroadThenRerank => (self.request.top_k * BREADTH).min(MOST_PASSAGES).max(self.request.top_k),
            Strategy::Direct | Strategy::Rewrite | Strategy::Decompose => self.request.top_k,
        };
        let retriever = &self.service.retriever;
        let whole = self.query(collections, &self.request.question, top_k);
        let parts: Vec<_> =
            plan.sub_questions.iter().map(|text| self.query(collections, text, self.request.top_k)).collect();
        let (mut found, others) = tokio::try_join!(
            retriever.retrieve(&whole, &self.budget),
            try_join_all(parts.iter().map(|part| retriever.retrieve(part, &self.budget))),
        )?;
        self.has_content = found.chunks > 0;
        for (place, (text, other)) in plan.sub_questions.iter().zip(others).enumerate() {
            let (inquiry, verdicts) = self.grade_for(text, &other);
            self.sub_questions.note(place, &other.hits, inquiry, verdicts);
            self.join(&mut found, other.hits, plan.strategy);
        }
        self.trace.plan = Some(plan);
        Ok(found)
    }

    /// By the planning model, if the deployment has given that role models of its own; else by rules.
    async fn make_plan(&mut self) -> Result<Plan, AskError> {
        let built_in = planning::plan(&self.request.question);
        let Some(chain) = self.chain(CallRole::Plan) else { return Ok(built_in) };
        if !self.can_spare_a_call() {
            self.warn_skipped(CallRole::Plan, SkipCause::NoCallLeft);
            return Ok(built_in);
        }
        self.clock.enter(Stage::Plan);
        let call = Call {
            role: CallRole::Plan,
            messages: prompt::plan::messages(&self.request.question),
            sources: &[],
            format: Some(prompt::plan::format()),
        };
        let reply = self.call(&chain, call).await?;
        Ok(planning::read_reply(&reply.text).unwrap_or_else(|| {
            self.warn_skipped(CallRole::Plan, SkipCause::UnusableReply);
            built_in
        }))
    }

    /// Whether planning leaves the calls to grade, to answer and to answer once more.
    fn can_spare_a_call(&self) -> bool {
        self.budget.llm_calls_left().is_none_or(|left| left > 3)
    }

    fn grade_for(&self, text: &str, found: &Retrieved) -> (Inquiry, Vec<Verdict>) {
        let analyzer = self.analyzer;
        let inquiry = Inquiry::new(analyzer, text, found.chunks, |stem| {
            found.document_frequencies.get(stem).copied().unwrap_or(0)
        });
        let titles: Vec<String> = found.hits.iter().map(Hit::title).collect();
        let passages: Vec<features::Passage<'_>> =
            found.hits.iter().zip(&titles).map(|(hit, title)| passage_of(hit, title)).collect();
        let evidence = features::evidence_of(analyzer, &inquiry, &passages);
        let verdicts = calibrated::grade(&inquiry, &passages, &evidence).verdicts;
        (inquiry, verdicts)
    }

    /// Adds what a part found. Of a sub-question only what answers it: the rest would be padding.
    fn join(&self, found: &mut Retrieved, hits: Vec<Hit>, strategy: Strategy) {
        for hit in hits {
            let key = hit.passage.key;
            let is_wanted = strategy == Strategy::Rewrite || self.sub_questions.verdicts.contains_key(&key);
            if is_wanted && !found.hits.iter().any(|known| known.passage.key == key) {
                found.hits.push(hit);
            }
        }
    }

    /// The parts of the question that the documents do not answer.
    pub(super) fn missing_in(&self, answer: &CitedAnswer) -> Vec<String> {
        let claims: Vec<&str> = answer.claims().iter().filter_map(|claim| claim.span.slice(answer.text())).collect();
        let said = Said { claims: &claims.join("\n"), admissions: answer.admissions() };
        let parts = self.trace.plan.as_ref().filter(|plan| plan.is_decomposed());
        let parts = parts.map(|plan| plan.sub_questions.as_slice()).unwrap_or_default();
        planning::missing(self.analyzer, &self.request.question, parts, &self.sub_questions.unanswered, said)
    }
}
