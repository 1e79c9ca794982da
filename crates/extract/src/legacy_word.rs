//! A look at a document of Word before 2007 (MS-DOC) before `anydoc` reads it.

use std::io::{Cursor, Read, Seek, SeekFrom};

use cfb::CompoundFile;

use super::ExtractError;

/// Places in the document's first bytes (FIB, MS-DOC 2.5): flags, the length of the list definitions, the place of the
/// references to lists in the table stream.
const FLAGS: usize = 0x0A;
const DEFINITIONS_LENGTH: usize = 0x2E6;
const REFERENCES: usize = 0x2EA;
const BEGINNING: usize = 0x2F2;
/// The flag of a document whose tables are in the second of two streams.
const SECOND_TABLE: u32 = 0x0200;
/// Bytes of a reference to a list (MS-DOC 2.9.131).
const REFERENCE_BYTES: u64 = 16;

/// Checks that there are not more references to lists than fit into the file: the library makes room for as many as
/// the document names, which may be 64 GiB. Whatever else is wrong the library finds.
///
/// # Errors
/// `malformed`.
pub(super) fn check(bytes: &[u8]) -> Result<(), ExtractError> {
    match references(bytes) {
        Some(count) if u64::from(count) * REFERENCE_BYTES > bytes.len() as u64 => {
            Err(ExtractError::malformed("document", format_args!("it names {count} lists, more than it can hold")))
        }
        _ => Ok(()),
    }
}

/// The number of references to lists that a document names; none if it has no lists.
fn references(bytes: &[u8]) -> Option<u32> {
    let mut file = CompoundFile::open(Cursor::new(bytes)).ok()?;
    let mut beginning = vec![0; BEGINNING];
    file.open_stream("WordDocument").ok()?.read_exact(&mut beginning).ok()?;
    let number = |place: usize| Some(u32::from_le_bytes(*beginning.get(place..)?.first_chunk()?));
    if number(DEFINITIONS_LENGTH)? == 0 {
        return None;
    }
    let names = if number(FLAGS)? & SECOND_TABLE == 0 { ["0Table", "1Table"] } else { ["1Table", "0Table"] };
    let name = names.into_iter().find(|name| file.is_stream(name))?;
    let mut table = file.open_stream(name).ok()?;
    table.seek(SeekFrom::Start(u64::from(number(REFERENCES)?))).ok()?;
    let mut count = [0; 4];
    table.read_exact(&mut count).ok()?;
    Some(u32::from_le_bytes(count))
}
