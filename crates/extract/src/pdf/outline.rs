//! Bookmarks (ISO 32000-2, 12.3.3): the titles of sections, with their levels.

use std::collections::HashMap;

use hayro_interpret::hayro_syntax::{
    Pdf,
    object::{Dict, String as PdfString},
};

use super::text_of;

/// Most bookmarks that are read; a loop of them has no end.
const MOST: usize = 10_000;
/// Deepest level.
const DEEPEST: u8 = 9;

/// Levels of sections by title.
#[derive(Debug, Default)]
pub(super) struct Outline(HashMap<String, u8>);

impl Outline {
    /// The bookmarks of a document.
    pub(super) fn of(pdf: &Pdf) -> Self {
        let xref = pdf.xref();
        let root = xref.get::<Dict<'_>>(xref.root_id());
        let first = root.and_then(|root| root.get::<Dict<'_>>("Outlines")?.get::<Dict<'_>>("First"));
        let mut levels = HashMap::new();
        let mut open: Vec<(Dict<'_>, u8)> = first.into_iter().map(|first| (first, 1)).collect();
        let mut left = MOST;
        while let Some((item, level)) = open.pop().filter(|_| left > 0) {
            left -= 1;
            if let Some(title) = item.get::<PdfString<'_>>("Title").and_then(|title| text_of(title.as_bytes())) {
                levels.entry(key_of(&title)).or_insert(level);
            }
            open.extend(item.get::<Dict<'_>>("Next").map(|next| (next, level)));
            open.extend(item.get::<Dict<'_>>("First").map(|below| (below, level.saturating_add(1).min(DEEPEST))));
        }
        levels.remove("");
        Self(levels)
    }

    /// The level of the section that has this title.
    pub(super) fn level_of(&self, text: &str) -> Option<u8> {
        if self.0.is_empty() { None } else { self.0.get(&key_of(text)).copied() }
    }
}

/// A title by its letters and digits, without the number of the section, which bookmarks may leave out.
fn key_of(title: &str) -> String {
    let title = title.trim_start_matches(|character: char| !character.is_alphabetic());
    letters(title)
}

/// The letters and digits of a text, in lower case.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::test_file, *};

    fn pdf(objects: &[&str]) -> Pdf {
        Pdf::new(test_file::of_objects(objects)).expect("a PDF")
    }

    const PAGES: &str = "<</Type/Pages/Kids[3 0 R]/Count 1>>";
    const PAGE: &str = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>";

    #[test]
    fn titles_have_levels() {
        let outline = Outline::of(&pdf(&[
            "<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>",
            PAGES,
            PAGE,
            "<</First 5 0 R>>",
            "<</Title(1 Leave)/First 6 0 R/Next 7 0 R>>",
            "<</Title(Carrying over)>>",
            "<</Title<FEFF004B007200610 06E006B>/Next 5 0 R>>",
        ]));
        let level = |text: &str| outline.level_of(text);
        assert_eq!((level("2. LEAVE"), level("Carrying  over"), level("Krank")), (Some(1), Some(2), Some(1)));
        assert_eq!((level("Leave of absence"), level("1"), level("")), (None, None, None));
    }

    #[test]
    fn a_document_without_bookmarks_has_no_titles() {
        let outline = Outline::of(&pdf(&["<</Type/Catalog/Pages 2 0 R>>", PAGES, PAGE]));
        assert_eq!(outline.level_of("Leave"), None);
    }
}
