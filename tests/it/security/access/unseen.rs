//! Names with characters that nobody sees, or that reorder the others: names of the service's own are refused, those of
//! callers are kept as they are and shown without.

use reqwest::Method;
use serde_json::{Value, json};

use super::world::{Caller, OPERATOR, PEPPER, encoded};
use crate::{
    database,
    harness::{TestApp, body_of, send},
    process::{Process, command, output_of},
    scripted::{ModelServer, Role},
};

/// Names that look like "handbook", or like another, with the character that is told.
const UNFIT: [(&str, &str); 10] = [
    ("hand\u{200b}book", "U+200B"),
    ("handbook\u{200d}", "U+200D"),
    ("hand\u{ad}book", "U+00AD"),
    ("\u{202e}koobdnah\u{202c}", "U+202E"),
    ("hand\u{2066}book", "U+2066"),
    ("handbook\u{e0041}", "U+E0041"),
    ("hand\u{fe0f}book", "U+FE0F"),
    ("hand\u{a0}book", "U+00A0"),
    ("hand\nbook", "U+000A"),
    ("\u{3164}", "U+3164"),
];
/// Names in scripts that are spelt with joiners, or from right to left.
const FIT: [&str; 4] = ["می\u{200c}خواهم", "क\u{94d}\u{200d}ष", "מדריך 2", "名前\u{3000}二"];
/// A name of the caller's own, and what of it is shown.
const NAME: &str = "cod.\u{202e}fdp\u{202c}\u{200b}\u{e0041}.md";
const SHOWN: &str = "cod.fdp.md";

