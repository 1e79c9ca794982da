//! URLs and redirects that try to lead where nobody outside may: none does.

use std::net::{Ipv4Addr, SocketAddr};

use axum::{Router, body::Body, extract::Path, http::Response, routing::get};

use super::{OutboundError, Validators, test_outbound};
use crate::domain::identity::TenantId;

/// Addresses of every kind that is not public.
const INNER: [Ipv4Addr; 12] = [
    Ipv4Addr::UNSPECIFIED,
    Ipv4Addr::new(10, 0, 0, 1),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::LOCALHOST,
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(172, 16, 0, 1),
    Ipv4Addr::new(192, 168, 1, 1),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(198, 18, 0, 1),
    Ipv4Addr::new(224, 0, 0, 1),
    Ipv4Addr::BROADCAST,
];

/// The host of a URL that is this address, in each notation that a program somewhere accepts.
fn notations(address: Ipv4Addr) -> Vec<String> {
    let number = u32::from(address);
    let [a, b, c, d] = address.octets();
    let (high, low) = (number >> 16, number & 0xffff);
    let full_width: String =
        address.to_string().chars().filter_map(|sign| char::from_u32(u32::from(sign) + 0xfee0)).collect();
    let escaped: String = address.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
    vec![
        format!("{address}"),
        format!("{address}."),
        format!("{number}"),
        format!("0x{number:x}"),
        format!("0{number:o}"),
        format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a}.{}", number & 0xff_ffff),
        format!("{a}.{b}.{low}"),
        full_width,
        escaped,
        format!("[::ffff:{address}]"),
        format!("[::ffff:{high:x}:{low:x}]"),
        format!("[::{address}]"),
        format!("[64:ff9b::{address}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[2606:4700::5efe:{high:x}:{low:x}]"),
    ]
}

#[test]
fn no_notation_of_an_inner_address_is_allowed() {
    let outbound = test_outbound(&["wiki.internal:8080", "10.9.0.0/16:9200"]);
    let urls: Vec<String> = INNER.into_iter().flat_map(notations).map(|host| format!("http://{host}/x")).collect();
    assert_eq!(urls.len(), 204);
    for url in urls {
        assert!(matches!(outbound.check(&url), Err(OutboundError::Refused(_))), "{url}");
    }
}

#[test]
fn no_other_form_leads_inside() {
    let outbound = test_outbound(&[]);
    for url in [
        "file:///etc/passwd",
        "file://example.org/etc/passwd",
        "ftp://example.org/",
        "gopher://example.org:6379/_FLUSHALL",
        "dict://example.org:11211/stats",
        "ldap://example.org/",
        "ws://example.org/",
        "data:text/plain,words",
        "javascript:alert(1)",
        "unix:/var/run/docker.sock",
        "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
        "jar:http://example.org!/",
        "http://example.org@127.0.0.1/",
        "http://127.0.0.1@example.org/",
        "http://user:secret@example.org/",
        "http://@127.0.0.1/",
        "http:\\\\127.0.0.1\\",
        "http:///127.0.0.1/",
        "http:127.0.0.1",
        "\u{0}http://127.0.0.1/",
        " http://127.0.0.1/",
        "http://127.0.0.1\t/",
        "http://example.org:22/",
        "http://example.org:25/",
        "http://example.org:2375/",
        "http://example.org:5432/",
        "http://example.org:6379/",
        "http://example.org:10250/",
        "http://1.1.1.1:0/",
        "http://[::]/",
        "http://[::1]/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::254]/",
        "http://[ff02::1]/",
        "http://[fe80::1%25eth0]/",
        "http://127.0.0.1.:80/",
        "https://0/",
        "https://127.1:443/",
        "//127.0.0.1/",
        "127.0.0.1",
        "",
    ] {
        assert!(matches!(outbound.check(url), Err(OutboundError::Refused(_))), "{url:?}");
    }
}

/// A site on loopback that redirects to what its path says.
async fn site() -> SocketAddr {
    let redirect = |Path(to): Path<String>| async move {
        Response::builder().status(302).header("location", to).body(Body::empty()).expect("a response")
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/{*to}", get(redirect))).await });
    address
}

#[tokio::test]
async fn no_redirect_leads_inside() {
    let site = site().await;
    let outbound = test_outbound(&[&site.to_string()]);
    for target in [
        "http://169.254.169.254/latest/meta-data/",
        "https://169.254.169.254/",
        "//169.254.169.254/latest/",
        "\\\\169.254.169.254\\latest",
        "http://2852039166/",
        "http://10.0.0.1/",
        "http://192.168.1.1:8080/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://127.0.0.2/",
        "http://127.0.0.1/",
        "http://127.0.0.1:1/",
        "http://1.1.1.1:6379/",
        "http://user:secret@example.org/",
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org/",
        "data:text/plain,words",
        "javascript:alert(1)",
        "http://[",
    ] {
        let path: String = url::form_urlencoded::byte_serialize(target.as_bytes()).collect();
        let url = format!("http://{site}/{}", path.replace('+', "%20"));
        let result = outbound.fetch(TenantId::DEFAULT, &url, &Validators::default(), 1_000).await;
        assert!(matches!(result, Err(OutboundError::Refused(_))), "{target}: {result:?}");
    }
}
