//! Commands that speak to a running service: search, check, collections, documents, jobs, delete.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::{
    database,
    harness::TestApp,
    process::{command, output_of},
    scripted::{ModelServer, Role},
};

const KEY: &str = "a-long-key-of-the-operator-1234";
const PEPPER: &str = "a pepper of thirty-two bytes and more";
const LEAVE: &str =
    "# Leave\n\nEveryone has 28 days of paid annual leave a year.\n\n## Parents\n\nParents have 30 more days.";

/// Output, error output and success of a command against a service.
struct Ran {
    output: String,
    error: String,
    is_success: bool,
}

async fn run(app: &TestApp, arguments: &[&str]) -> Ran {
    let arguments = [arguments, &["--server", app.base.as_str()]].concat();
    of(output_of(&mut command(&arguments, &[])).await)
}

fn of(output: std::process::Output) -> Ran {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { output: text(output.stdout), error: text(output.stderr), is_success: output.status.success() }
}

async fn app() -> TestApp {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[("leave.md", LEAVE), ("cars.md", "A company car is ordered from the fleet desk.")]).await;
    app
}

#[tokio::test]
async fn what_is_stored_is_searched_and_listed() {
    let app = app().await;
    let search = ["search", "How much leave do parents have?", "--collection", "handbook"];
    let found = run(&app, &search).await;
    assert!(found.is_success, "{}", found.error);
    assert!(found.output.starts_with("1. ") && found.output.contains("(leave.md)"), "{}", found.output);
    let json = run(&app, &[&search[..], &["--json", "--top-k", "1"]].concat()).await;
    let json: Value = serde_json::from_str(&json.output).expect("JSON");
    assert_eq!(json["results"].as_array().map(Vec::len), Some(1));
    let asked = run(&app, &["ask", "How many days of paid annual leave does everyone have?", "-c", "handbook"]).await;
    assert!(asked.output.contains("[^1] Leave") && asked.output.contains("(leave.md)"), "{}", asked.output);

    let collections = run(&app, &["collections"]).await.output;
    assert!(collections.starts_with("handbook: 2 documents, "), "{collections}");
    let documents = run(&app, &["documents", "--collection", "handbook", "--limit", "1"]).await.output;
    assert!(documents.contains("handbook/") && documents.contains("--cursor "), "{documents}");
    let jobs = run(&app, &["jobs", "list"]).await.output;
    assert!(jobs.contains("succeeded") && jobs.contains("2 of 2 documents, 0 failed"), "{jobs}");
    let job = jobs.split_whitespace().next().expect("an id").to_owned();
    let shown = run(&app, &["jobs", "show", &job]).await;
    assert!(shown.output.starts_with(&job), "{}{}", shown.output, shown.error);
    let named = run(&app, &["jobs", "show", "handbook"]).await;
    assert!(named.error.contains("not the id of a job; cited jobs list prints the ids"), "{}", named.error);
    app.stop().await;
}

#[tokio::test]
async fn all_collections_are_asked_unless_some_are_named() {
    let app = app().await;
    app.ingest("rules", &[("bins.md", "# Bins\n\nThe bins are emptied on Fridays.")]).await;
    for (question, answer) in [
        ("When are the bins emptied?", "on Fridays. [^1]"),
        ("How many days of paid annual leave does everyone have?", "28 days of paid annual leave a year. [^1]"),
    ] {
        let asked = run(&app, &["ask", question]).await;
        assert!(asked.output.contains(answer), "{}{}", asked.output, asked.error);
    }
    let found = run(&app, &["search", "When are the bins emptied?"]).await;
    assert!(found.output.starts_with("1. Bins"), "{}{}", found.output, found.error);
    app.stop().await;
}

