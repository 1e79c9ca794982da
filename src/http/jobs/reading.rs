//! How a document of a job was read.

use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::job::ReadingNotes;

/// Remarks on the reading of a document: damage that was repaired, and parts without text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReadingNotes, example = json!({"repaired_characters": 20, "dropped_characters": 1, "pages_without_text": [4, 5], "recognised_pages": [2], "unread_attachments": ["plan.png (unsupported)"]}))]
pub(super) struct ReadingBody {
    /// Number of characters that were restored because a wrong decoding had damaged them before the document was sent:
    /// Windows-1252 read as Latin-1, or UTF-8 read twice.
    repaired_characters: u32,
    /// Number of control characters that were dropped, such as NUL.
    dropped_characters: u32,
    /// Pages without text, from 1: blank, drawn or scanned ones. Nothing on them is found; recognise the text of scans
    /// first (OCR).
    pages_without_text: Vec<u32>,
    /// Pages whose text was recognised in a picture (OCR), from 1: it may hold errors of recognition.
    recognised_pages: Vec<u32>,
    /// Attachments of a message that are not read, each with the reason. The others are documents of their own.
    unread_attachments: Vec<String>,
}

impl From<ReadingNotes> for ReadingBody {
    fn from(notes: ReadingNotes) -> Self {
        let ReadingNotes {
            repaired_characters,
            dropped_characters,
            pages_without_text,
            recognised_pages,
            unread_attachments,
        } = notes;
        Self { repaired_characters, dropped_characters, pages_without_text, recognised_pages, unread_attachments }
    }
}
