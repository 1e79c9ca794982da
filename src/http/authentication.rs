//! The layer that recognises callers by their keys.

use std::time::Duration;

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{AppState, middleware::request_id, problem::ApiError};
use crate::{
    domain::{
        access::{Denied, Scope},
        identity::Caller,
    },
    service::{
        access::{Identity, KeyTurn, Refusal},
        granted::Granted,
    },
};

/// Accepts a request whose caller is known, has a turn and may call the operation, and gives its handler what the caller
/// may use.
pub(super) async fn authenticate(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let caller = match state.access.identify(presented(request.headers())).await {
        Ok(caller) => caller,
        Err(refusal) => return refused(refusal).into_response(),
    };
    let Some(turn) = state.access.turn(&caller) else { return authorize(state, caller, request, next).await };
    let mut response = match turn.wait {
        Some(wait) => too_often(turn.per_minute, wait).into_response(),
        None => authorize(state, caller, request, next).await,
    };
    tell_turn(response.headers_mut(), turn);
    response
}

/// Accepts a request whose caller may call the operation.
async fn authorize(state: AppState, caller: Identity, mut request: Request, next: Next) -> Response {
    let Identity { grant, key_id } = caller;
    // A path without this method has no operation; the router says so.
    if let Some(need) = state.needs.of_request(&request)
        && let Err(denied) = grant.check(need)
    {
        return forbidden(denied).into_response();
    }
    let caller = Caller { grant, key_id, request_id: request_id(&request) };
    request.extensions_mut().insert(state.use_cases.granted(caller));
    next.run(request).await
}

impl FromRequestParts<AppState> for Granted {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, ApiError> {
        let granted = parts.extensions.remove::<Self>();
        granted.ok_or_else(|| ApiError::internal("a route that needs a caller is not behind the layer that names it"))
    }
}

/// The key that a request presents.
fn presented(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

fn refused(refusal: Refusal) -> ApiError {
    let detail = match refusal {
        Refusal::Store(error) => return error.into(),
        Refusal::Missing => "this service needs a key; send it as Authorization: Bearer <key>",
        Refusal::Malformed => "this is not a key of this service, or not a whole one; check that nothing is cut off",
        Refusal::Unknown => "the key is not known; check it",
        Refusal::Expired => "the key is not valid any more; ask for another one",
        Refusal::Revoked => "the key was revoked; ask for another one",
    };
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "The request has no valid key", detail)
}

fn too_often(per_minute: u32, wait: Duration) -> ApiError {
    let detail = format!("the key is used more than {per_minute} times a minute; send the request again after a while");
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", "The key is used too often", detail)
        .retry_after(whole_seconds(wait).to_string())
}

/// Tells a client what is left to its key (draft-ietf-httpapi-ratelimit-headers-10).
fn tell_turn(headers: &mut HeaderMap, turn: KeyTurn) {
    let KeyTurn { per_minute, remaining, wait } = turn;
    let after = wait.map(|wait| format!(";t={}", whole_seconds(wait))).unwrap_or_default();
    for (name, value) in [
        ("ratelimit-policy", format!("\"key\";q={per_minute};w=60")),
        ("ratelimit", format!("\"key\";r={remaining}{after}")),
    ] {
        headers.extend(HeaderValue::from_str(&value).ok().map(|value| (HeaderName::from_static(name), value)));
    }
}

/// A time in seconds, rounded up: a client that waits so long is served.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

fn forbidden(denied: Denied) -> ApiError {
    let detail = match denied {
        Denied::Scope(scopes) => {
            let others = scopes.iter().copied().filter(|scope| *scope != Scope::Admin);
            let names: Vec<&str> = others.chain([Scope::Admin]).map(Scope::as_str).collect();
            format!("this needs a key with the scope {}; the key has none of these", names.join(" or "))
        }
        Denied::Limited => {
            "this concerns the whole tenant, and the key is limited to collections; use an admin key without a limit"
                .to_owned()
        }
        Denied::NotOperator => "only the operator may do this, with a key of CITED_API_KEYS".to_owned(),
    };
    ApiError::new(StatusCode::FORBIDDEN, "insufficient_scope", "The key does not allow this", detail)
}
