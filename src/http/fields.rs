//! Checks of request values. All faults of a request are collected before it is refused.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use url::Url;

use super::problem::{ApiError, FieldError};
use crate::domain::{
    access::{MAX_PRINCIPALS, MalformedPrincipal, Principal},
    unseen::unfit_in_a_name,
};

/// Longest collection name, in characters.
pub(super) const MAX_NAME: usize = 128;
/// Longest source and URL, in bytes: they are stored in a database index, whose entries are limited to 2.7 kB.
pub(super) const MAX_SOURCE_BYTES: usize = 2_048;
/// Longest URI, title and query, in characters.
pub(super) const MAX_SHORT_TEXT: usize = 2_048;
/// Longest question or search query, in characters.
pub(super) const MAX_QUESTION: usize = 8_192;
/// Longest text to be checked, and longest passage to check it against, in characters.
pub(super) const MAX_CHECKED_TEXT: usize = 65_536;
/// Longest message of a conversation before the question, in characters: answers may be long.
pub(super) const MAX_MESSAGE: usize = 32_768;
/// Largest number of messages of a conversation.
pub(super) const MAX_MESSAGES: usize = 100;
/// Largest metadata of a document, in bytes of JSON: every hit of a search carries it.
const MAX_METADATA_BYTES: usize = 64 * 1024;
/// Largest number of keys in the metadata of a document, those of objects within it included: each becomes rows of an
/// index.
const MAX_METADATA_KEYS: usize = 256;
/// Largest number of objects and lists within each other in the metadata of a document.
const MAX_METADATA_DEPTH: usize = 16;
/// Largest number of collections in one request.
pub(super) const MAX_COLLECTIONS: usize = 32;

/// Reads a member that may be left out, but not be null.
///
/// # Errors
/// Those of its type, for null too.
pub(super) fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Faults found so far.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<FieldError>);

impl Faults {
    pub(super) fn add(&mut self, pointer: impl Into<String>, detail: impl Into<String>) {
        self.0.push(FieldError { pointer: pointer.into(), detail: detail.into() });
    }

    /// Refuses the request if there is a fault.
    pub(super) fn finish(self) -> Result<(), ApiError> {
        if self.0.is_empty() { Ok(()) } else { Err(ApiError::invalid(self.0)) }
    }

    pub(super) fn collection_name(&mut self, pointer: &str, name: &str) {
        self.name(pointer, name, MAX_NAME);
    }

    /// A name that the service gives out as its own. Two that look the same are the same.
    pub(super) fn name(&mut self, pointer: &str, name: &str, longest: usize) {
        if name.trim() != name || name.is_empty() || name.chars().count() > longest {
            self.add(pointer, format!("a name has 1 to {longest} characters and no space at its ends"));
        } else if let Some(character) = unfit_in_a_name(name) {
            let code = u32::from(character);
            self.add(pointer, format!("holds U+{code:04X}, which nobody sees in a name; leave it out"));
        }
    }

    pub(super) fn collections(&mut self, pointer: &str, names: &[String]) {
        if names.is_empty() || names.len() > MAX_COLLECTIONS {
            self.add(pointer, format!("name 1 to {MAX_COLLECTIONS} collections"));
        }
        for (index, name) in names.iter().enumerate() {
            self.collection_name(&format!("{pointer}/{index}"), name);
            if names.iter().take(index).any(|earlier| earlier == name) {
                self.add(format!("{pointer}/{index}"), "the collection is named twice");
            }
        }
    }

    /// Users and groups of a list.
    pub(super) fn principals(&mut self, pointer: &str, names: &[String]) -> BTreeSet<Principal> {
        if names.len() > MAX_PRINCIPALS {
            self.add(pointer, format!("names {} users and groups; the limit is {MAX_PRINCIPALS}", names.len()));
        }
        let mut principals = BTreeSet::new();
        for (index, name) in names.iter().enumerate() {
            match name.parse() {
                Ok(principal) => {
                    principals.insert(principal);
                }
                Err(error) => self.add(format!("{pointer}/{index}"), MalformedPrincipal::to_string(&error)),
            }
        }
        principals
    }

    pub(super) fn short_text(&mut self, pointer: &str, text: &str) {
        if text.trim().is_empty() || text.chars().count() > MAX_SHORT_TEXT || text.contains('\0') {
            self.add(pointer, format!("must hold 1 to {MAX_SHORT_TEXT} characters that are not all space, and no NUL"));
        }
    }

    /// The caller's own name for a document.
    pub(super) fn source(&mut self, pointer: &str, source: &str) {
        if source.trim().is_empty() || source.len() > MAX_SOURCE_BYTES || source.contains('\0') {
            let length = source.len();
            self.add(
                pointer,
                format!(
                    "must hold 1 to {MAX_SOURCE_BYTES} bytes of UTF-8 that are not all space, and no NUL; it holds {length}"
                ),
            );
        }
    }

    /// Checks a URL that a document is fetched from. Whether its host may be contacted is decided when the request is
    /// made.
    pub(super) fn url(&mut self, pointer: &str, url: &str) {
        let fault = match Url::parse(url) {
            Ok(_) if url.chars().any(char::is_control) => "must hold no control characters".to_owned(),
            Ok(_) if url.len() > MAX_SOURCE_BYTES => format!("must hold at most {MAX_SOURCE_BYTES} bytes"),
            Ok(parsed) if !matches!(parsed.scheme(), "http" | "https") => {
                format!("has the scheme {}; only http and https are fetched", parsed.scheme())
            }
            Ok(parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
                "holds a user name or password; leave them out, they would be shown with every citation".to_owned()
            }
            Ok(_) => return,
            Err(error) => format!("is not a URL: {error}"),
        };
        self.add(pointer, fault);
    }

