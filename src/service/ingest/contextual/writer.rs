//! Calls the model that describes how chunks relate to their document, within the budget and the tenant's daily limit.

use std::{
    num::NonZeroUsize,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::{StreamExt, stream};
use tokio::{sync::Semaphore, time::Instant};

use crate::{
    domain::{
        budget::{Budget, BudgetExceeded, ChatSize, LimitKind, Limits, Spent},
        contextual::read_reply,
        fingerprint::{Hash, fingerprint},
        identity::TenantId,
        prompt::{self, context::Shared, instructions::Instructions},
    },
    providers::{
        ProviderErrorKind, ProvidersUnavailable,
        chat::{ChatChain, ChatRequest},
    },
    service::{
        context::Context,
        daily_budget::{DailyBudget, DailyBudgetError},
    },
    store::{ContextWork, StoreError},
};

/// Most tokens of a reply. Two sentences take about a hundred; models that reason before they answer use the rest.
const REPLY_TOKENS: u32 = 512;

/// Limits for writing the sentences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContextSettings {
    /// Concurrent calls of this process.
    pub(crate) calls: NonZeroUsize,
    /// Most estimated tokens of a prompt: of longer documents only a part is shown.
    pub(crate) prompt_tokens: u32,
    /// Longest duration of a call.
    pub(crate) timeout: Duration,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            calls: const { NonZeroUsize::new(4).expect("four is not zero") },
            prompt_tokens: 8_192,
            timeout: Duration::from_mins(1),
        }
    }
}

/// Writes sentences that describe how chunks relate to their document.
#[derive(Clone)]
pub(crate) struct ContextWriter {
    context: Context,
    chain: Option<ChatChain>,
    instructions: Option<Instructions>,
    models: Hash,
    settings: ContextSettings,
    daily_budget: DailyBudget,
    permits: Arc<Semaphore>,
}

/// Reasons why a chunk has no sentence.
#[derive(Clone, Debug)]
pub(super) struct Unwritten {
    pub(super) cause: &'static str,
    pub(super) message: String,
    pub(super) is_transient: bool,
    pub(super) retry_after: Option<Duration>,
    /// Whether every other chunk would fail for the same reason now.
    pub(super) is_about_all: bool,
}

/// Calls about one document.
struct Run<'r> {
    chain: &'r ChatChain,
    tenant: TenantId,
    shared: &'r Shared,
    given_up: OnceLock<Unwritten>,
}

/// A sentence, or the reason why there is none; an error where no call could be made for it.
pub(super) type Attempted = Result<Result<String, Unwritten>, StoreError>;

/// The outcome of a call, and the work that it took.
type Called = (Result<String, Unwritten>, ContextWork);

impl ContextWriter {
    /// A writer that uses the models of `chain`; without a chain nothing can be written.
    #[must_use]
    pub(crate) fn new(
        context: Context,
        chain: Option<ChatChain>,
        instructions: Option<Instructions>,
        settings: ContextSettings,
        daily_budget: DailyBudget,
    ) -> Self {
        let names = chain.iter().flat_map(|chain| chain.names().map(ToString::to_string));
        let told = instructions.iter().map(Instructions::fenced);
        let decisive: Vec<String> = names.chain(told).collect();
        let models = fingerprint(&decisive.iter().map(String::as_bytes).collect::<Vec<_>>());
        let permits = Arc::new(Semaphore::new(settings.calls.get()));
        Self { context, chain, instructions, models, settings, daily_budget, permits }
    }

    /// Hash of the model names and of what they are told: with others, sentences are written anew.
    pub(in crate::service::ingest) const fn models(&self) -> &Hash {
        &self.models
    }

    /// Most estimated tokens of a prompt, without the deployment's instructions.
    pub(super) fn prompt_tokens(&self) -> u32 {
        self.settings.prompt_tokens.saturating_sub(self.instruction_tokens())
    }

    fn instruction_tokens(&self) -> u32 {
        self.instructions.as_ref().map_or(0, |instructions| prompt::tokens::estimate(&instructions.fenced()))
    }

    /// Writes sentences for passages of a document, in their order; returns them with the work that they took.
    pub(super) async fn write(
        &self,
        tenant: TenantId,
        shared: &Shared,
        passages: &[&str],
    ) -> (Vec<Attempted>, ContextWork) {
        let Some(chain) = &self.chain else {
            return (passages.iter().map(|_| Ok(Err(model_missing()))).collect(), ContextWork::default());
        };
        let run = Run { chain, tenant, shared, given_up: OnceLock::new() };
        let calls: Vec<_> = passages.iter().map(|passage| self.write_one(&run, passage)).collect();
        let called: Vec<_> = stream::iter(calls).buffered(self.settings.calls.get()).collect().await;
        let (mut results, mut work) = (Vec::with_capacity(called.len()), ContextWork::default());
        for one in called {
            results.push(one.map(|(result, took)| {
                work = work.plus(took);
                result
            }));
        }
        (results, work)
    }

