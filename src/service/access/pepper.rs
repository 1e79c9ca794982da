//! The secret that turns a key into the code that is stored: a copy of the database alone is of no use to those who try
//! keys.

use std::{
    fmt,
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::Arc,
};

use ring::{
    hmac,
    rand::{SecureRandom, SystemRandom},
};
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

use crate::domain::fingerprint::hex;

/// File beside an embedded database that holds its pepper.
const FILE: &str = "key-pepper";
/// Fewest characters of a pepper.
const MINIMUM_LENGTH: usize = 32;

/// Error: the secret is too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("has fewer than {MINIMUM_LENGTH} characters; make one with: openssl rand -hex 32")]
pub(crate) struct ShortPepper;

/// A secret for codes of keys (HMAC-SHA-256). A slow hash would gain nothing: keys are random and cannot be guessed.
#[derive(Clone)]
pub(crate) struct Pepper(Arc<hmac::Key>);

impl fmt::Debug for Pepper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Pepper(not shown)")
    }
}

impl Pepper {
    /// A pepper of this text.
    ///
    /// # Errors
    /// [`ShortPepper`].
    pub(crate) fn new(secret: &SecretString) -> Result<Self, ShortPepper> {
        let secret = secret.expose_secret();
        if secret.chars().count() < MINIMUM_LENGTH {
            return Err(ShortPepper);
        }
        Ok(Self(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))))
    }

    /// The pepper that is kept in a folder, which is made there if there is none. No other process may use the folder.
    ///
    /// # Errors
    /// If the file cannot be read or written, or holds less than a pepper.
    pub(crate) fn kept_in(folder: &Path) -> io::Result<Self> {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path)?,
            Err(error) => return Err(error),
        };
        Self::new(&SecretString::from(text.trim_end()))
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// The code of a key.
    pub(in crate::service) fn code(&self, key: &str) -> Vec<u8> {
        hmac::sign(&self.0, key.as_bytes()).as_ref().to_vec()
    }

    /// Whether a code belongs to a key, compared in constant time.
    pub(super) fn matches(&self, key: &str, code: &[u8]) -> bool {
        hmac::verify(&self.0, key.as_bytes(), code).is_ok()
    }
}

/// Writes a random pepper into a file that only its owner can read. It appears under its name when all of it is there.
fn make(path: &Path) -> io::Result<String> {
    let mut random = [0; 32];
    SystemRandom::new().fill(&mut random).map_err(|_| io::Error::other("the system has no random bytes"))?;
    let text = hex(&random);
    let unfinished = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_pepper_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = Pepper::kept_in(folder.path()).expect("made");
        let again = Pepper::kept_in(folder.path()).expect("read");
        assert!(again.matches("key", &first.code("key")) && !again.matches("other", &first.code("key")));
        let mode = fs::metadata(folder.path().join(FILE)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let elsewhere = tempfile::tempdir().expect("a folder");
        assert!(!Pepper::kept_in(elsewhere.path()).expect("made").matches("key", &first.code("key")));
        fs::write(elsewhere.path().join(FILE), "short").expect("written");
        assert!(Pepper::kept_in(elsewhere.path()).is_err(), "a pepper that was cut off is not used");
    }

    #[test]
    fn it_is_long_and_never_shown() {
        assert_eq!(Pepper::new(&SecretString::from("x".repeat(31))).err(), Some(ShortPepper));
        let pepper = Pepper::new(&SecretString::from("hunter2-".repeat(4))).expect("long enough");
        assert!(!format!("{pepper:?}").contains("hunter2"));
    }
}
