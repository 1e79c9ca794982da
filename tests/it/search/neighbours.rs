//! Several collections asked together: each finds what it would find alone, whoever its neighbours are.

use std::collections::BTreeMap;

use cited::GraphChanges;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor};

use super::{GRAPH_FROM_SETTING, GRAPHS_FROM, store};
use crate::{
    database,
    harness::TestApp,
    scripted::{ModelServer, embed},
};

const LARGE: usize = 1_200;
const GRAPHS: &str = "SELECT count(*) FROM pg_class WHERE relname LIKE 'chunk_embedding_graph_%'";

/// A document on one of these topics, of some words more or less.
pub(super) fn document(number: usize, topics: &[&str]) -> Value {
    let words = ["amber", "basalt", "copper", "dolomite", "emerald", "feldspar", "garnet", "hematite"];
    let chosen: Vec<&str> =
        (0..2 + number % 5).map(|place| words[(number * (place + 3) / 2 + place) % words.len()]).collect();
    let topic = topics[number % topics.len()];
    json!({"source": format!("{topic}-{number}"), "text": format!("Report {number} on the {topic}: {}.", chosen.join(" and "))})
}

pub(super) async fn fill(app: &TestApp, collection: &str, documents: &[Value]) {
    for page in documents.chunks(1_000) {
        let body = json!({"collection": collection, "documents": page});
        let answer = app.post("/v1/documents?wait=true", body).await;
        assert_eq!(answer.body["state"], "succeeded", "{answer:?}");
    }
}

