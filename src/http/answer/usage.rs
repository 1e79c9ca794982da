//! Calls, tokens and cost of an ask.

use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::budget::{Spent, Waste};

/// Calls, tokens and cost of an ask.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Usage)]
pub(in crate::http) struct UsageBody {
    /// Number of calls to configured models.
    llm_calls: u32,
    /// Tokens read by those models.
    prompt_tokens: u64,
    /// Tokens written by those models.
    completion_tokens: u64,
    /// Whether some tokens were counted by this service because a provider did not report them.
    estimated: bool,
    /// Cost in US dollars; 0 for models whose price is not configured.
    cost_usd: f64,
    /// The part of this usage that did not contribute to the answer.
    wasted: WastedBody,
}

/// Cost of an answer that was started before the grades were known and then discarded (`speculative`).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Wasted)]
pub(in crate::http) struct WastedBody {
    /// Number of calls to configured models.
    llm_calls: u32,
    /// Tokens read by those models.
    prompt_tokens: u64,
    /// Tokens written by those models, as far as they arrived.
    completion_tokens: u64,
    /// Cost in US dollars; the maximum possible cost if the call was ended before its reply began.
    cost_usd: f64,
}

impl From<&Spent> for UsageBody {
    fn from(spent: &Spent) -> Self {
        Self {
            llm_calls: spent.llm_calls,
            prompt_tokens: spent.prompt_tokens,
            completion_tokens: spent.completion_tokens,
            estimated: spent.has_estimates,
            cost_usd: spent.cost.usd(),
            wasted: WastedBody::from(&spent.wasted),
        }
    }
}

impl From<&Waste> for WastedBody {
    fn from(waste: &Waste) -> Self {
        Self {
            llm_calls: waste.llm_calls,
            prompt_tokens: waste.prompt_tokens,
            completion_tokens: waste.completion_tokens,
            cost_usd: waste.cost.usd(),
        }
    }
}
