//! The models that the service would use, and whether their servers answer.

use std::time::Duration;

use super::findings::Findings;
use crate::{
    config::{Config, hide_secrets},
    providers::{
        BUILT_IN_EMBEDDER, Endpoint,
        chat::{CallRole, ChatSettings, ProviderKind, ProviderSettings},
        openai::EmbeddingSettings,
    },
};

/// Longest wait for a model server.
const PATIENCE: Duration = Duration::from_secs(5);

/// Prints the models of each role, those that embed and that which reranks, and what their servers say.
pub(super) async fn check(config: &Config, findings: &mut Findings) {
    print_chat_models(&config.chat);
    for unconfigured in config.unconfigured_choices() {
        findings.warning(unconfigured);
    }
    for (name, provider) in &config.chat.providers {
        reach(name, provider.clone(), findings).await;
    }
    let embeddings =
        std::iter::once(config.embedding.as_ref()).chain(config.further_embeddings.iter().map(Option::as_ref));
    for (place, settings) in embeddings.enumerate() {
        let name = if place == 0 { "embed" } else { "" };
        Findings::good(name, name_of(settings));
        if let Some(settings) = settings
            && !reach_endpoint("embed", &settings.endpoint, findings).await
            && settings.dimension.is_none()
        {
            findings.fault(
                "it is asked at start for the length of its vectors; start it, or set CITED_EMBEDDING_DIMENSION",
            );
        }
    }
    Findings::good("rerank", config.reranker.as_ref().map_or_else(|| "built in".to_owned(), place_of));
    if let Some(endpoint) = &config.reranker {
        reach_endpoint("rerank", endpoint, findings).await;
    }
}

/// Prints the models of each role, and the capabilities of each model.
fn print_chat_models(chat: &ChatSettings) {
    for role in CallRole::ALL {
        let models = match chat.roles.get(&role) {
            Some(own) => own.as_slice(),
            None if role.is_optional() => &[],
            None => chat.default.as_slice(),
        };
        let names: Vec<String> = models.iter().map(ToString::to_string).collect();
        let shown = match (role, names.is_empty()) {
            (_, false) => names.join(", then "),
            (CallRole::Context, true) => "none: collections with contexts need a model".to_owned(),
            (_, true) => "built in".to_owned(),
        };
        Findings::good(role.as_str(), shown);
    }
    for name in chat.models.keys() {
        let Some(can) = chat.capabilities(name) else { continue };
        let each = [
            ("citations", can.citations),
            ("seed", can.seed),
            ("temperature_zero", can.temperature_zero),
            ("streaming", can.streaming),
            ("structured_output", can.structured_output),
            ("loose_markers", can.loose_markers),
        ];
        let shown: Vec<&str> = each.iter().filter(|(_, is_able)| *is_able).map(|(capability, _)| *capability).collect();
        Findings::good(name.to_string(), shown.join(", "));
    }
}

/// The embedding model with its place.
fn name_of(settings: Option<&EmbeddingSettings>) -> String {
    settings.map_or_else(|| format!("{BUILT_IN_EMBEDDER}, built in"), |settings| place_of(&settings.endpoint))
}

fn place_of(endpoint: &Endpoint) -> String {
    let mut shown = endpoint.base_url.clone();
    hide_secrets(&mut shown);
    format!("{} at {shown}", endpoint.model)
}

async fn reach_endpoint(name: &str, endpoint: &Endpoint, findings: &mut Findings) -> bool {
    let Endpoint { base_url, api_key, .. } = endpoint.clone();
    reach(name, ProviderSettings { kind: ProviderKind::OpenAi, base_url, api_key, timeout: PATIENCE }, findings).await
}

/// Prints what is wrong with a model server; whether one answers. A server that has no list of models answers too.
async fn reach(name: &str, provider: ProviderSettings, findings: &mut Findings) -> bool {
    let mut shown = provider.base_url.clone();
    hide_secrets(&mut shown);
    let answer = provider.probe(PATIENCE).await;
    match answer {
        Ok(401 | 403) => findings.warning(format!("{name}: the server at {shown} refuses the key; correct it")),
        Ok(500..) => findings.warning(format!("{name}: the server at {shown} fails; look at its log")),
        Ok(_) => {}
        Err(_) => findings.warning(format!("{name}: no server answers at {shown}; start it, or correct the URL")),
    }
    answer.is_ok()
}
