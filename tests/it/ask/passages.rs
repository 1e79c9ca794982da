//! Passages instead of an answer, where no sentence answers the question and no model writes.

use serde_json::{Value, json};

use super::stream::frames;
use crate::harness::{TestApp, slice};

const PRINTERS: (&str, &str) = (
    "printers.md",
    "# Printers\n\nThe printers stand on the second floor.\n\n## Changing the toner\n\nTo change the toner of a printer:\n\n1. Open the lid.\n2. Pull the old toner out.\n3. Push the new one in.\n\nThen print a test page:\n\n```sh\nlp test.txt\n```\n\n## Costs\n\nA page costs 2 cents.",
);
const PLANS: (&str, &str) =
    ("plans.md", "# Plans\n\nThe Basic plan costs 5 euros a month.\n\nThe Premium plan costs 9 euros a month.");
const LEAVE: (&str, &str) = ("leave.md", "# Leave\n\nParents take up to 16 weeks of parental leave at full pay.");

fn ask(question: &str) -> Value {
    json!({"question": question, "collections": ["handbook"]})
}

async fn app() -> TestApp {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[PRINTERS, PLANS, LEAVE]).await;
    app
}

#[tokio::test]
async fn a_how_to_gets_its_whole_section_and_no_pretence_of_an_answer() {
    let app = app().await;
    let mut request = ask("How do I change the toner of a printer?");
    request["cache"] = json!({"ttl_s": 60});
    for is_hit in [false, true] {
        let given = app.ask(request.clone()).await;
        assert_eq!((given.status, &given.body["outcome"]), (200, &json!("passages")), "{given:?}");
        assert_eq!((&given.body["cache_hit"], &given.body["model"]), (&json!(is_hit), &json!("extractive")));
        let passages = given.body["passages"].as_array().expect("passages");
        assert_eq!(passages[0]["reason"], "steps", "{given:?}");
        let index = usize::try_from(passages[0]["source_index"].as_u64().expect("index")).expect("small");
        let source = &given.body["sources"][index];
        assert_eq!(source["source"], "printers.md");
        let text = given.body["answer"].as_str().expect("text");
        let marker = format!("[^{}]", index + 1);
        let steps = format!(
            "To change the toner of a printer: {marker}\n\n1. Open the lid. {marker}\n2. Pull the old toner out. {marker}\n3. Push the new one in. {marker}\n\nThen print a test page: {marker}\n\n```\nlp test.txt\n```"
        );
        assert!(text.contains(&steps) && text.starts_with("### Printers"), "{text}");
        assert!(!text.contains("2 cents") && !text.contains("second floor"), "{text}");
        let document = app.get(&format!("/v1/documents/{}/content", source["document_id"].as_str().expect("id"))).await;
        let whole = document.body["text"].as_str().expect("text");
        for citation in given.body["citations"].as_array().expect("citations") {
            let quote = &citation["quote"];
            assert_eq!(slice(whole, &quote["start"], &quote["end"]), quote["text"].as_str().expect("words"));
        }
        let row = app.get(&format!("/v1/audit/{}", given.body["id"].as_str().expect("id"))).await;
        assert_eq!(row.body["outcome"], "passages", "{row:?}");
    }
    let rows = app.get("/v1/audit?outcome=passages").await;
    assert_eq!(rows.body["asks"].as_array().map(Vec::len), Some(2), "{rows:?}");
    app.stop().await;
}

#[tokio::test]
async fn things_compared_get_a_passage_each_or_are_missing() {
    let app = app().await;
    let both = app.ask(ask("What is the difference between the Basic plan and the Premium plan?")).await;
    assert_eq!(both.body["outcome"], "passages", "{both:?}");
    let about: Vec<&Value> =
        both.body["passages"].as_array().expect("passages").iter().map(|passage| &passage["about"]).collect();
    assert_eq!(about, [&json!("the Basic plan"), &json!("the Premium plan")]);
    let text = both.body["answer"].as_str().expect("text");
    assert!(text.contains("5 euros") && text.contains("9 euros"), "{text}");
    let one = app.ask(ask("What is the difference between the Basic plan and the Enterprise plan?")).await;
    assert_eq!((&one.body["outcome"], &one.body["missing"]), (&json!("passages"), &json!(["the Enterprise plan"])));
    app.stop().await;
}

#[tokio::test]
async fn a_stream_ends_with_the_passages() {
    let app = app().await;
    for stream in [json!(true), json!("validated")] {
        let mut request = ask("How do I change the toner of a printer?");
        request["stream"] = stream;
        let frames = frames(&app, request).await;
        let (name, end) = frames.last().expect("an end");
        assert_eq!((name.as_str(), &end["outcome"]), ("answer", &json!("passages")), "{end}");
        let words: String =
            frames.iter().filter(|(name, _)| name == "token").filter_map(|(_, data)| data["text"].as_str()).collect();
        assert_eq!(Some(words.as_str()), end["answer"].as_str());
        let claims = frames.iter().filter(|(name, _)| name == "claim").count();
        assert!(claims >= 3, "{frames:#?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn questions_for_one_thing_are_answered() {
    let app = app().await;
    let answer = app.ask(ask("How many weeks of parental leave do parents take?")).await;
    assert_eq!(answer.body["outcome"], "answered", "{answer:?}");
    assert!(answer.body.get("passages").is_none(), "{answer:?}");
    app.stop().await;
}
