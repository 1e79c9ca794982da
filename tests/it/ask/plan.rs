//! Plans: questions taken apart, looked for part by part, and what of them has no answer.

use serde_json::{Value, json};

use crate::{
    harness::TestApp,
    scripted::{ModelServer, Role},
};

const LEAVE: (&str, &str) = ("leave.md", "Everyone has 28 days of paid annual leave a year.");
const LAPTOPS: (&str, &str) = ("laptops.md", "Mira repairs broken laptops in the workshop on the second floor.");
const BOTH: &str = "How many days of paid annual leave does everyone have, and who repairs broken laptops?";
const SECOND: &str = "who repairs broken laptops?";

fn ask(question: &str) -> Value {
    json!({"question": question, "collections": ["handbook"], "include": ["trace"]})
}

async fn planned_by_model() -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let settings = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let roles = "[roles]\nplan = [\"openai:scripted-chat\"]\ngrade = \"built-in\"\nrewrite = \"built-in\"\n";
    let app = TestApp::with_file(&server, &settings, roles).await;
    app.ingest("handbook", &[LEAVE, LAPTOPS]).await;
    (server, app)
}

#[tokio::test]
async fn both_parts_of_a_question_are_found_and_answered() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[LEAVE, LAPTOPS, ("tea.md", "Tea is free for everyone.")]).await;
    let answer = app.ask(ask(BOTH)).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    assert_eq!(answer.body["missing"], json!([]));
    let plan = &answer.body["trace"]["plan"];
    assert_eq!(
        (&plan["type"], &plan["strategy"], &plan["by"]),
        (&json!("lookup"), &json!("decompose"), &json!("built_in"))
    );
    let cited: Vec<&str> = answer.body["citations"]
        .as_array()
        .expect("citations")
        .iter()
        .filter_map(|citation| {
            let index = usize::try_from(citation["source_index"].as_u64()?).ok()?;
            answer.body["sources"][index]["source"].as_str()
        })
        .collect();
    assert!(cited.contains(&"leave.md") && cited.contains(&"laptops.md"), "{answer:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_part_without_an_answer_makes_it_partial() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[LEAVE, ("tea.md", "Tea is free for everyone.")]).await;
    let mut request = ask(BOTH);
    request["cache"] = json!({"ttl_s": 60});
    for is_hit in [false, true] {
        let answer = app.ask(request.clone()).await;
        assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("partial")), "{answer:?}");
        assert_eq!((&answer.body["missing"], &answer.body["cache_hit"]), (&json!([SECOND]), &json!(is_hit)));
        assert!(answer.body["answer"].as_str().is_some_and(|text| text.contains("28 days")), "{answer:?}");
    }
    let rows = app.get("/v1/audit?outcome=partial").await;
    assert_eq!(rows.body["asks"].as_array().map(Vec::len), Some(2), "{rows:?}");
    let whole = app.ask(ask("How many days of paid annual leave does everyone have?")).await;
    assert_eq!((&whole.body["outcome"], &whole.body["missing"]), (&json!("answered"), &json!([])));
    app.stop().await;
}

