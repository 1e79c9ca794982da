//! Ask: the corrective loop (Yan et al. 2024, arXiv:2401.15884) and the strict validator behind it.
//!
//! retrieve → grade → [`next_step`] → rewrite and again, or generate → validate → answer, or abstain.

mod call;
mod generate;
mod grade;
mod pool;
mod report;
mod rewrite;
mod stage;
mod trace;

use std::{sync::Arc, time::Duration};

pub use pool::GradedHit;
pub use report::{AskError, AskOutcome, AskReport, AskWarning, GeneratedBy, Rejection, TimingsMs};
pub use trace::{AttemptTrace, CallTrace, RoundTrace, Trace, VerdictTrace};

use tokio::time::Instant;

use self::{
    generate::Generated,
    pool::Pool,
    stage::{Stage, StageClock},
};
use super::{
    ServiceError,
    context::Context,
    retrieval::{Hit, RetrievalQuery, Retrieved, Retriever, Stages},
};
use crate::{
    domain::{
        budget::{Budget, Limits},
        citation::Level,
        corrective::{
            AbstainReason, Evidence, LoopSettings, LoopState, OnInsufficient, Round, Step, StepCalls, next_step,
        },
        evidence::Inquiry,
        filter::Filter,
        grouping::Grouping,
        identity::TenantId,
        lexical::analyzer::Analyzer,
        rewriting::Tried,
    },
    providers::{
        Embedder,
        chat::{CallRole, ChatChain, ChatModels, ModelName},
    },
    store::SearchedCollection,
};

/// Defaults and limits of the deployment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Share of correct passages among the candidates that is enough to generate.
    pub min_correct_fraction: f32,
    /// Most rewrites of one question.
    pub max_rewrite_attempts: u32,
    /// Limits of one ask; a request may ask for less.
    pub limits: Limits,
    /// Longest ask; a request may ask for less.
    pub timeout: Duration,
    /// Whether models that cannot cite may answer without any proof, which the answer then says.
    pub allows_mode_fallback: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let LoopSettings { min_correct_fraction, max_rewrite_attempts, .. } = LoopSettings::default();
        Self {
            min_correct_fraction,
            max_rewrite_attempts,
            limits: Limits::ask(),
            timeout: Duration::from_secs(30),
            allows_mode_fallback: false,
        }
    }
}

/// A question, checked.
#[derive(Clone, Debug)]
pub struct AskRequest {
    /// The question.
    pub question: String,
    /// Collections, at least one.
    pub collections: Vec<String>,
    /// Passages per round.
    pub top_k: usize,
    /// Passages below this fused score are left out.
    pub min_score: f64,
    /// What may be found.
    pub filter: Filter,
    /// Which stages of retrieval run.
    pub stages: Stages,
    /// Whether the built-in rewriter may take words from the passages found.
    pub feedback: bool,
    /// How strictly the answer is checked.
    pub level: Level,
    /// Models in the order in which they are tried, each configured; empty for the deployment's.
    pub models: Vec<ModelName>,
    /// Sampling temperature of the answering model.
    pub temperature: f32,
    /// Seed; otherwise made from question and sources.
    pub seed: Option<u64>,
    /// What to do when only ambiguous passages are found.
    pub on_insufficient: OnInsufficient,
    /// Most model calls, if fewer than the deployment allows.
    pub max_llm_calls: Option<u32>,
    /// Longest time, if less than the deployment allows.
    pub timeout: Option<Duration>,
    /// Stop before anything is generated.
    pub dry_run: bool,
}

/// The use case.
#[derive(Clone)]
pub struct AskService {
    retriever: Retriever,
    embedder: Arc<dyn Embedder>,
    /// They grade the doubtful cases, rewrite and answer; without any the built-in parts do.
    models: Arc<ChatModels>,
    analyzer: Arc<Analyzer>,
    settings: Arc<Settings>,
    context: Context,
}

