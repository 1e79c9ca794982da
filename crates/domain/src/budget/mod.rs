//! The budget of one ask or one ingest job, and the allowances to spend it.
//!
//! A costly call takes an [`Allowance`] by value, and only a [`Budget`] makes one: a call that was
//! not budgeted does not compile. The kind of call is part of the type, so the right to embed does
//! not buy a chat call. The cycle of a call:
//!
//! 1. `budget.reserve_chat(size)` checks the limits and counts the call at once, so that concurrent
//!    calls cannot overrun the limit together;
//! 2. the provider is called with the allowance and sends `completion_tokens()` as its cap;
//! 3. the provider settles the allowance with the usage that came back. Several models may be tried
//!    under one allowance; those that were lost on the way are added to it.
//!
//! An allowance dropped without `settle` (a time-out, a cancelled request) stays counted as reserved: the provider may
//! have done the work and bill for it, and a low guess would defeat the limit.
//!
//! Token and byte limits hold for each call, the number of calls for the whole budget.

mod limits;

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use limits::{BudgetExceeded, LimitKind, Limits, TighterLimits};

use super::cost::NanoUsd;

/// The size of a chat call before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChatSize {
    /// Estimated tokens of all messages.
    pub prompt_tokens: u32,
    /// Most tokens wanted in the reply; 0 stands for the limit.
    pub completion_tokens: u32,
    /// Bytes of source text among the messages.
    pub source_bytes: u64,
    /// The most that it may cost.
    pub most_cost: NanoUsd,
}

/// The tokens that a call really used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written; 0 for an embedding call.
    pub completion_tokens: u64,
    /// Whether they were counted here because the provider did not say.
    pub is_estimated: bool,
}

impl Usage {
    /// The sum.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(other.completion_tokens),
            is_estimated: self.is_estimated || other.is_estimated,
        }
    }
}

/// Amounts spent so far: settled calls as reported, outstanding and lost ones as reserved (the prompt as estimated, the
/// reply not counted).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Chat calls made or under way.
    pub llm_calls: u32,
    /// Embedding calls made or under way.
    pub embedding_calls: u32,
    /// Calls of a reranking model made or under way.
    pub rerank_calls: u32,
    /// Chat tokens read.
    pub prompt_tokens: u64,
    /// Chat tokens written.
    pub completion_tokens: u64,
    /// Tokens and cost of the embedding calls.
    pub embedding: EmbeddingSpent,
    /// Cost of the chat calls whose usage is known; 0 for models without a price.
    pub cost: NanoUsd,
    /// The most that chat calls without a known cost may cost: those under way and those lost.
    pub unsettled: NanoUsd,
    /// Whether some chat tokens were counted here because a provider did not say.
    pub has_estimates: bool,
    /// The part of these amounts that went to replies that were not used.
    pub wasted: Waste,
}

/// Tokens and cost of embedding calls. Tokens that a built-in model reads are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EmbeddingSpent {
    /// Tokens read: of settled calls as used, of outstanding and lost ones as estimated.
    pub tokens: u64,
    /// Their cost as far as it is known; 0 for models without a price.
    pub cost: NanoUsd,
    /// Whether some tokens were counted here because a provider did not say.
    pub has_estimates: bool,
}

impl EmbeddingSpent {
    /// The sum.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.plus(other.cost),
            has_estimates: self.has_estimates || other.has_estimates,
        }
    }
}

/// Calls whose replies were not used. All of it is contained in [`Spent`] too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waste {
    /// Chat calls.
    pub llm_calls: u32,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written, as far as they arrived.
    pub completion_tokens: u64,
    /// Their cost; at most where a call was ended before its reply began.
    pub cost: NanoUsd,
}

/// A chat call, as the kind of an [`Allowance`].
#[derive(Debug)]
pub enum Chat {}

/// An embedding call, as the kind of an [`Allowance`].
#[derive(Debug)]
pub enum Embedding {}

/// A call of a reranking model, as the kind of an [`Allowance`].
#[derive(Debug)]
pub enum Reranking {}

