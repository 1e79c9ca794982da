//! Keys of the configuration.

use std::net::SocketAddr;

use secrecy::{ExposeSecret, SecretString};

use super::reader::{Reader, entries};
use crate::service::access::{MINIMUM_KEY_LENGTH, Pepper, Settings};

/// Reads the keys of the operator, the pepper, and how often keys and addresses may be used.
pub(super) fn read(reader: &mut Reader, listen: SocketAddr) -> Settings {
    Settings {
        operator_keys: read_operator_keys(reader, listen),
        pepper: read_pepper(reader),
        key_requests_per_minute: reader.optional("CITED_KEY_REQUESTS_PER_MINUTE"),
        key_concurrency: reader.optional("CITED_KEY_CONCURRENCY"),
        address_requests_per_minute: reader.optional("CITED_ADDRESS_REQUESTS_PER_MINUTE"),
        refusals_per_minute: reader.value("CITED_REFUSALS_PER_MINUTE", Settings::default().refusals_per_minute),
    }
}

fn read_operator_keys(reader: &mut Reader, listen: SocketAddr) -> Vec<SecretString> {
    let keys: Vec<SecretString> = reader
        .secret("CITED_API_KEYS")
        .map(|list| entries(list.expose_secret()).map(SecretString::from).collect())
        .unwrap_or_default();
    if keys.iter().any(|key| key.expose_secret().len() < MINIMUM_KEY_LENGTH) {
        reader.fault(format!(
            "CITED_API_KEYS holds a key of fewer than {MINIMUM_KEY_LENGTH} characters; use long random ones"
        ));
    }
    if keys.is_empty() && !listen.ip().is_loopback() {
        reader.fault(format!(
            "CITED_LISTEN is {listen}, which others can reach, and CITED_API_KEYS is empty; set keys or listen on 127.0.0.1"
        ));
    }
    keys
}

fn read_pepper(reader: &mut Reader) -> Option<Pepper> {
    let secret = reader.secret("CITED_KEY_PEPPER")?;
    Pepper::new(&secret).map_err(|error| reader.fault(format!("CITED_KEY_PEPPER {error}"))).ok()
}
