//! Retrieval: modes, scores, filters.

use serde_json::{Value, json};

use crate::{
    harness::TestApp,
    scripted::{ModelServer, Reply, embed},
};

fn sources(body: &Value) -> Vec<String> {
    let results = body["results"].as_array().expect("results");
    results.iter().map(|result| result["source"].as_str().expect("source").to_owned()).collect()
}

async fn app() -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let documents = json!([
        {"source": "hr/leave.md", "text": "Annual leave is 28 days.", "metadata": {"team": "people", "year": 2024, "tags": ["time", "pay"]}},
        {"source": "hr/pay.md", "text": "Pay day is the 25th.", "metadata": {"team": "people", "year": 2022}},
        {"source": "it/laptop.md", "text": "Annual laptop checks are in May.", "metadata": {"team": "it", "year": 2023, "owner": null}},
    ]);
    let answer = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": documents})).await;
    assert_eq!(answer.body["state"], "succeeded", "{answer:?}");
    (server, app)
}

#[tokio::test]
async fn each_mode_shows_its_scores() {
    let (_server, app) = app().await;
    let search = |mode: &str| json!({"query": "annual leave days", "collections": ["c"], "mode": mode});
    let lexical = app.post("/v1/search", search("lexical")).await.body;
    assert_eq!(sources(&lexical)[0], "hr/leave.md");
    assert_eq!(sources(&lexical).len(), 3, "\"days\" and \"day\" share a stem");
    for result in lexical["results"].as_array().expect("results") {
        assert!(result["scores"]["dense"].is_null() && result["scores"]["lexical"].as_f64() > Some(0.0), "{result}");
    }
    let dense = app.post("/v1/search", search("dense")).await.body;
    assert_eq!((sources(&dense).len(), &dense["vector_scan"]), (3, &json!("exact")));
    assert!(
        dense["results"][0]["scores"]["lexical"].is_null()
            && dense["results"][0]["scores"]["dense"].as_f64() <= Some(1.001)
    );
    let hybrid = app.post("/v1/search", search("hybrid")).await.body;
    let scores: Vec<f64> = hybrid["results"]
        .as_array()
        .expect("results")
        .iter()
        .filter_map(|result| result["scores"]["fused"].as_f64())
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores[0] > 0.9, "{scores:?}");
    let first = &hybrid["results"][0];
    assert!(first["urn"].as_str().is_some_and(|urn| urn.starts_with("cited:c/") && urn.ends_with("@1#0")), "{first}");
    app.stop().await;
}

#[tokio::test]
async fn what_only_words_find_has_its_similarity_too() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let near = |number: usize| {
        let more = ["here", "there", "now", "then", "again", "ever"][..number % 7].join(" ");
        json!({"source": format!("near-{number}"), "text": format!("How is it {more}, number {number}?")})
    };
    let far =
        "Quartz lies below marl, chalk, clay, gravel, sand, loam, peat, turf and grass; miners of old knew it well.";
    let documents: Vec<Value> = (0..80).map(near).chain([json!({"source": "far", "text": far})]).collect();
    let answer = app.post("/v1/documents?wait=true", json!({"collection": "mine", "documents": documents})).await;
    assert_eq!(answer.body["state"], "succeeded", "{answer:?}");
    let search = |mode: &str, top_k: usize| {
        json!({
            "query": "how is quartz", "collections": ["mine"], "mode": mode, "top_k": top_k,
            "stages": {"collapse_duplicates": false},
        })
    };
    let all = app.post("/v1/search", search("dense", 81)).await.body;
    let of_far = |body: &Value| {
        let results = body["results"].as_array().expect("results").clone();
        let place =
            results.iter().position(|result| result["source"] == "far").unwrap_or_else(|| panic!("not found: {body}"));
        (place, results[place]["scores"]["dense"].as_f64().expect("its similarity"))
    };
    let (place, similarity) = of_far(&all);
    assert!(place >= 50, "the vectors of fifty others are nearer: {place}");
    let (place, found) = of_far(&app.post("/v1/search", search("hybrid", 10)).await.body);
    assert!(place < 10 && (found - similarity).abs() < 1e-6, "{place}: {found} for {similarity}");
    app.stop().await;
}

#[tokio::test]
async fn words_are_found_in_scripts_without_spaces() {
    let (_server, app) = app().await;
    let documents = json!([
        {"source": "zh", "text": "员工每年可以把五天未休的年假转到下一年。工资在二十五日发放。"},
        {"source": "ja", "text": "有給休暇は最大五日まで翌年に繰り越せます。"},
        {"source": "ko", "text": "직원은 매년 휴가를 닷새까지 이월할 수 있습니다."},
        {"source": "th", "text": "พนักงานสามารถยกวันลาพักร้อนไปปีหน้าได้ห้าวัน"},
        {"source": "fr", "text": "Les congés payés peuvent être reportés à l'année suivante."},
    ]);
    app.post("/v1/documents?wait=true", json!({"collection": "world", "documents": documents})).await;
    let rows = [
        ("年假", "zh"),
        ("工资什么时候发放", "zh"),
        ("有給休暇の繰り越し", "ja"),
        ("휴가", "ko"),
        ("พนักงานลาพักร้อน", "th"),
        ("conges reportes", "fr"),
    ];
    for (query, source) in rows {
        let search = json!({"query": query, "collections": ["world"], "mode": "lexical"});
        let found = app.post("/v1/search", search).await.body;
        assert_eq!(sources(&found).first().map(String::as_str), Some(source), "{query}: {found}");
    }
    app.stop().await;
}

