//! Recognises callers: finds the rights that the key of a request grants.

mod concurrency;
mod keys;
mod known_keys;
mod operator_keys;
mod pepper;
mod rate;
mod tenants;
mod tokens;

use std::{
    net::IpAddr,
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
};

use secrecy::SecretString;

use self::{
    concurrency::Concurrency,
    known_keys::KnownKeys,
    operator_keys::OperatorKeys,
    rate::Rate,
    tokens::{TokenIdentity, Tokens},
};
pub(crate) use self::{
    concurrency::UnderWay,
    keys::{IssuedKey, KeyRow, WantedKey},
    operator_keys::MINIMUM_KEY_LENGTH,
    pepper::Pepper,
    rate::Turn,
    tenants::{TenantReceipt, TenantRow},
    tokens::{ClaimNames, LoginSettings, TokenRefusal, TokenSettings},
};
use super::{ServiceError, context::Context, error_chain};
use crate::{
    domain::{
        access::{Grant, KEY_PREFIX, KeyState, key_id},
        identity::Caller,
    },
    store::{FoundKey, Store, StoreError},
};

/// Keys of the configuration, and how often keys and addresses may be used.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Keys of the operator; if there are none, and no tokens, no key is required.
    pub(crate) operator_keys: Vec<SecretString>,
    /// Secret that the codes of stored keys are made with.
    pub(crate) pepper: Option<Pepper>,
    /// The identity provider whose tokens open the service too.
    pub(crate) tokens: Option<TokenSettings>,
    /// Most requests per minute of each key; `None` for any number.
    pub(crate) key_requests_per_minute: Option<NonZeroU32>,
    /// Requests that an ask counts as whose models have a price.
    pub(crate) paid_ask_weight: NonZeroU32,
    /// Most requests of each key that are served at once; `None` for any number.
    pub(crate) key_concurrency: Option<NonZeroUsize>,
    /// Most requests per minute from each address; `None` for any number.
    pub(crate) address_requests_per_minute: Option<NonZeroU32>,
    /// Most requests per minute from each address whose key is not valid.
    pub(crate) refusals_per_minute: NonZeroU32,
}

impl Default for Settings {
    fn default() -> Self {
        const PAID_ASK_WEIGHT: NonZeroU32 = NonZeroU32::new(10).expect("not zero");
        const REFUSALS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).expect("not zero");
        Self {
            operator_keys: Vec::new(),
            pepper: None,
            tokens: None,
            key_requests_per_minute: None,
            paid_ask_weight: PAID_ASK_WEIGHT,
            key_concurrency: None,
            address_requests_per_minute: None,
            refusals_per_minute: REFUSALS_PER_MINUTE,
        }
    }
}

/// A caller that was recognised.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Its rights.
    pub(crate) grant: Grant,
    /// Name of its key, or of the user of its token; `None` where no key is required and none was presented.
    pub(crate) key_id: Option<String>,
}

/// Why a caller is not served.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It presented no key.
    Missing,
    /// The key has no known form.
    Malformed,
    /// There is no such key.
    Unknown,
    /// The key is not valid any more.
    Expired,
    /// The key was taken back.
    Revoked,
    /// It presented a token that opens nothing.
    Token(TokenRefusal),
    /// The key could not be looked up.
    Store(Arc<StoreError>),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

/// How often keys and addresses may be used.
struct Limits {
    key_rate: Option<Rate<String>>,
    /// The charge of a paid ask besides the request that brought it; `None` for nothing.
    paid_ask_surcharge: Option<NonZeroU32>,
    key_concurrency: Option<Arc<Concurrency>>,
    address_rate: Option<Rate<IpAddr>>,
    refusals: Rate<IpAddr>,
}

impl Limits {
    fn new(settings: &Settings) -> Self {
        Self {
            key_rate: settings.key_requests_per_minute.map(Rate::new),
            paid_ask_surcharge: paid_ask_surcharge(settings),
            key_concurrency: settings.key_concurrency.map(|most| Arc::new(Concurrency::new(most))),
            address_rate: settings.address_requests_per_minute.map(Rate::new),
            refusals: Rate::new(settings.refusals_per_minute),
        }
    }
}

/// No ask counts as more than a key has in a minute: it would never be served.
fn paid_ask_surcharge(settings: &Settings) -> Option<NonZeroU32> {
    let weight = settings.paid_ask_weight.min(settings.key_requests_per_minute?);
    NonZeroU32::new(weight.get() - 1)
}

/// The use case.
#[derive(Clone)]
pub(crate) struct AccessService {
    store: Store,
    context: Context,
    operator_keys: Arc<OperatorKeys>,
    pepper: Option<Pepper>,
    tokens: Option<Arc<Tokens>>,
    known: Arc<KnownKeys>,
    limits: Arc<Limits>,
}

impl AccessService {
    /// The keys of this store and of the configuration.
    ///
    /// # Errors
    /// When the issuer of tokens cannot be asked for its keys because this machine lacks what that takes.
    pub(crate) fn new(store: Store, settings: &Settings, context: Context) -> anyhow::Result<Self> {
        let tokens = settings.tokens.clone().map(Tokens::new).transpose()?;
        Ok(Self {
            store,
            context,
            operator_keys: Arc::new(OperatorKeys::new(&settings.operator_keys, settings.pepper.as_ref())),
            pepper: settings.pepper.clone(),
            tokens: tokens.map(Arc::new),
            known: Arc::default(),
            limits: Arc::new(Limits::new(settings)),
        })
    }

