//! How people log in to the page: the browser does it at the identity provider, with what is told here.

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use url::Url;

use super::{super::AppState, CHECKED_EACH_TIME};
use crate::service::access::{AccessService, LoginSettings};

/// Settings by which a browser logs somebody in. None of them is secret.
#[derive(Debug, Serialize)]
struct LoginBody<'settings> {
    /// Name of the identity provider, and the URL that its metadata is below.
    issuer: &'settings str,
    /// Name under which the provider knows the page.
    client_id: &'settings str,
    /// Scopes to request.
    scope: &'settings str,
    /// Further parameters of the request, as a query.
    parameters: &'settings str,
}

fn login(access: &AccessService) -> Option<LoginBody<'_>> {
    let tokens = access.token_settings()?;
    let LoginSettings { client_id, scope, parameters } = tokens.login.as_ref()?;
    Some(LoginBody { issuer: &tokens.issuer, client_id, scope, parameters })
}

/// Origin of the identity provider at which people log in to the page, if they can.
pub(in crate::http) fn login_origin(access: &AccessService) -> Option<String> {
    let issuer = Url::parse(login(access)?.issuer).ok()?;
    Some(issuer.origin().ascii_serialization())
}

/// `GET /login.json`: null where people enter keys only.
pub(super) async fn get_login(State(state): State<AppState>) -> Response {
    ([(header::CACHE_CONTROL, CHECKED_EACH_TIME)], Json(login(&state.access))).into_response()
}
