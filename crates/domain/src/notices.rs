//! Sentences beside an answer where it is shown as text: on the command line and to chat clients.

use crate::spelling::Correction;

/// Leads in passages that are given instead of an answer.
pub const PASSAGES: &str = "No sentence of these documents surely answers this. They say about it:";

/// Opens an abstention.
pub const NO_ANSWER: &str = "There is no answer in these documents.";

/// Most passages that an abstention shows.
pub const MOST_CLOSEST: usize = 3;
/// Longest beginning of such a passage, in characters.
const LONGEST_BEGINNING: usize = 160;
/// Stands behind the cells of a row.
const CELLS_END: &str = ";";

/// Says how a word of the question was read.
#[must_use]
pub fn read_as(Correction { from, to }: &Correction) -> String {
    format!("Read \"{from}\" as \"{to}\".")
}

/// Says which parts of the question have no answer, one sentence each; a part that the answer itself names is left out.
pub fn unanswered<'a>(answer: &str, missing: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let answer = answer.to_lowercase();
    let is_told = |part: &str| answer.contains(part.trim_end_matches(['?', '.']).to_lowercase().as_str());
    let untold = missing.into_iter().filter(|part| !is_told(part));
    untold.map(|part| format!("These documents do not answer: {part}")).collect()
}

/// Names the words of the question that no document holds; `None` if there are none.
#[must_use]
pub fn unknown<S: AsRef<str>>(words: &[S]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    (!words.is_empty()).then(|| format!("No document holds: {}", words.join(", ")))
}

/// The beginning of a passage on one line, without the heading that it is named by and the marks of headings and tables.
#[must_use]
pub fn beginning(text: &str) -> String {
    let shown = text.split_once('\n').filter(|(first, rest)| is_heading(first) && begins_with_blank_line(rest));
    let lines = shown.map_or(text, |(_, rest)| rest).lines().filter_map(plain).collect::<Vec<_>>().join(" ");
    let line = lines.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches(CELLS_END);
    let words: String = line.chars().take(LONGEST_BEGINNING).collect();
    if words.len() == line.len() { words } else { format!("{}…", words.trim_end()) }
}

/// Whether the line is a heading of Markdown.
fn is_heading(line: &str) -> bool {
    let words = line.trim_start_matches('#');
    words.len() < line.len() && (words.is_empty() || words.starts_with(' '))
}

/// Whether a blank line comes first, with more behind it: comments of settings, which begin with `#` too, have none.
fn begins_with_blank_line(text: &str) -> bool {
    text.split_once('\n').is_some_and(|(first, rest)| first.trim().is_empty() && !rest.trim().is_empty())
}

/// The words of a line; `None` of the line below the header of a table.
fn plain(line: &str) -> Option<String> {
    let line = line.trim();
    let Some(row) = line.strip_prefix('|').and_then(|row| row.strip_suffix('|')) else {
        return Some(if is_heading(line) { line.trim_start_matches('#').to_owned() } else { line.to_owned() });
    };
    let is_rule = row.chars().all(|character| matches!(character, '|' | '-' | ':' | ' '));
    let cells: Vec<&str> = row.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
    (!is_rule).then(|| cells.join(" · ") + CELLS_END)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_the_answer_names_is_not_said_again() {
        let answer = "28 days. The sources do not say who repairs laptops.";
        let missing = ["Who repairs laptops?", "Why?"];
        assert_eq!(unanswered(answer, missing), ["These documents do not answer: Why?"]);
    }

    #[test]
    fn words_that_are_unknown_are_listed() {
        assert_eq!(unknown(&["rsync", "nginx"]).as_deref(), Some("No document holds: rsync, nginx"));
        assert_eq!(unknown::<&str>(&[]), None);
    }

    #[test]
    fn a_beginning_is_one_line() {
        assert_eq!(beginning("Doors\n open   inwards. "), "Doors open inwards.");
        assert_eq!(beginning(&"ä".repeat(500)).chars().count(), LONGEST_BEGINNING + 1);
    }

    #[test]
    fn a_beginning_has_no_marks_of_markdown() {
        for (text, shown) in [
            ("# Doors\n\nThey open inwards.", "They open inwards."),
            ("## Doors\r\n\r\nThey open inwards.\n\n### Locks\n\nNone.", "They open inwards. Locks None."),
            ("# Doors", "Doors"),
            ("# The backlog.\n#\n# In busy places\nbacklog 511", "The backlog. In busy places backlog 511"),
            ("#!/bin/sh\n\ndate", "#!/bin/sh date"),
            ("| leave | pay |\n|:---|---|\n| Birth | 26 weeks |\n\nAsk.", "leave · pay; Birth · 26 weeks; Ask."),
            ("| leave | pay |\n| Birth | 26 weeks |", "leave · pay; Birth · 26 weeks"),
            ("a | b", "a | b"),
        ] {
            assert_eq!(beginning(text), shown);
        }
    }
}
