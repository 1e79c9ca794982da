//! Filtered search: whatever share passes, what there is to find is found.

use std::collections::HashMap;

use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, Row as _};

use super::{GRAPH_FROM_SETTING, GRAPHS_FROM, store};
use crate::{
    harness::TestApp,
    scripted::{ModelServer, embed},
};

const DOCUMENTS: usize = 3_000;

/// Documents that all share a word and each have one of their own; a tenth has a word that the others lack.
fn document(number: usize) -> Value {
    let topic = ["harbour", "orchard", "railway", "foundry", "library"][number % 5];
    json!({
        "source": format!("{}/{number:04}.txt", if number < 30 { "new" } else { "old" }),
        "text": format!("Report {number} on the {topic}, number {} of its kind.", number / 5),
        "metadata": {
            "rank": number,
            "created": format!("2026-{:02}-{:02}T{:02}:00:00Z", 1 + number / 250, 1 + number % 28, number % 24),
            "tags": [format!("shelf-{}", number / 100), topic],
            "draft": number.is_multiple_of(1_000),
            "owner": if number == 17 { json!({"name": "Ada"}) } else { json!(null) },
        },
    })
}

async fn app() -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[GRAPH_FROM_SETTING]).await;
    for start in (0..DOCUMENTS).step_by(1_000) {
        let documents: Vec<Value> = (start..start + 1_000).map(document).collect();
        let answer = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": documents})).await;
        assert_eq!(answer.body["state"], "succeeded", "{answer:?}");
    }
    let store = store(&app).await;
    store.collections().maintain_vector_graphs(GRAPHS_FROM, &mut |_, _| false).await.expect("a round");
    store.close().await;
    (server, app)
}

async fn search(app: &TestApp, mode: &str, query: &str, filter: &Value) -> (Vec<usize>, Value) {
    let body = json!({
        "query": query, "collections": ["c"], "mode": mode, "top_k": 10, "filter": filter, "include": ["trace"],
        "stages": {"rerank": false, "collapse_duplicates": false},
    });
    let answer = app.post("/v1/search", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let results = answer.body["results"].as_array().expect("results").clone();
    let ranks = results
        .iter()
        .map(|result| result["metadata"]["rank"].as_u64().expect("rank"))
        .map(|rank| usize::try_from(rank).expect("small"))
        .collect();
    (ranks, answer.body["trace"].clone())
}

/// Which of these are as near as the ten nearest documents that pass. Equal ones may stand for each other, and stored
/// vectors are rounded.
fn among_the_nearest(embedded: &HashMap<usize, Vec<f32>>, query: &str, found: &[usize], matching: usize) -> usize {
    let query = unit(query);
    let similarity = |number: &usize| embedded[number].iter().zip(&query).map(|(a, b)| a * b).sum::<f32>();
    let mut all: Vec<f32> = (0..matching).map(|number| similarity(&number)).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    let least = all[matching.min(10) - 1] - 0.002;
    found.iter().filter(|number| similarity(number) >= least).count()
}

fn unit(text: &str) -> Vec<f32> {
    let vector = embed(text);
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(|number| number / length).collect()
}

fn numbers_of(texts: &[String]) -> HashMap<usize, Vec<f32>> {
    let number = |text: &str| text.split("Report ").nth(1)?.split(' ').next()?.parse().ok();
    texts.iter().filter_map(|text| Some((number(text)?, unit(text)))).collect()
}

#[tokio::test]
async fn ten_results_come_back_at_every_order_of_magnitude() {
    let (server, app) = app().await;
    let embedded = numbers_of(&server.embedded());
    assert_eq!(embedded.len(), DOCUMENTS);
    let query = "report on the harbour";
    let (mut found, mut expected) = (0, 0);
    for matching in [1, 10, 100, 600, 1_500, DOCUMENTS] {
        let filter = json!({"metadata": {"rank": {"lt": matching}}});
        let (ranks, trace) = search(&app, "dense", query, &filter).await;
        assert_eq!(ranks.len(), matching.min(10), "{matching}: {trace}");
        assert!(ranks.iter().all(|rank| *rank < matching), "{matching}: {ranks:?}");
        expected += ranks.len();
        found += among_the_nearest(&embedded, query, &ranks, matching);
        let narrow = matching <= 600;

        assert_eq!(trace["filter"]["starts_from"], if narrow { "documents" } else { "indexes" }, "{matching}: {trace}");
        assert_eq!(trace["dense"]["scan"], if narrow { "exact" } else { "iterative" }, "{matching}: {trace}");
        let about = trace["filter"]["matching_about"].as_u64().and_then(|about| usize::try_from(about).ok());
        let about = about.expect("estimate");
        assert!(about.abs_diff(matching) < DOCUMENTS / 10, "{matching}: {about}");

        // The word that is rare elsewhere is in no document that passes; the others are.
        let (ranks, trace) = search(&app, "lexical", "report 2999 harbour", &filter).await;
        assert_eq!(ranks.len(), matching.min(10), "{matching}: {trace}");
        assert!(ranks.iter().all(|rank| *rank < matching), "{matching}: {ranks:?}");
    }
    assert!(100 * found >= 98 * expected, "{found} of {expected}");
    app.stop().await;
}

/// Of the chunks that hold a word of the question, only those that may be returned have their documents looked up.
#[tokio::test]
async fn documents_are_looked_up_from_the_best_chunk_downwards() {
    const HOLDERS: usize = 400;
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let documents: Vec<Value> = (0..HOLDERS).map(document).collect();
    let job = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": documents})).await;
    assert_eq!(job.body["state"], "succeeded", "{job:?}");
    let mut connection = app.database.connect().await.expect("connect");
    connection.execute("SET search_path = without_canaries, public").await.expect("a search path");
    connection
        .execute(
            "CREATE TEMP TABLE asked AS
             SELECT c.tenant_id, c.index_id, array_agg(t.term_id) AS terms,
                    format('{%s:1.5}/1000000000', min(t.term_id))::sparsevec AS weights
             FROM collection c JOIN term_statistic t USING (tenant_id, index_id)
             WHERE c.name = 'c' AND t.document_frequency = 400 GROUP BY 1, 2",
        )
        .await
        .expect("the words that all have");
    let best = "SELECT array_agg(row(document_id, ordinal, score)::text) AS best FROM ";
    let plainly = format!(
        "{best} (SELECT h.document_id, h.ordinal, (-(h.weights <#> a.weights))::real AS score
         FROM asked a JOIN chunk h USING (tenant_id, index_id) JOIN document d USING (tenant_id, document_id)
         WHERE (d.metadata->>'rank')::int % 2 = 0 ORDER BY score DESC, document_id, ordinal LIMIT 10)"
    );
    let by_function = format!(
        "{best} (SELECT f.* FROM asked a, lexical_search(a.tenant_id, ARRAY[a.index_id], a.terms, '{{}}', '{{}}', a.weights,
         '$.rank % 2 == 0', NULL, NULL, NULL, NULL, 10) f)"
    );
    let expected: Vec<String> = connection.fetch_one(sqlx::AssertSqlSafe(plainly)).await.expect("chunks").get("best");
    let mut transaction = connection.begin().await.expect("begin");
    let looked_up = "SELECT COALESCE(idx_scan, 0) FROM pg_stat_xact_user_tables WHERE relname = 'document'";
    let found: Vec<String> = transaction.fetch_one(sqlx::AssertSqlSafe(by_function)).await.expect("chunks").get("best");
    let looked_up: i64 = transaction.fetch_one(looked_up).await.expect("a count").get(0);
    assert_eq!(found, expected);
    assert!((10..100).contains(&looked_up), "{looked_up} documents of {HOLDERS} for {} chunks", found.len());
    transaction.rollback().await.expect("rollback");
    connection.close().await.expect("close");
    app.stop().await;
}

