//! Schemas of arguments and results, from the types of the API.

use rmcp::model::JsonObject;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Where the `OpenAPI` document keeps schemas that others refer to.
const IN_DOCUMENT: &str = "#/components/schemas/";
/// Where a JSON Schema keeps them.
const IN_SCHEMA: &str = "#/$defs/";

/// The JSON Schema (2020-12) of a type, with the schemas that it refers to inside.
pub(super) fn schema_of<T: ToSchema>() -> JsonObject {
    let mut referred = Vec::new();
    T::schemas(&mut referred);
    let mut schema = json!(T::schema());
    if !referred.is_empty() {
        let inside: JsonObject = referred.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
        if let Value::Object(members) = &mut schema {
            members.insert("$defs".to_owned(), Value::Object(inside));
        }
    }
    point_inside(&mut schema);
    match schema {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    }
}

/// Points references to the schemas inside.
fn point_inside(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref")
                && let Some(name) = reference.strip_prefix(IN_DOCUMENT)
            {
                *reference = format!("{IN_SCHEMA}{name}");
            }
            members.values_mut().for_each(point_inside);
        }
        Value::Array(items) => items.iter_mut().for_each(point_inside),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
