//! The built-in answerer: quotes the sentences that answer the question best, or whole passages where none can.

use super::{
    AskError, GeneratedBy,
    context::AskContext,
    draft::{Assignment, Written},
    grade, retrieve,
};
use crate::domain::{
    answering::{AnswerSource, ExtractiveAnswer, Material, asks_for_extreme, candidates, closest, compose, passages},
    citation::Attempt,
    planning::QuestionType,
};

/// Its name in answers.
const MODEL: &str = "extractive";
const PROVIDER: &str = "built-in";

/// An answer of quotations, or passages; `None` when there is nothing to quote. Passages that did not pass are not tried
/// a second time.
///
/// # Errors
/// When the embedding model fails.
pub(super) async fn quote(
    ask: &AskContext,
    assignment: &Assignment<'_>,
    attempt: Attempt,
) -> Result<Option<Written>, AskError> {
    let (state, graded) = (assignment.state, assignment.sources);
    let question = &state.question;
    let evidence = grade::evidence_in(state.analyzer, question, graded.iter().map(|graded| &graded.hit));
    let cut = if asks_for_extreme(&question.asked) {
        let hits = graded.iter().map(|graded| &graded.hit);
        ask.services.retriever.cut_tables(ask.caller.grant.tenant(), hits).await?
    } else {
        Vec::new()
    };
    let cut = cut.into_iter().chain(std::iter::repeat(false));
    let sources: Vec<AnswerSource<'_>> = graded
        .iter()
        .zip(cut)
        .map(|(graded, has_cut_table)| AnswerSource {
            key: graded.hit.passage.key,
            title: &graded.hit.passage.title,
            origin: &graded.hit.passage.source,
            heading: &graded.hit.passage.heading,
            text: &graded.hit.passage.text,
            table_header: graded.hit.passage.table_header.as_deref(),
            has_cut_table,
            probability: graded.verdict.probability.unwrap_or(0.5),
            similarity: graded.hit.dense.map(grade::narrow),
        })
        .collect();
    let candidates = candidates(question, &sources, &evidence);
    let texts = candidates.iter().map(|candidate| candidate.embedded().to_owned()).collect();
    let likenesses = retrieve::likenesses(ask, texts).await?;
    let by = GeneratedBy { model: MODEL.to_owned(), provider: PROVIDER.to_owned() };
    let material = Material { question, sources: &sources, evidence: &evidence };
    if attempt == Attempt::First {
        let question_type = state.plan.as_ref().map_or(QuestionType::Lookup, |plan| plan.question_type);
        if let Some(given) = passages(&material, question_type, &candidates, Some(&likenesses)) {
            return Ok(Some(Written { text: given.text, by, passages: given.passages, confidence: None }));
        }
    }
    let answer = compose(question, &candidates, Some(&likenesses));
    let confidence = answer.as_ref().map(|answer| answer.features.probability());
    if attempt == Attempt::First && answer.as_ref().is_none_or(ExtractiveAnswer::is_doubtful) {
        // Of a doubtful sentence without a passage to give nothing is quoted.
        let given = closest(&material, &candidates, Some(&likenesses), answer.as_ref());
        return Ok(given.map(|given| Written { text: given.text, by, passages: given.passages, confidence }));
    }
    Ok(answer.map(|answer| Written { text: answer.text, by, passages: Vec::new(), confidence }))
}
