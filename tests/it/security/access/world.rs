//! A service of two tenants. Each text that the second tenant owns, and each of the collection `closedcollection`, holds a word
//! that stands nowhere else.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

use crate::{
    database,
    harness::{Answer, client, send},
    process::Process,
    scripted::ModelServer,
};

/// Key of the operator.
pub(super) const OPERATOR: &str = "a-key-of-the-operator-0123456789";
/// Pepper of the service.
pub(super) const PEPPER: &str = "a-pepper-of-the-tests-0123456789-0123456789";
/// An id of nothing.
pub(super) const NOTHING: &str = "019ee0a1-6f0b-7d52-9a40-5f1b8f0f6a11";

/// The things that paths and bodies of requests name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub collection: String,
    pub document: String,
    pub urn: String,
    pub job: String,
    pub ask: String,
    /// Id of the requests by which the others came about.
    pub request: String,
    pub index: String,
    pub key: String,
    pub tenant: String,
}

/// The service and its two tenants.
pub(super) struct World {
    pub process: Process,
    pub database: PgConnectOptions,
    /// Secret of a key with the scope admin of the first tenant.
    pub admin: String,
    /// Secret of the same, limited to the collection `open`.
    pub limited: String,
    /// Secret of a key of the first tenant with every scope but admin, which is neither user nor group of a list.
    pub stranger: String,
    /// Things of the second tenant.
    pub foreign: Named,
    /// Things of the collection `closedcollection` of the first tenant.
    pub closed: Named,
    /// Things of a document of the collection `mixed` of the first tenant, which one user may see.
    pub restricted: Named,
    pub models: ModelServer,
}

impl World {
    /// A service whose database was changed by this statement after it had started.
    pub(super) async fn start(change: &str) -> Self {
        Self::start_on(database::create().await, change).await
    }

    /// The same on a database that was changed before.
    pub(super) async fn start_on(database: PgConnectOptions, change: &str) -> Self {
        let models = ModelServer::start().await;
        let (url, base) = (database::url(&database), models.base_url());
        let process = Process::serve(&[
            ("DATABASE_URL", url.as_str()),
            ("CITED_EMBEDDING_BASE_URL", base.as_str()),
            ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
            ("CITED_API_KEYS", OPERATOR),
            ("CITED_KEY_PEPPER", PEPPER),
            ("CITED_WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
            ("CITED_REFUSALS_PER_MINUTE", "100000"),
            ("CITED_LOG", "debug"),
        ])
        .await;
        database::execute(&database, change).await;
        let caller = Caller { base: process.base.clone() };
        let admin = caller.key(OPERATOR, "/v1/keys", json!({"name": "admin", "scopes": ["admin"]})).await;
        let limited = json!({"name": "limited", "scopes": ["admin"], "collections": ["open"]});
        let limited = caller.key(OPERATOR, "/v1/keys", limited).await;
        let stranger =
            json!({"name": "stranger", "scopes": ["ask", "ingest", "read"], "principals": ["user:stranger"]});
        let stranger = caller.key(OPERATOR, "/v1/keys", stranger).await;
        let tenant = caller.post(OPERATOR, "/v1/tenants", json!({"name": "canarytenant"})).await;
        let tenant = text(&tenant.body["id"]);
        let keys = format!("/v1/tenants/{tenant}/keys");
        let theirs = caller.key(OPERATOR, &keys, json!({"name": "canarykey", "scopes": ["admin"]})).await;
        caller.fill(&admin.0, "open", "plain").await;
        let closed = caller.fill(&admin.0, "closedcollection", "canaryclosed").await;
        let closed = Named { key: admin.1, tenant: tenant.clone(), ..closed };
        caller.fill(&admin.0, "mixed", "mixed").await;
        let restricted = caller.fill(&admin.0, "mixed", "canaryrestricted").await;
        caller.restrict(&admin.0, &restricted.document, json!({"allow": ["user:ada"]})).await;
        let foreign = caller.fill(&theirs.0, "canarycollection", "canaryforeign").await;
        let foreign = Named { key: theirs.1, tenant, ..foreign };
        Self {
            process,
            database,
            admin: admin.0,
            limited: limited.0,
            stranger: stranger.0,
            foreign,
            closed,
            restricted,
            models,
        }
    }

    pub(super) fn caller(&self) -> Caller {
        Caller { base: self.process.base.clone() }
    }
}

/// Sends requests to the service.
pub(super) struct Caller {
    pub base: String,
}

impl Caller {
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        client().request(method, format!("{}{path}", self.base))
    }

