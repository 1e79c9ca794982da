//! How much a tenant keeps, and how much it may.

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use reqwest::{Method, multipart};
use serde_json::{Value, json};

use super::{
    keys::{SETTINGS, call, create_tenant},
    world::{OPERATOR, text},
};
use crate::{
    database,
    harness::{Answer, TestApp, send},
    scripted::ModelServer,
    wait,
};

/// Number of random changes that the counts are held against a recount after.
const CHANGES: usize = 50;

/// A tenant with a key of all scopes, beside that of the operator.
struct Tenant {
    app: TestApp,
    id: String,
    key: String,
    _models: ModelServer,
}

impl Tenant {
    async fn start(settings: &[(&str, &str)]) -> Self {
        let models = ModelServer::start().await;
        let app = TestApp::start_with_embeddings(&models, &[&SETTINGS[..], settings].concat()).await;
        let (id, key) = create_tenant(&app).await;
        Self { app, id, key, _models: models }
    }

    async fn try_to_set(&self, quotas: Value) -> Answer {
        let path = format!("/v1/tenants/{}", self.id);
        call(&self.app, OPERATOR, Method::PATCH, &path, Some(json!({"quotas": quotas}))).await
    }

    async fn set(&self, quotas: Value) -> Answer {
        let set = self.try_to_set(quotas).await;
        assert_eq!(set.status, 200, "{set:?}");
        set
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        call(&self.app, &self.key, method, path, body).await
    }

    async fn bring(&self, collection: &str, documents: &[(&str, &str)]) -> Answer {
        let one = |(source, text): &(&str, &str)| json!({"source": source, "text": text});
        let documents: Vec<Value> = documents.iter().map(one).collect();
        let body = json!({"collection": collection, "documents": documents});
        self.send(Method::POST, "/v1/documents?wait=true", Some(body)).await
    }

    async fn storage(&self) -> Value {
        let found = self.send(Method::GET, "/v1/storage", None).await;
        assert_eq!(found.status, 200, "{found:?}");
        found.body
    }

    async fn count(&self, what: &str) -> i64 {
        database::number(&self.app.database, &format!("SELECT count(*) FROM {what} WHERE tenant_id = '{}'", self.id))
            .await
    }

    /// Documents, bytes, collections, former versions and their bytes, counted from the rows.
    async fn recount(&self) -> [i64; 5] {
        let mut counts = [0; 5];
        for (count, sql) in counts.iter_mut().zip([
            "SELECT count(*) FROM document WHERE",
            "SELECT COALESCE((SELECT sum(octet_length(text) + octet_length(metadata::text)) FROM document WHERE tenant_id = t.tenant_id), 0)::bigint
                  + COALESCE((SELECT sum(bytes) FROM document_version WHERE tenant_id = t.tenant_id), 0)::bigint FROM tenant t WHERE",
            "SELECT count(*) FROM collection WHERE",
            "SELECT count(*) FROM document_version WHERE",
            "SELECT COALESCE(sum(bytes), 0)::bigint FROM document_version WHERE",
        ]) {
            *count = database::number(&self.app.database, &format!("{sql} tenant_id = '{}'", self.id)).await;
        }
        counts
    }

    async fn assert_counted(&self, when: &str) {
        let shown = self.storage().await;
        let names = ["documents", "bytes", "collections", "former_versions", "former_version_bytes"];
        let shown = names.map(|name| shown[name].as_i64().expect("a number"));
        assert_eq!(shown, self.recount().await, "{when}");
    }
}