    /// Recognises the caller that presents this key. Without keys in the configuration everybody who presents none, or
    /// something that is no key of this service, is the operator: the single user of a service on loopback.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(crate) async fn identify(&self, presented: Option<&str>) -> Result<Identity, Refusal> {
        let is_open = self.operator_keys.is_empty() && self.tokens.is_none();
        match presented {
            None if is_open => Ok(Identity { grant: Grant::operator(), key_id: None }),
            None => Err(Refusal::Missing),
            Some(text) => match self.operator_keys.id_of(text) {
                Some(id) => Ok(Identity { grant: Grant::operator(), key_id: Some(id) }),
                None if is_open && !text.starts_with(KEY_PREFIX) => {
                    Ok(Identity { grant: Grant::operator(), key_id: None })
                }
                None => match &self.tokens {
                    Some(tokens) if Tokens::is_token(text) => self.of_token(tokens, text).await,
                    _ => self.stored(text).await,
                },
            },
        }
    }

    /// The identity provider whose tokens open the service, if there is one.
    pub(crate) fn token_settings(&self) -> Option<&TokenSettings> {
        self.tokens.as_ref().map(|tokens| tokens.settings())
    }

    /// Counts a request of a caller; `None` where there is no limit, or no key to count by. Only keys that exist are
    /// counted, so that guesses take no memory.
    pub(crate) fn key_turn(&self, caller: &Identity) -> Option<Turn> {
        Some(self.limits.key_rate.as_ref()?.turn(caller.key_id.as_ref()?))
    }

    /// Counts what an ask of a caller costs more than another request, because its models have a price.
    ///
    /// # Errors
    /// [`ServiceError::TooOften`].
    pub(crate) fn count_paid_ask(&self, caller: &Caller) -> Result<(), ServiceError> {
        let counted = self.limits.key_rate.as_ref().zip(self.limits.paid_ask_surcharge).zip(caller.key_id.as_ref());
        let Some(((rate, surcharge), key_id)) = counted else { return Ok(()) };
        let turn = rate.turns(key_id, surcharge);
        let Some(wait) = turn.wait else { return Ok(()) };
        Err(ServiceError::TooOften {
            code: "rate_limited",
            title: "The key is used too often",
            detail: format!(
                "an ask that costs money counts as {} requests, and the key has {} a minute; send it again after a while",
                surcharge.saturating_add(1),
                turn.per_minute
            ),
            wait,
            quota: None,
        })
    }

    /// Begins a request of a caller; `None` where there is no limit, or no key to count by.
    ///
    /// # Errors
    /// The limit, if as many requests of the key are under way.
    pub(crate) fn begin(&self, caller: &Identity) -> Result<Option<UnderWay>, NonZeroUsize> {
        let counted = self.limits.key_concurrency.as_ref().zip(caller.key_id.as_deref());
        counted.map(|(concurrency, key_id)| concurrency.begin(key_id)).transpose()
    }

    /// Counts a request from a host, before anything is known of its caller; `None` where there is no limit.
    pub(crate) fn address_turn(&self, host: IpAddr) -> Option<Turn> {
        Some(self.limits.address_rate.as_ref()?.turn(&host))
    }

    /// Counts a request from a host whose key is not valid.
    pub(crate) fn refusal_turn(&self, host: IpAddr) -> Turn {
        self.limits.refusals.turn(&host)
    }

    /// Recognises a token.
    async fn of_token(&self, tokens: &Tokens, text: &str) -> Result<Identity, Refusal> {
        let TokenIdentity { grant, name } = tokens.identify(text).await.map_err(Refusal::Token)?;
        if !self.store.access().tenant_exists(grant.tenant()).await? {
            return Err(Refusal::Token(TokenRefusal::Invalid("is for a tenant that does not exist")));
        }
        Ok(Identity { grant, key_id: Some(name) })
    }

    /// Recognises a stored key.
    async fn stored(&self, text: &str) -> Result<Identity, Refusal> {
        let id = key_id(text).map_err(|_| Refusal::Malformed)?;
        let pepper = self.pepper.as_ref().ok_or(Refusal::Unknown)?;
        let found = self.known.find(&self.store, id).await.map_err(Refusal::Store)?.ok_or(Refusal::Unknown)?;
        let FoundKey { code, former_code, lifetime, .. } = &*found;
        let is_current = pepper.matches(text, code);
        let is_former = former_code.as_ref().is_some_and(|code| pepper.matches(text, code));
        let now = self.context.clock.now();
        match lifetime.state(now) {
            _ if !is_current && !is_former => Err(Refusal::Unknown),
            KeyState::Revoked => Err(Refusal::Revoked),
            KeyState::Valid if !is_current => Err(Refusal::Expired),
            KeyState::Expired => Err(Refusal::Expired),
            KeyState::Valid | KeyState::InGrace => {
                self.note_use(&found, id);
                let grant = Grant::of_tenant(found.tenant, found.scopes.clone(), found.collections.clone())
                    .as_principals(found.principals.clone());
                Ok(Identity { grant, key_id: Some(id.to_owned()) })
            }
        }
    }

    /// Notes in the background that a key is used, at most once a minute.
    fn note_use(&self, found: &FoundKey, id: &str) {
        if !self.known.is_note_due(id) {
            return;
        }
        let (store, tenant, id, now) = (self.store.clone(), found.tenant, id.to_owned(), self.context.clock.now());
        tokio::spawn(async move {
            if let Err(error) = store.access().note_use(tenant, &id, now).await {
                tracing::warn!(error = error_chain(&error), key_id = id, "the use of a key could not be noted");
            }
        });
    }
}
