//! Filters of searches and asks.

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{fields::Faults, schema::ShortText};
use crate::domain::filter::{Bound, Condition, Filter, Test};

/// Largest number of conditions in a filter.
const MAX_CONDITIONS: usize = 32;
/// Largest number of alternatives in a condition.
const MAX_ALTERNATIVES: usize = 256;

/// Limits which chunks may be found. All parts must hold; the empty filter lets everything through.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = SearchFilter, example = json!({"metadata": {"team": "people", "year": {"gte": 2024}}, "source_prefix": "hr/"}))]
pub(super) struct FilterBody {
    /// Conditions per metadata key: a value (equality), or one of `{"in": […]}`, `{"exists": true}`, or bounds
    /// `{"gt", "gte", "lt", "lte"}`. A condition on an array holds if it holds for at least one element.
    metadata: Map<String, Value>,
    /// Start of the document's `source`.
    #[schema(value_type = Option<ShortText>)]
    source_prefix: Option<String>,
    /// Ids of documents; a chunk of any of them passes. Left out, those of all do.
    #[schema(min_items = 1, nullable = false)]
    document_ids: Option<Vec<Uuid>>,
    /// Page numbers, from 1; a chunk on any of them passes. Left out, those of all do.
    #[schema(value_type = Option<Vec<PageNumber>>, min_items = 1, nullable = false)]
    pages: Option<Vec<i32>>,
}

/// Number of a page, from 1.
#[derive(ToSchema)]
#[schema(minimum = 1)]
#[expect(dead_code, reason = "it describes the numbers in the OpenAPI document")]
pub(super) struct PageNumber(i32);

impl FilterBody {
    /// Reads the filter; faults are added to `faults` under `pointer`.
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
        for (index, _) in self.pages.iter().flatten().enumerate().filter(|(_, page)| **page < 1) {
            faults.add(format!("{pointer}/pages/{index}"), "pages are numbered from 1");
        }
        Filter {
            metadata,
            source_prefix: self.source_prefix,
            document_ids: listed(&format!("{pointer}/document_ids"), self.document_ids, faults),
            pages: listed(&format!("{pointer}/pages"), self.pages, faults),
            caller: None,
        }
    }
}

/// The values of which one must apply. An empty list is a fault: it could mean that nothing passes, or that everything does.
fn listed<T>(pointer: &str, values: Option<Vec<T>>, faults: &mut Faults) -> Vec<T> {
    let Some(values) = values else { return Vec::new() };
    if values.is_empty() {
        faults.add(pointer, "must not be empty; leave it out to let everything through");
    }
    values
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
        match faults.finish() {
            Ok(()) => Ok(filter),
            Err(error) => Err(error.into_problem(None, None).errors.len()),
        }
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
    fn lists_of_nothing_and_pages_that_are_none_are_faults() {
        assert_eq!(read(json!({"document_ids": [], "pages": []})), Err(2));
        assert_eq!(read(json!({"pages": [1, 0, -3]})), Err(2));
        assert_eq!(read(json!({"document_ids": null, "pages": [7]})).expect("valid").pages, [7]);
    }

    #[test]
    fn wrong_forms_are_named() {
        let wrong = json!({"metadata": {"a": [1], "b": {"in": 3}, "c": {"exists": 1}, "d": {"above": 1}, "e": {}}});
        assert_eq!(read(wrong), Err(5));
    }
}
