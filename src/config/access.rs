//! Keys of the configuration.

use std::net::SocketAddr;

use secrecy::{ExposeSecret, SecretString};
use url::{Host, Url};

use super::reader::{Reader, entries};
use crate::{
    domain::storage::StorageQuotas,
    service::{
        access::{ClaimNames, LoginSettings, MINIMUM_KEY_LENGTH, Pepper, Settings, TokenSettings},
        quotas,
    },
};

/// Reads the keys of the operator, the pepper, whose tokens are accepted, and how often keys and addresses may be used.
pub(super) fn read(reader: &mut Reader, listen: SocketAddr) -> Settings {
    Settings {
        operator_keys: read_operator_keys(reader, listen),
        pepper: read_pepper(reader),
        tokens: read_tokens(reader),
        key_requests_per_minute: reader.optional("CITED_KEY_REQUESTS_PER_MINUTE"),
        paid_ask_weight: reader.value("CITED_PAID_ASK_WEIGHT", Settings::default().paid_ask_weight),
        key_concurrency: reader.optional("CITED_KEY_CONCURRENCY"),
        address_requests_per_minute: reader.optional("CITED_ADDRESS_REQUESTS_PER_MINUTE"),
        refusals_per_minute: reader.value("CITED_REFUSALS_PER_MINUTE", Settings::default().refusals_per_minute),
    }
}

/// Reads how much a key may do in a day.
pub(super) fn read_quotas(reader: &mut Reader) -> quotas::Settings {
    quotas::Settings {
        asks: reader.optional("CITED_KEY_ASKS_PER_DAY"),
        documents: reader.optional("CITED_KEY_DOCUMENTS_PER_DAY"),
    }
}

/// Reads how much a tenant may keep that has no quotas of its own.
pub(super) fn read_storage_quotas(reader: &mut Reader) -> StorageQuotas {
    StorageQuotas {
        documents: reader.optional("CITED_TENANT_MAX_DOCUMENTS"),
        bytes: reader.optional("CITED_TENANT_MAX_BYTES"),
        collections: reader.optional("CITED_TENANT_MAX_COLLECTIONS"),
        former_versions: reader.optional("CITED_TENANT_MAX_FORMER_VERSIONS"),
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

fn read_tokens(reader: &mut Reader) -> Option<TokenSettings> {
    let issuer = reader.optional::<String>("CITED_OIDC_ISSUER");
    let audience = reader.optional::<String>("CITED_OIDC_AUDIENCE");
    let types = reader.list("CITED_OIDC_TOKEN_TYPES", "types of tokens, such as at+jwt", |entry| {
        Some(entry.to_ascii_lowercase().trim_start_matches("application/").to_owned())
    });
    let defaults = ClaimNames::default();
    let claims = ClaimNames {
        tenant: reader.optional("CITED_OIDC_TENANT_CLAIM"),
        groups: reader.value("CITED_OIDC_GROUPS_CLAIM", defaults.groups),
        scopes: reader.value("CITED_OIDC_SCOPES_CLAIM", defaults.scopes),
        collections: reader.optional("CITED_OIDC_COLLECTIONS_CLAIM"),
    };
    let login = read_login(reader, issuer.is_some());
    let (issuer, audience) = reader.both("CITED_OIDC_ISSUER", issuer, "CITED_OIDC_AUDIENCE", audience)?;
    if !is_issuer(&issuer) {
        reader.fault(format!(
            "CITED_OIDC_ISSUER is {issuer:?}; it must be an https URL, exactly as tokens have it in iss (http on loopback only)"
        ));
    }
    let types = if types.is_empty() { vec!["at+jwt".to_owned()] } else { types };
    Some(TokenSettings { issuer, audience, types, claims, login })
}

/// Reads how people log in to the web page.
fn read_login(reader: &mut Reader, has_issuer: bool) -> Option<LoginSettings> {
    let scope = reader.value("CITED_OIDC_LOGIN_SCOPE", "openid".to_owned());
    let parameters = reader.value("CITED_OIDC_LOGIN_PARAMETERS", String::new());
    let client_id = reader.optional("CITED_OIDC_CLIENT_ID")?;
    if !has_issuer {
        reader.fault(
            "CITED_OIDC_CLIENT_ID is set and CITED_OIDC_ISSUER is not; set the issuer that people log in at".to_owned(),
        );
    }
    if !scope.split_whitespace().any(|part| part == "openid") {
        reader.fault(format!(
            "CITED_OIDC_LOGIN_SCOPE is {scope:?}; it must hold openid, and the scopes that tokens for this service need"
        ));
    }
    Some(LoginSettings { client_id, scope, parameters })
}

/// Whether keys of an issuer of this name can be read safely.
fn is_issuer(name: &str) -> bool {
    let Ok(url) = Url::parse(name) else { return false };
    let is_loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.query().is_none()
        && url.fragment().is_none()
        && (url.scheme() == "https" || (url.scheme() == "http" && is_loopback))
}
