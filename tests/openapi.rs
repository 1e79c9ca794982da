//! The checked-in `OpenAPI` document is the one that the code makes.

use std::{fs, path::Path};

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
