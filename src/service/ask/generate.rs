//! Generation and validation: at most one retry, then an answer or the end.

use std::sync::Arc;

use super::{
    AskError, AskWarning, call::Call, grade::passage_of, pool::GradedHit, report::GeneratedBy, run::Ask, stage::Stage,
    stream::VoidReason, trace::AttemptTrace,
};
use crate::{
    domain::{
        answering::{AnswerSource, candidates, compose},
        citation::{Attempt, CitationError, CitedAnswer, Draft, PreparedSource, Role, Statement, Verdict, validate},
        grading::features,
        prompt,
    },
    providers::chat::{CallRole, ChatChain, ChatReply},
};

/// Name of the built-in answerer.
const BUILT_IN_MODEL: &str = "extractive";
const BUILT_IN_PROVIDER: &str = "built-in";

/// What generation came to.
pub(super) enum Generated {
    Accepted(CitedAnswer, GeneratedBy),
    /// The model says that the sources do not tell.
    Ignorance,
    Rejected {
        errors: Vec<CitationError>,
        draft: String,
        attempts: u8,
        by: GeneratedBy,
    },
}

impl Ask<'_> {
    /// Generates over the evidence and validates; source N of the prompt is marker N.
    pub(super) async fn generate(&mut self) -> Result<Generated, AskError> {
        let evidence = Arc::clone(&self.evidence);
        let prepared: Vec<PreparedSource> = evidence.iter().map(GradedHit::prepare).collect();
        let Some(first) = self.draft(&evidence, &prepared, None).await? else { return Ok(Generated::Ignorance) };
        let prompt = match self.judge(&first, &evidence, &prepared, Attempt::First).await? {
            Judged::Over(generated) => return Ok(generated),
            Judged::Retry(prompt) => prompt,
        };
        let again = self.draft(&evidence, &prepared, Some((&first.text, &prompt))).await?;
        let Some(second) = again else { return Ok(Generated::Ignorance) };
        match self.judge(&second, &evidence, &prepared, Attempt::Retry).await? {
            Judged::Over(generated) => Ok(generated),
            Judged::Retry(_) => unreachable!("the validator does not ask for a second retry"),
        }
    }

    async fn judge(
        &mut self,
        written: &Written,
        evidence: &[GradedHit],
        prepared: &[PreparedSource],
        attempt: Attempt,
    ) -> Result<Judged, AskError> {
        self.clock.enter(Stage::Validate);
        let draft = Draft::new(written.text.as_str(), prepared);
        let (draft, rulings) = self.verify(draft, evidence, attempt).await?;
        let verdict = validate(&draft, self.level, attempt);
        let errors = match &verdict {
            Verdict::Accept(_) => Vec::new(),
            Verdict::Retry(prompt) => prompt.errors().to_vec(),
            Verdict::Reject(errors) => errors.clone(),
        };
        self.trace.attempts.push(AttemptTrace { attempt: attempt.number(), errors, by: written.by.clone(), rulings });
        self.clock.enter(Stage::Generate);
        Ok(match verdict {
            Verdict::Accept(_) if admits_ignorance(&draft) => {
                self.tell_void(VoidReason::Ignorance).await;
                Judged::Over(Generated::Ignorance)
            }
            Verdict::Accept(answer) => {
                self.tell_accepted(&answer).await;
                Judged::Over(Generated::Accepted(answer, written.by.clone()))
            }
            Verdict::Retry(prompt) => {
                self.tell_void(VoidReason::CitationValidation(prompt.errors().to_vec())).await;
                Judged::Retry(prompt.text().to_owned())
            }
            Verdict::Reject(errors) => {
                self.tell_void(VoidReason::CitationValidation(errors.clone())).await;
                Judged::Over(Generated::Rejected {
                    errors,
                    draft: written.text.clone(),
                    attempts: attempt.number(),
                    by: written.by.clone(),
                })
            }
        })
    }

    /// One draft: by the configured model, or by quoting. `None` when there is nothing to quote.
    async fn draft(
        &mut self,
        evidence: &[GradedHit],
        prepared: &[PreparedSource],
        retry: Option<(&str, &str)>,
    ) -> Result<Option<Written>, AskError> {
        let Some(chain) = self.answerers.clone() else {
            let quoted = self.quote(evidence).await?;
            if let Some(written) = &quoted {
                self.tell_written(&written.text, prepared).await;
            }
            return Ok(quoted);
        };
        let reply = match self.early_draft.take() {
            Some(draft) => self.hear_out(draft, prepared).await?,
            None => self.write(&chain, evidence, prepared, retry).await?,
        };
        self.cut = reply.is_cut().then(|| AskWarning::LengthCut {
            model: reply.model.to_string(),
            tokens: self.budget.limits().completion_tokens,
        });
        let by = GeneratedBy { model: reply.model.model, provider: reply.model.provider };
        Ok(Some(Written { text: reply.text, by }))
    }

    /// Asks the models for a draft.
    async fn write(
        &mut self,
        chain: &ChatChain,
        evidence: &[GradedHit],
        prepared: &[PreparedSource],
        retry: Option<(&str, &str)>,
    ) -> Result<ChatReply, AskError> {
        let shown = self.shown(evidence);
        let sources = shown.sources();
        let messages = match retry {
            None => prompt::answer::messages(&self.request.question, &sources),
            Some((draft, prompt)) => prompt::answer::retry_messages(&self.request.question, &sources, draft, prompt),
        };
        let call = Call { role: CallRole::Generate, messages, sources: &sources, format: None };
        self.trace.refinements.clone_from(&shown.refinements);
        match self.listener {
            Some(_) => self.call_aloud(chain, call, prepared).await,
            None => self.call(chain, call).await,
        }
    }

    /// Quotes the sentences that answer best.
    async fn quote(&mut self, evidence: &[GradedHit]) -> Result<Option<Written>, AskError> {
        let Some(inquiry) = &self.inquiry else { return Ok(None) };
        let titles: Vec<String> = evidence.iter().map(|graded| graded.hit.title()).collect();
        let passages: Vec<features::Passage<'_>> =
            evidence.iter().zip(&titles).map(|(graded, title)| passage_of(&graded.hit, title)).collect();
        let found = features::evidence_of(self.analyzer, inquiry, &passages);
        let sources: Vec<AnswerSource<'_>> = evidence
            .iter()
            .map(|graded| AnswerSource {
                text: &graded.hit.passage.text,
                probability: graded.verdict.probability.unwrap_or(0.5),
            })
            .collect();
        let candidates = candidates(inquiry, &sources, &found);
        let texts: Vec<String> = candidates.iter().map(|candidate| candidate.text().to_owned()).collect();
        let cosines = self.cosines(&texts).await?;
        let by = GeneratedBy { model: BUILT_IN_MODEL.to_owned(), provider: BUILT_IN_PROVIDER.to_owned() };
        Ok(compose(inquiry, &candidates, Some(&cosines)).map(|answer| Written { text: answer.text, by }))
    }

    /// Cosine of the question with each text.
    pub(super) async fn cosines(&self, texts: &[String]) -> Result<Vec<f32>, AskError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let embedder = &self.service.embedder;
        let (question, vectors) = tokio::try_join!(
            embedder.embed_query(&self.request.question, self.budget.reserve_embedding(0)?),
            embedder.embed_passages(texts.to_vec(), self.budget.reserve_embedding(0)?),
        )?;
        let cosine = |vector: &Vec<f32>| vector.iter().zip(&question).map(|(a, b)| a * b).sum();
        Ok(vectors.iter().map(cosine).collect())
    }
}

/// A draft and its author.
struct Written {
    text: String,
    by: GeneratedBy,
}

enum Judged {
    Over(Generated),
    Retry(String),
}

/// Whether the draft states nothing, but says that the sources do not tell. A marker that it sets behind that proves
/// nothing.
fn admits_ignorance(draft: &Draft) -> bool {
    let statements = draft.statements();
    let has = |role: Role| statements.iter().any(|statement| statement.role == role);
    let cites = |statement: &Statement| statement.role != Role::Ignorance && !statement.markers.is_empty();
    has(Role::Ignorance) && !has(Role::Claim) && !statements.iter().any(cites)
}
