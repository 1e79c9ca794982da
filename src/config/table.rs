//! One table of the configuration file, read key by key so that every fault in it is reported.

use std::{fmt, str::FromStr, time::Duration};

use secrecy::SecretString;
use toml::Value;
use url::Url;

use super::{
    Origin,
    reader::{LONGEST_TIME, NOT_SHOWN, Reader, secret_in},
};

/// A table with its path, such as `providers.groq`. Keys that were not read are faults.
pub(super) struct Table<'a> {
    reader: &'a mut Reader,
    path: String,
    values: toml::Table,
}

impl<'a> Table<'a> {
    pub(super) const fn new(reader: &'a mut Reader, path: String, values: toml::Table) -> Self {
        Self { reader, path, values }
    }

    pub(super) fn fault(&mut self, key: &str, fault: impl fmt::Display) {
        self.reader.fault(format!("{}.{key} {fault}", self.path));
    }

    fn note(&mut self, key: &str, value: String) {
        self.reader.note(format!("{}.{key}", self.path), value, Origin::File);
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        if let Value::String(text) = self.values.remove(key)? {
            return Some(text);
        }
        self.fault(key, "must be a text");
        None
    }

    /// A text that is parsed to a value.
    pub(super) fn parsed<T: FromStr<Err: fmt::Display>>(&mut self, key: &str) -> Option<T> {
        let text = self.text(key)?;
        self.note(key, text.clone());
        match text.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                self.fault(key, format!("is {text:?}: {error}"));
                None
            }
        }
    }

    /// A URL, displayed without the parts that may be secret.
    pub(super) fn url(&mut self, key: &str) -> Option<Url> {
        let text = self.text(key)?;
        self.note(key, shown_url(&text));
        match text.parse() {
            Ok(url) => Some(url),
            Err(error) => {
                self.fault(key, format!("is not a URL: {error}"));
                None
            }
        }
    }

    /// A text that is not displayed.
    fn secret(&mut self, key: &str) -> Option<SecretString> {
        let text = self.text(key)?;
        self.note(key, NOT_SHOWN.to_owned());
        Some(SecretString::from(text))
    }

    /// The value of the environment variable that `key` names.
    fn secret_from_environment(&mut self, key: &str) -> Option<SecretString> {
        let variable = self.text(key)?;
        self.note(key, variable.clone());
        let value = self.reader.variable(&variable);
        if value.is_none() {
            self.fault(key, format!("names the variable {variable}, which is not set"));
        }
        value.map(SecretString::from)
    }

    /// The content of the file that `key` names.
    fn secret_from_file(&mut self, key: &str) -> Option<SecretString> {
        let path = self.text(key)?;
        self.note(key, path.clone());
        secret_in(&path).map_err(|fault| self.fault(key, fault)).ok()
    }

    /// The key of a server: `api_key`, the value of the variable that `api_key_env` names, or the content of the file
    /// that `api_key_file` names.
    pub(super) fn api_key(&mut self) -> Option<SecretString> {
        let given = ["api_key", "api_key_env", "api_key_file"].into_iter().filter(|key| self.values.contains_key(*key));
        let given: Vec<&str> = given.collect();
        if let [one, other, ..] = given.as_slice() {
            self.fault(one, format!("and {other} are both set; use one of them"));
        }
        let inline = self.secret("api_key");
        let from_environment = self.secret_from_environment("api_key_env");
        let from_file = self.secret_from_file("api_key_file");
        inline.or(from_environment).or(from_file)
    }

    pub(super) fn number(&mut self, key: &str) -> Option<f64> {
        let number = match self.values.remove(key)? {
            Value::Float(number) => number,
            #[expect(clippy::cast_precision_loss, reason = "settings are small numbers")]
            Value::Integer(number) => number as f64,
            _ => {
                self.fault(key, "must be a number");
                return None;
            }
        };
        self.note(key, number.to_string());
        Some(number)
    }

    /// A whole number from 1.
    pub(super) fn whole(&mut self, key: &str) -> Option<usize> {
        let number = match self.values.remove(key)? {
            Value::Integer(number) => usize::try_from(number).ok().filter(|number| *number > 0),
            _ => None,
        };
        match number {
            Some(number) => self.note(key, number.to_string()),
            None => self.fault(key, "must be a whole number above 0"),
        }
        number
    }

    /// A time in seconds, above 0 and up to [`LONGEST_TIME`].
    pub(super) fn seconds(&mut self, key: &str, default: Duration) -> Duration {
        match self.number(key).map(Duration::try_from_secs_f64) {
            None => default,
            Some(Ok(time)) if !time.is_zero() && time <= LONGEST_TIME => time,
            Some(_) => {
                self.fault(key, format!("must be a number of seconds above 0, and at most {}", LONGEST_TIME.as_secs()));
                default
            }
        }
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        if let Value::Boolean(flag) = self.values.remove(key)? {
            self.note(key, flag.to_string());
            return Some(flag);
        }
        self.fault(key, "must be true or false");
        None
    }

    /// A list of texts, or one text.
    pub(super) fn list(&mut self, key: &str) -> Option<Vec<String>> {
        let list = match self.values.remove(key)? {
            Value::String(text) => vec![text],
            Value::Array(list) if list.iter().all(Value::is_str) => {
                list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            _ => {
                self.fault(key, "must be a text or a list of texts");
                return None;
            }
        };
        self.note(key, list.join(","));
        Some(list)
    }

    /// Reports the keys that were not read.
    pub(super) fn finish(mut self) {
        let unknown: Vec<String> = self.values.keys().cloned().collect();
        for key in unknown {
            self.fault(&key, "is not a setting");
        }
    }
}

/// A URL without user, password and query, which may be secret.
pub(super) fn shown_url(text: &str) -> String {
    let Ok(mut url) = text.parse::<Url>() else { return "(not a URL)".to_owned() };
    if url.username().is_empty() && url.password().is_none() && url.query().is_none() {
        return text.to_owned();
    }
    hide_secrets(&mut url);
    format!("{url} (user, password or query not shown)")
}

/// Removes user, password and query from a URL.
pub(crate) fn hide_secrets(url: &mut Url) {
    // Only URLs that have no host refuse this, and they have no user either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
}
