//! Keys of the configuration: they open everything of the default tenant, and make the first keys of others.

use std::num::NonZeroU32;

use ring::{hmac, pbkdf2};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use super::pepper::Pepper;
use crate::domain::fingerprint::hex;

/// Minimum length of a key, in characters: shorter keys can be guessed.
pub(crate) const MINIMUM_KEY_LENGTH: usize = 16;
/// Number of digits that name a key: enough to distinguish keys.
const KEY_ID_DIGITS: usize = 12;
/// The label that the pepper signs to become the key of the names, and their salt without a pepper.
const PURPOSE: &str = "cited name of a key of the operator";
/// Rounds of the hash that makes names without a pepper.
const ROUNDS: NonZeroU32 = NonZeroU32::new(100_000).expect("not zero");

/// The keys, as hashes, with their names.
#[derive(Debug, Default)]
pub(super) struct OperatorKeys {
    keys: Vec<OperatorKey>,
}

#[derive(Debug)]
struct OperatorKey {
    digest: [u8; 32],
    /// Shown in audits and events, also to tenants: keys that are chosen badly must not be found by trying which has the name.
    id: String,
}

impl OperatorKeys {
    /// Hashes the keys. Their names are made with the pepper, or by a slow hash where there is none.
    pub(super) fn new(keys: &[SecretString], pepper: Option<&Pepper>) -> Self {
        let of_pepper = pepper.map(|pepper| hmac::Key::new(hmac::HMAC_SHA256, &pepper.code(PURPOSE)));
        let hashed = keys
            .iter()
            .map(SecretString::expose_secret)
            .map(|key| OperatorKey { digest: Sha256::digest(key).into(), id: name(key, of_pepper.as_ref()) });
        Self { keys: hashed.collect() }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The name of the key, if it is one of these. Compares with every key in constant time, regardless of which one matches.
    pub(super) fn id_of(&self, key: &str) -> Option<String> {
        let digest: [u8; 32] = Sha256::digest(key).into();
        let mut place = u64::MAX;
        for (number, known) in (0..).zip(&self.keys) {
            place.conditional_assign(&number, known.digest.ct_eq(&digest));
        }
        let known = self.keys.get(usize::try_from(place).ok()?)?;
        Some(known.id.clone())
    }
}

fn name(key: &str, of_pepper: Option<&hmac::Key>) -> String {
    let mut code = [0; 32];
    match of_pepper {
        Some(of_pepper) => code.copy_from_slice(hmac::sign(of_pepper, key.as_bytes()).as_ref()),
        None => {
            pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, ROUNDS, PURPOSE.as_bytes(), key.as_bytes(), &mut code);
        }
    }
    hex(&code).chars().take(KEY_ID_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 2] = ["first-key", "second-key"];

    fn keys(pepper: Option<&str>) -> OperatorKeys {
        let pepper = pepper.map(|pepper| Pepper::new(&SecretString::from(pepper.repeat(32))).expect("long enough"));
        OperatorKeys::new(&KEYS.map(SecretString::from), pepper.as_ref())
    }

    #[test]
    fn only_known_keys_open() {
        for keys in [keys(None), keys(Some("p"))] {
            let [first, second] = KEYS.map(|key| keys.id_of(key).expect("known"));
            assert_ne!(first, second);
            assert_eq!(first.len(), KEY_ID_DIGITS);
            for other in ["first-ke", "", "first-key "] {
                assert_eq!(keys.id_of(other), None, "{other}");
            }
            assert!(!keys.is_empty());
        }
        assert!(OperatorKeys::default().is_empty() && OperatorKeys::default().id_of("").is_none());
    }

    #[test]
    fn names_stay_and_depend_on_the_pepper() {
        let names = [None, Some("p"), Some("q")].map(|pepper| keys(pepper).id_of(KEYS[0]));
        assert_eq!(names, [None, Some("p"), Some("q")].map(|pepper| keys(pepper).id_of(KEYS[0])));
        assert!(names[0] != names[1] && names[1] != names[2]);
        let digest = hex(&Sha256::digest(KEYS[0]));
        assert!(names.iter().flatten().all(|name| !digest.starts_with(name.as_str())), "no hash that is tried fast");
    }
}
