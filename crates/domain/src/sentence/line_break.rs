//! Line ends inside a paragraph: wrapped lines, or separate lines.

use crate::wording::{next_column, start_of_line};

/// Paragraphs narrower than this (bytes) are lists of short lines, not wrapped prose.
const NARROWEST_WRAP: usize = 32;

/// Words that never end a separate line.
const LEADING_ON: [&str; 20] = [
    "a", "an", "and", "as", "at", "by", "for", "from", "his", "in", "is", "its", "of", "on", "or", "that", "the", "to",
    "was", "with",
];

/// Blanks between the columns of a list.
const GAP: usize = 2;

/// Longest name in the first column of a list, in bytes.
const LONGEST_ENTRY: usize = 48;

/// What the text of an item of a list ends with.
const ENDS_OF_ITEMS: [char; 5] = ['.', '!', '?', ':', ';'];

/// Words and signs before the number of a section.
const SECTIONS: [&str; 9] = ["§", "Art.", "Article ", "Artikel ", "Section ", "Clause ", "Rule ", "No.", "Nr."];

/// Words after the number of a section that is only referred to.
const REFERENCES: [&str; 3] = ["Abs", "Satz", "Nr"];

/// Longest label of a line, in bytes and in words.
const LONGEST_LABEL: usize = 30;
const LABEL_WORDS: usize = 3;

/// The layout of a paragraph's lines.
pub(super) struct LineBreaks {
    widest: usize,
}

impl LineBreaks {
    pub(super) fn of(paragraph: &str) -> Self {
        let widest = paragraph.lines().map(|line| line.trim_end().len()).max();
        Self { widest: widest.unwrap_or(0) }
    }

    /// Whether the line end before byte `next` is intended, rather than put there to wrap the text.
    ///
    /// Wrapping breaks a line only when the next word no longer fits. If it would have fitted with a fifth of the width
    /// to spare, and it begins like a sentence, then the break was intended.
    pub(super) fn is_deliberate(&self, text: &str, start: usize, next: usize, end: usize) -> bool {
        let before = text.get(start..next).unwrap_or_default();
        let before = before.trim_end_matches(['\n', '\r']);
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        let after = text.get(next..end).unwrap_or_default();
        if line.ends_with("  ") || line.ends_with('\\') || are_aligned(text, next, end) {
            return true;
        }
        let line = line.trim_end();
        let above = text.get(start_of_line(text, next.saturating_sub(1))..next).unwrap_or_default();
        if is_setting(after) && (is_setting(above) || above.trim_start().starts_with('#')) {
            return true;
        }
        if begins_item(after) && (line.ends_with(ENDS_OF_ITEMS) || begins_item(before)) {
            return true;
        }
        let may_end = line.ends_with(ENDS_OF_ITEMS) || line.ends_with([')', ']']);
        if begins_section(after) && (may_end || begins_section(before)) {
            return true;
        }
        let leads_on = LEADING_ON.contains(&line.rsplit(' ').next().unwrap_or_default());
        if has_label(before) && has_label(after) && !leads_on {
            return true;
        }
        if names_an_entry(line) && indent(text, next) > indent(text, start) {
            return false;
        }
        let word = after.split_whitespace().next().unwrap_or_default();
        let begins = word.trim_start_matches(['*', '_', '"', '“', '(', '[', '\'']).chars().next();
        if !begins.is_some_and(|first| first.is_uppercase() || first.is_ascii_digit() && line.ends_with(']')) {
            return false;
        }
        if line.ends_with(']') && line.rfind("[^").is_some_and(|at| line.len() - at <= 16) {
            return true;
        }
        if line.ends_with([',', ';', '-', '–', '—', '&', '(', '/']) {
            return false;
        }
        if leads_on {
            return false;
        }
        // A sentence that begins within the line has the rest of it alone.
        let width = above.trim_end().len().max(line.len());
        self.widest < NARROWEST_WRAP || (width + 1 + word.len()) * 5 <= self.widest * 4
    }
}

/// Whether a line begins with the letter or the number of an item: `c) …`, `(2) …`.
fn begins_item(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    let mark = line.strip_prefix('(').unwrap_or(line);
    let rest = mark.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let rest =
        if rest.len() < mark.len() { rest } else { mark.trim_start_matches(|sign: char| sign.is_ascii_lowercase()) };
    (1..=2).contains(&(mark.len() - rest.len())) && rest.starts_with(") ")
}

