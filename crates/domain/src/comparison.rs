//! How a passage reads in a newer version of its document: the part that took its place, and the words that differ.

use std::collections::HashSet;

use similar::{ChangeTag, TextDiff};
use unicode_segmentation::UnicodeSegmentation;

/// Share of words in common below which no part of a text is the successor of a passage.
const MIN_IN_COMMON: f64 = 0.2;

/// A stretch of one of two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The words, with the space between them.
    pub text: String,
    /// Whether the other text lacks them.
    pub is_changed: bool,
}

/// Two texts, each cut where they begin or cease to agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The earlier text, whole.
    pub before: Vec<Stretch>,
    /// The later text, whole.
    pub after: Vec<Stretch>,
}

/// Compares two texts word by word.
#[must_use]
pub fn compare(before: &str, after: &str) -> Comparison {
    let diff = TextDiff::from_words(before, after);
    let mut comparison = Comparison::default();
    for change in diff.iter_all_changes() {
        let is_changed = change.tag() != ChangeTag::Equal;
        if change.tag() != ChangeTag::Insert {
            append(&mut comparison.before, change.value(), is_changed);
        }
        if change.tag() != ChangeTag::Delete {
            append(&mut comparison.after, change.value(), is_changed);
        }
    }
    comparison
}

fn append(stretches: &mut Vec<Stretch>, text: &str, is_changed: bool) {
    match stretches.last_mut() {
        Some(last) if last.is_changed == is_changed => last.text.push_str(text),
        _ => stretches.push(Stretch { text: text.to_owned(), is_changed }),
    }
}

/// The part of `text` that says most of what `passage` says: as many paragraphs as the passage has, the first of the
/// best. `None` if hardly a word agrees.
#[must_use]
pub fn successor<'a>(passage: &str, text: &'a str) -> Option<&'a str> {
    let sought = words(passage);
    let paragraphs = paragraphs(text);
    let length = self::paragraphs(passage).len().clamp(1, paragraphs.len().max(1));
    let best = paragraphs
        .windows(length)
        .filter_map(|window| {
            let (first, last) = (window.first()?, window.last()?);
            text.get(first.0..last.1).map(|part| (in_common(&sought, &words(part)), part))
        })
        .rev()
        .max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best.0 >= MIN_IN_COMMON).then_some(best.1)
}

/// Ranges of the paragraphs, in bytes.
fn paragraphs(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    for paragraph in text.split_inclusive("\n\n") {
        let end = start + paragraph.len();
        if !paragraph.trim().is_empty() {
            found.push((start, start + paragraph.trim_end().len()));
        }
        start = end;
    }
    found
}

fn words(text: &str) -> HashSet<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

/// Dice's coefficient: 1 for the same words, 0 for none in common.
fn in_common(one: &HashSet<String>, other: &HashSet<String>) -> f64 {
    let shared = u32::try_from(one.intersection(other).count()).unwrap_or(u32::MAX);
    let total = u32::try_from(one.len() + other.len()).unwrap_or(u32::MAX);
    if total == 0 { 0.0 } else { 2.0 * f64::from(shared) / f64::from(total) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(stretches: &[Stretch]) -> String {
        stretches.iter().map(|stretch| stretch.text.as_str()).collect()
    }

    fn changed(stretches: &[Stretch]) -> Vec<&str> {
        stretches.iter().filter(|stretch| stretch.is_changed).map(|stretch| stretch.text.as_str()).collect()
    }

    #[test]
    fn what_differs_is_told_by_words() {
        let found = compare("Everyone has 28 days of leave a year.", "Everyone has 30 days of paid leave a year.");
        assert_eq!(changed(&found.before), ["28"]);
        assert_eq!(changed(&found.after), ["30", "paid "]);
        assert_eq!(changed(&compare("The same.", "The same.").after), Vec::<&str>::new());
        assert_eq!(compare("", ""), Comparison::default());
    }

    #[test]
    fn the_successor_is_the_part_that_says_most_of_it() {
        let text =
            "# News\n\nMuch is new here.\n\n# Leave\n\nEveryone has 30 days of paid leave a year.\n\n# Sick\n\nCall.";
        let found = successor("Everyone has 28 days of paid leave a year.", text);
        assert_eq!(found, Some("Everyone has 30 days of paid leave a year."));
        let found = successor("# Leave\n\nEveryone has 28 days of paid leave a year.\n\n", text);
        assert_eq!(found, Some("# Leave\n\nEveryone has 30 days of paid leave a year."));
    }

    #[test]
    fn of_what_is_no_longer_spoken_of_there_is_no_successor() {
        for text in ["", "\n\n", "Bicycles stand in the yard.\n\nKeys hang beside the door."] {
            assert_eq!(successor("Everyone has 28 days of paid leave.", text), None, "{text:?}");
        }
        assert_eq!(successor("", "Something."), None);
    }

    proptest! {
        #[test]
        fn both_texts_stay_whole(before in "[a-d \n]{0,60}", after in "[a-d \n]{0,60}") {
            let found = compare(&before, &after);
            prop_assert_eq!(whole(&found.before), before);
            prop_assert_eq!(whole(&found.after), after);
        }

        #[test]
        fn a_successor_is_a_part_of_the_text(passage in "\\PC{0,40}", text in "(\\PC{0,10}\n{0,3}){0,8}") {
            if let Some(part) = successor(&passage, &text) {
                prop_assert!(text.contains(part));
            }
        }
    }
}
