//! The embedding model of the scripted server.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{Abandonment, Shared, give};
use crate::dialect::Dialect;

/// Dimension of the scripted embedding.
pub(crate) const DIMENSION: usize = 64;

/// Answers an embedding request as the script says.
pub(super) async fn embeddings(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let key = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    shared.script.lock().expect("lock").embedding_keys.push(key.trim_start_matches("Bearer ").to_owned());
    let scripted = shared.script.lock().expect("lock").embedding.pop_front();
    if let Some(reply) = scripted {
        let guard = Abandonment(Arc::clone(&shared.abandoned), false);
        return give(reply, Dialect::OpenAi, false, guard).await;
    }
    let meeting = shared.script.lock().expect("lock").meeting.clone();
    if let Some(meeting) = meeting
        && tokio::time::timeout(Duration::from_secs(10), meeting.wait()).await.is_err()
    {
        shared.script.lock().expect("lock").lonely += 1;
    }
    let delay = shared.script.lock().expect("lock").embedding_delay;
    tokio::time::sleep(delay).await;
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    let texts: Vec<&str> = body["input"].as_array().expect("texts").iter().filter_map(Value::as_str).collect();
    let refused =
        shared.script.lock().expect("lock").refused.take_if(|word| texts.iter().any(|text| text.contains(&**word)));
    if refused.is_some() {
        return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "1")], "busy").into_response();
    }
    let is_held = || {
        let script = shared.script.lock().expect("lock");
        script.held.as_ref().is_some_and(|word| texts.iter().any(|text| text.contains(word)))
    };
    while is_held() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    shared.script.lock().expect("lock").embedded.extend(texts.iter().map(|text| (*text).to_owned()));
    let vector =
        |(index, text): (usize, &&str)| json!({"object": "embedding", "index": index, "embedding": embed(text)});
    let data: Vec<Value> = texts.iter().enumerate().map(vector).collect();
    let usage = json!({"prompt_tokens": texts.len(), "total_tokens": texts.len()});
    Json(json!({"object": "list", "data": data, "model": "scripted-embedding", "usage": usage})).into_response()
}

/// A bag of words, hashed: texts that share words are near each other.
pub(crate) fn embed(text: &str) -> Vec<f32> {
    let mut vector = vec![0.01; DIMENSION];
    for word in text.to_lowercase().split(|character: char| !character.is_alphanumeric()).filter(|word| word.len() > 2)
    {
        let hash = word.bytes().fold(5381_usize, |hash, byte| hash.wrapping_mul(33) ^ usize::from(byte));
        vector[hash % DIMENSION] += 1.0;
    }
    vector
}
