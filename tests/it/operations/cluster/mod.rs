//! A database that is split up by tenants over several servers, where `CITED_TEST_CITUS` names a Postgres with Citus:
//! `CITED_TEST_CITUS=… cargo test --test it -- --ignored operations::cluster`, and `make cluster-test`.

mod backups;
mod clients;
mod coordinator;
mod examination;
mod faults;
mod line;
mod moving;
mod plans;
mod replacing;
mod splitting;
mod standbys;
mod trust;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor, postgres::PgConnectOptions};
use tempfile::TempDir;

use self::line::Line;
use super::{own_servers::Server, private_postgres::folder};
use crate::{
    citus, database,
    harness::{Answer, TestApp, send},
    process::command,
    scripted::ModelServer,
    wait,
};

const OPERATOR: &str = "an-operator-key-of-32-characters-or-more";
const PEPPER: &str = "a-pepper-of-the-cluster-of-32-characters-or-more";
/// The tenant that is there from the beginning.
const DEFAULT_TENANT: &str = "00000000-0000-7000-8000-000000000001";

/// A coordinator and nodes with a database without a schema.
struct Cluster {
    servers: citus::Cluster,
    folder: TempDir,
    /// The port at which services reach the coordinator.
    door: u16,
}

impl Cluster {
    /// With as many nodes.
    async fn start(nodes: usize) -> Self {
        let folder = folder();
        let servers = citus::Cluster::start(folder.path(), nodes).await;
        let ports: Vec<u16> = servers.nodes.iter().map(Server::port).collect();
        servers.create("cited", &ports).await;
        Self { door: servers.coordinator.port(), servers, folder }
    }

    /// From now on the coordinator is reached by a line, by the other servers too.
    async fn put_coordinator_behind_a_line(&mut self) -> Line {
        let line = Line::to(self.servers.coordinator.port()).await;
        self.says(&format!("SELECT citus_set_coordinator_host('127.0.0.1', {})", line.port())).await;
        self.door = line.port();
        line
    }

    /// The same where the servers reach each other by lines that can be cut.
    async fn start_behind_lines(nodes: usize) -> (Self, Vec<Line>) {
        let folder = folder();
        let servers = citus::Cluster::start(folder.path(), nodes).await;
        let mut lines = Vec::with_capacity(nodes);
        for node in &servers.nodes {
            lines.push(Line::to(node.port()).await);
        }
        let ports: Vec<u16> = lines.iter().map(Line::port).collect();
        servers.create("cited", &ports).await;
        (Self { door: servers.coordinator.port(), servers, folder }, lines)
    }

    async fn says(&self, sql: &str) {
        database::execute(&self.options(), sql).await;
    }

    async fn number(&self, sql: &str) -> i64 {
        database::number(&self.options(), sql).await
    }

    async fn texts(&self, sql: &'static str) -> Vec<String> {
        let mut connection = self.options().connect().await.expect("connect");
        let texts = sqlx::query_scalar(sql).fetch_all(&mut connection).await.expect(sql);
        connection.close().await.expect("close");
        texts
    }

    /// How the service reaches the coordinator.
    fn options(&self) -> PgConnectOptions {
        self.servers.options("cited").port(self.door)
    }

    fn url(&self) -> String {
        database::url(&self.options())
    }

    /// Runs a command, which must end well; returns what it printed.
    async fn run(&self, arguments: &[&str]) -> String {
        let url = self.url();
        let output = command(arguments, &[("DATABASE_URL", &url)]).output().await.expect("it runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Runs a command, which must fail; returns why.
    async fn refused(&self, url: &str, arguments: &[&str]) -> String {
        let output = command(arguments, &[("DATABASE_URL", url)]).output().await.expect("it runs");
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    }
}

/// Tables that are not on the coordinator alone.
const SPLIT: &str = "SELECT count(*) FROM pg_dist_partition";

/// A service, and a key of a tenant.
struct Tenant<'a> {
    app: &'a TestApp,
    id: String,
    key: String,
}

impl Tenant<'_> {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.app.request(method, path).bearer_auth(&self.key)
    }

    async fn call(&self, method: Method, path: &str, body: Value) -> Value {
        let answer = send(self.request(method, path).json(&body)).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.body
    }

    async fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path)).await
    }

    async fn store(&self, documents: Value) -> Value {
        let body = json!({"collection": "c", "documents": documents});
        let job = self.call(Method::POST, "/v1/documents?wait=true", body).await;
        assert_eq!(job["state"], "succeeded", "{job}");
        job
    }

    /// Sources that a search finds.
    async fn found(&self, query: Value) -> Vec<String> {
        let found = self.call(Method::POST, "/v1/search", query).await;
        let hits = found["results"].as_array().expect("results");
        hits.iter().map(|hit| hit["source"].as_str().expect("a source").to_owned()).collect()
    }
}

