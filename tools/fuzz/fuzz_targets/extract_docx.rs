//! The text of a word processor's document.
#![no_main]

use cited_fuzz::Package;
use libfuzzer_sys::fuzz_target;

const DOCUMENT: Package = Package {
    part: "word/document.xml",
    sample: "<w:document><w:body><w:p><w:r><w:t>Words</w:t></w:r></w:p></w:body></w:document>",
    others: &[(
        "word/styles.xml",
        "<w:styles><w:style w:styleId='H'><w:name w:val='heading 1'/></w:style></w:styles>",
    )],
};

fuzz_target!(
    init: {
        DOCUMENT.assert_is_read();
    },
    |bytes: &[u8]| {
        DOCUMENT.check(bytes);
    }
);
