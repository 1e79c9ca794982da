//! The rule of one purpose: which hosts its requests may reach, at which ports.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use ipnet::IpNet;
use thiserror::Error;
use url::{Host, Url};

use super::address::AddressRule;

/// Ports of the web: those of an entry that names none, and of public hosts in requests that tenants cause.
pub(super) const WEB_PORTS: [u16; 2] = [80, 443];

/// The hosts and ports that requests of one purpose may reach.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Setting whose entries these are; refusals name it.
    pub(super) setting: &'static str,
    /// Whether public hosts are reached at every port, and not only at those of the web.
    pub(super) public_ports: PublicPorts,
    /// Hosts and networks that the operator allows in addition.
    pub(super) allow: Vec<Destination>,
}

/// The ports at which hosts on the public internet are reached without an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublicPorts {
    /// 80 and 443.
    Web,
    /// All.
    All,
}

/// An entry of a rule: a host or network, and ports of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    place: Place,
    ports: Ports,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// A name, in lower case and without a dot at its end.
    Name(String),
    Network(IpNet),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ports {
    Web,
    One(u16),
    All,
}

/// Error: the text is not an entry of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("is not a host or network with a port, such as wiki.internal:8080 or 10.1.0.0/16:443")]
pub(crate) struct NotADestination;

impl Rule {
    /// The rule for requests that tenants cause: public hosts at the ports of the web, and the entries of a setting.
    #[must_use]
    pub(crate) const fn for_tenants(setting: &'static str, allow: Vec<Destination>) -> Self {
        Self { setting, public_ports: PublicPorts::Web, allow }
    }

    /// The rule for requests to a server of the operator's choice: that server, and all public hosts, because the
    /// server may redirect to them.
    #[must_use]
    pub(crate) fn for_server(setting: &'static str, server: &Url, mut allow: Vec<Destination>) -> Self {
        allow.extend(Destination::of_server(server));
        Self { setting, public_ports: PublicPorts::All, allow }
    }

    /// Ports that an entry names or that are those of the web.
    pub(super) fn named_ports(&self) -> BTreeSet<u16> {
        let named = self.allow.iter().filter_map(|destination| match destination.ports {
            Ports::One(port) => Some(port),
            Ports::Web | Ports::All => None,
        });
        WEB_PORTS.into_iter().chain(named).collect()
    }

    /// The addresses and names that are reached at a port; `None` stands for a port that nothing names.
    pub(super) fn at(&self, port: Option<u16>) -> AddressRule {
        let is_web = port.is_some_and(|port| WEB_PORTS.contains(&port));
        let mut rule =
            AddressRule { public: is_web || self.public_ports == PublicPorts::All, ..AddressRule::default() };
        for destination in self.allow.iter().filter(|destination| destination.ports.hold(port, is_web)) {
            match &destination.place {
                Place::Name(name) => {
                    rule.names.insert(name.clone());
                }
                Place::Network(network) => rule.networks.push(*network),
            }
        }
        rule
    }
}

impl Ports {
    fn hold(self, port: Option<u16>, is_web: bool) -> bool {
        match self {
            Self::Web => is_web,
            Self::One(one) => port == Some(one),
            Self::All => true,
        }
    }
}

impl Destination {
    fn of_server(server: &Url) -> Option<Self> {
        let ports = Ports::One(server.port_or_known_default()?);
        let place = match server.host()? {
            Host::Domain(name) => Place::Name(without_dot(name).to_owned()),
            Host::Ipv4(address) => Place::Network(IpAddr::V4(address).into()),
            Host::Ipv6(address) => Place::Network(IpAddr::V6(address).to_canonical().into()),
        };
        Some(Self { place, ports })
    }
}

impl FromStr for Destination {
    type Err = NotADestination;

    fn from_str(text: &str) -> Result<Self, NotADestination> {
        let (place, port) = halves(text).ok_or(NotADestination)?;
        let ports = match port {
            None => Ports::Web,
            Some("*") => Ports::All,
            Some(port) => Ports::One(port.parse().map_err(|_| NotADestination)?),
        };
        Ok(Self { place: place.parse()?, ports })
    }
}

/// Divides an entry into its place and its port. An IPv6 address with a port stands in brackets.
fn halves(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (place, rest) = rest.split_once(']')?;
        return match rest.split_once(':') {
            Some(("", port)) => Some((place, Some(port))),
            _ if rest.is_empty() => Some((place, None)),
            _ => None,
        };
    }
    match text.split_once(':') {
        Some((place, port)) if !port.contains(':') => Some((place, Some(port))),
        _ => Some((text, None)),
    }
}

