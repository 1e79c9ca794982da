//! One ask on its way: what to do is decided by [`next_step`], how is here and in the files beside.

use std::{sync::Arc, time::Duration};

use time::OffsetDateTime;
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    AskError, AskOutcome, AskParts, AskReport, AskRequest, AskService, AskWarning, GradedHit, Rejection, SkipCause,
    audit::AuditState,
    cache::CacheMiss,
    flights::Flights,
    generate::Generated,
    plan::SubQuestions,
    pool::Pool,
    speculate::EarlyDraft,
    stage::{Stage, StageClock},
    stream::{AskEvent, Listener},
    trace::Trace,
};
use crate::{
    domain::{
        budget::Budget,
        citation::Level,
        corrective::{AbstainReason, Evidence, Fallback, LoopSettings, LoopState, Round, Step, StepCalls, next_step},
        cost::NanoUsd,
        evidence::Inquiry,
        grouping::Grouping,
        identity::Caller,
        lexical::analyzer::Analyzer,
        rewriting::Tried,
    },
    providers::chat::{CallRole, ChatChain},
    service::{
        daily_budget::DailyAccount,
        retrieval::{Hit, RetrievalQuery, Retrieved, Stages, judging_analyzer},
    },
    store::SearchedCollection,
};

/// One ask on its way. Dropped before its end it leaves a row in the audit.
pub(super) struct Ask<'a> {
    pub(super) service: &'a AskParts,
    pub(super) flights: &'a Flights,
    /// Set while the answer, once there is one, may go into the cache.
    pub(super) miss: Option<CacheMiss>,
    /// Makes terms of texts, in the language of the collections.
    pub(super) analyzer: &'static Analyzer,
    pub(super) caller: &'a Caller,
    pub(super) request: &'a AskRequest,
    pub(super) id: Uuid,
    pub(super) asked_at: OffsetDateTime,
    pub(super) budget: Budget,
    pub(super) daily_account: DailyAccount,
    timeout: Duration,
    pub(super) deadline: Instant,
    /// The level that the answer is held to.
    pub(super) level: Level,
    /// Who writes the answer; `None` means built in.
    pub(super) answerers: Option<ChatChain>,
    /// Who verifies the answer; `None` means the scorer alone.
    pub(super) verifiers: Option<ChatChain>,
    pub(super) warnings: Vec<AskWarning>,
    /// Set while the last draft is one that was cut.
    pub(super) cut: Option<AskWarning>,
    pub(super) clock: StageClock,
    pub(super) trace: Trace,
    pub(super) pool: Pool,
    pub(super) rounds: Vec<Round>,
    pub(super) tried: Tried,
    rewriter_is_exhausted: bool,
    pub(super) fallback: Fallback,
    pub(super) inquiry: Option<Arc<Inquiry>>,
    pub(super) has_content: bool,
    pub(super) sub_questions: SubQuestions,
    /// What the answer is written from.
    pub(super) evidence: Arc<[GradedHit]>,
    /// An answer that was begun before the grades are there, or that they have confirmed.
    pub(super) early_draft: Option<EarlyDraft>,
    /// Who is told of it while it is under way.
    pub(super) listener: Option<Listener>,
    /// How far its audit is.
    pub(super) audit: AuditState,
}

impl<'a> Ask<'a> {
    pub(super) fn new(
        service: &'a AskService,
        caller: &'a Caller,
        request: &'a AskRequest,
        listener: Option<Listener>,
    ) -> Self {
        let AskService { parts: service, flights } = service;
        let asked_at = service.context.clock.now();
        let timeout =
            request.execution.timeout.map_or(service.settings.timeout, |shorter| shorter.min(service.settings.timeout));
        Self {
            service,
            flights,
            miss: None,
            analyzer: Default::default(),
            caller,
            request,
            id: service.context.ids.next(),
            asked_at,
            budget: Budget::new(service.settings.limits.tightened(request.execution.limits)),
            daily_account: service.daily_budget.open(caller.tenant, asked_at),
            timeout,
            deadline: Instant::now() + timeout,
            level: request.level,
            answerers: None,
            verifiers: None,
            warnings: Vec::new(),
            cut: None,
            clock: StageClock::start(),
            trace: Trace { stages: request.stages, ..Trace::default() },
            pool: Pool::default(),
            rounds: Vec::new(),
            tried: Tried::new(&request.question),
            rewriter_is_exhausted: false,
            fallback: service.fallback(request),
            inquiry: None,
            has_content: true,
            sub_questions: SubQuestions::default(),
            evidence: Arc::default(),
            early_draft: None,
            listener,
            audit: AuditState::Open,
        }
    }

