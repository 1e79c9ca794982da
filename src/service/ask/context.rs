//! The data that stays the same during one ask, with the counters and the record that its stages share.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use time::OffsetDateTime;
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    AskError, AskParts, AskRequest, AskService, Reach, condense::StandaloneQuestion, models::AskModels, record::Record,
    single_flight::SingleFlight,
};
use crate::{
    domain::{
        asked_part::asking_part,
        budget::Budget,
        corrective::StepCalls,
        cost::NanoUsd,
        identity::Caller,
        prompt::Nonce,
        spelling::{self, Correction},
    },
    service::{daily_budget::DailyAccount, retrieval::Mode},
};

/// One ask. Stages read it, return their results, and record how they were obtained.
pub(super) struct AskContext {
    pub(super) services: Arc<AskParts>,
    /// Lets asks for the same answer wait for one of them.
    pub(super) single_flight: SingleFlight,
    pub(super) caller: Caller,
    pub(super) request: AskRequest,
    /// The part of the message that asks, without instructions on the answer.
    message: String,
    /// The question made of the message and its history; set before the first search, if at all.
    standalone: OnceLock<StandaloneQuestion>,
    /// The message with words of the history, where it may stand alone: the next wording if nothing is found by itself.
    with_history: OnceLock<String>,
    /// The question without typing errors; set before its passages are graded, if at all.
    corrected: OnceLock<CorrectedQuestion>,
    /// Word in the tags of its prompts.
    pub(super) nonce: Nonce,
    pub(super) id: Uuid,
    pub(super) asked_at: OffsetDateTime,
    /// Whether the answer is sent piece by piece.
    pub(super) is_stream: bool,
    pub(super) timeout: Duration,
    pub(super) deadline: Instant,
    /// The models that are used in this ask.
    pub(super) models: AskModels,
    /// The limits of this ask and its usage so far.
    pub(super) budget: Budget,
    /// The reservations of this ask on its tenant's day.
    pub(super) daily_account: DailyAccount,
    pub(super) record: Record,
}

/// The question without likely typing errors.
struct CorrectedQuestion {
    text: String,
    /// The part of it that asks.
    asked: String,
    corrections: Vec<Correction>,
}

impl AskContext {
    pub(super) fn new(service: &AskService, caller: Caller, request: AskRequest, is_stream: bool) -> Self {
        let AskService { parts: services, single_flight } = service.clone();
        let settings = &services.settings;
        let asked_at = services.context.clock.now();
        let nonce = services.context.ids.nonce();
        let timeout = request.execution.timeout.map_or(settings.timeout, |shorter| shorter.min(settings.timeout));
        Self {
            id: services.context.ids.next(),
            asked_at,
            is_stream,
            timeout,
            deadline: Instant::now() + timeout,
            models: AskModels::choose(&services, &request),
            budget: Budget::new(settings.limits.tightened(request.execution.limits)),
            daily_account: services.daily_budget.open(caller.grant.tenant(), asked_at),
            record: Record::start(request.stages),
            services,
            single_flight,
            caller,
            message: asking_part(&request.question),
            standalone: OnceLock::new(),
            with_history: OnceLock::new(),
            corrected: OnceLock::new(),
            nonce,
            request,
        }
    }

    /// The question that is answered, as a model is shown it.
    pub(super) fn question(&self) -> &str {
        let corrected = self.corrected.get().map(|corrected| corrected.text.as_str());
        let standalone = || self.standalone.get().map(|standalone| standalone.text.as_str());
        corrected.or_else(standalone).unwrap_or(&self.request.question)
    }

    /// The part of the question that asks: what is searched for and expected in passages.
    pub(super) fn asked(&self) -> &str {
        let corrected = self.corrected.get().map(|corrected| corrected.asked.as_str());
        let standalone = || self.standalone.get().map(|standalone| standalone.asked.as_str());
        corrected.or_else(standalone).unwrap_or(&self.message)
    }

    /// Corrects likely typing errors of the question; the first corrections stand.
    pub(super) fn correct(&self, corrections: Vec<Correction>) {
        let of = |text: &str| spelling::corrected(text, &corrections);
        let (text, asked) = (of(self.question()), of(self.asked()));
        let _ = self.corrected.set(CorrectedQuestion { text, asked, corrections });
    }

    /// The words of the question that were read as others.
    pub(super) fn corrections(&self) -> &[Correction] {
        self.corrected.get().map_or(&[], |corrected| &corrected.corrections)
    }

    /// The part of the message that asks, as it was sent.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The question that was made of the message and its history, if one was.
    pub(super) fn standalone(&self) -> Option<&StandaloneQuestion> {
        self.standalone.get()
    }

    /// The message as another wording of the question that was made of it.
    pub(super) fn other_wording(&self) -> Option<&str> {
        self.standalone.get().map(|_| self.message.as_str())
    }

    /// Sets the question; the first one stands.
    pub(super) fn set_standalone(&self, standalone: StandaloneQuestion) {
        let _ = self.standalone.set(standalone);
    }

    /// Sets the wording with the history; the first one stands.
    pub(super) fn set_with_history(&self, wording: String) {
        let _ = self.with_history.set(wording);
    }

    /// The message with words of the history, where it may stand alone.
    pub(super) fn with_history(&self) -> Option<&str> {
        self.with_history.get().map(String::as_str)
    }

    /// Whether the web would be searched if the collections allow it. A filter selects certain documents, and the web has
    /// none of these.
    pub(super) fn wants_web(&self) -> bool {
        let AskRequest { execution, filter, .. } = &self.request;
        self.services.web.is_some() && execution.reach == Reach::DocumentsAndWeb && filter.is_empty()
    }

    /// Whether retrieval tells how rare the words of the question are.
    pub(super) fn knows_words(&self) -> bool {
        let stages = &self.request.stages;
        stages.mode != Mode::Dense || stages.rerank
    }

    /// Checks that the models allow the requested level.
    ///
    /// # Errors
    /// When they do not, and the deployment does not fall back.
    pub(super) fn check_models(&self) -> Result<(), AskError> {
        if let Some(warning) = self.models.check(&self.services.settings)? {
            self.record.warn(warning);
        }
        Ok(())
    }

    /// Model calls that each step of the loop would make.
    pub(super) fn step_calls(&self) -> StepCalls {
        let AskModels { grade, rewrite, generate, .. } = &self.models;
        StepCalls {
            grade: u32::from(grade.is_some()),
            rewrite: u32::from(rewrite.is_some()),
            generate: u32::from(generate.is_some() && !self.request.execution.dry_run),
        }
    }

    /// The error of an ask whose time limit is reached.
    pub(super) fn deadline_reached(&self) -> AskError {
        AskError::Deadline {
            stage: self.record.stage().doing(),
            limit_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            usage: Box::new(self.budget.spent()),
            attempts: self.record.failed_attempts(),
        }
    }

    /// The cost so far, with calls under way counted at their highest possible cost.
    pub(super) fn spent_at_most(&self) -> NanoUsd {
        let spent = self.budget.spent();
        spent.cost.plus(spent.unsettled)
    }
}
