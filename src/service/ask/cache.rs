//! Answers given again: looked up once it is known what was found, so that any change to it misses.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    AskError, AskOutcome, AskReport, AskWarning, GeneratedBy, GradedHit,
    cache_key::{CacheKey, SettingsKey},
    flights::{Flight, Part},
    pool::EvidenceFound,
    run::Ask,
    stage::Stage,
    stream::AskEvent,
    trace::AttemptTrace,
};
use crate::{
    domain::{
        citation::{Attempt, Draft, PreparedSource, Ruling, Verdict, validate},
        corrective::Fallback,
        fingerprint::Hash,
        identity::TenantId,
        origin::Origin,
    },
    providers::chat::CallRole,
    service::{
        retrieval::{Hit, Retrieved},
        wait_briefly,
    },
    store::{CachedState, NewCachedAnswer, Store},
};

/// How often it is looked whether another process has written an answer.
const POLL: Duration = Duration::from_millis(50);

/// An answer as it is kept: nothing that was validated, but what to validate.
#[derive(Debug, Serialize, Deserialize)]
struct CachedAnswer {
    text: String,
    is_second_draft: bool,
    model: String,
    provider: String,
    warnings: Vec<AskWarning>,
    missing: Vec<String>,
    evidence: EvidenceFound,
    /// What a model said of the claims about which the scorer is not sure.
    #[serde(default)]
    rulings: Vec<Option<Ruling>>,
    /// How many of the sources were given to the model; the others were found besides.
    used: usize,
    sources: Vec<GradedHit>,
}

/// An answer that was not in the cache and may go there.
#[derive(Debug)]
pub(super) struct CacheMiss {
    key: Hash,
    life: Duration,
    /// Set for the one who writes it for all that wait.
    flight: Option<Flight>,
}

