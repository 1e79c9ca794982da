//! Compound files: DOC, PPT, XLS, MSG and what is none of them.
#![no_main]

use cited_fuzz::check_extraction;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check_extraction(bytes, "application/octet-stream");
});
