//! Access tokens of an identity provider: what opens, as whom, and what does not.

use jsonwebtoken::get_current_timestamp;
use serde_json::{Value, json};

use super::{
    issuer::{Issuer, IssuerKey, encoded},
    world::{OPERATOR, PEPPER, text},
};
use crate::{
    harness::{Answer, TestApp, send},
    scripted::ModelServer,
    wait,
};

const AUDIENCE: &str = "https://cited.example";

/// A service that accepts tokens.
struct Guarded {
    app: TestApp,
    issuer: Issuer,
    _models: ModelServer,
}

impl Guarded {
    async fn start(issuer: Issuer, settings: &[(&str, &str)]) -> Self {
        let models = ModelServer::start().await;
        let name = issuer.name();
        let mut all = vec![
            ("CITED_API_KEYS", OPERATOR),
            ("CITED_KEY_PEPPER", PEPPER),
            ("CITED_OIDC_ISSUER", name.as_str()),
            ("CITED_OIDC_AUDIENCE", AUDIENCE),
            ("CITED_REFUSALS_PER_MINUTE", "100000"),
        ];
        all.extend_from_slice(settings);
        let app = TestApp::start_with_embeddings(&models, &all).await;
        Self { app, issuer, _models: models }
    }

    /// The claims of a good token.
    fn claims(&self) -> Value {
        let now = get_current_timestamp();
        json!({"iss": self.issuer.name(), "aud": [AUDIENCE, "another"], "sub": "ada", "iat": now, "exp": now + 300,
               "client_id": "a page", "jti": "1", "scope": "openid ask read", "groups": ["people"]})
    }

    async fn get(&self, token: &str, path: &str) -> Answer {
        send(self.app.request(reqwest::Method::GET, path).bearer_auth(token)).await
    }

    async fn post(&self, token: &str, path: &str, body: Value) -> Answer {
        send(self.app.request(reqwest::Method::POST, path).bearer_auth(token).json(&body)).await
    }

    /// The status of a request with a token.
    async fn status(&self, token: &str) -> u16 {
        self.get(token, "/v1/collections").await.status
    }
}

fn with(mut object: Value, member: &str, value: Value) -> Value {
    object[member] = value;
    object
}

fn without(mut object: Value, member: &str) -> Value {
    object.as_object_mut().expect("an object").remove(member);
    object
}

#[tokio::test]
async fn a_token_opens_what_its_claims_grant_to_its_user_and_groups() {
    let keys = [IssuerKey::ec("ec"), IssuerKey::ed("ed"), IssuerKey::rsa("rsa")];
    let guarded = Guarded::start(Issuer::start(&keys.each_ref()).await, &[]).await;
    let documents = json!([
        {"source": "ada", "text": "The vault opens for Ada.", "acl": {"allow": ["user:ada"]}},
        {"source": "people", "text": "The canteen opens for people.", "acl": {"allow": ["group:people"]}},
        {"source": "bob", "text": "The attic opens for Bob.", "acl": {"allow": ["user:bob"]}},
    ]);
    let stored =
        guarded.post(OPERATOR, "/v1/documents?wait=true", json!({"collection": "c", "documents": documents})).await;
    assert_eq!(stored.status, 200, "{stored:?}");
    for key in &keys {
        let token = key.token(&key.header(), &guarded.claims());
        let search = json!({"query": "What opens?", "collections": ["c"]});
        let found = guarded.post(&token, "/v1/search", search).await;
        assert_eq!(found.status, 200, "{}: {found:?}", key.kid);
        let mut sources: Vec<String> =
            found.body["results"].as_array().expect("results").iter().map(|hit| text(&hit["source"])).collect();
        sources.sort();
        assert_eq!(sources, ["ada", "people"], "{}", key.kid);
        let upload = json!({"collection": "c", "documents": [{"source": "x", "text": "Words."}]});
        guarded.post(&token, "/v1/documents", upload).await.assert_problem(403, "insufficient_scope");
        guarded.get(&token, "/v1/tenants").await.assert_problem(403, "insufficient_scope");
    }
    let asked = json!({"question": "What opens for Ada?", "collections": ["c"]});
    let token = keys[0].token(&keys[0].header(), &guarded.claims());
    assert_eq!(guarded.post(&token, "/v1/ask", asked).await.status, 200);
    assert_eq!(guarded.get(OPERATOR, "/v1/audit").await.body["asks"][0]["key_id"], "user:ada");
    let about = guarded.app.get("/.well-known/oauth-protected-resource/mcp").await;
    assert_eq!(about.body["authorization_servers"], json!([guarded.issuer.name()]));
    guarded.app.stop().await;
}

