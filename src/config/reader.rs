//! Looking settings up by name: environment, then file; every fault is remembered.

use std::{collections::BTreeMap, fmt, path::PathBuf, str::FromStr, time::Duration};

use secrecy::SecretString;

use super::{Config, ConfigError, EffectiveValue, Origin};
use crate::store::private_postgres;

/// Looks names up and remembers what was found and what was wrong.
pub(super) struct Reader {
    pub(super) environment: BTreeMap<String, String>,
    file: BTreeMap<String, String>,
    effective: Vec<EffectiveValue>,
    faults: Vec<String>,
}

impl Reader {
    pub(super) fn new(environment: BTreeMap<String, String>, file: &str) -> Self {
        let mut faults = Vec::new();
        let file = parse_file(file).unwrap_or_else(|fault| {
            faults.push(fault);
            BTreeMap::new()
        });
        Self { environment, file, effective: Vec::new(), faults }
    }

    pub(super) fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    fn raw(&mut self, name: &'static str) -> Option<(String, Origin)> {
        let from_file = self.file.remove(&file_key(name));
        // An empty variable counts as unset: that is how compose files pass on what is not there.
        let from_environment = self.environment.get(name).filter(|value| !value.is_empty()).cloned();
        match (from_environment, from_file) {
            (Some(value), _) => Some((value, Origin::Environment)),
            (None, Some(value)) => Some((value, Origin::File)),
            (None, None) => None,
        }
    }

    fn note(&mut self, name: &'static str, value: String, origin: Origin) {
        self.effective.push(EffectiveValue { name, value, origin });
    }

    pub(super) fn optional<T: FromStr<Err: fmt::Display>>(&mut self, name: &'static str) -> Option<T> {
        let Some((text, origin)) = self.raw(name) else {
            self.note(name, "(unset)".to_owned(), Origin::Default);
            return None;
        };
        self.note(name, text.clone(), origin);
        text.parse().map_err(|error| self.fault(format!("{name} is {text:?}: {error}"))).ok()
    }

    pub(super) fn value<T: FromStr<Err: fmt::Display> + fmt::Display>(&mut self, name: &'static str, default: T) -> T {
        if let Some((text, origin)) = self.raw(name) {
            self.note(name, text.clone(), origin);
            match text.parse() {
                Ok(value) => return value,
                Err(error) => self.fault(format!("{name} is {text:?}: {error}")),
            }
        } else {
            self.note(name, default.to_string(), Origin::Default);
        }
        default
    }

    pub(super) fn seconds(&mut self, name: &'static str, default: Duration) -> Duration {
        Duration::from_secs(self.value(name, default.as_secs()))
    }

    pub(super) fn secret(&mut self, name: &'static str) -> Option<SecretString> {
        let found = self.raw(name);
        let shown = if found.is_some() { "(set, not shown)" } else { "(unset)" };
        let origin = found.as_ref().map_or(Origin::Default, |(_, origin)| *origin);
        self.note(name, shown.to_owned(), origin);
        found.map(|(value, _)| SecretString::from(value))
    }

    pub(super) fn folders(&self) -> private_postgres::Folders {
        let path = |name: &str| self.environment.get(name).map(PathBuf::from);
        private_postgres::Folders {
            home: path("HOME"),
            xdg_data_home: path("XDG_DATA_HOME"),
            xdg_cache_home: path("XDG_CACHE_HOME"),
        }
    }

    pub(super) fn finish(mut self, build: impl FnOnce(Vec<EffectiveValue>) -> Config) -> Result<Config, ConfigError> {
        for unknown in self.file.keys() {
            self.faults.push(format!("the configuration file sets {unknown}, which is not a setting"));
        }
        if self.faults.is_empty() { Ok(build(self.effective)) } else { Err(ConfigError { faults: self.faults }) }
    }
}

/// Name of a setting in the file: that of its variable, lower case and without the prefix.
fn file_key(variable: &str) -> String {
    variable.strip_prefix("CITED_").unwrap_or(variable).to_ascii_lowercase()
}

fn parse_file(text: &str) -> Result<BTreeMap<String, String>, String> {
    let table: toml::Table =
        text.parse().map_err(|error| format!("the configuration file is not valid TOML: {error}"))?;
    table
        .into_iter()
        .map(|(key, value)| match value {
            toml::Value::String(text) => Ok((key, text)),
            toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => Ok((key, value.to_string())),
            toml::Value::Array(list) if list.iter().all(toml::Value::is_str) => {
                let joined: Vec<&str> = list.iter().filter_map(toml::Value::as_str).collect();
                Ok((key, joined.join(",")))
            }
            _ => Err(format!(
                "the configuration file sets {key} to something that is neither text, number nor list of texts"
            )),
        })
        .collect()
}
