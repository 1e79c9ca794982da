//! Uploads by which somebody guesses what documents say that are hidden from them.

use serde_json::{Value, json};

use super::{
    keys::SETTINGS,
    world::{Caller, OPERATOR, text},
};
use crate::{
    harness::TestApp,
    ingest::{
        contextual::{self, SENTENCE},
        fetch::{self, Page, Site},
    },
    scripted::{ModelServer, Role},
    wait,
};

/// Documents that are hidden, by their source.
const HIDDEN: [(&str, &str); 2] =
    [("vault.md", "The pin of the vault is 4711."), ("safe.md", "The pin of the safe is 0815.")];
/// A wrong guess.
const WRONG: &str = "The pin is 1234.";

/// The counts of a job and the states of its items, after an upload that is stored directly or through the queue.
async fn told(caller: &Caller, key: &str, document: (&str, &str), is_queued: bool) -> Value {
    let (source, words) = document;
    told_of(caller, key, json!({"source": source, "text": words}), is_queued).await
}

async fn told_of(caller: &Caller, key: &str, document: Value, is_queued: bool) -> Value {
    let body = json!({"collection": "c", "documents": [document]});
    // What nobody waits for goes through the queue.
    let path = if is_queued { "/v1/documents" } else { "/v1/documents?wait=true" };
    let accepted = caller.post(key, path, body).await;
    let job = wait::until_ok("the job ends", async || {
        let job = caller.get(key, &format!("/v1/jobs/{}", text(&accepted.body["id"]))).await.body;
        if job["finished_at"].is_string() { Ok(job) } else { Err(job) }
    })
    .await;
    assert_eq!(job["state"], "succeeded", "{job}");
    json!([job["counts"], job["items"][0]["state"], job["embeddings"], job["contexts"]])
}

/// A key that no list names.
async fn key_of_bob(caller: &Caller) -> String {
    let key = json!({"name": "bob", "scopes": ["ingest", "read"], "principals": ["user:bob"]});
    text(&caller.post(OPERATOR, "/v1/keys", key).await.body["secret"])
}

#[tokio::test]
async fn an_upload_does_not_tell_whether_a_hidden_document_says_the_same() {
    let models = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&models, &SETTINGS).await;
    let caller = Caller { base: app.base.clone() };
    let bob = key_of_bob(&caller).await;
    for (source, words) in HIDDEN {
        let document = json!({"source": source, "text": words, "acl": {"allow": ["user:ada"]}});
        let upload = json!({"collection": "c", "documents": [document]});
        assert_eq!(caller.post(OPERATOR, "/v1/documents?wait=true", upload).await.status, 200);
    }
    for (is_queued, (source, words)) in [false, true].into_iter().zip(HIDDEN) {
        let wrong = format!("{WRONG} {is_queued}");
        let own = format!("own-{is_queued}.md");
        let missed = told(&caller, &bob, (&own, &wrong), is_queued).await;
        assert_eq!((&missed[0]["embedding_calls"], &missed[0]["reused_vectors"]), (&json!(1), &json!(0)), "{missed}");
        let named = told(&caller, &bob, (source, words), is_queued).await;
        assert_eq!(named, missed, "under the name of the hidden document, queued: {is_queued}");
        let elsewhere = told(&caller, &bob, (&format!("guess-{source}"), words), is_queued).await;
        assert_eq!(elsewhere, missed, "under a name of one's own, queued: {is_queued}");
    }
    // The documents that bob may see are found again as ever, and so is everything for those who see everything.
    let again = told(&caller, &bob, ("own-false.md", &format!("{WRONG} false")), false).await;
    assert_eq!((&again[0]["unchanged"], &again[1]), (&json!(1), &json!("unchanged")), "{again}");
    let copied = told(&caller, &bob, ("copy.md", &format!("{WRONG} false")), false).await;
    assert_eq!(copied[0]["reused_vectors"], json!(1), "{copied}");
    let operators = told(&caller, OPERATOR, ("copy-of-all.md", HIDDEN[0].1), false).await;
    assert_eq!(operators[0]["reused_vectors"], json!(1), "{operators}");
    app.stop().await;
}

#[tokio::test]
async fn a_fetch_does_not_tell_whether_a_hidden_document_has_changed() {
    let (models, site) = (ModelServer::start().await, Site::start().await);
    let app = TestApp::start_with_embeddings(&models, &[&SETTINGS[..], &fetch::SETTINGS[..]].concat()).await;
    let caller = Caller { base: app.base.clone() };
    let bob = key_of_bob(&caller).await;
    let page = |words: &str| [Page::Document("text/plain", words.as_bytes().to_vec(), "\"v1\"")];
    let (hidden, own) = (site.put("/hidden", &page(HIDDEN[0].1)), site.put("/own", &page(WRONG)));
    told_of(&caller, OPERATOR, json!({"url": hidden, "acl": {"allow": ["user:ada"]}}), true).await;
    let missed = told_of(&caller, &bob, json!({"url": own}), true).await;
    let guessed = told_of(&caller, &bob, json!({"url": hidden}), true).await;
    assert_eq!(guessed, missed);
    // The server is told neither, which may be the guesser's own.
    assert_eq!(site.conditions("/hidden"), [(None, None), (None, None)]);
    // One's own documents are fetched anew only if they have changed.
    let again = told_of(&caller, &bob, json!({"url": own}), true).await;
    assert_eq!((&again[0]["unchanged"], &again[1]), (&json!(1), &json!("unchanged")), "{again}");
    assert!(matches!(&site.conditions("/own")[..], [(None, None), (Some(tag), Some(_))] if tag == "\"v1\""));
    app.stop().await;
}

#[tokio::test]
async fn sentences_about_chunks_do_not_tell_whether_a_hidden_document_has_the_same() {
    let models = ModelServer::start().await;
    models.say(Role::Context, SENTENCE);
    let app = contextual::app(&models, &SETTINGS, "").await;
    let caller = Caller { base: app.base.clone() };
    let bob = key_of_bob(&caller).await;
    let splitter = json!({"kind": "recursive", "size": 20, "overlap": 0});
    let collection = json!({"name": "c", "splitter": splitter, "context": {"on_failure": "abort"}});
    assert_eq!(caller.post(OPERATOR, "/v1/collections", collection).await.status, 201);
    let (words, wrong) = (contextual::text(), contextual::text().replace("Ferries", "Barges"));
    told_of(&caller, OPERATOR, json!({"source": "ferry.txt", "text": words, "acl": {"allow": ["user:ada"]}}), false)
        .await;
    let missed = told(&caller, &bob, ("own.txt", &wrong.replace("muzzle", "lead")), false).await;
    assert_eq!((&missed[3]["calls"], &missed[3]["reused"]), (&json!(6), &json!(0)), "{missed}");
    for source in ["ferry.txt", "guess.txt"] {
        let guessed = told(&caller, &bob, (source, &words), false).await;
        let contexts = |told: &Value| [told[3]["calls"].clone(), told[3]["reused"].clone()];
        assert_eq!(contexts(&guessed), contexts(&missed), "{source}");
    }
    // Of what one may see they are used again, and by those who see everything all of them.
    let copied = told(&caller, &bob, ("copy.txt", &words), false).await;
    assert_eq!((&copied[3]["calls"], &copied[3]["reused"]), (&json!(0), &json!(6)), "{copied}");
    let operators = told(&caller, OPERATOR, ("copy-of-all.txt", &words), false).await;
    assert_eq!((&operators[3]["calls"], &operators[3]["reused"]), (&json!(0), &json!(6)), "{operators}");
    app.stop().await;
}
