//! Another tenant in every database of the tests. Each text that it owns holds a word that is nobody else's, for which all
//! answers, events and logs of all tests are searched.

use reqwest::{Client, Method};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

use crate::{
    database,
    harness::{TestApp, receive},
    scripted::ModelServer,
    throw_away_postgres,
};

/// Begins each text of the other tenant.
const WORD: &str = "othertenantscanary";
/// Words of other tenants and of hidden documents in the tests of keys and lists, which no log may hold either.
const WORDS_OF_TESTS: [&str; 3] = ["canaryforeign", "canaryclosed", "canaryrestricted"];
const OPERATOR: &str = "a-key-of-the-operator-0123456789";

/// Tables that every tenant shares with the other one as tests count rows: without the rows of the other tenant. Tests that
/// count as superuser look at these.
const WITHOUT_IT: &str = "CREATE SCHEMA without_the_other;
    DO $$ DECLARE one text; other uuid; BEGIN
        SELECT tenant_id INTO STRICT other FROM tenant WHERE name = 'other';
        FOR one IN SELECT relname FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attname = 'tenant_id'
            WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
            EXECUTE format('CREATE VIEW without_the_other.%I AS SELECT * FROM public.%I WHERE tenant_id <> %L', one, one, other);
        END LOOP; END $$";
/// Stores a webhook that was not delivered, which the service cannot be told to store here, and drops the security events of
/// making the tenant, which are sealed by a pepper that other tests do not have.
const REST: &str = "INSERT INTO webhook (tenant_id, job_id, url, state, last_error)
        SELECT tenant_id, job_id, 'https://othertenantscanaryhook.example/', 'failed', 'othertenantscanaryerror' FROM job LIMIT 1;
    TRUNCATE security_event, security_event_waiting, security_seal";

/// Makes the tenant in a database that has the schema.
pub(crate) async fn make(database: &PgConnectOptions) {
    let models = ModelServer::start().await;
    let base = models.base_url();
    let settings = [
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_KEY_PEPPER", "a-pepper-of-the-other-tenant-0123456789"),
        ("CITED_EMBEDDING_BASE_URL", base.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
    ];
    let app = TestApp::start(database.clone(), &settings).await;
    let mut door = Door { app: &app, client: app.client.clone(), key: OPERATOR.to_owned() };
    let tenant = door.post("/v1/tenants", json!({"name": "other"})).await["id"].clone();
    let keys = format!("/v1/tenants/{}/keys", tenant.as_str().expect("an id"));
    let wanted = json!({"name": word("key"), "scopes": ["admin"], "principals": [format!("user:{}", word("user"))]});
    let made = door.post(&keys, wanted).await;
    made["secret"].as_str().expect("a secret").clone_into(&mut door.key);
    door.fill().await;
    app.end().await;
    database::execute(database, REST).await;
    database::execute(database, WITHOUT_IT).await;
}

/// A word of the other tenant.
fn word(ending: &str) -> String {
    format!("{WORD}{ending}")
}

/// The service as the tenant's key opens it.
struct Door<'a> {
    app: &'a TestApp,
    client: Client,
    key: String,
}

impl Door<'_> {
    async fn send(&self, method: Method, path: &str, body: Value) -> Value {
        let request = self.client.request(method, format!("{}{path}", self.app.base)).bearer_auth(&self.key);
        let request = request.header("idempotency-key", word("idempotency")).header("x-request-id", word("request"));
        let answer = receive(request.json(&body)).await;
        assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
        answer.body
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.send(Method::POST, path, body).await
    }

    /// Two documents, one of them in two versions, one that fails, one that is deleted, an ask that is kept, and an erasure.
    async fn fill(&self) {
        let collection = word("collection");
        let named = json!({word("name"): word("value")});
        let document = json!({"source": word("source.md"), "title": word("title"), "metadata": named,
            "uri": format!("https://{}.example/", word("host")), "acl": {"allow": [format!("user:{}", word("user"))]},
            "text": format!("The {} grows in the office. It is watered on Mondays.", word("text"))});
        let second = json!({"source": word("second.md"), "text": format!("# {}\n\nSecond words.", word("heading"))});
        let failing = json!({"source": word("empty.md"), "text": " "});
        let upload = json!({"collection": collection, "documents": [document, second, failing]});
        let job = self.post("/v1/documents?wait=true", upload).await;
        let id = |place: usize| job["items"][place]["document_id"].as_str().expect("an id").to_owned();
        let changed = json!({"text": format!("The {} grows at home.", word("version"))});
        self.send(Method::PUT, &format!("/v1/documents/{}?wait=true", id(0)), changed).await;
        let question = format!("Where does the {} grow?", word("question"));
        let ask = json!({"question": question, "collections": [collection], "cache": {"ttl_s": 1_000_000}});
        self.post("/v1/ask", ask).await;
        let erasure = json!({"collection": collection, "source": word("second.md")});
        self.post("/v1/erasures", erasure).await;
    }
}

/// Checks that a text holds nothing of the other tenant.
pub(crate) fn assert_absent(place: &str, text: &str) {
    assert!(!text.to_lowercase().contains(WORD), "a word of another tenant stands in {place}: {text}");
}

/// Checks that the log of the shared server holds no word of a tenant or document that is hidden from anybody.
pub(crate) async fn assert_absent_from_the_log_of_postgres() {
    let log = tokio::task::spawn_blocking(throw_away_postgres::log).await.expect("the log is readable");
    for word in WORDS_OF_TESTS.into_iter().chain([WORD]) {
        let line = log.lines().find(|line| line.to_lowercase().contains(word));
        assert!(line.is_none(), "{word} stands in the log of the database: {line:?}");
    }
}
