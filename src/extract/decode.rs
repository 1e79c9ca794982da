//! Bytes to characters.

use super::ExtractError;

/// Decodes UTF-8, or UTF-16 with a byte order mark; the mark itself is left out.
///
/// # Errors
/// `encoding` when the bytes are neither, `binary` when they hold NUL characters.
pub fn decode(bytes: &[u8]) -> Result<String, ExtractError> {
    let text = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest)?,
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes)?,
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes)?,
        _ => utf8(bytes)?,
    };
    if text.contains('\0') {
        return Err(ExtractError::new(
            "binary",
            "the document holds NUL characters, so it is not text; send the text itself",
        ));
    }
    Ok(text)
}

fn utf8(bytes: &[u8]) -> Result<String, ExtractError> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
        ExtractError::new(
            "encoding",
            format!("the document is not UTF-8 (first wrong byte at {}); convert it to UTF-8", error.valid_up_to()),
        )
    })
}

fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> Result<String, ExtractError> {
    let malformed = || ExtractError::new("encoding", "the document starts like UTF-16 but is not; convert it to UTF-8");
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(malformed());
    }
    char::decode_utf16(pairs.iter().map(|pair| read(*pair))).collect::<Result<_, _>>().map_err(|_| malformed())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn byte_order_marks_go() {
        assert_eq!(decode(b"\xEF\xBB\xBFhi").as_deref(), Ok("hi"));
        assert_eq!(decode(b"\xFF\xFEh\0i\0").as_deref(), Ok("hi"));
        assert_eq!(decode(b"\xFE\xFF\0h\0i").as_deref(), Ok("hi"));
        assert!(decode(b"\xFF\xFEh\0i").is_err());
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }
    }
}
