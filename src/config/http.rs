//! Settings of the listener and of the HTTP layer.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use url::{Host, Origin, Url};

use super::reader::Reader;
use crate::{
    http::{AllowedHosts, CrossOriginSettings, Settings, TrustedProxies},
    server,
};

/// Reads the settings of the HTTP layer; `needs_keys` says whether every caller needs a key.
pub(super) fn read(reader: &mut Reader, listen: SocketAddr, server: &server::Settings, needs_keys: bool) -> Settings {
    let defaults = Settings::default();
    Settings {
        cross_origin: read_cross_origin(reader, listen, needs_keys),
        trusted_proxies: TrustedProxies(reader.list(
            "CITED_TRUSTED_PROXIES",
            "addresses like 10.0.0.1 and networks like 10.0.0.0/8",
            network,
        )),
        max_body_bytes: reader.value("CITED_MAX_BODY_BYTES", defaults.max_body_bytes),
        max_bytes_in_flight: reader.value("CITED_MAX_BYTES_IN_FLIGHT", defaults.max_bytes_in_flight),
        has_tls: server.tls.is_some(),
        public_url: read_address(reader, "CITED_PUBLIC_URL"),
        request_timeout: reader.seconds("CITED_REQUEST_TIMEOUT_S", defaults.request_timeout),
    }
}

/// Reads the address of a service.
pub(super) fn read_address(reader: &mut Reader, name: &'static str) -> Option<Url> {
    let address: Url = reader.url(name)?;
    let is_plain = address.query().is_none() && address.fragment().is_none() && address.username().is_empty();
    if matches!(address.scheme(), "http" | "https") && is_plain {
        return Some(address);
    }
    reader.fault(format!("{name} is no address of a service; use one like https://cited.example"));
    None
}

/// Reads the settings of the listener.
pub(super) fn read_server(reader: &mut Reader) -> server::Settings {
    let certificate = reader.optional("CITED_TLS_CERTIFICATE");
    let key = reader.optional("CITED_TLS_KEY");
    let both = reader.both("CITED_TLS_CERTIFICATE", certificate, "CITED_TLS_KEY", key);
    server::Settings {
        max_connections: reader.optional("CITED_MAX_CONNECTIONS"),
        tls: both.map(|(certificate, key)| server::TlsFiles { certificate, key }),
    }
}

/// Reads the names of the service and the origins that may call it. With keys and no list of names every name is
/// allowed.
fn read_cross_origin(reader: &mut Reader, listen: SocketAddr, has_keys: bool) -> CrossOriginSettings {
    let mut hosts: Vec<Host> = reader.list("CITED_ALLOWED_HOSTS", "names like cited.example, without ports", |name| {
        Host::parse(name).ok().filter(|_| !name.contains('*'))
    });
    let origins = reader.list("CITED_ALLOWED_ORIGINS", "origins like https://app.example", origin);
    let hosts = if has_keys && hosts.is_empty() {
        AllowedHosts::Any
    } else {
        if !listen.ip().is_unspecified() {
            hosts.push(match listen {
                SocketAddr::V4(listen) => Host::Ipv4(*listen.ip()),
                SocketAddr::V6(listen) => Host::Ipv6(*listen.ip()),
            });
        }
        AllowedHosts::LoopbackAnd(hosts)
    };
    CrossOriginSettings { hosts, origins }
}

/// A network, or an address as a network of its own.
fn network(text: &str) -> Option<IpNet> {
    let of_one = || text.parse::<IpAddr>().map(IpNet::from).ok();
    text.parse().ok().or_else(of_one)
}

/// An origin is scheme, host and port; a URL with more is a mistake.
fn origin(text: &str) -> Option<Origin> {
    let url: Url = text.parse().ok()?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    (matches!(url.scheme(), "http" | "https") && is_bare).then(|| url.origin())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, ConfigError};

    fn read(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let variables = [&[("HOME", "/h")], variables].concat();
        let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Config::from_sources(environment, "")
    }

    const KEYS: (&str, &str) = ("CITED_API_KEYS", "a-long-enough-key-1");

    #[test]
    fn names_are_free_only_where_keys_are_needed() {
        let hosts = |variables: &[(&str, &str)]| read(variables).expect("valid").http.cross_origin.hosts;
        let list = |names: &[&str]| {
            AllowedHosts::LoopbackAnd(names.iter().map(|name| Host::parse(name).expect("a host")).collect())
        };
        assert_eq!(hosts(&[]), list(&["127.0.0.1"]));
        assert_eq!(hosts(&[KEYS]), AllowedHosts::Any);
        let named = ("CITED_ALLOWED_HOSTS", "Cited.Example, [fd00::1]");
        assert_eq!(hosts(&[named]), list(&["cited.example", "[fd00::1]", "127.0.0.1"]));
        let everywhere = ("CITED_LISTEN", "0.0.0.0:80");
        assert_eq!(hosts(&[KEYS, named, everywhere]), list(&["cited.example", "[fd00::1]"]));
        assert_eq!(
            hosts(&[KEYS, named, ("CITED_LISTEN", "10.0.0.7:80")]),
            list(&["cited.example", "[fd00::1]", "10.0.0.7"])
        );
    }

    #[test]
    fn what_is_no_name_or_no_origin_is_a_fault() {
        for (name, values) in [
            ("CITED_ALLOWED_HOSTS", ["cited.example:80", "https://cited.example", "*"]),
            ("CITED_ALLOWED_ORIGINS", ["cited.example", "https://cited.example/path", "file://x"]),
            ("CITED_TRUSTED_PROXIES", ["proxy.example", "10.0.0.0/33", "*"]),
        ] {
            for value in values {
                let error = read(&[(name, value)]).expect_err(value).to_string();
                assert!(error.contains(&format!("{name} holds {value:?}")), "{error}");
            }
        }
        assert!(read(&[("CITED_ALLOWED_ORIGINS", "https://app.example, http://localhost:3000")]).is_ok());
    }
}
