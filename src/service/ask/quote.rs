//! The built-in answerer: quotes the sentences that answer the question best.

use super::{
    AskError, GeneratedBy,
    context::AskContext,
    draft::{Assignment, Written},
    grade, retrieve,
};
use crate::domain::answering::{AnswerSource, candidates, compose};

/// Its name in answers.
const MODEL: &str = "extractive";
const PROVIDER: &str = "built-in";

/// An answer of quotations; `None` when there is nothing to quote.
///
/// # Errors
/// When the embedding model fails.
pub(super) async fn quote(ask: &AskContext, assignment: &Assignment<'_>) -> Result<Option<Written>, AskError> {
    let (state, graded) = (assignment.state, assignment.sources);
    let question = &state.question;
    let evidence = grade::evidence_in(state.analyzer, question, graded.iter().map(|graded| &graded.hit));
    let sources: Vec<AnswerSource<'_>> = graded
        .iter()
        .map(|graded| AnswerSource {
            text: &graded.hit.passage.text,
            table_header: graded.hit.passage.table_header.as_deref(),
            probability: graded.verdict.probability.unwrap_or(0.5),
        })
        .collect();
    let candidates = candidates(question, &sources, &evidence);
    let texts = candidates.iter().map(|candidate| candidate.text().to_owned()).collect();
    let cosines = retrieve::cosines(ask, texts).await?;
    let by = GeneratedBy { model: MODEL.to_owned(), provider: PROVIDER.to_owned() };
    Ok(compose(question, &candidates, Some(&cosines)).map(|answer| Written { text: answer.text, by }))
}
