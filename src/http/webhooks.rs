//! `/v1/webhooks/secret`.

use axum::Json;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{extract::ValidQuery, problem::ApiError, schema::PlainText};
use crate::service::granted::Granted;

/// The secret of a receiver of webhooks.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookSecret)]
pub(super) struct WebhookSecretBody {
    /// Scheme, host and port of the receiver; every webhook of the tenant to it is signed by the secret.
    #[schema(example = "https://hooks.example.org")]
    endpoint: String,
    /// The secret, as libraries of Standard Webhooks take it.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    secret: String,
}

/// Receiver of webhooks.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ReceiverQuery {
    /// URL of the receiver; its path and query do not matter.
    #[param(inline, value_type = PlainText, example = "https://hooks.example.org")]
    url: String,
}

/// Get the secret of a webhook receiver
///
/// The secret that signs the webhooks of the caller's tenant to this receiver (scheme, host and port), by Standard
/// Webhooks. It is the same each time, another one for every tenant and receiver, and changes with the deployment's
/// secret.
#[utoipa::path(
    get, path = "/v1/webhooks/secret", tag = "access", params(ReceiverQuery),
    responses(
        (status = 200, description = "The secret", body = WebhookSecretBody),
    ),
)]
pub(super) async fn get_webhook_secret(
    granted: Granted,
    ValidQuery(query): ValidQuery<ReceiverQuery>,
) -> Result<Json<WebhookSecretBody>, ApiError> {
    let found = granted.webhook_secret(&query.url).await?;
    Ok(Json(WebhookSecretBody { endpoint: found.endpoint, secret: found.secret.expose_secret().to_owned() }))
}