    /// A URI that clients may make a link of: one with another scheme than http and https might be run by them. A letter
    /// alone is a drive.
    pub(super) fn uri(&mut self, pointer: &str, uri: &str) {
        if let Ok(parsed) = Url::parse(uri)
            && !matches!(parsed.scheme(), "http" | "https")
            && parsed.scheme().len() > 1
        {
            self.add(
                pointer,
                format!("has the scheme {}; write http or https, or a path without a scheme", parsed.scheme()),
            );
        }
    }

    pub(super) fn question(&mut self, pointer: &str, text: &str) {
        if text.trim().is_empty() {
            self.add(pointer, "must not be empty");
        } else if text.chars().count() > MAX_QUESTION || text.contains('\0') {
            self.add(pointer, format!("must hold at most {MAX_QUESTION} characters and no NUL"));
        }
    }

    /// A text to be checked, or a passage to check it against.
    pub(super) fn checked_text(&mut self, pointer: &str, text: &str) {
        if text.trim().is_empty() || text.chars().count() > MAX_CHECKED_TEXT || text.contains('\0') {
            self.add(
                pointer,
                format!("must hold 1 to {MAX_CHECKED_TEXT} characters that are not all space, and no NUL"),
            );
        }
    }

    /// A message of a conversation. It may be empty: some clients keep an answer that was none.
    pub(super) fn message(&mut self, pointer: &str, text: &str) {
        if text.chars().count() > MAX_MESSAGE || text.contains('\0') {
            self.add(pointer, format!("must hold at most {MAX_MESSAGE} characters and no NUL"));
        }
    }

    pub(super) fn range<T: Copy + PartialOrd + std::fmt::Display>(
        &mut self,
        pointer: &str,
        value: T,
        least: T,
        most: T,
    ) {
        if !(least <= value && value <= most) {
            self.add(pointer, format!("must lie between {least} and {most}"));
        }
    }

    pub(super) fn score(&mut self, pointer: &str, score: Option<f64>) {
        if score.is_some_and(|score| !score.is_finite()) {
            self.add(pointer, "must be a number");
        }
    }

    /// The metadata of a document; returns its size in bytes of JSON.
    pub(super) fn metadata(&mut self, pointer: &str, metadata: &Value) -> usize {
        if contains_nul(metadata) {
            self.add(pointer, "must not contain NUL characters");
        }
        let bytes = metadata.to_string().len();
        let sizes = [
            ("bytes of JSON", bytes, MAX_METADATA_BYTES),
            ("keys, those within others included", keys_in(metadata), MAX_METADATA_KEYS),
            ("levels", depth_of(metadata), MAX_METADATA_DEPTH),
        ];
        for (unit, size, most) in sizes {
            if size > most {
                self.add(pointer, format!("has {size} {unit}; the limit is {most}"));
            }
        }
        bytes
    }
}

/// Number of keys of all objects in a value.
fn keys_in(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(keys_in).sum(),
        Value::Object(members) => members.len() + members.values().map(keys_in).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Number of objects and lists that lie within each other.
fn depth_of(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth_of).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn contains_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(list) => list.iter().any(contains_nul),
        Value::Object(members) => members.iter().any(|(key, value)| key.contains('\0') || contains_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults_of(metadata: &Value) -> Vec<String> {
        let mut faults = Faults::default();
        faults.metadata("/metadata", metadata);
        faults.0.into_iter().map(|fault| fault.detail).collect()
    }

    #[test]
    fn a_uri_is_one_of_the_web_or_a_path() {
        let is_fine = |uri: &str| {
            let mut faults = Faults::default();
            faults.uri("/uri", uri);
            faults.finish().is_ok()
        };
        for uri in ["https://example.org/a", "HTTP://example.org", "wiki/a.md", "/etc/motd", "C:\\a.txt", "a b: c"] {
            assert!(is_fine(uri), "{uri}");
        }
        for uri in [
            "javascript:alert(1)",
            " JavaScript:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc",
        ] {
            assert!(!is_fine(uri), "{uri}");
        }
    }

    #[test]
    fn metadata_has_a_size_a_number_of_keys_and_a_depth() {
        let keys = |count: usize| Value::Object((0..count).map(|key| (key.to_string(), json!(1))).collect());
        let nested = |levels: usize| (1..levels).fold(json!({"a": 1}), |inner, _| json!({"a": inner}));
        // {"a":""} are eight bytes.
        let text = |bytes: usize| json!({"a": "x".repeat(bytes - 8)});
        for fits in [keys(256), json!({"in": keys(255)}), nested(16), text(65_536), json!({})] {
            assert_eq!(faults_of(&fits), Vec::<String>::new());
        }
        for (over, fault) in [
            (keys(257), "has 257 keys, those within others included; the limit is 256"),
            (json!({"list": [keys(128), keys(128)]}), "has 257 keys, those within others included; the limit is 256"),
            (nested(17), "has 17 levels; the limit is 16"),
            (json!({"a": [[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}), "has 17 levels; the limit is 16"),
            (text(65_537), "has 65537 bytes of JSON; the limit is 65536"),
        ] {
            assert_eq!(faults_of(&over), [fault]);
        }
    }
}
