//! Questions to the handbook of this project, asked beside a large collection of other texts.

use serde_json::{Value, json};

use crate::harness::TestApp;

/// Questions and the document that answers them; the second is the one of the README.
const QUESTIONS: [(&str, &str); 6] = [
    ("How many days of paid leave do I have?", "annual-leave.md"),
    ("Who decides whether the authority must be told about a data breach?", "security-incidents.md"),
    ("How many weeks of parental leave are there?", "parental-leave.md"),
    ("How long is a laptop used before it is replaced?", "laptops-and-phones.md"),
    ("How do I report a security incident?", "security-incidents.md"),
    ("Which travel expenses are paid back?", "travel-expenses.md"),
];

/// Chunks of the neighbour, ten times as many as the handbook has.
const NEIGHBOUR: usize = 300;

fn neighbour(number: usize) -> Value {
    let subjects = ["a railway company", "a city library", "a shipyard", "a school of music", "a bakery"];
    let acts = [
        "paid its crew for the days of",
        "reported the security of",
        "approved the travel of",
        "replaced the doors of",
    ];
    let years = 1850 + number % 90;
    json!({
        "source": format!("history-{number}"),
        "text": format!(
            "In {years} {} {} {} visitors. The record has the number {number}.",
            subjects[number % 5],
            acts[number % 4],
            number * 3,
        ),
    })
}

#[tokio::test]
async fn the_handbook_is_found_beside_a_large_neighbour() {
    let app = TestApp::built_in().await;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/handbook");
    let mut handbook = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the samples") {
        let path = entry.expect("an entry").path();
        let source = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        handbook.push(json!({"source": source, "text": std::fs::read_to_string(&path).expect("a text")}));
    }
    for (name, documents) in [("handbook", handbook), ("history", (0..NEIGHBOUR).map(neighbour).collect())] {
        let body = json!({"collection": name, "documents": documents});
        let answer = app.post("/v1/documents?wait=true", body).await;
        assert_eq!(answer.body["state"], "succeeded", "{answer:?}");
    }
    for (question, source) in QUESTIONS {
        for mode in ["lexical", "dense", "hybrid"] {
            let search =
                |collections: Value| json!({"query": question, "collections": collections, "mode": mode, "top_k": 3});
            let sources = |found: &Value| -> Vec<String> {
                let results = found["results"].as_array().expect("results").iter();
                results.filter_map(|result| Some(result["source"].as_str()?.to_owned())).collect()
            };
            let alone = sources(&app.post("/v1/search", search(json!(["handbook"]))).await.body);
            assert!(alone.iter().any(|found| found == source), "{question} ({mode}): {alone:?}");
            let beside = sources(&app.post("/v1/search", search(json!(["history", "handbook"]))).await.body);
            assert!(beside.iter().any(|found| found == source), "{question} ({mode}): {beside:?}");
        }
    }
    let (question, source) = QUESTIONS[0];
    let answer = app.ask(json!({"question": question, "collections": ["history", "handbook"]})).await;
    assert_eq!(answer.body["outcome"], "answered", "{answer:?}");
    assert!(answer.body["answer"].as_str().is_some_and(|text| text.contains("28 days")), "{answer:?}");
    assert!(
        answer.body["sources"].as_array().is_some_and(|all| all.iter().any(|one| one["source"] == source)),
        "{answer:?}"
    );
    app.stop().await;
}