#[tokio::test]
async fn a_token_that_is_not_good_opens_nothing() {
    let (key, other) = (IssuerKey::ec("ec"), IssuerKey::ec("ec"));
    let guarded = Guarded::start(Issuer::start(&[&key]).await, &[]).await;
    let (header, claims) = (key.header(), guarded.claims());
    let now = get_current_timestamp();
    let good = key.token(&header, &claims);
    assert_eq!(guarded.status(&good).await, 200);
    let (signed, signature) = good.rsplit_once('.').expect("three parts");
    let richer = encoded(with(claims.clone(), "scope", json!("admin")).to_string().as_bytes());
    let changed = format!("{}.{richer}.{signature}", signed.split_once('.').expect("two parts").0);
    let unsigned = |algorithm: &str| {
        let header = encoded(with(header.clone(), "alg", json!(algorithm)).to_string().as_bytes());
        format!("{header}.{}.", encoded(claims.to_string().as_bytes()))
    };
    // A server that takes the public key for a secret would accept this.
    let hmac = {
        let message = unsigned("HS256").trim_end_matches('.').to_owned();
        let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key.public().to_string().as_bytes());
        format!("{message}.{}", encoded(ring::hmac::sign(&secret, message.as_bytes()).as_ref()))
    };
    let cases = [
        ("ended", key.token(&header, &with(claims.clone(), "exp", json!(now - 60)))),
        ("not begun", key.token(&header, &with(claims.clone(), "nbf", json!(now + 120)))),
        ("without an end", key.token(&header, &without(claims.clone(), "exp"))),
        ("with an end that is no number", key.token(&header, &with(claims.clone(), "exp", json!("never")))),
        ("with a beginning that is no number", key.token(&header, &with(claims.clone(), "nbf", json!("always")))),
        ("for another audience", key.token(&header, &with(claims.clone(), "aud", json!("https://other.example")))),
        ("for no audience", key.token(&header, &without(claims.clone(), "aud"))),
        ("of another issuer", key.token(&header, &with(claims.clone(), "iss", json!("https://other.example")))),
        ("of nobody", key.token(&header, &without(claims.clone(), "sub"))),
        ("of a user without a name", key.token(&header, &with(claims.clone(), "sub", json!("")))),
        ("an ID token", key.token(&with(header.clone(), "typ", json!("JWT")), &claims)),
        ("without a type", key.token(&without(header.clone(), "typ"), &claims)),
        ("with a header that must be understood", key.token(&with(header.clone(), "crit", json!(["b64"])), &claims)),
        ("of a key that the issuer does not have", key.token(&with(header.clone(), "kid", json!("old")), &claims)),
        ("of another key under the same name", other.token(&header, &claims)),
        ("with other claims", changed),
        ("without a signature", unsigned("none")),
        ("that says it is not signed, in other letters", unsigned("None")),
        ("signed with the public key", hmac),
        ("of another algorithm", key.token(&with(header.clone(), "alg", json!("RS256")), &claims)),
        ("cut off", good.chars().take(good.len() - 2).collect()),
    ];
    for (kind, token) in cases {
        let answer = guarded.get(&token, "/v1/collections").await;
        assert_eq!(answer.status, 401, "a token {kind}: {answer:?}");
        answer.assert_problem(401, "unauthorized");
    }
    assert_eq!(guarded.status(&key.token(&without(header, "kid"), &claims)).await, 200, "one key, no name");
    guarded.app.stop().await;
}