#[tokio::test]
async fn a_model_plans_where_it_is_given_the_role() {
    let (server, app) = planned_by_model().await;
    server.say(
        Role::Answer,
        "Everyone has 28 days of paid annual leave a year [^1]. Mira repairs broken laptops in the workshop [^2].",
    );
    let plan = json!({"type": "multi_hop", "strategy": "decompose", "reasoning": "Two facts are asked for.",
        "sub_questions": ["How many days of paid annual leave does everyone have?", "Who repairs broken laptops?"]});
    server.say(Role::Plan, &format!("Sure:\n```json\n{plan}\n```"));
    let answer = app.ask(ask("What about leave days and broken laptops of everyone?")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let planned = &answer.body["trace"]["plan"];
    assert_eq!((&planned["by"], &planned["sub_questions"]), (&json!("model"), &plan["sub_questions"]), "{planned}");
    assert_eq!(planned["reasoning"], plan["reasoning"], "{planned}");
    assert!(server.embedded().contains(&"Who repairs broken laptops?".to_owned()), "each sub-question is searched");
    assert_eq!(answer.body["usage"]["llm_calls"], 2);
    assert_eq!(answer.body["sources"].as_array().map(Vec::len), Some(2));

    // A reply that is no plan leaves the built-in one, and so does a budget without a call for it.
    server.say(Role::Plan, "I would just look it up.");
    server.drop_reply(Role::Plan);
    let answer = app.ask(ask(BOTH)).await;
    assert_eq!(answer.body["trace"]["plan"]["by"], "built_in", "{answer:?}");
    assert_eq!(answer.body["validation"]["warnings"][0]["kind"], "model_skipped", "{answer:?}");
    let calls = server.calls(Role::Plan).len();
    let mut poor = ask(BOTH);
    poor["limits"] = json!({"max_llm_calls": 3});
    let answer = app.ask(poor).await;
    assert_eq!((answer.status, server.calls(Role::Plan).len()), (200, calls));
    let warning = &answer.body["validation"]["warnings"][0];
    assert!(warning["detail"].as_str().is_some_and(|detail| detail.contains("role plan was not asked")), "{warning}");
    app.stop().await;
}

#[tokio::test]
async fn a_dry_run_shows_the_plan_and_the_sources() {
    let (server, app) = planned_by_model().await;
    server
        .say(Role::Plan, &json!({"type": "summary", "strategy": "broad_then_rerank", "sub_questions": []}).to_string());
    let mut request = ask("Summarise annual leave of everyone in days");
    request["dry_run"] = json!(true);
    request["top_k"] = json!(1);
    let answer = app.ask(request).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let verdicts = answer.body["trace"]["rounds"][0]["verdicts"].as_array().map(Vec::len);
    assert_eq!(verdicts, Some(2), "twice as many as asked for: {answer:?}");
    assert_eq!(answer.body["plan"]["strategy"], "broad_then_rerank", "{answer:?}");
    assert!(server.calls(Role::Answer).is_empty());
    app.stop().await;
}

#[tokio::test]
async fn what_a_model_says_is_not_in_the_sources_is_missing_at_every_level() {
    let (server, app) = planned_by_model().await;
    server.say(Role::Plan, "I would just look it up.");
    let partly =
        "Everyone has 28 days of paid annual leave a year [^1]. The sources do not say who repairs broken laptops.";
    server.say(Role::Answer, partly);
    for level in ["off", "structural", "cited", "supported"] {
        let mut request = ask(BOTH);
        request["validation"] = json!(level);
        let answer = app.ask(request).await;
        assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("partial")), "{level}: {answer:?}");
        assert_eq!((&answer.body["missing"], &answer.body["answer"]), (&json!([SECOND]), &json!(partly)), "{level}");
        let sources = answer.body["sources"].as_array().expect("sources");
        assert!(sources.iter().any(|source| source["source"] == "laptops.md"), "it was found all the same: {answer:?}");
        assert_eq!(answer.body["citations"].as_array().map(Vec::len), Some(1), "it is no claim: {answer:?}");
        assert_eq!(answer.body["validation"]["attempts"], 1);
        let row = app.get(&format!("/v1/audit/{}", answer.body["id"].as_str().expect("id"))).await;
        assert_eq!(row.body["outcome"], "partial", "{row:?}");
    }

    // Of a question that was not taken apart it is named as the answer names it; what nobody asked is not missing.
    let say = |text: &str| {
        server.say(Role::Answer, text);
        server.drop_reply(Role::Answer);
    };
    let days = "How many days of paid annual leave does everyone have in a leap year?";
    say("Everyone has 28 days of paid annual leave [^1]. The sources do not mention a leap year.");
    let answer = app.ask(ask(days)).await;
    assert_eq!(
        (&answer.body["outcome"], &answer.body["missing"]),
        (&json!("partial"), &json!(["The sources do not mention a leap year."])),
        "{answer:?}"
    );
    say("Everyone has 28 days of paid annual leave [^1]. The sources do not mention sabbaticals.");
    let answer = app.ask(ask("How many days of paid annual leave does everyone have?")).await;
    assert_eq!((&answer.body["outcome"], &answer.body["missing"]), (&json!("answered"), &json!([])), "{answer:?}");

    // A reply that says nothing but that is an abstention, whatever is cited for it.
    say("The sources do not answer this question [^1].");
    let answer = app.ask(ask("How many days of paid annual leave does everyone have?")).await;
    assert_eq!(
        (&answer.body["outcome"], &answer.body["reason"], &answer.body["citations"]),
        (&json!("abstained"), &json!("model_declined"), &json!([])),
        "{answer:?}"
    );
    app.stop().await;
}

#[tokio::test]
async fn what_the_built_in_answerer_says_is_not_in_the_sources_is_missing() {
    let app = TestApp::built_in().await;
    // Of broken laptops, but not of who repairs them.
    app.ingest("handbook", &[LEAVE, ("cellar.md", "Broken laptops lie in the cellar and wait for their repair.")])
        .await;
    let answer = app.ask(ask(BOTH)).await;
    let text = answer.body["answer"].as_str().expect("an answer");
    assert!(text.contains("None of the passages answers “who repairs broken laptops” in one sentence."), "{answer:?}");
    assert_eq!((&answer.body["outcome"], &answer.body["missing"]), (&json!("partial"), &json!([SECOND])), "{answer:?}");
    app.stop().await;
}
