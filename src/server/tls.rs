//! TLS of the service's own.

use std::{path::PathBuf, sync::Arc};

use anyhow::Context;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// Files with a certificate chain and its private key, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate of the service, then those that lead to its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// The side of the service in TLS.
#[derive(Clone)]
pub(super) struct TlsServer(TlsAcceptor);

impl TlsServer {
    /// Reads certificate and key.
    ///
    /// # Errors
    /// If a file cannot be read, or the key does not belong to the certificate.
    pub(super) fn load(files: &TlsFiles) -> anyhow::Result<Self> {
        let TlsFiles { certificate, key } = files;
        let unreadable = |name: &str, path: &PathBuf| format!("{name} names {}, which cannot be read", path.display());
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .with_context(|| unreadable("CITED_TLS_CERTIFICATE", certificate))?;
        let private = PrivateKeyDer::from_pem_file(key).with_context(|| unreadable("CITED_TLS_KEY", key))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .context("the certificate in CITED_TLS_CERTIFICATE and the key in CITED_TLS_KEY do not go together")?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        self.0.accept(stream).await
    }
}
