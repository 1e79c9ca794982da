//! Looks up settings by name: environment first, then file; every fault is recorded.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::RangeInclusive,
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use secrecy::SecretString;
use url::Url;

use super::{
    Config, ConfigError, EffectiveValue, Origin,
    misspelt::{UnknownVariable, nearest},
    table::shown_url,
};

/// Longest time of any timeout: longer ones are mistakes, and timers do not accept much longer ones.
pub(super) const LONGEST_TIME: Duration = Duration::from_hours(365 * 24);

/// Shown in the place of a secret.
pub(super) const NOT_SHOWN: &str = "(set, not shown)";

/// Looks up names and records the values found and the faults.
pub(super) struct Reader {
    pub(super) environment: BTreeMap<String, String>,
    file: BTreeMap<String, String>,
    tables: BTreeMap<String, toml::Table>,
    /// Names of all settings: those that were looked up.
    settings: BTreeSet<String>,
    effective: Vec<EffectiveValue>,
    faults: Vec<String>,
}

/// Where each setting came from, and variables that are no settings.
pub(super) struct Readings {
    pub(super) effective: Vec<EffectiveValue>,
    pub(super) unknown_variables: Vec<UnknownVariable>,
}

impl Reader {
    pub(super) fn new(environment: BTreeMap<String, String>, file: &str) -> Self {
        let mut faults = Vec::new();
        let file = parse_file(file, &mut faults);
        let File { values, tables } = file;
        Self { environment, file: values, tables, settings: BTreeSet::new(), effective: Vec::new(), faults }
    }

    pub(super) fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    /// The value of a variable that a setting of the file names; empty counts as unset.
    pub(super) fn variable(&mut self, name: &str) -> Option<String> {
        self.settings.insert(name.to_owned());
        self.environment.get(name).filter(|value| !value.is_empty()).cloned()
    }

    fn raw(&mut self, name: &str) -> Option<(String, Origin)> {
        let from_file = self.file.remove(&file_key(name));
        // An empty variable counts as unset, because compose files pass unset variables as empty ones.
        let from_environment = self.variable(name);
        match (from_environment, from_file) {
            (Some(value), _) => Some((value, Origin::Environment)),
            (None, Some(value)) => Some((value, Origin::File)),
            (None, None) => None,
        }
    }

    pub(super) fn note(&mut self, name: impl Into<String>, value: String, origin: Origin) {
        self.effective.push(EffectiveValue { name: name.into(), value, origin });
    }

    /// A table of the file; empty if it does not exist.
    pub(super) fn table(&mut self, name: &str) -> toml::Table {
        self.tables.remove(name).unwrap_or_default()
    }

    /// The tables within a table of the file, by their names.
    pub(super) fn tables(&mut self, name: &str) -> Vec<(String, toml::Table)> {
        let mut tables = Vec::new();
        for (key, value) in self.table(name) {
            match value {
                toml::Value::Table(table) => tables.push((key, table)),
                _ => self.fault(format!("{name}.{key} must be a table")),
            }
        }
        tables
    }

    /// A URL, displayed without the parts that may be secret.
    pub(super) fn url(&mut self, name: &'static str) -> Option<Url> {
        let Some((text, origin)) = self.raw(name) else {
            self.note(name, "(unset)".to_owned(), Origin::Default);
            return None;
        };
        self.note(name, shown_url(&text), origin);
        text.parse().map_err(|error| self.fault(format!("{name} is not a URL: {error}"))).ok()
    }

    pub(super) fn optional<T: FromStr<Err: fmt::Display>>(&mut self, name: &'static str) -> Option<T> {
        let Some((text, origin)) = self.raw(name) else {
            self.note(name, "(unset)".to_owned(), Origin::Default);
            return None;
        };
        self.note(name, text.clone(), origin);
        text.parse().map_err(|error| self.fault(unreadable(name, &text, &error))).ok()
    }

    /// A list that is separated by commas. `form` says what an entry is, for those that `parse` does not take.
    pub(super) fn list<T>(&mut self, name: &'static str, form: &str, parse: impl Fn(&str) -> Option<T>) -> Vec<T> {
        let text = self.optional::<String>(name).unwrap_or_default();
        let mut parsed = Vec::new();
        for entry in entries(&text) {
            match parse(entry) {
                Some(entry) => parsed.push(entry),
                None => self.fault(format!("{name} holds {entry:?}; write {form}, separated by commas")),
            }
        }
        parsed
    }

    pub(super) fn value<T: FromStr<Err: fmt::Display> + fmt::Display>(&mut self, name: &'static str, default: T) -> T {
        if let Some((text, origin)) = self.raw(name) {
            self.note(name, text.clone(), origin);
            match text.parse() {
                Ok(value) => return value,
                Err(error) => self.fault(unreadable(name, &text, &error)),
            }
        } else {
            self.note(name, default.to_string(), Origin::Default);
        }
        default
    }

    /// A time in whole seconds, from 1 to [`LONGEST_TIME`].
    pub(super) fn seconds(&mut self, name: &'static str, default: Duration) -> Duration {
        self.seconds_within(name, default, Duration::from_secs(1)..=LONGEST_TIME)
    }