/// The right to make one costly call. Neither copied nor made by anything but a [`Budget`].
#[derive(Debug)]
#[must_use = "an allowance is counted as spent whether it is used or not"]
pub struct Allowance<Kind> {
    spent: Arc<Mutex<Spent>>,
    prompt_tokens: u32,
    completion_tokens: u32,
    most_cost: NanoUsd,
    kind: PhantomData<fn() -> Kind>,
}

impl Allowance<Chat> {
    /// Most tokens that the reply may have; a provider sends it along.
    #[must_use]
    pub const fn completion_tokens(&self) -> u32 {
        self.completion_tokens
    }

    /// Estimated tokens of the prompt, as reserved.
    #[must_use]
    pub const fn prompt_tokens(&self) -> u32 {
        self.prompt_tokens
    }

    /// Adds an attempt that was lost after the provider may have done the work: its tokens are
    /// likely billed, and the call goes on with another attempt.
    pub fn add_lost_attempt(&self, usage: Usage, cost: NanoUsd) {
        let mut spent = lock(&self.spent);
        spent.prompt_tokens = spent.prompt_tokens.saturating_add(usage.prompt_tokens);
        spent.add_completion(usage, cost);
    }

    /// Replaces the estimate with the call's real usage.
    pub fn settle(self, usage: Usage, cost: NanoUsd) {
        let mut spent = lock(&self.spent);
        spent.prompt_tokens = replace(spent.prompt_tokens, self.prompt_tokens, usage.prompt_tokens);
        spent.unsettled = spent.unsettled.minus(self.most_cost);
        spent.add_completion(usage, cost);
    }

    /// Takes back a call that was not made after all.
    pub fn take_back(self) {
        let mut spent = lock(&self.spent);
        spent.llm_calls = spent.llm_calls.saturating_sub(1);
        spent.prompt_tokens = replace(spent.prompt_tokens, self.prompt_tokens, 0);
        spent.unsettled = spent.unsettled.minus(self.most_cost);
    }

    /// Ends a call that no provider answered: beyond the lost attempts it cost nothing.
    pub fn give_up(self) {
        let mut spent = lock(&self.spent);
        spent.unsettled = spent.unsettled.minus(self.most_cost);
    }
}

impl Spent {
    const fn add_completion(&mut self, usage: Usage, cost: NanoUsd) {
        self.completion_tokens = self.completion_tokens.saturating_add(usage.completion_tokens);
        self.cost = self.cost.plus(cost);
        self.has_estimates |= usage.is_estimated;
    }
}

impl Allowance<Embedding> {
    /// Replaces the estimate with the call's real usage.
    pub fn settle(self, usage: Usage, cost: NanoUsd) {
        let embedding = &mut lock(&self.spent).embedding;
        embedding.tokens = replace(embedding.tokens, self.prompt_tokens, usage.prompt_tokens);
        embedding.cost = embedding.cost.plus(cost);
        embedding.has_estimates |= usage.is_estimated;
    }
}

/// Returns `total` with an estimate contained in it replaced by the real usage.
fn replace(total: u64, estimate: u32, used: u64) -> u64 {
    total.saturating_sub(u64::from(estimate)).saturating_add(used)
}

/// Limits and the amounts spent against them. A clone shares both: one budget serves concurrent calls.
#[derive(Debug, Clone)]
pub struct Budget {
    limits: Limits,
    spent: Arc<Mutex<Spent>>,
}