    /// Runs to its end or to the deadline.
    pub(super) async fn run(&mut self) -> Result<AskReport, AskError> {
        self.choose_answerers()?;
        self.choose_verifiers();
        let result = tokio::time::timeout_at(self.deadline, self.work()).await;
        self.discard_early_draft();
        result.unwrap_or_else(|_| Err(self.deadline_reached()))
    }

    async fn work(&mut self) -> Result<AskReport, AskError> {
        let collections = self.service.retriever.collections(self.caller.tenant, &self.request.collections).await?;
        self.analyzer = judging_analyzer(&collections);
        let mut query = self.request.question.clone();
        loop {
            let step = next_step(&self.state(&self.rounds));
            self.trace.note_step(step);
            match step {
                Step::Retrieve => {
                    let found = self.retrieve_as_planned(&collections).await?;
                    if let Some(report) = self.cached(&found).await? {
                        return Ok(report);
                    }
                    self.grade_round(&query, &found).await?;
                }
                Step::Rewrite => {
                    self.discard_early_draft();
                    match self.rewrite().await? {
                        Some(rewritten) => {
                            query = rewritten;
                            let found = self.retrieve(&collections, &query).await?;
                            self.grade_round(&query, &found).await?;
                        }
                        None => self.rewriter_is_exhausted = true,
                    }
                }
                Step::Search => {
                    self.discard_early_draft();
                    self.search_web().await?;
                }
                Step::Abstain { reason } => {
                    self.discard_early_draft();
                    return Ok(self.report(AskOutcome::Abstained(reason)));
                }
                Step::Generate { over } => return self.answer(over).await,
            }
        }
    }

    /// What is decided by, after these rounds.
    pub(super) fn state<'s>(&'s self, rounds: &'s [Round]) -> LoopState<'s> {
        let settings = &self.service.settings;
        let calls = |role| u32::from(self.chain(role).is_some());
        LoopState {
            settings: LoopSettings {
                min_correct_fraction: settings.min_correct_fraction,
                max_rewrite_attempts: settings.max_rewrite_attempts,
                on_insufficient: self.request.on_insufficient,
            },
            has_content: self.has_content,
            rounds,
            rewriter_is_exhausted: self.rewriter_is_exhausted,
            fallback: self.fallback,
            calls: StepCalls {
                grade: calls(CallRole::Grade),
                rewrite: calls(CallRole::Rewrite),
                generate: if self.request.execution.dry_run { 0 } else { calls(CallRole::Generate) },
            },
            calls_left: self.budget.llm_calls_left(),
        }
    }

    async fn retrieve(&mut self, collections: &[SearchedCollection], query: &str) -> Result<Retrieved, AskError> {
        self.clock.enter(Stage::Retrieve);
        let query = self.query(collections, query, self.request.top_k);
        let found = self.service.retriever.retrieve(&query, &self.budget).await?;
        self.has_content = found.chunks > 0;
        Ok(found)
    }

