//! The address of a client: that of its connection, or the one that trusted proxies report.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName},
    middleware::Next,
    response::Response,
};
use ipnet::IpNet;

/// The header in which proxies tell the addresses that they were called from.
pub(super) static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Address of the peer of a connection; the server adds it to each request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerAddress(pub(crate) IpAddr);

/// Address of the client of a request.
#[derive(Clone, Copy, Debug)]
struct ClientAddress(IpAddr);

/// Proxies whose `X-Forwarded-For` is believed, as addresses and networks.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(pub(crate) Vec<IpNet>);

impl TrustedProxies {
    fn trust(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The address of a client. Each proxy appends the address that it was called from, so the list is read from its
    /// end, as far as those who wrote it are trusted.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        let mut hops = elements(headers, &FORWARDED_FOR).collect::<Vec<_>>().into_iter().rev();
        while self.trust(client)
            && let Some(hop) = hops.next().and_then(address)
        {
            client = hop;
        }
        client
    }
}

/// The elements of all headers of this name, which are lists.
pub(super) fn elements<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let lists = headers.get_all(name).iter().map(|list| list.to_str().unwrap_or_default());
    lists.flat_map(|list| list.split(',')).map(str::trim)
}

/// Reads an address with or without a port.
pub(super) fn address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse().map(|address: SocketAddr| address.ip()).ok();
    text.parse().ok().or_else(with_port).map(|address: IpAddr| address.to_canonical())
}

/// The host that an address belongs to: of IPv6 the network of 64 bits, which one host may have for itself.
pub(crate) fn host_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => (address & Ipv6Addr::from_bits(u128::MAX << 64)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// Finds the address of the client for the layers below.
pub(super) async fn find_client(State(proxies): State<TrustedProxies>, mut request: Request, next: Next) -> Response {
    if let Some(PeerAddress(peer)) = request.extensions().get().copied() {
        let client = proxies.client(peer, request.headers());
        request.extensions_mut().insert(ClientAddress(client));
    }
    next.run(request).await
}

/// The address of the client that sent a request; `None` for one that came over no connection.
pub(super) fn client_address(request: &Request) -> Option<IpAddr> {
    request.extensions().get().map(|ClientAddress(address)| *address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(trusted: &[&str], peer: &str, lists: &[&str]) -> String {
        let networks = trusted.iter().map(|network| network.parse().expect("a network")).collect();
        let mut headers = HeaderMap::new();
        for list in lists {
            headers.append(&FORWARDED_FOR, list.parse().expect("a value"));
        }
        TrustedProxies(networks).client(peer.parse().expect("an address"), &headers).to_string()
    }

    #[test]
    fn the_addresses_of_one_host_are_one() {
        let host = |text: &str| host_of(text.parse().expect("an address"));
        assert_eq!(host("2001:db8::1"), host("2001:db8::ffff:1"));
        assert_ne!(host("2001:db8::1"), host("2001:db8:0:1::1"));
        assert_eq!(host("::ffff:192.0.2.1"), host("192.0.2.1"));
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        const INNER: [&str; 2] = ["10.0.0.0/8", "fd00::/8"];
        for (trusted, peer, lists, expected) in [
            (&INNER[..], "203.0.113.7", &["198.51.100.1"][..], "203.0.113.7"),
            (&[], "10.0.0.1", &["198.51.100.1"], "10.0.0.1"),
            (&INNER, "10.0.0.1", &[], "10.0.0.1"),
            (&INNER, "10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            (&INNER, "::ffff:10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            (&INNER, "fd00::1", &["2001:db8::7"], "2001:db8::7"),
            // A client that invents a list has its own address appended to it.
            (&INNER, "10.0.0.1", &["1.1.1.1, 198.51.100.1"], "198.51.100.1"),
            (&INNER, "10.0.0.1", &["1.1.1.1", "198.51.100.1, 10.0.0.2"], "198.51.100.1"),
            (&INNER, "10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1"),
            (&INNER, "10.0.0.1", &["[2001:db8::7]:4711, 10.0.0.2"], "2001:db8::7"),
            // Nothing before what is no address is believed.
            (&INNER, "10.0.0.1", &["198.51.100.1, unknown, 10.0.0.2"], "10.0.0.2"),
            (&INNER, "10.0.0.1", &[""], "10.0.0.1"),
        ] {
            assert_eq!(client(trusted, peer, lists), expected, "{peer} {lists:?}");
        }
    }
}
