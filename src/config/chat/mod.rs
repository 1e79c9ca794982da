//! Chat providers: the tables `providers`, `roles`, `prices` and `capabilities` of the file, and
//! the `CITED_CHAT_*` variables as the short form for one provider.

use std::{collections::BTreeMap, time::Duration};

use url::Url;

use super::{reader::Reader, table::Table};
use crate::{
    domain::cost::Price,
    providers::chat::{
        CallRole, CapabilityOverrides, ChatSettings, ModelName, ModelSettings, ProviderKind, ProviderSettings,
    },
    service::instructions::RoleInstructions,
};

/// Time limit of a call unless configured otherwise.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Name of the provider that the short form configures.
const SHORT_FORM: &str = "openai";
/// Value used in place of models to select no model.
const BUILT_IN: &str = "built-in";
/// Largest number of models that are tried one after the other.
const MAX_MODELS: usize = 8;

impl ProviderKind {
    fn read(text: &str) -> Option<Self> {
        match text {
            "openai" => Some(Self::OpenAi),
            "ollama" => Some(Self::Ollama),
            "anthropic" => Some(Self::Anthropic),
            _ => None,
        }
    }

    /// Base URL unless configured otherwise.
    const fn base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Ollama => "http://127.0.0.1:11434/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }
}

/// Reads all settings of chat providers; faults are added to the reader.
pub(super) fn read(reader: &mut Reader) -> ChatSettings {
    let mut settings = ChatSettings::default();
    read_short_form(reader, &mut settings);
    for (name, values) in reader.tables("providers") {
        read_provider(reader, &mut settings, name, values);
    }
    read_default(reader, &mut settings);
    read_roles(reader, &mut settings);
    for (name, values) in reader.tables("prices") {
        read_price(reader, &mut settings, &name, values);
    }
    for (name, values) in reader.tables("capabilities") {
        read_capabilities(reader, &mut settings, &name, values);
    }
    settings
}

fn read_short_form(reader: &mut Reader, settings: &mut ChatSettings) {
    let base_url = reader.url("CITED_CHAT_BASE_URL");
    let model = reader.optional::<String>("CITED_CHAT_MODEL");
    let api_key = reader.secret("CITED_CHAT_API_KEY");
    let timeout = reader.seconds("CITED_CHAT_TIMEOUT_S", TIMEOUT);
    let both = reader.both("CITED_CHAT_BASE_URL", base_url, "CITED_CHAT_MODEL", model);
    let Some((base_url, model)) = both else { return };
    let provider = ProviderSettings { kind: ProviderKind::OpenAi, base_url, api_key, timeout };
    settings.providers.insert(SHORT_FORM.to_owned(), provider);
    let name = ModelName { provider: SHORT_FORM.to_owned(), model };
    settings.models.insert(name.clone(), ModelSettings::default());
    settings.default.push(name);
}

fn read_provider(reader: &mut Reader, settings: &mut ChatSettings, name: String, values: toml::Table) {
    let is_plain =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || "-_".contains(character);
    if name.is_empty() || name == BUILT_IN || !name.chars().all(is_plain) {
        reader.fault(format!(
            "providers.{name}: a provider's name has lower-case letters, digits, - and _, and is not {BUILT_IN:?}"
        ));
        return;
    }
    if settings.providers.contains_key(&name) {
        reader
            .fault(format!("providers.{name} is there twice: CITED_CHAT_BASE_URL stands for it too; use one of them"));
        return;
    }
    let mut table = Table::new(reader, format!("providers.{name}"), values);
    let kind = match table.parsed::<String>("kind") {
        None => ProviderKind::OpenAi,
        Some(text) => ProviderKind::read(&text).unwrap_or_else(|| {
            table.fault("kind", format!("is {text:?}; it must be openai, ollama or anthropic"));
            ProviderKind::OpenAi
        }),
    };
    let default_url = || Url::parse(kind.base_url()).ok();
    let base_url = table.url("base_url").or_else(default_url);
    let api_key = table.api_key();
    let timeout = table.seconds("timeout_s", TIMEOUT);
    let models = table.list("models").unwrap_or_default();
    table.finish();
    for model in models {
        settings.models.insert(ModelName { provider: name.clone(), model }, ModelSettings::default());
    }
    if let Some(base_url) = base_url {
        settings.providers.insert(name, ProviderSettings { kind, base_url, api_key, timeout });
    }
}