    pub(super) async fn get(&self, key: &str, path: &str) -> Answer {
        send(self.request(Method::GET, path).bearer_auth(key)).await
    }

    pub(super) async fn post(&self, key: &str, path: &str, body: Value) -> Answer {
        send(self.request(Method::POST, path).bearer_auth(key).json(&body)).await
    }

    /// Secret and id of a new key.
    pub(super) async fn key(&self, by: &str, path: &str, wanted: Value) -> (String, String) {
        let made = self.post(by, path, wanted).await;
        assert_eq!(made.status, 201, "{made:?}");
        (text(&made.body["secret"]), text(&made.body["key"]["id"]))
    }

    /// Sets the access control list of a document.
    pub(super) async fn restrict(&self, key: &str, document: &str, acl: Value) {
        let request = self.request(Method::PUT, &format!("/v1/documents/{document}/acl")).bearer_auth(key).json(&acl);
        let set = send(request).await;
        assert_eq!(set.status, 200, "{set:?}");
    }

    /// Stores a document whose texts all begin with a word, asks about it, and returns the names of what came of it.
    async fn fill(&self, key: &str, collection: &str, word: &str) -> Named {
        let document = json!({"source": format!("{word}source.md"), "title": format!("{word}title"),
            "text": format!("The {word}text grows in the office."), "metadata": {format!("{word}name"): format!("{word}value")}});
        let failing = json!({"source": format!("{word}empty.md"), "text": " "});
        let upload = json!({"collection": collection, "documents": [document, failing]});
        let job = self.post(key, "/v1/documents?wait=true", upload).await;
        assert_eq!(job.status, 200, "{job:?}");
        let request = job.headers["x-request-id"].clone();
        let search = json!({"query": format!("Where does the {word}text grow?"), "collections": [collection]});
        let found = self.post(key, "/v1/search", search).await;
        let source = &found.body["results"][0];

        let question = json!({"question": format!("Where does the {word}text grow?"), "collections": [collection]});
        let ask = self.request(Method::POST, "/v1/ask").bearer_auth(key).header("x-request-id", &request);
        let ask = send(ask.json(&question)).await;
        assert_eq!(ask.status, 200, "{ask:?}");
        let about = self.get(key, &format!("/v1/collections/{collection}")).await;
        Named {
            collection: collection.to_owned(),
            document: text(&job.body["items"][0]["document_id"]),
            urn: text(&source["urn"]),
            job: text(&job.body["id"]),
            ask: text(&ask.body["id"]),
            request: request.to_str().expect("text").to_owned(),
            index: text(&about.body["index_id"]),
            key: String::new(),
            tenant: String::new(),
        }
    }
}

impl Named {
    /// Names of nothing.
    pub(super) fn nothing() -> Self {
        Self {
            collection: "nosuchcollection".to_owned(),
            document: NOTHING.to_owned(),
            urn: format!("cited:nosuchcollection/{NOTHING}@1#0"),
            job: NOTHING.to_owned(),
            ask: NOTHING.to_owned(),
            request: NOTHING.to_owned(),
            index: NOTHING.to_owned(),
            key: "0123456789abcdef".to_owned(),
            tenant: NOTHING.to_owned(),
        }
    }

    /// A text without these names, in each form in which answers repeat them.
    pub(super) fn masked(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        let names = [
            ("urn", &self.urn),
            ("collection", &self.collection),
            ("id", &self.document),
            ("id", &self.job),
            ("id", &self.ask),
            ("id", &self.request),
            ("id", &self.index),
            ("id", &self.key),
            ("id", &self.tenant),
        ];
        for (kind, name) in names {
            for form in [name.clone(), encoded(name)] {
                masked = masked.replace(&form, &format!("<{kind}>"));
            }
        }
        masked
    }
}

/// A text as one part of a path.
pub(super) fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// The text of a JSON value.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
