//! Follow-ups: the document that the last answer was taken from is searched by itself.
//!
//! "Was anybody hurt?" after an answer from the report of an incident is about that incident, though a rule for accidents has
//! more of its words. Passages of that document are graded for the message alone, too, since what is spoken of need not be said
//! in each, and it is four times as likely as another one to hold the answer.

use std::collections::HashMap;

use uuid::Uuid;

use super::{AskError, GradedBy, GradedHit, context::AskContext, grade, retrieve, retrieve::Corpus};
use crate::{
    domain::{conversation, corrective::Grade, currency, filter::Filter, grading::Verdict, identity::ChunkKey},
    service::retrieval::Hit,
};

/// Passages of that document that are searched for the message.
const MOST_OF_DOCUMENT: usize = 4;

/// The document of the last answer, and what it holds for the message.
#[derive(Debug, Default)]
pub(super) struct Continuation {
    document: Option<Uuid>,
    verdicts: HashMap<ChunkKey, Verdict>,
}

impl Continuation {
    /// Finds the document by the words of the last answer and its question, and searches it. Returns its passages, too.
    ///
    /// # Errors
    /// Those of the retriever.
    pub(super) async fn search(ask: &AskContext, corpus: &Corpus) -> Result<(Self, Vec<Hit>), AskError> {
        // "And in 2022?" is for another edition of the document.
        if currency::names_year(ask.message()) {
            return Ok(Self::none());
        }
        let Some(exchange) = conversation::last_exchange(&ask.request.history) else { return Ok(Self::none()) };
        let Some(document) = retrieve::document_of(ask, corpus, &exchange).await? else { return Ok(Self::none()) };
        let filter = Filter { document_ids: vec![document], ..corpus.filter.clone() };
        let found = retrieve::retrieve_within(ask, corpus, &filter, MOST_OF_DOCUMENT).await?;
        if let Some(hit) = found.hits.first() {
            ask.record.note_last_document(&hit.passage.source);
        }
        let graded = |wording: &str| {
            let question = found.weigh(corpus.analyzer, wording);
            grade::continued(corpus.analyzer, &question, &found)
        };
        let mut verdicts = graded(ask.asked());
        if ask.message() != ask.asked() {
            for (verdict, of_message) in verdicts.iter_mut().zip(graded(ask.message())) {
                if of_message.is_better_than(verdict) {
                    *verdict = of_message;
                }
            }
        }
        let keys = found.hits.iter().map(|hit| hit.passage.key);
        Ok((Self { document: Some(document), verdicts: keys.zip(verdicts).collect() }, found.hits))
    }

    fn none() -> (Self, Vec<Hit>) {
        (Self::default(), Vec::new())
    }

    /// The verdict on a passage of the document: for the question, or for the message alone if that is better.
    pub(super) fn verdict(&self, key: ChunkKey) -> Option<&Verdict> {
        self.verdicts.get(&key)
    }

    /// The evidence to quote from, best first: that of the document alone, if the best is its, and no model has judged it. A
    /// model that writes the answer is given all.
    pub(super) fn alone(&self, ask: &AskContext, mut evidence: Vec<GradedHit>) -> Vec<GradedHit> {
        let is_of_it = |graded: &GradedHit| Some(graded.hit.passage.key.document_id) == self.document;
        let is_best =
            |best: &GradedHit| is_of_it(best) && best.verdict.grade == Grade::Correct && best.by == GradedBy::BuiltIn;
        if ask.models.generate.is_none() && evidence.first().is_some_and(is_best) {
            evidence.retain(is_of_it);
        }
        evidence
    }
}
