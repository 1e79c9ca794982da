//! The verifying model's say on claims that words leave in doubt, all in one call.

use tokio::time::Instant;

use super::{CheckParts, CheckSource};
use crate::{
    domain::{
        budget::Budget,
        citation::{Doubt, Draft, Ruling, read_rulings},
        identity::TenantId,
        prompt,
    },
    providers::chat::{CallRole, ChatChain, ChatModels, ChatRequest},
    service::{
        ServiceError,
        ask::{AskWarning, SkipCause, call_about, cited, size_of},
        daily_budget::DailyBudgetError,
    },
};

/// A draft with the rulings of a model, if one was asked.
pub(super) struct Verified {
    pub(super) draft: Draft,
    /// Why a model had no say on some claims, though it should have had.
    pub(super) warning: Option<AskWarning>,
}

/// Has the uncertain claims of a draft verified, if models do that. Otherwise the scorer's judgement applies.
///
/// # Errors
/// When the database fails.
pub(super) async fn verify(
    parts: &CheckParts,
    tenant: TenantId,
    draft: Draft,
    sources: &[CheckSource],
    budget: &Budget,
) -> Result<Verified, ServiceError> {
    let doubts = draft.doubts();
    let chain = parts.models.chain(CallRole::Verify, &[]).filter(|_| !doubts.is_empty());
    let Some(chain) = chain else { return Ok(Verified { draft, warning: None }) };
    let skipped = |cause| AskWarning::ModelSkipped { role: CallRole::Verify, cause };
    let verification = Verification { parts, tenant, chain, budget };
    match verification.ask_about(&doubts, sources).await? {
        Err(cause) => Ok(Verified { draft, warning: Some(skipped(cause)) }),
        Ok(rulings) => {
            let missing = rulings.iter().filter(|ruling| ruling.is_none()).count();
            let warning = SkipCause::of_verdicts(missing, rulings.len()).map(skipped);
            Ok(Verified { draft: draft.with_rulings(&rulings), warning })
        }
    }
}

/// Whether one of the models that verify has a price.
pub(super) fn has_price(models: &ChatModels) -> bool {
    models.chain(CallRole::Verify, &[]).is_some_and(|chain| chain.has_price())
}

/// A call of the verifying models, within the limits of the check and the day of its tenant.
struct Verification<'a> {
    parts: &'a CheckParts,
    tenant: TenantId,
    chain: ChatChain,
    budget: &'a Budget,
}

impl Verification<'_> {
    /// The rulings on these claims, or why there are none.
    async fn ask_about(
        self,
        doubts: &[Doubt],
        sources: &[CheckSource],
    ) -> Result<Result<Vec<Option<Ruling>>, SkipCause>, ServiceError> {
        let Self { parts, tenant, chain, budget } = self;
        let names: Vec<String> = sources.iter().map(CheckSource::name).collect();
        let sources: Vec<prompt::Source<'_>> = sources
            .iter()
            .zip(&names)
            .map(|(source, urn)| prompt::Source {
                urn,
                title: &source.title,
                text: &source.text,
                ..prompt::Source::default()
            })
            .collect();
        let cited = cited(doubts, &sources);
        let mut call = call_about(None, doubts, &sources, &cited);
        if let Some(instructions) = parts.instructions.of(call.role) {
            instructions.add_to(&mut call.messages);
        }
        let size = size_of(budget.limits(), &chain, &call);
        let account = parts.daily_budget.open(tenant, parts.context.clock.now());
        let allowance = match account.reserve_call(budget, size).await {
            Ok(allowance) => allowance,
            Err(DailyBudgetError::Exceeded(_)) => return Ok(Err(SkipCause::OverLimit)),
            Err(DailyBudgetError::Store(error)) => return Err(error.into()),
        };
        let seed = prompt::seed_of(&call.messages);
        parts.context.ids.nonce().mark(&mut call.messages);
        let request = ChatRequest {
            temperature: 0.0,
            seed: Some(seed),
            messages: call.messages,
            format: call.format,
            shared_bytes: 0,
            deadline: Instant::now() + parts.settings.timeout,
        };
        // The call ends and is charged even if nobody waits for the check any more.
        let charged = budget.clone();
        let calling = tokio::spawn(async move {
            let reply = chain.complete(&request, allowance).await;
            let spent = charged.spent();
            account.settle(spent.cost.plus(spent.unsettled)).await;
            reply
        });
        match calling.await.expect("a call does not panic") {
            Ok(reply) => {
                let rulings = read_rulings(&reply.text, doubts.len());
                Ok(Ok(rulings.into_iter().map(|read| read.map(|read| read.ruling)).collect()))
            }
            Err(error) => {
                tracing::warn!(role = "verify", %error, "no model of the role answered; the built-in one stands in");
                Ok(Err(SkipCause::Failed))
            }
        }
    }
}
