//! The content of slides in ODF.
#![no_main]

use cited_fuzz::Package;
use libfuzzer_sys::fuzz_target;

const CONTENT: Package = Package {
    part: "content.xml",
    sample: "<office:document-content xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0' xmlns:draw='urn:oasis:names:tc:opendocument:xmlns:drawing:1.0' xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0'><office:body><office:presentation><draw:page><draw:frame><draw:text-box><text:p>Words</text:p></draw:text-box></draw:frame></draw:page></office:presentation></office:body></office:document-content>",
    others: &[("mimetype", "application/vnd.oasis.opendocument.presentation")],
};

fuzz_target!(
    init: {
        CONTENT.assert_is_read();
    },
    |bytes: &[u8]| {
        CONTENT.check(bytes);
    }
);
