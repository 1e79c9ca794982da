//! Splits arbitrary text with every splitter; the laws must hold at any size and overlap.
#![no_main]

use cited_fuzz::check_split;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &str)| {
    let (size, overlap, text) = input;
    check_split(text, usize::from(size), usize::from(overlap));
});
