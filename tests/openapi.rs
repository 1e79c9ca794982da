//! The checked-in `OpenAPI` document is the one that the code makes.

use std::{collections::BTreeSet, fs, path::Path};

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
    let mut names = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let name = operation["operationId"].as_str().expect("a name");
            assert!(names.insert(name.to_owned()), "{name} stands twice");
            let responses = operation["responses"].as_object().expect("responses");
            assert!(responses.keys().any(|status| status.starts_with('2')), "{method} {path}");
            if path.starts_with("/v1/") {
                let mut statuses = vec!["401", "503"];
                if operation.get("requestBody").is_some() {
                    statuses.extend(["400", "413", "415", "422"]);
                }
                let missing: Vec<_> = statuses.iter().filter(|status| !responses.contains_key(**status)).collect();
                assert!(missing.is_empty(), "{method} {path} does not say when it ends with {missing:?}");
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

/// What a client must be told of where documents are asked.
const REQUIRED: [(&str, &str, &[&str]); 4] = [
    ("/v1/ask", "post", &["200", "400", "401", "404", "409", "413", "415", "422", "503", "504"]),
    ("/v1/search", "post", &["200", "400", "401", "404", "409", "413", "415", "422", "503"]),
    ("/v1/citations/{urn}", "get", &["200", "401", "404", "422"]),
    ("/v1/audit", "get", &["200", "401", "422"]),
];

#[test]
fn every_way_to_end_is_named() {
    let document = serde_json::to_value(cited::http::document()).expect("JSON");
    for (path, method, statuses) in REQUIRED {
        let responses = document["paths"][path][method]["responses"].as_object().expect(path);
        let missing: Vec<_> = statuses.iter().filter(|status| !responses.contains_key(**status)).collect();
        assert!(missing.is_empty(), "{method} {path} does not name {missing:?}");
    }
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let names = |status: &str| operation["responses"].get(status).is_some();
            if path.contains('{') {
                assert!(names("404"), "{method} {path} does not say what happens if there is no such thing");
            }
        }
    }
}

#[test]
fn every_end_of_an_ask_has_an_example() {
    let document = serde_json::to_value(cited::http::document()).expect("JSON");
    let responses = document["paths"]["/v1/ask"]["post"]["responses"].as_object().expect("responses");
    let answers = responses["200"]["content"]["application/json"]["examples"].as_object().expect("examples");
    let ends = |member: &str| -> BTreeSet<String> {
        answers.values().filter_map(|example| example["value"][member].as_str()).map(str::to_owned).collect()
    };
    let all = |schema: &str| -> BTreeSet<String> {
        let values = document["components"]["schemas"][schema]["enum"].as_array().expect(schema);
        values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    assert_eq!(ends("outcome"), all("Outcome"));
    assert_eq!(ends("reason"), all("AbstainReason"));
    let mut codes = BTreeSet::new();
    for (status, response) in responses.iter().filter(|(status, _)| !status.starts_with('2')) {
        let examples = response["content"]["application/problem+json"]["examples"].as_object().expect(status);
        for (name, example) in examples {
            let problem = &example["value"];
            assert_eq!(problem["status"].to_string(), *status, "{name}");
            let code = problem["code"].as_str().expect("a code");
            assert_eq!(problem["type"], format!("urn:cited:problem:{code}"), "{name}");
            codes.insert(code.to_owned());
            // What a kind adds is no part of the schema of all problems.
            for (member, schema) in [("usage", "UsageBody"), ("validation", "ValidationBody")] {
                let schema = &document["components"]["schemas"][schema];
                let wrong = problem.get(member).map(|value| misfits(&document, schema, value, member));
                assert_eq!(wrong.unwrap_or_default(), Vec::<String>::new(), "{name}");
            }
            for source in problem["sources"].as_array().into_iter().flatten() {
                let schema = &document["components"]["schemas"]["SourceBody"];
                assert_eq!(misfits(&document, schema, source, "sources"), Vec::<String>::new(), "{name}");
            }
        }
    }
    let unsupported =
        &responses["422"]["content"]["application/problem+json"]["examples"]["unsupported_claim"]["value"];
    assert!(unsupported["validation"]["errors"][0]["support"].is_number(), "{unsupported}");
    let expected = [
        "audit_unavailable",
        "body_too_large",
        "budget_exceeded",
        "citation_validation",
        "database_unavailable",
        "deadline",
        "embedding_profile_mismatch",
        "headers_too_large",
        "invalid_request",
        "not_found",
        "providers_unavailable",
        "unauthorized",
        "unreadable_body",
        "unsupported_media_type",
    ];
    assert_eq!(codes, expected.map(str::to_owned).into());
}

#[test]
fn streams_in_examples_are_whole() {
    let document = serde_json::to_value(cited::http::document()).expect("JSON");
    let media = &document["paths"]["/v1/ask"]["post"]["responses"]["200"]["content"]["text/event-stream"];
    let mut seen = BTreeSet::new();
    for (name, example) in media["examples"].as_object().expect("examples") {
        let text = example["value"].as_str().expect("text");
        let frames: Vec<(&str, Value)> = text
            .split_terminator("\n\n")
            .map(|frame| {
                let (event, data) = frame.split_once('\n').expect("two lines");
                let data = data.strip_prefix("data: ").expect("data");
                (event.strip_prefix("event: ").expect("a name"), serde_json::from_str(data).expect("JSON"))
            })
            .collect();
        let (last, before) = frames.split_last().expect("frames");
        assert_eq!(last.0, name, "the end");
        assert!(before.iter().all(|(event, _)| !matches!(*event, "answer" | "error")), "{name}");
        for (event, data) in &frames {
            let schema = match *event {
                "answer" => Some(("AnswerBody", data)),
                "error" => Some(("Problem", data)),
                "claim" => Some(("CitationBody", &data["citations"][0])),
                "retry" => Some(("FindingBody", &data["errors"][0])),
                "sources" => Some(("SourceBody", &data["sources"][0])),
                _ => None,
            };
            if let Some((schema, value)) = schema {
                let schema = &document["components"]["schemas"][schema];
                assert_eq!(misfits(&document, schema, value, event), Vec::<String>::new(), "{name}");
            }
            seen.insert((*event).to_owned());
        }
    }
    let events = ["answer", "claim", "error", "retry", "sources", "token"];
    assert_eq!(seen, events.map(str::to_owned).into(), "every event is shown");
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
