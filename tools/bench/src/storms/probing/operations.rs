//! A request for each operation of the service that can name something of somebody.

use anyhow::{Context as _, bail};
use hyper::Method;
use serde_json::{Value, json};

use super::things::Named;

/// Operations that name nothing of anybody, or only what the caller makes with them.
const NAMELESS: [&str; 13] = [
    "get_protected_resource",
    "livez",
    "readyz",
    "list_models",
    "list_collections",
    "list_erasures",
    "list_keys",
    "create_key",
    "get_webhook_secret",
    "get_storage",
    "verify_security_events",
    "call_mcp collections",
    "get_metrics",
];
/// Operations that make something under a name. Of another tenant's name they make the caller's own.
const MAKING: [&str; 4] = ["create_collection", "create_documents", "stream_documents", "call_mcp ingest"];
/// Tools of the Model Context Protocol, each of which is an operation here.
const TOOLS: [&str; 6] = ["search", "fetch", "ask", "check", "collections", "ingest"];
/// Filters of searches that name documents, each of which is an operation here.
const FILTERS: [&str; 2] = ["search by document", "search by source"];

/// An operation.
pub(super) struct Operation {
    pub(super) id: String,
    method: Method,
    path: String,
    has_body: bool,
    /// Names of the parameters that its query may have.
    parameters: Vec<String>,
    /// Scopes of which a key needs one; every key with the scope `admin` has them.
    scopes: Vec<String>,
}

/// A request to be sent.
#[derive(PartialEq)]
pub(super) struct Probe {
    pub(super) method: Method,
    pub(super) path: String,
    /// Media type and text.
    pub(super) body: Option<(&'static str, String)>,
}

/// The operations of an `OpenAPI` document that can name something.
pub(super) fn operations(document: &Value) -> anyhow::Result<Vec<Operation>> {
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().context("the document has paths")? {
        for (method, described) in methods.as_object().context("a path has methods")? {
            let id = described["operationId"].as_str().context("an operation has an id")?;
            let roles = described["security"].as_array().into_iter().flatten();
            let roles = roles.filter_map(|one| one["bearer"].as_array()).flatten();
            let scopes: Vec<String> = roles.filter_map(Value::as_str).map(str::to_owned).collect();
            let parameters = described["parameters"].as_array().into_iter().flatten();
            let of_query = parameters.filter(|parameter| parameter["in"] == "query");
            let parameters: Vec<String> =
                of_query.filter_map(|parameter| parameter["name"].as_str()).map(str::to_owned).collect();
            let ids = match id {
                "call_mcp" => TOOLS.map(|tool| format!("call_mcp {tool}")).to_vec(),
                "search" => FILTERS.into_iter().chain(["search"]).map(str::to_owned).collect(),
                id => vec![id.to_owned()],
            };
            for id in ids {
                let is_operators = scopes.iter().any(|scope| scope == "operator");
                if !is_operators && !NAMELESS.contains(&id.as_str()) {
                    all.push(Operation {
                        id,
                        method: method.to_uppercase().parse()?,
                        path: path.clone(),
                        has_body: !described["requestBody"].is_null(),
                        parameters: parameters.clone(),
                        scopes: scopes.clone(),
                    });
                }
            }
        }
    }
    Ok(all)
}

impl Operation {
    /// Whether a key with these scopes may be used for it.
    pub(super) fn is_open_to(&self, scopes: &[&str]) -> bool {
        scopes.contains(&"admin") || self.scopes.iter().any(|scope| scopes.contains(&scope.as_str()))
    }

    /// Whether it makes something under a name that is its caller's.
    pub(super) fn makes(&self) -> bool {
        MAKING.contains(&self.id.as_str())
    }

    /// Its request on these things.
    pub(super) fn probe(&self, named: &Named) -> anyhow::Result<Probe> {
        let parts = self.path.split('/').map(|part| self.filled(part, named)).collect::<anyhow::Result<Vec<_>>>()?;
        let path = format!("{}{}", parts.join("/"), self.query(named));
        let media_type = if self.id == "stream_documents" { "application/x-ndjson" } else { "application/json" };
        let body = self.body(named)?.map(|body| (media_type, body.to_string()));
        Ok(Probe { method: self.method.clone(), path, body })
    }

