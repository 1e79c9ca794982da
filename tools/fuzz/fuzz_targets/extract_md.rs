//! Markdown: as such, below front matter, and as a page of notes with a footnote and a definition.
#![no_main]

use cited_fuzz::check_extraction;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check_extraction(bytes, "text/markdown");
    check_extraction(&[b"---\n", bytes, b"\n---\n\n**Term** words[^n]\n"].concat(), "text/markdown");
    check_extraction(&[b"Words[^n]\n\nTerm\n: ", bytes, b"\n\n[^n]: ", bytes].concat(), "text/markdown");
});
