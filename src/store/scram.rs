//! Verifiers of passwords in the form that Postgres stores (SCRAM-SHA-256, RFC 5802 and RFC 7677): the server checks a login by
//! one, and is never sent the password itself, which it might log with the statement.

use std::num::NonZeroU32;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::{
    digest, hmac, pbkdf2,
    rand::{SecureRandom, SystemRandom},
};

use crate::store::StoreError;

/// Rounds of the hash, as many as Postgres makes itself.
const ROUNDS: NonZeroU32 = NonZeroU32::new(4_096).expect("not zero");
/// Bytes of salt, as many as Postgres takes itself.
const SALT_BYTES: usize = 16;

/// The verifier of an ASCII password, under a random salt.
///
/// # Errors
/// [`StoreError::Unsuitable`] where the system has no random bytes.
pub(super) fn verifier(password: &str) -> Result<String, StoreError> {
    let mut salt = [0; SALT_BYTES];
    let filled = SystemRandom::new().fill(&mut salt);
    filled.map_err(|_| StoreError::Unsuitable("the system has no random bytes".to_owned()))?;
    let Keys { stored, server } = Keys::of(password, &salt);
    let [salt, stored, server] = [&salt[..], &stored, &server].map(|bytes| STANDARD.encode(bytes));
    Ok(format!("SCRAM-SHA-256${ROUNDS}:{salt}${stored}:{server}"))
}

/// The keys by which a server knows a client, and shows that it is itself.
struct Keys {
    stored: Vec<u8>,
    server: Vec<u8>,
}

impl Keys {
    /// Those of a password that is prepared: `SASLprep` leaves ASCII as it is.
    fn of(password: &str, salt: &[u8]) -> Self {
        let mut salted = [0; digest::SHA256_OUTPUT_LEN];
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, ROUNDS, salt, password.as_bytes(), &mut salted);
        let salted = hmac::Key::new(hmac::HMAC_SHA256, &salted);
        let client = hmac::sign(&salted, b"Client Key");
        Self {
            stored: digest::digest(&digest::SHA256, client.as_ref()).as_ref().to_vec(),
            server: hmac::sign(&salted, b"Server Key").as_ref().to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Vec<u8> {
        STANDARD.decode(text).expect("base64")
    }

    /// The exchange of RFC 7677, section 3.
    #[test]
    fn the_keys_are_those_of_the_standard() {
        let exchange = "n=user,r=rOprNGfwEbeRWgbNEkqO,\
                        r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,\
                        c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let keys = Keys::of("pencil", &decoded("W22ZaJ0SNY7soEsUEjb6gQ=="));
        let sign = |key: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), exchange.as_bytes());
        assert_eq!(sign(&keys.server).as_ref(), decoded("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
        let proof = decoded("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        let client: Vec<u8> = proof.iter().zip(sign(&keys.stored).as_ref()).map(|(one, other)| one ^ other).collect();
        assert_eq!(digest::digest(&digest::SHA256, &client).as_ref(), keys.stored);
    }

    #[test]
    fn each_verifier_has_a_salt_of_its_own_and_no_password() {
        let [first, second] = [(); 2].map(|()| verifier("correct-horse").expect("random bytes"));
        assert_ne!(first, second);
        for verifier in [first, second] {
            let (beginning, keys) = verifier.rsplit_once('$').expect("keys");
            let (kind, salt) = beginning.split_once(':').expect("a salt");
            let (stored, server) = keys.split_once(':').expect("two keys");
            assert_eq!((kind, decoded(salt).len()), ("SCRAM-SHA-256$4096", SALT_BYTES));
            assert_eq!((decoded(stored).len(), decoded(server).len()), (32, 32));
            assert!(!verifier.contains("correct-horse"));
        }
    }
}
