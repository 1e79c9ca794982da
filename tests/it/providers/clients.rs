//! Clients of others, run by `make clients`. Those of OpenAI, of the Model Context Protocol, Open WebUI and the SDKs ask a
//! running Cited; its responses are held against the schema of Open Responses, and a fuzzer holds it against its document. And
//! the official clients of models read the scripted and recorded replies: the other tests hold the service against these
//! replies, so they must be real ones.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Duration,
};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    dialect::Dialect,
    harness::{TestApp, send},
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

/// An interpreter that make clients has seen to.
fn interpreter(variable: &str) -> OsString {
    std::env::var_os(variable).expect("run it by make clients")
}

/// Path of a file of the project.
fn path_of(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Runs a program of tests/clients with addresses of servers; returns what it printed.
async fn run(program: &str, addresses: &[&str]) -> String {
    run_by(&interpreter("CITED_CLIENTS_PYTHON"), &format!("tests/clients/{program}"), addresses).await
}

/// Runs a program by its interpreter with addresses of servers; returns what it printed.
async fn run_by(interpreter: &OsStr, program: &str, addresses: &[&str]) -> String {
    let mut command = Command::new(interpreter);
    command.arg(path_of(program)).args(addresses);
    if let [first, ..] = addresses {
        command.env("CITED_SERVER", first);
    }
    printed(command).await
}

/// Runs a command to its end; returns what it printed.
async fn printed(mut command: Command) -> String {
    let run = command.kill_on_drop(true).output();
    let output = tokio::time::timeout(Duration::from_mins(10), run).await.expect("it ends").expect("it runs");
    let [said, complained] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{command:?}: {said}{complained}");
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
    let said = run_by(&interpreter("CITED_CLIENTS_PYTHON"), "sdk/python/examples/ask.py", &[&app.base]).await;
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
#[ignore = "needs the official packages; make clients installs them and runs it"]
async fn the_official_clients_ask_cited() {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[("leave.md", "Everyone has 28 days of paid annual leave a year. It lapses on 31 March.")])
        .await;
    for program in ["ask_with_openai.mjs", "ask_with_ai_sdk.mjs", "ask_with_mcp.mjs"] {
        print!("{}", run_by(OsStr::new("node"), &format!("tests/clients/node/{program}"), &[&app.base]).await);
    }
    for program in ["ask_with_openai.py", "ask_with_langchain.py", "ask_with_mcp.py", "open_responses.py"] {
        print!("{}", run(program, &[&app.base]).await);
    }
    let (_server, strict) = strict_app().await;
    print!("{}", run("read_with_open_webui.py", &[&app.base, &strict.base]).await);
    app.stop().await;
}

/// A program of the packages of tests/clients/node, with a recent Node.
fn node_tool(program: &str) -> Command {
    let node = interpreter("CITED_CLIENTS_NODE22");
    let folder = Path::new(&node).parent().expect("a folder").to_owned();
    let path = std::env::join_paths(
        std::iter::once(folder).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut command = Command::new(&node);
    command.arg(path_of("tests/clients/node/node_modules").join(program)).env("PATH", path.expect("a path"));
    command
}

#[tokio::test]
#[ignore = "needs the official packages; make clients installs them and runs it"]
async fn mcp_is_spoken_as_the_conformance_suite_and_the_inspector_want_it() {
    let app = TestApp::built_in().await;
    let url = format!("{}/mcp", app.base);
    let conformance = || {
        let mut command = node_tool("@modelcontextprotocol/conformance/dist/index.js");
        command.args(["server", "--url", &url]);
        command
    };
    let mut current = conformance();
    current.args(["--spec-version", "2026-07-28", "--expected-failures"]);
    current.arg(path_of("tests/clients/mcp_expected_failures.yml"));
    let said = printed(current).await;
    assert!(said.contains("Baseline check passed"), "{said}");
    for scenario in ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"] {
        let mut older = conformance();
        older.args(["--spec-version", "2025-11-25", "--scenario", scenario]);
        printed(older).await;
    }
    let mut inspector = node_tool("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    inspector.args(["--cli", &url, "--transport", "http", "--method", "tools/list"]);
    let listed: Value = serde_json::from_str(&printed(inspector).await).expect("JSON");
    let names: Vec<&str> =
        listed["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["search", "fetch", "ask", "check", "collections", "ingest"]);
    app.stop().await;
}

const OPERATOR: &str = "a-long-enough-key-1";

/// A key of the tenant with one scope.
async fn key_with(app: &TestApp, scope: &str) -> String {
    let wanted = json!({"name": scope, "scopes": [scope]});
    let made = send(app.request(Method::POST, "/v1/keys").bearer_auth(OPERATOR).json(&wanted)).await;
    made.body["secret"].as_str().expect("a secret").to_owned()
}

/// Sends requests that are made from the document, good and broken, and holds each response against it.
async fn fuzz(app: &TestApp, key: &str, arguments: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(interpreter("CITED_CLIENTS_PYTHON"));
    command.args(["-m", "schemathesis.cli", "--config-file"]).arg(path_of("tests/clients/schemathesis.toml"));
    command.arg("run").arg(path_of("openapi/openapi.json")).args(["--url", &app.base]);
    command.args(["--header", &format!("Authorization: Bearer {key}")]).args(arguments);
    command.env("SCHEMATHESIS_HOOKS", path_of("tests/clients/schemathesis_hooks.py")).current_dir(folder.path());
    let said = printed(command).await;
    let summary = said.lines().find(|line| line.contains(" generated, ")).expect("a summary");
    println!("{summary}");
}

#[tokio::test]
#[ignore = "needs Schemathesis; make clients installs it and runs it"]
async fn document_and_service_agree_for_a_key_of_each_scope() {
    let server = ModelServer::start().await;
    let pepper = ("CITED_KEY_PEPPER", "a pepper of more than 32 characters, for tests");
    let settings = [("CITED_API_KEYS", OPERATOR), pepper, ("CITED_REFUSALS_PER_MINUTE", "1000000")];
    let app = TestApp::start_with_embeddings(&server, &settings).await;
    let documents = json!([{"source": "leave.md", "text": "# Leave\n\nEveryone has 28 days of paid leave a year."}]);
    for scope in ["ask", "ingest", "read", "admin"] {
        let stored = json!({"collection": "handbook", "documents": documents});
        let stored = app.request(Method::POST, "/v1/documents?wait=true").bearer_auth(OPERATOR).json(&stored);
        assert_eq!(send(stored).await.body["state"], "succeeded");
        fuzz(&app, &key_with(&app, scope).await, &["--phases", "examples,fuzzing", "-n", "4"]).await;
    }
    fuzz(&app, OPERATOR, &["-n", "8"]).await;
    app.stop().await;
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
