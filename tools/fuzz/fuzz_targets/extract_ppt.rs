//! The streams of slides of PowerPoint before 2007.
#![no_main]

use cited_fuzz::Sample;
use libfuzzer_sys::fuzz_target;

const SLIDES: Sample = Sample {
    file: include_bytes!("../../../tests/corpus/files/leave.ppt"),
    parts: &[
        "/PowerPoint Document",
        "/Current User",
    ],
};

fuzz_target!(
    init: {
        SLIDES.assert_is_read();
    },
    |bytes: &[u8]| {
        SLIDES.check(bytes);
    }
);
