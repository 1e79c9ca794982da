//! The stages of retrieval: switched by request, shown in the trace; duplicates and neighbours.

use serde_json::{Value, json};

use crate::{
    harness::{Answer, TestApp, slice},
    process::{command, output_of},
    scripted::ModelServer,
};

const NOTICE: &str = "Employees may carry over at most five days of unused leave into the next calendar year, \
                      provided that the line manager has agreed to it in writing before the end of December.";

async fn search(app: &TestApp, mut body: Value) -> Value {
    body["collections"] = json!(["c"]);
    let answer = app.post("/v1/search", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

fn results(body: &Value) -> &Vec<Value> {
    body["results"].as_array().expect("results")
}

#[tokio::test]
async fn a_deployment_sets_how_many_passages_are_found_and_how_many_are_graded() {
    let server = ModelServer::start().await;
    let settings = [("CITED_FETCH_K", "10"), ("CITED_TOP_K", "2")];
    let app = TestApp::start_with_embeddings(&server, &settings).await;
    let notes: Vec<(String, String)> =
        (0..12).map(|number| (format!("{number}.md"), format!("Room {number} has {number} chairs."))).collect();
    let notes: Vec<(&str, &str)> = notes.iter().map(|(source, text)| (source.as_str(), text.as_str())).collect();
    app.ingest("c", &notes).await;

    let found = search(&app, json!({"query": "How many chairs has a room?", "include": ["trace"]})).await;
    let trace = &found["trace"];
    assert_eq!((&trace["dense"]["found"], &trace["lexical"]["found"]), (&json!(10), &json!(10)), "{trace}");
    assert_eq!(trace["rerank"]["passages"], 10, "{trace}");

    let question = json!({"question": "How many chairs has room 7?", "collections": ["c"], "dry_run": true});
    let shown = |answer: &Answer| answer.body["sources"].as_array().map(Vec::len);
    let usual = app.ask(question.clone()).await;
    assert_eq!(shown(&usual), Some(2), "{usual:?}");
    let mut more = question;
    more["top_k"] = json!(4);
    let more = app.ask(more).await;
    assert_eq!(shown(&more), Some(4), "{more:?}");
    app.stop().await;
}

#[tokio::test]
async fn stages_are_switched_and_shown() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let scattered = "Carry a torch in December. Unused rooms are locked. Leave by the main door.";
    app.ingest("c", &[("notice.md", NOTICE), ("scattered.md", scattered), ("other.md", "Tea is free.")]).await;
    let query = "carry over unused leave";

    let all = search(&app, json!({"query": query, "include": ["trace"]})).await;
    let trace = &all["trace"];
    assert_eq!(trace["lexical"]["found"], 2, "{trace}");
    assert_eq!((&trace["dense"]["found"], &trace["dense"]["scan"]), (&json!(3), &json!("exact")), "{trace}");
    assert_eq!(trace["fusion"], json!({"method": "weighted", "passages": 3}));
    assert_eq!(trace["rerank"]["passages"], 3, "{trace}");
    let reranked: Vec<f64> = results(&all).iter().filter_map(|hit| hit["scores"]["reranked"].as_f64()).collect();
    assert!(reranked.len() == 3 && reranked.is_sorted_by(|a, b| a >= b), "{reranked:?}");
    let added = |source: &str| {
        let hit = results(&all).iter().find(|hit| hit["source"] == source).expect("found");
        hit["scores"]["reranked"].as_f64().expect("a number") - hit["scores"]["fused"].as_f64().expect("a number")
    };
    assert!(added("notice.md") > added("scattered.md"), "one sentence holds all words, none of the other does");
    assert!(added("scattered.md") > added("other.md") && added("other.md").abs() < 1e-9);

    let plain = json!({"query": query, "include": ["trace"], "stages": {"rerank": false, "fusion": "reciprocal_rank"}});
    let plain = search(&app, plain).await;
    assert!(plain["trace"]["rerank"].is_null() && plain["results"][0]["scores"]["reranked"].is_null(), "{plain}");
    assert_eq!(plain["trace"]["fusion"]["method"], "reciprocal_rank");
    assert!(plain["results"][0]["scores"]["fused"].as_f64() <= Some(2.0 / 61.0 + 1e-9), "{plain}");

    let fused: Vec<f64> = results(&all).iter().filter_map(|hit| hit["scores"]["fused"].as_f64()).collect();
    let least = fused.iter().copied().fold(f64::MIN, f64::max);
    let best = search(&app, json!({"query": query, "min_score": least})).await;
    assert_eq!(results(&best).len(), fused.iter().filter(|score| **score >= least).count(), "{best}");
    assert!(results(&best).len() < fused.len(), "{best}");

    for (mode, missing) in [("lexical", "dense"), ("dense", "lexical")] {
        let one = search(&app, json!({"query": query, "mode": mode, "include": ["trace"]})).await;
        assert!(one["trace"][missing].is_null() && one["trace"]["fusion"].is_null(), "{one}");
        assert!(one["trace"][mode]["found"].as_u64() > Some(1), "{one}");
        assert!(one["results"][0]["scores"]["reranked"].is_number(), "the words weigh what they weigh: {one}");
    }
    assert!(search(&app, json!({"query": query})).await.get("trace").is_none());
    let wrong = app.post("/v1/search", json!({"query": query, "stages": {"rerank": true, "colbert": true}})).await;
    wrong.assert_problem(422, "invalid_request");
    app.stop().await;
}

#[tokio::test]
async fn what_stands_in_five_documents_fills_one_place() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let copies: Vec<(String, String)> = (0..5)
        .map(|number| (format!("manual-{number}.md"), NOTICE.replace(", ", if number % 2 == 0 { ", " } else { ",\n" })))
        .collect();
    let mut documents: Vec<(&str, &str)> =
        copies.iter().map(|(source, text)| (source.as_str(), text.as_str())).collect();
    let older = NOTICE.replace("five days", "three days").replace("December", "March");
    documents.push(("older.md", &older));
    documents.push(("other.md", "Unused leave forms are on the second floor."));
    app.ingest("c", &documents).await;

    let found = search(&app, json!({"query": "carry over unused leave", "top_k": 3, "include": ["trace"]})).await;
    let shown: Vec<&str> = results(&found).iter().filter_map(|hit| hit["source"].as_str()).collect();
    assert_eq!(shown.len(), 3, "another month is another notice: {shown:?}");
    assert!(shown.contains(&"older.md") && shown.contains(&"other.md"), "{shown:?}");
    assert_eq!(found["trace"]["collapsed"], 4);
    let notice = results(&found).iter().find(|hit| hit["source"].as_str().unwrap().starts_with("manual"));
    let duplicates = notice.expect("the notice")["duplicates"].as_array().expect("duplicates");
    let mut named: Vec<&str> = duplicates.iter().filter_map(|copy| copy["source"].as_str()).collect();
    named.extend(shown.iter().filter(|source| source.starts_with("manual")));
    named.sort_unstable();
    assert_eq!(named, ["manual-0.md", "manual-1.md", "manual-2.md", "manual-3.md", "manual-4.md"]);
    for copy in duplicates {
        assert!(copy["urn"].as_str().is_some_and(|urn| urn.starts_with("cited:c/") && urn.ends_with("@1#0")), "{copy}");
        let id = copy["document_id"].as_str().expect("id");
        let content = app.get(&format!("/v1/documents/{id}/content")).await;
        let words = slice(content.body["text"].as_str().expect("text"), &copy["start"], &copy["end"]);
        assert!(words.starts_with("Employees") && words.ends_with("December."), "{words}");
    }

    for top_k in [1, 2] {
        let body = json!({"query": "five days unused leave December", "top_k": top_k});
        let best = results(&search(&app, body).await)[0].clone();
        assert_eq!(
            best["duplicates"].as_array().map(Vec::len),
            Some(4),
            "all are named, however few are asked for: {best}"
        );
    }

    let body = json!({"query": "carry over unused leave", "top_k": 9, "stages": {"collapse_duplicates": false}});
    assert_eq!(results(&search(&app, body).await).len(), 7);
    app.stop().await;
}

