//! The Model Context Protocol at `/mcp`.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::{
    database,
    harness::{Answer, TestApp, body_of, client, send},
    process::Process,
    scripted::{ModelServer, Reply, Role},
    wait,
};

const LEAVE: &str = "Everyone has 28 days of paid annual leave a year. Annual leave lapses on 31 March, see [1].";
const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const OPERATOR: &str = "a-key-of-the-operator-0123456789";
const TOOLS: [&str; 6] = ["search", "fetch", "ask", "check", "collections", "ingest"];
/// The revision before sessions and handshakes were given up.
const WITH_HANDSHAKE: &str = "2025-11-25";
/// The revision without them.
const WITHOUT_HANDSHAKE: &str = "2026-07-28";

fn message(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

fn posted(base: &str, message: &Value) -> RequestBuilder {
    client().post(format!("{base}/mcp")).header("mcp-protocol-version", WITH_HANDSHAKE).json(message)
}

/// The result of a method.
async fn result(base: &str, method: &str, params: Value) -> Value {
    let answer = send(posted(base, &message(method, &params))).await;
    assert_eq!((answer.status, &answer.body["id"]), (200, &json!(7)), "{answer:?}");
    assert!(answer.headers["content-type"].to_str().is_ok_and(|kind| kind.starts_with("application/json")));
    assert!(answer.body["error"].is_null(), "{answer:?}");
    answer.body["result"].clone()
}

/// The result of a tool, which must not have failed.
async fn called(base: &str, tool: &str, arguments: Value) -> Value {
    let result = result(base, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    assert_ne!(result["isError"], true, "{result}");
    result
}

/// The text of a tool's result and the code of its problem; it must have failed.
fn complaint(result: &Value) -> (String, String) {
    assert_eq!(result["isError"], true, "{result}");
    assert!(result["structuredContent"].is_null(), "{result}");
    let text = result["content"][0]["text"].as_str().expect("words").to_owned();
    (text, result["_meta"]["cited/problem"]["code"].as_str().expect("a code").to_owned())
}

async fn refused(base: &str, tool: &str, arguments: Value) -> (String, String) {
    complaint(&result(base, "tools/call", json!({"name": tool, "arguments": arguments})).await)
}

/// Checks that a result is what the schema of its tool describes, in the members that it names.
fn assert_described(tools: &Value, tool: &str, result: &Value) {
    let found = tools["tools"].as_array().expect("tools").iter().find(|listed| listed["name"] == tool).expect(tool);
    let schema = &found["outputSchema"];
    for name in schema["required"].as_array().expect("members") {
        assert!(result.get(name.as_str().expect("a name")).is_some(), "{tool} lacks {name}: {result}");
    }
    for name in result.as_object().expect("members").keys() {
        assert!(schema["properties"].get(name).is_some(), "{tool} has {name} beyond its schema");
    }
}

async fn app() -> TestApp {
    let app = TestApp::built_in().await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    app
}

#[tokio::test]
async fn a_client_is_greeted_and_lists_the_tools() {
    let app = app().await;
    let greeting =
        json!({"protocolVersion": WITH_HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    let greeted = result(&app.base, "initialize", greeting).await;
    assert_eq!(greeted["protocolVersion"], WITH_HANDSHAKE);
    assert_eq!(greeted["serverInfo"]["name"], "cited");
    assert!(greeted["capabilities"]["tools"].is_object() && greeted["capabilities"]["resources"].is_object());
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(send(posted(&app.base, &ready)).await.status, 202);

    let listed = result(&app.base, "tools/list", json!({})).await;
    let tools = listed["tools"].as_array().expect("tools");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, TOOLS);
    for tool in tools {
        let (name, hints) = (&tool["name"], &tool["annotations"]);
        assert!(tool["title"].is_string() && tool["description"].is_string(), "{name}");
        assert_eq!(
            (&hints["readOnlyHint"], &hints["idempotentHint"]),
            (&json!(name != "ingest"), &json!(true)),
            "{name}"
        );
        assert_eq!(hints["destructiveHint"], json!(name == "ingest"), "{name}");
        for side in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[side]["type"], "object", "{name} {side}");
            assert_refers_inside(&tool[side], &tool[side]);
        }
    }
    app.stop().await;
}

/// Checks that each reference leads to a schema of the same document.
fn assert_refers_inside(document: &Value, part: &Value) {
    match part {
        Value::Object(members) => {
            if let Some(path) = members.get("$ref").and_then(Value::as_str) {
                assert!(document.pointer(path.trim_start_matches('#')).is_some_and(Value::is_object), "{path}");
            }
            members.values().for_each(|member| assert_refers_inside(document, member));
        }
        Value::Array(items) => items.iter().for_each(|item| assert_refers_inside(document, item)),
        _ => {}
    }
}

#[tokio::test]
async fn what_is_searched_can_be_read_and_opened() {
    let app = app().await;
    let tools = result(&app.base, "tools/list", json!({})).await;
    let found = called(&app.base, "search", json!({"query": "annual leave"})).await;
    assert_described(&tools, "search", &found["structuredContent"]);
    let items = found["content"].as_array().expect("content");
    assert_eq!(items.len(), 1, "deep research reads one text: {found}");
    let text: Value = serde_json::from_str(items[0]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(text, found["structuredContent"]);
    let first = &text["results"][0];
    assert_eq!((&first["title"], &first["text"]), (&json!("leave"), &json!(LEAVE)));
    let page = client().get(first["url"].as_str().expect("an address")).header("accept", "text/html");
    assert!(body_of(page.send().await.expect("the page")).await.contains("28 days"));

    let fetched = called(&app.base, "fetch", json!({"id": first["id"]})).await;
    assert_described(&tools, "fetch", &fetched["structuredContent"]);
    let fetched = &fetched["structuredContent"];
    assert_eq!((&fetched["id"], &fetched["url"], &fetched["text"]), (&first["id"], &first["url"], &json!(LEAVE)));
    assert_eq!(fetched["metadata"]["status"], "current");
    let read = result(&app.base, "resources/read", json!({"uri": first["id"]})).await;
    assert_eq!((&read["contents"][0]["uri"], &read["contents"][0]["text"]), (&first["id"], &json!(LEAVE)));

    let document = fetched["metadata"]["document_id"].as_str().expect("an id");
    assert_eq!(app.delete(&format!("/v1/documents/{document}")).await.status, 200);
    let gone = called(&app.base, "fetch", json!({"id": first["id"]})).await;
    assert_eq!(gone["structuredContent"]["metadata"]["status"], "deleted");
    assert_eq!(gone["structuredContent"]["text"], "");
    app.stop().await;
}

#[tokio::test]
async fn an_answer_cites_and_links_its_sources_and_an_abstention_says_so() {
    let app = app().await;
    app.ingest("travel", &[("cars.md", "A company car is ordered from the fleet desk in Bern.")]).await;
    let tools = result(&app.base, "tools/list", json!({})).await;
    let answer = called(&app.base, "ask", json!({"question": QUESTION})).await;
    let told = &answer["structuredContent"];
    assert_described(&tools, "ask", told);
    assert_eq!(told["outcome"], "answered", "{answer}");
    let text = told["text"].as_str().expect("words");
    assert!(text.contains("28 days") && text.contains("[1]"), "{text}");
    let citation = &told["citations"][0];
    assert_eq!(citation["number"], 1);
    assert!(LEAVE.contains(citation["quote"].as_str().expect("a quote")));
    let shown = answer["content"][0]["text"].as_str().expect("words");
    assert!(shown.starts_with(text) && shown.contains(citation["url"].as_str().expect("an address")), "{shown}");
    let link = &answer["content"][1];
    assert_eq!(
        (&link["type"], &link["uri"], &link["name"]),
        (&json!("resource_link"), &citation["id"], &citation["title"])
    );

    let nothing = json!({"question": "Who won the chess cup of 1913?", "collections": ["travel"]});
    let nothing = called(&app.base, "ask", nothing).await;
    let told = &nothing["structuredContent"];
    assert_eq!((&told["outcome"], &told["citations"]), (&json!("abstained"), &json!([])), "{nothing}");
    assert!(told["reason"].is_string() && told["text"].as_str().is_some_and(|text| !text.is_empty()));
    app.stop().await;
}

#[tokio::test]
async fn citations_that_do_not_hold_fail_the_call() {
    let server = ModelServer::start().await;
    server.say(Role::Grade, "1: correct");
    server.say(Role::Answer, "Everyone has 30 weeks of leave [^9].");
    let app = TestApp::with_models(&server).await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    let (text, code) = refused(&app.base, "ask", json!({"question": QUESTION})).await;
    assert_eq!(code, "citation_validation", "{text}");
    assert!(text.contains("citations do not hold"), "{text}");
    app.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_ask() {
    let server = ModelServer::start().await;
    server.say(Role::Grade, "1: correct");
    server.reply(Role::Answer, Reply::Slow(Duration::from_mins(1), "Everyone has 28 days [^1].".to_owned()));
    let app = TestApp::with_models(&server).await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    let call = message("tools/call", &json!({"name": "ask", "arguments": {"question": QUESTION}}));
    let asked = tokio::spawn(posted(&app.base, &call).send());
    wait::until("the model is called", async || !server.calls(Role::Answer).is_empty()).await;
    asked.abort();
    wait::until("the audit says that the client has left", async || {
        app.get("/v1/audit").await.body["asks"][0]["outcome"] == "client_gone"
    })
    .await;
    app.stop().await;
}

#[tokio::test]
async fn texts_are_checked_and_documents_stored() {
    let app = TestApp::built_in().await;
    let tools = result(&app.base, "tools/list", json!({})).await;
    let (text, code) = refused(&app.base, "ask", json!({"question": QUESTION})).await;
    assert!(code == "not_found" && text.contains("ingest"), "{text}");
    let documents = json!({"collection": "handbook", "documents": [{"source": "leave.md", "text": LEAVE}]});
    let stored = called(&app.base, "ingest", documents.clone()).await;
    assert_described(&tools, "ingest", &stored["structuredContent"]);
    assert_eq!(stored["structuredContent"]["documents"][0]["state"], "succeeded", "{stored}");
    let again = called(&app.base, "ingest", documents).await;
    assert_eq!(again["structuredContent"]["documents"][0]["state"], "unchanged", "{again}");
    let empty = json!({"collection": "handbook", "documents": [{"source": "empty.md", "text": " "}]});
    let failed = result(&app.base, "tools/call", json!({"name": "ingest", "arguments": empty})).await;
    assert_eq!(
        (&failed["isError"], &failed["structuredContent"]["state"]),
        (&json!(true), &json!("failed")),
        "{failed}"
    );

    let claim = json!({"text": "Everyone has 40 days of paid annual leave a year.", "collections": ["handbook"]});
    let checked = called(&app.base, "check", claim).await;
    assert_described(&tools, "check", &checked["structuredContent"]);
    assert_eq!(checked["structuredContent"]["ok"], false, "{checked}");
    app.stop().await;
}

#[tokio::test]
async fn wrong_calls_say_what_to_do() {
    let app = app().await;
    for (tool, arguments, words) in [
        ("search", json!({}), "/query"),
        ("search", json!({"query": "leave", "limit": 3}), "/limit"),
        ("search", json!({"query": "leave", "top_k": 1000}), "/top_k"),
        ("search", json!({"query": "leave", "collections": ["nowhere"]}), "nowhere"),
        ("fetch", json!({"id": "leave.md"}), "/id"),
        ("ask", json!({"question": " "}), "/question"),
        ("check", json!({"text": "Words."}), "passages, urns and collections"),
        ("ingest", json!({"documents": [{"source": "a"}]}), "/documents/0/text"),
    ] {
        let (text, _) = refused(&app.base, tool, arguments).await;
        assert!(text.contains(words), "{tool}: {text}");
    }
    for (method, params, code, words) in [
        ("tools/call", json!({"name": "answer"}), -32602, "search, fetch, ask, check, collections, ingest"),
        ("tools/call", json!({"arguments": {}}), -32602, "name"),
        ("resources/read", json!({"uri": "cited:handbook/x@1#0"}), -32002, "does not exist"),
        ("prompts/list", json!({}), -32601, ""),
        ("no/such", json!({}), -32601, "no/such"),
    ] {
        let answer = send(posted(&app.base, &message(method, &params))).await;
        let error = &answer.body["error"];
        assert_eq!((answer.status, &error["code"]), (200, &json!(code)), "{method}: {answer:?}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(words)), "{method}: {answer:?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn what_is_no_message_is_refused_before_the_protocol() {
    let app = app().await;
    let list = || message("tools/list", &json!({}));
    send(posted(&app.base, &json!([list(), list()]))).await.assert_problem(422, "invalid_request");
    let without_method = send(posted(&app.base, &json!({"jsonrpc": "2.0", "id": 1}))).await;
    without_method.assert_problem(422, "invalid_request");
    assert_eq!(without_method.pointers(), ["/method"]);
    let old = send(posted(&app.base, &json!({"jsonrpc": "1.0", "id": 1, "method": "tools/list"}))).await;
    assert_eq!(old.pointers(), ["/jsonrpc"]);
    let broken = client().post(format!("{}/mcp", app.base)).header("content-type", "application/json").body("{");
    send(broken).await.assert_problem(400, "unreadable_body");
    let as_text = client().post(format!("{}/mcp", app.base)).body(list().to_string());
    send(as_text).await.assert_problem(415, "unsupported_media_type");
    for method in [Method::GET, Method::DELETE] {
        let answer = send(app.request(method, "/mcp").header("accept", "text/event-stream")).await;
        answer.assert_problem(405, "method_not_allowed");
        assert_eq!(answer.headers["allow"], "POST");
    }
    let foreign = send(posted(&app.base, &list()).header("host", "rebind.attacker.example")).await;
    foreign.assert_problem(421, "host_not_allowed");
    let page = send(posted(&app.base, &list()).header("origin", "https://evil.example")).await;
    page.assert_problem(403, "cross_origin");
    app.stop().await;
}

#[tokio::test]
async fn clients_without_a_handshake_are_served_as_well() {
    let app = app().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": WITHOUT_HANDSHAKE,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
    });
    let sent = |method: &'static str, mut params: Value, name: Option<&'static str>| {
        params["_meta"] = meta.clone();
        let request = client().post(format!("{}/mcp", app.base)).json(&message(method, &params));
        let request = request.header("mcp-protocol-version", WITHOUT_HANDSHAKE).header("mcp-method", method);
        match name {
            Some(name) => request.header("mcp-name", name),
            None => request,
        }
    };
    let discovered = send(sent("server/discover", json!({}), None)).await;
    assert_eq!(discovered.status, 200, "{discovered:?}");
    let versions = discovered.body["result"]["supportedVersions"].as_array().expect("versions");
    assert!(
        [WITH_HANDSHAKE, WITHOUT_HANDSHAKE].iter().all(|version| versions.contains(&json!(version))),
        "{versions:?}"
    );
    let call = json!({"name": "ask", "arguments": {"question": QUESTION}});
    let answer = send(sent("tools/call", call, Some("ask"))).await;
    assert_eq!(answer.body["result"]["resultType"], "complete", "{answer:?}");
    assert_eq!(answer.body["result"]["structuredContent"]["outcome"], "answered", "{answer:?}");
    let unknown = send(sent("no/such", json!({}), None)).await;
    assert_eq!((unknown.status, &unknown.body["error"]["code"]), (404, &json!(-32601)), "{unknown:?}");
    app.stop().await;
}

/// A key of these scopes, limited to these collections.
async fn key(base: &str, scopes: Value, collections: Value) -> String {
    let wanted = json!({"name": "made by a test", "scopes": scopes, "collections": collections});
    let made = send(client().post(format!("{base}/v1/keys")).bearer_auth(OPERATOR).json(&wanted)).await;
    assert_eq!(made.status, 201, "{made:?}");
    made.body["secret"].as_str().expect("a secret").to_owned()
}

async fn with_key(base: &str, key: &str, method: &str, params: Value) -> Answer {
    send(posted(base, &message(method, &params)).bearer_auth(key)).await
}

#[tokio::test]
async fn a_key_lists_and_calls_what_its_scopes_and_collections_allow() {
    let options = database::create().await;
    let settings = [("CITED_API_KEYS", OPERATOR), ("CITED_KEY_PEPPER", "a-pepper-of-the-tests-0123456789-0123456789")];
    let app = TestApp::start(options, &settings).await;
    let bare = send(posted(&app.base, &message("tools/list", &json!({})))).await;
    bare.assert_problem(401, "unauthorized");
    let about = format!("{}/.well-known/oauth-protected-resource/mcp", app.base);
    assert_eq!(bare.headers["www-authenticate"], format!("Bearer resource_metadata=\"{about}\""));
    let about = send(client().get(about)).await;
    assert_eq!((about.status, &about.body["resource"]), (200, &json!(format!("{}/mcp", app.base))));

    for (collection, text) in [("open", LEAVE), ("closed", "The canary sings in the closed office.")] {
        let documents = json!({"collection": collection, "documents": [{"source": "a.md", "text": text}]});
        let stored =
            with_key(&app.base, OPERATOR, "tools/call", json!({"name": "ingest", "arguments": documents})).await;
        assert_eq!(stored.body["result"]["structuredContent"]["state"], "succeeded", "{stored:?}");
    }
    for (scope, tools) in [("ask", &TOOLS[..5]), ("read", &["fetch", "collections"][..]), ("ingest", &TOOLS[4..])] {
        let key = key(&app.base, json!([scope]), Value::Null).await;
        let listed = with_key(&app.base, &key, "tools/list", json!({})).await;
        let listed = listed.body["result"]["tools"].as_array().expect("tools").clone();
        let names: Vec<&str> = listed.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, tools, "{scope}");
        for tool in TOOLS.iter().filter(|tool| !tools.contains(tool)) {
            let answer = with_key(&app.base, &key, "tools/call", json!({"name": tool, "arguments": {}})).await;
            assert_eq!(complaint(&answer.body["result"]).1, "insufficient_scope", "{scope} calls {tool}");
        }
    }
    let limited = key(&app.base, json!(["ask", "ingest"]), json!(["open"])).await;
    let listed = with_key(&app.base, &limited, "tools/call", json!({"name": "collections", "arguments": {}})).await;
    let expected = json!({"collections": [{"name": "open", "documents": 1, "language": "en"}], "next_cursor": null});
    assert_eq!(listed.body["result"]["structuredContent"], expected, "{listed:?}");
    assert_eq!(listed.body["result"]["content"][0]["text"], "- open (1 document)");
    let search = |arguments: Value| json!({"name": "search", "arguments": arguments});
    let all =
        with_key(&app.base, &limited, "tools/call", search(json!({"query": "Where does the canary sing?"}))).await;
    assert!(all.body["result"]["structuredContent"]["results"].is_array(), "{all:?}");
    assert!(!all.body.to_string().contains("closed office"), "{all:?}");
    let hidden = search(json!({"query": "canary", "collections": ["closed"]}));
    let hidden = with_key(&app.base, &limited, "tools/call", hidden).await;
    assert_eq!(complaint(&hidden.body["result"]).1, "not_found", "{hidden:?}");
    app.stop().await;
}

#[tokio::test]
async fn no_filter_of_the_log_shows_what_is_asked() {
    let database = database::url(&database::create().await);
    let filter = "trace,rmcp=trace,rmcp::service=trace,rmcp::transport=trace";
    let service = Process::serve(&[("DATABASE_URL", database.as_str()), ("CITED_LOG", filter)]).await;
    let documents = json!({"documents": [{"source": "a.md", "text": "The heliotrope is watered on Mondays."}]});
    called(&service.base, "ingest", documents).await;
    called(&service.base, "ask", json!({"question": "When is the heliotrope watered?"})).await;
    refused(&service.base, "fetch", json!({"id": "heliotrope"})).await;
    let is_logged = || service.logged().iter().any(|line| line.contains("\"/mcp\""));
    wait::until("the requests are logged", async || is_logged()).await;
    let log = service.logged().join("\n").to_lowercase();
    let lines = log.lines().filter(|line| line.contains("heliotrope"));
    assert_eq!(lines.collect::<Vec<_>>(), Vec::<&str>::new());
    service.stop().await;
}
