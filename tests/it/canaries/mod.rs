//! Texts in every database of the tests that nobody may see: those of another tenant, and those of documents of the tests'
//! own tenant that an access control list hides. Each holds a word that stands nowhere else, for which all answers, events,
//! metrics and logs of all tests are searched.

mod logs;
mod members;

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

pub(crate) use self::{
    logs::{assert_absent_from_logs, watch_logs},
    members::{Member, is_excepted, operator_for, wants_twins},
};
use crate::{
    database,
    harness::{TestApp, client, receive},
    scripted::ModelServer,
    throw_away_postgres,
};

/// Begins each text of the other tenant.
const OF_ANOTHER_TENANT: &str = "othertenantscanary";
/// Begins each text of the hidden documents.
const OF_HIDDEN_DOCUMENTS: &str = "hiddendocumentscanary";
/// Words of the canaries. Answers are searched for them as they come, so that words must be in lower case.
const WORDS: [&str; 2] = [OF_ANOTHER_TENANT, OF_HIDDEN_DOCUMENTS];
/// Words of other tenants and of hidden documents in the tests of keys and lists, which no log may hold either.
const WORDS_OF_TESTS: [&str; 3] = ["canaryforeign", "canaryclosed", "canaryrestricted"];
/// Key of the operator of services that have a member.
pub(crate) const OPERATOR: &str = "a-key-of-the-operator-0123456789";
/// Collection of the hidden documents. Lists hide documents; that there is such a collection is no secret.
const HIDDEN_COLLECTION: &str = "hidden";

/// The rows of the canaries in the tests' own tenant, and all tables without the rows of canaries. Tests that count rows as
/// superuser look at these.
const WITHOUT_CANARIES: &str = "CREATE SCHEMA without_canaries; CREATE SCHEMA hidden_rows;
    DO $$ DECLARE one text; other uuid; keys text; BEGIN
        SELECT tenant_id INTO STRICT other FROM tenant WHERE name = 'other';
        FOR one IN SELECT relname FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attname = 'tenant_id'
            WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
            SELECT string_agg(quote_ident(attname), ', ') INTO keys FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
                WHERE indrelid = format('public.%I', one)::regclass AND indisprimary;
            IF keys IS NULL OR one = 'tenant' THEN
                EXECUTE format('CREATE VIEW without_canaries.%I AS SELECT * FROM public.%I WHERE tenant_id <> %L', one, one, other);
            ELSE
                EXECUTE format('CREATE TABLE hidden_rows.%I AS SELECT %s FROM public.%I WHERE tenant_id <> %L', one, keys, one, other);
                EXECUTE format('CREATE VIEW without_canaries.%I AS SELECT * FROM public.%I
                    WHERE tenant_id <> %L AND (%s) NOT IN (SELECT %s FROM hidden_rows.%I)', one, one, other, keys, keys, one);
            END IF;
        END LOOP; END $$";
/// Stores a webhook that was not delivered, which the service cannot be told to store here, and drops what is counted for
/// the tenants as a whole, and the security events, which are sealed by a pepper that other tests do not have.
const REST: &str = "INSERT INTO webhook (tenant_id, job_id, url, state, last_error)
        SELECT tenant_id, job_id, 'https://othertenantscanaryhook.example/', 'failed', 'othertenantscanaryerror'
        FROM job WHERE tenant_id = (SELECT tenant_id FROM tenant WHERE name = 'other') LIMIT 1;
    TRUNCATE security_event, security_event_waiting, security_seal, usage_daily, key_usage_daily";

/// Makes another tenant, and hidden documents if they are wanted, in a database that has the schema.
pub(crate) async fn make(database: &PgConnectOptions, with_hidden_documents: bool) {
    let models = ModelServer::start().await;
    let base = models.base_url();
    let settings = [
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_KEY_PEPPER", "a-pepper-of-the-other-tenant-0123456789"),
        ("CITED_EMBEDDING_BASE_URL", base.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
    ];
    let app = TestApp::start(database.clone(), &settings).await;
    let mut door = Door { app: &app, client: app.client.clone(), key: OPERATOR.to_owned(), word: OF_ANOTHER_TENANT };
    let tenant = door.post("/v1/tenants", json!({"name": "other"})).await["id"].clone();
    let keys = format!("/v1/tenants/{}/keys", tenant.as_str().expect("an id"));
    let wanted =
        json!({"name": door.named("key"), "scopes": ["admin"], "principals": [format!("user:{}", door.named("user"))]});
    let made = door.post(&keys, wanted).await;
    made["secret"].as_str().expect("a secret").clone_into(&mut door.key);
    door.fill(&door.named("collection")).await;
    if with_hidden_documents {
        let door = Door { key: OPERATOR.to_owned(), word: OF_HIDDEN_DOCUMENTS, ..door };
        door.fill(HIDDEN_COLLECTION).await;
    }
    app.end().await;
    database::execute(database, REST).await;
    database::execute(database, WITHOUT_CANARIES).await;
}

/// The service as a key opens it.
struct Door<'a> {
    app: &'a TestApp,
    client: Client,
    key: String,
    /// Begins all texts.
    word: &'static str,
}

impl Door<'_> {
    fn named(&self, ending: &str) -> String {
        format!("{}{ending}", self.word)
    }

    async fn send(&self, method: Method, path: &str, body: Value) -> Value {
        let request = self.client.request(method, format!("{}{path}", self.app.base)).bearer_auth(&self.key);
        let request =
            request.header("idempotency-key", self.named("idempotency")).header("x-request-id", self.named("request"));
        let answer = receive(request.json(&body)).await;
        assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
        answer.body
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.send(Method::POST, path, body).await
    }

    /// Two documents for one user, one of them in two versions, one that fails, one that is deleted, an ask that is kept, and
    /// an erasure.
    async fn fill(&self, collection: &str) {
        let acl = json!({"allow": [format!("user:{}", self.named("user"))]});
        let named = json!({self.named("name"): self.named("value")});
        let document = json!({"source": self.named("source.md"), "title": self.named("title"), "metadata": named,
            "uri": format!("https://{}.example/", self.named("host")), "acl": acl,
            "text": format!("The {} grows in the office. It is watered on Mondays.", self.named("text"))});
        let second = json!({"source": self.named("second.md"), "acl": acl,
            "text": format!("# {}\n\nSecond words.", self.named("heading"))});
        let failing = json!({"source": self.named("empty.md"), "text": " ", "acl": acl});
        let upload = json!({"collection": collection, "documents": [document, second, failing]});
        let job = self.post("/v1/documents?wait=true", upload).await;
        let id = |place: usize| {
            let id = job["items"][place]["document_id"].as_str();
            id.unwrap_or_else(|| panic!("no id: {job}")).to_owned()
        };
        let changed = json!({"text": format!("The {} grows at home.", self.named("version"))});
        self.send(Method::PUT, &format!("/v1/documents/{}?wait=true", id(0)), changed).await;
        let question = format!("Where does the {} grow?", self.named("question"));
        let ask = json!({"question": question, "collections": [collection], "cache": {"ttl_s": 1_000_000}});
        self.post("/v1/ask", ask).await;
        let erasure = json!({"collection": collection, "source": self.named("second.md")});
        self.post("/v1/erasures", erasure).await;
    }
}

