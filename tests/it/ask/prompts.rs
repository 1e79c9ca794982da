//! The sources as a model is shown them: with their place in the document, and with the rest of a list that they are cut from.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    harness::{Answer, TestApp},
    scripted::{ModelServer, Reply, Role},
};

async fn app() -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let chat = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let app = TestApp::with_file(&server, &chat, "").await;
    (server, app)
}

async fn ask(app: &TestApp, question: &str, speculative: &str) -> Answer {
    app.ask(json!({"question": question, "collections": ["docs"], "include": ["trace"], "speculative": speculative}))
        .await
}

/// The message with the sources of the last call of a role.
fn shown(server: &ModelServer, role: Role) -> String {
    let calls = server.calls(role);
    let messages = calls.last().expect("a call").body["messages"].as_array().expect("messages").clone();
    let user = messages.iter().find(|message| message["role"] == "user").expect("a message");
    user["content"].as_str().expect("text").to_owned()
}

/// Steps that take several chunks.
fn landing() -> String {
    let mut page = "# Landing\n\n## Steps\n\nTo land a change by hand:\n\n".to_owned();
    for step in 1..=24 {
        let _ = writeln!(
            page,
            "{step}. Take the change through gate {step}, write its number into the log of that gate, and wait until the \
             keeper of gate {step} has signed the log with the date and the hour."
        );
    }
    page + "\n## Afterwards\n\nTea is served in the yard.\n"
}

#[tokio::test]
async fn a_source_is_shown_with_its_place_in_the_document() {
    let (server, app) = app().await;
    let mut page = "# Stations\n\n## In the north\n\n| Station | Altitude |\n|---|---|\n".to_owned();
    for number in 0..120 {
        let _ = writeln!(page, "| Tarn{number} | {} m |", 300 + number);
    }
    app.ingest("docs", &[("2026/stations.md", &page)]).await;
    server.reply(Role::Grade, Reply::GradeCorrect("Tarn93"));
    server.say(Role::Answer, "Tarn93 lies at 393 m [^1].");
    let answer = ask(&app, "What is the altitude of Tarn93?", "off").await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    for role in [Role::Grade, Role::Answer] {
        let prompt = shown(&server, role);
        let of_row = prompt.split("<source ").find(|source| source.contains("| Tarn93 |")).expect("the row").to_owned();
        for told in ["file=\"2026/stations.md\"", "section=\"In the north\"", "table=\"| Station | Altitude |"] {
            assert!(of_row.contains(told), "{told}: {of_row}");
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn a_list_that_is_cut_into_chunks_is_shown_whole() {
    for speculative in ["off", "on"] {
        let (server, app) = app().await;
        app.ingest("docs", &[("landing.md", &landing()), ("tea.md", "Tea is free.")]).await;
        server.reply(Role::Grade, Reply::GradeCorrect("gate"));
        server.say(Role::Answer, "Take the change through gate 1 [^1].");
        let body = json!({"question": "How is a change landed by hand through gate 9?", "collections": ["docs"], "top_k": 1,
            "speculative": speculative});
        let answer = app.ask(body).await;
        assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
        let graded = shown(&server, Role::Grade);
        let written = shown(&server, Role::Answer);
        let steps = |prompt: &str| (1..=24).filter(|step| prompt.contains(&format!("gate {step} has signed"))).count();
        assert!(steps(&graded) < steps(&written), "{graded}\n{written}");
        assert_eq!(written.matches("<source ").count(), 1, "{written}");
        assert!(!written.contains("Tea"), "another section: {written}");
        let source: &Value = &answer.body["sources"][0];
        assert!(source["urn"].as_str().expect("a URN").contains('-'), "it cites all of what was shown: {source}");
        app.stop().await;
    }
}

#[tokio::test]
async fn steps_with_code_are_shown_together() {
    let (server, app) = app().await;
    let mut page = "# Landing\n\n## By hand\n\n".to_owned();
    for step in 1..=24 {
        let _ = writeln!(
            page,
            "Take the change through gate {step}, and wait until its keeper has signed the log with the date and the hour:\n\n\
             ```sh\ngate open --number {step} --log yes\ngate wait --number {step} --keeper signed\n```\n"
        );
    }
    app.ingest("docs", &[("landing.md", &(page + "## Afterwards\n\nTea is served in the yard.\n"))]).await;
    server.reply(Role::Grade, Reply::GradeCorrect("gate"));
    server.say(Role::Answer, "Take the change through gate 1 [^1].");
    let body =
        json!({"question": "How is a change landed by hand through gate 4?", "collections": ["docs"], "top_k": 1});
    let answer = app.ask(body).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    let steps = |prompt: &str| (1..=24).filter(|step| prompt.contains(&format!("gate wait --number {step}"))).count();
    let (graded, written) = (shown(&server, Role::Grade), shown(&server, Role::Answer));
    assert!(steps(&graded) < steps(&written) && !written.contains("Tea"), "{graded}\n{written}");
    app.stop().await;
}