/// One ask on its way.
struct Ask<'a> {
    service: &'a AskService,
    request: &'a AskRequest,
    budget: Budget,
    timeout: Duration,
    deadline: Instant,
    /// The level that the answer is held to.
    level: Level,
    /// Who writes the answer; `None` means built in.
    answerers: Option<ChatChain>,
    warnings: Vec<AskWarning>,
    /// Set while the last draft is one that was cut.
    cut: Option<AskWarning>,
    clock: &'a StageClock,
    trace: Trace,
    pool: Pool,
    rounds: Vec<Round>,
    tried: Tried,
    rewriter_is_exhausted: bool,
    inquiry: Option<Inquiry>,
    has_content: bool,
}

impl AskService {
    /// Ask with these parts.
    #[must_use]
    pub const fn new(
        retriever: Retriever,
        embedder: Arc<dyn Embedder>,
        models: Arc<ChatModels>,
        analyzer: Arc<Analyzer>,
        settings: Arc<Settings>,
        context: Context,
    ) -> Self {
        Self { retriever, embedder, models, analyzer, settings, context }
    }

    /// The deployment's defaults and limits.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The configured models.
    #[must_use]
    pub fn models(&self) -> &ChatModels {
        &self.models
    }

    /// Answers a question from the documents, or says that they do not.
    ///
    /// # Errors
    /// [`AskError`]: rejected citations, deadline, unknown collection, provider or store failure.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the model call under way.
    pub async fn ask(&self, tenant: TenantId, request: &AskRequest) -> Result<AskReport, AskError> {
        let mut limits = self.settings.limits;
        if let Some(fewer) = request.max_llm_calls {
            limits.llm_calls = Some(limits.llm_calls.map_or(fewer, |most| most.min(fewer)));
        }
        let timeout = request.timeout.map_or(self.settings.timeout, |shorter| shorter.min(self.settings.timeout));
        let budget = Budget::new(limits);
        let clock = StageClock::start();
        let deadline = Instant::now() + timeout;
        let mut ask = Ask {
            service: self,
            request,
            budget: budget.clone(),
            timeout,
            deadline,
            level: request.level,
            answerers: None,
            warnings: Vec::new(),
            cut: None,
            clock: &clock,
            trace: Trace { stages: request.stages, ..Trace::default() },
            pool: Pool::default(),
            rounds: Vec::new(),
            tried: Tried::new(&request.question),
            rewriter_is_exhausted: false,
            inquiry: None,
            has_content: true,
        };
        ask.choose_answerers()?;
        match tokio::time::timeout_at(deadline, ask.run(tenant)).await {
            Ok(result) => result,
            Err(_) => Err(deadline_reached(&clock, timeout, &budget)),
        }
    }
}

fn deadline_reached(clock: &StageClock, timeout: Duration, budget: &Budget) -> AskError {
    AskError::Deadline {
        stage: clock.current().doing(),
        limit_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
        usage: budget.spent(),
    }
}

