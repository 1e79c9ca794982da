//! All configured models, and the roles for which they are used.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use secrecy::SecretString;
use url::Url;

use super::{CallRole, Capabilities, CapabilityOverrides, ChatChain, ChatModel, ModelName, circuit::Circuit};
use crate::{
    domain::{cost::Price, split::TokenCounter},
    metrics::Metrics,
    providers::{
        ProviderError,
        anthropic::AnthropicChat,
        openai::OpenAiChat,
        server::{Authentication, Server, ServerSettings},
    },
};

/// The protocol of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProviderKind {
    /// `OpenAI` and all servers that speak its API.
    OpenAi,
    /// Ollama, through its `OpenAI`-compatible endpoint.
    Ollama,
    /// Anthropic's Messages API.
    Anthropic,
}

/// A provider.
#[derive(Clone, Debug)]
pub(crate) struct ProviderSettings {
    /// Its protocol.
    pub(crate) kind: ProviderKind,
    /// Base URL up to and including the version, such as `http://localhost:11434/v1`.
    pub(crate) base_url: Url,
    /// Key, if the provider requires one.
    pub(crate) api_key: Option<SecretString>,
    /// Longest call, from connecting to the last byte.
    pub(crate) timeout: Duration,
}

impl ProviderSettings {
    /// A connection pool to this provider, which `name` names in errors.
    fn connection(&self, name: &str) -> Result<Server, ProviderError> {
        Server::new(ServerSettings {
            provider: name.to_owned(),
            base_url: self.base_url.clone(),
            api_key: self.api_key.clone(),
            authentication: match self.kind {
                ProviderKind::OpenAi | ProviderKind::Ollama => Authentication::Bearer,
                ProviderKind::Anthropic => Authentication::Anthropic,
            },
            timeout: self.timeout,
        })
    }

    /// The status with which the provider answers for its list of models, which costs nothing.
    ///
    /// # Errors
    /// When nobody answers within `patience`.
    pub(crate) async fn probe(self, patience: Duration) -> Result<u16, ProviderError> {
        Self { timeout: patience, ..self }.connection("")?.status_of_models().await
    }
}

/// The settings of a model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModelSettings {
    /// Its price.
    pub(crate) price: Price,
    /// Overrides of its capabilities.
    pub(crate) capabilities: CapabilityOverrides,
}

/// Providers, their models, and the models of each role. Every model named is a key of `models`, and every provider of
/// theirs one of `providers`.
#[derive(Clone, Debug, Default)]
pub struct ChatSettings {
    /// Providers by name.
    pub(crate) providers: BTreeMap<String, ProviderSettings>,
    /// Models that may be used.
    pub(crate) models: BTreeMap<ModelName, ModelSettings>,
    /// Models in the order in which they are tried; none means built in.
    pub(crate) default: Vec<ModelName>,
    /// Roles with models of their own; an empty list means built in.
    pub(crate) roles: BTreeMap<CallRole, Vec<ModelName>>,
}

impl ChatSettings {
    /// The capabilities of a configured model; `None` if it is not configured.
    #[must_use]
    pub(crate) fn capabilities(&self, name: &ModelName) -> Option<Capabilities> {
        let overrides = self.models.get(name)?.capabilities;
        let kind = self.providers.get(&name.provider)?.kind;
        Some(Capabilities::known(kind, &name.model).with(overrides))
    }
}

/// A model ready to be called.
pub(super) struct Model {
    pub(crate) name: ModelName,
    pub(crate) chat: Box<dyn ChatModel>,
    pub(crate) capabilities: Capabilities,
    pub(crate) price: Price,
    pub(crate) circuit: Circuit,
    pub(crate) provider_circuit: Arc<Circuit>,
}

/// All configured models. Without any, the built-in parts do all the work.
pub struct ChatModels {
    models: BTreeMap<ModelName, Arc<Model>>,
    default: Vec<ModelName>,
    roles: BTreeMap<CallRole, Vec<ModelName>>,
    counter: Arc<dyn TokenCounter + Send + Sync>,
    metrics: Metrics,
}

impl ChatModels {
    /// Prepares the connection pools; nothing is sent. Tokens of providers that do not count them are counted by
    /// `counter`, and calls by `metrics`.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub fn new(
        settings: &ChatSettings,
        counter: Arc<dyn TokenCounter + Send + Sync>,
        metrics: Metrics,
    ) -> Result<Self, ProviderError> {
        let mut models = BTreeMap::new();
        for (provider, server) in &settings.providers {
            let circuit = Arc::new(Circuit::default());
            let connection = server.connection(provider)?;
            for (name, model) in settings.models.iter().filter(|(name, _)| name.provider == *provider) {
                let connection = connection.for_model(&name.model);
                let chat: Box<dyn ChatModel> = match server.kind {
                    ProviderKind::OpenAi | ProviderKind::Ollama => Box::new(OpenAiChat::new(connection)),
                    ProviderKind::Anthropic => Box::new(AnthropicChat::new(connection)),
                };
                let ready = Model {
                    name: name.clone(),
                    chat,
                    capabilities: Capabilities::known(server.kind, &name.model).with(model.capabilities),
                    price: model.price,
                    circuit: Circuit::default(),
                    provider_circuit: Arc::clone(&circuit),
                };
                models.insert(name.clone(), Arc::new(ready));
            }
        }
        Ok(Self { models, default: settings.default.clone(), roles: settings.roles.clone(), counter, metrics })
    }

    /// All configured models.
    pub(crate) fn names(&self) -> impl Iterator<Item = &ModelName> {
        self.models.keys()
    }

    /// The models of a role: the role's own models, else those that the request names, else the default ones. A
    /// request's choice always applies to the answer itself. `None` means built in; so are the optional roles without
    /// models of their own.
    #[must_use]
    pub fn chain(&self, role: CallRole, requested: &[ModelName]) -> Option<ChatChain> {
        let own = self.roles.get(&role);
        let names = match own {
            Some(own) if requested.is_empty() || role != CallRole::Generate => own,
            None if role.is_optional() => return None,
            _ if requested.is_empty() => &self.default,
            _ => requested,
        };
        let models: Vec<Arc<Model>> = names.iter().filter_map(|name| self.models.get(name)).cloned().collect();
        let meter = || self.metrics.calls_as(role.as_str());
        (!models.is_empty()).then(|| ChatChain::new(models, Arc::clone(&self.counter), meter()))
    }
}