/// Documents that say the same as these, and that one user may see. Whoever finds the one would find the other, were it not
/// for its list. Their text is the same to the letter, so that no model is called again.
pub(crate) fn hidden_twins(documents: &[Value]) -> Vec<Value> {
    let acl = json!({"allow": [format!("user:{OF_HIDDEN_DOCUMENTS}user")]});
    let twin = |document: &Value| {
        let source = document["source"].as_str().expect("a source");
        json!({"source": format!("{OF_HIDDEN_DOCUMENTS}-{source}"), "title": format!("{OF_HIDDEN_DOCUMENTS}title"),
            "text": document["text"], "media_type": document["media_type"], "acl": acl})
    };
    documents.iter().map(twin).collect()
}

/// Checks that a text holds no word of a canary.
pub(crate) fn assert_absent(place: &str, text: &str) {
    let lower = text.to_lowercase();
    for word in WORDS {
        assert!(!lower.contains(word), "{word} stands in {place}: {text}");
    }
}

/// Checks that the log of the shared server holds no word of a tenant or document that is hidden from anybody.
pub(crate) async fn assert_absent_from_the_log_of_postgres() {
    let log = tokio::task::spawn_blocking(throw_away_postgres::log).await.expect("the log is readable");
    for word in WORDS_OF_TESTS.into_iter().chain(WORDS) {
        let line = log.lines().find(|line| line.to_lowercase().contains(word));
        assert!(line.is_none(), "{word} stands in the log of the database: {line:?}");
    }
}

/// Checks that the metrics of a service hold no word of a canary, as far as it still tells them.
pub(crate) async fn assert_absent_from_metrics(base: &str, operator: Option<&str>) {
    let request = client().get(format!("{base}/metrics")).timeout(Duration::from_secs(10));
    let request = operator.into_iter().fold(request, RequestBuilder::bearer_auth);
    // The database of some tests has ended by now, and their connections are used up.
    if let Ok(response) = request.send().await {
        assert_absent("the metrics", &response.text().await.unwrap_or_default());
    }
}
