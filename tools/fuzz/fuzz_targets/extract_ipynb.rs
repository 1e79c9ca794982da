//! Jupyter notebooks: whole ones, and the cells of one.
#![no_main]

use cited_fuzz::check_extraction;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check_extraction(bytes, "application/x-ipynb+json");
    check_extraction(&[b"{\"nbformat\": 4, \"cells\": [", bytes, b"]}"].concat(), "application/x-ipynb+json");
});
