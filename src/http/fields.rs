//! Checks of request values. All faults of a request are collected before it is refused.

use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;
use utoipa::ToSchema;
use uuid::Uuid;

use super::problem::{ApiError, FieldError};
use crate::domain::filter::{Bound, Condition, Filter, Test};

/// Longest collection name, in characters.
const MAX_NAME: usize = 128;
/// Longest source and URL, in bytes: an index holds them, and its entries end at 2.7 kB.
const MAX_SOURCE_BYTES: usize = 2_048;
/// Longest URI, title and query, in characters.
const MAX_SHORT_TEXT: usize = 2_048;
/// Longest question or search query, in characters.
const MAX_QUESTION: usize = 8_192;
/// Most collections of one request.
const MAX_COLLECTIONS: usize = 32;
/// Most conditions of a filter.
const MAX_CONDITIONS: usize = 32;
/// Most alternatives of a condition.
const MAX_ALTERNATIVES: usize = 256;

/// Faults found so far.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<FieldError>);

impl Faults {
    pub(super) fn add(&mut self, pointer: impl Into<String>, detail: impl Into<String>) {
        self.0.push(FieldError { pointer: pointer.into(), detail: detail.into() });
    }

    /// Refuses the request if there is a fault.
    pub(super) fn finish(self) -> Result<(), ApiError> {
        if self.0.is_empty() { Ok(()) } else { Err(ApiError::invalid(&self.0)) }
    }

    pub(super) fn collection_name(&mut self, pointer: &str, name: &str) {
        let length = name.chars().count();
        if name.trim() != name || name.is_empty() || length > MAX_NAME || name.chars().any(char::is_control) {
            self.add(
                pointer,
                format!(
                    "a collection name has 1 to {MAX_NAME} characters, no control characters, and no space at its ends"
                ),
            );
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

    /// Where a document is to be fetched. Which hosts may be asked is decided where they are asked.
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

    pub(super) fn question(&mut self, pointer: &str, text: &str) {
        if text.trim().is_empty() {
            self.add(pointer, "must not be empty");
        } else if text.chars().count() > MAX_QUESTION || text.contains('\0') {
            self.add(pointer, format!("must hold at most {MAX_QUESTION} characters and no NUL"));
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

    pub(super) fn metadata(&mut self, pointer: &str, metadata: &Value) {
        if contains_nul(metadata) {
            self.add(pointer, "must not contain NUL characters");
        }
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

/// Which chunks may be found. All parts must hold; the empty filter lets everything through.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({"metadata": {"team": "people", "year": {"gte": 2024}}, "source_prefix": "hr/"}))]
pub(super) struct FilterBody {
    /// Per metadata key: a value (equal), or one of `{"in": […]}`, `{"exists": true}`, or bounds
    /// `{"gt", "gte", "lt", "lte"}`. A condition on an array holds if it holds for one element.
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
    /// How the document's `source` starts.
    #[schema(min_length = 1, max_length = 2048, pattern = r"\S")]
    source_prefix: Option<String>,
    /// Documents, any of them.
    document_ids: Vec<Uuid>,
    /// Pages from 1, any of them.
    pages: Vec<i32>,
}

impl FilterBody {
    /// The filter; what is wrong with it goes to `faults` under `pointer`.
    pub(super) fn read(self, pointer: &str, faults: &mut Faults) -> Filter {
        if self.metadata.len() > MAX_CONDITIONS {
            faults.add(format!("{pointer}/metadata"), format!("at most {MAX_CONDITIONS} conditions"));
        }
        let metadata = self
            .metadata
            .into_iter()
            .filter_map(|(key, value)| {
                let place = format!("{pointer}/metadata/{}", key.replace('~', "~0").replace('/', "~1"));
                if key.contains('\0') {
                    faults.add(place, "must not contain NUL characters");
                    return None;
                }
                match read_test(value) {
                    Ok(test) => Some(Condition { key, test }),
                    Err(detail) => {
                        faults.add(place, detail);
                        None
                    }
                }
            })
            .collect();
        if let Some(prefix) = &self.source_prefix {
            faults.short_text(&format!("{pointer}/source_prefix"), prefix);
        }
        Filter { metadata, source_prefix: self.source_prefix, document_ids: self.document_ids, pages: self.pages }
    }
}

fn read_test(value: Value) -> Result<Test, String> {
    const FORMS: &str =
        "give a value, or {\"in\": […]}, {\"exists\": true|false}, or bounds {\"gt\", \"gte\", \"lt\", \"lte\"}";
    let members = match value {
        Value::Object(members) => members,
        Value::Array(_) => return Err(format!("a list is written {{\"in\": […]}}; {FORMS}")),
        scalar => return Ok(Test::AnyOf(vec![checked_scalar(scalar)?])),
    };
    match (members.len(), members.get("in"), members.get("exists")) {
        (1, Some(Value::Array(list)), None) if list.len() <= MAX_ALTERNATIVES => {
            Ok(Test::AnyOf(list.iter().cloned().map(checked_scalar).collect::<Result<_, _>>()?))
        }
        (1, None, Some(Value::Bool(exists))) => Ok(Test::Exists(*exists)),
        (1.., None, None) => {
            members.into_iter().map(|(name, limit)| read_bound(&name, limit)).collect::<Result<_, _>>().map(Test::Range)
        }
        _ => Err(format!("{FORMS}; \"in\" takes at most {MAX_ALTERNATIVES} values")),
    }
}

fn read_bound(name: &str, limit: Value) -> Result<(Bound, Value), String> {
    let bound = match name {
        "gt" => Bound::Gt,
        "gte" => Bound::Gte,
        "lt" => Bound::Lt,
        "lte" => Bound::Lte,
        other => return Err(format!("{other:?} is not a condition; use in, exists, gt, gte, lt or lte")),
    };
    match limit {
        Value::Number(_) | Value::String(_) => Ok((bound, checked_scalar(limit)?)),
        _ => Err(format!("the limit {name:?} must be a number or a text")),
    }
}

fn checked_scalar(value: Value) -> Result<Value, String> {
    match value {
        Value::Array(_) | Value::Object(_) => {
            Err("values of a filter are texts, numbers, true, false or null".to_owned())
        }
        Value::String(text) if text.contains('\0') => Err("must not contain NUL characters".to_owned()),
        scalar => Ok(scalar),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: Value) -> Result<Filter, usize> {
        let mut faults = Faults::default();
        let filter = serde_json::from_value::<FilterBody>(body).expect("well-formed").read("/filter", &mut faults);
        if faults.0.is_empty() { Ok(filter) } else { Err(faults.0.len()) }
    }

    #[test]
    fn every_form_is_read() {
        let filter = read(
            json!({"metadata": {"a": 1, "b": {"in": ["x", "y"]}, "c": {"exists": false}, "d": {"gte": 1, "lt": 9}}}),
        );
        let path = filter.expect("valid").metadata_path().expect("conditions");
        for part in [r#"$."a" == 1"#, r#"$."b" == "x" || $."b" == "y""#, r#"!exists($."c")"#, "@ >= 1 && @ < 9"] {
            assert!(path.contains(part), "{part} in {path}");
        }
    }

    #[test]
    fn wrong_forms_are_named() {
        let wrong = json!({"metadata": {"a": [1], "b": {"in": 3}, "c": {"exists": 1}, "d": {"above": 1}, "e": {}}});
        assert_eq!(read(wrong), Err(5));
    }
}
