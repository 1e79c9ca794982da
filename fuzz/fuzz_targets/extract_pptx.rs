//! A slide.
#![no_main]

use cited_fuzz::check_part;
use libfuzzer_sys::fuzz_target;

const PRESENTATION: &str = "<p:presentation><p:sldIdLst><p:sldId r:id='s'/></p:sldIdLst></p:presentation>";
const RELATIONS: &str = "<R><Relationship Id='s' Target='slides/s.xml'/></R>";

fuzz_target!(|bytes: &[u8]| {
    check_part("ppt/slides/s.xml", bytes, &[("ppt/presentation.xml", PRESENTATION), ("ppt/_rels/presentation.xml.rels", RELATIONS)], "application/octet-stream");
});
