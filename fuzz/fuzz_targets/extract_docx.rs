//! The text of a word processor's document.
#![no_main]

use cited_fuzz::check_part;
use libfuzzer_sys::fuzz_target;

const STYLES: &str = "<w:styles><w:style w:styleId='H'><w:name w:val='heading 1'/></w:style></w:styles>";

fuzz_target!(|bytes: &[u8]| {
    check_part("word/document.xml", bytes, &[("word/styles.xml", STYLES)], "application/octet-stream");
});