async fn operator(app: &TestApp, method: Method, path: &str, body: Value) -> Answer {
    send(app.request(method, path).bearer_auth(OPERATOR).json(&body)).await
}

/// A tenant of its own, with a key that may do everything.
async fn new_tenant<'a>(app: &'a TestApp, name: &str) -> Tenant<'a> {
    let made = operator(app, Method::POST, "/v1/tenants", json!({"name": name})).await;
    assert_eq!(made.status, 201, "{made:?}");
    let id = made.body["id"].as_str().expect("an id").to_owned();
    let wanted = json!({"name": "all", "scopes": ["ask", "ingest", "read", "admin"]});
    let key = operator(app, Method::POST, &format!("/v1/tenants/{id}/keys"), wanted).await;
    assert_eq!(key.status, 201, "{key:?}");
    Tenant { app, id, key: key.body["secret"].as_str().expect("a secret").to_owned() }
}

async fn service(cluster: &Cluster, models: &ModelServer) -> TestApp {
    let url = models.base_url();
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", url.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_KEY_PEPPER", PEPPER),
        ("CITED_VECTOR_GRAPH_FROM", "100"),
    ];
    TestApp::start(cluster.options(), &settings).await
}

/// Stores, finds, asks, replaces, restricts and deletes, all by the API.
async fn use_everything(tenant: &Tenant<'_>, word: &str) {
    let ferry = format!("The {word} ferry leaves at nine in the morning from pier four.");
    let acl = json!({"allow": ["group:crew"]});
    let job = tenant
        .store(json!([
            {"source": "ferry", "text": ferry, "metadata": {"year": 2020}},
            {"source": "paint", "text": "Boats are painted in spring by the crew.", "acl": acl},
            {"source": "rope", "text": "Ropes are kept dry in the shed."},
        ]))
        .await;
    let id = job["items"][0]["document_id"].as_str().expect("an id").to_owned();
    for mode in ["hybrid", "lexical", "dense"] {
        let query = json!({"query": format!("{word} ferry pier"), "collections": ["c"], "mode": mode});
        assert_eq!(tenant.found(query).await.first().map(String::as_str), Some("ferry"), "{mode}");
    }
    for filter in [json!({"source_prefix": "fer"}), json!({"metadata": {"year": 2020}}), json!({"document_ids": [id]})]
    {
        let query = json!({"query": "ferry pier", "collections": ["c"], "filter": filter});
        assert_eq!(tenant.found(query).await, ["ferry"], "{filter}");
    }
    let question =
        json!({"question": format!("When does the {word} ferry leave?"), "collections": ["c"], "cache": {"ttl_s": 60}});
    for _ in 0..2 {
        let answer = tenant.call(Method::POST, "/v1/ask", question.clone()).await;
        assert!(answer["sources"].to_string().contains("nine in the morning"), "{answer}");
    }

    let text = json!({"text": format!("The {word} ferry leaves at ten.")});
    let job = tenant.call(Method::PUT, &format!("/v1/documents/{id}?wait=true"), text).await;
    assert_eq!(job["state"], "succeeded", "{job}");
    let document = tenant.get(&format!("/v1/documents/{id}")).await;
    assert_eq!(
        (&document.body["version"], &document.body["metadata"]["year"]),
        (&json!(2), &json!(2020)),
        "{document:?}"
    );
    let answer = tenant.call(Method::POST, "/v1/ask", question).await;
    assert!(answer["sources"].to_string().contains("at ten"), "{answer}");
    let listed = tenant.get("/v1/documents?collection=c").await;
    assert_eq!(listed.body["documents"].as_array().map(Vec::len), Some(3), "{listed:?}");

    let deleted = send(tenant.request(Method::DELETE, &format!("/v1/documents/{id}"))).await;
    assert_eq!((deleted.status, &deleted.body["documents"]), (200, &json!(1)), "{deleted:?}");
    let query = json!({"query": format!("{word} ferry"), "collections": ["c"], "mode": "lexical"});
    assert!(!tenant.found(query).await.contains(&"ferry".to_owned()));
    assert_eq!(tenant.get(&format!("/v1/documents/{id}")).await.status, 404);
    let deleted = send(tenant.request(Method::DELETE, "/v1/documents?collection=c&source_prefix=ro")).await;
    assert_eq!((deleted.status, &deleted.body["documents"]), (200, &json!(1)), "{deleted:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn a_service_works_on_a_database_that_is_split_up_by_tenants() {
    let mut cluster = Cluster::start(2).await;
    let models = ModelServer::start().await;
    // Rows that are there before are moved.
    let app = service(&cluster, &models).await;
    let text = "The old ferry left at noon.";
    let body = json!({"collection": "c", "documents": [{"source": "old", "text": text}]});
    let job = operator(&app, Method::POST, "/v1/documents?wait=true", body).await;
    assert_eq!((job.status, &job.body["state"]), (200, &json!("succeeded")), "{job:?}");
    let url = cluster.url();
    let refusal = cluster.refused(&url, &["cluster", "init"]).await;
    assert!(refusal.contains("stop all of them first"), "{refusal}");
    app.end().await;

    let plan = cluster.run(&["cluster", "init", "--dry-run"]).await;
    assert!(plan.contains("create_distributed_table('chunk'"), "{plan}");
    assert_eq!(cluster.number(SPLIT).await, 0, "a dry run changes nothing");
    cluster.run(&["cluster", "init", "--shards", "4"]).await;
    assert_eq!(
        cluster.number("SELECT count(DISTINCT colocationid) FROM pg_dist_partition WHERE partmethod = 'h'").await,
        1
    );
    assert!(cluster.run(&["cluster", "init"]).await.contains("already"));

    let app = service(&cluster, &models).await;
    let default = Tenant { app: &app, id: DEFAULT_TENANT.to_owned(), key: OPERATOR.to_owned() };
    let query = json!({"query": "old ferry", "collections": ["c"], "mode": "lexical"});
    assert_eq!(default.found(query).await, ["old"]);
    let mut tenants = Vec::new();
    for name in ["one", "two", "three", "four"] {
        tenants.push(new_tenant(&app, name).await);
    }
    let words = ["red", "green", "blue", "white"];
    futures::future::join_all(tenants.iter().zip(words).map(|(tenant, word)| use_everything(tenant, word))).await;
    let many: Vec<Value> = (0..120)
        .map(|number| json!({"source": format!("b{number}"), "text": format!("Boat {number} is moored.")}))
        .collect();
    let body = json!({"collection": "many", "documents": many});
    let job = default.call(Method::POST, "/v1/documents?wait=true", body).await;
    assert_eq!(job["state"], "succeeded", "{job}");
    // A role without a tenant is refused, on each server.
    for server in cluster.servers.servers() {
        let mut nobody = server.options("cited").options([("role", "cited_app")]).connect().await.expect("connect");
        let refusal = nobody.execute("SELECT count(*) FROM document").await.expect_err("there is no tenant");
        assert!(refusal.to_string().contains("\"cited.tenant\""), "{refusal}");
        nobody.close().await.expect("close");
    }
    // The rest of each is its own.
    for tenant in &tenants {
        let listed = tenant.get("/v1/documents?collection=c").await;
        assert_eq!(listed.body["documents"].as_array().map(Vec::len), Some(1), "{listed:?}");
        assert_eq!(send(tenant.request(Method::DELETE, "/v1/collections/c")).await.status, 200);
    }
    let again = operator(&app, Method::POST, "/v1/tenants", json!({"name": "one"})).await;
    again.assert_problem(409, "tenant_exists");
    let gone = operator(&app, Method::DELETE, &format!("/v1/tenants/{}", tenants[0].id), Value::Null).await;
    assert!(matches!(gone.status, 200 | 204), "{gone:?}");
    let wanted = json!({"name": "late", "scopes": ["ask"]});
    let late = operator(&app, Method::POST, &format!("/v1/tenants/{}/keys", tenants[0].id), wanted).await;
    assert_eq!(late.status, 404, "{late:?}");

    let status = cluster.run(&["cluster", "status"]).await;
    for part in ["the schema is split up by tenants", "coordinator", "worker", "default", "not finished: 0"] {
        assert!(status.contains(part), "{part}: {status}");
    }
    // Functions run on the node of their tenant and read nothing of another.
    for worker in &cluster.servers.nodes {
        let fanned_out = "SELECT COALESCE(sum(query_execution_multi_shard), 0)::bigint FROM citus_stat_counters";
        assert_eq!(database::number(&worker.options("cited"), fanned_out).await, 0);
    }

    // A tenant is moved away from those that it shared shards with, and keeps all.
    cluster.run(&["cluster", "isolate", DEFAULT_TENANT]).await;
    let nowhere = "00000000-0000-7000-8000-00000000000f";
    assert!(cluster.refused(&url, &["cluster", "isolate", nowhere]).await.contains("there is no tenant"));
    cluster.run(&["cluster", "rebalance"]).await;
    for arguments in [["cluster", "rebalance"].as_slice(), &["cluster", "rebalance", "--dry-run"]] {
        assert!(cluster.run(arguments).await.contains("nothing is to be moved"));
    }
    let query = json!({"query": "old ferry", "collections": ["c"], "mode": "hybrid"});
    assert_eq!(default.found(query.clone()).await, ["old"]);
    app.end().await;

    // A release that changes a function brings it to the nodes as well.
    cluster.says(FUNCTIONS_AS_MIGRATED).await;
    assert!(cluster.run(&["cluster", "status"]).await.contains("steps are to be done"));
    let app = service(&cluster, &models).await;
    let default = Tenant { app: &app, id: DEFAULT_TENANT.to_owned(), key: OPERATOR.to_owned() };
    assert_eq!(default.found(query).await, ["old"]);
    assert!(cluster.run(&["cluster", "init", "--dry-run"]).await.contains("nothing is to be done"));
    // Its first round of maintenance has built the graph of the large collection, on the shards.
    let graphs = "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relname LIKE 'chunk\\_embedding\\_graph\\_%' AND i.indisvalid";
    wait::until_count(&cluster.options(), graphs, |graphs| graphs == 1).await;
    let query = json!({"query": "Boat 77", "collections": ["many"], "mode": "dense"});
    let found = default.call(Method::POST, "/v1/search", query).await;
    assert_eq!(found["vector_scan"], "iterative", "{found}");
    assert!(found["results"].as_array().is_some_and(|results| !results.is_empty()), "{found}");

    // A client was told that it is stored, so a crash of all nodes leaves it.
    default.store(json!([{"source": "late", "text": "The late ferry is full."}])).await;
    cluster.servers.crash_nodes().await;
    let listed = wait::until_ok("the node answers again", async || {
        let listed = default.get("/v1/documents?collection=c").await;
        if listed.status == 200 { Ok(listed) } else { Err(listed) }
    })
    .await;
    assert!(listed.body["documents"].to_string().contains("\"late\""), "{listed:?}");
    app.end().await;

    for (name, value) in [("DATABASE_READ_URL", &url), ("DATABASE_DIRECT_URL", &url)] {
        let settings = [("DATABASE_URL", url.as_str()), (name, value.as_str())];
        let output = command(&["worker"], &settings).output().await.expect("it runs");
        let refusal = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(refusal.contains("split up by tenants does not work with"), "{name}: {refusal}");
    }
}

/// Gives functions the text again that the migrations gave them.
const FUNCTIONS_AS_MIGRATED: &str = "DO $do$ DECLARE form text; BEGIN
    FOR form IN SELECT replace(pg_get_functiondef(oid), 'bind_tenant(in_tenant)', $$set_config('cited.tenant', in_tenant::text, true)$$)
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosrc LIKE '%PERFORM bind_tenant(in_tenant)%' LOOP
        EXECUTE form;
    END LOOP;
END $do$";
