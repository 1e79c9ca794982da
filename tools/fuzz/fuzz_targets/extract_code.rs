//! Source code, and files of settings that comments explain.
#![no_main]

use cited_fuzz::check_extraction;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check_extraction(bytes, "text/x-rust");
    check_extraction(bytes, "text/x-python");
    check_extraction(bytes, "application/toml");
});