/// A refusal names the quota, and how much of it is used.
fn assert_over(answer: &Answer, quota: &str, [used, limit, asked]: [u64; 3]) {
    answer.assert_problem(403, "storage_quota");
    let told = ["used", "limit", "asked"].map(|name| answer.body[name].as_u64().expect("a number"));
    assert_eq!((&answer.body["quota"], told), (&json!(quota), [used, limit, asked]), "{answer:?}");
    let detail = text(&answer.body["detail"]);
    assert!(detail.contains("delete documents") && detail.contains("cited tenants quota"), "{detail}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_brings_as_many_documents_as_it_may_by_no_door_more() {
    let tenant = Tenant::start(&[]).await;
    let shown = tenant.set(json!({"documents": 3})).await;
    assert_eq!(shown.body["storage"]["quotas"]["documents"], 3, "{shown:?}");
    assert_eq!(tenant.bring("c", &[("a", "One."), ("b", "Two.")]).await.status, 200);
    // All or nothing, and no collection for what is refused.
    assert_over(&tenant.bring("c", &[("c", "Three."), ("d", "Four.")]).await, "documents", [2, 3, 2]);
    assert_over(&tenant.bring("other", &[("c", "Three."), ("d", "Four.")]).await, "documents", [2, 3, 2]);
    assert_eq!((tenant.count("job").await, tenant.count("collection").await), (1, 1));
    assert_eq!(tenant.bring("c", &[("c", "Three.")]).await.status, 200);
    // It is full. What is there is replaced all the same.
    let replaced = tenant.bring("c", &[("a", "One again."), ("b", "Two.")]).await;
    assert_eq!((replaced.status, &replaced.body["counts"]["failed"]), (200, &json!(0)), "{replaced:?}");

    let over = [3, 3, 1];
    assert_over(&tenant.bring("c", &[("d", "Four.")]).await, "documents", over);
    let form =
        multipart::Form::new().text("collection", "c").part("file", multipart::Part::text("Four.").file_name("d.txt"));
    let form = tenant.app.request(Method::POST, "/v1/documents").bearer_auth(&tenant.key).multipart(form);
    assert_over(&send(form).await, "documents", over);
    let url = json!({"collection": "c", "documents": [{"url": "https://example.org/d"}]});
    assert_over(&tenant.send(Method::POST, "/v1/documents", Some(url)).await, "documents", over);
    let lines = tenant.app.request(Method::POST, "/v1/documents/bulk?collection=c").bearer_auth(&tenant.key);
    let lines = lines.header("content-type", "application/x-ndjson").body("{\"source\": \"d\", \"text\": \"Four.\"}\n");
    assert_over(&send(lines).await, "documents", over);
    let arguments = json!({"collection": "c", "documents": [{"source": "d", "text": "Four."}]});
    let tool = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ingest", "arguments": arguments}});
    let told = tenant.send(Method::POST, "/mcp", Some(tool)).await;
    let problem = &told.body["result"]["_meta"]["cited/problem"];
    assert_eq!((&problem["code"], &problem["used"]), (&json!("storage_quota"), &json!(3)), "{told:?}");

    assert_eq!(tenant.count("document").await, 3);
    let deleted = tenant.send(Method::DELETE, "/v1/documents?collection=c&source_prefix=a", None).await;
    assert_eq!(deleted.status, 200, "{deleted:?}");
    assert_eq!(tenant.bring("c", &[("d", "Four.")]).await.status, 200, "there is room again");
    // The refusals and the change are on record.
    wait::until("the refusals are on record", async || {
        let refused = tenant.send(Method::GET, "/v1/security-events?refused=true", None).await;
        refused.body.to_string().contains("storage_quota")
    })
    .await;
    let path = "/v1/security-events?deployment=true&action=update_tenant";
    let changed = call(&tenant.app, OPERATOR, Method::GET, path, None).await;
    assert!(changed.body.to_string().contains(&tenant.id), "{changed:?}");
    tenant.app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_and_collections_end_too_and_former_versions_give_way() {
    let tenant = Tenant::start(&[("CITED_TENANT_MAX_COLLECTIONS", "2"), ("CITED_TENANT_MAX_BYTES", "100000")]).await;
    assert_eq!(tenant.bring("c", &[("a", "One.")]).await.status, 200);
    // A document that turns out to be too much fails by itself, and the one beside it is stored.
    tenant.set(json!({"bytes": 60})).await;
    let long = "Words of a text. ".repeat(10);
    let job = tenant.bring("c", &[("long", &long), ("b", "Two.")]).await;
    assert_eq!(
        (&job.body["counts"]["failed"], &job.body["failures"][0]["cause"]),
        (&json!(1), &json!("storage_quota")),
        "{job:?}"
    );
    assert!(job.body["items"].to_string().contains("of at most 60 bytes"), "{job:?}");
    let sources = "document WHERE source = 'long' OR source = 'b'";
    assert_eq!(database::number(&tenant.app.database, &format!("SELECT count(*) FROM {sources}")).await, 1);
    tenant.set(json!({"bytes": 5})).await;
    let kept = tenant.storage().await["bytes"].as_u64().expect("bytes");
    assert_over(&tenant.bring("c", &[("d", "Four.")]).await, "bytes", [kept, 5, 1]);
    let again = tenant.bring("fresh", &[("d", "Four.")]).await;
    again.assert_problem(403, "storage_quota");

    // A list is no change: it was taken for the quotas in their order.
    for wrong in [json!([null, null]), json!([]), json!({"documents": [1]})] {
        tenant.try_to_set(wrong).await.assert_problem(422, "invalid_request");
    }
    // Of the deployment again.
    let shown = tenant.set(json!({"bytes": null})).await;
    assert_eq!(shown.body["storage"]["quotas"]["bytes"], 100_000, "{shown:?}");
    assert_eq!(tenant.bring("d", &[("a", "One.")]).await.status, 200);
    let made = tenant.send(Method::POST, "/v1/collections", Some(json!({"name": "e"}))).await;
    assert_over(&made, "collections", [2, 2, 1]);
    assert_over(&tenant.bring("e", &[("a", "One.")]).await, "collections", [2, 2, 1]);

    // Every version is kept until somebody says how many.
    let first = tenant.send(Method::GET, "/v1/documents?collection=c&source_prefix=a", None).await;
    let document = text(&first.body["documents"][0]["id"]);
    for words in ["Two of it.", "Three of it.", "Four of it."] {
        assert_eq!(tenant.bring("c", &[("a", words)]).await.status, 200);
    }
    assert_eq!(tenant.storage().await["former_versions"], 3);
    tenant.set(json!({"former_versions": 1})).await;
    assert_eq!(tenant.storage().await["former_versions"], 1);
    assert_eq!(tenant.bring("c", &[("a", "Five of it.")]).await.status, 200);
    assert_eq!(tenant.storage().await["former_versions"], 1);
    tenant.assert_counted("after the versions").await;
    for (version, is_kept) in [(3, false), (4, true)] {
        let urn = format!("cited:c/{document}@{version}#0");
        let cited = tenant.send(Method::GET, &format!("/v1/citations/{}", super::world::encoded(&urn)), None).await;
        assert_eq!((cited.status, &cited.body["status"]), (200, &json!("superseded")), "{cited:?}");
        assert_eq!(cited.body["passage"].is_object(), is_kept, "{cited:?}");
    }
    tenant.app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quota_holds_against_many_at_once() {
    let tenant = Tenant::start(&[("CITED_TENANT_MAX_DOCUMENTS", "10")]).await;
    let sources: Vec<(String, String)> =
        (0..30).map(|number| (format!("c{}", number % 6), format!("d{number}"))).collect();
    let sent =
        sources.iter().map(|(collection, source)| async { tenant.bring(collection, &[(source, "Some words.")]).await });
    let answers = futures::future::join_all(sent).await;
    assert_eq!(tenant.count("document").await, 10);
    let stored = answers.iter().filter(|answer| answer.status == 200 && answer.body["counts"]["failed"] == 0).count();
    assert_eq!(stored, 10, "{answers:#?}");
    for answer in answers.iter().filter(|answer| answer.status == 403) {
        answer.assert_problem(403, "storage_quota");
    }
    tenant.assert_counted("after the rush").await;
    tenant.app.stop().await;
}

/// A change to what the tenant keeps.
#[derive(Clone, Debug)]
enum Step {
    Store { collection: &'static str, documents: Vec<(&'static str, String)>, metadata: bool },
    Delete { collection: &'static str, source: &'static str },
    DropCollection(&'static str),
    Rebuild(&'static str),
    KeepVersions(Option<u64>),
}

fn steps() -> impl Strategy<Value = Step> {
    let collection = prop::sample::select(&["c", "d", "e"][..]);
    let source = prop::sample::select(&["s1", "s2", "s3", "s4"][..]);
    let text = (1..40_usize, "[a-zäß]{3,9}").prop_map(|(times, word)| format!("{word} ").repeat(times));
    let store = (collection.clone(), prop::collection::vec((source.clone(), text), 1..4), any::<bool>())
        .prop_map(|(collection, documents, metadata)| Step::Store { collection, documents, metadata });
    let delete = (collection.clone(), source).prop_map(|(collection, source)| Step::Delete { collection, source });
    let keep = prop::option::of(0..4_u64).prop_map(Step::KeepVersions);
    prop_oneof![
        10 => store,
        3 => delete,
        1 => collection.clone().prop_map(Step::DropCollection),
        2 => collection.prop_map(Step::Rebuild),
        1 => keep,
    ]
}

impl Tenant {
    async fn take(&self, step: &Step, number: usize) {
        match step {
            Step::Store { collection, documents, metadata } => {
                let one = |(source, text): &(&str, String)| {
                    let metadata = if *metadata { json!({"number": number, "of": "ä"}) } else { json!({}) };
                    json!({"source": source, "text": text, "metadata": metadata})
                };
                let mut documents: Vec<Value> = documents.iter().map(one).collect();
                documents.dedup_by_key(|document| text(&document["source"]));
                documents.sort_by_key(|document| text(&document["source"]));
                documents.dedup_by_key(|document| text(&document["source"]));
                let body = json!({"collection": collection, "documents": documents});
                let job = self.send(Method::POST, "/v1/documents?wait=true", Some(body)).await;
                assert_eq!((job.status, &job.body["counts"]["failed"]), (200, &json!(0)), "{job:?}");
            }
            Step::Delete { collection, source } => {
                let path = format!("/v1/documents?collection={collection}&source_prefix={source}");
                let answer = self.send(Method::DELETE, &path, None).await;
                assert!(matches!(answer.status, 200 | 404), "{answer:?}");
            }
            Step::DropCollection(name) => {
                let answer = self.send(Method::DELETE, &format!("/v1/collections/{name}"), None).await;
                assert!(matches!(answer.status, 200 | 404), "{answer:?}");
            }
            Step::Rebuild(name) => {
                let path = format!("/v1/collections/{name}/indexes");
                let there = self.send(Method::GET, &path, None).await;
                for index in
                    there.body["indexes"].as_array().into_iter().flatten().filter(|one| one["is_active"] == false)
                {
                    let dropped = self.send(Method::DELETE, &format!("{path}/{}", text(&index["id"])), None).await;
                    assert_eq!(dropped.status, 200, "{dropped:?}");
                }
                let size = json!({"splitter": {"size": 50 + number}});
                let built = self.send(Method::POST, &path, Some(size)).await;
                if built.status == 404 {
                    return;
                }
                let job = format!("/v1/jobs/{}", text(&built.body["job"]["id"]));
                wait::until("the index is built", async || {
                    self.send(Method::GET, &job, None).await.body["state"] == "succeeded"
                })
                .await;
                let index = text(&built.body["index"]["id"]);
                let active = self.send(Method::POST, &format!("{path}/{index}/activate"), None).await;
                assert_eq!(active.status, 200, "{active:?}");
            }
            Step::KeepVersions(versions) => drop(self.set(json!({"former_versions": versions})).await),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_are_those_of_the_rows_after_any_changes() {
    let tenant = Tenant::start(&[]).await;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[24; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for number in 0..CHANGES {
        let step = steps().new_tree(&mut runner).expect("a value").current();
        tenant.take(&step, number).await;
        tenant.assert_counted(&format!("after step {number}: {step:?}")).await;
    }
    let storage = tenant.storage().await;
    assert!(storage["bytes"].as_u64() > Some(100), "{storage}");
    database::assert_consistent(&tenant.app.database).await;
    tenant.app.stop().await;
}
