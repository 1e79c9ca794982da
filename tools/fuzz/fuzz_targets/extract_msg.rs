//! The properties of a message of Outlook: those of fixed length, its text as such, as compressed RTF and as HTML, and those of an
//! attachment.
#![no_main]

use cited_fuzz::Sample;
use libfuzzer_sys::fuzz_target;

const MESSAGE: Sample = Sample {
    file: include_bytes!("../../../tests/corpus/files/leave.msg"),
    parts: &[
        "/__properties_version1.0",
        "/__substg1.0_1000001F",
        "/__substg1.0_10090102",
        "/__substg1.0_10130102",
        "/__attach_version1.0_#00000000/__properties_version1.0",
        "/__attach_version1.0_#00000000/__substg1.0_37010102",
    ],
};

fuzz_target!(
    init: {
        MESSAGE.assert_is_read();
    },
    |bytes: &[u8]| {
        MESSAGE.check(bytes);
    }
);
