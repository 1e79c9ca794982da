//! A request for each operation of the `OpenAPI` document.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::world::{Caller, Named, encoded, text};

/// An operation, and what the document says that its callers need.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub id: String,
    method: Method,
    path: String,
    has_body: bool,
    /// Names of the parameters that its query may have.
    parameters: Vec<String>,
    /// Roles of which a key needs one; empty where none is needed.
    pub roles: Vec<String>,
}

/// Tools of the Model Context Protocol, each of which is an operation here.
const TOOLS: [&str; 6] = ["search", "fetch", "ask", "check", "collections", "ingest"];

/// Parameters of queries that name no thing of anybody: times, pages, states, kinds, and URLs of the caller.
const NAMELESS: [&str; 24] = [
    "action",
    "asked_after",
    "asked_before",
    "created_after",
    "created_before",
    "cursor",
    "deployment",
    "from",
    "indexing",
    "items_from",
    "items_limit",
    "items_noted",
    "items_state",
    "kind",
    "limit",
    "noted",
    "occurred_after",
    "occurred_before",
    "outcome",
    "provider",
    "refused",
    "state",
    "wait",
    "webhook_url",
];

/// Every operation of the document.
pub(super) fn all() -> Vec<Operation> {
    let document = serde_json::to_value(cited::openapi_document()).expect("JSON");
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let security = operation["security"].as_array().unwrap_or_else(|| panic!("{method} {path} needs what?"));
            let roles = security.iter().flat_map(|one| one["bearer"].as_array().expect("roles"));
            let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
            let of_query = parameters.iter().filter(|parameter| parameter["in"] == "query");
            let operation = Operation {
                parameters: of_query.map(|parameter| text(&parameter["name"])).collect(),
                id: operation["operationId"].as_str().expect("an id").to_owned(),
                method: method.to_uppercase().parse().expect("a method"),
                path: path.clone(),
                has_body: operation.get("requestBody").is_some(),
                roles: roles.map(|role| role.as_str().expect("a name").to_owned()).collect(),
            };
            if operation.id == "call_mcp" {
                let calls = TOOLS.map(|tool| Operation { id: format!("call_mcp {tool}"), ..operation.clone() });
                all.extend(calls);
            } else {
                all.push(operation);
            }
        }
    }
    assert!(all.len() >= 50, "{all:#?}");
    for operation in &all {
        operation.assert_filled();
    }
    all
}

impl Operation {
    /// Whether a key of this scope suffices.
    pub(super) fn suffices(&self, scope: &str) -> bool {
        let is_for_tenants = !self.roles.iter().any(|role| role == "operator");
        self.roles.is_empty() || self.roles.iter().any(|role| role == scope) || (scope == "admin" && is_for_tenants)
    }

    /// Whether its method says that it changes nothing.
    pub(super) fn reads(&self) -> bool {
        self.method == Method::GET
    }

    /// Whether its request names something of its caller's choice.
    pub(super) fn names_something(&self) -> bool {
        let request = |named: &Named| (self.query(named), self.body(named));
        let another = Named { collection: "another".to_owned(), urn: "another".to_owned(), ..Named::nothing() };
        self.path.contains('{') || request(&Named::nothing()) != request(&another)
    }

    /// Checks that each parameter of its query is given a name of something, unless it can name nothing.
    fn assert_filled(&self) {
        let query = self.query(&Named::nothing());
        let given: Vec<&str> = query.split(['?', '&']).filter_map(|pair| Some(pair.split_once('=')?.0)).collect();
        for parameter in self.parameters.iter().map(String::as_str) {
            let is_given = given.contains(&parameter);
            assert!(is_given != NAMELESS.contains(&parameter), "{parameter} of {} names what?", self.id);
        }
        assert!(given.iter().all(|given| self.parameters.iter().any(|known| known == given)), "{query} of {}", self.id);
    }

    /// Whether its request is another one with other names.
    pub(super) fn tells_apart(&self, one: &Named, other: &Named) -> bool {
        let request = |named: &Named| {
            let path: Vec<String> = self.path.split('/').map(|part| self.filled(part, named)).collect();
            (path, self.query(named), self.body(named))
        };
        request(one) != request(other)
    }