impl Ask<'_> {
    /// The answer that was given before to the same question over the same passages, if the request allows that.
    /// Of many who ask at once, one goes on to write it and the others wait.
    pub(super) async fn cached(&mut self, found: &Retrieved) -> Result<Option<AskReport>, AskError> {
        let Some(life) = self.request.execution.cache_life.filter(|_| !self.request.execution.dry_run) else {
            return Ok(None);
        };
        let key = self.cache_key(found);
        let tenant = self.caller.tenant;
        let answer = match self.flights.join((tenant.0, key)) {
            Part::Lead(flight) => {
                self.miss = Some(CacheMiss { key, life, flight: Some(flight) });
                self.claim(&key).await?
            }
            Part::Follow(following) => {
                following.landing().await;
                // If there still is none, it is of no use to wait for the next one: each goes on alone.
                self.miss = Some(CacheMiss { key, life, flight: None });
                match self.service.store.cached_answer(tenant, &key, self.id, None).await? {
                    CachedState::Ready(answer) => Some(answer),
                    CachedState::Claimed | CachedState::Pending | CachedState::Missing => None,
                }
            }
        };
        let Some(report) = answer.and_then(|answer| self.recall(answer)) else { return Ok(None) };
        self.miss = None;
        self.tell_recalled(&report).await;
        Ok(Some(report))
    }

    /// Waits for other processes, within the ask's time.
    async fn claim(&self, key: &Hash) -> Result<Option<Value>, AskError> {
        loop {
            let lease = self.deadline.saturating_duration_since(Instant::now());
            match self.service.store.cached_answer(self.caller.tenant, key, self.id, Some(lease)).await? {
                CachedState::Ready(answer) => return Ok(Some(answer)),
                CachedState::Claimed | CachedState::Missing => return Ok(None),
                CachedState::Pending => tokio::time::sleep(POLL).await,
            }
        }
    }

    fn cache_key(&self, found: &Retrieved) -> Hash {
        let models = |role| {
            let chain = self.chain(role);
            (role, chain.iter().flat_map(|chain| chain.names().cloned()).collect())
        };
        let key = CacheKey {
            request: self.request,
            effective_level: self.level,
            limits: self.budget.limits(),
            may_search_web: self.fallback == Fallback::Ready,
            models: CallRole::ALL.into_iter().map(models).collect(),
            settings: SettingsKey::of(&self.service.settings),
            passages: found.hits.iter().map(Hit::urn).collect(),
        };
        key.hash()
    }

    /// The answer, validated anew; `None` if it can no longer be read or no longer passes.
    fn recall(&mut self, answer: Value) -> Option<AskReport> {
        let cached: CachedAnswer = serde_json::from_value(answer).ok()?;
        let used: Arc<[GradedHit]> = cached.sources.get(..cached.used)?.into();
        let prepared: Vec<PreparedSource> = used.iter().map(GradedHit::prepare).collect();
        let attempt = if cached.is_second_draft { Attempt::Retry } else { Attempt::First };
        self.clock.enter(Stage::Validate);
        let draft = Draft::new(cached.text, &prepared).with_rulings(&cached.rulings);
        let Verdict::Accept(answer) = validate(&draft, self.level, attempt) else {
            return None;
        };
        let by = GeneratedBy { model: cached.model, provider: cached.provider };
        self.trace.attempts.push(AttemptTrace {
            attempt: attempt.number(),
            errors: Vec::new(),
            by: by.clone(),
            rulings: Vec::new(),
        });
        self.evidence = used;
        self.warnings = cached.warnings;
        let report = self.report(AskOutcome::Answered { answer, by });
        let CachedAnswer { sources, missing, evidence, .. } = cached;
        Some(AskReport { sources, missing, evidence, is_cache_hit: true, ..report })
    }

    async fn tell_recalled(&mut self, report: &AskReport) {
        let AskOutcome::Answered { answer, .. } = &report.outcome else { return };
        self.tell(AskEvent::Sources(Arc::clone(&self.evidence))).await;
        self.tell_at_once(answer).await;
    }

    /// Keeps an answer that was not there, and then lets go on who waits for it. Begun at once; the future only waits.
    pub(super) fn keep(&mut self, result: &Result<AskReport, AskError>) -> impl Future<Output = ()> + Send + use<> {
        let (store, tenant) = (self.service.store.clone(), self.caller.tenant);
        let (most, ask, rounds) = (self.service.settings.cache.most_answers, self.id, self.rounds.len());
        let keeping = self.miss.take().map(|CacheMiss { key, life, flight }| {
            // What other queries found may have changed when the question finds the same again.
            let kept = result.as_ref().ok().filter(|_| rounds <= 1);
            let answer = kept.and_then(|report| to_keep(report, self.evidence.len()));
            let documents = result.as_ref().map(documents_of).unwrap_or_default();
            tokio::spawn(async move {
                let mut is_kept = false;
                if let Some(answer) = &answer {
                    let new = NewCachedAnswer { key, answer, life, documents, most };
                    let written = store.keep_cached_answer(tenant, &new).await;
                    is_kept = written.is_ok();
                    if let Err(error) = written {
                        tracing::warn!(error = %error, "an answer could not be put into the cache");
                    }
                }
                if !is_kept && flight.is_some() {
                    release(&store, tenant, &key, ask).await;
                }
                drop(flight);
            })
        });
        wait_briefly(keeping)
    }

    /// What is to be done for an ask that nobody waits for any more.
    pub(super) fn take_claim(&mut self) -> Option<(Hash, Flight)> {
        let miss = self.miss.take()?;
        Some((miss.key, miss.flight?))
    }
}

/// Lets others write an answer.
pub(super) async fn release(store: &Store, tenant: TenantId, key: &Hash, ask: Uuid) {
    if let Err(error) = store.release_cached_answer(tenant, key, ask).await {
        tracing::warn!(error = %error, "others wait longer for an answer than they need to");
    }
}

/// The documents that the sources are from, each once, with their versions.
fn documents_of(report: &AskReport) -> Vec<(Uuid, u32)> {
    let passages = report.sources.iter().flat_map(GradedHit::passages);
    let documents: BTreeSet<_> = passages.map(|passage| (passage.key.document_id, passage.version)).collect();
    documents.into_iter().collect()
}

fn to_keep(report: &AskReport, used: usize) -> Option<Value> {
    let AskOutcome::Answered { answer, by } = &report.outcome else { return None };
    // What changes on the web is not noticed here.
    let is_of_the_web = report.sources.iter().any(|graded| graded.hit.passage.origin == Origin::Web);
    // Asked again, it may go better.
    let is_makeshift =
        |warning: &AskWarning| matches!(warning, AskWarning::WebSearchFailed { .. } | AskWarning::ModelSkipped { .. });
    if is_of_the_web || report.warnings.iter().any(is_makeshift) {
        return None;
    }
    let cached = CachedAnswer {
        text: answer.text().to_owned(),
        is_second_draft: answer.attempts() > 1,
        model: by.model.clone(),
        provider: by.provider.clone(),
        warnings: report.warnings.clone(),
        missing: report.missing.clone(),
        evidence: report.evidence,
        rulings: report.trace.attempts.last().into_iter().flat_map(AttemptTrace::rulings).collect(),
        used,
        sources: report.sources.clone(),
    };
    serde_json::to_value(cached).ok()
}
