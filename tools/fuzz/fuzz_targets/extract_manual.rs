//! Sources of manual pages.
#![no_main]

use cited_fuzz::check_extraction;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check_extraction(&[b".TH A 1\n", bytes].concat(), "text/troff");
    check_extraction(&[b".Dd May 1, 2026\n.Dt A 1\n.Os\n", bytes].concat(), "text/troff");
});
