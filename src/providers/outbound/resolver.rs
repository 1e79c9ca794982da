//! Name resolution that returns no address to which requests are not allowed.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;

use super::AddressRule;

/// Resolves names for connections, by the system's resolver.
#[derive(Debug)]
pub(super) struct GuardedResolver(pub(super) AddressRule);

/// Error: a name or address leads to a network to which requests are not allowed. For a name the message does not
/// include the address: that would disclose the layout of the internal network to a caller.
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
            // One refused address refuses the name: it would be tried when the others fail.
            if !found.iter().all(|address| rule.permits(address.ip())) {
                return Err(RefusedAddress(name.as_str().to_owned()).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
