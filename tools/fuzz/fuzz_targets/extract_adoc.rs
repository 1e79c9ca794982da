//! AsciiDoc, by itself and below the title of a book.
#![no_main]

use cited_fuzz::check_extraction;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check_extraction(bytes, "text/asciidoc");
    check_extraction(&[b"= A\n:doctype: book\n\n", bytes].concat(), "text/asciidoc");
});
