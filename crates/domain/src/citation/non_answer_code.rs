//! The code by which a model says that the sources do not answer the question. It is the same in every language.

use crate::reply_code::{Begun, begins, is_word};

/// The code. No document and no answer holds it by chance.
pub const NON_ANSWER: &str = "NOT_IN_SOURCES";

/// The code in a text, or what may become it when the text goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundCode {
    /// Where it begins, in bytes. Zero if nothing but quotes, blanks and the opening of a fence stands before it.
    pub start: usize,
    /// Whether it is complete.
    pub is_complete: bool,
}

/// Whether a text holds the code: whatever stands around it, the model says that the sources do not answer.
#[must_use]
pub fn declines(text: &str) -> bool {
    find(text).is_some_and(|found| found.is_complete)
}

/// The first code in a text, or the beginning of one at its end. The case of letters does not matter, nor do the
/// backslashes that Markdown puts before underscores.
#[must_use]
pub fn find(text: &str) -> Option<FoundCode> {
    find_from(text, 0)
}

/// The same in a text that has grown: `searched` bytes of it were searched before, without a result.
#[must_use]
pub fn find_from(text: &str, searched: usize) -> Option<FoundCode> {
    let (known, new) = text.split_at_checked(searched)?;
    let mut is_in_word = known.chars().next_back().is_some_and(is_word);
    for (at, sign) in new.char_indices() {
        let start = known.len() + at;
        if !is_in_word && let Some(begun) = begins(NON_ANSWER, text.get(start..).unwrap_or_default()) {
            let before = text.get(..start).unwrap_or_default();
            let is_complete = matches!(begun, Begun::Whole { .. });
            return Some(FoundCode { start: if is_only_dressing(before) { 0 } else { start }, is_complete });
        }
        is_in_word = is_word(sign);
    }
    None
}

/// Whether a text says nothing: signs, blanks, and the opening of a fence with the name of its language.
fn is_only_dressing(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("```").and_then(|fence| fence.split_once('\n')).map_or(text, |(_, rest)| rest);
    !text.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_code_is_found_in_whatever_it_is_dressed() {
        for text in [
            "NOT_IN_SOURCES",
            " NOT_IN_SOURCES.\n",
            "\"NOT_IN_SOURCES\"",
            "«NOT_IN_SOURCES»",
            "`NOT_IN_SOURCES`",
            "**NOT_IN_SOURCES**",
            "NOT\\_IN\\_SOURCES",
            "not_in_sources",
            "```\nNOT_IN_SOURCES\n```",
            "```text\nNOT_IN_SOURCES\n```",
            "NOT_IN_SOURCES [^1]",
            "NOT_IN_SOURCES: the sources are about leave.",
        ] {
            assert_eq!(find(text).map(|found| found.is_complete), Some(true), "{text}");
            assert_eq!(find(text).map(|found| found.start > 0), Some(false), "{text}");
            assert!(declines(text), "{text}");
        }
        assert_eq!(find("It opens in May. NOT_IN_SOURCES").map(|found| found.start), Some(17));
    }

    #[test]
    fn other_words_are_not_it() {
        for text in ["", "Not in these.", "NOT_IN", "NOT_IN_SOURCES_2", "XNOT_IN_SOURCES", "no", "Oslo"] {
            assert!(!declines(text), "{text}");
        }
    }

    proptest! {
        /// However a reply is cut, no piece of the code is taken for words.
        #[test]
        fn a_beginning_of_the_code_is_held_back(length in 1..NON_ANSWER.len(), before in "(It opens in May\\. |\"|```\n)?") {
            let text = format!("{before}{}", NON_ANSWER.get(..length).expect("a prefix"));
            let found = find(&text).expect("held back");
            prop_assert!(!found.is_complete);
            prop_assert!(found.start <= before.len());
        }

        /// A text that grows is searched as if it were searched whole each time.
        #[test]
        fn a_growing_text_is_searched_once(pieces in prop::collection::vec("[a_ .\\\\]{0,4}|NOT_IN|_SOUR|CES|\"", 0..12)) {
            let (mut text, mut searched) = (String::new(), 0);
            for piece in pieces {
                text.push_str(&piece);
                let found = find_from(&text, searched);
                prop_assert_eq!(found, find(&text), "{}", text);
                if found.is_none() {
                    searched = text.len();
                }
            }
        }

        #[test]
        fn any_text_is_searched(text in any::<String>()) {
            if let Some(found) = find(&text) {
                prop_assert!(text.is_char_boundary(found.start));
            }
        }
    }
}