/// `CITED_MODELS`: the models, in order, of every role that has no models of its own.
fn read_default(reader: &mut Reader, settings: &mut ChatSettings) {
    let list = reader.optional::<String>("CITED_MODELS");
    if let Some(list) = list {
        let names: Vec<String> = list.split(',').map(str::trim).map(str::to_owned).collect();
        settings.default = read_names(reader, settings, "CITED_MODELS", &names);
    } else if settings.default.is_empty() && !settings.providers.is_empty() {
        reader.fault(
            "there are providers and no models; set models (or CITED_MODELS) to a list of \"provider:model\", in the \
             order in which they are tried"
                .to_owned(),
        );
    }
}

fn read_roles(reader: &mut Reader, settings: &mut ChatSettings) {
    let values = reader.table("roles");
    let mut table = Table::new(reader, "roles".to_owned(), values);
    let lists: Vec<(CallRole, Vec<String>)> =
        CallRole::ALL.into_iter().filter_map(|role| Some((role, table.list(role.as_str())?))).collect();
    table.finish();
    for (role, names) in lists {
        let names = read_names(reader, settings, &format!("roles.{}", role.as_str()), &names);
        settings.roles.insert(role, names);
    }
}

/// The table `prompts`: instructions of the deployment, by role.
pub(super) fn read_instructions(reader: &mut Reader) -> RoleInstructions {
    let values = reader.table("prompts");
    let mut table = Table::new(reader, "prompts".to_owned(), values);
    let instructions =
        CallRole::ALL.into_iter().filter_map(|role| Some((role, table.parsed(role.as_str())?))).collect();
    table.finish();
    instructions
}

/// Reads models in order; a model named here becomes configured.
fn read_names(reader: &mut Reader, settings: &mut ChatSettings, place: &str, names: &[String]) -> Vec<ModelName> {
    if let [name] = names
        && name == BUILT_IN
    {
        return Vec::new();
    }
    if names.is_empty() || names.len() > MAX_MODELS {
        reader.fault(format!("{place} must name 1 to {MAX_MODELS} models, or {BUILT_IN:?}"));
    }
    let mut read = Vec::with_capacity(names.len());
    for name in names {
        match name.parse::<ModelName>() {
            Ok(name) if settings.providers.contains_key(&name.provider) => {
                settings.models.entry(name.clone()).or_default();
                read.push(name);
            }
            Ok(ModelName { provider, .. }) => {
                reader.fault(format!("{place} names {name:?}, and there is no provider {provider:?}"));
            }
            Err(form) => reader.fault(format!("{place} names {name:?}; {form}")),
        }
    }
    read
}

fn configured<'s>(
    reader: &mut Reader,
    models: &'s mut BTreeMap<ModelName, ModelSettings>,
    place: &str,
    name: &str,
) -> Option<&'s mut ModelSettings> {
    let found = name.parse::<ModelName>().ok().and_then(|name| models.get_mut(&name));
    if found.is_none() {
        reader.fault(format!("{place}.{name:?} is about a model that is not configured; write \"provider:model\""));
    }
    found
}

fn read_price(reader: &mut Reader, settings: &mut ChatSettings, name: &str, values: toml::Table) {
    let mut table = Table::new(reader, format!("prices.{name:?}"), values);
    let prompt = table.number("prompt_usd_per_million");
    let completion = table.number("completion_usd_per_million");
    let price = match (prompt, completion) {
        (Some(prompt), Some(completion)) => Price::per_million(prompt, completion),
        _ => None,
    };
    if price.is_none() {
        table.fault(
            "prompt_usd_per_million",
            "and completion_usd_per_million are both needed, in US dollars from 0 to 1,000,000",
        );
    }
    table.finish();
    if let (Some(model), Some(price)) = (configured(reader, &mut settings.models, "prices", name), price) {
        model.price = price;
    }
}

fn read_capabilities(reader: &mut Reader, settings: &mut ChatSettings, name: &str, values: toml::Table) {
    let mut table = Table::new(reader, format!("capabilities.{name:?}"), values);
    let capabilities = CapabilityOverrides {
        citations: table.flag("citations"),
        seed: table.flag("seed"),
        temperature_zero: table.flag("temperature_zero"),
        streaming: table.flag("streaming"),
        structured_output: table.flag("structured_output"),
        loose_markers: table.flag("loose_markers"),
    };
    table.finish();
    if let Some(model) = configured(reader, &mut settings.models, "capabilities", name) {
        model.capabilities = capabilities;
    }
}

#[cfg(test)]
mod tests;