#[tokio::test]
async fn every_kind_of_condition_finds_the_few_that_pass() {
    let (_server, app) = app().await;
    let cases: [(Value, Vec<usize>); 12] = [
        (json!({"metadata": {"rank": 2711}}), vec![2711]),
        (json!({"metadata": {"rank": {"in": [3, 2998, "4"]}}}), vec![3, 2998]),
        (json!({"metadata": {"rank": {"gt": 2, "lt": 6}}}), vec![3, 4, 5]),
        (json!({"metadata": {"rank": {"gt": 2.5, "lte": 5}}}), vec![3, 4, 5]),
        (
            json!({"metadata": {"created": {"gte": "2026-12-28"}}}),
            (2_750..DOCUMENTS).filter(|n| n % 28 == 27).collect(),
        ),
        (json!({"metadata": {"tags": "shelf-7", "rank": {"gte": 795}}}), (795..800).collect()),
        (json!({"metadata": {"draft": true}}), vec![0, 1_000, 2_000]),
        (json!({"metadata": {"draft": "true"}}), vec![]),
        (json!({"metadata": {"owner": {"exists": true}, "rank": {"lt": 3}}}), vec![0, 1, 2]),
        (json!({"metadata": {"owner": {"exists": false}}}), vec![]),
        (json!({"source_prefix": "new/", "metadata": {"rank": {"gte": 27}}}), vec![27, 28, 29]),
        (json!({"source_prefix": "new/000", "metadata": {"owner": null}}), (0..10).collect()),
    ];
    for (filter, expected) in cases {
        for mode in ["dense", "lexical", "hybrid"] {
            let (mut ranks, trace) = search(&app, mode, "report on its kind", &filter).await;
            ranks.sort_unstable();
            if expected.len() <= 10 {
                assert_eq!(ranks, expected, "{mode} {filter} {trace}");
            } else {
                assert!(
                    ranks.len() == 10 && ranks.iter().all(|rank| expected.contains(rank)),
                    "{mode} {filter} {ranks:?}"
                );
            }
        }
    }
    // A replaced document is found by what it says now.
    let mut changed = document(2711);
    changed["metadata"]["rank"] = json!(-1);
    let answer = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": [changed]})).await;
    assert_eq!(answer.body["state"], "succeeded", "{answer:?}");
    for (rank, count) in [(2711, 0), (-1, 1)] {
        let body = json!({"query": "report", "collections": ["c"], "filter": {"metadata": {"rank": rank}}});
        let answer = app.post("/v1/search", body).await;
        assert_eq!(answer.body["results"].as_array().expect("results").len(), count, "{rank}: {answer:?}");
    }
    app.stop().await;
}
