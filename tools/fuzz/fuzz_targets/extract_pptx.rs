//! A slide.
#![no_main]

use cited_fuzz::Package;
use libfuzzer_sys::fuzz_target;

const SLIDE: Package = Package {
    part: "ppt/slides/s.xml",
    sample: "<p:sld><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>Words</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>",
    others: &[
        ("ppt/presentation.xml", "<p:presentation><p:sldIdLst><p:sldId r:id='s'/></p:sldIdLst></p:presentation>"),
        ("ppt/_rels/presentation.xml.rels", "<R><Relationship Id='s' Target='slides/s.xml'/></R>"),
    ],
};

fuzz_target!(
    init: {
        SLIDE.assert_is_read();
    },
    |bytes: &[u8]| {
        SLIDE.check(bytes);
    }
);