    async fn write_one(&self, run: &Run<'_>, passage: &str) -> Result<Called, StoreError> {
        let _permit = self.permits.acquire().await.expect("the semaphore is never closed");
        if let Some(reason) = run.given_up.get() {
            return Ok((Err(reason.clone()), ContextWork::default()));
        }
        let (result, work) = self.call(run, passage).await?;
        if let Err(reason) = &result
            && reason.is_about_all
        {
            // A concurrent call may have failed for the same reason; one reason is enough.
            let _ = run.given_up.set(reason.clone());
        }
        Ok((result, work))
    }

    /// One call, reserved and settled.
    async fn call(&self, run: &Run<'_>, passage: &str) -> Result<Called, StoreError> {
        let prompt_tokens = run.shared.tokens(passage).saturating_add(self.instruction_tokens());
        let most_cost = run.chain.most_cost(prompt_tokens, REPLY_TOKENS);
        let size = ChatSize { prompt_tokens, completion_tokens: REPLY_TOKENS, source_bytes: 0, most_cost };
        let limits = Limits { prompt_tokens: Some(self.settings.prompt_tokens), ..Limits::ingest() };
        let budget = Budget::new(limits);
        let account = self.daily_budget.open(run.tenant, self.context.clock.now());
        let allowance = match account.reserve_call(&budget, size).await {
            Ok(allowance) => allowance,
            Err(DailyBudgetError::Exceeded(exceeded)) => {
                return Ok((Err(over_budget(&exceeded)), ContextWork::default()));
            }
            Err(DailyBudgetError::Store(error)) => return Err(error),
        };
        let mut messages = run.shared.messages(passage);
        if let Some(instructions) = &self.instructions {
            instructions.add_to(&mut messages);
        }
        let request = ChatRequest {
            temperature: 0.0,
            seed: Some(prompt::seed_of(&messages)),
            messages,
            format: None,
            shared_bytes: run.shared.bytes(),
            deadline: Instant::now() + self.settings.timeout,
        };
        let result = match run.chain.complete(&request, allowance).await {
            Ok(reply) => read_reply(&reply.text).ok_or_else(nothing_said),
            Err(error) => Err(Unwritten::from(&error)),
        };
        let work = took(&budget.spent(), result.is_ok());
        account.settle(work.cost).await;
        Ok((result, work))
    }
}

fn took(spent: &Spent, is_written: bool) -> ContextWork {
    ContextWork {
        calls: u64::from(spent.llm_calls),
        written: u64::from(is_written),
        prompt_tokens: spent.prompt_tokens,
        completion_tokens: spent.completion_tokens,
        cost: spent.cost.plus(spent.unsettled),
        has_estimates: spent.has_estimates,
        ..ContextWork::default()
    }
}

impl From<&ProvidersUnavailable> for Unwritten {
    fn from(error: &ProvidersUnavailable) -> Self {
        let kinds = || error.attempts.iter().map(|attempt| attempt.error.kind);
        let is_transient = kinds().next().is_none() || kinds().any(ProviderErrorKind::is_transient);
        let decisive = kinds().find(|kind| kind.is_transient() == is_transient);
        Self {
            cause: decisive.unwrap_or(ProviderErrorKind::Timeout).as_str(),
            message: format!("the model that writes contexts failed: {error}"),
            is_transient,
            retry_after: error.retry_after(),
            is_about_all: !is_transient && kinds().all(ProviderErrorKind::is_about_the_account),
        }
    }
}

fn over_budget(exceeded: &BudgetExceeded) -> Unwritten {
    let is_about_the_day = exceeded.limit == LimitKind::DailyCost;
    let advice = if is_about_the_day {
        "send the document again on another day (UTC), or raise CITED_DAILY_COST_USD"
    } else {
        "make smaller chunks, or raise CITED_CONTEXT_PROMPT_TOKENS"
    };
    Unwritten {
        cause: "budget_exceeded",
        message: format!("no context was written: {exceeded}; {advice}"),
        is_transient: false,
        retry_after: None,
        is_about_all: is_about_the_day,
    }
}

fn model_missing() -> Unwritten {
    Unwritten {
        cause: "context_model_missing",
        message: "this service has no chat model for the contexts that the collection wants; configure one for every \
                  service and worker (CITED_CHAT_MODEL, or the role context under [roles]), and send the document again"
            .to_owned(),
        is_transient: false,
        retry_after: None,
        is_about_all: true,
    }
}

fn nothing_said() -> Unwritten {
    Unwritten {
        cause: ProviderErrorKind::InvalidReply.as_str(),
        message: "the model that writes contexts replied with nothing".to_owned(),
        is_transient: false,
        retry_after: None,
        is_about_all: false,
    }
}
