//! Content addressing: hashes that decide whether work has been done before.

use sha2::{Digest, Sha256};

/// SHA-256 of a document's bytes, of an embedded text, or of everything that decides a stored result.
pub type Hash = [u8; 32];

/// SHA-256 of some bytes.
#[must_use]
pub fn content_hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// SHA-256 over several parts. Each part is preceded by its length, so that moving a byte from one
/// part to the next changes the result.
#[must_use]
pub fn fingerprint(parts: &[&[u8]]) -> Hash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Lower-case hexadecimal form.
#[must_use]
pub fn hex(hash: &[u8]) -> String {
    use std::fmt::Write as _;
    hash.iter().fold(String::with_capacity(hash.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"a", b"bc"]));
        assert_ne!(fingerprint(&[b"a"]), fingerprint(&[b"a", b""]));
        assert_eq!(fingerprint(&[b"a", b"b"]), fingerprint(&[b"a", b"b"]));
    }

    #[test]
    fn known_value() {
        assert_eq!(hex(&content_hash(b"abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
