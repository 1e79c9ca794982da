//! PDF, tagged and not.
#![no_main]

use cited_fuzz::check_extraction;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let bytes = if bytes.starts_with(b"%PDF") { bytes.to_vec() } else { [b"%PDF-1.7\n", bytes].concat() };
    check_extraction(&bytes, "application/pdf");
});