pub(super) async fn search(app: &TestApp, collections: &[&str], query: &str, (mode, top_k): (&str, usize)) -> Value {
    let body = json!({
        "query": query, "collections": collections, "mode": mode, "top_k": top_k,
        "stages": {"rerank": false, "collapse_duplicates": false},
    });
    let answer = app.post("/v1/search", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// The score of every source found.
fn scores(found: &Value, score: &str) -> BTreeMap<String, f64> {
    let results = found["results"].as_array().expect("results").iter();
    results
        .map(|result| {
            let score = result["scores"][score].as_f64().expect("a score");
            (result["source"].as_str().expect("source").to_owned(), score)
        })
        .collect()
}

/// Scores are sums in single precision, whose order follows the ids of the terms.
fn assert_equal(one: &BTreeMap<String, f64>, other: &BTreeMap<String, f64>, query: &str) {
    assert!(!one.is_empty() && one.keys().eq(other.keys()), "{query}: {one:?} {other:?}");
    for ((source, score), other) in one.iter().zip(other.values()) {
        assert!((score - other).abs() < 1e-4, "{query}: {source} has {score} and {other}");
    }
}

/// The share of the ten nearest of these collections, by comparing all their vectors, that a search finds.
async fn recall(app: &TestApp, collections: &[&str], query: &str) -> f64 {
    let vector = embed(query);
    let names: Vec<String> = collections.iter().map(|name| format!("'{name}'")).collect();
    let exact = format!(
        "SELECT (1000000 * (1 - (e.embedding <=> '{vector:?}'::halfvec(64))))::bigint FROM chunk_embedding e
         JOIN collection c USING (tenant_id, index_id) WHERE c.name IN ({}) ORDER BY 1 DESC OFFSET 9 LIMIT 1",
        names.join(", ")
    );
    let tenth = database::number(&app.database, &exact).await;
    let found = search(app, collections, query, ("dense", 10)).await;
    let results = found["results"].as_array().expect("results");
    assert_eq!(results.len(), 10, "{query}: {found}");
    #[expect(clippy::cast_precision_loss, reason = "millionths of a cosine, and numbers up to ten")]
    let near = results
        .iter()
        .filter(|result| result["scores"]["dense"].as_f64().expect("a score") >= tenth as f64 / 1e6 - 1e-3)
        .count() as f64;
    near / 10.0
}

pub(super) async fn assert_recall(app: &TestApp, cases: &[(Vec<&str>, String)]) {
    let mut sum = 0.0;
    for (collections, query) in cases {
        sum += recall(app, collections, query).await;
    }
    #[expect(clippy::cast_precision_loss, reason = "some cases")]
    let mean = sum / cases.len() as f64;
    assert!(mean >= 0.98, "recall@10 of {mean} over {} searches", cases.len());
}

#[tokio::test]
async fn a_corpus_over_several_collections_ranks_as_in_one() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let documents: Vec<Value> = (0..300).map(|number| document(number, &["harbour", "orchard", "railway"])).collect();
    fill(&app, "whole", &documents).await;
    // A small one, a large one, and one that holds one topic more often than the others.
    let (small, rest) = documents.split_at(20);
    let (one_topic, others): (Vec<Value>, Vec<Value>) = rest
        .iter()
        .cloned()
        .partition(|document| document["source"].as_str().is_some_and(|s| s.starts_with("orchard")));
    for (name, part) in [("small", small), ("orchard", &one_topic), ("others", &others)] {
        fill(&app, name, part).await;
    }
    let parts = ["others", "small", "orchard"];
    for query in ["report on the orchard", "copper and garnet of the harbour", "railway 17", "emerald emerald basalt"] {
        for (mode, score) in [("lexical", "lexical"), ("hybrid", "fused")] {
            let whole = search(&app, &["whole"], query, (mode, 1_000)).await;
            let split = search(&app, &parts, query, (mode, 1_000)).await;
            assert_equal(&scores(&whole, score), &scores(&split, score), query);
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn small_collections_find_their_own_beside_a_large_one_and_in_a_crowd() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[GRAPH_FROM_SETTING]).await;
    let large: Vec<Value> = (0..LARGE).map(|number| document(number, &["harbour", "orchard", "railway"])).collect();
    fill(&app, "large", &large).await;
    let names: Vec<String> = (0..100).map(|number| format!("small-{number}")).collect();
    for (place, name) in names.iter().enumerate() {
        let documents: Vec<Value> =
            (0..30).map(|number| document(10_000 + 30 * place + number, &["foundry", "harbour"])).collect();
        fill(&app, name, &documents).await;
    }
    // The service's own round comes first where filling takes longer than the time between its rounds.
    store(&app).await.collections().maintain_vector_graphs(GRAPHS_FROM, &mut |_, _| false).await.expect("a round");
    assert_eq!(database::number(&app.database, GRAPHS).await, 1, "of the large one");
    let query = |number: usize| document(number, &["foundry", "harbour"])["text"].as_str().expect("text").to_owned();
    let mut cases = Vec::new();
    for place in (0..100).step_by(20) {
        cases.push((vec!["large", names[place].as_str()], query(10_000 + 30 * place + 7)));
        cases.push((vec![names[place].as_str()], query(10_000 + 30 * place + 8)));
    }
    cases.push((vec!["large"], query(40)));
    // As many as a request may name.
    let crowd: Vec<&str> = names.iter().take(32).map(String::as_str).collect();
    cases.push((crowd, query(10_500)));
    assert_recall(&app, &cases).await;
    let found = search(&app, &["large", "small-3"], &query(10_091), ("dense", 10)).await;
    assert_eq!(found["vector_scan"], "iterative");
    app.stop().await;
}

#[tokio::test]
async fn a_minority_is_found_in_a_graph_also_after_deletes_and_new_uploads() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[GRAPH_FROM_SETTING]).await;
    let mut documents: Vec<Value> = (0..LARGE).map(|number| document(number, &["harbour", "railway"])).collect();
    documents.extend((0..30).map(|number| document(20_000 + number, &["lighthouse"])));
    fill(&app, "large", &documents).await;
    let store = store(&app).await;
    let built = store.collections().maintain_vector_graphs(GRAPHS_FROM, &mut |_, _| false).await.expect("a round");
    assert_eq!(built, GraphChanges { built: 1, dropped: 0 });
    let minority = |step: usize| -> Vec<(Vec<&str>, String)> {
        let texts = (0..30).step_by(step).map(|number| document(20_000 + number, &["lighthouse"]));
        texts.map(|text| (vec!["large"], text["text"].as_str().expect("text").to_owned())).collect()
    };
    assert_recall(&app, &minority(3)).await;
    let receipt = app.delete("/v1/documents?collection=large&source_prefix=railway-").await;
    assert_eq!((receipt.status, &receipt.body["documents"]), (200, &json!(LARGE / 2)), "{receipt:?}");
    assert_recall(&app, &minority(3)).await;
    let again: Vec<Value> = (LARGE..2 * LARGE).map(|number| document(number, &["harbour", "railway"])).collect();
    fill(&app, "large", &again).await;
    assert_recall(&app, &minority(3)).await;
    store.close().await;
    app.stop().await;
}