#[tokio::test]
async fn an_embedding_model_has_its_share_of_the_fusion() {
    let server = ModelServer::start().await;
    let query = "unused leave of the year";
    let documents = [
        ("a.md", "Leave that is not taken within the year is lost."),
        ("b.md", "Unused leave, unused leave, unused leave."),
        ("c.md", "The year of the office move."),
        ("d.md", "Unused rooms are locked."),
    ];
    for (weight, alone) in [("0", "lexical"), ("1", "dense")] {
        let app = TestApp::start_with_embeddings(&server, &[("CITED_EMBEDDING_DENSE_WEIGHT", weight)]).await;
        app.ingest("c", &documents).await;
        let order = async |mode: &str| {
            let found = search(&app, json!({"query": query, "mode": mode, "stages": {"rerank": false}})).await;
            results(&found).iter().map(|hit| hit["source"].clone()).collect::<Vec<_>>()
        };
        let (hybrid, alone) = (order("hybrid").await, order(alone).await);
        assert!(alone.len() > 1 && hybrid.starts_with(&alone), "{hybrid:?} {alone:?}");
        app.stop().await;
    }
    let settings = [("CITED_EMBEDDING_DENSE_WEIGHT", "1.5")];
    let output = output_of(&mut command(&["doctor"], &settings)).await;
    let faults = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && faults.contains("between 0 and 1, not 1.5"), "{faults}");
}

