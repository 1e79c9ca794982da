//! What an ask cost.

use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::budget::{Spent, Waste};

/// What an ask cost.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Usage)]
pub(in crate::http) struct UsageBody {
    /// Calls of a configured model.
    llm_calls: u32,
    /// Tokens read by it.
    prompt_tokens: u64,
    /// Tokens written by it.
    completion_tokens: u64,
    /// Whether some tokens were counted here because a provider did not report them.
    estimated: bool,
    /// Cost in US dollars; 0 for models whose price is not configured.
    cost_usd: f64,
    /// What of all this was for nothing.
    wasted: WastedBody,
}

/// What an answer cost that was begun before the grades were there and then thrown away (`speculative`).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Wasted)]
pub(in crate::http) struct WastedBody {
    /// Calls of a configured model.
    llm_calls: u32,
    /// Tokens read by it.
    prompt_tokens: u64,
    /// Tokens written by it, as far as they arrived.
    completion_tokens: u64,
    /// Cost in US dollars; the most that it may be if the call was ended before its reply began.
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
