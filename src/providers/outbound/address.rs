//! Decides to which addresses a URL from an external source may lead, at one port.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket},
};

use ipnet::IpNet;

/// Addresses that are public by number but belong to a cloud's own infrastructure: Azure's wire server.
const MACHINERY: [Ipv4Addr; 1] = [Ipv4Addr::new(168, 63, 129, 16)];

/// The addresses and names that may be reached at a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AddressRule {
    /// Whether public addresses may.
    pub(super) public: bool,
    /// Networks that the operator allows, public or not.
    pub(super) networks: Vec<IpNet>,
    /// Names that the operator allows, wherever they lead; in lower case.
    pub(super) names: BTreeSet<String>,
}

impl AddressRule {
    /// Whether anything may be reached.
    pub(super) fn is_open(&self) -> bool {
        self.public || !self.networks.is_empty() || !self.names.is_empty()
    }

    /// Whether a connection to this address is allowed.
    #[must_use]
    pub(super) fn permits(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(&address))
            || self.public && is_public(address) && !is_of_this_machine(address)
    }
}

/// Whether an address is one of this machine's own, by which a service that is closed to the outside may be reached.
fn is_of_this_machine(address: IpAddr) -> bool {
    // The system chooses the address of the sender by where the receiver is: for its own address, that one. Nothing
    // is sent when a datagram socket is connected.
    let unspecified: IpAddr =
        if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let sender = UdpSocket::bind((unspecified, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    sender.is_ok_and(|sender| sender.ip() == address)
}

/// Whether an address is one of the public internet, by the special-purpose registries of IANA (RFC 6890):
/// not private, loopback, link-local (which cloud metadata services use), shared, reserved, for
/// documentation or benchmarks, or multicast, nor an IPv6 form that hides such an IPv4 address.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = match a {
        0 | 10 | 127 | 224.. => true,  // this network, private, loopback, multicast and reserved
        100 => (64..128).contains(&b), // shared between carrier and customer (also Alibaba's metadata)
        169 => b == 254,               // link-local (also the metadata of most clouds)
        172 => (16..32).contains(&b),  // private
        192 => matches!((b, c), (0, 0 | 2) | (31, 196) | (52, 193) | (88, 99) | (175, 48)) || b == 168,
        198 => matches!(b, 18 | 19) || (b, c) == (51, 100), // benchmarks, documentation
        203 => (b, c) == (0, 113),                          // documentation
        _ => false,
    };
    !is_special && !MACHINERY.contains(&address)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [first, second, third, ..] = segments;
    let [.., high, low] = segments;
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match (first, second) {
        // Translated (RFC 6052) and 6to4 (RFC 3056) addresses lead to the IPv4 address inside.
        (0x64, 0xff9b) if segments.iter().take(6).skip(2).all(|part| *part == 0) => embedded(high, low),
        (0x2002, _) => embedded(second, third),
        // ISATAP (RFC 5214): the lower half names an IPv4 address to which a tunnel leads.
        _ if matches!(segments[4..6], [0 | 0x200, 0x5efe]) => false,
        // Protocol assignments with Teredo and ORCHID, documentation.
        (0x2001, 0..0x200 | 0xdb8) | (0x3fff, 0..0x1000) => false,
        // Everything else that is not global unicast: loopback, unique local, link-local, multicast, …
        _ => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public() -> AddressRule {
        AddressRule { public: true, ..AddressRule::default() }
    }

    fn permits(rule: &AddressRule, address: &str) -> bool {
        rule.permits(address.parse().expect("an address"))
    }

    #[test]
    fn only_the_public_internet_is_reached() {
        let rule = public();
        for address in [
            "1.1.1.1",
            "93.184.216.34",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "192.169.0.1",
            "198.20.0.1",
            "2606:4700::1111",
            "2a00:1450::1",
            "64:ff9b::101:101",
            "2002:0101:0101::1",
            "::ffff:1.1.1.1",
        ] {
            assert!(permits(&rule, address), "{address}");
        }
        for address in [
            "0.0.0.0",
            "10.0.0.1",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.192",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "100.64.0.1",
            "100.100.100.200",
            "168.63.129.16",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "3fff::1",
            "100::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2606:4700::5efe:7f00:1",
            "2606:4700::200:5efe:a00:1",
        ] {
            assert!(!permits(&rule, address), "{address}");
        }
    }

    #[test]
    fn an_operator_can_allow_a_network() {
        let networks = ["10.1.0.0/16", "::1/128"].map(|network| network.parse().expect("a network")).to_vec();
        let rule = AddressRule { networks, ..public() };
        assert!(permits(&rule, "10.1.2.3") && permits(&rule, "::ffff:10.1.2.3") && permits(&rule, "::1"));
        assert!(!permits(&rule, "10.2.0.1") && !permits(&rule, "127.0.0.1"));
    }

    #[test]
    fn an_address_of_this_machine_is_known_as_such() {
        let is_own = |address: &str| is_of_this_machine(address.parse().expect("an address"));
        assert!(is_own("127.0.0.1"));
        assert!(!is_own("192.0.2.1") && !is_own("1.1.1.1"));
    }
}
