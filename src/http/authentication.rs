//! The layer that recognises callers by their keys.

use std::{net::IpAddr, num::NonZeroUsize};

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{
    AppState, HeldBody,
    bulk::is_ndjson,
    client_address::{client_address, host_of},
    middleware::request_id,
    number::whole_seconds,
    operations::Needs,
    problem::ApiError,
    rate_limit::{Per, RateLimit},
    refusals::KnownCaller,
    watched_body::{Watch, may_last},
};
use crate::{
    domain::{
        access::{Denied, Grant, Scope},
        identity::Caller,
    },
    service::{
        access::{Identity, Refusal, TokenRefusal, Turn},
        granted::Granted,
    },
};

/// Accepts a request whose caller is known, has a turn and may call the operation, and gives its handler what the caller
/// may use.
pub(super) async fn authenticate(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let client = client_address(&request);
    let limits_address = |client: IpAddr| state.access.address_turn(host_of(client));
    if let Some(refused) = client.and_then(limits_address).and_then(|turn| Limited::Address.refuse(turn)) {
        return refused;
    }
    let key = presented(request.headers()).map(str::to_owned);
    let caller = match state.access.identify(key.as_deref()).await {
        Ok(caller) => caller,
        Err(refusal) => return refuse(&state, client, refusal),
    };
    let known = KnownCaller::new(&caller);
    let watch = key.map(|key| Watch::of(&state.access, key));
    let request = match &watch {
        Some(watch) if is_ndjson(request.headers()) => request.map(|body| watch.over(body)),
        _ => request,
    };
    let mut response = take_turn(state, caller, request, next).await;
    if let Some(watch) = watch
        && may_last(response.headers())
    {
        response = response.map(|body| watch.over(body));
    }
    response.extensions_mut().insert(known);
    response
}

/// Serves a request of a caller unless its key is used too often.
async fn take_turn(state: AppState, caller: Identity, request: Request, next: Next) -> Response {
    let Some(turn) = state.access.key_turn(&caller) else { return begin(state, caller, request, next).await };
    match Limited::Key.refuse(turn) {
        Some(refused) => refused,
        None => Limited::Key.tell(turn, begin(state, caller, request, next).await),
    }
}

/// Serves a request of a caller unless too many of the same key are under way. It is under way until its response has
/// been passed on.
async fn begin(state: AppState, caller: Identity, request: Request, next: Next) -> Response {
    match state.access.begin(&caller) {
        Ok(None) => authorize(state, caller, request, next).await,
        Ok(Some(under_way)) => {
            authorize(state, caller, request, next).await.map(|body| HeldBody::wrap(body, under_way))
        }
        Err(most) => too_many_at_once(most).into_response(),
    }
}

/// Refuses a request that has no valid key. Keys that are not valid are logged with the address that they came from, and
/// an address that sends many is told to wait; a valid key of the same address is served all the same.
fn refuse(state: &AppState, client: Option<IpAddr>, refusal: Refusal) -> Response {
    let (Some(client), Some(reason)) = (client, reason(&refusal)) else { return refused(refusal).into_response() };
    let turn = state.access.refusal_turn(host_of(client));
    if let Some(refused) = Limited::Refusals.refuse(turn) {
        return refused;
    }
    tracing::warn!(target: "cited::http", %client, reason, "a request was refused because its key is {reason}");
    refused(refusal).into_response()
}

/// Why a key is refused, for the log; `None` where there was no key to refuse.
const fn reason(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::Missing | Refusal::Store(_) | Refusal::Token(TokenRefusal::NoKeys) => None,
        Refusal::Malformed => Some("malformed"),
        Refusal::Unknown => Some("unknown"),
        Refusal::Expired => Some("expired"),
        Refusal::Revoked => Some("revoked"),
        Refusal::Token(TokenRefusal::Invalid(_)) => Some("a token that is not good"),
    }
}

/// Accepts a request whose caller may call the operation.
async fn authorize(state: AppState, caller: Identity, mut request: Request, next: Next) -> Response {
    let Identity { grant, key_id } = caller;
    if let Some(refused) = judge(&state.needs, &grant, &request) {
        return refused;
    }
    // Bodies wait for the room of their tenant before a handler has its caller.
    request.extensions_mut().insert(grant.tenant());
    let caller = Caller { grant, key_id, address: client_address(&request), request_id: request_id(&request) };
    request.extensions_mut().insert(state.use_cases.granted(caller));
    next.run(request).await
}

/// Refuses a request whose caller may not call its operation, and one that has none: a route that is in no document, whose
/// needs nobody has stated, is served to nobody.
fn judge(needs: &Needs, grant: &Grant, request: &Request) -> Option<Response> {
    match needs.of_request(request) {
        Some(need) => grant.check(need).err().map(|denied| forbidden(denied).into_response()),
        None => Some(needs.unserved(request)),
    }
}

impl FromRequestParts<AppState> for Granted {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, ApiError> {
        let granted = parts.extensions.remove::<Self>();
        granted.ok_or_else(|| ApiError::internal("a route that needs a caller is not behind the layer that names it"))
    }
}

/// The key that a request presents. Of two, one of which a proxy may have looked at, neither counts: an empty key is none of
/// the service.
fn presented(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return Some("");
    }
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

