//! TLS of the service's own, with the certificate of the tests.

use std::{fs, net::SocketAddr, sync::Arc};

use anyhow::Context as _;
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/tls/certificate.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/tls/key.pem");

/// Settings by which the service speaks it.
pub const SETTINGS: [(&str, &str); 2] = [("CITED_TLS_CERTIFICATE", CERTIFICATE), ("CITED_TLS_KEY", KEY)];

/// Opens a connection by TLS to a service with that certificate.
pub async fn connect(address: SocketAddr) -> anyhow::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&fs::read(CERTIFICATE)?)?)?;
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(address).await.context("the service does not listen")?;
    stream.set_nodelay(true)?;
    Ok(TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost")?, stream).await?)
}
