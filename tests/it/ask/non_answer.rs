//! Models that find no answer in the sources: the code for it, sentences that say so, and the second look.

use serde_json::{Value, json};

use crate::{
    ask::stream::frames,
    harness::{Answer, TestApp},
    scripted::{ModelServer, Reply, Role},
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const ANSWER: &str = "Everyone has 28 days of paid annual leave a year [^1].";
const LEAVE: &str =
    "Leave is asked for in writing. Everyone has 28 days of paid annual leave a year. It lapses in March.";

fn ask() -> Value {
    json!({"question": QUESTION, "collections": ["handbook"], "include": ["trace"], "speculative": "off"})
}

async fn app() -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let app = TestApp::with_models(&server).await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    server.reply(Role::Grade, Reply::GradeCorrect("28 days"));
    (server, app)
}

fn assert_declined(answer: &Answer, attempts: u8) {
    let ends = (&answer.body["outcome"], &answer.body["reason"], &answer.body["answer"]);
    assert_eq!(ends, (&json!("abstained"), &json!("model_declined"), &Value::Null), "{answer:?}");
    assert_eq!(answer.body["validation"]["attempts"], attempts, "{answer:?}");
    assert_eq!(answer.body["sources"][0]["source"], "leave.md", "the passages are shown: {answer:?}");
}

#[tokio::test]
async fn a_model_may_decline_by_the_code_or_in_a_sentence_of_many_languages() {
    let replies = [
        "NOT_IN_SOURCES",
        "`NOT_IN_SOURCES`.",
        "```text\nnot_in_sources\n```",
        "NOT\\_IN\\_SOURCES [^1]",
        "NOT_IN_SOURCES: the sources are about other things.",
        "The sources do not answer this question.",
        "Die Quellen beantworten diese Frage nicht.",
        "Les sources ne répondent pas à cette question.",
        "Las fuentes no responden a esta pregunta.",
        "Le fonti non rispondono a questa domanda.",
        "As fontes não respondem a esta pergunta.",
        "De bronnen geven geen antwoord op deze vraag.",
        "资料中没有提到这一点。",
    ];
    let (server, app) = app().await;
    for (number, reply) in (1..).zip(replies) {
        server.say(Role::Answer, reply);
        assert_declined(&app.ask(ask()).await, 2);
        let calls = server.calls(Role::Answer).len();
        assert_eq!(calls, 2 * number, "{reply}: it is asked once more, since a source is correct");
        server.drop_reply(Role::Answer);
    }
    app.stop().await;
}

#[tokio::test]
async fn a_second_look_shows_the_part_that_comes_nearest() {
    let (server, app) = app().await;
    server.say(Role::Answer, "NOT_IN_SOURCES");
    server.say(Role::Answer, ANSWER);
    let answer = app.ask(ask()).await;
    assert_eq!((&answer.body["outcome"], &answer.body["validation"]["attempts"]), (&json!("answered"), &json!(2)));
    let second = &server.calls(Role::Answer)[1].body["messages"];
    let shown = second[3]["content"].as_str().expect("a prompt");
    assert!(shown.contains("28 days") && !shown.contains("lapses in March"), "{shown}");
    assert_eq!(second[2]["content"], "NOT_IN_SOURCES");
    app.stop().await;
}

#[tokio::test]
async fn without_a_call_left_or_a_correct_source_there_is_no_second_look() {
    let (server, app) = app().await;
    server.say(Role::Answer, "NOT_IN_SOURCES");
    let mut request = ask();
    request["limits"] = json!({"max_llm_calls": 1});
    assert_declined(&app.ask(request).await, 1);
    server.reply(Role::Grade, Reply::Text("1: ambiguous".to_owned()));
    server.drop_reply(Role::Grade);
    let mut request = ask();
    request["question"] = json!("Where do bicycles stand in March?");
    request["on_insufficient"] = json!("generate");
    assert_declined(&app.ask(request).await, 1);
    app.stop().await;
}

#[tokio::test]
async fn the_code_reaches_no_reader_of_a_stream() {
    for mode in [json!(true), json!("validated")] {
        let (server, app) = app().await;
        server.say(Role::Answer, "**NOT_IN_SOURCES**");
        let mut request = ask();
        request["stream"] = mode;
        let frames = frames(&app, request).await;
        let kinds: Vec<&str> = frames.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["sources", "answer"], "{frames:#?}");
        assert_eq!(frames[1].1["reason"], "model_declined");
        app.stop().await;
    }
}

#[tokio::test]
async fn an_empty_reply_is_no_answer_even_where_nothing_is_demanded() {
    let (server, app) = app().await;
    server.reply(Role::Answer, Reply::Text(" \n".to_owned()));
    let mut request = ask();
    request["validation"] = json!("off");
    assert_declined(&app.ask(request).await, 2);
    app.stop().await;
}
