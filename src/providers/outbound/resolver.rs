//! Name resolution that hands out no address that must not be reached.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;

use super::AddressRule;

/// Resolves names for connections, by the system's resolver.
#[derive(Debug)]
pub(super) struct GuardedResolver(pub(super) AddressRule);

/// A name or address that leads to where requests must not go. Of a name it does not say which address: that
/// would tell a caller how the inner network is laid out.
#[derive(Debug, Error)]
#[error(
    "{0} is not on the public internet; requests to private, loopback, link-local and other special addresses are \
     refused unless CITED_OUTBOUND_ALLOW names their network"
)]
pub(super) struct RefusedAddress(pub(super) String);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let rule = self.0.clone();
        Box::pin(async move {
            // The port is set by the connection.
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            // One bad address refuses them all: it would be tried when the others fail.
            if !found.iter().all(|address| rule.permits(address.ip())) {
                return Err(RefusedAddress(name.as_str().to_owned()).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
