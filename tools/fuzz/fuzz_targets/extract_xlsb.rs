//! The parts of a binary workbook.
#![no_main]

use cited_fuzz::Sample;
use libfuzzer_sys::fuzz_target;

const BOOK: Sample = Sample {
    file: include_bytes!("../../../tests/corpus/files/staff.xlsb"),
    parts: &[
        "xl/worksheets/sheet1.bin",
        "xl/workbook.bin",
        "xl/styles.bin",
    ],
};

fuzz_target!(
    init: {
        BOOK.assert_is_read();
    },
    |bytes: &[u8]| {
        BOOK.check(bytes);
    }
);
