//! The content of a workbook in ODF.
#![no_main]

use cited_fuzz::Package;
use libfuzzer_sys::fuzz_target;

const CONTENT: Package = Package {
    part: "content.xml",
    sample: "<office:document-content xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0' xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0'><office:body><office:spreadsheet><table:table table:name='Sheet'><table:table-row><table:table-cell office:value-type='string'><text:p>Words</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>",
    others: &[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", "<manifest/>"),
    ],
};

fuzz_target!(
    init: {
        CONTENT.assert_is_read();
    },
    |bytes: &[u8]| {
        CONTENT.check(bytes);
    }
);