    /// A time in whole seconds within bounds; the default if it is out of bounds, which is reported as a fault.
    pub(super) fn seconds_within(
        &mut self,
        name: &'static str,
        default: Duration,
        bounds: RangeInclusive<Duration>,
    ) -> Duration {
        let time = Duration::from_secs(self.value(name, default.as_secs()));
        if bounds.contains(&time) {
            return time;
        }
        let [seconds, least, most] = [time, *bounds.start(), *bounds.end()].map(|time| time.as_secs());
        self.fault(format!("{name} is {seconds}; it must be {least} to {most} seconds"));
        default
    }

    /// Two settings that belong together, if both are set; one without the other is a fault.
    pub(super) fn both<One, Other>(
        &mut self,
        name: &str,
        one: Option<One>,
        other_name: &str,
        other: Option<Other>,
    ) -> Option<(One, Other)> {
        if one.is_some() != other.is_some() {
            self.fault(format!("{name} and {other_name} belong together; set both or neither"));
        }
        one.zip(other)
    }

    /// A text that is not shown: the value of `name`, or the content of the file that `name` with `_FILE` names, as
    /// container runtimes and systemd hand secrets over.
    pub(super) fn secret(&mut self, name: &'static str) -> Option<SecretString> {
        let file_name = format!("{name}_FILE");
        match (self.raw(name), self.raw(&file_name)) {
            (None, None) => {
                self.note(name, "(unset)".to_owned(), Origin::Default);
                None
            }
            (Some((value, origin)), None) => {
                self.note(name, NOT_SHOWN.to_owned(), origin);
                Some(SecretString::from(value))
            }
            (None, Some((path, origin))) => {
                self.note(name, format!("(in {path}, not shown)"), origin);
                secret_in(&path).map_err(|fault| self.fault(format!("{file_name} {fault}"))).ok()
            }
            (Some(_), Some(_)) => {
                self.fault(format!("{name} and {file_name} are both set; use one of them"));
                None
            }
        }
    }

    pub(super) fn folders(&self) -> embedded_postgres::Folders {
        let path = |name: &str| self.environment.get(name).map(PathBuf::from);
        embedded_postgres::Folders {
            home: path("HOME"),
            xdg_data_home: path("XDG_DATA_HOME"),
            xdg_cache_home: path("XDG_CACHE_HOME"),
        }
    }

    pub(super) fn finish(mut self, build: impl FnOnce(Readings) -> Config) -> Result<Config, ConfigError> {
        let keys: BTreeSet<String> = self.settings.iter().map(|name| file_key(name)).collect();
        for unknown in self.file.keys().chain(self.tables.keys()) {
            let meant = nearest(unknown, &keys).map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
            self.faults.push(format!("the configuration file sets {unknown}, which is not a setting{meant}"));
        }
        let unknown_variables = UnknownVariable::among(self.environment.keys(), &self.settings);
        if self.faults.is_empty() {
            return Ok(build(Readings { effective: self.effective, unknown_variables }));
        }
        // A misspelt name may be the cause of the faults.
        self.faults.extend(unknown_variables.iter().map(ToString::to_string));
        Err(ConfigError { faults: self.faults })
    }
}

/// The fault of a setting whose text cannot be read. The standard library tells its own words for the commonest types.
fn unreadable(name: &str, text: &str, error: &impl fmt::Display) -> String {
    let error = error.to_string();
    let expected = match error.as_str() {
        "invalid digit found in string" | "cannot parse integer from empty string" => "it must be a whole number",
        "number would be zero for non-zero type" => "it must be 1 or more",
        "number too large to fit in target type" => "it is too large",
        "number too small to fit in target type" => "it is too small",
        "invalid float literal" => "it must be a number",
        "provided string was not `true` or `false`" => "it must be true or false",
        "invalid socket address syntax" => "it must be an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080",
        other => other,
    };
    format!("{name} is {text:?}: {expected}")
}

/// The entries of a list that is separated by commas; empty ones do not count.
pub(super) fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

/// The secret in a file, without the end of its line.
pub(super) fn secret_in(path: &str) -> Result<SecretString, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("names {path}, which cannot be read: {error}"))?;
    match text.trim_end_matches(['\n', '\r']) {
        "" => Err(format!("names {path}, which is empty")),
        secret => Ok(SecretString::from(secret)),
    }
}

/// Name of a setting in the file: that of its variable, lower case and without the prefix.
fn file_key(variable: &str) -> String {
    variable.strip_prefix("CITED_").unwrap_or(variable).to_ascii_lowercase()
}

/// The content of the file: settings by name, and tables.
#[derive(Default)]
struct File {
    values: BTreeMap<String, String>,
    tables: BTreeMap<String, toml::Table>,
}

fn parse_file(text: &str, faults: &mut Vec<String>) -> File {
    let mut file = File::default();
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => {
            // Its own text would show the line, which may hold a secret.
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            faults.push(format!("the configuration file is not valid TOML: line {line}: {}", error.message()));
            return file;
        }
    };
    for (key, value) in table {
        match value {
            toml::Value::String(text) => {
                file.values.insert(key, text);
            }
            toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => {
                file.values.insert(key, value.to_string());
            }
            toml::Value::Array(list) if list.iter().all(toml::Value::is_str) => {
                let joined: Vec<&str> = list.iter().filter_map(toml::Value::as_str).collect();
                file.values.insert(key, joined.join(","));
            }
            toml::Value::Table(table) => {
                file.tables.insert(key, table);
            }
            _ => faults.push(format!(
                "the configuration file sets {key} to something that is neither text, number, list of texts nor table"
            )),
        }
    }
    file
}
