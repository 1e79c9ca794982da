//! The layer that puts refusals on record.

use axum::{
    extract::{Request, State},
    http::StatusCode,
    middleware::Next,
    response::Response,
};

use super::{AppState, client_address::client_address, middleware::request_id, problem::Problem};
use crate::{
    domain::identity::TenantId,
    service::{access::Identity, security_record::Refused},
};

/// A caller that was recognised; the layer that does so adds it to its responses.
#[derive(Clone, Debug)]
pub(super) struct KnownCaller {
    tenant: TenantId,
    key_id: Option<String>,
}

impl KnownCaller {
    /// The caller of this identity.
    pub(super) fn new(identity: &Identity) -> Self {
        Self { tenant: identity.grant.tenant(), key_id: identity.key_id.clone() }
    }
}

/// Records a request that was refused for what its caller is or may do.
pub(super) async fn record_refusals(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let action = state.needs.operation(&request).unwrap_or_default().to_owned();
    let (address, request_id) = (client_address(&request), request_id(&request));
    let response = next.run(request).await;
    if is_refusal(response.status())
        && let Some(problem) = response.extensions().get::<Problem>()
    {
        let known = response.extensions().get::<KnownCaller>().cloned();
        let known = known.unwrap_or(KnownCaller { tenant: TenantId::DEPLOYMENT, key_id: None });
        state.security_record.refusal(Refused {
            tenant: known.tenant,
            action,
            code: problem.code.clone(),
            key_id: known.key_id,
            address,
            request_id,
        });
    }
    response
}

/// Whether a status says that a request was refused for what its caller is or may do.
pub(super) const fn is_refusal(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::MISDIRECTED_REQUEST
            | StatusCode::TOO_MANY_REQUESTS
    )
}