/// Whether a line begins with the number of a section, and the section: `Art. 4 Whoever …`, not `Art. 4 of the law`.
fn begins_section(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    let Some(after) = SECTIONS.iter().find_map(|word| line.strip_prefix(word)) else { return false };
    let number = after.trim_start_matches([' ', '\u{a0}']);
    let rest = number.trim_start_matches(|sign: char| sign.is_ascii_digit());
    if !(1..=3).contains(&(number.len() - rest.len())) {
        return false;
    }
    let said = rest.trim_start_matches(|sign: char| sign.is_ascii_lowercase() || matches!(sign, '.' | ':' | ')'));
    let words = said.trim_start_matches([' ', '\t']);
    let refers = REFERENCES.iter().any(|word| words.starts_with(word));
    words.len() < said.len() && words.starts_with(char::is_uppercase) && !refers
}

/// Whether a line begins with a capital or a number and has a short label before its text: `26 Dec: …`.
fn has_label(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']).lines().next().unwrap_or_default();
    let Some((label, _)) = line.split_once(": ").filter(|(label, _)| label.len() <= LONGEST_LABEL) else {
        return false;
    };
    let begins = label.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit());
    begins && label.split_whitespace().count() <= LABEL_WORDS && !label.contains(['.', ',', ';', '(', ')', '|'])
}

/// Whether a line sets a name in small letters to a value, or begins a group of those: `max_jars: 6`, `- name: lid`, `port = 80`.
fn is_setting(line: &str) -> bool {
    let line = line.lines().next().unwrap_or_default().trim_start_matches([' ', '\t']);
    let line = line.strip_prefix("- ").unwrap_or(line);
    let end = line.find(|sign: char| !(sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-' | '.')));
    let (name, rest) = line.split_at_checked(end.unwrap_or(line.len())).unwrap_or_default();
    let is_set = rest == ":" || rest.starts_with(": ") || rest.starts_with(" = ");
    is_set && name.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Whether a line is the name of an entry that text indented below it describes: the options of a command.
fn names_an_entry(line: &str) -> bool {
    line.trim_start().starts_with('-')
}

/// Whether the line that begins at byte `next` and the one before it are two of a list whose second column begins at one
/// place, as commands tell their options: `-q      say less`.
fn are_aligned(text: &str, next: usize, end: usize) -> bool {
    let end_above = next.saturating_sub(1);
    let above = text.get(start_of_line(text, end_above)..end_above).unwrap_or_default();
    let line = text.get(next..end).unwrap_or_default().lines().next().unwrap_or_default();
    second_column(line).is_some_and(|column| second_column(above) == Some(column) || has_indent(above, column))
}

/// The column at which text goes on after the first gap of a line, if that follows a name.
fn second_column(line: &str) -> Option<usize> {
    let mut column = 0;
    // Bytes of the line up to the gap, once there is text, and the columns of blanks that follow.
    let (mut name, mut gap): (Option<usize>, usize) = (None, 0);
    for (at, sign) in line.char_indices() {
        match sign {
            ' ' | '\t' => {
                let next = next_column(sign, column);
                gap += next - column;
                column = next;
            }
            _ if gap >= GAP && name.is_some() => return name.filter(|end| is_entry(line, *end)).map(|_| column),
            _ if at > LONGEST_ENTRY => return None,
            _ => (column, gap, name) = (column + 1, 0, Some(at + sign.len_utf8())),
        }
    }
    None
}

/// Whether the beginning of a line is a name, not the end of a sentence before two blanks.
fn is_entry(line: &str, end: usize) -> bool {
    !line.get(..end).unwrap_or_default().ends_with(['.', '!', '?', ':', ';', ','])
}

/// Whether the text of a line begins at this column.
fn has_indent(line: &str, column: usize) -> bool {
    !line.trim().is_empty() && indent(line, 0) == column
}

/// The columns before the text of the line that byte `at` lies in.
fn indent(text: &str, at: usize) -> usize {
    let blank =
        text.get(start_of_line(text, at)..).unwrap_or_default().chars().take_while(|sign| matches!(sign, ' ' | '\t'));
    blank.fold(0, |column, sign| next_column(sign, column))
}
