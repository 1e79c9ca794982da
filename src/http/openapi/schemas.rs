//! Additions to the derived schemas that client generators need.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use utoipa::openapi::{
    Components, Discriminator, OpenApi, Ref, RefOr, Schema,
    schema::{Object, SchemaType, Type},
};

use super::operations;

/// Completes the schemas of the document.
///
/// - Responses: a member that is null when it has no value is always present. (A member that is left out instead is
///   declared with `nullable = false`.)
/// - Requests: the default of a member is described in words. Generators that read `default` require the member in
///   every request, or send the default with each request, which freezes the service's default.
/// - A member that may be null is described itself, not only the schema that it refers to.
/// - Events: each has a schema of its own, which its name tells from the others of its stream.
pub(super) fn complete(document: &mut OpenApi) {
    let requests = schemas_of_requests(document);
    let Some(Components { schemas, .. }) = &mut document.components else { return };
    for (name, schema) in &mut *schemas {
        each_object(schema, &mut describe_nullable);
        if requests.contains(name) {
            each_object(schema, &mut describe_defaults);
        } else {
            each_object(schema, &mut require_nullable);
        }
    }
    name_events(schemas);
}

/// Moves the alternatives of each union of events to schemas of their own: of `AskEvent` the one whose `event` is
/// `token` to `AskTokenEvent`.
fn name_events(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    let mut named = Vec::new();
    for (union, schema) in schemas.iter_mut() {
        let (Some(stem), RefOr::T(Schema::OneOf(one_of))) = (union.strip_suffix("Event"), schema) else { continue };
        let mut mapping = BTreeMap::new();
        for alternative in &mut one_of.items {
            let Some(event) = event_of(alternative) else { continue };
            let name = format!(
                "{stem}{}{}Event",
                event.get(..1).unwrap_or_default().to_uppercase(),
                event.get(1..).unwrap_or_default()
            );
            let reference = Ref::from_schema_name(&name);
            mapping.insert(event, reference.ref_location.clone());
            named.push((name, std::mem::replace(alternative, RefOr::Ref(reference))));
        }
        one_of.discriminator = Some(Discriminator::with_mapping("event", mapping));
    }
    schemas.extend(named);
}

/// The name of the event that a schema describes.
fn event_of(schema: &RefOr<Schema>) -> Option<String> {
    let RefOr::T(Schema::Object(object)) = schema else { return None };
    let RefOr::T(Schema::Object(event)) = object.properties.get("event")? else { return None };
    Some(event.enum_values.as_ref()?.first()?.as_str()?.to_owned())
}

/// Names of the schemas that request bodies consist of.
fn schemas_of_requests(document: &mut OpenApi) -> BTreeSet<String> {
    let bodies: Vec<Value> =
        operations(document).filter_map(|operation| serde_json::to_value(&operation.request_body).ok()).collect();
    let schemas = document.components.as_ref().map(|components| serde_json::to_value(&components.schemas));
    let schemas = schemas.and_then(Result::ok).unwrap_or_default();
    let mut found = BTreeSet::new();
    let mut unread: Vec<&Value> = bodies.iter().collect();
    while let Some(value) = unread.pop() {
        match value {
            Value::Object(members) => {
                if let Some(name) = members.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next())
                    && found.insert(name.to_owned())
                {
                    unread.extend(schemas.get(name));
                }
                unread.extend(members.values());
            }
            Value::Array(items) => unread.extend(items),
            _ => {}
        }
    }
    found
}

/// Visits the objects that a schema consists of, but not those that are members of other objects.
fn each_object(schema: &mut RefOr<Schema>, visit: &mut impl FnMut(&mut Object)) {
    let RefOr::T(schema) = schema else { return };
    let parts = match schema {
        Schema::Object(object) => return visit(object),
        Schema::OneOf(one_of) => &mut one_of.items,
        Schema::AllOf(all_of) => &mut all_of.items,
        Schema::AnyOf(any_of) => &mut any_of.items,
        _ => return,
    };
    for part in parts {
        each_object(part, visit);
    }
}

/// Moves the description of a member from its reference to the member: beside `null` the reference is one alternative.
fn describe_nullable(object: &mut Object) {
    for schema in object.properties.values_mut() {
        let RefOr::T(Schema::OneOf(one_of)) = schema else { continue };
        let mut references = one_of.items.iter_mut().filter_map(|item| match item {
            RefOr::Ref(reference) if !reference.description.is_empty() => Some(&mut reference.description),
            _ => None,
        });
        if let (None, Some(description)) = (&one_of.description, references.next()) {
            one_of.description = Some(std::mem::take(description));
        }
    }
}

fn require_nullable(object: &mut Object) {
    let nullable = object.properties.iter().filter(|(_, schema)| is_nullable(schema)).map(|(name, _)| name.clone());
    let missing: Vec<String> = nullable.filter(|name| !object.required.contains(name)).collect();
    object.required.extend(missing);
}

fn is_nullable(schema: &RefOr<Schema>) -> bool {
    match schema {
        RefOr::T(Schema::Object(object)) => may_be_null(&object.schema_type),
        RefOr::T(Schema::Array(array)) => may_be_null(&array.schema_type),
        RefOr::T(Schema::OneOf(one_of)) => one_of.items.iter().any(is_nullable),
        _ => false,
    }
}

fn may_be_null(schema_type: &SchemaType) -> bool {
    match schema_type {
        SchemaType::Type(of) => *of == Type::Null,
        SchemaType::Array(any_of) => any_of.contains(&Type::Null),
        SchemaType::AnyValue => false,
    }
}

fn describe_defaults(object: &mut Object) {
    for schema in object.properties.values_mut() {
        match schema {
            RefOr::Ref(reference) => {
                let default = reference.default.take();
                reference.description = described(std::mem::take(&mut reference.description), default);
            }
            RefOr::T(Schema::Object(object)) => {
                let default = object.default.take();
                object.description = some(described(object.description.take().unwrap_or_default(), default));
            }
            RefOr::T(Schema::Array(array)) => {
                let default = array.default.take();
                array.description = some(described(array.description.take().unwrap_or_default(), default));
            }
            RefOr::T(Schema::OneOf(one_of)) => {
                let default = one_of.default.take();
                one_of.description = some(described(one_of.description.take().unwrap_or_default(), default));
            }
            RefOr::T(_) => {}
        }
    }
}

/// A description with the default appended, unless the default is empty.
fn described(description: String, default: Option<Value>) -> String {
    let Some(default) = default.filter(|default| !default.is_null()) else { return description };
    format!("{description}\n\nIf left out: `{default}`.").trim_start().to_owned()
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
