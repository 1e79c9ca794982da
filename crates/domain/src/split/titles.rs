//! Paragraphs of Markdown that are bold as a whole and head the text below them.

use super::outline::Heading;
use crate::markdown::{Leaf, LeafKind, is_bold};
use crate::wording::start_of_line;

/// Longest such title, in characters and in words: an emphasised sentence is longer.
const LONGEST: usize = 60;
const MOST_WORDS: usize = 8;

/// Words over remarks, which tell nothing about them, in lower case.
const REMARKS: [&str; 16] = [
    "attention",
    "caution",
    "danger",
    "example",
    "examples",
    "hint",
    "hinweis",
    "important",
    "info",
    "note",
    "notes",
    "remarque",
    "tip",
    "tips",
    "warning",
    "wichtig",
];

/// Level of such a title: under the headings of the syntax, above questions.
const LEVEL: u8 = 8;

/// The titles in Markdown text that has these leaves, in order: each directly above text, code or a table.
pub(super) fn in_bold(text: &str, leaves: &[Leaf]) -> Vec<Heading> {
    let below = leaves.iter().skip(1).map(Some).chain([None]);
    let titles = leaves.iter().zip(below).filter_map(|(leaf, below)| {
        let heading = title(text, leaf)?;
        let is_over_text = below.is_some_and(|below| {
            let is_text = matches!(below.kind, LeafKind::Text | LeafKind::Fence | LeafKind::Table);
            is_text && below.has_words && title(text, below).is_none()
        });
        is_over_text.then_some(heading)
    });
    titles.collect()
}

/// The title that a paragraph is, if it may be one.
fn title(text: &str, leaf: &Leaf) -> Option<Heading> {
    let words = text.get(leaf.bytes.clone())?.trim_end();
    let is_line =
        leaf.kind == LeafKind::Text && !leaf.is_nested && start_of_line(text, leaf.bytes.start) == leaf.bytes.start;
    if !is_line || words.contains('\n') || !is_bold(words) {
        return None;
    }
    let title = words.trim_matches(['*', '_']).trim();
    let is_sentence = title.ends_with(['.', ',', ';', '!', '…', '。', '！']);
    let named = title.trim_end_matches([':', '：']).trim_end();
    (is_short(title) && !is_sentence && !is_remark(named) && named.contains(char::is_alphanumeric)).then(|| Heading {
        bytes: leaf.bytes.start..leaf.bytes.start + words.len(),
        level: LEVEL,
        text: named.to_owned(),
    })
}

/// Whether words in bold are few enough for a title.
pub(super) fn is_short(title: &str) -> bool {
    title.chars().count() <= LONGEST && title.split_whitespace().count() <= MOST_WORDS
}

/// Whether a title tells only that a remark follows.
pub(super) fn is_remark(title: &str) -> bool {
    REMARKS.contains(&title.to_lowercase().as_str())
}
