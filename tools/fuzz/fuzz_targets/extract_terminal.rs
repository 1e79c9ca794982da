//! Text that was written for a terminal: an at sign of the input is an escape character, a percent sign a backspace.
#![no_main]

use cited_fuzz::check_extraction;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let written = text.replace('@', "\u{1b}").replace('%', "\u{8}");
    check_extraction(written.as_bytes(), "text/plain; charset=utf-8");
});