#[tokio::test]
async fn the_tenant_and_the_collections_of_a_token_bound_it() {
    let key = IssuerKey::ed("ed");
    let settings = [
        ("CITED_OIDC_TENANT_CLAIM", "org.tenant"),
        ("CITED_OIDC_COLLECTIONS_CLAIM", "collections"),
        ("CITED_OIDC_TOKEN_TYPES", "JWT"),
    ];
    let guarded = Guarded::start(Issuer::start(&[&key]).await, &settings).await;
    let made = guarded.post(OPERATOR, "/v1/tenants", json!({"name": "acme"})).await;
    let tenant = text(&made.body["id"]);
    let header = with(key.header(), "typ", json!("JWT"));
    let claims = with(guarded.claims(), "scope", json!(["admin"]));
    let of = |tenant: &str| with(claims.clone(), "org", json!({"tenant": tenant}));
    let in_acme = key.token(&header, &with(of(&tenant), "collections", json!(["theirs"])));
    for (name, status) in [("theirs", 201), ("others", 403)] {
        assert_eq!(guarded.post(&in_acme, "/v1/collections", json!({"name": name})).await.status, status, "{name}");
    }
    assert!(guarded.get(OPERATOR, "/v1/collections").await.body["collections"].as_array().expect("a list").is_empty());
    let unlimited = key.token(&header, &of(&tenant));
    guarded.get(&unlimited, "/v1/collections/theirs").await.assert_problem(404, "not_found");
    for wrong in ["acme", "019ee0a1-6f0b-7d52-9a40-5f1b8f0f6a11"] {
        guarded.get(&key.token(&header, &of(wrong)), "/v1/collections").await.assert_problem(401, "unauthorized");
    }
    guarded.get(&key.token(&header, &claims), "/v1/collections").await.assert_problem(401, "unauthorized");
    guarded.app.stop().await;
}

#[tokio::test]
async fn keys_that_the_issuer_changes_are_found_and_made_up_ones_do_not_flood_it() {
    let (first, second) = (IssuerKey::ec("first"), IssuerKey::ec("second"));
    let guarded = Guarded::start(Issuer::start(&[&first]).await, &[]).await;
    let claims = guarded.claims();
    let token = |key: &IssuerKey| key.token(&key.header(), &claims);
    assert_eq!(guarded.status(&token(&first)).await, 200);
    let before = guarded.issuer.requests();
    for number in 0..50 {
        let made_up = first.token(&with(first.header(), "kid", json!(format!("made up {number}"))), &claims);
        assert_eq!(guarded.status(&made_up).await, 401);
    }
    assert!(guarded.issuer.requests() - before < 10, "{} requests", guarded.issuer.requests() - before);
    guarded.issuer.publish(&[&second]);
    wait::until_ok("the new key is read", async || match guarded.status(&token(&second)).await {
        200 => Ok(()),
        status => Err(status),
    })
    .await;
    assert_eq!(guarded.status(&token(&first)).await, 401, "the old key is gone");
    // Known keys are used while the issuer is away.
    guarded.issuer.set_down(true);
    assert_eq!(guarded.status(&token(&second)).await, 200);
    guarded.app.stop().await;
}

#[tokio::test]
async fn while_the_issuer_is_away_tokens_wait_and_keys_open() {
    let key = IssuerKey::ec("ec");
    let issuer = Issuer::start(&[&key]).await;
    issuer.set_down(true);
    let guarded = Guarded::start(issuer, &[]).await;
    let token = key.token(&key.header(), &guarded.claims());
    let refused = guarded.get(&token, "/v1/collections").await;
    refused.assert_problem(503, "issuer_unavailable");
    assert!(refused.headers.contains_key("retry-after"), "{refused:?}");
    assert_eq!(guarded.status(OPERATOR).await, 200);
    guarded.issuer.set_down(false);
    wait::until_ok("the keys are read", async || match guarded.status(&token).await {
        200 => Ok(()),
        status => Err(status),
    })
    .await;
    guarded.app.stop().await;
}
