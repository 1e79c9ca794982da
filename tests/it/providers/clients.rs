//! Reads the scripted and recorded replies with the official clients of both APIs: the other tests hold the service against
//! these replies, so they must be real ones.

use std::{ffi::OsStr, path::Path, time::Duration};

use serde_json::json;
use tokio::process::Command;

use crate::{
    dialect::Dialect,
    harness::TestApp,
    scripted::{ModelServer, Piece, Reply, Role},
};

const TEXT: &str = "Jeder hat 28 Tage Urlaub – 👍 [^1].";
/// The recorded replies: one at once, one as a stream, and such without a text.
const OPENAI: [(&str, &str); 4] = [
    ("application/json", include_str!("../../fixtures/openai/completion.json")),
    ("text/event-stream", include_str!("../../fixtures/openai/stream.sse")),
    ("application/json", include_str!("../../fixtures/openai/tool_call.json")),
    ("text/event-stream", include_str!("../../fixtures/openai/tool_call.sse")),
];
const ANTHROPIC: [(&str, &str); 4] = [
    ("application/json", include_str!("../../fixtures/anthropic/message.json")),
    ("text/event-stream", include_str!("../../fixtures/anthropic/stream.sse")),
    ("text/event-stream", include_str!("../../fixtures/anthropic/tool_use.sse")),
    ("text/event-stream", include_str!("../../fixtures/anthropic/overloaded.sse")),
];

/// In the order in which the programs in tests/clients take them.
fn replies(dialect: Dialect) -> Vec<Reply> {
    let recorded = match dialect {
        Dialect::OpenAi => OPENAI,
        Dialect::Anthropic => ANTHROPIC,
    };
    let error = |status, body| Reply::Status(status, json!({"type": "error", "error": body}).to_string());
    let text = || Reply::Text(TEXT.to_owned());
    let half = dialect.begin().into_iter().chain([dialect.piece("Jeder hat ")]);
    let half = half.map(|event| Piece::Bytes(event.into_bytes())).chain([Piece::Break]);
    let mut replies = vec![text(), text(), Reply::Cut(TEXT.to_owned())];
    replies.extend(
        recorded.map(|(media_type, body)| Reply::Pieces(media_type, vec![Piece::Bytes(body.as_bytes().to_vec())])),
    );
    replies.extend([
        error(400, json!({"type": "invalid_request_error", "message": "bad model"})),
        error(401, json!({"type": "authentication_error", "message": "bad key"})),
        error(429, json!({"type": "rate_limit_error", "code": "insufficient_quota", "message": "pay"})),
        error(500, json!({"type": "api_error", "message": "oops"})),
        Reply::Slow(Duration::from_secs(5), TEXT.to_owned()),
        Reply::Later(429, "1"),
        text(),
        Reply::Pieces("text/event-stream", half.collect()),
    ]);
    replies
}

/// Runs a program of tests/clients with addresses of servers; returns what it printed.
async fn run(program: &str, addresses: &[&str]) -> String {
    let python = std::env::var_os("CITED_CLIENTS_PYTHON").expect("run it by make clients");
    run_by(&python, &format!("tests/clients/{program}"), addresses).await
}

/// Runs a program by its interpreter with addresses of servers; returns what it printed.
async fn run_by(interpreter: &OsStr, program: &str, addresses: &[&str]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(program);
    let mut command = Command::new(interpreter);
    command.arg(path).args(addresses).kill_on_drop(true);
    if let [first, ..] = addresses {
        command.env("CITED_SERVER", first);
    }
    let run = command.output();
    let output = tokio::time::timeout(Duration::from_mins(1), run).await.expect("it ends").expect("it runs");
    let [said, complained] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{program}: {said}{complained}");
    said.into_owned()
}

/// A service whose model cites what is not there, and that takes few requests a minute.
async fn strict_app() -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    server.say(Role::Grade, "1: correct");
    server.say(Role::Answer, "Everyone has 28 days of paid annual leave a year [^7].");
    let app = TestApp::with_models_and(&server, &[("CITED_ADDRESS_REQUESTS_PER_MINUTE", "60")]).await;
    app.ingest("handbook", &[("leave.md", "Everyone has 28 days of paid annual leave a year.")]).await;
    (server, app)
}

#[tokio::test]
#[ignore = "needs the Python SDK; make clients installs it and runs it"]
async fn the_python_sdk_does_everything() {
    print!("{}", run("sdk_operations.py", &[]).await);
    let app = TestApp::built_in().await;
    let (_server, strict) = strict_app().await;
    print!("{}", run("ask_with_sdk.py", &[&app.base, &strict.base]).await);
    let python = std::env::var_os("CITED_CLIENTS_PYTHON").expect("run it by make clients");
    let said = run_by(&python, "sdk/python/examples/ask.py", &[&app.base]).await;
    assert!(said.contains("28 days") && said.contains("[^1]"), "{said}");
    app.stop().await;
}

#[tokio::test]
#[ignore = "needs the TypeScript SDK; make clients builds it and runs it"]
async fn the_typescript_sdk_does_everything() {
    let node = OsStr::new("node");
    print!("{}", run_by(node, "sdk/typescript/build/tests/operations.js", &[]).await);
    let app = TestApp::built_in().await;
    let (_server, strict) = strict_app().await;
    print!("{}", run_by(node, "sdk/typescript/build/tests/service.js", &[&app.base, &strict.base]).await);
    let said = run_by(node, "sdk/typescript/build/examples/ask.js", &[&app.base]).await;
    assert!(said.contains("28 days") && said.contains("[^1]"), "{said}");
    app.stop().await;
}

#[tokio::test]
#[ignore = "needs the official Python packages; make clients installs them and runs it"]
async fn the_official_clients_ask_cited() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[("leave.md", "Everyone has 28 days of paid annual leave a year. It lapses on 31 March.")])
        .await;
    for program in ["ask_with_openai.py", "ask_with_mcp.py"] {
        print!("{}", run(program, &[&app.base]).await);
    }
}

#[tokio::test]
#[ignore = "needs the official Python packages; make clients installs them and runs it"]
async fn the_official_clients_read_what_is_scripted_and_recorded() {
    for (dialect, program) in [(Dialect::OpenAi, "with_openai.py"), (Dialect::Anthropic, "with_anthropic.py")] {
        let server = ModelServer::start().await;
        let replies = replies(dialect);
        let count = replies.len();
        for reply in replies {
            server.reply(Role::Answer, reply);
        }
        let said = run(program, &[&server.base_url()]).await;
        assert_eq!(server.calls(Role::Answer).len(), count, "{program} took every reply");
        print!("{said}");
    }
}
