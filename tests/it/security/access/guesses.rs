//! Uploads by which somebody guesses what documents say that are hidden from them.

use reqwest::Method;
use serde_json::{Value, json};

use super::world::{Caller, OPERATOR, PEPPER, text};
use crate::{
    harness::{TestApp, send},
    scripted::ModelServer,
};

/// Documents that are hidden, by their source.
const HIDDEN: [(&str, &str); 2] =
    [("vault.md", "The pin of the vault is 4711."), ("safe.md", "The pin of the safe is 0815.")];
/// A wrong guess.
const WRONG: &str = "The pin is 1234.";

/// The counts of a job and the states of its items, after an upload that is stored directly or through the queue.
async fn told(caller: &Caller, key: &str, document: (&str, &str), is_queued: bool) -> Value {
    let (source, words) = document;
    let body = json!({"collection": "c", "documents": [{"source": source, "text": words}]});
    let request = caller.request(Method::POST, "/v1/documents?wait=true").bearer_auth(key).json(&body);
    let request = if is_queued { request.header("idempotency-key", format!("{source} {words}")) } else { request };
    let job = send(request).await;
    assert_eq!((job.status, &job.body["state"]), (200, &json!("succeeded")), "{job:?}");
    json!([job.body["counts"], job.body["items"][0]["state"], job.body["embeddings"]])
}

#[tokio::test]
async fn an_upload_does_not_tell_whether_a_hidden_document_says_the_same() {
    let models = ModelServer::start().await;
    let settings = [("CITED_API_KEYS", OPERATOR), ("CITED_KEY_PEPPER", PEPPER)];
    let app = TestApp::start_with_embeddings(&models, &settings).await;
    let caller = Caller { base: app.base.clone() };
    let key = json!({"name": "bob", "scopes": ["ingest", "read"], "principals": ["user:bob"]});
    let bob = text(&caller.post(OPERATOR, "/v1/keys", key).await.body["secret"]);
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
