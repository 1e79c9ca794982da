//! Check: any text, claim by claim, against passages of the request, cited passages, or collections.

mod report;
mod sources;
mod verify;

use std::sync::Arc;

pub(crate) use report::{CheckReport, CheckSource};

use super::{
    ServiceError, access::AccessService, ask, citations::CitationService, context::Context, daily_budget::DailyBudget,
    instructions::RoleInstructions, quotas::Quotas, retrieval::Retriever,
};
use crate::{
    domain::{
        budget::Budget,
        citation::{Attribution, Basis, Draft, Level, PreparedSource, Role, Urn, findings},
        filter::Filter,
        identity::Caller,
    },
    providers::chat::ChatModels,
};

/// Largest number of claims in a text.
pub(crate) const MAX_CLAIMS: usize = 256;
/// Largest number of claims in a text that is held against collections: each is a search.
pub(crate) const MAX_SEARCHED_CLAIMS: usize = 64;

/// A request to check a text.
#[derive(Clone, Debug)]
pub(crate) struct CheckRequest {
    /// The text.
    pub(crate) text: String,
    /// The sources it is checked against.
    pub(crate) against: Against,
    /// How strictly it is checked.
    pub(crate) level: Level,
}

/// The sources that a text is checked against.
#[derive(Clone, Debug)]
pub(crate) enum Against {
    /// Passages of the request, in marker order.
    Passages(Vec<CheckSource>),
    /// Passages that were cited before, in marker order.
    Urns(Vec<Urn>),
    /// The passages that a search of these collections finds for each claim.
    Collections {
        /// Their names.
        names: Vec<String>,
        /// Restricts the passages that may be found.
        filter: Filter,
        /// Most passages for a claim.
        top_k: usize,
    },
}

/// The services and settings that checks use.
pub(crate) struct CheckParts {
    /// How often keys may be used.
    pub(crate) access: AccessService,
    /// What keys may do in a day.
    pub(crate) quotas: Quotas,
    /// Finds passages for claims.
    pub(crate) retriever: Retriever,
    /// Looks up cited passages.
    pub(crate) citations: CitationService,
    /// Models, of which those that verify are asked about claims that words leave in doubt.
    pub(crate) models: Arc<ChatModels>,
    /// Instructions of the deployment to these models.
    pub(crate) instructions: RoleInstructions,
    /// Limits of the deployment; those of an ask hold for a check.
    pub(crate) settings: ask::Settings,
    /// The daily cost limit of tenants.
    pub(crate) daily_budget: DailyBudget,
    /// The time.
    pub(crate) context: Context,
}

/// The use case.
#[derive(Clone)]
pub(crate) struct CheckService {
    parts: Arc<CheckParts>,
}

impl CheckService {
    /// Checks with these parts.
    #[must_use]
    pub(crate) fn new(parts: CheckParts) -> Self {
        Self { parts: Arc::new(parts) }
    }

    /// Checks a text.
    ///
    /// A text whose markers name the sources is checked by them. Without markers, and against collections, each claim is
    /// held against every source, and the one that supports it best counts.
    ///
    /// # Errors
    /// [`ServiceError`]: too many claims, an unknown collection or passage, a limit of the key, provider or store failure. A
    /// verifying model that fails is a warning.
    pub(crate) async fn check(&self, caller: &Caller, request: CheckRequest) -> Result<CheckReport, ServiceError> {
        let CheckRequest { text, against, level } = request;
        let grant = &caller.grant;
        let (unread, _) = read(text.clone(), Basis::new(Vec::new(), ""), Attribution::Markers).await;
        let claims = claims_of(&unread, &against)?;
        self.admit(caller, level).await?;
        let is_searched = matches!(against, Against::Collections { .. });
        let has_markers = !unread.markers().is_empty() || !unread.malformed().is_empty();
        let attribution = if has_markers && !is_searched { Attribution::Markers } else { Attribution::Best };
        let sources = sources::resolve(&self.parts, grant, against, &claims).await?;
        let prepared = sources.iter().map(CheckSource::prepare).collect();
        let (draft, basis) = read(text, Basis::new(prepared, ""), attribution).await;
        let budget = Budget::new(self.parts.settings.limits);
        let verified = match level {
            Level::Supported => verify::verify(&self.parts, grant.tenant(), draft, &sources, &budget).await?,
            Level::Off | Level::Structural | Level::Cited => verify::Verified { draft, warning: None },
        };
        Ok(CheckReport {
            level,
            findings: findings(&verified.draft, level),
            claims: verified.draft.checked_claims(&basis),
            warning: verified.warning,
            sources,
            usage: budget.spent(),
        })
    }

    /// Counts the check against the limits of its caller as an ask, if a model with a price may be called for it.
    async fn admit(&self, caller: &Caller, level: Level) -> Result<(), ServiceError> {
        if level != Level::Supported || !verify::has_price(&self.parts.models) {
            return Ok(());
        }
        self.parts.access.count_paid_ask(caller)?;
        self.parts.quotas.count_ask(caller).await
    }
}

/// The words of the claims.
fn claims_of(draft: &Draft, against: &Against) -> Result<Vec<String>, ServiceError> {
    let claims = draft.words_of(Role::Claim);
    let (most, hint) = match against {
        Against::Passages(_) | Against::Urns(_) => (MAX_CLAIMS, "send it in parts"),
        Against::Collections { .. } => (MAX_SEARCHED_CLAIMS, "each is a search; send it in parts"),
    };
    if claims.len() > most {
        let detail =
            format!("holds {} factual sentences, and at most {most} are checked at once: {hint}", claims.len());
        return Err(ServiceError::Invalid { pointer: "/text".to_owned(), detail });
    }
    Ok(claims)
}

/// Reads the text over its sources, on a thread that may take its time.
async fn read(text: String, basis: Basis, attribution: Attribution) -> (Draft, Basis) {
    let reading = tokio::task::spawn_blocking(move || (Draft::read(text, &basis, attribution), basis));
    reading.await.expect("reading a draft does not panic, whatever the text")
}

impl CheckSource {
    /// Prepares the passage for checking claims against it. A claim may name something that only the title contains.
    fn prepare(&self) -> PreparedSource {
        PreparedSource::with_context(&self.text, &self.title)
            .below(self.table_header.as_deref())
            .starting_at(self.start)
    }
}
