//! TLS of the service's own, and what every response tells browsers.

use std::fs;

use reqwest::{Certificate, Client, Version};

use crate::{
    harness::{Answer, TestApp, body_of},
    process::{command, output_of},
    scripted::ModelServer,
};

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/certificate.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/key.pem");
const TLS: [(&str, &str); 2] = [("CITED_TLS_CERTIFICATE", CERTIFICATE), ("CITED_TLS_KEY", KEY)];

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
}

#[tokio::test]
async fn with_a_certificate_the_service_speaks_tls_and_nothing_else() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &TLS).await;
    let address = app.base.trim_start_matches("http://");
    let port = address.rsplit(':').next().expect("a port");
    let root = Certificate::from_pem(&fs::read(CERTIFICATE).expect("a certificate")).expect("a certificate");
    let client = Client::builder().no_proxy().tls_certs_only([root]).build().expect("a client");
    let answer = client.get(format!("https://localhost:{port}/livez")).send().await.expect("it answers");
    assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_2));
    assert_eq!(answer.headers()["strict-transport-security"], "max-age=31536000");
    let other_name = client.get(format!("https://cited.localhost:{port}/livez")).send().await;
    assert!(other_name.is_err(), "the certificate is that of localhost");
    assert!(app.client.get(format!("{}/livez", app.base)).send().await.is_err(), "no plain HTTP");
    // A command of the same machine follows.
    let settings = [TLS.as_slice(), &[("CITED_LISTEN", address)]].concat();
    let well = output_of(&mut command(&["healthcheck"], &settings)).await;
    assert!(well.status.success(), "{well:?}");
    // From elsewhere its certificate counts, and the command says what is wrong with the URL.
    let named = format!("https://localhost:{port}");
    let trust = [("SSL_CERT_FILE", CERTIFICATE)];
    for (url, told) in [
        (&named, "is not trusted (invalid peer certificate: UnknownIssuer); name the service as"),
        (&app.base, "is not HTTP (invalid HTTP version parsed); is its URL one with https://?"),
    ] {
        let output = command(&["collections", "--server", url], &[]).output().await;
        let said = String::from_utf8_lossy(&output.expect("it runs").stderr).into_owned();
        assert!(said.contains(told) && !said.contains("no service answers"), "{url}: {said}");
    }
    let trusted = command(&["collections", "--server", &named], &trust).output().await;
    assert!(trusted.expect("it runs").status.success());
    // There is no plain HTTP that the shared client could ask for the end.
    app.stop().await;
}

#[tokio::test]
async fn a_key_of_another_certificate_is_refused_at_start() {
    let settings = [("CITED_TLS_CERTIFICATE", KEY), ("CITED_TLS_KEY", KEY), ("CITED_LISTEN", "127.0.0.1:0")];
    let refused = output_of(&mut command(&["serve"], &settings)).await;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("CITED_TLS_CERTIFICATE"), "{said}");
}

#[tokio::test]
async fn every_response_tells_browsers_what_not_to_do() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_API_KEYS", "a-long-enough-key-1")]).await;
    for path in ["/livez", "/readyz", "/openapi.json", "/docs/", "/nothing", "/v1/collections", "/v1/nothing"] {
        let answer = app.get(path).await;
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header(&answer, "x-frame-options"), "DENY", "{path}");
        assert_eq!(header(&answer, "referrer-policy"), "no-referrer", "{path}");
        assert_eq!(header(&answer, "strict-transport-security"), "", "{path}: over TLS only");
        let is_page = header(&answer, "content-type").starts_with("text/html");
        assert_eq!(is_page, path == "/docs/", "{answer:?}");
        let policy = header(&answer, "content-security-policy");
        assert!(policy.starts_with(if is_page { "default-src 'self';" } else { "default-src 'none';" }), "{path}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert_eq!(header(&answer, "cache-control") == "no-store", path.starts_with("/v1/"), "{path}");
    }
    // The policy lets the page run: it holds no script of its own, and nothing from elsewhere.
    let page = body_of(app.client.get(format!("{}/docs/", app.base)).send().await.expect("a page")).await;
    for script in page.split("<script").skip(1) {
        let tag = script.split('>').next().expect("a tag");
        assert!(tag.contains("src=\"./"), "{tag}");
    }
    assert!(page.contains("<script") && !page.contains("onload="), "{page}");
    app.stop().await;
}
