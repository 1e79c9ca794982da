//! The checked-in `OpenAPI` document is the one that the code makes.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

#[test]
fn the_document_has_not_drifted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi/openapi.json");
    let checked_in = fs::read_to_string(&path).unwrap_or_default();
    let made = cited::openapi_document().to_pretty_json().expect("JSON");
    assert!(checked_in.trim_end() == made, "openapi/openapi.json is out of date; run: make openapi");
}

#[test]
fn the_sdks_have_not_drifted() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path);
    let hash = Sha256::digest(read("openapi/openapi.json").as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(read("sdk/openapi.sha256").trim() == hash, "the SDKs are older than openapi/openapi.json; run: make sdk");
    for manifest in ["sdk/python/pyproject.toml", "sdk/typescript/package.json"] {
        let version = format!(
            "version{}\"{}\"",
            if manifest.ends_with("json") { "\": " } else { " = " },
            env!("CARGO_PKG_VERSION")
        );
        assert!(read(manifest).contains(&version), "{manifest} has another version than the service");
    }
}

#[test]
fn every_operation_has_a_name_and_says_how_it_fails() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
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
            let is_openai = operation["tags"] == json!(["openai"]);
            for (status, response) in responses.iter().filter(|(status, _)| !status.starts_with('2')) {
                let content = &response["content"];
                let is_problem = if is_openai {
                    content["application/json"]["schema"]["$ref"] == "#/components/schemas/OpenAiProblem"
                } else {
                    content["application/problem+json"].is_object()
                };
                let is_reply =
                    path == "/mcp" && content["application/json"]["schema"]["$ref"] == "#/components/schemas/McpReply";
                assert!(is_problem || is_reply, "{method} {path} {status} is no problem document");
            }
        }
    }
}

/// Statuses that the operations on documents must list.
const REQUIRED: [(&str, &str, &[&str]); 5] = [
    ("/v1/ask", "post", &["200", "400", "401", "404", "409", "413", "415", "422", "503", "504"]),
    ("/v1/ask/stream", "post", &["200", "400", "401", "404", "409", "413", "415", "422", "503", "504"]),
    ("/v1/search", "post", &["200", "400", "401", "404", "409", "413", "415", "422", "503"]),
    ("/v1/citations/{urn}", "get", &["200", "401", "404", "422"]),
    ("/v1/audit", "get", &["200", "401", "422"]),
];

#[test]
fn every_way_to_end_is_named() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
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
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
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
        "cross_origin",
        "database_unavailable",
        "deadline",
        "embedding_profile_mismatch",
        "headers_too_large",
        "host_not_allowed",
        "invalid_request",
        "not_found",
        "providers_unavailable",
        "rate_limited",
        "unauthorized",
        "unreadable_body",
        "unsupported_media_type",
    ];
    assert_eq!(codes, expected.map(str::to_owned).into());
}

#[test]
fn streams_in_examples_are_whole() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    let media = &document["paths"]["/v1/ask/stream"]["post"]["responses"]["200"]["content"]["text/event-stream"];
    let mut seen = BTreeSet::new();
    for (name, example) in media["examples"].as_object().expect("examples") {
        let events = example["value"].as_array().expect("events");
        let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().expect("a name")).collect();
        let (last, before) = names.split_last().expect("events");
        assert_eq!(last, name, "the end");
        assert!(before.iter().all(|event| !matches!(*event, "answer" | "error")), "{name}");
        assert_eq!(misfits(&document, &media["schema"], &example["value"], name), Vec::<String>::new());
        seen.extend(names.into_iter().map(str::to_owned));
    }
    let events = ["answer", "claim", "error", "retry", "sources", "token"];
    assert_eq!(seen, events.map(str::to_owned).into(), "every event is shown");
}

