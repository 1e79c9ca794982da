//! The record of an ask: the events and results of its stages. Stages write to it and read nothing back. At the end it
//! becomes the [trace](Trace) of the report, the row of the audit, and the entry of the cache.

mod stage;
mod trace;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use uuid::Uuid;

pub(super) use self::stage::Stage;
use self::stage::StageClock;
pub(crate) use self::trace::{
    AttemptTrace, CallFigures, CallTrace, ConversationTrace, FailedCallTrace, Refinement, RoundTrace, RulingTrace,
    Trace,
};
use super::{AskWarning, GradedHit, SkipCause, TimingsMs};
use crate::{
    domain::{corrective::Step, planning::Plan},
    providers::{FailedAttempt, chat::CallRole},
    service::retrieval::Stages,
};

/// Shared by all stages of an ask.
pub(super) struct Record(Mutex<Entries>);

struct Entries {
    clock: StageClock,
    trace: Trace,
    warnings: Vec<AskWarning>,
    /// Set while the last draft is one that was truncated.
    cut: Option<AskWarning>,
    /// The sources of the answer, in marker order.
    sources: Arc<[GradedHit]>,
    /// Documents that the caller must see until the end.
    documents: BTreeSet<Uuid>,
}

impl Record {
    /// Starts the record and its clock.
    pub(super) fn start(stages: Stages) -> Self {
        Self(Mutex::new(Entries {
            clock: StageClock::start(),
            trace: Trace { stages, ..Trace::default() },
            warnings: Vec::new(),
            cut: None,
            sources: Arc::default(),
            documents: BTreeSet::new(),
        }))
    }

    /// Records that the ask enters a stage; time is counted for that stage from now on.
    pub(super) fn enter(&self, stage: Stage) {
        self.lock().clock.enter(stage);
    }

    /// Records how the message of a conversation became a question that stands alone.
    pub(super) fn note_conversation(&self, conversation: ConversationTrace) {
        self.lock().trace.conversation = Some(conversation);
    }

    /// Notes the document that the last answer of the conversation was taken from.
    pub(super) fn note_last_document(&self, source: &str) {
        if let Some(conversation) = &mut self.lock().trace.conversation {
            conversation.document = Some(source.to_owned());
        }
    }

    pub(super) fn note_step(&self, step: Step) {
        self.lock().trace.steps.push(step);
    }

    pub(super) fn note_plan(&self, plan: &Plan) {
        self.lock().trace.plan = Some(plan.clone());
    }

    pub(super) fn note_round(&self, round: RoundTrace) {
        self.lock().trace.rounds.push(round);
    }

    pub(super) fn note_planned(&self, rounds: Vec<RoundTrace>) {
        self.lock().trace.planned = rounds;
    }

    pub(super) fn note_call(&self, call: CallTrace) {
        self.lock().trace.calls.push(call);
    }

    pub(super) fn note_failed_call(&self, call: FailedCallTrace) {
        self.lock().trace.failed_calls.push(call);
    }

    pub(super) fn note_refinements(&self, refinements: Vec<Refinement>) {
        self.lock().trace.refinements = refinements;
    }

    pub(super) fn note_attempt(&self, attempt: AttemptTrace) {
        self.lock().trace.attempts.push(attempt);
    }

    /// Whether the last draft was truncated.
    pub(super) fn note_cut(&self, cut: Option<AskWarning>) {
        self.lock().cut = cut;
    }

    /// Adds a warning, once.
    pub(super) fn warn(&self, warning: AskWarning) {
        let mut entries = self.lock();
        if !entries.warnings.contains(&warning) {
            entries.warnings.push(warning);
        }
    }

    /// Adds a warning that a configured model was not used for the answer. A call whose reply is the cause is marked.
    pub(super) fn warn_skipped(&self, role: CallRole, cause: SkipCause) {
        if cause.is_of_reply()
            && let Some(call) = self.lock().trace.calls.iter_mut().rfind(|call| call.role == role)
        {
            call.is_unusable = true;
        }
        self.warn(AskWarning::ModelSkipped { role, cause });
    }

    /// Replaces all warnings by those of a cached answer.
    pub(super) fn set_warnings(&self, warnings: Vec<AskWarning>) {
        self.lock().warnings = warnings;
    }

    pub(super) fn set_sources(&self, sources: Arc<[GradedHit]>) {
        self.lock().sources = sources;
    }

    pub(super) fn note_documents(&self, documents: impl Iterator<Item = Uuid>) {
        self.lock().documents.extend(documents);
    }

    /// The documents that were noted so far.
    pub(super) fn documents(&self) -> Vec<Uuid> {
        self.lock().documents.iter().copied().collect()
    }

    pub(super) fn stage(&self) -> Stage {
        self.lock().clock.current()
    }

    pub(super) fn timings(&self) -> TimingsMs {
        self.lock().clock.timings()
    }

    pub(super) fn warnings(&self) -> Vec<AskWarning> {
        let entries = self.lock();
        entries.warnings.iter().chain(&entries.cut).cloned().collect()
    }

    pub(super) fn sources(&self) -> Arc<[GradedHit]> {
        Arc::clone(&self.lock().sources)
    }

    /// Model calls that failed so far.
    pub(super) fn failed_attempts(&self) -> Vec<FailedAttempt> {
        self.lock().trace.failed_attempts().cloned().collect()
    }

    /// Everything that was tried so far.
    pub(super) fn trace(&self) -> Trace {
        self.lock().trace.clone()
    }

    /// Everything that was tried, for the end of the ask.
    pub(super) fn take_trace(&self) -> Trace {
        std::mem::take(&mut self.lock().trace)
    }

    /// No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
