//! Properties of every extraction and every split, whatever the input.

use std::{
    io::{Cursor, Read, Write},
    ops::Range,
};

use cfb::CompoundFile;
use domain::split::{
    Outline, PageMap, SizeUnit, SplitSource, SplitterKind, SplitterSettings, Window, headings_of_markdown, split,
};
use extract::{Extracted, extract};
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

/// Those that the tests of the readers check too.
#[path = "../../../crates/extract/tests/properties/mod.rs"]
mod properties;

/// Tokens of a piece of a document that was extracted: few, so that small documents have several.
const PIECE: usize = 32;

/// Extracts a document that is said to be of this media type, splits it along its headings and pages, and checks both.
/// Nothing may panic.
pub fn check_extraction(bytes: &[u8], declared: &str) {
    let Ok(extracted) = extract(bytes, declared, None) else { return };
    properties::assert_sound(&extracted);
    let Extracted { text, headings, pages, splitter, .. } = extracted;
    let settings = SplitterSettings { kind: splitter, unit: SizeUnit::Tokens, size: PIECE, overlap: None };
    let outline =
        if headings.is_empty() { Outline::of(splitter, &text) } else { Outline::from_headings(&text, headings) };
    check_pieces(&text, &outline, &pages, settings);
}

/// An archive of parts, one of which is fuzzed.
pub struct Package {
    /// Name of that part.
    pub part: &'static str,
    /// A well-formed sample of it.
    pub sample: &'static str,
    /// The other parts, as they should be.
    pub others: &'static [(&'static str, &'static str)],
}

impl Package {
    /// Proves that the part is read at all: otherwise nothing that is fuzzed in it would matter.
    pub fn assert_is_read(&self) {
        let archive = self.archive(self.sample.as_bytes());
        let extracted = extract(&archive, "application/octet-stream", None).expect("the sample is read");
        assert!(extracted.text.contains("Words"), "{:?}", extracted.text);
    }

    /// Extracts the archive with this content of the part, and checks the result.
    pub fn check(&self, content: &[u8]) {
        check_extraction(&self.archive(content), "application/octet-stream");
    }

    fn archive(&self, content: &[u8]) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let others = self.others.iter().map(|(name, content)| (*name, content.as_bytes()));
        for (name, content) in others.chain([(self.part, content)]) {
            archive.start_file(name, stored).expect("a new part");
            archive.write_all(content).expect("in memory");
        }
        archive.finish().expect("in memory").into_inner()
    }
}

/// A file of the corpus, one part or stream of which is fuzzed.
pub struct Sample {
    /// The file: an archive or a compound file.
    pub file: &'static [u8],
    /// The parts, or the paths of the streams, that are fuzzed. Those that the file does not have are added to it.
    pub parts: &'static [&'static str],
}

impl Sample {
    /// Proves that the file is read, also after it was put together anew.
    pub fn assert_is_read(&self) {
        for part in self.parts {
            let content = self.content(part);
            let whole = if content.is_empty() { self.file.to_vec() } else { self.with(part, &content) };
            let extracted = extract(&whole, "application/octet-stream", None).expect("the sample is read");
            assert!(!extracted.text.trim().is_empty(), "{part}");
        }
    }

    /// Extracts the file with other content of a part, which the first byte chooses, and checks the result.
    pub fn check(&self, bytes: &[u8]) {
        let Some((chosen, content)) = bytes.split_first() else { return };
        let part = self.parts[usize::from(*chosen) % self.parts.len()];
        check_extraction(&self.with(part, content), "application/octet-stream");
    }

    /// What a part holds; nothing if the file does not have it.
    fn content(&self, part: &str) -> Vec<u8> {
        let mut content = Vec::new();
        if part.starts_with('/') {
            let mut file = CompoundFile::open(Cursor::new(self.file)).expect("a compound file");
            let stream = file.open_stream(part);
            stream.map(|mut stream| stream.read_to_end(&mut content).expect("in memory")).ok();
        } else {
            let mut file = ZipArchive::new(Cursor::new(self.file)).expect("an archive");
            let entry = file.by_name(part);
            entry.map(|mut entry| entry.read_to_end(&mut content).expect("in memory")).ok();
        }
        content
    }

