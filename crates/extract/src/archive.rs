//! ZIP archives: the container of office documents and electronic books.

use std::io::{Cursor, Read};

use zip::{ZipArchive, result::ZipError};

use super::{Cause, ExtractError, decode::characters};

/// Limit of the total unpacked size of the parts of one archive, in bytes.
pub(super) const MAX_UNPACKED_BYTES: u64 = 256 * 1024 * 1024;

/// Largest number of parts of an archive.
const MAX_PARTS: usize = 20_000;

/// An archive, and the number of bytes that may still be unpacked.
pub(super) struct Archive<'bytes> {
    zip: ZipArchive<Cursor<&'bytes [u8]>>,
    left: u64,
}

/// Whether bytes begin like an archive.
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

impl<'bytes> Archive<'bytes> {
    /// Reads the archive's list of parts.
    ///
    /// # Errors
    /// `malformed`, or `too_large` with too many parts.
    pub(super) fn open(bytes: &'bytes [u8]) -> Result<Self, ExtractError> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| failure(&error))?;
        if zip.len() > MAX_PARTS {
            return Err(too_large(&format!("has more than {MAX_PARTS} parts")));
        }
        Ok(Self { zip, left: MAX_UNPACKED_BYTES })
    }

    /// Whether there is a part of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// Unpacks a part of XML or HTML; `None` if there is none of that name.
    ///
    /// # Errors
    /// `malformed`, `encrypted`, `encoding`, or `too_large`, regardless of the size that the part declares.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, ExtractError> {
        if !self.has(name) {
            return Ok(None);
        }
        let part = self.zip.by_name(name).map_err(|error| failure(&error))?;
        let mut bytes = Vec::new();
        part.take(self.left + 1).read_to_end(&mut bytes).map_err(|error| ExtractError::malformed("file", error))?;
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or_else(bomb)?;
        characters(&bytes, None).map(Some)
    }

    /// Unpacks every part and discards the result, to verify that others may unpack them.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub(super) fn check_size(&mut self) -> Result<(), ExtractError> {
        for index in 0..self.zip.len() {
            let part = self.zip.by_index(index).map_err(|error| failure(&error))?;
            let copied = std::io::copy(&mut part.take(self.left + 1), &mut std::io::sink())
                .map_err(|error| ExtractError::malformed("file", error))?;
            self.left = self.left.checked_sub(copied).ok_or_else(bomb)?;
        }
        Ok(())
    }
}

fn bomb() -> ExtractError {
    too_large(&format!("unpacks to more than {} MiB", MAX_UNPACKED_BYTES / 1024 / 1024))
}

fn too_large(what: &str) -> ExtractError {
    ExtractError::new(Cause::TooLarge, format!("the file {what}; split the document, or save it without its media"))
}

fn failure(error: &ZipError) -> ExtractError {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            ExtractError::new(Cause::Encrypted, "the document needs a password; save it without one and send it again")
        }
        other => ExtractError::malformed("file", other),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    /// An archive with these parts.
    pub(crate) fn packed(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in parts {
            writer.start_file(*name, SimpleFileOptions::default()).expect("a part");
            writer.write_all(content).expect("in memory");
        }
        writer.finish().expect("in memory").into_inner()
    }

    #[test]
    fn parts_are_found_by_name() {
        let bytes = packed(&[("a.xml", b"<a/>"), ("b.xml", b"<b/>")]);
        let mut archive = Archive::open(&bytes).expect("an archive");
        assert!(archive.has("a.xml") && !archive.has("A.xml"));
        assert_eq!(archive.text("b.xml"), Ok(Some("<b/>".to_owned())));
        assert_eq!(archive.text("c.xml"), Ok(None));
    }

    #[test]
    fn a_bomb_does_not_go_off() {
        let zeros = vec![b' '; 16 * 1024 * 1024];
        let names: Vec<String> = (0..17).map(|number| format!("{number}.xml")).collect();
        let parts: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), zeros.as_slice())).collect();
        let bytes = packed(&parts);
        assert!(bytes.len() < 1024 * 1024);
        let mut archive = Archive::open(&bytes).expect("an archive");
        assert_eq!(archive.check_size().expect_err("too much").cause, Cause::TooLarge);
        let mut archive = Archive::open(&bytes).expect("an archive");
        let results: Vec<_> = names.iter().map(|name| archive.text(name).map(|_| ())).collect();
        assert!(results[..16].iter().all(Result::is_ok) && results[16].is_err());
    }

    #[test]
    fn a_broken_archive_is_malformed() {
        let bytes = packed(&[("a.xml", b"<a/>")]);
        for length in 0..bytes.len() {
            assert!(Archive::open(&bytes[..length]).is_err());
        }
    }
}
