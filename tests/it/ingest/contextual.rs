//! Sentences by a model that say how chunks relate to their document: indexed with them, never quoted.

#![expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    database,
    harness::{Answer, TestApp},
    scripted::{ModelServer, Reply, Role},
};

const PARAGRAPHS: [&str; 6] = [
    "Ferries to the island leave the northern pier at seven every morning.",
    "Tickets are sold on board, and children under six travel free of charge.",
    "Everyone has 28 days of paid annual leave a year.",
    "Dogs stay on the open deck and wear a muzzle in rough weather.",
    "The crossing takes fifty minutes, and an hour when the tide is low.",
    "Lost property is kept for three weeks in the harbour office on shore.",
];
/// No paragraph holds these words.
pub(crate) const SENTENCE: &str = "It is from the timetable of the Zanzibar line.";

/// A service whose contexts are written by the scripted model, and whose answers are built in.
pub(crate) async fn app(server: &ModelServer, settings: &[(&str, &str)], file: &str) -> TestApp {
    let url = server.base_url();
    let mut all = vec![("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    all.extend_from_slice(settings);
    let roles = "[roles]\ngrade = \"built-in\"\nrewrite = \"built-in\"\ngenerate = \"built-in\"\n";
    TestApp::with_file(server, &all, &format!("{roles}{file}")).await
}

pub(crate) async fn collection(app: &TestApp, context: &Value) {
    let splitter = json!({"kind": "recursive", "size": 20, "overlap": 0});
    let made = app.post("/v1/collections", json!({"name": "c", "splitter": splitter, "context": context})).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.body["context"], *context, "{made:?}");
}

pub(crate) fn text() -> String {
    PARAGRAPHS.join("\n\n")
}

pub(crate) async fn send(app: &TestApp, source: &str, text: &str) -> Value {
    let document = json!({"source": source, "text": text, "media_type": "text/plain"});
    let answer = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": [document]})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

async fn chunks(app: &TestApp, job: &Value) -> Vec<Value> {
    let id = job["items"][0]["document_id"].as_str().expect("a document");
    app.get(&format!("/v1/documents/{id}/chunks")).await.body["chunks"].as_array().expect("chunks").clone()
}

async fn search(app: &TestApp, query: &str, mode: &str) -> Vec<Value> {
    let answer = app.post("/v1/search", json!({"query": query, "collections": ["c"], "mode": mode})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["results"].as_array().expect("results").clone()
}

fn prompt(body: &Value) -> &str {
    body["messages"][1]["content"].as_str().expect("a prompt")
}

#[tokio::test]
async fn who_has_no_model_is_told_which_setting_names_one() {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let chat = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    for (settings, file) in [(&[][..], ""), (&chat[..], "[roles]\ncontext = \"built-in\"\n")] {
        let app = TestApp::with_file(&server, settings, file).await;
        let refused: Answer = app.post("/v1/collections", json!({"name": "c", "context": {}})).await;
        refused.assert_problem(422, "invalid_request");
        assert_eq!(refused.pointers(), ["/context"]);
        let detail = refused.body["errors"][0]["detail"].as_str().expect("a detail");
        assert!(detail.contains("CITED_CHAT_MODEL") && detail.contains("[roles]"), "{detail}");
        let wrong = app.post("/v1/collections", json!({"name": "c", "context": {"on_failure": "pray"}})).await;
        assert_eq!(wrong.status, 422, "{wrong:?}");
        app.stop().await;
    }
}

#[tokio::test]
async fn a_chunk_is_found_by_its_context_and_never_quotes_it() {
    let server = ModelServer::start().await;
    server.reply(Role::Context, Reply::Slow(Duration::from_millis(60), format!("\"{SENTENCE}\"\n")));
    let app = app(&server, &[("CITED_CONTEXT_CALLS", "2")], "").await;
    collection(&app, &json!({"on_failure": "keep_original"})).await;
    let job = send(&app, "ferry.txt", &text()).await;
    assert_eq!((&job["state"], &job["counts"]["chunks"]), (&json!("succeeded"), &json!(6)), "{job}");
    assert_eq!(
        job["contexts"],
        json!({"calls": 6, "written": 6, "reused": 0, "without": 0, "left_out": 0, "prompt_tokens": 600,
               "completion_tokens": 120, "cost_usd": 0.0, "estimated": false})
    );
    assert!(job["items"][0].get("context").is_none(), "nothing is missing: {job}");
    assert!(job["stages"].as_array().expect("stages").iter().any(|stage| stage["stage"] == "chunk"), "{job}");

    // All prompts begin alike, byte for byte, and end in a passage of their own.
    let calls = server.calls(Role::Context);
    assert_eq!((calls.len(), server.most_contexts_at_once()), (6, 2));
    let first = prompt(&calls[0].body);
    let shared = first.find("<source_passage>").expect("a passage");
    assert!(first[..shared].contains(&text()), "the whole document: {first}");
    for call in &calls {
        assert_eq!(call.body["messages"][0], calls[0].body["messages"][0]);
        assert_eq!(prompt(&call.body)[..shared], first[..shared]);
        assert_eq!(PARAGRAPHS.iter().filter(|one| prompt(&call.body)[shared..].contains(*one)).count(), 1);
        assert_eq!(call.body["temperature"], 0.0);
        assert!(call.body["seed"].is_u64(), "{}", call.body);
    }

    // It is embedded and indexed with the chunk, and apart from it in what is shown.
    let stored = chunks(&app, &job).await;
    for (chunk, paragraph) in stored.iter().zip(PARAGRAPHS) {
        assert_eq!((&chunk["text"], &chunk["context"]), (&json!(paragraph), &json!(SENTENCE)));
        assert_eq!(chunk["chunkers"], json!(["recursive", "context"]));
        assert!(server.embedded().contains(&format!("{SENTENCE}\n{paragraph}")), "{:?}", server.embedded());
    }
    for mode in ["lexical", "hybrid"] {
        let found = search(&app, "Zanzibar", mode).await;
        assert!(!found.is_empty(), "{mode}");
        for hit in &found {
            assert!(!hit["text"].as_str().expect("a text").contains("Zanzibar"), "{hit}");
        }
    }
    let question = "How many days of paid annual leave does everyone have?";
    let asked = app.ask(json!({"question": question, "collections": ["c"]})).await;
    assert_eq!((asked.status, &asked.body["outcome"]), (200, &json!("answered")), "{asked:?}");
    assert!(!asked.body.to_string().contains("Zanzibar"), "{asked:?}");
    let source = text();
    for citation in asked.body["citations"].as_array().expect("citations") {
        let quote = &citation["quote"];
        assert_eq!(quote["text"], crate::harness::slice(&source, &quote["start"], &quote["end"]), "{citation}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_context_is_no_evidence() {
    let server = ModelServer::start().await;
    server.say(Role::Context, SENTENCE);
    server.say(Role::Answer, "Everyone has 28 days of paid annual leave a year, says the Zanzibar timetable [^1].");
    let url = server.base_url();
    let chat = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let app = TestApp::with_file(&server, &chat, "[roles]\ngrade = \"built-in\"\n").await;
    collection(&app, &json!({"on_failure": "abort"})).await;
    send(&app, "ferry.txt", &text()).await;
    let question = "How many days of paid annual leave does everyone have?";
    let asked = app.ask(json!({"question": question, "collections": ["c"], "validation": "supported"})).await;
    asked.assert_problem(422, "citation_validation");
    assert_eq!(asked.body["validation"]["errors"][0]["kind"], "unsupported_claim", "{asked:?}");
    let shown = server.calls(Role::Answer)[0].body["messages"][1]["content"].clone();
    assert!(
        shown.as_str().is_some_and(|shown| shown.contains(PARAGRAPHS[2]) && !shown.contains("Zanzibar")),
        "{shown}"
    );
    app.stop().await;
}

#[tokio::test]
async fn a_grader_is_told_the_context_and_the_answerer_is_not() {
    let server = ModelServer::start().await;
    server.say(Role::Context, SENTENCE);
    let grades: Vec<String> = (1..=6).map(|number| format!("{number}: correct - of that line")).collect();
    server.say(Role::Grade, &grades.join("\n"));
    server.say(Role::Answer, "The crossing takes fifty minutes [^1].");
    let app = TestApp::with_models(&server).await;
    collection(&app, &json!({"on_failure": "abort"})).await;
    send(&app, "ferry.txt", &text()).await;
    let question = "How long is the crossing on the Zanzibar line?";
    let asked = app.ask(json!({"question": question, "collections": ["c"]})).await;
    assert_eq!((asked.status, &asked.body["outcome"]), (200, &json!("answered")), "{asked:?}");
    assert!(!asked.body.to_string().contains(SENTENCE), "{asked:?}");
    // No passage names the line: what they are about is the grader's to judge, by the sentence.
    let question = server.calls(Role::Grade)[0].body.clone();
    let (sources, told) = (prompt(&question).matches("<source id"), prompt(&question).matches("context=\"It is from"));
    let (sources, told) = (sources.count(), told.count());
    assert!(sources > 0 && sources == told, "{question}");
    let answered = server.calls(Role::Answer)[0].body.clone();
    assert!(prompt(&answered).contains("</source ") && !prompt(&answered).contains(SENTENCE), "{answered}");
    app.stop().await;
}

#[tokio::test]
async fn what_was_written_is_not_asked_again() {
    let server = ModelServer::start().await;
    server.say(Role::Context, SENTENCE);
    let app = app(&server, &[], "").await;
    collection(&app, &json!({"on_failure": "abort"})).await;
    send(&app, "ferry.txt", &text()).await;
    assert_eq!(send(&app, "ferry.txt", &text()).await["counts"]["unchanged"], 1);
    assert_eq!(server.calls(Role::Context).len(), 6, "nothing for an unchanged document");

    let copy = send(&app, "copy.txt", &text()).await;
    assert_eq!((&copy["contexts"]["calls"], &copy["contexts"]["reused"]), (&json!(0), &json!(6)), "{copy}");
    assert_eq!(copy["counts"]["reused_vectors"], 6);

    let edited = text().replace("28 days", "30 days");
    let edit = send(&app, "ferry.txt", &edited).await;
    assert_eq!((&edit["contexts"]["calls"], &edit["contexts"]["reused"]), (&json!(1), &json!(5)), "{edit}");
    assert_eq!((&edit["counts"]["embedding_calls"], &edit["counts"]["chunks"]), (&json!(1), &json!(6)), "{edit}");
    assert!(prompt(&server.calls(Role::Context)[6].body).ends_with("annual leave a year.\n</source_passage>\n"));

    // Another document that holds the same paragraphs is about something else.
    let other =
        send(&app, "other.txt", &format!("{}\n\nThis is the winter timetable of the second company.", text())).await;
    assert_eq!((&other["contexts"]["calls"], &other["contexts"]["reused"]), (&json!(7), &json!(0)), "{other}");
    app.stop().await;
}

#[tokio::test]
async fn each_policy_does_as_it_says_and_the_report_counts() {
    for (policy, state, indexed) in
        [("keep_original", "succeeded", 6), ("skip", "succeeded", 5), ("abort", "failed", 0)]
    {
        let server = ModelServer::start().await;
        server.say(Role::Context, SENTENCE);
        server.reply(Role::Context, Reply::Status(400, "this passage is too odd".to_owned()));
        server.say(Role::Context, SENTENCE);
        let app = app(&server, &[("CITED_CONTEXT_CALLS", "1")], "").await;
        collection(&app, &json!({"on_failure": policy})).await;
        let job = send(&app, "ferry.txt", &text()).await;
        assert_eq!((&job["state"], &job["counts"]["chunks"]), (&json!(state), &json!(indexed)), "{policy}: {job}");
        let item = &job["items"][0];
        if policy == "abort" {
            assert_eq!((&item["stage"], &item["cause"]), (&json!("chunk"), &json!("rejected")), "{job}");
            assert!(item["message"].as_str().is_some_and(|message| message.contains("too odd")), "{job}");
        } else {
            let counts = (&job["contexts"]["without"], &job["contexts"]["left_out"]);
            let (without, left_out) = if policy == "skip" { (0, 1) } else { (1, 0) };
            assert_eq!(counts, (&json!(without), &json!(left_out)), "{job}");
            assert_eq!((&item["context"]["without"], &item["context"]["left_out"]), counts, "{job}");
            assert_eq!(item["context"]["cause"], "rejected", "{job}");
            let bare: Vec<Value> =
                chunks(&app, &job).await.into_iter().filter(|chunk| chunk["context"].is_null()).collect();
            assert_eq!(bare.len(), without, "{bare:?}");
            assert_eq!(search(&app, "tickets", "lexical").await.len(), without, "{policy}");
        }
        // Sent again, only what is missing is asked for; then it is complete, and unchanged from then on.
        let calls = server.calls(Role::Context).len();
        let again = send(&app, "ferry.txt", &text()).await;
        assert_eq!((&again["counts"]["chunks"], &again["contexts"]["without"]), (&json!(6), &json!(0)), "{again}");
        let asked = server.calls(Role::Context).len() - calls;
        assert_eq!(asked, if policy == "abort" { 6 } else { 1 }, "{policy}");
        assert_eq!(send(&app, "ferry.txt", &text()).await["counts"]["unchanged"], 1);
        app.stop().await;
    }
}

#[tokio::test]
async fn a_model_that_is_busy_is_waited_for_and_what_it_wrote_is_kept() {
    let server = ModelServer::start().await;
    server.say(Role::Context, SENTENCE);
    server.say(Role::Context, SENTENCE);
    server.reply(Role::Context, Reply::Later(429, "1"));
    server.say(Role::Context, SENTENCE);
    let app = app(&server, &[("CITED_CONTEXT_CALLS", "1")], "").await;
    collection(&app, &json!({"on_failure": "abort"})).await;
    let job = send(&app, "ferry.txt", &text()).await;
    assert_eq!((&job["state"], &job["items"][0]["attempts"]), (&json!("succeeded"), &json!(2)), "{job}");
    assert_eq!((&job["contexts"]["written"], &job["contexts"]["without"]), (&json!(6), &json!(0)), "{job}");
    assert_eq!(server.calls(Role::Context).len(), 7, "six sentences and one refusal: none was written twice");
    assert_eq!(job["contexts"]["reused"], 2, "of the first attempt: {job}");
    let kept = "SELECT count(*) FROM job_item WHERE contexts IS NOT NULL";
    assert_eq!(database::number(&app.database, kept).await, 0, "they go when the document is stored");
    app.stop().await;
}

#[tokio::test]
async fn documents_are_indexed_without_a_model_that_stays_away_and_fail_where_that_is_wanted() {
    let server = ModelServer::start().await;
    server.reply(Role::Context, Reply::Later(503, "0"));
    let app = app(&server, &[], "").await;
    collection(&app, &json!({"on_failure": "keep_original"})).await;
    let strict = json!({"name": "strict", "context": {"on_failure": "abort"}});
    assert_eq!(app.post("/v1/collections", strict).await.status, 201);
    let job = send(&app, "ferry.txt", &text()).await;
    assert_eq!((&job["state"], &job["items"][0]["attempts"]), (&json!("succeeded"), &json!(5)), "{job}");
    assert_eq!((&job["contexts"]["written"], &job["contexts"]["without"]), (&json!(0), &json!(6)), "{job}");
    assert_eq!(job["items"][0]["context"]["cause"], "server_error", "{job}");
    let found = search(&app, "annual leave", "lexical").await;
    assert!(found.iter().any(|hit| hit["text"].as_str().is_some_and(|text| text.contains(PARAGRAPHS[2]))), "{found:?}");
    let documents = json!([{"source": "a.txt", "text": "Boats land here."}]);
    let failed =
        app.post("/v1/documents?wait=true", json!({"collection": "strict", "documents": documents})).await.body;
    assert_eq!(
        (&failed["state"], &failed["failures"][0]["cause"]),
        (&json!("failed"), &json!("server_error")),
        "{failed}"
    );
    app.stop().await;
}

#[tokio::test]
async fn a_day_that_is_spent_leaves_the_rest_without_and_says_so() {
    let server = ModelServer::start().await;
    server.say(Role::Context, SENTENCE);
    // A call costs at most 51.2 cents and really 2.
    let prices = "[prices.\"openai:scripted-chat\"]\nprompt_usd_per_million = 0\ncompletion_usd_per_million = 1000\n";
    let app = app(&server, &[("CITED_DAILY_COST_USD", "0.56"), ("CITED_CONTEXT_CALLS", "1")], prices).await;
    collection(&app, &json!({"on_failure": "keep_original"})).await;
    let job = send(&app, "ferry.txt", &text()).await;
    assert_eq!((&job["state"], &job["contexts"]["written"]), (&json!("succeeded"), &json!(3)), "{job}");
    assert_eq!((&job["contexts"]["calls"], &job["contexts"]["cost_usd"]), (&json!(3), &json!(0.06)), "{job}");
    assert_eq!(
        (&job["contexts"]["without"], &job["items"][0]["context"]["cause"]),
        (&json!(3), &json!("budget_exceeded"))
    );
    let message = job["items"][0]["context"]["message"].as_str().expect("a message");
    assert!(message.contains("CITED_DAILY_COST_USD"), "{message}");
    let spent = "SELECT sum(cost_nano_usd)::bigint FROM usage_daily";
    assert_eq!(database::number(&app.database, spent).await, 60_000_000);
    app.stop().await;
}

#[tokio::test]
async fn a_long_document_is_shown_in_part_around_each_chunk() {
    let server = ModelServer::start().await;
    server.say(Role::Context, SENTENCE);
    let app = app(&server, &[("CITED_CONTEXT_PROMPT_TOKENS", "1024")], "").await;
    collection(&app, &json!({"on_failure": "abort"})).await;
    let long: Vec<String> =
        (0..150).map(|number| format!("Rule {number}: whoever comes to pier {number} waits for the boat.")).collect();
    let job = send(&app, "rules.txt", &long.join("\n\n")).await;
    assert_eq!(job["state"], "succeeded", "{job}");
    let calls = server.calls(Role::Context);
    assert!(calls.len() >= 150, "{}", calls.len());
    let mut prefixes = Vec::new();
    for call in &calls {
        let (document, passage) = prompt(&call.body).split_once("<source_passage>\n").expect("a passage");
        let passage = passage.strip_suffix("\n</source_passage>\n").expect("the end");
        assert!(document.contains("[…]") && document.contains(passage), "{passage}");
        assert!(document.contains("Rule 0:"), "its beginning is always shown");
        prefixes.push(document.to_owned());
    }
    prefixes.sort();
    prefixes.dedup();
    assert!((2..30).contains(&prefixes.len()), "{} beginnings for {} chunks", prefixes.len(), calls.len());
    app.stop().await;
}

#[tokio::test]
async fn anthropic_is_told_what_to_keep() {
    let (server, claude) = (ModelServer::start().await, ModelServer::start().await);
    claude.say(Role::Context, SENTENCE);
    let file = format!(
        "context = [\"claude:claude-haiku-4-5\"]\n[providers.claude]\nkind = \"anthropic\"\nbase_url = \"{}\"\napi_key = \"k\"\n",
        claude.base_url()
    );
    let app = app(&server, &[], &file).await;
    collection(&app, &json!({"on_failure": "abort"})).await;
    assert_eq!(send(&app, "ferry.txt", &text()).await["state"], "succeeded");
    let calls = claude.calls(Role::Context);
    assert_eq!((calls.len(), server.calls(Role::Context).len()), (6, 0), "the role has a model of its own");
    for call in &calls {
        let blocks = &call.body["messages"][0]["content"];
        assert_eq!(blocks[0]["cache_control"], json!({"type": "ephemeral"}), "{blocks}");
        assert_eq!(blocks[0], calls[0].body["messages"][0]["content"][0], "the same for all");
        assert!(blocks[1]["text"].as_str().is_some_and(|text| text.starts_with("<source_passage>")), "{blocks}");
        assert!(blocks[1].get("cache_control").is_none(), "{blocks}");
    }
    app.stop().await;
}

#[tokio::test]
async fn another_embedding_model_gets_the_same_texts() {
    let (server, second) = (ModelServer::start().await, ModelServer::start().await);
    server.say(Role::Context, SENTENCE);
    let file = format!(
        "[embeddings.second]\nbase_url = {:?}\nmodel = \"second\"\ndimension = {}\nwindow = 512\n",
        second.base_url(),
        crate::scripted::DIMENSION
    );
    let app = app(&server, &[], &file).await;
    collection(&app, &json!({"on_failure": "abort"})).await;
    send(&app, "ferry.txt", &text()).await;
    let written = server.calls(Role::Context).len();
    let begun = app.post("/v1/collections/c/indexes", json!({"embedding_model": "second"})).await.body;
    let ended = app.ended_job(begun["job"]["id"].as_str().expect("an id")).await;
    assert_eq!((&ended["state"], &ended["counts"]["chunks"]), (&json!("succeeded"), &json!(6)), "{ended}");
    let mut texts = second.embedded();
    texts.sort();
    let mut expected: Vec<String> = PARAGRAPHS.iter().map(|paragraph| format!("{SENTENCE}\n{paragraph}")).collect();
    expected.sort();
    assert_eq!(texts, expected);
    assert_eq!(server.calls(Role::Context).len(), written, "the sentences are there already");
    app.stop().await;
}