#[tokio::test]
async fn names_of_the_services_own_are_what_they_look_like() {
    let settings = [("CITED_API_KEYS", OPERATOR), ("CITED_KEY_PEPPER", PEPPER)];
    let app = TestApp::start(database::create().await, &settings).await;
    let caller = Caller { base: app.base.clone() };
    for (name, told) in UNFIT {
        let principal = format!("user:{name}");
        for (path, body, pointer) in [
            ("/v1/collections", json!({"name": name}), "/name"),
            ("/v1/documents", json!({"collection": name, "documents": [{"source": "a", "text": "A."}]}), "/collection"),
            ("/v1/ask", json!({"question": "What?", "collections": [name]}), "/collections/0"),
            ("/v1/keys", json!({"name": name, "scopes": ["ask"]}), "/name"),
            ("/v1/keys", json!({"name": "k", "scopes": ["ask"], "collections": [name]}), "/collections/0"),
            ("/v1/keys", json!({"name": "k", "scopes": ["ask"], "principals": [principal]}), "/principals/0"),
            ("/v1/tenants", json!({"name": name}), "/name"),
        ] {
            let refused = caller.post(OPERATOR, path, body).await;
            refused.assert_problem(422, "invalid_request");
            assert_eq!(refused.pointers(), [pointer], "{path} {name:?}: {refused:?}");
            let is_told = refused.text.contains(told) || pointer == "/principals/0";
            assert!(is_told, "{path} {name:?}: {refused:?}");
        }
        let path = format!("/v1/documents/bulk?collection={}", encoded(name));
        let bulk = caller.request(Method::POST, &path).bearer_auth(OPERATOR);
        let bulk = bulk.header("content-type", "application/x-ndjson").body("{\"source\": \"a\", \"text\": \"A.\"}");
        send(bulk).await.assert_problem(422, "invalid_request");
    }
    for name in FIT {
        assert_eq!(caller.post(OPERATOR, "/v1/collections", json!({"name": name})).await.status, 201, "{name:?}");
        let key = json!({"name": name, "scopes": ["ask"], "principals": [format!("group:{name}")]});
        assert_eq!(caller.post(OPERATOR, "/v1/keys", key).await.status, 201, "{name:?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn names_of_callers_come_back_as_they_were_and_are_shown_without() {
    let models = ModelServer::start().await;
    let (base, url) = (models.base_url(), database::url(&database::create().await));
    let service = Process::serve(&[
        ("DATABASE_URL", url.as_str()),
        ("CITED_EMBEDDING_BASE_URL", base.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_CHAT_BASE_URL", base.as_str()),
        ("CITED_CHAT_MODEL", "scripted-chat"),
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_LOG", "debug"),
    ])
    .await;
    let caller = Caller { base: service.base.clone() };
    let document =
        json!({"source": NAME, "title": NAME, "metadata": {NAME: NAME}, "text": "Everyone has 28 days of paid leave."});
    let upload = json!({"collection": "c", "documents": [document, {"source": format!("{NAME}2"), "text": " "}]});
    let job = caller.post(OPERATOR, "/v1/documents?wait=true", upload).await.body;
    assert_eq!((&job["items"][0]["source"], &job["items"][0]["state"]), (&json!(NAME), &json!("succeeded")), "{job}");
    let id = job["items"][0]["document_id"].as_str().expect("an id");
    let stored = caller.get(OPERATOR, &format!("/v1/documents/{id}")).await.body;
    for member in ["source", "title"] {
        assert_eq!(stored[member], NAME, "{stored}");
    }
    assert_eq!(stored["metadata"][NAME], NAME, "{stored}");

    models.say(Role::Answer, "Everyone has 28 days of paid leave [^1].");
    let question = json!({"question": "How many days of paid leave does everyone have?", "collections": ["c"]});
    let answer = caller.post(OPERATOR, "/v1/ask", question).await.body;
    assert_eq!(answer["sources"][0]["title"], NAME, "{answer}");
    let prompt = models.calls(Role::Answer)[0].body.to_string();
    assert!(prompt.contains(SHOWN) && !prompt.contains(is_unseen), "{prompt}");

    let urn = answer["sources"][0]["urn"].as_str().expect("a URN");
    let page = caller
        .request(Method::GET, &format!("/c/{}", encoded(urn)))
        .bearer_auth(OPERATOR)
        .header("accept", "text/html");
    let page = body_of(page.send().await.expect("the page")).await;
    assert!(page.contains(SHOWN) && !page.contains(is_unseen), "{page}");

    let run = async |arguments: &[&str]| {
        let arguments = [arguments, &["--server", service.base.as_str()]].concat();
        let ran = output_of(&mut command(&arguments, &[("CITED_API_KEY", OPERATOR)])).await;
        String::from_utf8(ran.stdout).expect("UTF-8") + &String::from_utf8(ran.stderr).expect("UTF-8")
    };
    for arguments in [
        &["documents", "--collection", "c"][..],
        &["documents", "--collection", "c", "--json"],
        &["search", "paid leave", "--collection", "c"],
        &["jobs", "show", job["id"].as_str().expect("an id")],
    ] {
        let shown = run(arguments).await;
        let is_json = arguments.contains(&"--json");
        assert!(!shown.contains(is_unseen), "{arguments:?}: {shown:?}");
        assert!(shown.contains(if is_json { "cod.\\u202efdp" } else { SHOWN }), "{arguments:?}: {shown:?}");
    }
    let json: Value = serde_json::from_str(&run(&["documents", "--collection", "c", "--json"]).await).expect("JSON");
    assert_eq!(json["documents"][0]["source"], NAME, "escaped, and the same");

    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(NAME), " ").expect("written");
    let shown = run(&["ingest", &folder.path().display().to_string(), "--collection", "c"]).await;
    assert!(shown.contains(SHOWN) && !shown.contains(is_unseen), "{shown:?}");
    let log = service.logged().join("\n");
    assert!(!log.contains(is_unseen) && !log.contains("202e"), "{log}");
    service.stop().await;
}

/// Whether it is one of the characters of the names; lines end as ever.
fn is_unseen(character: char) -> bool {
    domain::unseen::is_unseen(character) && character != '\n'
}
