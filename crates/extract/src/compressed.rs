//! Files compressed by gzip (RFC 1952), as manuals and change logs often are: each is one document.

use std::{borrow::Cow, io::Read};

use flate2::bufread::MultiGzDecoder;

use super::{Cause, ExtractError};

/// Largest size of a file without its compression, in bytes.
const MAX_UNPACKED_BYTES: u64 = 64 * 1024 * 1024;

/// Signature of a file compressed by gzip: its magic number, and `deflate`, the only method.
const GZIP: &[u8] = b"\x1f\x8b\x08";

/// A file without its compression; one that has none as it is. A file that is compressed twice stays compressed once.
///
/// # Errors
/// `malformed`, or `too_large`, whatever size the file declares.
pub(super) fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, ExtractError> {
    if !bytes.starts_with(GZIP) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(MAX_UNPACKED_BYTES + 1).read_to_end(&mut unpacked);
    read.map_err(|error| ExtractError::malformed("file", error))?;
    if unpacked.len() as u64 > MAX_UNPACKED_BYTES {
        let limit = MAX_UNPACKED_BYTES / 1024 / 1024;
        let message = format!("the file unpacks to more than {limit} MiB; split the document and send its parts");
        return Err(ExtractError::new(Cause::TooLarge, message));
    }
    Ok(Cow::Owned(unpacked))
}

/// The first bytes of a file without its compression, of which `beginning` is the beginning.
pub(super) fn beginning_of(beginning: &[u8]) -> Cow<'_, [u8]> {
    if !beginning.starts_with(GZIP) {
        return Cow::Borrowed(beginning);
    }
    let mut unpacked = Vec::new();
    // It ends where the beginning was cut off: what was read by then is there.
    let _ = MultiGzDecoder::new(beginning).take(beginning.len() as u64).read_to_end(&mut unpacked);
    Cow::Owned(unpacked)
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;
    use crate::{extract, looks_like_document};

    /// These bytes compressed.
    pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut writer = GzEncoder::new(Vec::new(), Compression::default());
        writer.write_all(bytes).expect("in memory");
        writer.finish().expect("in memory")
    }

    #[test]
    fn a_compressed_document_is_read_as_the_document() {
        let bytes = packed("# Löschwasser\n\nThe pump starts by itself.".as_bytes());
        let extracted = extract(&bytes, "text/markdown", None).expect("readable");
        assert_eq!(extracted.title.as_deref(), Some("Löschwasser"));
        assert_eq!(extracted.media_type, "text/markdown");
        assert!(extracted.text.ends_with("The pump starts by itself."));
        let two = [packed(b"First. "), packed(b"Second.")].concat();
        assert_eq!(extract(&two, "application/gzip", None).expect("readable").text, "First. Second.");
    }

    #[test]
    fn what_is_compressed_is_judged_by_what_it_is() {
        assert!(looks_like_document(&packed(b"words")) && !looks_like_document(&packed(b"\x7fELF\x02\x01\x01\0\0")));
        let long = packed("Pumps start by themselves. ".repeat(100_000).as_bytes());
        assert!(looks_like_document(&long[..200]));
        let archive = packed(&[&[0; 257][..], b"ustar\x0000", &[0; 512]].concat());
        assert!(!looks_like_document(&archive));
        assert_eq!(extract(&archive, "application/gzip", None).expect_err("an archive").cause, Cause::Unsupported);
        let twice = extract(&packed(&packed(b"words")), "text/plain", None).expect_err("twice");
        assert!(twice.cause == Cause::Unsupported && twice.message.contains("gzip"), "{twice:?}");
        assert_eq!(extract(&packed(b""), "text/plain", None).expect_err("nothing").cause, Cause::Empty);
    }

    #[test]
    fn a_bomb_does_not_go_off() {
        let bytes = packed(&vec![b' '; 65 * 1024 * 1024]);
        assert!(bytes.len() < 128 * 1024);
        assert_eq!(extract(&bytes, "text/plain", None).expect_err("too much").cause, Cause::TooLarge);
    }

    #[test]
    fn a_file_that_is_cut_off_is_malformed() {
        let bytes = packed(b"Pumps start by themselves.");
        for length in 3..bytes.len() {
            assert_eq!(extract(&bytes[..length], "text/plain", None).expect_err("cut").cause, Cause::Malformed);
        }
    }
}
