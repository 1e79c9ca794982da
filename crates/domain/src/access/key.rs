//! The written form of an API key: `cited_<id>_<secret>_<checksum>`, all hexadecimal.
//!
//! Prefix and checksum let scanners find keys in code, logs and tickets without guessing. The id names the key and is no
//! secret. The checksum is that of all before it and proves nothing; it only tells a key from a text that resembles one.

use thiserror::Error;

use crate::fingerprint::hex;

/// Start of every key.
pub const KEY_PREFIX: &str = "cited_";
/// Bytes of the id.
pub const KEY_ID_BYTES: usize = 8;
/// Bytes of the secret.
pub const KEY_SECRET_BYTES: usize = 32;

/// Error: a text is not a key, or not a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("this is not a key of this service, or not a whole one")]
pub struct MalformedKey;

/// The id of these bytes in its written form.
#[must_use]
pub fn written_id(id: [u8; KEY_ID_BYTES]) -> String {
    hex(&id)
}

/// Writes a key with this id; the secret must be random.
#[must_use]
pub fn write_key(id: &str, secret: [u8; KEY_SECRET_BYTES]) -> String {
    let text = format!("{KEY_PREFIX}{id}_{}", hex(&secret));
    let checksum = checksum(&text);
    format!("{text}_{checksum}")
}

/// The id of a key, if the text has the form of one.
///
/// # Errors
/// [`MalformedKey`].
pub fn key_id(text: &str) -> Result<&str, MalformedKey> {
    let (checked, sum) = text.rsplit_once('_').ok_or(MalformedKey)?;
    let (id, secret) = checked.strip_prefix(KEY_PREFIX).and_then(|rest| rest.split_once('_')).ok_or(MalformedKey)?;
    let is_whole = is_hex(id, 2 * KEY_ID_BYTES) && is_hex(secret, 2 * KEY_SECRET_BYTES) && sum == checksum(checked);
    if is_whole { Ok(id) } else { Err(MalformedKey) }
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// CRC-32 (ISO-HDLC), which scanners of secrets compute too.
fn checksum(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let key = write_key(&written_id([0xab; 8]), [0x01; 32]);
        assert_eq!(key, format!("cited_abababababababab_{}_512e68c6", "01".repeat(32)));
        assert_eq!(key_id(&key), Ok("abababababababab"));
    }

    #[test]
    fn any_other_character_and_any_missing_one_is_noticed() {
        let key = write_key(&written_id([7; 8]), [200; 32]);
        for place in 0..key.len() {
            let mut changed = key.clone().into_bytes();
            changed[place] = if changed[place] == b'0' { b'1' } else { b'0' };
            assert_eq!(key_id(&String::from_utf8(changed).expect("ASCII")), Err(MalformedKey), "{place}");
            let mut shorter = key.clone();
            shorter.remove(place);
            assert_eq!(key_id(&shorter), Err(MalformedKey), "{place}");
        }
        for text in ["", "cited_", "cited___", &key.to_uppercase(), &format!("{key} "), &format!("x{key}"), "ключ_ключ"]
        {
            assert_eq!(key_id(text), Err(MalformedKey), "{text}");
        }
    }
}
