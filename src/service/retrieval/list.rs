//! Lists that are cut into chunks: steps, and items with what belongs to them. A paragraph with its code is a step, too.

use super::whole::begins_with_row;
use crate::domain::markdown::is_fence;

/// Spaces at the beginning of a line from which on it belongs to the item above it.
const INDENT: usize = 2;

/// Whether a list may go on behind a text: it ends with an item, with what belongs to one, or with words that announce one.
pub(super) fn goes_on_at_end(text: &str) -> bool {
    let text = text.trim_end();
    let own = text.lines().rev().find(|line| !line.trim().is_empty() && !is_indented(line));
    text.ends_with(':') || own.is_some_and(is_item)
}

/// Whether a text ends with code, after which its section may go on with the next step.
pub(super) fn ends_with_code(text: &str) -> bool {
    text.trim_end().lines().next_back().is_some_and(is_fence)
}

/// Whether a text may go on with what was announced before it: it begins with an item, in the midst of one, with code, or with a
/// table.
pub(super) fn goes_on_at_beginning(text: &str) -> bool {
    let Some(line) = text.lines().find(|line| !line.trim().is_empty()) else { return false };
    let is_midway = line.trim_start().starts_with(|first: char| first.is_lowercase());
    is_item(line) || is_indented(line) || is_midway || is_fence(line) || begins_with_row(line)
}

fn is_indented(line: &str) -> bool {
    line.starts_with('\t') || line.len() - line.trim_start_matches(' ').len() >= INDENT
}

/// Whether a line begins an item: "- ", "* ", "3. ", "3) ".
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let is_numbered = numbered.len() < line.len() && [". ", ") "].iter().any(|sign| numbered.starts_with(sign));
    is_numbered || ["- ", "* ", "+ ", "• "].iter().any(|sign| line.starts_with(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_ends_a_step() {
        assert!(ends_with_code("Update the tree:\n\n```sh\ngit fetch\n```\n"));
        assert!(!ends_with_code("```sh\ngit fetch\n```\n\nThat is all."));
    }

    #[test]
    fn lists_go_on_where_items_stand() {
        let rows = [
            ("To land it:\n\n1. Fetch.\n2. Merge,\n   then look.", false, true),
            ("3. Push.\n\nThat is all.", true, false),
            ("* Tier 2 - Must work\n  on `main`.", true, true),
            ("then look once more.\n4. Push.", true, true),
            ("```sh\ngit push\n```", true, false),
            ("Run this:", false, true),
            ("| a | b |\n|---|---|\n| 1 | 2 |", true, false),
            ("A paragraph. Another one.", false, false),
            ("1.8 was released in May.", false, false),
            ("2024\n", false, false),
            ("", false, false),
        ];
        for (text, beginning, end) in rows {
            assert_eq!((goes_on_at_beginning(text), goes_on_at_end(text)), (beginning, end), "{text}");
        }
    }
}