fn refused(refusal: Refusal) -> ApiError {
    let detail = match refusal {
        Refusal::Store(error) => return ApiError::from(&*error),
        Refusal::Token(TokenRefusal::NoKeys) => return issuer_unavailable(),
        Refusal::Token(TokenRefusal::Invalid(fault)) => return unauthorized(format!("the token {fault}")),
        Refusal::Missing => "this service needs a key; send it as Authorization: Bearer <key>",
        Refusal::Malformed => "this is not a key of this service, or not a whole one; check that nothing is cut off",
        Refusal::Unknown => "the key is not known; check it",
        Refusal::Expired => "the key is not valid any more; ask for another one",
        Refusal::Revoked => "the key was revoked; ask for another one",
    };
    unauthorized(detail)
}

fn unauthorized(detail: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "The request has no valid key", detail)
}

fn issuer_unavailable() -> ApiError {
    let detail =
        "the keys of the identity provider cannot be read now, so tokens cannot be checked; send the request again";
    let title = "The identity provider cannot be reached";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "issuer_unavailable", title, detail).retry_after("5")
}

/// A limit of requests per minute.
#[derive(Clone, Copy)]
enum Limited {
    /// The requests of a key.
    Key,
    /// The requests from an address.
    Address,
    /// The requests from an address whose key is not valid.
    Refusals,
}

impl Limited {
    /// The refusal of a request that has to wait.
    fn refuse(self, turn: Turn) -> Option<Response> {
        let wait = turn.wait?;
        let (subject, title) = match self {
            Self::Key => ("the key is used", "The key is used too often"),
            Self::Address => ("this address sends requests", "The address sends too many requests"),
            Self::Refusals => ("this address sends keys that are not valid", "The address sends too many wrong keys"),
        };
        let detail =
            format!("{subject} more than {} times a minute; send the request again after a while", turn.per_minute);
        let problem = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", title, detail)
            .retry_after(whole_seconds(wait).to_string());
        Some(self.tell(turn, problem.into_response()))
    }

    /// Tells a client in the headers what is left.
    fn tell(self, turn: Turn, mut response: Response) -> Response {
        let Turn { per_minute, remaining, wait } = turn;
        let name = match self {
            Self::Key => "key",
            Self::Address => "address",
            Self::Refusals => "wrong-keys",
        };
        let (quota, remaining) = (per_minute.into(), remaining.into());
        RateLimit { name, quota, per: Per::Minute, remaining, wait }.tell(response.headers_mut());
        response
    }
}

fn too_many_at_once(most: NonZeroUsize) -> ApiError {
    let detail = format!("{most} requests of this key are under way, which is the limit; wait until one has ended");
    let title = "Too many requests of the key are under way";
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_at_once", title, detail).retry_after("1").limited_by(
        RateLimit { name: "concurrency", quota: most.get() as u64, per: Per::Moment, remaining: 0, wait: None },
    )
}

pub(super) fn forbidden(denied: Denied) -> ApiError {
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use axum::{Router, body::Body, routing::any};
    use tower::ServiceExt;

    use super::*;
    use crate::{domain::identity::TenantId, http::openapi_document};

    /// Status and `Allow` of the reply of a router whose handlers reply to everything, in front of which a caller with this
    /// grant is judged.
    async fn judged(grant: Grant, method: &str, path: &str) -> (u16, String) {
        let needs = Arc::new(Needs::of(openapi_document()));
        let judging = axum::middleware::from_fn(move |request: Request, next: Next| {
            let refused = judge(&needs, &grant, &request);
            async move { if let Some(refused) = refused { refused } else { next.run(request).await } }
        });
        let mut router = Router::new();
        for path in ["/v1/jobs", "/v1/jobs/{id}", "/v1/unheard-of"] {
            router = router.route(path, any(|| async { "served" }));
        }
        let request = axum::http::Request::builder().method(method).uri(path).body(Body::empty()).expect("a request");
        let response = router.layer(judging).oneshot(request).await.expect("infallible");
        let allow = response.headers().get(header::ALLOW).and_then(|value| value.to_str().ok());
        (response.status().as_u16(), allow.unwrap_or_default().to_owned())
    }

    #[tokio::test]
    async fn what_is_no_operation_is_served_to_nobody() {
        let expect = |status: u16, allow: &str| (status, allow.to_owned());
        for method in ["GET", "HEAD"] {
            assert_eq!(judged(Grant::operator(), method, "/v1/jobs").await, expect(200, ""), "{method}");
        }
        for method in ["POST", "OPTIONS", "TRACE", "UNHEARD-OF"] {
            assert_eq!(judged(Grant::operator(), method, "/v1/jobs").await, expect(405, "GET,HEAD"), "{method}");
        }
        for method in ["GET", "HEAD", "POST", "DELETE"] {
            assert_eq!(judged(Grant::operator(), method, "/v1/unheard-of").await, expect(404, ""), "{method}");
        }
        let reader = Grant::of_tenant(TenantId::DEFAULT, BTreeSet::from([Scope::Ask]), None);
        assert_eq!(judged(reader, "GET", "/v1/jobs").await.0, 403);
    }
}
