//! Properties of every extraction and every split, whatever the input.

use std::io::{Cursor, Write};

use domain::split::{Outline, PageMap, SizeUnit, SplitSource, SplitterKind, SplitterSettings, Window, split};
use extract::extract;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Those that the tests of the readers check too.
#[path = "../../../crates/extract/tests/properties/mod.rs"]
mod properties;

/// Extracts a document that is said to be of this media type and checks the result. Nothing may panic.
pub fn check_extraction(bytes: &[u8], declared: &str) {
    if let Ok(extracted) = extract(bytes, declared, None) {
        properties::assert_sound(&extracted);
    }
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

/// Splits a text with every kind of splitter and checks the laws of `domain::split`.
pub fn check_split(text: &str, size: usize, overlap: usize) {
    let counter = |text: &str| text.split_whitespace().map(|word| word.len().div_ceil(4)).sum::<usize>();
    let window = Window { tokens: 258, special_tokens: 2 };
    for kind in [SplitterKind::Recursive, SplitterKind::Markdown, SplitterKind::Code, SplitterKind::Tokens] {
        for unit in [SizeUnit::Tokens, SizeUnit::Characters] {
            let settings = SplitterSettings { kind, unit, size, overlap: Some(overlap) };
            let outline = Outline::of(kind, text);
            let pieces = split(&SplitSource { text, title: "A title", outline: &outline, pages: &PageMap::default() }, &settings, window, &counter);
            assert_eq!(pieces.is_empty(), text.trim().is_empty());
            let (mut covered, mut last) = (0, None);
            for piece in &pieces {
                let slice = text.get(piece.bytes.clone()).expect("on characters");
                assert!(!slice.is_empty() && slice == slice.trim() && last < Some(piece.bytes.start));
                assert!(piece.bytes.end > covered);
                assert!(text.get(covered..piece.bytes.start).is_none_or(|gap| gap.trim().is_empty()));
                let length = slice.chars().count();
                let most = if unit == SizeUnit::Characters { size.max(1) } else { usize::MAX };
                assert!(length <= most && piece.end - piece.start == length);
                assert!(length == 1 || piece.tokens <= 256);
                (covered, last) = (piece.bytes.end, Some(piece.bytes.start));
            }
            assert!(text.get(covered..).is_some_and(|rest| rest.trim().is_empty()));
        }
    }
}