#[tokio::test]
async fn filters_hold_in_every_mode() {
    let (_server, app) = app().await;
    let id = app.get("/v1/documents?source_prefix=hr/pay").await.body["documents"][0]["id"].clone();
    let cases = [
        (json!({"metadata": {"team": "people"}}), vec!["hr/leave.md", "hr/pay.md"]),
        (json!({"metadata": {"year": {"gte": 2023}}}), vec!["hr/leave.md", "it/laptop.md"]),
        (json!({"metadata": {"year": {"gt": 2022, "lt": 2024}}}), vec!["it/laptop.md"]),
        (json!({"metadata": {"team": {"in": ["it", "sales"]}}}), vec!["it/laptop.md"]),
        (json!({"metadata": {"tags": "pay"}}), vec!["hr/leave.md"]),
        (json!({"metadata": {"owner": {"exists": true}}}), vec!["it/laptop.md"]),
        (json!({"metadata": {"tags": {"exists": false}}}), vec!["hr/pay.md", "it/laptop.md"]),
        (json!({"source_prefix": "it/"}), vec!["it/laptop.md"]),
        (json!({"document_ids": [id]}), vec!["hr/pay.md"]),
        (json!({"source_prefix": "hr/", "metadata": {"year": 2022}}), vec!["hr/pay.md"]),
        (json!({"metadata": {"team": "nobody\" || true || \""}}), vec![]),
        (json!({"pages": [1]}), vec![]),
    ];
    for mode in ["lexical", "dense", "hybrid"] {
        for (filter, expected) in &cases {
            let answer = app.post("/v1/search", json!({"query": "annual leave laptop pay day", "collections": ["c"], "mode": mode, "filter": filter})).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            let mut found = sources(&answer.body);
            found.sort();
            assert_eq!(&found, expected, "{mode} {filter}");
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn several_collections_are_searched_as_one() {
    let (_server, app) = app().await;
    app.ingest("d", &[("x.md", "Annual leave elsewhere is 30 days.")]).await;
    let answer =
        app.post("/v1/search", json!({"query": "annual leave", "collections": ["c", "d"], "mode": "lexical"})).await;
    let found = sources(&answer.body);
    assert!(found.contains(&"x.md".to_owned()) && found.contains(&"hr/leave.md".to_owned()), "{found:?}");
    let answer = app.post("/v1/search", json!({"query": "annual leave", "collections": ["c", "nowhere"]})).await;
    answer.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn wrong_values_are_all_named() {
    let (_server, app) = app().await;
    let answer = app
        .post(
            "/v1/search",
            json!({"query": " ", "collections": [], "top_k": 0, "filter": {"metadata": {"a": {"above": 3}}}}),
        )
        .await;
    answer.assert_problem(422, "invalid_request");
    assert_eq!(answer.pointers(), ["/query", "/collections", "/top_k", "/filter/metadata/a"]);
    app.stop().await;
}

#[tokio::test]
async fn another_embedding_model_is_an_error_and_not_a_mix() {
    let (server, app) = app().await;
    let database = app.database.clone();
    app.stop().await;
    let url = server.base_url();
    let other =
        TestApp::start(database, &[("CITED_EMBEDDING_BASE_URL", &url), ("CITED_EMBEDDING_MODEL", "another-model")])
            .await;
    let answer = other.post("/v1/search", json!({"query": "annual leave", "collections": ["c"]})).await;
    answer.assert_problem(409, "embedding_profile_mismatch");
    let answer =
        other.post("/v1/search", json!({"query": "annual leave", "collections": ["c"], "mode": "lexical"})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = other
        .post("/v1/documents", json!({"collection": "c", "documents": [{"source": "n.md", "text": "New."}]}))
        .await;
    answer.assert_problem(409, "embedding_profile_mismatch");
    other.stop().await;
}

#[tokio::test]
async fn two_common_words_find_the_chunks_that_hold_both() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    // Each of the two stands in more chunks than the candidate budget of a collection that is not small: beside a rare
    // word neither finds anything alone.
    let text = |number: usize| match number % 2 {
        0 => format!("parental matters, file {number}"),
        _ => format!("insurance matters, file {number}"),
    };
    let mut documents: Vec<Value> =
        (0..3_200).map(|number| json!({"source": format!("{number}.txt"), "text": text(number)})).collect();
    documents.push(json!({"source": "both.txt", "text": "parental insurance"}));
    documents.push(json!({"source": "rare.txt", "text": "a zebra"}));
    let answer = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": documents})).await;
    assert_eq!(answer.body["state"], "succeeded", "{answer:?}");
    let query = json!({"query": "parental insurance for a zebra", "collections": ["c"], "mode": "lexical"});
    let found = app.post("/v1/search", query).await.body;
    let mut found = sources(&found);
    found.sort();
    assert_eq!(found, ["both.txt", "rare.txt"]);
    app.stop().await;
}

#[tokio::test]
async fn what_is_unlike_the_query_is_found_unless_a_score_is_asked_for() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("pay.md", "Pay day.")]).await;
    let search = async |body: Value| {
        let opposite: Vec<f32> = embed("pay day").iter().map(|number| -number).collect();
        let data = json!([{"object": "embedding", "index": 0, "embedding": opposite}]);
        let reply = json!({"object": "list", "data": data, "usage": {"prompt_tokens": 2, "total_tokens": 2}});
        server.embedding_reply(Reply::Body(reply.to_string()));
        app.post("/v1/search", body).await.body
    };
    let mut query = json!({"query": "anything", "collections": ["c"], "mode": "dense"});
    let found = search(query.clone()).await;
    assert_eq!(sources(&found), ["pay.md"], "{found}");
    assert!(found["results"][0]["scores"]["dense"].as_f64() < Some(-0.5), "{found}");
    query["min_score"] = json!(0);
    let found = search(query).await;
    assert_eq!(sources(&found), [""; 0], "{found}");
    app.stop().await;
}