    /// A request that names these things.
    pub(super) fn request(&self, caller: &Caller, named: &Named) -> RequestBuilder {
        let parts = self.path.split('/').map(|part| self.filled(part, named));
        let path = format!("{}{}", parts.collect::<Vec<_>>().join("/"), self.query(named));
        let request = caller.request(self.method.clone(), &path);
        match self.body(named) {
            None => request,
            Some(body) if self.id == "stream_documents" => {
                request.header("content-type", "application/x-ndjson").body(body.to_string())
            }
            Some(body) => request.json(&body),
        }
    }

    fn filled(&self, part: &str, named: &Named) -> String {
        match part {
            "{name}" => encoded(&named.collection),
            "{model}" => encoded(&format!("cited/{}", named.collection)),
            "{urn}" => encoded(&named.urn),
            "{id}" => {
                let of_path = |start: &str| self.path.starts_with(start);
                let id = if of_path("/v1/erasures") {
                    // There is none: nobody has erased anything.
                    named.document.as_str()
                } else if of_path("/v1/collections") {
                    named.index.as_str()
                } else if of_path("/v1/documents") {
                    named.document.as_str()
                } else if of_path("/v1/jobs") {
                    named.job.as_str()
                } else if of_path("/v1/audit") {
                    named.ask.as_str()
                } else if of_path("/v1/keys") {
                    named.key.as_str()
                } else {
                    assert!(of_path("/v1/tenants"), "{} names what?", self.path);
                    named.tenant.as_str()
                };
                id.to_owned()
            }
            other => {
                assert!(!other.starts_with('{'), "{other} of {} is what?", self.path);
                other.to_owned()
            }
        }
    }

    fn query(&self, named: &Named) -> String {
        let collection = encoded(&named.collection);
        match self.id.as_str() {
            "list_documents" | "delete_documents" => format!("?collection={collection}&source_prefix=canary"),
            "list_jobs" | "stream_documents" => format!("?collection={collection}"),
            "list_asks" | "list_security_events" => {
                format!("?key_id={}&request_id={}", encoded(&named.key), encoded(&named.request))
            }
            "get_webhook_secret" => "?url=https://hooks.example/".to_owned(),
            _ => String::new(),
        }
    }

    fn body(&self, named: &Named) -> Option<Value> {
        let (collections, model) = (json!([named.collection]), format!("cited/{}", named.collection));
        if let Some(tool) = self.id.strip_prefix("call_mcp ") {
            let params = json!({"name": tool, "arguments": arguments(tool, named)});
            return Some(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
        }
        let body = match self.id.as_str() {
            "ask" | "stream_ask" => json!({"question": "Where does it grow?", "collections": collections}),
            "create_chat_completion" => {
                json!({"model": model, "messages": [{"role": "user", "content": "Where does it grow?"}]})
            }
            "create_response" => json!({"model": model, "input": "Where does it grow?"}),
            "search" => json!({"query": "Where does it grow?", "collections": collections}),
            "check" => json!({"text": "It grows in the office.", "urns": [named.urn]}),
            "create_erasure" => json!({"document": named.document}),
            "create_collection" => json!({"name": named.collection}),
            "create_documents" => {
                json!({"collection": named.collection, "documents": [{"source": "a", "text": "Words."}]})
            }
            "stream_documents" => json!({"source": "a", "text": "Words."}),
            "replace_document" => json!({"text": "Other words."}),
            "build_index" => json!({"splitter": {"size": 100}}),
            "create_key" | "create_tenant_key" => json!({"name": "made by a test", "scopes": ["ask"]}),
            "set_document_acl" | "update_document_acl" | "set_collection_acl" | "update_collection_acl" => {
                json!({"deny": ["user:nobody"]})
            }
            "update_collection" => json!({"web_search": false}),
            "rotate_key" => json!({}),
            "create_tenant" => json!({"name": "made by a test"}),
            "update_tenant" => json!({"quotas": {"documents": 1_000_000}}),
            other => {
                assert!(!self.has_body, "{other} takes what?");
                return None;
            }
        };
        Some(body)
    }
}

/// Arguments of a tool that name these things.
fn arguments(tool: &str, named: &Named) -> Value {
    let collections = json!([named.collection]);
    match tool {
        "search" => json!({"query": "Where does it grow?", "collections": collections}),
        "fetch" => json!({"id": named.urn}),
        "ask" => json!({"question": "Where does it grow?", "collections": collections}),
        "check" => json!({"text": "It grows in the office.", "urns": [named.urn]}),
        "collections" => json!({}),
        "ingest" => json!({"collection": named.collection, "documents": [{"source": "a", "text": "Words."}]}),
        other => panic!("{other} takes what?"),
    }
}
