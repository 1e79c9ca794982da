//! PDF files for the tests of the rooms around.

use std::fmt::Write;

/// A PDF of these objects, from number 1 on; the first is the catalogue.
pub(super) fn of_objects(objects: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<u8> {
    let mut file = "%PDF-1.7\n".to_owned();
    for (number, object) in (1..).zip(objects) {
        let _ = write!(file, "{number} 0 obj\n{}\nendobj\n", object.as_ref());
    }
    file.push_str("trailer <</Root 1 0 R>>");
    file.into_bytes()
}

/// An object that holds this content of a page.
pub(super) fn stream(content: &str) -> String {
    format!("<</Length {}>>\nstream\n{content}\nendstream", content.len())
}
