//! Words that a collection writes otherwise than the question: a typing error, an abbreviation, a compound, a fiscal year.
//!
//! Only words that no chunk holds are compared so: a word that is there is what it says, and the others of a passage need
//! not be looked at.

use unicode_segmentation::UnicodeSegmentation;

use crate::asked_part::fiscal_year;

/// Shortest word, in characters, of which another spelling can be told from another word.
const SHORTEST: usize = 5;
/// Shortest word, in characters, that may be written as two: "wifi" as "Wi-Fi", but not "dd" as "d d".
const SHORTEST_COMPOUND: usize = 4;
/// Shortest word in which two letters may differ.
const SHORTEST_OF_TWO_ERRORS: usize = 9;

/// Calls `visit` with the position of each of the `wanted` words that `text` holds in another spelling. They are in
/// lower case.
pub(super) fn for_each_resembled<'w>(
    wanted: &(impl Iterator<Item = (usize, &'w str)> + Clone),
    text: &str,
    mut visit: impl FnMut(usize),
) {
    let mut before = String::new();
    for word in text.unicode_words() {
        let word = word.to_lowercase();
        let compound = format!("{before}{word}");
        for (position, asked) in wanted.clone() {
            let is_compound = !before.is_empty() && asked == compound && asked.chars().count() >= SHORTEST_COMPOUND;
            // Where a word itself stands, the analyzer decides: "C" is not in "C#".
            if is_compound || (asked != word && resembles(asked, &word)) {
                visit(position);
            }
        }
        before = word;
    }
}

/// Whether two words in lower case may be one. No word resembles itself less than another.
fn resembles(asked: &str, word: &str) -> bool {
    if asked == word || fiscal_year(asked).is_some_and(|year| year == word) {
        return true;
    }
    let shorter = asked.chars().count().min(word.chars().count());
    let has_digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    if shorter < SHORTEST || has_digit(asked) || has_digit(word) {
        return false;
    }
    // `queue_size` is no other form of "queue".
    if (asked.starts_with(word) || word.starts_with(asked)) && !asked.contains('_') {
        return true;
    }
    let most = if shorter < SHORTEST_OF_TWO_ERRORS { 1 } else { 2 };
    errors(asked, word, Limits { shortest: SHORTEST, most }).is_some()
}

/// How near two words must be for one to be a misspelt form of the other.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The fewest characters of either.
    pub(crate) shortest: usize,
    /// The most letters in which they differ.
    pub(crate) most: usize,
}

/// The letters in which two words differ, if they begin with the same one and are within the limits.
pub(crate) fn errors(one: &str, other: &str, limits: Limits) -> Option<usize> {
    // The first letter is seldom mistyped, and rules out most words.
    if one.chars().next() != other.chars().next() {
        return None;
    }
    let (length, other_length) = (one.chars().count(), other.chars().count());
    let are_near = length.min(other_length) >= limits.shortest && length.abs_diff(other_length) <= limits.most;
    are_near.then(|| strsim::osa_distance(one, other)).filter(|errors| *errors <= limits.most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_resemble_and_other_words_do_not() {
        for (asked, word) in [
            ("vaccation", "vacation"),
            ("recieve", "receive"),
            ("reimbursment", "reimbursement"),
            ("reimbursmnet", "reimbursement"),
            ("admin", "administrator"),
            ("configuration", "config"),
            ("fy2019", "2019"),
            ("fy19", "2019"),
            ("über", "über"),
        ] {
            assert!(resembles(asked, word), "{asked} {word}");
        }
        for (asked, word) in [
            ("cat", "cats"),
            ("house", "mouse"),
            ("vacation", "vocational"),
            ("fy2019", "2018"),
            ("v10001", "v10002"),
            ("oxygen", "octagon"),
            ("", "word"),
        ] {
            assert!(!resembles(asked, word), "{asked} {word}");
        }
    }

    #[test]
    fn parts_that_stand_side_by_side_are_a_compound() {
        let found = |text: &str| {
            let mut found = Vec::new();
            let wanted = [(3, "onboarding"), (5, "payslip"), (7, "wifi"), (8, "dd")];
            for_each_resembled(&wanted.into_iter(), text, |position| found.push(position));
            found
        };
        assert_eq!(found("On boarding and pay slips, on and boarding."), [3]);
        assert_eq!(found("The pay slip"), [5]);
        assert_eq!(found("Wi-Fi, d d"), [7], "two letters side by side are no word");
        assert_eq!(found("payslip# dd#"), Vec::<usize>::new(), "a word is no other spelling of itself");
        assert_eq!(found(""), Vec::<usize>::new());
    }
}
