//! Very large collections: a graph of bits finds what a comparison of all vectors finds, and comes and goes with the size.

use std::time::Duration;

use cited::{GraphChanges, GraphSizes};
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _};

use super::{
    neighbours::{assert_recall, document, fill, search},
    store,
};
use crate::{database, harness::TestApp, scripted::ModelServer};

const SIZES: GraphSizes = GraphSizes { from: 1_000, bits_from: 2_400 };
const SETTINGS: [(&str, &str); 2] = [("CITED_VECTOR_GRAPH_FROM", "1000"), ("CITED_VECTOR_BITS_FROM", "2400")];
/// Most rounds until nothing is left to do, and the rest between them.
const MOST_ROUNDS: usize = 60;
const BETWEEN_ROUNDS: Duration = Duration::from_millis(500);
const TOPICS: [&str; 3] = ["harbour", "orchard", "railway"];

/// A document of the topics, in one of ten parts.
fn part_of(number: usize) -> Value {
    let mut document = document(number, &TOPICS);
    document["metadata"] = json!({"part": number % 10});
    document
}

fn cases() -> Vec<(Vec<&'static str>, String)> {
    let texts = (0..3_000).step_by(97).map(|number| document(number, &TOPICS));
    texts.map(|text| (vec!["large"], text["text"].as_str().expect("text").to_owned())).collect()
}

/// The graphs that can be used, of vectors and of bits, and the kind that a search is told of.
async fn graphs(app: &TestApp) -> (i64, i64, Option<String>) {
    let count = async |prefix: &str| {
        let usable = format!(
            "SELECT count(*) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid AND i.indisvalid
             WHERE c.relname LIKE 'chunk_embedding_{prefix}_%'"
        );
        database::number(&app.database, &usable).await
    };
    let mut connection = app.database.connect().await.expect("connect");
    let kind = sqlx::query_scalar("SELECT vector_graph_kind(index_id) FROM collection WHERE name = 'large'")
        .fetch_optional(&mut connection)
        .await
        .expect("the kind")
        .flatten();
    connection.close().await.expect("close");
    (count("graph").await, count("bits").await, kind)
}

#[tokio::test]
async fn a_collection_gets_a_graph_of_bits_as_it_grows_and_one_of_vectors_as_it_shrinks() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &SETTINGS).await;
    let documents: Vec<Value> = (0..3_000).map(part_of).collect();
    let store = store(&app).await;
    // The service makes rounds of its own every minute, which a slow machine meets: one of both then does the work.
    let until = async |expected: (i64, i64, Option<&str>)| {
        for _ in 0..MOST_ROUNDS {
            store.collections().maintain_vector_graphs(SIZES, &mut |_, _| false).await.expect("a round");
            let (vectors, bits, kind) = graphs(&app).await;
            if (vectors, bits, kind.as_deref()) == expected {
                return;
            }
            tokio::time::sleep(BETWEEN_ROUNDS).await;
        }
        panic!("{:?} instead of {expected:?}", graphs(&app).await);
    };
    let (first, rest) = documents.split_at(1_200);
    fill(&app, "large", first).await;
    until((1, 0, Some("vectors"))).await;
    fill(&app, "large", rest).await;
    until((0, 1, Some("bits"))).await;
    assert_recall(&app, &cases()).await;
    let found = search(&app, &["large"], "the harbour", ("dense", 10)).await;
    assert_eq!(found["vector_scan"], "iterative");
    // Documents that come later are in it.
    fill(&app, "large", &[json!({"source": "late", "text": "The lighthouse keeper counts amber and garnet."})]).await;
    let found = search(&app, &["large"], "the lighthouse keeper counts amber and garnet", ("dense", 1)).await;
    assert_eq!((&found["results"][0]["source"], &found["vector_scan"]), (&json!("late"), &json!("iterative")));
    // A third of the documents is too few for bits, and enough for vectors.
    for topic in &TOPICS[..2] {
        let path = format!("/v1/documents?collection=large&source_prefix={topic}-");
        assert_eq!(app.delete(&path).await.status, 200);
    }
    until((1, 0, Some("vectors"))).await;
    assert_eq!(app.delete("/v1/collections/large").await.status, 200);
    until((0, 0, None)).await;
    store.close().await;
    app.stop().await;
}

#[tokio::test]
async fn a_graph_of_bits_serves_filters_and_is_not_used_while_it_is_interrupted() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &SETTINGS).await;
    fill(&app, "large", &(0..3_000).map(part_of).collect::<Vec<_>>()).await;
    let store = store(&app).await;
    let round = async || store.collections().maintain_vector_graphs(SIZES, &mut |_, _| false).await.expect("a round");
    assert_eq!(round().await, GraphChanges { built: 1, dropped: 0 });
    let passing = async |filter: Value| {
        let body = json!({"query": "report on the railway, amber and garnet", "collections": ["large"], "mode": "dense",
            "top_k": 10, "filter": {"metadata": filter}, "stages": {"rerank": false, "collapse_duplicates": false}});
        let found = app.post("/v1/search", body).await;
        assert_eq!(found.status, 200, "{found:?}");
        let results = found.body["results"].as_array().expect("results").clone();
        let scores: Vec<f64> = results.iter().map(|one| one["scores"]["dense"].as_f64().expect("a score")).collect();
        (results, scores, found.body["vector_scan"].clone())
    };
    let wide = json!({"part": {"lt": 9}});
    let (results, by_bits, scan) = passing(wide.clone()).await;
    assert_eq!((results.len(), scan), (10, json!("iterative")));
    assert!(results.iter().all(|one| one["metadata"]["part"].as_u64().is_some_and(|part| part < 9)), "{results:?}");
    // The state that a build leaves whose process is killed.
    let interrupt = "UPDATE pg_index SET indisvalid = false
        WHERE indexrelid = (SELECT oid FROM pg_class WHERE relname LIKE 'chunk_embedding_bits_%')";
    database::execute(&app.database, interrupt).await;
    assert_eq!(graphs(&app).await, (0, 0, None));
    let (_, compared, _) = passing(wide).await;
    let near = by_bits.iter().filter(|score| **score >= compared[9] - 1e-3).count();
    assert!(near >= 9, "{by_bits:?} {compared:?}");
    assert_recall(&app, &cases()[..3]).await;
    assert_eq!(round().await, GraphChanges { built: 1, dropped: 1 });
    assert_eq!(graphs(&app).await, (0, 1, Some("bits".to_owned())));
    store.close().await;
    app.stop().await;
}
