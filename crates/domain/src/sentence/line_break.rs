//! Line ends inside a paragraph: wrapped lines, or separate lines.

/// Paragraphs narrower than this (bytes) are lists of short lines, not wrapped prose.
const NARROWEST_WRAP: usize = 32;

/// Words that never end a separate line.
const LEADING_ON: [&str; 20] = [
    "a", "an", "and", "as", "at", "by", "for", "from", "his", "in", "is", "its", "of", "on", "or", "that", "the", "to",
    "was", "with",
];

/// Width of a tab, in columns.
const TAB: usize = 8;

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
        if line.ends_with("  ") || line.ends_with('\\') {
            return true;
        }
        let line = line.trim_end();
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
        if LEADING_ON.contains(&line.rsplit(' ').next().unwrap_or_default()) {
            return false;
        }
        self.widest < NARROWEST_WRAP || (line.len() + 1 + word.len()) * 5 <= self.widest * 4
    }
}

/// Whether a line is the name of an entry that text indented below it describes: the options of a command.
fn names_an_entry(line: &str) -> bool {
    line.trim_start().starts_with('-')
}

/// The columns before the text of the line that byte `at` lies in.
fn indent(text: &str, at: usize) -> usize {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let blank = text.get(start..).unwrap_or_default().chars().take_while(|sign| matches!(sign, ' ' | '\t'));
    blank.fold(0, |column, sign| if sign == '\t' { (column / TAB + 1) * TAB } else { column + 1 })
}
