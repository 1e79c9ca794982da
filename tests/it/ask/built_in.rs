//! Ask with nothing but what is in the binary: no key, no model server.

use serde_json::{Value, json};

use crate::harness::{TestApp, slice};

const HANDBOOK: [(&str, &str); 4] = [
    (
        "leave.md",
        "# Annual leave\n\nEveryone at the company has 28 days of paid leave a year. Leave that is not taken by 31 March of the following year lapses.\n\n## Parental leave\n\nParents take up to 16 weeks of parental leave at full pay.",
    ),
    ("laptops.md", "# Laptops\n\nEvery laptop is encrypted. Report a lost laptop to the security desk within 4 hours."),
    ("travel.md", "# Travel\n\nBook trains in second class. Meals on the road are paid up to 45 euros a day."),
    (
        "oncall.md",
        "# On call\n\nThe person on call answers a page within 15 minutes. A week on call is paid with 300 euros.",
    ),
];

#[tokio::test]
async fn questions_are_answered_by_quotes_or_not_at_all() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &HANDBOOK).await;
    let cases = [
        ("How many weeks of parental leave do parents get?", Some("16 weeks")),
        ("Within how many hours must a lost laptop be reported?", Some("4 hours")),
        ("How much is a week on call paid?", Some("300 euros")),
        ("Which enzyme breaks down lactose in the small intestine?", None),
        ("Who won the world chess championship in 1972?", None),
    ];
    for (question, expected) in cases {
        let answer = app.ask(json!({"question": question, "collections": ["handbook"]})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let Some(expected) = expected else {
            assert_eq!(answer.body["outcome"], "abstained", "{question}: {answer:?}");
            assert!(answer.body["reason"].is_string());
            continue;
        };
        assert_eq!(answer.body["outcome"], "answered", "{question}: {answer:?}");
        let text = answer.body["answer"].as_str().expect("an answer");
        assert!(text.contains(expected), "{question}: {text}");
        assert_eq!((&answer.body["model"], &answer.body["usage"]["llm_calls"]), (&json!("extractive"), &json!(0)));
        assert_quotes_are_exact(&app, &answer.body).await;
    }
    app.stop().await;
}

/// Every citation's quote stands word for word at its range in the stored document.
async fn assert_quotes_are_exact(app: &TestApp, body: &Value) {
    let citations = body["citations"].as_array().expect("citations");
    assert!(!citations.is_empty());
    for citation in citations {
        let index = usize::try_from(citation["source_index"].as_u64().expect("index")).expect("small");
        let id = body["sources"][index]["document_id"].as_str().expect("id");
        let document = app.get(&format!("/v1/documents/{id}/content")).await;
        let text = document.body["text"].as_str().expect("text");
        let quote = &citation["quote"];
        assert_eq!(slice(text, &quote["start"], &quote["end"]), quote["text"].as_str().expect("words"));
    }
}

#[tokio::test]
async fn an_empty_collection_and_an_unknown_one() {
    let app = TestApp::built_in().await;
    assert_eq!(app.post("/v1/collections", json!({"name": "empty"})).await.status, 201);
    let answer = app.ask(json!({"question": "Anything?", "collections": ["empty"]})).await;
    assert_eq!(
        (&answer.body["outcome"], &answer.body["reason"]),
        (&json!("abstained"), &json!("empty_collection")),
        "{answer:?}"
    );
    let answer = app.ask(json!({"question": "Anything?", "collections": ["nowhere"]})).await;
    answer.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn a_question_in_japanese_is_no_accident() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &HANDBOOK).await;
    app.ingest("handbook", &[("休暇.md", "# 休暇\n\n社員は年に二十八日の有給休暇を取得できます。")]).await;
    let answer = app.ask(json!({"question": "有給休暇は年に何日ですか？", "collections": ["handbook"]})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    if answer.body["outcome"] == "answered" {
        assert_quotes_are_exact(&app, &answer.body).await;
    }
    app.stop().await;
}
