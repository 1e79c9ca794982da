//! Documents that another one has replaced: the one that holds now answers, unless the question is for the other.

use serde_json::json;

use crate::{
    harness::{Answer, TestApp},
    scripted::{ModelServer, Role},
};

const HANDBOOK: [(&str, &str); 8] = [
    ("plans-2025.md", "# Plans 2025\n\n| | Small | Large |\n|---|---|---|\n| Price of the plan | 20 | 90 |"),
    (
        "plans.md",
        "# Plans\n\nValid from 1 January 2026.\n\n## Prices\n\n| | Small | Large |\n|---|---|---|\n| Price of the plan | 25 | 99 |",
    ),
    (
        "leave-2024.md",
        "# Annual leave policy 2024\n\nEmployees have 25 days of annual leave. Leave is requested by letter, a month ahead.",
    ),
    (
        "leave-2026.md",
        "# Annual leave policy 2026\n\nOwner: the head of people.\n\n## Entitlement\n\nEmployees of all offices have 27 days of annual leave.",
    ),
    ("archive/fares.md", "# Fares of the ferry\n\nA single crossing of the harbour costs 3 euros."),
    ("fares.md", "# Fares of the ferry\n\nA single crossing of the harbour costs 4 euros. Children pay half."),
    ("on-call.md", "# On-call duty\n\nThe on-call allowance is 260 euros per week. Shifts begin on Monday."),
    ("on-call-addendum.md", "# Addendum to on-call duty\n\nFrom April the on-call allowance is 310 euros per week."),
];

async fn handbook() -> TestApp {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &HANDBOOK).await;
    app
}

async fn asked(app: &TestApp, question: &str) -> Answer {
    app.ask(json!({"question": question, "collections": ["handbook"]})).await
}

fn says(answer: &Answer, words: &str) -> bool {
    answer.body["answer"].as_str().is_some_and(|text| text.contains(words))
}

fn details(answer: &Answer) -> Vec<&str> {
    let warnings = answer.body["validation"]["warnings"].as_array().expect("warnings");
    let replaced = warnings.iter().filter(|warning| warning["kind"] == "source_replaced");
    replaced.filter_map(|warning| warning["detail"].as_str()).collect()
}

#[tokio::test]
async fn the_edition_that_holds_answers() {
    let app = handbook().await;
    let answer = asked(&app, "How many days of annual leave do employees have?").await;
    assert!(says(&answer, "27 days") && !says(&answer, "25 days"), "{answer:?}");
    let [detail] = details(&answer)[..] else { panic!("{answer:?}") };
    assert!(detail.starts_with("leave-2024.md was left out, since leave-2026.md replaces it"), "{detail}");
    let former = asked(&app, "How many days of annual leave did employees have in 2024?").await;
    assert!(says(&former, "25 days") && !says(&former, "27 days"), "{former:?}");
    // The one without a year is dated by its beginning, which another passage of it has.
    let price = asked(&app, "What is the price of the large plan?").await;
    assert!(says(&price, "99") && !says(&price, "90"), "{price:?}");
    // Only the old one tells how.
    let silent = asked(&app, "How far ahead is leave requested?").await;
    assert!(says(&silent, "by letter, a month ahead"), "{silent:?}");
    app.stop().await;
}

#[tokio::test]
async fn what_lies_in_an_archive_gives_way_and_an_addendum_goes_first() {
    let app = handbook().await;
    let fare = asked(&app, "How much is a single crossing of the harbour?").await;
    assert!(says(&fare, "4 euros") && !says(&fare, "3 euros"), "{fare:?}");
    assert!(details(&fare)[0].starts_with("archive/fares.md was left out"), "{fare:?}");
    let allowance = asked(&app, "How much is the on-call allowance per week?").await;
    assert!(says(&allowance, "310 euros"), "{allowance:?}");
    assert_eq!(details(&allowance), Vec::<&str>::new());
    let mut sources = fare.body["sources"].as_array().expect("sources").iter();
    let newer = sources.find(|source| source["source"] == "fares.md").expect("the newer one");
    app.delete(&format!("/v1/documents/{}", newer["document_id"].as_str().expect("an id"))).await;
    let alone = asked(&app, "How much is a single crossing of the harbour?").await;
    assert!(says(&alone, "3 euros"), "{alone:?}");
    assert!(details(&alone)[0].contains("says that it was replaced, and no other document says as much"), "{alone:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_model_answers_without_what_was_replaced() {
    let server = ModelServer::start().await;
    let app = TestApp::with_models(&server).await;
    app.ingest("handbook", &HANDBOOK).await;
    server.say(Role::Answer, "Employees of all offices have 27 days of annual leave [^1].");
    let body = json!({"question": "How many days of annual leave do employees have?", "collections": ["handbook"]});
    let answer = app.ask(body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    // An answer is begun early over all that was found, and dropped.
    let shown = server.calls(Role::Answer).pop().expect("a call").body.to_string();
    assert!(shown.contains("27 days") && !shown.contains("25 days"), "{shown}");
    app.stop().await;
}
