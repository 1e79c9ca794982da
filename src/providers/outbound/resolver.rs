//! Name resolution that returns no address to which requests are not allowed.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;

use super::{address::AddressRule, rule::without_dot};

/// Resolves names for connections to one port, by the system's resolver.
#[derive(Debug)]
pub(super) struct GuardedResolver {
    /// The addresses that may be reached at this port.
    pub(super) addresses: AddressRule,
    /// Setting that allows more of them.
    pub(super) setting: &'static str,
}

/// Error: a name leads nowhere, or to where requests are not allowed. One message for both, without the address:
/// else a caller could find the names of an internal network by trying, and learn its layout.
#[derive(Debug, Error)]
#[error(
    "{name} was not found on the public internet; names of an internal network are reached only if {setting} has \
     them or their network, with the port"
)]
pub(super) struct NameNotFound {
    name: String,
    setting: &'static str,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (rule, setting) = (self.addresses.clone(), self.setting);
        Box::pin(async move {
            let not_found = || NameNotFound { name: name.as_str().to_owned(), setting };
            // The port is set by the connection.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await.map_err(|_| not_found())?;
            let found: Vec<SocketAddr> = found.collect();
            let is_named = rule.names.contains(without_dot(name.as_str()));
            // One refused address refuses the name: it would be tried when the others fail.
            if !is_named && !found.iter().all(|address| rule.permits(address.ip())) {
                return Err(not_found().into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
