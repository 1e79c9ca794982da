//! Errors for calls that got no answer of a service, by what was in the way.

use std::{error::Error, io};

use anyhow::anyhow;

use crate::providers::{innermost, remote::Client};

/// The error for a call without an answer.
pub(super) fn unreachable(client: &Client, error: &reqwest::Error) -> anyhow::Error {
    let (base, cause) = (client.base(), innermost(error));
    if error.is_timeout() {
        return anyhow!("{base} did not answer in time ({cause}); the service may be busy, try again later");
    }
    match tls_fault(error) {
        Some(rustls::Error::InvalidCertificate(_)) => anyhow!(
            "the certificate of {base} is not trusted ({cause}); name the service as its certificate does, or have this \
             machine trust the authority of the certificate (SSL_CERT_FILE names a file of authorities)"
        ),
        Some(_) => anyhow!("{base} does not speak TLS as this program does ({cause}); is its URL one with http://?"),
        None if error.is_connect() => anyhow!(
            "no service answers at {base} ({cause}); start one with cited serve, or name it with --server or CITED_SERVER"
        ),
        None if base.starts_with("http://") => {
            anyhow!("the answer of {base} is not HTTP ({cause}); is its URL one with https://?")
        }
        None => anyhow!("the answer of {base} broke off ({cause}); try again"),
    }
}

/// The fault of TLS among the causes of an error.
fn tls_fault(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if let Some(fault) = one.downcast_ref::<rustls::Error>() {
            return Some(fault);
        }
        // What an I/O error wraps is not among its sources.
        let wrapped = one.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = wrapped.map(|inner| inner as &(dyn Error + 'static)).or_else(|| one.source());
    }
    None
}