#[tokio::test]
async fn a_text_is_checked_and_its_faults_are_the_exit_code() {
    let app = app().await;
    let check = |text: &'static str| ["check", text, "--collection", "handbook"];
    let held = run(&app, &check("Everyone has 28 days of paid annual leave a year.")).await;
    assert!(held.is_success && held.output.starts_with("supported ("), "{}{}", held.output, held.error);
    assert!(held.output.contains("\n     [^1] \"") && held.output.contains("\n[^1] Leave"), "{}", held.output);
    let nothing = run(&app, &check("Hello")).await;
    assert_eq!((nothing.is_success, nothing.output.as_str()), (true, "There is no claim to check.\n"));
    let wrong = run(&app, &check("Everyone has 45 days of paid annual leave a year.")).await;
    assert!(!wrong.is_success && wrong.output.contains("fault: "), "{}{}", wrong.output, wrong.error);
    let folder = tempfile::tempdir().expect("a folder");
    let passage = folder.path().join("passage.txt");
    std::fs::write(&passage, "The office closes at six.").expect("written");
    let passage = passage.display().to_string();
    let arguments = ["check", "-", "--passage", &passage, "--server", &app.base];
    let mut child = command(&arguments, &[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"The office closes at six. [^1]").await.expect("written");
    drop(input);
    let held = of(child.wait_with_output().await.expect("it ends"));
    assert!(held.is_success && held.output.contains("The office closes at six."), "{}", held.output);
    app.stop().await;
}

#[tokio::test]
async fn what_is_deleted_is_gone_and_much_is_deleted_only_when_meant() {
    let app = app().await;
    let documents = run(&app, &["documents", "--source-prefix", "cars", "--json"]).await.output;
    let documents: Value = serde_json::from_str(&documents).expect("JSON");
    let id = documents["documents"][0]["id"].as_str().expect("an id");
    let one = run(&app, &["delete", "document", id]).await;
    assert!(one.output.starts_with("deleted: 1 document, 1 chunk, 0 cached answers, "), "{}{}", one.output, one.error);
    let named = run(&app, &["delete", "document", "cars.md"]).await;
    assert!(named.error.contains("not the id of a document; cited documents prints the ids"), "{}", named.error);
    let all = ["delete", "collection", "handbook"];
    let unsure = run(&app, &all).await;
    assert!(!unsure.is_success && unsure.error.contains("--yes"), "{}", unsure.error);
    assert_eq!(app.get("/v1/collections/handbook").await.body["documents"], 1);
    let sure = run(&app, &[&all[..], &["--yes"]].concat()).await;
    assert!(sure.output.starts_with("deleted: 1 document, "), "{}{}", sure.output, sure.error);
    let none = run(&app, &["collections"]).await.output;
    assert!(none.contains("There is no collection yet"), "{none}");
    app.stop().await;
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let app = app().await;
    let unknown = run(&app, &["ask", "Anything?", "-c", "nowhere"]).await;
    assert!(unknown.error.contains("HTTP 404") && unknown.error.contains("there are: handbook"), "{}", unknown.error);
    let nowhere = output_of(&mut command(&["collections", "--server", "http://127.0.0.1:1"], &[])).await;
    let nowhere = of(nowhere);
    assert!(nowhere.error.contains("no service answers at http://127.0.0.1:1"), "{}", nowhere.error);
    app.stop().await;

    let locked = TestApp::start(database::create().await, &[("CITED_API_KEYS", KEY)]).await;
    for arguments in [&["collections"][..], &["jobs", "list"], &["search", "leave"], &["ask", "Anything?"]] {
        let refused = run(&locked, arguments).await;
        assert!(refused.error.contains("HTTP 401") && refused.error.contains("set CITED_API_KEY"), "{}", refused.error);
    }
    // A key from a file of Windows has a carriage return at its end.
    for key in [KEY, &format!("{KEY}\r\n")] {
        let settings = [("CITED_API_KEY", key), ("CITED_SERVER", locked.base.as_str())];
        let opened = of(output_of(&mut command(&["collections"], &settings)).await);
        assert!(opened.is_success && opened.output.contains("no collection yet"), "{}", opened.error);
    }
    let broken = [("CITED_API_KEY", "a-long\nkey"), ("CITED_SERVER", locked.base.as_str())];
    let broken = of(output_of(&mut command(&["collections"], &broken)).await);
    assert!(broken.error.contains("CITED_API_KEY has characters that no header can carry"), "{}", broken.error);
    let secure = locked.base.replace("http://", "https://");
    let secure = of(output_of(&mut command(&["collections", "--server", &secure], &[])).await);
    assert!(secure.error.contains("; is its URL one with http://?"), "{}", secure.error);
    locked.stop().await;
}

#[tokio::test]
async fn what_is_wrong_with_an_answer_is_said_beside_it() {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let settings = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let roles = "[roles]\ngrade = \"built-in\"\nrewrite = \"built-in\"\n";
    let app = TestApp::with_file(&server, &settings, roles).await;
    app.ingest("c", &[("leave.md", LEAVE)]).await;
    server.say(Role::Answer, "Everyone has 45 days of paid annual leave a year [^1].");
    let fault = "unsupported_claim: \"Everyone has 45 days of paid annual leave a year";
    let ask = ["ask", "How many days of paid annual leave does everyone have?", "-c", "c"];
    let warned = run(&app, &ask).await;
    assert!(warned.is_success && warned.output.contains(&format!("\n\nwarning: {fault}")), "{}", warned.output);
    let refused = run(&app, &[&ask[..], &["--validation", "supported"]].concat()).await;
    assert_eq!((refused.is_success, refused.output.as_str()), (false, ""), "{}", refused.error);
    assert!(
        refused.error.contains("HTTP 422: ") && refused.error.contains(&format!("\n  {fault}")),
        "{}",
        refused.error
    );
    let unknown = run(&app, &[&ask[..], &["--validation", "strict"]].concat()).await.error;
    assert!(unknown.contains("[possible values: structural, cited, supported, off]"), "{unknown}");
    app.stop().await;
}

#[tokio::test]
async fn thanks_are_answered_with_the_reply() {
    let app = app().await;
    let thanks = run(&app, &["ask", "Thank you!"]).await;
    let body = app.ask(json!({"question": "Thank you!", "collections": ["handbook"]})).await.body;
    assert_eq!(thanks.output, format!("{}\n", body["reply"].as_str().expect("a reply")), "{}", thanks.error);
    app.stop().await;
}

#[tokio::test]
async fn lists_are_whole_or_say_where_they_go_on() {
    let app = TestApp::start(database::create().await, &[("CITED_KEY_PEPPER", PEPPER)]).await;
    for number in 0..201 {
        let made = app.post("/v1/collections", json!({"name": format!("c{number}")})).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    let collections = run(&app, &["collections"]).await;
    assert_eq!(collections.output.lines().count(), 201, "{}", collections.error);
    for command in ["ask", "search"] {
        let many = run(&app, &[command, "How many days?"]).await;
        let told = "there are 201 collections, and 32 can be asked at once: choose with -c NAME";
        assert!(!many.is_success && many.error.contains(told), "{}", many.error);
    }
    for number in 0..201 {
        let made = app.post("/v1/keys", json!({"name": format!("k{number}"), "scopes": ["ask"]})).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    let keys = run(&app, &["keys", "list"]).await;
    assert_eq!(keys.output.lines().count(), 201, "{}", keys.error);

    app.ingest("c0", &[("a.md", "One.")]).await;
    app.ingest("c0", &[("b.md", "Two.")]).await;
    let first = run(&app, &["jobs", "list", "--state", "succeeded", "--limit", "1"]).await.output;
    let cursor = first.split("… more with --cursor ").nth(1).expect("a cursor").trim().to_owned();
    let rest = run(&app, &["jobs", "list", "--state", "succeeded", "--cursor", &cursor]).await.output;
    assert_eq!((first.lines().count(), rest.lines().count()), (2, 1), "{first}{rest}");
    let none = run(&app, &["jobs", "list", "--state", "failed"]).await.output;
    assert_eq!(none, "There is no such job.\n");
    app.stop().await;
}

#[tokio::test]
async fn shells_complete_the_commands() {
    for (shell, words) in [("bash", "complete -F _cited"), ("zsh", "#compdef cited"), ("fish", "complete -c cited")] {
        let script = of(output_of(&mut command(&["completion", shell], &[])).await);
        assert!(script.is_success && script.output.contains(words), "{shell}: {}", script.error);
        assert!(["search", "collections", "delete"].iter().all(|name| script.output.contains(name)), "{shell}");
    }
}
