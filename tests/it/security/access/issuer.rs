//! An identity provider that does as it is told, and the keys that it signs with.

use std::sync::{Arc, Mutex};

use axum::{Json, Router, extract::State, http::StatusCode, routing::get};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair},
};
use serde_json::{Value, json};

use crate::harness::Served;

const RSA: &[u8] = include_bytes!("../../../fixtures/oidc/rsa.der");

/// A key of the provider.
pub(super) struct IssuerKey {
    pub kid: &'static str,
    pair: Pair,
}

enum Pair {
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl IssuerKey {
    pub(super) fn ec(kid: &'static str) -> Self {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).expect("a key");
        Self { kid, pair: Pair::Ec(pair) }
    }

    pub(super) fn ed(kid: &'static str) -> Self {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        Self { kid, pair: Pair::Ed(Ed25519KeyPair::from_pkcs8(made.as_ref()).expect("a key")) }
    }

    pub(super) fn rsa(kid: &'static str) -> Self {
        Self { kid, pair: Pair::Rsa(RsaKeyPair::from_pkcs8(RSA).expect("a key")) }
    }

    pub(super) fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Ec(_) => "ES256",
            Pair::Ed(_) => "EdDSA",
            Pair::Rsa(_) => "RS256",
        }
    }

    /// The public half as a JSON web key.
    pub(super) fn public(&self) -> Value {
        let mut key = match &self.pair {
            Pair::Ec(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "x": encoded(x), "y": encoded(y)})
            }
            Pair::Ed(pair) => json!({"kty": "OKP", "crv": "Ed25519", "x": encoded(pair.public_key().as_ref())}),
            Pair::Rsa(pair) => {
                let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({"kty": "RSA", "n": encoded(&n), "e": encoded(&e)})
            }
        };
        key["kid"] = json!(self.kid);
        key["alg"] = json!(self.algorithm());
        key["use"] = json!("sig");
        key
    }

    /// A token with this header and these claims.
    pub(super) fn token(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(claims.to_string().as_bytes()));
        let random = SystemRandom::new();
        let signature = match &self.pair {
            Pair::Ec(pair) => pair.sign(&random, message.as_bytes()).expect("signed").as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message.as_bytes()).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature).expect("signed");
                signature
            }
        };
        format!("{message}.{}", encoded(&signature))
    }

    /// The usual header of an access token.
    pub(super) fn header(&self) -> Value {
        json!({"typ": "at+jwt", "alg": self.algorithm(), "kid": self.kid})
    }
}

/// Base64 as tokens have it.
pub(super) fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[derive(Default)]
struct Script {
    issuer: String,
    keys: Vec<Value>,
    is_down: bool,
    requests: usize,
}

/// The provider.
pub(super) struct Issuer {
    script: Arc<Mutex<Script>>,
    _served: Served,
}

impl Issuer {
    pub(super) async fn start(keys: &[&IssuerKey]) -> Self {
        let script = Arc::new(Mutex::new(Script::default()));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(metadata))
            .route("/keys", get(keys_of))
            .with_state(Arc::clone(&script));
        let served = Served::start(router).await;
        script.lock().expect("lock").issuer = format!("http://{}", served.address);
        let issuer = Self { script, _served: served };
        issuer.publish(keys);
        issuer
    }

    pub(super) fn name(&self) -> String {
        self.script.lock().expect("lock").issuer.clone()
    }

    /// Has these keys from now on.
    pub(super) fn publish(&self, keys: &[&IssuerKey]) {
        let unknown = json!({"kty": "of another time", "kid": "x"});
        self.script.lock().expect("lock").keys = keys.iter().map(|key| key.public()).chain([unknown]).collect();
    }

    pub(super) fn set_down(&self, is_down: bool) {
        self.script.lock().expect("lock").is_down = is_down;
    }

    /// Requests so far.
    pub(super) fn requests(&self) -> usize {
        self.script.lock().expect("lock").requests
    }
}

type Shared = State<Arc<Mutex<Script>>>;

async fn metadata(State(script): Shared) -> Result<Json<Value>, StatusCode> {
    let mut script = script.lock().expect("lock");
    script.requests += 1;
    if script.is_down {
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    }
    Ok(Json(json!({"issuer": script.issuer, "jwks_uri": format!("{}/keys", script.issuer)})))
}

async fn keys_of(State(script): Shared) -> Json<Value> {
    Json(json!({"keys": script.lock().expect("lock").keys}))
}