#[tokio::test]
async fn an_interrupted_graph_is_not_used_and_built_anew_and_goes_with_its_collection() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[GRAPH_FROM_SETTING]).await;
    let documents: Vec<Value> = (0..LARGE).map(|number| document(number, &["harbour", "railway"])).collect();
    fill(&app, "large", &documents).await;
    let store = store(&app).await;
    let round =
        async || store.collections().maintain_vector_graphs(GRAPHS_FROM, &mut |_, _| false).await.expect("a round");
    let scan = async || search(&app, &["large"], "the harbour", ("dense", 10)).await["vector_scan"].clone();
    assert_eq!(scan().await, "exact");
    // Another process is at it.
    let mut other = app.database.connect().await.expect("connect");
    other.execute("SELECT pg_advisory_lock(20000)").await.expect("lock");
    assert_eq!(round().await, GraphChanges::default());
    other.close().await.expect("close");
    assert_eq!(round().await, GraphChanges { built: 1, dropped: 0 });
    assert_eq!(round().await, GraphChanges::default(), "nothing is left to do");
    assert_eq!(scan().await, "iterative");
    // The state that a build leaves whose process is killed.
    let interrupt = "UPDATE pg_index SET indisvalid = false
        WHERE indexrelid = (SELECT oid FROM pg_class WHERE relname LIKE 'chunk_embedding_graph_%')";
    database::execute(&app.database, interrupt).await;
    assert_eq!(scan().await, "exact");
    assert_recall(&app, &[(vec!["large"], "report on the harbour, amber and garnet".to_owned())]).await;
    assert_eq!(round().await, GraphChanges { built: 1, dropped: 1 });
    assert_eq!(scan().await, "iterative");
    assert_eq!(app.delete("/v1/collections/large").await.status, 200);
    assert_eq!(round().await, GraphChanges { built: 0, dropped: 1 });
    assert_eq!(database::number(&app.database, GRAPHS).await, 0);
    store.close().await;
    app.stop().await;
}

#[tokio::test]
async fn a_wide_filter_finds_enough_by_graph_and_by_comparison() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[GRAPH_FROM_SETTING]).await;
    let tagged = |number: usize| {
        let mut document = document(number, &["harbour", "railway"]);
        document["metadata"] = json!({"even": number.is_multiple_of(2)});
        document
    };
    fill(&app, "large", &(0..3_000).map(tagged).collect::<Vec<_>>()).await;
    fill(&app, "small", &(5_000..5_030).map(tagged).collect::<Vec<_>>()).await;
    let store = store(&app).await;
    assert_eq!(
        store.collections().maintain_vector_graphs(GRAPHS_FROM, &mut |_, _| false).await.expect("a round").built,
        1
    );
    let query = tagged(5_004)["text"].as_str().expect("text").to_owned();
    let body = json!({"query": query, "collections": ["large", "small"], "mode": "dense", "top_k": 20,
        "filter": {"metadata": {"even": true}}, "stages": {"rerank": false, "collapse_duplicates": false}});
    let found = app.post("/v1/search", body).await;
    assert_eq!(found.status, 200, "{found:?}");
    let results = found.body["results"].as_array().expect("results");
    assert_eq!(results.len(), 20);
    // Another text may have a vector as near.
    let nearest = results[0]["scores"]["dense"].as_f64().expect("a score");
    let own = results.iter().find(|result| result["source"] == "harbour-5004").expect("that of the small collection");
    assert!(own["scores"]["dense"].as_f64().expect("a score") >= nearest - 1e-3, "{own}");
    assert!(results.iter().all(|result| result["metadata"]["even"] == true));
    assert_eq!(found.body["vector_scan"], "iterative");
    store.close().await;
    app.stop().await;
}
