//! Questions through ask.

use super::{EvaluationError, EvaluationService, Observer, Progress};
use crate::domain::evaluation::{
    answers::{OffCorpusFigures, QuestionFigures},
    dataset::{SetQuery, SetQuestion},
};

impl EvaluationService {
    /// Asks each question and holds what comes back against the set.
    ///
    /// # Errors
    /// Service failures; a rejected answer and a reached time limit are figures, not errors.
    pub async fn measure_answers(
        &self,
        collection: &str,
        questions: &[SetQuestion],
        observe: Observer<'_>,
    ) -> Result<Vec<QuestionFigures>, EvaluationError> {
        let mut measured = Vec::with_capacity(questions.len());
        for (done, question) in questions.iter().enumerate() {
            observe(Progress { done, of: questions.len() });
            let reply = self.target.ask(collection, &question.id, &question.text).await?;
            measured.push(QuestionFigures::of(question, &reply));
        }
        Ok(measured)
    }

    /// Asks what the documents do not answer and counts the abstentions; `own` are the set's own questions.
    ///
    /// # Errors
    /// Service failures.
    pub async fn measure_off_corpus(
        &self,
        collection: &str,
        queries: &[SetQuery],
        own: &[QuestionFigures],
        observe: Observer<'_>,
    ) -> Result<OffCorpusFigures, EvaluationError> {
        let mut replies = Vec::with_capacity(queries.len());
        for (done, query) in queries.iter().enumerate() {
            observe(Progress { done, of: queries.len() });
            replies.push(self.target.ask(collection, &query.id, &query.text).await?);
        }
        Ok(OffCorpusFigures::of(&replies, own))
    }
}
