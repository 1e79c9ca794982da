//! The checked-in `OpenAPI` document is the one that the code makes.

use std::{fs, path::Path};

use serde_json::Value;

#[test]
fn the_document_has_not_drifted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi/openapi.json");
    let checked_in = fs::read_to_string(&path).unwrap_or_default();
    let made = cited::http::document().to_pretty_json().expect("JSON");
    assert!(checked_in.trim_end() == made, "openapi/openapi.json is out of date; run: make openapi");
}

#[test]
fn every_operation_has_a_name_and_says_how_it_fails() {
    let document = serde_json::to_value(cited::http::document()).expect("JSON");
    let mut names = std::collections::BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let name = operation["operationId"].as_str().expect("a name");
            assert!(names.insert(name.to_owned()), "{name} stands twice");
            let responses = operation["responses"].as_object().expect("responses");
            assert!(responses.keys().any(|status| status.starts_with('2')), "{method} {path}");
            if path.starts_with("/v1/") {
                assert!(responses.contains_key("401"), "{method} {path} does not say what happens without a key");
            }
            for (status, response) in responses.iter().filter(|(status, _)| !status.starts_with('2')) {
                assert!(
                    response["content"]["application/problem+json"].is_object(),
                    "{method} {path} {status} is no problem document"
                );
            }
        }
    }
}

#[test]
fn examples_of_an_ask_have_the_members_that_answers_have() {
    let document = serde_json::to_value(cited::http::document()).expect("JSON");
    let answer = &document["components"]["schemas"]["AnswerBody"];
    let (required, known) =
        (answer["required"].as_array().expect("required"), answer["properties"].as_object().expect("members"));
    let responses = document["paths"]["/v1/ask"]["post"]["responses"].as_object().expect("responses");
    let mut outcomes = Vec::new();
    for example in responses["200"]["content"]["application/json"]["examples"].as_object().expect("examples").values() {
        let value = example["value"].as_object().expect("an object");
        for name in required {
            assert!(value.contains_key(name.as_str().expect("a name")), "{name} is missing in {value:?}");
        }
        assert!(value.keys().all(|name| known.contains_key(name)), "{value:?}");
        outcomes.push(value["outcome"].as_str().expect("an outcome").to_owned());
    }
    outcomes.sort();
    assert_eq!(outcomes, ["abstained", "answered", "dry_run", "partial"]);
    for status in ["413", "422", "503", "504"] {
        let examples =
            responses[status]["content"]["application/problem+json"]["examples"].as_object().expect("examples");
        for (name, example) in examples {
            let problem = &example["value"];
            assert_eq!(problem["status"].to_string(), status, "{name}");
            let code = problem["code"].as_str().expect("a code");
            assert_eq!(problem["type"], format!("urn:cited:problem:{code}"), "{name}");
        }
    }
}

/// What of `value` its schema does not know or misses. Of alternatives the one that fits best counts.
fn misfits(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let path = name.trim_start_matches('#');
        return misfits(document, document.pointer(path).expect(name), value, at);
    }
    for alternatives in ["oneOf", "anyOf"] {
        if let Some(alternatives) = schema[alternatives].as_array() {
            let each = alternatives.iter().map(|schema| misfits(document, schema, value, at));
            return each.min_by_key(Vec::len).unwrap_or_default();
        }
    }
    match value {
        Value::Object(members) => {
            let (Some(known), required) = (schema["properties"].as_object(), schema["required"].as_array()) else {
                return Vec::new();
            };
            let missing = required.into_iter().flatten().filter_map(Value::as_str);
            let missing =
                missing.filter(|name| !members.contains_key(*name)).map(|name| format!("{at}/{name} is missing"));
            let inside = members.iter().flat_map(|(name, value)| match known.get(name) {
                Some(schema) => misfits(document, schema, value, &format!("{at}/{name}")),
                None if schema["additionalProperties"].is_null() => vec![format!("{at}/{name} is unknown")],
                None => Vec::new(),
            });
            missing.chain(inside).collect()
        }
        Value::Array(items) => {
            items.iter().flat_map(|item| misfits(document, &schema["items"], item, &format!("{at}/-"))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[test]
fn every_example_has_the_members_of_its_schema() {
    let document = serde_json::to_value(cited::http::document()).expect("JSON");
    let (mut checked, mut wrong) = (0, Vec::new());
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let responses = operation["responses"].as_object().expect("responses").values();
            for content in responses.chain([&operation["requestBody"]]).filter_map(|body| body["content"].as_object()) {
                for media in content.values() {
                    let named = media["examples"].as_object().into_iter().flat_map(|examples| examples.values());
                    let examples = named.map(|example| &example["value"]).chain(media.get("example"));
                    for example in examples.filter(|example| example.is_object()) {
                        checked += 1;
                        wrong.extend(misfits(&document, &media["schema"], example, &format!("{method} {path}: ")));
                    }
                }
            }
        }
    }
    for (name, schema) in document["components"]["schemas"].as_object().expect("schemas") {
        if let Some(example) = schema.get("example") {
            checked += 1;
            wrong.extend(misfits(&document, schema, example, &format!("{name}: ")));
        }
    }
    assert!(checked >= 20, "{checked} examples");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
