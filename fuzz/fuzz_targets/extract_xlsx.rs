//! A sheet of a workbook.
#![no_main]

use cited_fuzz::check_part;
use libfuzzer_sys::fuzz_target;

const WORKBOOK: &str = "<workbook><sheets><sheet name='Sheet' sheetId='1' r:id='s'/></sheets></workbook>";
const RELATIONS: &str = "<Relationships><Relationship Id='s' Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet' Target='worksheets/s.xml'/></Relationships>";

fuzz_target!(|bytes: &[u8]| {
    check_part("xl/worksheets/s.xml", bytes, &[("xl/workbook.xml", WORKBOOK), ("xl/_rels/workbook.xml.rels", RELATIONS)], "application/octet-stream");
});