#[tokio::test]
async fn what_is_quoted_comes_first() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let documents = [
        ("often.md", "Leave of absence. Absence leave. Leave, absence, leave, absence of leave."),
        (
            "exact.md",
            "A long text about many things that says in one place only: a leave of absence, unpaid, is granted.",
        ),
        ("none.md", "Trains leave at noon in the absence of snow."),
    ];
    app.ingest("c", &documents).await;
    let plain = search(&app, json!({"query": "unpaid absence of leave", "include": ["trace"]})).await;
    assert_eq!(plain["trace"]["quoted"], 0);
    let quoted = search(&app, json!({"query": "\"absence, UNPAID\"", "mode": "lexical", "include": ["trace"]})).await;
    assert_eq!((&quoted["results"][0]["source"], &quoted["trace"]["quoted"]), (&json!("exact.md"), &json!(1)));
    assert_eq!(results(&quoted).len(), 3, "others follow: {quoted}");
    let quoted = search(&app, json!({"query": "\"trains leave\" absence", "include": ["trace"]})).await;
    assert_eq!(quoted["results"][0]["source"], "none.md", "{quoted}");
    app.stop().await;
}

/// A text of several chunks, each about the zebra.
fn long_text() -> String {
    let paragraph = |number: usize| {
        let word = |place: usize| format!("w{number}x{place}");
        let filler: Vec<String> = (0..60).map(word).collect();
        format!("The zebra of part {number} is striped. {}.", filler.join(" "))
    };
    (0..12).map(paragraph).collect::<Vec<_>>().join("\n\n")
}

#[tokio::test]
async fn neighbouring_chunks_are_one_source() {
    let app = TestApp::built_in().await;
    let text = long_text();
    app.ingest("c", &[("long.md", &text), ("short.md", "A zebra crossing is white.")]).await;

    let apart = json!({"query": "zebra", "mode": "lexical", "top_k": 50, "stages": {"merge_neighbours": false}});
    let chunks = results(&search(&app, apart).await).len() - 1;
    assert!(chunks > 4, "the test needs a longer text: {chunks} chunks");

    let body = json!({"query": "zebra", "mode": "lexical", "top_k": 50, "include": ["trace"]});
    let found = search(&app, body).await;
    let long: Vec<&Value> = results(&found).iter().filter(|hit| hit["source"] == "long.md").collect();
    assert!(long.len() < chunks, "{} sources of {chunks} chunks", long.len());
    assert_eq!(found["trace"]["merged"], json!(chunks - long.len()));
    let id = long[0]["document_id"].as_str().expect("id");
    let content = app.get(&format!("/v1/documents/{id}/content")).await;
    let stored = content.body["text"].as_str().expect("text");
    let mut covered = 0;
    for source in long {
        assert_eq!(slice(stored, &source["start"], &source["end"]), source["text"].as_str().expect("text"));
        let urn = source["urn"].as_str().expect("urn");
        let (_, ordinals) = urn.split_once("@1#").expect("a version and chunks");
        let (first, last) = ordinals.split_once('-').unwrap_or((ordinals, ordinals));
        let (first, last): (usize, usize) = (first.parse().expect("first"), last.parse().expect("last"));
        assert!(last - first < 4, "a source is no document: {urn}");
        covered += last - first + 1;
    }
    assert_eq!(covered, chunks, "every chunk stands in one source");
    app.stop().await;
}

#[tokio::test]
async fn citations_of_merged_sources_hold() {
    let app = TestApp::built_in().await;
    let text = long_text().replace("part 3 is striped", "part 3 was born in Nairobi in 1987");
    app.ingest("c", &[("long.md", &text)]).await;
    let body = json!({"question": "In which year was the zebra of part 3 born in Nairobi?", "collections": ["c"], "include": ["trace"]});
    let answer = app.ask(body).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    assert!(answer.body["answer"].as_str().is_some_and(|text| text.contains("1987")), "{answer:?}");
    let id = answer.body["sources"][0]["document_id"].as_str().expect("id");
    let content = app.get(&format!("/v1/documents/{id}/content")).await;
    let stored = content.body["text"].as_str().expect("text");
    for citation in answer.body["citations"].as_array().expect("citations") {
        let quote = &citation["quote"];
        assert_eq!(slice(stored, &quote["start"], &quote["end"]), quote["text"].as_str().expect("words"));
        let index = usize::try_from(citation["source_index"].as_u64().expect("index")).expect("small");
        assert_eq!(citation["urn"], answer.body["sources"][index]["urn"]);
    }
    for source in answer.body["sources"].as_array().expect("sources") {
        assert_eq!(slice(stored, &source["start"], &source["end"]), source["text"].as_str().expect("text"));
    }
    let round = &answer.body["trace"]["rounds"][0];
    assert!(round["stages"]["rerank"]["passages"].as_u64() > Some(0), "{round}");
    assert!(round["verdicts"][0]["scores"]["reranked"].is_number(), "{round}");

    let body = json!({"question": "In which year was the zebra of part 3 born in Nairobi?", "collections": ["c"],
        "mode": "lexical", "stages": {"rerank": false}, "rewrite": {"feedback": false}, "include": ["trace"], "dry_run": true});
    let plain = app.ask(body).await;
    let round = &plain.body["trace"]["rounds"][0];
    assert!(round["stages"]["dense"].is_null() && round["stages"]["rerank"].is_null(), "{plain:?}");
    app.stop().await;
}
