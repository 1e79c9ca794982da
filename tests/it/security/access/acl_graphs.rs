//! Access control lists over a graph of vectors: what a list lets through is found as if all of it had been compared.

use cited::{GraphSizes, PoolSettings, Store};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use uuid::Uuid;

use super::{
    keys::{SETTINGS, call, create},
    world::OPERATOR,
};
use crate::{
    database,
    harness::TestApp,
    scripted::{ModelServer, embed},
};

const DOCUMENTS: usize = 5_000;
const GRAPHS_FROM: GraphSizes = GraphSizes { from: 1_000, bits_from: 1_000_000 };

/// The folder of a document, which says who may see it: one in a thousand dora, one in fifty bob as well, each second the
/// group of both, and the rest nobody.
fn folder(number: usize) -> (&'static str, Value) {
    match number {
        _ if number.is_multiple_of(1_000) => ("rare", json!(["user:dora"])),
        _ if number.is_multiple_of(50) => ("few", json!(["user:bob"])),
        _ if number.is_multiple_of(2) => ("many", json!(["group:people"])),
        _ => ("none", json!(["user:nobody"])),
    }
}

fn words(number: usize) -> String {
    let topics = ["harbour", "orchard", "railway", "foundry", "library", "quarry", "brewery"];
    let things = ["copper", "garnet", "basalt", "emerald", "walnut", "linen", "amber", "cobalt", "marble", "willow"];
    format!(
        "Report {number} on the {} with {} and {}, number {} of its kind.",
        topics[number % 7],
        things[number / 7 % 10],
        things[number / 70 % 10],
        number / 13
    )
}

fn document(number: usize) -> Value {
    let (folder, allow) = folder(number);
    json!({"source": format!("{folder}/{number:04}"), "text": words(number), "acl": {"allow": allow}})
}

/// The share of the ten nearest (or of all, if they are fewer) in these folders that a key finds.
async fn recall(app: &TestApp, (key, folders): (&str, &[&str]), query: &str) -> f64 {
    let vector = embed(query);
    let folders = folders.iter().map(|folder| format!("source LIKE '{folder}/%'")).collect::<Vec<_>>().join(" OR ");
    let exact = |what: &str| {
        format!(
            "SELECT {what} FROM (SELECT (1000000 * (1 - (e.embedding <=> '{vector:?}'::halfvec(64))))::bigint AS near
             FROM chunk_embedding e JOIN document d USING (tenant_id, document_id)
             WHERE d.tenant_id = '00000000-0000-7000-8000-000000000001' AND ({folders}) ORDER BY 1 DESC LIMIT 10) nearest"
        )
    };
    let (least, count) = (
        database::number(&app.database, &exact("min(near)")).await,
        database::number(&app.database, &exact("count(*)")).await,
    );
    let body = json!({"query": query, "collections": ["c"], "mode": "dense", "top_k": 10,
                      "stages": {"rerank": false, "collapse_duplicates": false}});
    let found = call(app, key, Method::POST, "/v1/search", Some(body)).await;
    assert_eq!(found.status, 200, "{query}");
    // Few are compared one by one, whatever there is.
    let is_walked = found.body["vector_scan"] == "iterative";
    assert!(is_walked || key != OPERATOR, "{query}: {}", found.body["vector_scan"]);
    let results = found.body["results"].as_array().expect("results");
    assert_eq!(i64::try_from(results.len()).expect("few"), count, "{query}: all that there is, or ten");
    #[expect(clippy::cast_precision_loss, reason = "millionths of a cosine, and numbers up to ten")]
    let (least, count) = (least as f64 / 1e6 - 1e-3, count as f64);
    #[expect(clippy::cast_precision_loss, reason = "numbers up to ten")]
    let near = results.iter().filter(|hit| hit["scores"]["dense"].as_f64().expect("a score") >= least).count() as f64;
    near / count
}

#[tokio::test]
async fn a_graph_loses_nothing_of_what_a_list_lets_through() {
    let models = ModelServer::start().await;
    let settings = [&SETTINGS[..], &[("CITED_VECTOR_GRAPH_FROM", "1000")]].concat();
    let app = TestApp::start_with_embeddings(&models, &settings).await;
    for start in (0..DOCUMENTS).step_by(1_000) {
        let documents: Vec<Value> = (start..start + 1_000).map(document).collect();
        let upload = json!({"collection": "c", "documents": documents});
        let job = call(&app, OPERATOR, Method::POST, "/v1/documents?wait=true", Some(upload)).await;
        assert_eq!(job.body["state"], "succeeded", "{}", job.body["failures"]);
    }
    let pools = PoolSettings { max_connections: 2, ..PoolSettings::default() };
    let store = Store::connect(&app.database, &[], &pools).await.expect("the store opens");
    let built = store.collections().maintain_vector_graphs(GRAPHS_FROM, &mut |_, _| false).await.expect("a round");
    assert_eq!(built.built, 1, "{built:?}");
    store.close().await;
    let key = async |principals: Value| {
        create(&app, json!({"name": "a key", "scopes": ["ask"], "principals": principals})).await.0
    };
    let dora = key(json!(["user:dora"])).await;
    let bob = key(json!(["user:bob"])).await;
    let people = key(json!(["user:bob", "user:dora", "group:people"])).await;
    for (who, key, folders) in [
        ("one in a thousand", dora.as_str(), &["rare"][..]),
        ("one in fifty", &bob, &["few"]),
        ("half", &people, &["rare", "few", "many"]),
        ("everything", OPERATOR, &["rare", "few", "many", "none"]),
    ] {
        let queries = (0..10).map(|number| words(number * 487 + 3));
        let mut sum = 0.0;
        for query in queries {
            sum += recall(&app, (key, folders), &query).await;
        }
        assert!(sum / 10.0 >= 0.98, "{who}: recall@10 of {}", sum / 10.0);
    }
    assert_a_search_is_carried_out_alike(&app, &people).await;
    app.stop().await;
}

/// Checks that naming so many hidden documents that a graph would be walked for them, beside some that are seen, is as naming as
/// many that are not there.
async fn assert_a_search_is_carried_out_alike(app: &TestApp, key: &str) {
    let mut connection = app.database.connect().await.expect("the database answers");
    connection.execute("SET search_path = without_canaries, public").await.expect("a search path");
    let of = "SELECT document_id FROM document WHERE source LIKE $1 ORDER BY source LIMIT $2";
    let (mut named, seen) = (Vec::<Uuid>::new(), 200);
    for (folder, most) in [("many/%", seen), ("none/%", DOCUMENTS)] {
        let most = i64::try_from(most).expect("few");
        let ids = sqlx::query_scalar::<_, Uuid>(of).bind(folder).bind(most);
        named.extend(ids.fetch_all(&mut connection).await.expect("ids"));
    }
    connection.close().await.expect("close");
    assert_eq!(named.len(), seen + DOCUMENTS / 2);
    let absent = (0..named.len() as u128).map(|id| Uuid::from_u128(0x019e_e0a1_6f0b_7d52_9a40_0000_0000_0000 + id));
    let instead: Vec<Uuid> = named.iter().copied().take(seen).chain(absent.skip(seen)).collect();
    let found = async |key: &str, ids: &[Uuid]| {
        let body = json!({"query": words(1), "collections": ["c"], "mode": "dense", "filter": {"document_ids": ids}});
        let answer = call(app, key, Method::POST, "/v1/search", Some(body)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    };
    assert_eq!(found(OPERATOR, &named).await["vector_scan"], "iterative");
    assert_eq!(found(key, &named).await, found(key, &instead).await);
}
