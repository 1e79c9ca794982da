//! Properties of everything that is extracted, whatever the input. The fuzz targets check them too.

use extract::{Extracted, MAX_TEXT_BYTES};

/// Checks what came of a document that was read.
pub(crate) fn assert_sound(extracted: &Extracted) {
    let Extracted { text, headings, pages, .. } = extracted;
    assert!(!text.trim().is_empty() && text.len() <= MAX_TEXT_BYTES && !text.contains('\0'));
    let mut end = 0;
    for heading in headings {
        assert!(heading.bytes.start >= end && text.get(heading.bytes.clone()).is_some(), "{heading:?}");
        end = heading.bytes.end;
    }
    assert!(pages.count() == 0 || pages.page_at(text.len() - 1).is_some());
}
