//! `cited tenants export`: all of a tenant, or an error.

use std::{fs, path::Path};

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    database,
    harness::{Answer, TestApp, send},
    process::command,
};

const OPERATOR: &str = "a-long-key-of-the-operator-1234";
const SETTINGS: [(&str, &str); 4] = [
    ("CITED_API_KEYS", OPERATOR),
    ("CITED_KEY_PEPPER", "a pepper of thirty-two bytes and more"),
    ("CITED_MAX_BYTES_IN_FLIGHT", "1048576"),
    ("CITED_REQUEST_TIMEOUT_S", "4"),
];
/// More than a page of a list.
const COLLECTIONS: usize = 203;

/// A tenant with documents, one of which is for few people.
struct Tenant {
    app: TestApp,
    id: String,
    key: String,
}

impl Tenant {
    async fn start() -> Self {
        let app = TestApp::start(database::create().await, &SETTINGS).await;
        let made = request(&app, OPERATOR, Method::POST, "/v1/tenants", Some(json!({"name": "acme"}))).await;
        let id = made.body["id"].as_str().expect("an id").to_owned();
        let wanted = json!({"name": "own", "scopes": ["admin", "ingest", "read", "ask"]});
        let key = request(&app, OPERATOR, Method::POST, &format!("/v1/tenants/{id}/keys"), Some(wanted)).await;
        let tenant = Self { app, id, key: key.body["secret"].as_str().expect("a secret").to_owned() };
        let documents = json!([{"source": "open.md", "text": "Sheep graze on the hill.", "metadata": {"n": 1}},
                               {"source": "closed.md", "text": "The vault opens at noon.", "acl": {"allow": ["group:people"]}}]);
        let stored = tenant.post("/v1/documents?wait=true", json!({"collection": "ö/ä", "documents": documents})).await;
        assert_eq!(stored.body["state"], "succeeded", "{stored:?}");
        tenant
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        request(&self.app, &self.key, Method::POST, path, Some(body)).await
    }

    /// Output, errors and success of an export.
    async fn export(&self, folder: &Path) -> (String, String, bool) {
        let folder = folder.to_str().expect("UTF-8");
        let arguments = ["tenants", "export", &self.id, "--to", folder, "--server", &self.app.base];
        let output = command(&arguments, &[("CITED_API_KEY", OPERATOR)]).output().await.expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (text(output.stdout), text(output.stderr), output.status.success())
    }
}

async fn request(app: &TestApp, key: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    let request = app.client.request(method, format!("{}{path}", app.base)).bearer_auth(key);
    let request = match &body {
        Some(body) => request.json(body),
        None => request,
    };
    send(request).await
}

fn lines(folder: &Path, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(file)).expect(file);
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[tokio::test]
async fn an_export_holds_all_of_a_tenant_and_none_of_another() {
    let tenant = Tenant::start().await;
    for number in 1..COLLECTIONS {
        let made = tenant.post("/v1/collections", json!({"name": format!("c{number}")})).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    let asked = tenant.post("/v1/ask", json!({"question": "Where do sheep graze?", "collections": ["ö/ä"]})).await;
    assert_eq!(asked.status, 200, "{asked:?}");
    let theirs = json!({"collection": "theirs", "documents": [{"source": "x.md", "text": "Words of another."}]});
    let stored = request(&tenant.app, OPERATOR, Method::POST, "/v1/documents?wait=true", Some(theirs)).await;
    assert_eq!(stored.status, 200, "{stored:?}");

    let folder = tempfile::tempdir().expect("a folder");
    let exported = folder.path().join("acme");
    let (output, error, is_success) = tenant.export(&exported).await;
    assert!(
        is_success && output.ends_with(&format!("acme: {COLLECTIONS} collections, 2 documents\n")),
        "{output}{error}"
    );
    let read = |file: &str| serde_json::from_str::<Value>(&fs::read_to_string(exported.join(file)).expect(file));
    let manifest = read("manifest.json").expect("JSON");
    assert_eq!((&manifest["tenant"], &manifest["name"]), (&json!(tenant.id), &json!("acme")));
    for file in manifest["files"].as_array().expect("files") {
        let written = fs::metadata(exported.join(file["file"].as_str().expect("a name"))).expect("it is there");
        assert_eq!(json!(written.len()), file["bytes"], "{file}");
    }
    let collections = read("collections.json").expect("JSON");
    let collections = collections.as_array().expect("collections");
    assert_eq!(collections.len(), COLLECTIONS);
    let filled = collections.iter().find(|one| one["name"] == "ö/ä").expect("the collection");
    assert!(filled["splitter"].is_object() && filled["acl"].is_object() && filled["indexes"].is_array(), "{filled}");
    let documents = lines(&exported, filled["file"].as_str().expect("a file"));
    let closed = documents.iter().find(|one| one["source"] == "closed.md").expect("what few may see");
    assert_eq!((documents.len(), &closed["acl"]["allow"]), (2, &json!(["group:people"])));
    let asks = lines(&exported, "asks.ndjson");
    assert_eq!((asks.len(), &asks[0]["question"]), (1, &json!("Where do sheep graze?")));
    assert_eq!(lines(&exported, "keys.ndjson").len(), 2);
    let events = lines(&exported, "security-events.ndjson");
    let of = |action: &str| events.iter().filter(|event| event["action"] == action).count();
    assert_eq!((of("create_collection"), of("export_collection")), (COLLECTIONS, COLLECTIONS), "{}", events.len());
    let secret = tenant.key.rsplit('_').next().expect("a secret");
    for file in fs::read_dir(&exported).expect("a folder") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("text");
        assert!(!text.contains("Words of another") && !text.contains(secret), "{text}");
    }
    // The key that was made for it opens nothing any more, and the next one goes elsewhere.
    let keys = request(&tenant.app, &tenant.key, Method::GET, "/v1/keys", None).await.body;
    let of_export = keys["keys"].as_array().expect("keys").iter().find(|key| key["name"] == "cited tenants export");
    assert_eq!(of_export.expect("its key")["state"], "revoked", "{keys}");
    let (_, error, is_success) = tenant.export(&exported).await;
    assert!(!is_success && error.contains("is not empty"), "{error}");
    tenant.app.stop().await;
}

#[tokio::test]
async fn an_export_that_is_not_whole_is_an_error_without_a_manifest() {
    let tenant = Tenant::start().await;
    let enlarge = "UPDATE document SET text = repeat('Sheep graze. ', 2000000), characters = 26000000";
    database::execute(&tenant.app.database, enlarge).await;
    let listed = request(&tenant.app, &tenant.key, Method::GET, "/v1/documents", None).await.body;
    let path = format!("/v1/documents/{}/content", listed["documents"][0]["id"].as_str().expect("an id"));
    // It holds the room for large texts.
    let unread = tenant.app.client.get(format!("{}{path}", tenant.app.base)).bearer_auth(&tenant.key).send().await;
    let folder = tempfile::tempdir().expect("a folder");
    let (output, error, is_success) = tenant.export(folder.path()).await;
    assert!(!is_success && error.contains("broke off, so that the export is not whole"), "{output}{error}");
    assert!(!folder.path().join("manifest.json").exists());
    let keys = request(&tenant.app, &tenant.key, Method::GET, "/v1/keys", None).await.body;
    assert!(keys["keys"].as_array().expect("keys").iter().any(|key| key["state"] == "revoked"), "{keys}");
    drop(unread);
    tenant.app.end().await;
}
