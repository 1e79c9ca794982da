//! A sheet of a workbook.
#![no_main]

use cited_fuzz::Package;
use libfuzzer_sys::fuzz_target;

const SHEET: Package = Package {
    part: "xl/worksheets/s.xml",
    sample: "<worksheet><sheetData><row r='1'><c r='A1' t='str'><v>Words</v></c></row></sheetData></worksheet>",
    others: &[
        (
            "_rels/.rels",
            "<Relationships><Relationship Id='b' Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument' Target='xl/workbook.xml'/></Relationships>",
        ),
        ("xl/workbook.xml", "<workbook><sheets><sheet name='Sheet' sheetId='1' r:id='s'/></sheets></workbook>"),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships><Relationship Id='s' Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet' Target='worksheets/s.xml'/></Relationships>",
        ),
    ],
};

fuzz_target!(
    init: {
        SHEET.assert_is_read();
    },
    |bytes: &[u8]| {
        SHEET.check(bytes);
    }
);
