//! The package document of a book, and its chapter.
#![no_main]

use cited_fuzz::check_part;
use libfuzzer_sys::fuzz_target;

const CONTAINER: &str = "<container><rootfile full-path='p.opf'/></container>";
const PACKAGE: &str = "<package><item id='c' href='c.xhtml' media-type='application/xhtml+xml'/><itemref idref='c'/></package>";

fuzz_target!(|bytes: &[u8]| {
    check_part("p.opf", bytes, &[("META-INF/container.xml", CONTAINER), ("c.xhtml", "<h1>Words</h1>")], "application/octet-stream");
    check_part("c.xhtml", bytes, &[("META-INF/container.xml", CONTAINER), ("p.opf", PACKAGE)], "application/octet-stream");
});
