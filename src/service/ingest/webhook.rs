//! Webhooks of jobs: where they may be sent, and the secret that their receiver checks them by.

use std::{sync::Arc, time::Duration};

use secrecy::SecretString;

use super::super::ServiceError;
use crate::{
    domain::identity::TenantId,
    providers::outbound::{Endpoint, Outbound, OutboundError, WebhookSecret},
};

/// Sends webhooks, signed by the secret of their endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Webhooks {
    outbound: Arc<Outbound>,
    secret: WebhookSecret,
}

/// The secrets by which the receiver of a tenant's webhooks checks their signatures.
#[derive(Debug)]
pub(crate) struct ReceiverSecret {
    /// Scheme, host and port of the receiver.
    pub(crate) endpoint: String,
    /// The secret.
    pub(crate) secret: SecretString,
}

impl Webhooks {
    /// Webhooks that are sent by this client, under secrets that are derived from this one.
    #[must_use]
    pub(crate) const fn new(outbound: Arc<Outbound>, secret: WebhookSecret) -> Self {
        Self { outbound, secret }
    }

    /// Checks whether a webhook can be sent to this URL, as far as that is known now; returns the URL as it will be used.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`].
    pub(super) fn check(&self, url: &str) -> Result<String, ServiceError> {
        self.outbound.check(url).map(String::from).map_err(|error| invalid("?webhook_url", error.to_string()))
    }

    /// The secret of the endpoint that a URL leads to.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a URL to which no webhook can be sent.
    pub(super) fn secret_of(&self, tenant: TenantId, url: &str) -> Result<ReceiverSecret, ServiceError> {
        let url = self.outbound.check(url).map_err(|error| invalid("?url", error.to_string()))?;
        let endpoint = Endpoint::of(tenant.0, &url);
        let secret = self.secret.of(&endpoint).reveal();
        Ok(ReceiverSecret { endpoint: endpoint.origin, secret })
    }

    /// Longest time that sending takes.
    pub(super) fn longest(&self) -> Duration {
        self.outbound.timeout()
    }

    /// Sends a signed message.
    ///
    /// # Errors
    /// A classified [`OutboundError`].
    pub(super) async fn send(
        &self,
        tenant: TenantId,
        url: &str,
        (id, sent_at): (&str, i64),
        body: String,
    ) -> Result<(), OutboundError> {
        let endpoint = Endpoint::of(tenant.0, &self.outbound.check(url)?);
        let headers = self.secret.of(&endpoint).headers(id, sent_at, &body);
        self.outbound.post_json(tenant, url, &headers, body).await
    }
}

/// Error: a request about webhooks where none are sent.
pub(super) fn none_are_sent(pointer: &str) -> ServiceError {
    invalid(pointer, "this service sends no webhooks: its operator has not set CITED_WEBHOOK_SECRET".to_owned())
}

fn invalid(pointer: &str, detail: String) -> ServiceError {
    ServiceError::Invalid { pointer: pointer.to_owned(), detail }
}