    fn filled(&self, part: &str, named: &Named) -> anyhow::Result<String> {
        let of_index = self.path.contains("/indexes/");
        Ok(match part {
            // The name of a hidden collection would be all that is looked at.
            "{name}" if of_index => named.within.clone(),
            "{name}" => named.collection.clone(),
            "{model}" => format!("cited%2F{}", named.collection),
            "{urn}" => named.urn().replace(':', "%3A").replace('/', "%2F").replace('@', "%40").replace('#', "%23"),
            "{id}" if of_index => named.index.clone(),
            "{id}" => match self.path.split('/').nth(2) {
                Some("documents") => named.document.clone(),
                Some("jobs") => named.job.clone(),
                Some("audit") => named.ask.clone(),
                Some("erasures") => named.erasure.clone(),
                Some("keys") => named.key.clone(),
                _ => bail!("{} names what? Say it in tools/bench/src/storms/probing/operations.rs", self.path),
            },
            part if part.starts_with('{') => {
                bail!("{part} of {} is what? Say it in tools/bench/src/storms/probing/operations.rs", self.path)
            }
            part => part.to_owned(),
        })
    }

    /// Every parameter of the query that names something.
    fn query(&self, named: &Named) -> String {
        let given = self.parameters.iter().filter_map(|parameter| {
            let value = match parameter.as_str() {
                "collection" => &named.collection,
                "source_prefix" => &named.source,
                "key_id" => &named.key,
                _ => return None,
            };
            Some(format!("{parameter}={value}"))
        });
        let given: Vec<String> = given.collect();
        if given.is_empty() { String::new() } else { format!("?{}", given.join("&")) }
    }

    fn body(&self, named: &Named) -> anyhow::Result<Option<Value>> {
        const QUESTION: &str = "Which words are there?";
        const TEXT: &str = "Other words.";
        let Named { collection, within, document, source, .. } = named;
        let (collections, urns, model) = (json!([collection]), json!([named.urn()]), format!("cited/{collection}"));
        let uploads = json!([{"source": "made", "text": "Words."}]);
        if let Some(tool) = self.id.strip_prefix("call_mcp ") {
            let arguments = match tool {
                "search" => json!({"query": QUESTION, "collections": collections}),
                "fetch" => json!({"id": named.urn()}),
                "ask" => json!({"question": QUESTION, "collections": collections}),
                "check" => json!({"text": TEXT, "urns": urns}),
                _ => json!({"collection": collection, "documents": uploads}),
            };
            let params = json!({"name": tool, "arguments": arguments});
            return Ok(Some(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})));
        }
        Ok(Some(match self.id.as_str() {
            "ask" | "stream_ask" => {
                json!({"question": QUESTION, "collections": collections, "cache": {"ttl_s": 0}})
            }
            "create_chat_completion" => {
                json!({"model": model, "messages": [{"role": "user", "content": QUESTION}]})
            }
            "create_response" => json!({"model": model, "input": QUESTION}),
            "search" => json!({"query": QUESTION, "collections": collections}),
            "search by document" => {
                json!({"query": QUESTION, "collections": [within], "filter": {"document_ids": [document]}})
            }
            "search by source" => {
                json!({"query": QUESTION, "collections": [within], "filter": {"source_prefix": source}})
            }
            "check" => json!({"text": TEXT, "urns": urns}),
            "create_erasure" => json!({"document": document}),
            "create_collection" => json!({"name": collection}),
            "create_documents" => json!({"collection": collection, "documents": uploads}),
            "stream_documents" => json!({"source": "made", "text": "Words."}),
            "replace_document" => json!({"text": TEXT}),
            "build_index" => json!({"splitter": {"size": 100}}),
            "set_document_acl" | "update_document_acl" | "set_collection_acl" | "update_collection_acl" => {
                json!({"deny": ["user:nobody"]})
            }
            "update_collection" => json!({"web_search": false}),
            "rotate_key" => json!({}),
            id if self.has_body => bail!("{id} takes what? Say it in tools/bench/src/storms/probing/operations.rs"),
            _ => return Ok(None),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails where an operation was added: say what it names, or that it names nothing.
    #[test]
    fn every_operation_is_probed_or_names_nothing() {
        let document = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/openapi.json"));
        let document: Value = serde_json::from_str(document).expect("JSON");
        let named = |word: &str| Named {
            collection: word.to_owned(),
            within: word.to_owned(),
            document: word.to_owned(),
            source: word.to_owned(),
            job: word.to_owned(),
            ask: word.to_owned(),
            index: word.to_owned(),
            erasure: word.to_owned(),
            key: word.to_owned(),
        };
        let (one, other) = (named("one"), named("other"));
        let operations = operations(&document).expect("operations");
        assert!(operations.len() > 50, "{}", operations.len());
        for operation in operations {
            let [one, other] = [&one, &other].map(|named| operation.probe(named).expect("it is known"));
            assert!(one != other, "{} names nothing: say so in NAMELESS", operation.id);
        }
    }
}