    fn with(&self, part: &str, content: &[u8]) -> Vec<u8> {
        if part.starts_with('/') {
            let mut file = CompoundFile::open(Cursor::new(self.file.to_vec())).expect("a compound file");
            if let Some((storage, _)) = part.rsplit_once('/').filter(|(storage, _)| !storage.is_empty()) {
                file.create_storage_all(storage).expect("a storage");
            }
            file.create_stream(part).expect("a stream").write_all(content).expect("in memory");
            file.flush().expect("in memory");
            return file.into_inner().into_inner();
        }
        let mut read = ZipArchive::new(Cursor::new(self.file)).expect("an archive");
        let mut written = ZipWriter::new(Cursor::new(Vec::new()));
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for index in 0..read.len() {
            let mut entry = read.by_index(index).expect("a part");
            let name = entry.name().expect("a name").into_owned();
            let mut own = Vec::new();
            entry.read_to_end(&mut own).expect("in memory");
            written.start_file(&name, stored).expect("a new part");
            written.write_all(if name == part { content } else { &own }).expect("in memory");
        }
        written.finish().expect("in memory").into_inner()
    }
}

/// Splits a text with every kind of splitter and checks the laws of `domain::split`.
pub fn check_split(text: &str, size: usize, overlap: usize) {
    for kind in [SplitterKind::Recursive, SplitterKind::Markdown, SplitterKind::Code, SplitterKind::Tokens] {
        for unit in [SizeUnit::Tokens, SizeUnit::Characters] {
            let settings = SplitterSettings { kind, unit, size, overlap: Some(overlap) };
            check_pieces(text, &Outline::of(kind, text), &PageMap::default(), settings);
        }
    }
}

/// Splits a text along these headings and pages and checks the pieces.
fn check_pieces(text: &str, outline: &Outline, pages: &PageMap, settings: SplitterSettings) {
    let counter = |text: &str| text.split_whitespace().map(|word| word.len().div_ceil(4)).sum::<usize>();
    let window = Window { tokens: 258, special_tokens: 2 };
    let pieces = split(&SplitSource { text, title: "A title", outline, pages }, &settings, window, &counter);
    assert_eq!(pieces.is_empty(), text.trim().is_empty());
    let most = if settings.unit == SizeUnit::Characters { settings.size.max(1) } else { usize::MAX };
    let (mut covered, mut last) = (0, None);
    for piece in &pieces {
        let slice = text.get(piece.bytes.clone()).expect("on characters");
        assert!(!slice.is_empty() && slice == slice.trim() && last < Some(piece.bytes.start));
        assert!(piece.bytes.end > covered);
        assert_no_words(text, outline, covered..piece.bytes.start);
        let length = slice.chars().count();
        assert!(length <= most && piece.end - piece.start == length);
        assert!(length == 1 || piece.tokens <= 256);
        (covered, last) = (piece.bytes.end, Some(piece.bytes.start));
    }
    assert_no_words(text, outline, covered..text.len());
}

/// Checks that what no piece holds is white space, or not seen by a reader, or a heading right before much of that.
fn assert_no_words(text: &str, outline: &Outline, gap: Range<usize>) {
    let has_unread = outline.unread().iter().any(|range| range.start < gap.end && gap.start < range.end);
    let is_unread = |byte: usize| outline.unread().iter().any(|range| range.contains(&byte));
    let is_heading = |byte: usize| headings_of_markdown(text).iter().any(|heading| heading.bytes.contains(&byte));
    let left_out = text.get(gap.clone()).unwrap_or_default().char_indices();
    for (at, character) in left_out.filter(|(_, character)| !character.is_whitespace()) {
        let byte = gap.start + at;
        assert!(is_unread(byte) || has_unread && is_heading(byte), "{character:?} at byte {byte}");
    }
}