impl Ask<'_> {
    /// The loop: what to do is decided by [`next_step`], how is below.
    async fn run(mut self, tenant: TenantId) -> Result<AskReport, AskError> {
        let collections = self.service.retriever.collections(tenant, &self.request.collections).await?;
        let mut query = self.request.question.clone();
        loop {
            let step = next_step(&self.state());
            self.trace.note_step(step);
            match step {
                Step::Retrieve => self.round(tenant, &collections, &query).await?,
                Step::Rewrite => match self.rewrite().await? {
                    Some(rewritten) => {
                        query = rewritten;
                        self.round(tenant, &collections, &query).await?;
                    }
                    None => self.rewriter_is_exhausted = true,
                },
                Step::Abstain { reason } => return Ok(self.report(AskOutcome::Abstained(reason), Vec::new())),
                Step::Generate { over } => return self.answer(tenant, over).await,
            }
        }
    }

    fn state(&self) -> LoopState<'_> {
        let settings = &self.service.settings;
        let calls = |role| u32::from(self.chain(role).is_some());
        LoopState {
            settings: LoopSettings {
                min_correct_fraction: settings.min_correct_fraction,
                max_rewrite_attempts: settings.max_rewrite_attempts,
                on_insufficient: self.request.on_insufficient,
            },
            has_content: self.has_content,
            rounds: &self.rounds,
            rewriter_is_exhausted: self.rewriter_is_exhausted,
            calls: StepCalls {
                grade: calls(CallRole::Grade),
                rewrite: calls(CallRole::Rewrite),
                generate: calls(CallRole::Generate),
            },
            calls_left: self.budget.llm_calls_left(),
        }
    }

    /// One round: retrieve for the query, grade what is new against the question.
    async fn round(
        &mut self,
        tenant: TenantId,
        collections: &[SearchedCollection],
        query: &str,
    ) -> Result<(), AskError> {
        self.clock.enter(Stage::Retrieve);
        let retrieval = RetrievalQuery {
            tenant,
            collections,
            text: query,
            // Passages are graded as they were indexed; those that are used are merged afterwards.
            stages: Stages {
                grouping: Grouping { merge_neighbours: false, ..self.request.stages.grouping },
                ..self.request.stages
            },
            top_k: self.request.top_k,
            min_score: self.request.min_score,
            filter: &self.request.filter,
        };
        let found = self.service.retriever.retrieve(&retrieval, &self.budget).await?;
        self.has_content = found.chunks > 0;
        self.clock.enter(Stage::Grade);
        let inquiry = self.inquiry.take().unwrap_or_else(|| self.inquire(&found));
        let (round, answerability) = self.grade(&inquiry, &found).await?;
        self.inquiry = Some(inquiry);
        let grades: Vec<_> = round.iter().map(|hit| hit.verdict.grade).collect();
        let new = self.pool.add(round.clone());
        self.rounds.push(Round::of(&grades, new));
        self.trace.note_round(query, &found, answerability.probability, &round, new);
        Ok(())
    }

    /// What the question asks for, weighed by the collections asked.
    fn inquire(&self, found: &Retrieved) -> Inquiry {
        Inquiry::new(&self.service.analyzer, &self.request.question, found.chunks, |stem| {
            found.document_frequencies.get(stem).copied().unwrap_or(0)
        })
    }

    async fn answer(mut self, tenant: TenantId, over: Evidence) -> Result<AskReport, AskError> {
        let evidence = self.evidence(tenant, over).await?;
        if self.request.dry_run {
            return Ok(self.report(AskOutcome::DryRun, evidence));
        }
        self.clock.enter(Stage::Generate);
        match self.generate(&evidence).await? {
            Generated::Accepted(answer, by) => Ok(self.report(AskOutcome::Answered { answer, by }, evidence)),
            Generated::Ignorance => Ok(self.report(AskOutcome::Abstained(AbstainReason::LowSupport), evidence)),
            Generated::Rejected { errors, draft, attempts, by } => Err(AskError::Rejected(Box::new(Rejection {
                errors,
                draft,
                attempts,
                level: self.request.level,
                warnings: self.warnings.into_iter().chain(self.cut).collect(),
                by,
                sources: self.pool.sources(evidence, self.request.top_k),
                usage: self.budget.spent(),
                timings: self.clock.timings(),
            }))),
        }
    }

    fn deadline_reached(&self) -> AskError {
        deadline_reached(self.clock, self.timeout, &self.budget)
    }

    /// The sources to generate over, one for passages that say the same or stand together.
    async fn evidence(&self, tenant: TenantId, over: Evidence) -> Result<Vec<GradedHit>, AskError> {
        let chosen = self.pool.evidence(over);
        let hits: Vec<Hit> = chosen.iter().map(|graded| graded.hit.clone()).collect();
        let (grouping, limit) = (self.request.stages.grouping, self.request.top_k);
        let sources = self.service.retriever.group(tenant, &hits, grouping, limit).await?;
        let graded = |(leader, hit): (usize, Hit)| Some(GradedHit { hit, ..chosen.get(leader)?.clone() });
        Ok(sources.into_iter().filter_map(graded).collect())
    }

    fn report(mut self, outcome: AskOutcome, evidence: Vec<GradedHit>) -> AskReport {
        let timings = self.clock.timings();
        AskReport {
            id: self.service.context.ids.next(),
            outcome,
            sources: self.pool.sources(evidence, self.request.top_k),
            usage: self.budget.spent(),
            timings,
            level: self.request.level,
            effective_level: self.level,
            warnings: self.warnings.into_iter().chain(self.cut).collect(),
            trace: std::mem::take(&mut self.trace),
        }
    }
}

impl From<crate::store::StoreError> for AskError {
    fn from(error: crate::store::StoreError) -> Self {
        Self::Service(ServiceError::Store(error))
    }
}
