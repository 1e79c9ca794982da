//! The package document of a book, and its chapter.
#![no_main]

use cited_fuzz::Package;
use libfuzzer_sys::fuzz_target;

const CONTAINER: (&str, &str) = ("META-INF/container.xml", "<container><rootfile full-path='p.opf'/></container>");
const PACKAGE: &str = "<package><item id='c' href='c.xhtml' media-type='application/xhtml+xml'/><itemref idref='c'/></package>";
const CHAPTER: &str = "<h1>Words</h1>";

const BOOK: Package = Package { part: "p.opf", sample: PACKAGE, others: &[CONTAINER, ("c.xhtml", CHAPTER)] };
const PAGES: Package = Package { part: "c.xhtml", sample: CHAPTER, others: &[CONTAINER, ("p.opf", PACKAGE)] };

fuzz_target!(
    init: {
        BOOK.assert_is_read();
        PAGES.assert_is_read();
    },
    |bytes: &[u8]| {
        BOOK.check(bytes);
        PAGES.check(bytes);
    }
);
