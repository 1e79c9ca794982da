//! Access control lists of documents: who sees a document, on every surface, and from when on.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

use super::world::{OPERATOR, PEPPER, encoded, text};
use crate::{
    database,
    harness::{Answer, TestApp, send},
    scripted::{ModelServer, Reply, Role},
};

/// A service with keys of people.
struct People {
    app: TestApp,
    _models: ModelServer,
    /// User ada, of the group people.
    ada: String,
    /// User bob, of the group people.
    bob: String,
    /// A key that is nobody's.
    nobody: String,
}

const RESTRICTED: &str = "The vault opens with the word marigold.";

impl People {
    async fn start() -> Self {
        Self::start_with(&[]).await
    }

    async fn start_with(settings: &[(&str, &str)]) -> Self {
        let server = ModelServer::start().await;
        let mut all = vec![("CITED_API_KEYS", OPERATOR), ("CITED_KEY_PEPPER", PEPPER)];
        all.extend_from_slice(settings);
        let app = TestApp::start_with_embeddings(&server, &all).await;
        let key = async |principals: Value| {
            let wanted = json!({"name": "a key", "scopes": ["ask", "ingest", "read"], "principals": principals});
            let made = send(app.request(Method::POST, "/v1/keys").bearer_auth(OPERATOR).json(&wanted)).await;
            assert_eq!((made.status, &made.body["key"]["principals"]), (201, &principals), "{made:?}");
            text(&made.body["secret"])
        };
        let (ada, bob) =
            (key(json!(["group:people", "user:ada"])).await, key(json!(["group:people", "user:bob"])).await);
        let nobody = key(json!([])).await;
        Self { app, _models: server, ada, bob, nobody }
    }

    fn request(&self, key: &str, method: Method, path: &str) -> RequestBuilder {
        self.app.request(method, path).bearer_auth(key)
    }

    async fn get(&self, key: &str, path: &str) -> Answer {
        send(self.request(key, Method::GET, path)).await
    }

    async fn send(&self, key: &str, method: Method, path: &str, body: Value) -> Answer {
        send(self.request(key, method, path).json(&body)).await
    }

    /// Stores a document and returns its id.
    async fn store(&self, key: &str, document: Value) -> String {
        let upload = json!({"collection": "c", "documents": [document]});
        let job = self.send(key, Method::POST, "/v1/documents?wait=true", upload).await;
        assert_eq!((job.status, &job.body["counts"]["failed"]), (200, &json!(0)), "{job:?}");
        text(&job.body["items"][0]["document_id"])
    }

