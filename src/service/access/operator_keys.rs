//! Keys of the configuration: they open everything of the default tenant, and make the first keys of others.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::domain::fingerprint::hex;

/// Minimum length of a key, in characters: shorter keys can be guessed.
pub(crate) const MINIMUM_KEY_LENGTH: usize = 16;
/// Number of digits of a key's digest that name the key: enough to distinguish keys, too few to be useful otherwise.
const KEY_ID_DIGITS: usize = 12;

/// The keys, as hashes.
#[derive(Debug, Default)]
pub(super) struct OperatorKeys {
    digests: Vec<[u8; 32]>,
}

impl OperatorKeys {
    /// Hashes the keys.
    pub(super) fn new(keys: &[SecretString]) -> Self {
        Self { digests: keys.iter().map(|key| Sha256::digest(key.expose_secret()).into()).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }

    /// A name for the key that does not reveal it, if it is one of these. Compares with every key in constant time,
    /// regardless of which one matches.
    pub(super) fn id_of(&self, key: &str) -> Option<String> {
        let digest: [u8; 32] = Sha256::digest(key).into();
        let is_known = self.digests.iter().fold(subtle::Choice::from(0), |found, known| found | known.ct_eq(&digest));
        bool::from(is_known).then(|| hex(&digest).chars().take(KEY_ID_DIGITS).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_keys_open() {
        let keys = OperatorKeys::new(&["first-key", "second-key"].map(SecretString::from));
        let [first, second] = ["first-key", "second-key"].map(|key| keys.id_of(key).expect("known"));
        assert_ne!(first, second);
        assert_eq!(first.len(), KEY_ID_DIGITS);
        for other in ["first-ke", "", "first-key "] {
            assert_eq!(keys.id_of(other), None, "{other}");
        }
        assert!(!keys.is_empty() && OperatorKeys::default().is_empty());
    }
}
