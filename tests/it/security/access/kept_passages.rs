//! Passages and results of searches that a process keeps in memory change nothing: over random changes by two processes, one
//! that keeps them and one that keeps none answer alike, whoever asks, also when the same is asked again at once.

use reqwest::Method;
use serde_json::{Value, json};

use super::world::{OPERATOR, PEPPER, text};
use crate::{
    harness::{Answer, TestApp, send},
    scripted::ModelServer,
};

const COLLECTIONS: [&str; 2] = ["c", "d"];
const SOURCES: usize = 5;
const CHANGES: usize = 24;
const WORDS: [&str; 8] = ["vault", "canteen", "archive", "gate", "attic", "marigold", "noon", "Monday"];
const QUESTIONS: [&str; 2] = ["When does the vault open?", "Which canteen opens at noon on Monday?"];

/// A sequence of numbers that a seed decides (Knuth's linear congruence).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len())]
    }
}

async fn request(app: &TestApp, key: &str, method: Method, path: &str, body: Value) -> Answer {
    send(app.request(method, path).bearer_auth(key).json(&body)).await
}

/// Everything of a reply but what differs between two asks of the same question.
fn lasting(mut body: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !name.ends_with("_ms"));
                members.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    if let Some(members) = body.as_object_mut() {
        members.remove("id");
    }
    strip(&mut body);
    body
}

/// Whether a reply holds any of the words.
fn tells(body: &Value) -> bool {
    body["sources"].as_array().is_some_and(|sources| !sources.is_empty())
}

async fn change(app: &TestApp, dice: &mut Dice) {
    let (collection, source) = (*dice.pick(&COLLECTIONS), format!("source-{}", dice.roll(SOURCES)));
    let listed =
        request(app, OPERATOR, Method::GET, &format!("/v1/documents?collection={collection}"), json!(null)).await;
    let documents = listed.body["documents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let document = (!documents.is_empty()).then(|| text(&dice.pick(documents)["id"]));
    let words = format!("The {} opens the {} at {}.", dice.pick(&WORDS), dice.pick(&WORDS), dice.pick(&WORDS));
    let list = dice
        .pick(&[
            json!({"allow": null}),
            json!({"allow": ["user:ada"]}),
            json!({"deny": ["user:ada"]}),
            json!({"allow": []}),
        ])
        .clone();
    let answer = match (dice.roll(6), document) {
        (0, Some(id)) => request(app, OPERATOR, Method::DELETE, &format!("/v1/documents/{id}"), json!(null)).await,
        (1, Some(id)) => request(app, OPERATOR, Method::PATCH, &format!("/v1/documents/{id}/acl"), list).await,
        (2, Some(id)) => {
            let body = json!({"text": words, "metadata": {"roll": dice.roll(9)}});
            request(app, OPERATOR, Method::PUT, &format!("/v1/documents/{id}?wait=true"), body).await
        }
        _ => {
            let new = json!({"source": source, "text": words, "metadata": {"roll": dice.roll(9)}});
            let body = json!({"collection": collection, "documents": [new]});
            request(app, OPERATOR, Method::POST, "/v1/documents?wait=true", body).await
        }
    };
    assert!((200..300).contains(&answer.status), "{answer:?}");
}

#[tokio::test]
async fn answers_are_the_same_with_and_without_what_is_kept() {
    let server = ModelServer::start().await;
    let keys = [("CITED_API_KEYS", OPERATOR), ("CITED_KEY_PEPPER", PEPPER)];
    let keeping = TestApp::start_with_embeddings(&server, &keys).await;
    let url = server.base_url();
    let mut settings = vec![
        ("CITED_EMBEDDING_BASE_URL", url.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_PASSAGE_CACHE_MIB", "0"),
    ];
    settings.extend(keys);
    let reading = TestApp::start(keeping.database.clone(), &settings).await;
    let wanted = json!({"name": "ada", "scopes": ["ask", "ingest", "read"], "principals": ["user:ada"]});
    let ada = text(&request(&keeping, OPERATOR, Method::POST, "/v1/keys", wanted).await.body["secret"]);
    for collection in COLLECTIONS {
        let first =
            json!({"collection": collection, "documents": [{"source": "first", "text": "The vault opens at noon."}]});
        let stored = request(&keeping, OPERATOR, Method::POST, "/v1/documents?wait=true", first).await;
        assert_eq!(stored.status, 200, "{stored:?}");
    }
    let mut told = 0;
    for seed in 1..=3 {
        let mut dice = Dice(seed);
        for _ in 0..CHANGES {
            change(if dice.roll(2) == 0 { &keeping } else { &reading }, &mut dice).await;
            let question = *dice.pick(&QUESTIONS);
            let (search, ask) = (
                json!({"query": question, "collections": COLLECTIONS}),
                json!({"question": question, "collections": COLLECTIONS}),
            );
            for key in [OPERATOR, ada.as_str()] {
                for (path, body) in [("/v1/search", &search), ("/v1/ask", &ask)] {
                    let kept = request(&keeping, key, Method::POST, path, body.clone()).await;
                    let read = request(&reading, key, Method::POST, path, body.clone()).await;
                    assert_eq!(kept.status, read.status, "{kept:?}");
                    told += usize::from(tells(&kept.body));
                    let expected = lasting(read.body);
                    assert_eq!(lasting(kept.body), expected, "seed {seed}");
                    let again = request(&keeping, key, Method::POST, path, body.clone()).await;
                    assert_eq!(lasting(again.body), expected, "seed {seed}, asked again");
                }
            }
        }
    }
    assert!(told > CHANGES, "most questions find something");
    keeping.stop().await;
    reading.stop().await;
}
