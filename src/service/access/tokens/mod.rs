//! Recognises callers by access tokens of the deployment's identity provider: JWT by RFC 9068.

mod claims;
mod issuer_keys;
mod signatures;

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header, errors::ErrorKind, jwk::Jwk};
use serde_json::{Map, Value};

pub(crate) use self::claims::ClaimNames;
use self::{claims::read_claims, issuer_keys::IssuerKeys};
use crate::{
    domain::access::Grant,
    providers::token_issuer::{IssuerError, TokenIssuer},
};

/// Algorithms of signatures that are accepted. None of them is symmetric: a service that could check such a token could also
/// write it.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];
/// Difference of clocks that is forgiven, in seconds.
const LEEWAY_S: u64 = 30;

/// The identity provider, and what its tokens mean here.
#[derive(Clone, Debug)]
pub(crate) struct TokenSettings {
    /// Name of the provider, as tokens have it in `iss`; also the URL that its metadata is below.
    pub(crate) issuer: String,
    /// Name of this service, as tokens have it in `aud`.
    pub(crate) audience: String,
    /// Types of tokens that are accepted (`typ`), in lower case.
    pub(crate) types: Vec<String>,
    /// Where tokens have what they grant.
    pub(crate) claims: ClaimNames,
    /// How people log in to the web page; `None` if they cannot.
    pub(crate) login: Option<LoginSettings>,
}

/// How people log in to the web page at the identity provider.
#[derive(Clone, Debug)]
pub(crate) struct LoginSettings {
    /// Name under which the provider knows the page; it is a public client, without a secret.
    pub(crate) client_id: String,
    /// Scopes that the page requests, separated by spaces.
    pub(crate) scope: String,
    /// Further parameters of its request, as a query: by one of them some providers learn which service a token is for.
    pub(crate) parameters: String,
}

/// Why a token is refused.
#[derive(Debug)]
pub(crate) enum TokenRefusal {
    /// The token is not good; the text says what is wrong with it.
    Invalid(&'static str),
    /// The keys of the issuer are not known, and cannot be read now.
    NoKeys,
}

/// The rights of a token, and the name of its caller.
pub(super) struct TokenIdentity {
    pub(super) grant: Grant,
    /// `user:` with the subject.
    pub(super) name: String,
}

/// Tokens of one issuer.
#[derive(Debug)]
pub(super) struct Tokens {
    settings: TokenSettings,
    keys: IssuerKeys,
}

impl Tokens {
    /// Tokens by these settings.
    ///
    /// # Errors
    /// As [`TokenIssuer::new`].
    pub(super) fn new(settings: TokenSettings) -> Result<Self, IssuerError> {
        signatures::install();
        let keys = IssuerKeys::new(TokenIssuer::new(&settings.issuer)?);
        Ok(Self { settings, keys })
    }

    /// The identity provider, and what its tokens mean here.
    pub(super) const fn settings(&self) -> &TokenSettings {
        &self.settings
    }

    /// Whether a text has the form of a token.
    pub(super) fn is_token(text: &str) -> bool {
        text.split('.').count() == 3 && text.starts_with("ey")
    }

    /// The rights that a token grants.
    ///
    /// # Errors
    /// [`TokenRefusal`].
    pub(super) async fn identify(&self, token: &str) -> Result<TokenIdentity, TokenRefusal> {
        let header = decode_header(token).map_err(|_| TokenRefusal::Invalid("is not a JWT that can be read"))?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(TokenRefusal::Invalid("is signed by an algorithm that is not accepted"));
        }
        if header.crit.is_some() {
            return Err(TokenRefusal::Invalid("has a critical header that this service does not know"));
        }
        let typ = header.typ.unwrap_or_default().to_ascii_lowercase();
        if !self.settings.types.iter().any(|known| *known == typ.trim_start_matches("application/")) {
            return Err(TokenRefusal::Invalid(
                "is of another type (typ) than an access token; an ID token opens nothing",
            ));
        }
        let keys = self.keys.named(header.kid.as_deref()).await.ok_or(TokenRefusal::NoKeys)?;
        let mut refusal = TokenRefusal::Invalid("is signed by a key that its issuer does not have");
        for key in keys.iter().filter(|key| signs(key, header.alg)) {
            match self.checked(token, key, header.alg) {
                Ok(claims) => return read_claims(&self.settings.claims, &claims).map_err(TokenRefusal::Invalid),
                Err(fault) => refusal = TokenRefusal::Invalid(fault),
            }
        }
        Err(refusal)
    }

    /// The claims of a token that a key signed, if issuer, audience and times are right.
    fn checked(&self, token: &str, key: &Jwk, algorithm: Algorithm) -> Result<Map<String, Value>, &'static str> {
        let key = DecodingKey::from_jwk(key).map_err(|_| "is signed by a key that cannot be read")?;
        let mut validation = Validation::new(algorithm);
        validation.set_issuer(&[&self.settings.issuer]);
        validation.set_audience(&[&self.settings.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY_S;
        decode(token, &key, &validation).map(|token| token.claims).map_err(|error| match error.kind() {
            ErrorKind::ExpiredSignature => "has ended; get another one",
            ErrorKind::ImmatureSignature => "is not valid yet; check the clocks",
            ErrorKind::InvalidAudience => "is for another audience (aud)",
            ErrorKind::InvalidIssuer => "is of another issuer (iss)",
            ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => {
                "lacks one of exp, iss, aud and sub, or has it in another form"
            }
            _ => "has a signature that does not match",
        })
    }
}

/// Whether a key may sign by an algorithm, as far as it says.
fn signs(key: &Jwk, algorithm: Algorithm) -> bool {
    use jsonwebtoken::jwk::PublicKeyUse;
    let is_for_signatures = !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
    let named = key.common.key_algorithm.map(|known| known.to_string());
    is_for_signatures && named.is_none_or(|named| named == format!("{algorithm:?}"))
}