    pub(super) fn query<'q>(
        &'q self,
        collections: &'q [SearchedCollection],
        text: &'q str,
        top_k: usize,
    ) -> RetrievalQuery<'q> {
        RetrievalQuery {
            tenant: self.caller.tenant,
            collections,
            text,
            // Passages are graded as they were indexed; those that are used are merged afterwards.
            stages: Stages {
                grouping: Grouping { merge_neighbours: false, ..self.request.stages.grouping },
                ..self.request.stages
            },
            top_k,
            min_score: self.request.min_score,
            filter: &self.request.filter,
        }
    }

    /// Grades what a query found against the question.
    pub(super) async fn grade_round(&mut self, query: &str, found: &Retrieved) -> Result<(), AskError> {
        self.clock.enter(Stage::Grade);
        let inquiry = self.inquiry.take().unwrap_or_else(|| Arc::new(self.inquire(found)));
        self.inquiry = Some(Arc::clone(&inquiry));
        let (round, answerability) = self.grade(&inquiry, found).await?;
        let grades: Vec<_> = round.iter().map(|hit| hit.verdict.grade).collect();
        let new = self.pool.add(round.clone());
        self.rounds.push(Round::of(&grades, new));
        self.trace.note_round(query, found, answerability.probability, &round, new);
        Ok(())
    }

    /// What the question asks for, weighed by the collections asked.
    fn inquire(&self, found: &Retrieved) -> Inquiry {
        Inquiry::new(self.analyzer, &self.request.question, found.chunks, |stem| {
            found.document_frequencies.get(stem).copied().unwrap_or(0)
        })
    }

    async fn answer(&mut self, over: Evidence) -> Result<AskReport, AskError> {
        let chosen = self.pool.evidence(over);
        let sources = match self.confirmed_sources(&chosen) {
            Some(sources) => sources,
            None => self.group(&chosen).await?,
        };
        self.evidence = graded(&chosen, sources).into();
        if self.request.execution.dry_run {
            return Ok(self.report(AskOutcome::DryRun));
        }
        self.tell(AskEvent::Sources(Arc::clone(&self.evidence))).await;
        self.clock.enter(Stage::Generate);
        match self.generate().await? {
            Generated::Accepted(answer, by) => {
                let missing = self.missing_in(&answer);
                Ok(AskReport { missing, ..self.report(AskOutcome::Answered { answer, by }) })
            }
            Generated::Ignorance => Ok(self.report(AskOutcome::Abstained(AbstainReason::LowSupport))),
            Generated::Rejected { errors, draft, attempts, by } => Err(AskError::Rejected(Box::new(Rejection {
                errors,
                draft,
                attempts,
                level: self.request.level,
                warnings: self.all_warnings(),
                by,
                sources: self.sources(),
                usage: self.budget.spent(),
                timings: self.clock.timings(),
            }))),
        }
    }

    pub(super) fn deadline_reached(&self) -> AskError {
        AskError::Deadline {
            stage: self.clock.current().doing(),
            limit_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            usage: Box::new(self.budget.spent()),
            attempts: self.trace.failed_attempts().cloned().collect(),
        }
    }

    /// The sources to generate over, one for passages that say the same or stand together, each with the place of the
    /// first of its passages.
    pub(super) async fn group(&self, chosen: &[GradedHit]) -> Result<Vec<(usize, Hit)>, AskError> {
        let hits: Vec<Hit> = chosen.iter().map(|graded| graded.hit.clone()).collect();
        let (grouping, limit) = (self.request.stages.grouping, self.request.top_k);
        Ok(self.service.retriever.group(self.caller.tenant, &hits, grouping, limit).await?)
    }

    /// Sources in marker order, then those that were found but not used.
    fn sources(&self) -> Vec<GradedHit> {
        self.pool.sources(self.evidence.to_vec(), self.request.top_k)
    }

    /// What was spent, calls under way as reserved.
    pub(super) fn spent_at_most(&self) -> NanoUsd {
        let spent = self.budget.spent();
        spent.cost.plus(spent.unsettled)
    }

    /// Tells, once, that a configured model had no part in the answer.
    pub(super) fn warn_skipped(&mut self, role: CallRole, cause: SkipCause) {
        let warning = AskWarning::ModelSkipped { role, cause };
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    pub(super) fn all_warnings(&self) -> Vec<AskWarning> {
        self.warnings.iter().chain(&self.cut).cloned().collect()
    }

    pub(super) fn report(&mut self, outcome: AskOutcome) -> AskReport {
        AskReport {
            id: self.id,
            outcome,
            sources: self.sources(),
            evidence: self.pool.found(self.trace.rounds.iter().map(|round| round.answerability).reduce(f32::max)),
            usage: self.budget.spent(),
            timings: self.clock.timings(),
            level: self.request.level,
            effective_level: self.level,
            warnings: self.all_warnings(),
            missing: Vec::new(),
            plan: self.trace.plan.clone().filter(|_| self.request.execution.dry_run),
            is_cache_hit: false,
            trace: std::mem::take(&mut self.trace),
        }
    }
}

/// Sources with the grades of their first passages.
pub(super) fn graded(chosen: &[GradedHit], sources: Vec<(usize, Hit)>) -> Vec<GradedHit> {
    let graded = |(leader, hit): (usize, Hit)| Some(GradedHit { hit, ..chosen.get(leader)?.clone() });
    sources.into_iter().filter_map(graded).collect()
}
