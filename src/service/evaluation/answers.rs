//! Questions through ask.

use tokio::time::Instant;

use super::{EvaluationError, EvaluationService, Observer, Progress};
use crate::{
    domain::{
        budget::TighterLimits,
        citation::{CitedAnswer, Level},
        corrective::OnInsufficient,
        evaluation::{
            answers::{AnswerFigures, OffCorpusFigures, QuestionFigures, Reply, ReplyEnd, SourceSeen},
            dataset::{SetQuery, SetQuestion},
        },
        filter::Filter,
        identity::Caller,
        speculation::Speculation,
    },
    service::{
        ask::{AskError, AskOutcome, AskRequest, GradedHit, Reach},
        retrieval::Stages,
    },
};

/// Passages per round, as an ask has them by default.
const TOP_K: usize = 8;

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
    ) -> Result<AnswerFigures, EvaluationError> {
        let mut measured = Vec::with_capacity(questions.len());
        for (done, question) in questions.iter().enumerate() {
            observe(Progress { done, of: questions.len() });
            let reply = self.ask(collection, &question.id, &question.text).await?;
            measured.push(QuestionFigures::of(question, &reply));
        }
        Ok(AnswerFigures::of(&measured))
    }

    /// Asks what the documents do not answer and counts the abstentions.
    ///
    /// # Errors
    /// Service failures.
    pub async fn measure_off_corpus(
        &self,
        collection: &str,
        queries: &[SetQuery],
        observe: Observer<'_>,
    ) -> Result<OffCorpusFigures, EvaluationError> {
        let mut ends = Vec::with_capacity(queries.len());
        for (done, query) in queries.iter().enumerate() {
            observe(Progress { done, of: queries.len() });
            ends.push(self.ask(collection, &query.id, &query.text).await?.end);
        }
        Ok(OffCorpusFigures::of(&ends))
    }

    async fn ask(&self, collection: &str, id: &str, question: &str) -> Result<Reply, EvaluationError> {
        let request = AskRequest {
            question: question.to_owned(),
            collections: vec![collection.to_owned()],
            top_k: TOP_K,
            min_score: 0.0,
            filter: Filter::default(),
            stages: Stages::default(),
            feedback: true,
            level: Level::default(),
            models: Vec::new(),
            temperature: 0.0,
            seed: None,
            on_insufficient: OnInsufficient::default(),
            refine: false,
            reach: Reach::Documents,
            speculation: Speculation::default(),
            limits: TighterLimits::default(),
            timeout: None,
            cache_life: None,
            dry_run: false,
        };
        let started = Instant::now();
        let result = self.ask.ask(&Caller::internal(self.tenant), &request).await;
        let duration_ms = started.elapsed().as_secs_f64() * 1_000.0;
        let (end, sources, usage, answerability) = match result {
            Ok(report) => {
                let end = match &report.outcome {
                    AskOutcome::Answered { answer, .. } => answered(answer, &report.sources),
                    AskOutcome::Abstained(_) | AskOutcome::DryRun => ReplyEnd::Abstained,
                };
                let rounds = report.trace.rounds.iter().map(|round| round.answerability);
                (end, report.sources, report.usage, rounds.reduce(f32::max))
            }
            Err(AskError::Rejected(rejection)) => (ReplyEnd::Rejected, rejection.sources, rejection.usage, None),
            Err(AskError::Deadline { usage, .. }) => (ReplyEnd::TimedOut, Vec::new(), *usage, None),
            Err(error) => {
                return Err(EvaluationError::Ask { question: id.to_owned(), source: Box::new(error) });
            }
        };
        let sources = sources
            .into_iter()
            .map(|graded| SourceSeen {
                document: graded.hit.passage.source.clone(),
                text: graded.hit.passage.text.clone(),
            })
            .collect();
        Ok(Reply { end, sources, duration_ms, llm_calls: usage.llm_calls, answerability })
    }
}

fn answered(answer: &CitedAnswer, sources: &[GradedHit]) -> ReplyEnd {
    let cited = answer
        .citations()
        .iter()
        .filter_map(|citation| sources.get(citation.source_index))
        .map(|graded| graded.hit.passage.source.clone())
        .collect();
    let supports = answer.claims().iter().map(|claim| claim.support).collect();
    ReplyEnd::Answered { text: without_markers(answer), cited, supports }
}

/// The answer's words: a marker's number is none of them.
fn without_markers(answer: &CitedAnswer) -> String {
    let is_marker = |place: usize| {
        answer.citations().iter().any(|citation| citation.span.start <= place && place < citation.span.end)
    };
    answer.text().chars().enumerate().filter(|(place, _)| !is_marker(*place)).map(|(_, character)| character).collect()
}
