//! The models that are used in an ask, decided once at its beginning.

use super::{AskParts, AskRequest, AskWarning, Settings};
use crate::{
    domain::citation::{Level, Verifier},
    providers::chat::{CallRole, ChatChain, ModelName},
    service::ServiceError,
};

/// The models of each role, and the level of checking that they allow. A role without models is performed by the
/// built-in implementation.
pub(super) struct AskModels {
    pub(super) condense: Option<ChatChain>,
    pub(super) plan: Option<ChatChain>,
    pub(super) grade: Option<ChatChain>,
    pub(super) rewrite: Option<ChatChain>,
    pub(super) generate: Option<ChatChain>,
    pub(super) verify: Option<ChatChain>,
    /// The level at which the answer is checked.
    pub(super) level: Level,
    /// The answering models, if the request demands citations and none of these models can cite.
    cannot_cite: Vec<String>,
}

impl AskModels {
    /// Of the answering models only those that can cite are used. If none can, the level is lowered to `off` if the
    /// deployment allows that; otherwise [`check`](Self::check) refuses the ask.
    pub(super) fn choose(parts: &AskParts, request: &AskRequest) -> Self {
        let chain = |role| parts.models.chain(role, &request.execution.models);
        let demands_citations = request.level != Level::Off;
        let answering = chain(CallRole::Generate);
        let citing = answering.as_ref().filter(|_| demands_citations).and_then(ChatChain::citing);
        let cannot_cite: Vec<String> = match (&answering, &citing) {
            (Some(chain), None) if demands_citations => chain.names().map(ToString::to_string).collect(),
            _ => Vec::new(),
        };
        let is_lowered = !cannot_cite.is_empty() && parts.settings.allows_mode_fallback;
        let level = if is_lowered { Level::Off } else { request.level };
        Self {
            condense: chain(CallRole::Condense),
            plan: chain(CallRole::Plan),
            grade: chain(CallRole::Grade),
            rewrite: chain(CallRole::Rewrite),
            generate: citing.or(answering),
            verify: chain(CallRole::Verify).filter(|_| level >= Level::Supported),
            level,
            cannot_cite,
        }
    }

    /// Whether a model that may be called has a price.
    pub(super) fn have_price(&self) -> bool {
        let Self { condense, plan, grade, rewrite, generate, verify, level: _, cannot_cite: _ } = self;
        let chains = [condense, plan, grade, rewrite, generate, verify];
        chains.into_iter().flatten().any(ChatChain::has_price)
    }

    /// The warning that a level was lowered, if it was.
    ///
    /// # Errors
    /// When no answering model can cite and the deployment requires that one can.
    pub(super) fn check(&self, settings: &Settings) -> Result<Option<AskWarning>, ServiceError> {
        if self.cannot_cite.is_empty() {
            return Ok(None);
        }
        if settings.allows_mode_fallback {
            return Ok(Some(AskWarning::ModeFallback { models: self.cannot_cite.clone() }));
        }
        Err(ServiceError::Invalid {
            pointer: "/validation".to_owned(),
            detail: format!(
                "{} cannot cite, and this service does not fall back to answers without proof; name other models, or \
                 ask with \"validation\": \"off\"",
                self.cannot_cite.join(", ")
            ),
        })
    }

    /// The models that judge claims for which the scorer is uncertain.
    pub(super) const fn verifier(&self) -> Verifier {
        if self.verify.is_some() { Verifier::Model } else { Verifier::Scorer }
    }

    /// Calls that verifying one draft may take.
    pub(super) fn calls_to_verify(&self) -> u32 {
        u32::from(self.verify.is_some())
    }

    /// The models of each role, in the order in which they are tried.
    pub(super) fn names(&self) -> Vec<(CallRole, Vec<ModelName>)> {
        let Self { condense, plan, grade, rewrite, generate, verify, level: _, cannot_cite: _ } = self;
        let roles = [
            (CallRole::Condense, condense),
            (CallRole::Plan, plan),
            (CallRole::Grade, grade),
            (CallRole::Rewrite, rewrite),
            (CallRole::Generate, generate),
            (CallRole::Verify, verify),
        ];
        let names = |(role, chain): (CallRole, &Option<ChatChain>)| {
            (role, chain.iter().flat_map(|chain| chain.names().cloned()).collect())
        };
        roles.into_iter().map(names).collect()
    }
}
