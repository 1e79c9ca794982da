//! Non-interference: the answers to a caller are the same, to the last digit, whatever is stored that it may not see.

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    keys::{SETTINGS, call},
    world::{OPERATOR, text},
};
use crate::{harness::TestApp, scripted::ModelServer};

/// Number of changes to what is hidden; after each the answers are held against those of the beginning.
const CHANGES: usize = 60;
/// Words of all documents, so that hidden ones compete for every question.
const WORDS: [&str; 18] = [
    "boats", "land", "harbour", "noon", "keys", "vault", "opens", "monday", "leave", "days", "canteen", "backup",
    "tapes", "kept", "marigold", "zebra", "pto", "canten",
];
/// Documents that the caller may see.
const SEEN: [(&str, &str); 4] = [
    ("boats", "# Boats\n\nBoats land in the harbour at noon. Nobody may land on Monday."),
    ("vault", "# Vault\n\nThe vault opens with two keys. Backup tapes are kept in the vault for 90 days."),
    ("leave", "# Leave\n\nEveryone has 28 days of annual leave. Leave is asked for by Monday noon."),
    ("canteen", "# Canteen\n\nThe canteen opens at noon."),
];
/// Questions: answered, answered in part, about what only hidden documents know, about nothing, and with an abbreviation and a
/// typing error that the caller's documents do not have.
const QUESTIONS: [&str; 7] = [
    "When do boats land in the harbour?",
    "How many days are backup tapes kept, and who opens the canteen?",
    "What does the marigold open?",
    "When does the canteen open?",
    "Which zebra guards the vault?",
    "How much PTO does everyone have?",
    "When does the canten open?",
];

/// A change to what the caller may not see.
#[derive(Clone, Debug)]
enum Hidden {
    /// A document of this source is stored or replaced: of another tenant's collection of the same name, or of the caller's
    /// own with a list that does not name it.
    Store { of: Owner, source: String, text: String },
    /// Documents whose sources begin so are deleted.
    Delete { of: Owner, prefix: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Tenant,
    List,
}

fn changes() -> impl Strategy<Value = Hidden> {
    let owner = prop_oneof![Just(Owner::Tenant), Just(Owner::List)];
    let sentence =
        prop::collection::vec(prop::sample::select(&WORDS[..]), 3..9).prop_map(|words| words.join(" ") + ". ");
    let texts = prop_oneof![
        prop::collection::vec(sentence, 1..12).prop_map(|sentences| sentences.concat()),
        // The very words that the caller may see: nothing may be shared or told by them.
        prop::sample::select(&SEEN[..]).prop_map(|(_, text)| text.to_owned()),
    ];
    let source = prop::sample::select(&["hidden-a", "hidden-b", "hidden-c", "hidden-d"][..]);
    let store = (owner.clone(), source.clone(), texts).prop_map(|(of, source, text)| Hidden::Store {
        of,
        source: source.to_owned(),
        text,
    });
    let delete = (owner, source).prop_map(|(of, prefix)| Hidden::Delete { of, prefix: prefix.to_owned() });
    prop_oneof![4 => store, 1 => delete]
}

/// The service, the caller, and the keys of those who change what it may not see.
struct World {
    app: TestApp,
    caller: String,
    neighbour: String,
    _models: ModelServer,
}

impl World {
    async fn start() -> Self {
        let models = ModelServer::start().await;
        let app = TestApp::start_with_embeddings(&models, &SETTINGS).await;
        let made = async |path: &str, body: Value| {
            let answer = call(&app, OPERATOR, Method::POST, path, Some(body)).await;
            assert_eq!(answer.status, 201, "{answer:?}");
            answer.body
        };
        let scopes = json!(["ask", "ingest", "read"]);
        let caller = made("/v1/keys", json!({"name": "caller", "scopes": scopes, "principals": ["user:bob"]})).await;
        let tenant = made("/v1/tenants", json!({"name": "neighbours"})).await;
        let keys = format!("/v1/tenants/{}/keys", text(&tenant["id"]));
        let neighbour = made(&keys, json!({"name": "neighbour", "scopes": scopes})).await;
        let [caller, neighbour] = [caller, neighbour].map(|key| text(&key["secret"]));
        let world = Self { app, caller, neighbour, _models: models };
        for (source, text) in SEEN {
            world.store(&world.caller, json!({"source": source, "text": text})).await;
        }
        world
    }

    async fn store(&self, key: &str, document: Value) {
        let body = json!({"collection": "c", "documents": [document]});
        let job = call(&self.app, key, Method::POST, "/v1/documents?wait=true", Some(body)).await;
        assert_eq!((job.status, &job.body["counts"]["failed"]), (200, &json!(0)), "{job:?}");
    }

    async fn change(&self, hidden: &Hidden) {
        let key = |of: Owner| if of == Owner::Tenant { self.neighbour.as_str() } else { OPERATOR };
        match hidden {
            Hidden::Store { of, source, text } => {
                let acl = if *of == Owner::List { json!({"allow": ["user:ada"]}) } else { json!({}) };
                self.store(key(*of), json!({"source": source, "text": text, "acl": acl})).await;
            }
            Hidden::Delete { of, prefix } => {
                let path = format!("/v1/documents?collection=c&source_prefix={prefix}");
                let answer = call(&self.app, key(*of), Method::DELETE, &path, None).await;
                assert!(matches!(answer.status, 200 | 404), "{answer:?}");
            }
        }
    }

    /// All that the caller is told, without what differs between two requests anyway.
    async fn seen(&self) -> Vec<Value> {
        let mut seen = Vec::new();
        let get = async |path: &str| call(&self.app, &self.caller, Method::GET, path, None).await;
        for path in ["/v1/collections", "/v1/collections/c", "/v1/documents?collection=c", "/v1/models"] {
            seen.push(get(path).await);
        }
        let post = async |path: &str, body: Value| call(&self.app, &self.caller, Method::POST, path, Some(body)).await;
        for question in QUESTIONS {
            for mode in ["hybrid", "lexical", "dense"] {
                let body = json!({"query": question, "collections": ["c"], "mode": mode, "top_k": 20});
                seen.push(post("/v1/search", body).await);
            }
            seen.push(post("/v1/ask", json!({"question": question, "collections": ["c"], "include": ["trace"]})).await);
        }
        seen.into_iter()
            .map(|answer| {
                assert_eq!(answer.status, 200, "{answer:?}");
                without_chance(answer.body)
            })
            .collect()
    }
}

/// A body without ids of requests and times.
fn without_chance(body: Value) -> Value {
    match body {
        Value::Object(members) => {
            let is_chance = |name: &str| matches!(name, "id" | "request_id") || name.ends_with("_ms");
            members
                .into_iter()
                .filter(|(name, _)| !is_chance(name))
                .map(|(name, value)| (name, without_chance(value)))
                .collect()
        }
        Value::Array(items) => items.into_iter().map(without_chance).collect(),
        other => other,
    }
}

#[tokio::test]
async fn answers_are_the_same_whatever_is_hidden() {
    let world = World::start().await;
    // From here on a document of the collection may have a list, which is all that a caller might know.
    let hidden = json!({"source": "hidden-a", "text": "Words.", "acl": {"allow": ["user:ada"]}});
    world.store(OPERATOR, hidden).await;
    let first = world.seen().await;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for number in 0..CHANGES {
        let change = changes().new_tree(&mut runner).expect("a value").current();
        world.change(&change).await;
        for (then, now) in first.iter().zip(world.seen().await) {
            assert_eq!(*then, now, "after change {number}: {change:?}");
        }
    }
    world.app.stop().await;
}
