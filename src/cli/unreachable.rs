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
    match cause_of::<rustls::Error>(error) {
        Some(rustls::Error::InvalidCertificate(_)) => anyhow!(
            "the certificate of {base} is not trusted ({cause}); name the service as its certificate does, or have this \
             machine trust the authority of the certificate (SSL_CERT_FILE names a file of authorities)"
        ),
        Some(_) => anyhow!("{base} does not speak TLS as this program does ({cause}); is its URL one with http://?"),
        None if error.is_connect() => anyhow!(
            "no service answers at {base} ({cause}); start one with cited serve, or name it with --server or CITED_SERVER"
        ),
        None if cause_of::<hyper::Error>(error).is_some_and(hyper::Error::is_parse) => {
            anyhow!("the answer of {base} is not HTTP ({cause}); is its URL one with https://?")
        }
        None => anyhow!(
            "{base} broke off before it had answered ({cause}): the service was stopped, or speaks TLS, and its URL is one \
             with https://"
        ),
    }
}

/// The first cause of an error that is of this kind.
fn cause_of<E: Error + 'static>(error: &reqwest::Error) -> Option<&E> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if let Some(found) = one.downcast_ref::<E>() {
            return Some(found);
        }
        // What an I/O error wraps is not among its sources.
        let wrapped = one.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = wrapped.map(|inner| inner as &(dyn Error + 'static)).or_else(|| one.source());
    }
    None
}