/// How `value` differs from its schema: in members, types, names of enums. Of alternatives the one that fits best counts.
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
    if let Some(parts) = schema["allOf"].as_array() {
        let (mut properties, mut required, mut is_open) = (Map::new(), Vec::new(), false);
        for part in parts {
            let path = part["$ref"].as_str().map(|path| path.trim_start_matches('#'));
            let part = path.map_or(part, |path| document.pointer(path).expect(path));
            properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
            required.extend(part["required"].as_array().cloned().unwrap_or_default());
            is_open |= part["additionalProperties"].is_object();
        }
        let whole = json!({"properties": properties, "required": required, "additionalProperties": is_open});
        return misfits(document, &whole, value, at);
    }
    if !has_type(&schema["type"], value) {
        return vec![format!("{at} is no {}", schema["type"])];
    }
    if schema["enum"].as_array().is_some_and(|names| !names.contains(value)) {
        return vec![format!("{at} is none of {}", schema["enum"])];
    }
    match value {
        Value::Object(members) => {
            let (Some(known), required) = (schema["properties"].as_object(), schema["required"].as_array()) else {
                return Vec::new();
            };
            let missing = required.into_iter().flatten().filter_map(Value::as_str);
            let missing =
                missing.filter(|name| !members.contains_key(*name)).map(|name| format!("{at}/{name} is missing"));
            let is_open = schema["additionalProperties"].is_object() || schema["additionalProperties"] == true;
            let inside = members.iter().flat_map(|(name, value)| match known.get(name) {
                Some(schema) => misfits(document, schema, value, &format!("{at}/{name}")),
                None if is_open => Vec::new(),
                None => vec![format!("{at}/{name} is unknown")],
            });
            missing.chain(inside).collect()
        }
        Value::Array(items) => {
            items.iter().flat_map(|item| misfits(document, &schema["items"], item, &format!("{at}/-"))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Whether a value has one of the types that a schema names, if it names any.
fn has_type(types: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().expect("a name of a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type of JSON"),
    };
    match types {
        Value::Null => true,
        Value::Array(any_of) => any_of.iter().any(is),
        one => is(one),
    }
}

#[test]
fn every_example_has_the_members_of_its_schema() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    let (mut checked, mut wrong) = (0, Vec::new());
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let responses = operation["responses"].as_object().expect("responses").values();
            for content in responses.chain([&operation["requestBody"]]).filter_map(|body| body["content"].as_object()) {
                for media in content.values() {
                    let named = media["examples"].as_object().into_iter().flat_map(|examples| examples.values());
                    let examples = named.map(|example| &example["value"]).chain(media.get("example"));
                    for example in examples {
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

/// Members of the objects that a schema is made of, with the schema of each and whether it is required.
fn members(schema: &Value) -> Vec<(String, &Value, bool)> {
    let parts = ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|name| schema[name].as_array()).flatten();
    let own = schema["properties"].as_object().into_iter().flatten().map(|(name, member)| {
        let is_required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        (name.clone(), member, is_required)
    });
    own.chain(parts.flat_map(members)).collect()
}

fn may_be_null(schema: &Value) -> bool {
    let any_of = ["oneOf", "anyOf"].into_iter().filter_map(|name| schema[name].as_array()).flatten();
    schema["type"] == "null"
        || schema["type"].as_array().is_some_and(|types| types.contains(&json!("null")))
        || any_of.into_iter().any(may_be_null)
}

/// Names of the schemas that a value refers to, and of those that they refer to.
fn referred(document: &Value, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(inside) => {
            let name = inside.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
            if let Some(name) = name.filter(|name| found.insert((*name).to_owned())) {
                let schema = document.pointer(&format!("/components/schemas/{name}")).expect(name);
                referred(document, schema, found);
            }
            inside.values().for_each(|value| referred(document, value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| referred(document, item, found)),
        _ => {}
    }
}

/// Names of the schemas of requests, and of those of answers.
fn sides(document: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut requests, mut answers) = (BTreeSet::new(), BTreeSet::new());
    for operation in document["paths"].as_object().expect("paths").values().filter_map(Value::as_object).flatten() {
        referred(document, &operation.1["requestBody"], &mut requests);
        referred(document, &operation.1["responses"], &mut answers);
    }
    (requests, answers)
}

#[test]
fn generators_of_clients_can_read_it() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let (requests, answers) = sides(&document);
    let mut faults = Vec::new();
    for (name, schema) in schemas {
        if name.ends_with("Body") {
            faults.push(format!("{name} is named as in the code"));
        }
        for (member, schema, is_required) in members(schema) {
            if schema["type"] == "object"
                && schema.get("properties").is_none()
                && schema.get("additionalProperties").is_none()
            {
                faults.push(format!("{name}/{member} is an object that may hold nothing"));
            }
            if requests.contains(name) && schema.get("default").is_some() {
                faults.push(format!("{name}/{member} has a default, which generators demand or send"));
            }
            if !requests.contains(name) && !is_required && may_be_null(schema) {
                faults.push(format!("{name}/{member} may be null or left out; say which"));
            }
        }
    }
    faults.extend(
        schemas
            .keys()
            .filter(|name| !requests.contains(*name) && !answers.contains(*name))
            .map(|name| format!("{name} is not used")),
    );
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(document["servers"].as_array().is_some_and(|servers| !servers.is_empty()));
}

/// Places of objects with members and of unions that have no name, within a schema that is a member or a body.
fn nameless(schema: &Value, at: &str, found: &mut Vec<String>) {
    let alternatives = ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|name| schema[name].as_array());
    let not_null: Vec<&Value> = alternatives.flatten().filter(|alternative| alternative["type"] != "null").collect();
    if schema.get("properties").is_some() || not_null.len() > 1 {
        found.push(format!("{at} has no name: generators invent one"));
    }
    for part in ["items", "additionalProperties"] {
        if let Some(schema) = schema.get(part) {
            nameless(schema, &format!("{at}/{part}"), found);
        }
    }
}

#[test]
fn every_object_has_a_name() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    let mut found = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().expect("schemas") {
        for (member, schema, _) in members(schema) {
            nameless(schema, &format!("{name}/{member}"), &mut found);
        }
    }
    for operation in document["paths"].as_object().expect("paths").values().filter_map(Value::as_object).flatten() {
        let name = operation.1["operationId"].as_str().expect("a name");
        let responses = operation.1["responses"].as_object().expect("responses");
        let responses = responses.iter().map(|(status, response)| (status.as_str(), response));
        for (which, body) in responses.chain([("request", &operation.1["requestBody"])]) {
            for media in body["content"].as_object().into_iter().flat_map(Map::values) {
                nameless(&media["schema"], &format!("{name} {which}"), &mut found);
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn wrong_citations_have_a_schema_of_their_own() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    for path in ["/v1/ask", "/v1/ask/stream"] {
        let end = &document["paths"][path]["post"]["responses"]["422"]["content"]["application/problem+json"];
        assert_eq!(end["schema"]["$ref"], "#/components/schemas/AskFailure", "{path}");
    }
    let schemas = &document["components"]["schemas"];
    let kinds = json!([{"$ref": "#/components/schemas/CitationValidationProblem"}, {"$ref": "#/components/schemas/AskProblem"}]);
    assert_eq!(schemas["AskFailure"]["oneOf"], kinds);
    let required = schemas["RejectedAnswer"]["required"].as_array().expect("members");
    assert!(required.contains(&json!("validation")) && required.contains(&json!("sources")), "{required:?}");
}

#[test]
fn every_operation_member_and_parameter_is_described() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    let described = |value: &Value| value["description"].as_str().is_some_and(|text| !text.trim().is_empty());
    let tags: BTreeSet<&str> =
        document["tags"].as_array().expect("tags").iter().filter_map(|tag| tag["name"].as_str()).collect();
    let mut missing = Vec::new();
    for operation in document["paths"].as_object().expect("paths").values().filter_map(Value::as_object).flatten() {
        let (name, operation) = (operation.1["operationId"].as_str().expect("a name"), operation.1);
        if !operation["summary"].is_string() {
            missing.push(format!("{name}: summary"));
        }
        let own = operation["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
        missing.extend(own.filter(|tag| !tags.contains(tag)).map(|tag| format!("{name}: the tag {tag}")));
        for parameter in operation["parameters"].as_array().into_iter().flatten().filter(|one| !described(one)) {
            missing.push(format!("{name}: parameter {}", parameter["name"]));
        }
    }
    // The names of other APIs are described there.
    let foreign = ["openai", "mcp"].map(|tag| json!([tag]));
    let mut own = BTreeSet::new();
    for operation in document["paths"].as_object().expect("paths").values().filter_map(Value::as_object).flatten() {
        if !foreign.contains(&operation.1["tags"]) {
            referred(&document, operation.1, &mut own);
        }
    }
    for name in own {
        let schema = &document["components"]["schemas"][&name];
        for (member, schema, _) in members(schema) {
            if schema.get("$ref").is_none() && !described(schema) && schema.get("enum").is_none() {
                missing.push(format!("{name}/{member}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_route_but_probes_and_metadata_needs_a_key() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    assert_eq!(document["security"], json!([{"bearer": []}]));
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let own = operation["security"].as_array().unwrap_or_else(|| panic!("{method} {path} needs what?"));
            let is_open = matches!(path.as_str(), "/livez" | "/readyz" | "/.well-known/oauth-protected-resource/mcp");
            assert_eq!(own.is_empty(), is_open, "{method} {path}");
            let roles = own.iter().map(|one| one["bearer"].as_array().map(Vec::len));
            assert!(roles.into_iter().all(|roles| roles == Some(1)), "{method} {path}: {own:?}");
        }
    }
}

#[test]
fn streams_are_described_by_their_events() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    let content = |path: &str, method: &str| document["paths"][path][method]["responses"]["200"]["content"].clone();
    // Generators give an operation one type of result.
    let ask = content("/v1/ask", "post");
    assert_eq!(
        ask,
        json!({"application/json": {"schema": ask["application/json"]["schema"], "examples": ask["application/json"]["examples"]}})
    );
    assert_eq!(ask["application/json"]["schema"]["$ref"], "#/components/schemas/Answer");
    let stream = content("/v1/ask/stream", "post");
    assert_eq!(stream["text/event-stream"]["schema"]["items"]["$ref"], "#/components/schemas/AskEvent");
    let job = content("/v1/jobs/{id}/events", "get");
    assert_eq!(job["text/event-stream"]["schema"]["items"]["$ref"], "#/components/schemas/JobEvent");
    let schemas = &document["components"]["schemas"];
    for union in ["AskEvent", "JobEvent"] {
        let mapping = schemas[union]["discriminator"]["mapping"].as_object().expect("a discriminator");
        let kinds = schemas[union]["oneOf"].as_array().expect("events");
        assert_eq!(schemas[union]["discriminator"]["propertyName"], "event");
        assert_eq!(mapping.len(), kinds.len(), "{union}");
        for (event, place) in mapping {
            let kind = document.pointer(place.as_str().expect("a place").trim_start_matches('#')).expect("a schema");
            assert!(kinds.contains(&json!({"$ref": place})), "{union} {event}");
            assert_eq!(kind["properties"]["event"]["enum"], json!([event]), "{kind}");
            assert!(kind["properties"]["data"]["$ref"].is_string(), "{kind}");
        }
    }
    // Generators that know no NDJSON send bytes.
    let bulk = &document["paths"]["/v1/documents/bulk"]["post"]["requestBody"]["content"];
    let name = bulk["application/octet-stream"]["schema"]["$ref"].as_str().expect("a schema");
    let bytes = document.pointer(name.trim_start_matches('#')).expect(name);
    assert_eq!(*bytes, json!({"type": "string", "format": "binary"}), "{bulk}");
}

#[test]
fn every_example_of_a_file_is_shown() {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi/examples");
    let operations = || document["paths"].as_object().expect("paths").values().filter_map(Value::as_object).flatten();
    for file in fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path()) {
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let examples: Value = serde_json::from_str(&fs::read_to_string(&file).expect("text")).expect("JSON");
        let (_, operation) =
            operations().find(|(_, operation)| operation["operationId"] == name).expect("an operation");
        for (status, by_media_type) in examples.as_object().expect("statuses") {
            let body = if status == "request" { &operation["requestBody"] } else { &operation["responses"][status] };
            for (media_type, examples) in by_media_type.as_object().expect("media types") {
                assert_eq!(&body["content"][media_type]["examples"], examples, "{name} {status} {media_type}");
            }
        }
    }
}