impl FromStr for Place {
    type Err = NotADestination;

    fn from_str(text: &str) -> Result<Self, NotADestination> {
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Self::Network(network));
        }
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return Ok(Self::Network(IpAddr::V6(address).to_canonical().into()));
        }
        match Host::parse(text).map_err(|_| NotADestination)? {
            Host::Domain(name) => Ok(Self::Name(without_dot(&name).to_owned())),
            // `1.2.3` and `127.1` are read as addresses by URLs too, but whoever writes one means a network.
            Host::Ipv4(_) => text
                .parse::<Ipv4Addr>()
                .map(|address| Self::Network(IpAddr::V4(address).into()))
                .map_err(|_| NotADestination),
            Host::Ipv6(_) => Err(NotADestination),
        }
    }
}

/// A name without the dot that may stand at its end.
pub(super) fn without_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(entries: &[&str]) -> Rule {
        let entries = entries.iter().map(|entry| entry.parse().expect("an entry")).collect();
        Rule::for_tenants("CITED_FETCH_ALLOW", entries)
    }

    fn permits(rule: &Rule, address: &str, port: Option<u16>) -> bool {
        rule.at(port).permits(address.parse().expect("an address"))
    }

    #[test]
    fn an_entry_opens_its_port_and_no_other() {
        let rule = rule(&["10.1.0.0/16:8080", "10.2.0.1", "[fd00::/8]:9200", "10.3.0.0/16:*", "wiki.internal:8090"]);
        for (address, port, is_open) in [
            ("10.1.2.3", Some(8080), true),
            ("10.1.2.3", Some(80), false),
            ("10.1.2.3", Some(443), false),
            ("10.1.2.3", None, false),
            ("10.2.0.1", Some(80), true),
            ("10.2.0.1", Some(443), true),
            ("10.2.0.1", Some(8080), false),
            ("10.2.0.2", Some(80), false),
            ("fd00::1", Some(9200), true),
            ("fd00::1", Some(80), false),
            ("10.3.9.9", Some(80), true),
            ("10.3.9.9", Some(8080), true),
            ("10.3.9.9", None, true),
            ("1.1.1.1", Some(80), true),
            ("1.1.1.1", Some(443), true),
            ("1.1.1.1", Some(8080), false),
            ("1.1.1.1", None, false),
        ] {
            assert_eq!(permits(&rule, address, port), is_open, "{address} {port:?}");
        }
        assert!(rule.at(Some(8090)).names.contains("wiki.internal") && rule.at(Some(80)).names.is_empty());
        assert_eq!(rule.named_ports(), BTreeSet::from([80, 443, 8080, 8090, 9200]));
    }

    #[test]
    fn a_server_of_the_operator_opens_itself_alone() {
        let server = Url::parse("http://127.0.0.1:8888/").expect("a URL");
        let rule = Rule::for_server("CITED_WEB_SEARCH_ALLOW", &server, Vec::new());
        assert!(permits(&rule, "127.0.0.1", Some(8888)) && permits(&rule, "1.1.1.1", None));
        assert!(!permits(&rule, "127.0.0.1", Some(80)) && !permits(&rule, "127.0.0.2", Some(8888)));
        let named = Url::parse("https://Search.Internal./").expect("a URL");
        let rule = Rule::for_server("CITED_WEB_SEARCH_ALLOW", &named, Vec::new());
        assert!(rule.at(Some(443)).names.contains("search.internal") && rule.at(Some(80)).names.is_empty());
    }

    #[test]
    fn entries_are_hosts_or_networks_with_a_port() {
        for entry in ["10.0.0.0/8", "Wiki.Internal", "::1", "::1/128", "[::1]:8080", "bücher.example:80", "a:*"] {
            assert!(entry.parse::<Destination>().is_ok(), "{entry}");
        }
        for entry in ["", ":80", "a:", "a:http", "a:70000", "10.0.0.0/40", "http://a", "a/b", "[::1", "[::1]80", "10.1"]
        {
            assert!(entry.parse::<Destination>().is_err(), "{entry}");
        }
        assert_eq!("WIKI.internal.".parse::<Destination>(), "wiki.internal".parse::<Destination>());
    }
}