impl Budget {
    /// A budget with nothing spent.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, spent: Arc::default() }
    }

    /// The limits.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The amounts spent so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        *lock(&self.spent)
    }

    /// Chat calls that may still be made; `None` without a limit.
    #[must_use]
    pub fn llm_calls_left(&self) -> Option<u32> {
        let made = self.spent().llm_calls;
        self.limits.llm_calls.map(|limit| limit.saturating_sub(made))
    }

    /// Reserves one chat call.
    ///
    /// # Errors
    ///
    /// When the call is larger than a limit allows or one call too many. Nothing is counted then.
    pub fn reserve_chat(&self, size: ChatSize) -> Result<Allowance<Chat>, BudgetExceeded> {
        let completion_tokens = match size.completion_tokens {
            0 => self.limits.completion_tokens,
            wanted => wanted,
        };
        let limits = &self.limits;
        within(LimitKind::SourceBytes, limits.source_bytes, size.source_bytes)?;
        within(LimitKind::PromptTokens, limits.prompt_tokens, size.prompt_tokens)?;
        within(LimitKind::CompletionTokens, Some(limits.completion_tokens), completion_tokens)?;
        let mut spent = lock(&self.spent);
        let calls = spent.llm_calls.saturating_add(1);
        within(LimitKind::LlmCalls, limits.llm_calls, calls)?;
        spent.llm_calls = calls;
        spent.prompt_tokens = spent.prompt_tokens.saturating_add(u64::from(size.prompt_tokens));
        spent.unsettled = spent.unsettled.plus(size.most_cost);
        drop(spent);
        Ok(Allowance { most_cost: size.most_cost, ..self.allowance(size.prompt_tokens, completion_tokens) })
    }

    /// Notes that the reply of a call was not used.
    pub fn note_waste(&self, usage: Usage, cost: NanoUsd) {
        let mut spent = lock(&self.spent);
        let wasted = &mut spent.wasted;
        wasted.llm_calls = wasted.llm_calls.saturating_add(1);
        wasted.prompt_tokens = wasted.prompt_tokens.saturating_add(usage.prompt_tokens);
        wasted.completion_tokens = wasted.completion_tokens.saturating_add(usage.completion_tokens);
        wasted.cost = wasted.cost.plus(cost);
    }

    /// Records the most that a call may have cost whose allowance was dropped unsettled.
    pub fn write_off(&self, most_cost: NanoUsd) {
        let mut spent = lock(&self.spent);
        spent.unsettled = spent.unsettled.minus(most_cost);
        spent.cost = spent.cost.plus(most_cost);
        spent.has_estimates = true;
    }

    /// Reserves one embedding call over texts of `tokens` tokens together (an estimate will do).
    ///
    /// # Errors
    ///
    /// When it is one call too many. Nothing is counted then.
    pub fn reserve_embedding(&self, tokens: u32) -> Result<Allowance<Embedding>, BudgetExceeded> {
        let mut spent = lock(&self.spent);
        let calls = spent.embedding_calls.saturating_add(1);
        within(LimitKind::EmbeddingCalls, self.limits.embedding_calls, calls)?;
        spent.embedding_calls = calls;
        spent.embedding.tokens = spent.embedding.tokens.saturating_add(u64::from(tokens));
        drop(spent);
        Ok(self.allowance(tokens, 0))
    }

    /// Reserves one call of a reranking model.
    ///
    /// # Errors
    ///
    /// When it is one call too many. Nothing is counted then.
    pub fn reserve_reranking(&self) -> Result<Allowance<Reranking>, BudgetExceeded> {
        let mut spent = lock(&self.spent);
        let calls = spent.rerank_calls.saturating_add(1);
        within(LimitKind::RerankCalls, self.limits.rerank_calls, calls)?;
        spent.rerank_calls = calls;
        drop(spent);
        Ok(self.allowance(0, 0))
    }

    fn allowance<Kind>(&self, prompt_tokens: u32, completion_tokens: u32) -> Allowance<Kind> {
        Allowance {
            spent: Arc::clone(&self.spent),
            prompt_tokens,
            completion_tokens,
            most_cost: NanoUsd::ZERO,
            kind: PhantomData,
        }
    }
}

/// A panic elsewhere cannot leave the counters half changed, so a poisoned lock is still good.
fn lock(spent: &Mutex<Spent>) -> MutexGuard<'_, Spent> {
    spent.lock().unwrap_or_else(PoisonError::into_inner)
}

fn within<Number: Into<u64>>(limit: LimitKind, value: Option<Number>, asked: Number) -> Result<(), BudgetExceeded> {
    let asked = asked.into();
    match value.map(Into::into) {
        Some(value) if asked > value => Err(BudgetExceeded { limit, value, asked }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod spent_tests;
#[cfg(test)]
mod tests;