    async fn found(&self, key: &str, query: &str) -> Vec<String> {
        let body = json!({"query": query, "collections": ["c"], "top_k": 50});
        let answer = self.send(key, Method::POST, "/v1/search", body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut sources: Vec<String> =
            answer.body["results"].as_array().expect("results").iter().map(|hit| text(&hit["source"])).collect();
        sources.sort();
        sources
    }

    /// Whether a key sees a document, which every surface must agree on.
    async fn sees(&self, key: &str, document: &str) -> bool {
        let status = self.get(key, &format!("/v1/documents/{document}")).await.status;
        for part in ["content", "chunks", "acl"] {
            assert_eq!(self.get(key, &format!("/v1/documents/{document}/{part}")).await.status, status, "{part}");
        }
        let urn = format!("cited:c/{document}@1#0");
        for page in ["/v1/citations", "/c"] {
            assert_eq!(self.get(key, &format!("{page}/{}", encoded(&urn))).await.status, status, "{page}");
        }
        let check = json!({"text": "The vault opens.", "urns": [urn]});
        assert_eq!(self.send(key, Method::POST, "/v1/check", check).await.status, status);
        let listed = self.get(key, "/v1/documents?collection=c").await.body;
        let is_listed = listed["documents"].as_array().expect("documents").iter().any(|one| one["id"] == document);
        assert_eq!(is_listed, status == 200, "{listed}");
        let counted = self.get(key, "/v1/collections/c").await.body["documents"].as_u64();
        assert_eq!(counted, listed["documents"].as_array().map(|all| all.len() as u64));
        status == 200
    }

    async fn stop(self) {
        self.app.stop().await;
    }

    fn database(&self) -> &PgConnectOptions {
        &self.app.database
    }
}

fn document(source: &str, words: &str, acl: Option<Value>) -> Value {
    let mut document = json!({"source": source, "text": words});
    if let Some(acl) = acl {
        document["acl"] = acl;
    }
    document
}

#[tokio::test]
async fn a_document_is_there_for_those_whom_its_list_allows() {
    let people = People::start().await;
    let open = people.store(OPERATOR, document("open", "The canteen opens at noon.", None)).await;
    let of_ada = people.store(OPERATOR, document("ada", RESTRICTED, Some(json!({"allow": ["user:ada"]})))).await;
    let not_bob = json!({"allow": ["group:people"], "deny": ["user:bob"]});
    let not_bob = people.store(OPERATOR, document("people", "The archive opens on Monday.", Some(not_bob))).await;
    let all_but_people = people
        .store(OPERATOR, document("others", "The gate opens at dawn.", Some(json!({"deny": ["group:people"]}))))
        .await;
    let for_nobody =
        people.store(OPERATOR, document("none", "The attic opens never.", Some(json!({"allow": []})))).await;
    let documents = [&open, &of_ada, &not_bob, &all_but_people, &for_nobody];
    let expected: [(&str, &[&str], [bool; 5]); 4] = [
        (&people.ada, &["ada", "open", "people"], [true, true, true, false, false]),
        (&people.bob, &["open"], [true, false, false, false, false]),
        (&people.nobody, &["open", "others"], [true, false, false, true, false]),
        (OPERATOR, &["ada", "none", "open", "others", "people"], [true; 5]),
    ];
    for (key, found, seen) in expected {
        assert_eq!(people.found(key, "What opens when?").await, found);
        for (document, sees) in documents.into_iter().zip(seen) {
            assert_eq!(people.sees(key, document).await, sees, "{document} of {documents:?}");
        }
    }
    let list = people.get(OPERATOR, &format!("/v1/documents/{not_bob}/acl")).await;
    assert_eq!(list.body, json!({"allow": ["group:people"], "deny": ["user:bob"]}));
    people.stop().await;
}

#[tokio::test]
async fn a_changed_list_holds_for_the_next_ask_and_embeds_nothing() {
    let people = People::start().await;
    people.store(OPERATOR, document("open", "The canteen opens at noon.", None)).await;
    let vault = people.store(OPERATOR, document("vault", RESTRICTED, None)).await;
    // The transactions that wrote the vectors and chunks.
    let written = "SELECT (SELECT sum(xmin::text::bigint) FROM public.chunk_embedding)::bigint + (SELECT sum(xmin::text::bigint) FROM public.chunk)::bigint";
    let before = database::number(people.database(), written).await;
    let question = json!({"question": "Which word opens the vault?", "collections": ["c"], "cache": {"ttl_s": 600}});
    let ask = async |key: &str| people.send(key, Method::POST, "/v1/ask", question.clone()).await;
    let tells = |answer: &Answer| answer.body.to_string().contains("marigold");
    // The answer is kept for the second ask.
    for is_hit in [false, true] {
        let answer = ask(&people.bob).await;
        assert!(tells(&answer) && answer.body["cache_hit"] == is_hit, "{answer:?}");
    }
    let path = format!("/v1/documents/{vault}/acl");
    let changes = [
        (Method::PATCH, json!({"deny": ["user:bob"]}), [true, false]),
        (Method::PATCH, json!({"allow": []}), [false, false]),
        (Method::PUT, json!({"allow": ["user:bob"]}), [false, true]),
        (Method::PATCH, json!({"allow": null}), [true, true]),
    ];
    for (method, change, [ada, bob]) in changes {
        let answer = people.send(OPERATOR, method, &path, change.clone()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(tells(&ask(&people.ada).await), ada, "{change}");
        assert_eq!(tells(&ask(&people.bob).await), bob, "{change}");
    }
    assert_eq!(database::number(people.database(), written).await, before, "nothing was embedded or indexed again");
    assert_eq!(database::number(people.database(), "SELECT count(*) FROM job").await, 2);
    people.stop().await;
}

/// A right that is lost while an answer is written is lost for all: the one whose ask writes it, those who wait for it, and those
/// who ask from then on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_under_way_is_not_for_those_who_lost_the_right() {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let chat = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let people = People::start_with(&chat).await;
    people.store(OPERATOR, document("open", "The canteen opens at noon.", None)).await;
    let vault = people.store(OPERATOR, document("vault", RESTRICTED, Some(json!({"allow": ["group:people"]})))).await;
    let question = json!({"question": "Which word opens the vault?", "collections": ["c"], "cache": {"ttl_s": 600}});
    let ask = async || people.send(&people.ada, Method::POST, "/v1/ask", question.clone()).await;
    let tells = |answer: &Answer| answer.body.to_string().contains("marigold");
    server.reply(Role::Grade, Reply::GradeCorrect("vault"));
    server.reply(Role::Answer, Reply::Slow(Duration::from_secs(4), format!("{RESTRICTED} [^1]")));
    server.reply(Role::Answer, Reply::Text("I do not know.".to_owned()));
    let change = async |list: Value| {
        server.wait_for_call(Role::Answer).await;
        // Long enough for the one that waits to have begun to, most of the time.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let changed = people.send(OPERATOR, Method::PUT, &format!("/v1/documents/{vault}/acl"), list).await;
        assert_eq!(changed.status, 200, "{changed:?}");
        ask().await
    };
    let follow = async || {
        server.wait_for_call(Role::Answer).await;
        ask().await
    };
    let (writer, waiting, later) = tokio::join!(ask(), follow(), change(json!({"allow": ["user:bob"]})));
    writer.assert_problem(409, "sources_withdrawn");
    assert!(!tells(&writer), "{writer:?}");
    assert!(!tells(&waiting), "{waiting:?}");
    assert!(!tells(&later), "{later:?}");
    assert!(!tells(&ask().await));
    people.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_under_way_ends_for_those_who_lost_the_right() {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let chat = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let people = People::start_with(&chat).await;
    let vault = people.store(OPERATOR, document("vault", RESTRICTED, None)).await;
    for _ in 0..3 {
        server.reply(Role::Grade, Reply::GradeCorrect("vault"));
        server.reply(Role::Answer, Reply::Slow(Duration::from_secs(4), format!("{RESTRICTED} [^1]")));
    }
    let question =
        json!({"question": "Which word opens the vault?", "collections": ["c"], "stream": true, "include": ["trace"]});
    let ask = async |key: &str| people.send(key, Method::POST, "/v1/ask", question.clone()).await.text;
    let change = async {
        server.wait_for_call(Role::Answer).await;
        let list = json!({"deny": ["user:bob"]});
        let changed = people.send(OPERATOR, Method::PUT, &format!("/v1/documents/{vault}/acl"), list).await;
        assert_eq!(changed.status, 200, "{changed:?}");
    };
    let (ada, bob, operator, ()) = tokio::join!(ask(&people.ada), ask(&people.bob), ask(OPERATOR), change);
    for whole in [ada, operator] {
        assert!(whole.contains("event: answer") && whole.contains("marigold"), "{whole}");
    }
    let (_, end) = bob.split_once("event: error").expect("it ends with an error");
    assert!(end.contains("sources_withdrawn") && !end.contains("marigold"), "{bob}");
    assert!(!bob.contains("event: answer") && !bob.contains("event: claim"), "{bob}");
    people.stop().await;
}

#[tokio::test]
async fn an_upload_keeps_the_list_unless_it_brings_one() {
    let people = People::start().await;
    let default = json!({"allow": ["user:ada"], "deny": []});
    people.store(OPERATOR, document("early", "Early words.", None)).await;
    let set = people.send(OPERATOR, Method::PUT, "/v1/collections/c/acl", default.clone()).await;
    assert_eq!((set.status, &set.body), (200, &default));
    let late = people.store(OPERATOR, document("late", "Late words.", None)).await;
    assert_eq!(people.found(&people.bob, "words").await, ["early"], "stored documents keep theirs");
    assert_eq!(people.found(&people.ada, "words").await, ["early", "late"]);
    // Other words keep the list; the same words with a list of their own are unchanged and get it.
    people.store(OPERATOR, document("late", "Later words.", None)).await;
    assert!(!people.sees_current(&people.bob, &late).await);
    for (acl, bob) in
        [(json!({"allow": ["user:bob"]}), true), (json!({"deny": ["user:bob"]}), false), (json!({}), true)]
    {
        people.store(OPERATOR, document("late", "Later words.", Some(acl.clone()))).await;
        assert_eq!(people.sees_current(&people.bob, &late).await, bob, "{acl}");
    }
    let form = reqwest::multipart::Form::new()
        .text("collection", "c")
        .text("acl", r#"{"allow": ["group:people"]}"#)
        .part("file", reqwest::multipart::Part::text("Filed words.").file_name("filed.txt"));
    let request = people.request(OPERATOR, Method::POST, "/v1/documents?wait=true").multipart(form);
    let filed = text(&send(request).await.body["items"][0]["document_id"]);
    let line = json!({"source": "line", "text": "Words of a line.", "acl": {"allow": ["group:people"]}}).to_string();
    let request = people.request(OPERATOR, Method::POST, "/v1/documents/bulk?collection=c&wait=true");
    let lined = send(request.header("content-type", "application/x-ndjson").body(line)).await;
    let lined = text(&lined.body["items"][0]["document_id"]);
    for document in [filed, lined] {
        assert!(people.sees(&people.bob, &document).await && !people.sees(&people.nobody, &document).await);
    }
    people.stop().await;
}

#[tokio::test]
async fn what_is_found_in_a_message_has_its_list() {
    let people = People::start().await;
    let message = "From: a@example.org\r\nSubject: Keys\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
        --b\r\nContent-Type: text/plain\r\n\r\nThe keys are attached.\r\n\
        --b\r\nContent-Type: text/plain; name=keys.txt\r\nContent-Disposition: attachment; filename=keys.txt\r\n\r\nThe word is marigold.\r\n--b--\r\n";
    let mail =
        json!({"source": "m.eml", "text": message, "media_type": "message/rfc822", "acl": {"allow": ["user:ada"]}});
    let mail = people.store(OPERATOR, mail).await;
    let both = ["m.eml", "m.eml/keys.txt"];
    assert_eq!(people.found(&people.ada, "keys marigold").await, both);
    assert!(people.found(&people.bob, "keys marigold").await.is_empty());
    let opened = people.send(OPERATOR, Method::PUT, &format!("/v1/documents/{mail}/acl"), json!({})).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    assert_eq!(people.found(&people.bob, "keys marigold").await, both);
    people.stop().await;
}

#[tokio::test]
async fn jobs_and_deletes_touch_only_what_is_seen() {
    let people = People::start().await;
    people.store(&people.bob, document("x/open", "The canteen opens at noon.", None)).await;
    let theirs = people.get(&people.ada, "/v1/jobs").await;
    assert_eq!(theirs.body["jobs"].as_array().map(Vec::len), Some(1), "nothing is restricted: {theirs:?}");
    people.store(&people.bob, document("x/vault", RESTRICTED, Some(json!({"allow": ["user:ada"]})))).await;
    let jobs = async |key: &str| people.get(key, "/v1/jobs").await.body["jobs"].as_array().map(Vec::len);
    assert_eq!((jobs(&people.bob).await, jobs(&people.ada).await, jobs(OPERATOR).await), (Some(2), Some(0), Some(2)));
    let path = "/v1/documents?collection=c&source_prefix=x/";
    let deleted = send(people.request(&people.bob, Method::DELETE, path)).await;
    assert_eq!((deleted.status, &deleted.body["documents"]), (200, &json!(1)), "{deleted:?}");
    assert_eq!(people.found(OPERATOR, "vault").await, ["x/vault"]);
    assert_eq!(database::number(people.database(), "SELECT count(*) FROM document_reader").await, 1);
    people.stop().await;
}

#[tokio::test]
async fn a_word_of_hidden_documents_is_unknown() {
    let people = People::start().await;
    people.store(OPERATOR, document("open", "The canteen opens at noon.", None)).await;
    let question = json!({"question": "Where does the marigold bloom?", "collections": ["c"]});
    let ask = async |key: &str| {
        let answer = people.send(key, Method::POST, "/v1/ask", question.clone()).await;
        (answer.body["outcome"].clone(), answer.body["reason"].clone(), answer.body["unknown_terms"].clone())
    };
    let before = ask(&people.bob).await;
    assert_eq!(before.2, json!(["marigold", "bloom"]), "{before:?}");
    people.store(OPERATOR, document("vault", RESTRICTED, Some(json!({"allow": ["user:ada"]})))).await;
    assert_eq!(ask(&people.bob).await, before, "whether it stands in a hidden document");
    assert_ne!(ask(&people.ada).await, before);
    people.stop().await;
}

/// The law of recall: whatever share of the documents a list lets through, what there is to find is found.
#[tokio::test]
async fn a_list_that_lets_one_in_a_thousand_through_loses_nothing() {
    const DOCUMENTS: usize = 5_000;
    let people = People::start().await;
    for start in (0..DOCUMENTS).step_by(1_000) {
        let number = |number: usize| {
            let acl = if number.is_multiple_of(1_000) {
                json!({"allow": ["user:ada"]})
            } else {
                json!({"allow": ["user:bob"]})
            };
            document(&format!("{number:04}"), &format!("Report {number} on the harbour."), Some(acl))
        };
        let documents: Vec<Value> = (start..start + 1_000).map(number).collect();
        let upload = json!({"collection": "c", "documents": documents});
        let job = people.send(OPERATOR, Method::POST, "/v1/documents?wait=true", upload).await;
        assert_eq!(job.body["state"], "succeeded", "{job:?}");
    }
    for mode in ["hybrid", "dense", "lexical"] {
        let body = json!({"query": "report on the harbour", "collections": ["c"], "mode": mode, "top_k": 10,
                          "include": ["trace"], "stages": {"rerank": false, "collapse_duplicates": false}});
        let found = async |key: &str| {
            let answer = people.send(key, Method::POST, "/v1/search", body.clone()).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            let mut found: Vec<String> =
                answer.body["results"].as_array().expect("results").iter().map(|hit| text(&hit["source"])).collect();
            found.sort();
            (found, answer.body["trace"].clone())
        };
        let (of_ada, trace) = found(&people.ada).await;
        assert_eq!(of_ada, ["0000", "1000", "2000", "3000", "4000"], "{mode}");
        assert!(!trace.to_string().contains("5000"), "how much there is: {trace}");
        assert_eq!(found(&people.bob).await.0.len(), 10, "{mode}");
        assert_eq!(found(&people.nobody).await.0.len(), 0, "{mode}");
    }
    people.stop().await;
}

#[tokio::test]
async fn a_wrong_list_is_refused_by_its_place() {
    let people = People::start().await;
    let document = json!({"source": "a", "text": "Words.", "acl": {"allow": ["ada"], "deny": ["group:"]}});
    let upload = json!({"collection": "c", "documents": [document]});
    let refused = people.send(OPERATOR, Method::POST, "/v1/documents", upload).await;
    refused.assert_problem(422, "invalid_request");
    assert_eq!(refused.pointers(), ["/documents/0/acl/allow/0", "/documents/0/acl/deny/0"]);
    let key = json!({"name": "a", "scopes": ["ask"], "principals": ["everybody"]});
    let refused = people.send(OPERATOR, Method::POST, "/v1/keys", key).await;
    assert_eq!(refused.pointers(), ["/principals/0"]);
    people.stop().await;
}

impl People {
    /// Whether a key sees a document in its current version.
    async fn sees_current(&self, key: &str, document: &str) -> bool {
        self.get(key, &format!("/v1/documents/{document}")).await.status == 200
    }
}

/// Former versions are judged by the list of their document: whoever could give it another would read them.
#[tokio::test]
async fn an_upload_changes_no_list_of_a_document_that_its_maker_may_not_see() {
    let people = People::start().await;
    let of_ada = document("vault", RESTRICTED, Some(json!({"allow": ["user:ada"]})));
    let vault = people.store(&people.ada, of_ada).await;
    let cited = format!("/v1/citations/cited%3Ac%2F{vault}%401%230");
    let for_bob = json!({"allow": ["user:bob"]});
    let words = ["The vault was moved.", RESTRICTED];
    for text in words {
        // The second time nothing but the list would change.
        for _ in 0..2 {
            let upload = document("vault", text, Some(for_bob.clone()));
            let body = json!({"collection": "c", "documents": [upload]});
            let job = people.send(&people.bob, Method::POST, "/v1/documents?wait=true", body).await;
            assert_eq!((job.status, &job.body["state"]), (200, &json!("succeeded")), "{job:?}");
            for path in [format!("/v1/documents/{vault}"), cited.clone()] {
                assert_eq!(people.get(&people.bob, &path).await.status, 404, "{path} after {text}");
            }
            assert_eq!(people.get(&people.ada, &cited).await.status, 200);
        }
    }
    // Somebody who may see it may give it away, and a new document is its maker's.
    people.store(&people.ada, document("vault", RESTRICTED, Some(json!({"allow": ["user:ada", "user:bob"]})))).await;
    assert_eq!(people.get(&people.bob, &cited).await.status, 200);
    let closed = people.send(OPERATOR, Method::PUT, "/v1/collections/c/acl", json!({"allow": ["user:ada"]})).await;
    assert_eq!(closed.status, 200, "{closed:?}");
    let own = people.store(&people.bob, document("own", "A note of mine.", Some(for_bob))).await;
    assert!(people.sees(&people.bob, &own).await && !people.sees(&people.ada, &own).await);
    people.stop().await;
}
