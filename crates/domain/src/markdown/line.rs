//! Single lines: their ends, the marks before their words, and the rows of tables.

use std::ops::Range;

/// Ranges of the lines of a text without their ends, which are `\n`, `\r\n` or `\r`.
pub(super) struct Lines<'t> {
    text: &'t str,
    next: usize,
}

impl<'t> Lines<'t> {
    pub(super) const fn of(text: &'t str) -> Self {
        Self { text, next: 0 }
    }
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.next..).filter(|rest| !rest.is_empty())?;
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let ending = rest.get(length..).unwrap_or_default();
        let line = self.next..self.next + length;
        self.next = line.end
            + match ending {
                _ if ending.starts_with("\r\n") => 2,
                "" => 0,
                _ => 1,
            };
        Some(line)
    }
}

/// Whether a text is one piece of bold words.
pub(crate) fn is_bold(text: &str) -> bool {
    ["**", "__"].iter().any(|sign| {
        text.strip_prefix(sign)
            .and_then(|inner| inner.strip_suffix(sign))
            .is_some_and(|inner| !inner.is_empty() && !inner.contains(sign))
    })
}

/// Bytes of the list and quote marks at the start of a line.
pub(super) fn marks(line: &str) -> usize {
    let number = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = rest.get(digits..)?.strip_prefix(['.', ')']).filter(|_| (1..=9).contains(&digits))?;
        Some(rest.len() - after.len())
    };
    skip(line, |rest| sign(rest).or_else(|| number(rest).filter(|bytes| is_apart(rest, *bytes))))
}

/// Bytes of the bullets and quote marks at the start of a line; the number of a list ends them.
pub(super) fn sign_marks(line: &str) -> usize {
    skip(line, sign)
}

/// Bytes of the quote marks at the start of a line.
pub(crate) fn quote_marks(line: &str) -> usize {
    skip(line, |rest| rest.starts_with('>').then_some(1))
}

/// Bytes at the start of a line that are marks, as `mark` measures one, with white space before each.
fn skip(line: &str, mark: impl Fn(&str) -> Option<usize>) -> usize {
    let mut at = 0;
    loop {
        let rest = line.get(at..).unwrap_or_default();
        let words = rest.trim_start_matches([' ', '\t']);
        match mark(words) {
            Some(bytes) => at += rest.len() - words.len() + bytes,
            None => return at,
        }
    }
}

fn sign(rest: &str) -> Option<usize> {
    rest.starts_with('>').then_some(1).or_else(|| (rest.starts_with(['-', '*', '+']) && is_apart(rest, 1)).then_some(1))
}

/// Whether words do not touch the mark of a list before them.
fn is_apart(rest: &str, mark: usize) -> bool {
    rest.get(mark..).is_some_and(|after| after.is_empty() || after.starts_with([' ', '\t']))
}

/// Bytes of a bullet that is none in Markdown, and of the space after it.
pub(super) fn bullet(line: &str) -> Option<usize> {
    let words = line.strip_prefix('•').filter(|rest| rest.starts_with([' ', '\t']))?.trim_start();
    Some(line.len() - words.len())
}

/// Whether a line is the one between the header and the rows of a table.
#[must_use]
pub fn is_table_delimiter(line: &str) -> bool {
    line.contains('|') && line.contains('-') && line.chars().all(|char| matches!(char, '|' | '-' | ':' | ' ' | '\t'))
}

/// Whether a line is one that is drawn above or below rows: `+---+-----+`.
pub(super) fn is_border(line: &str) -> bool {
    let line = line.trim();
    line.len() > 2
        && line.starts_with('+')
        && line.ends_with('+')
        && line.contains(['-', '='])
        && line.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'='))
}

pub(super) fn is_table_row(line: &str, in_table: bool) -> bool {
    let trimmed = line.trim();
    if in_table {
        return trimmed.contains('|');
    }
    trimmed.strip_prefix('|').is_some_and(|rest| rest.contains('|'))
}

/// The cells of a row of a table, each with the byte at which it begins: with its bar, if there is one before it.
///
/// A bar after a backslash is part of a cell.
pub fn cells(row: &str) -> impl Iterator<Item = (usize, &str)> {
    let row = row.trim_end();
    let is_bar = |at: usize| row.get(..at).is_some_and(|before| !before.ends_with('\\'));
    let bars = row.match_indices('|').map(|(at, _)| at).filter(move |at| is_bar(*at) && *at > 0 && at + 1 < row.len());
    let starts = std::iter::once(0).chain(bars.clone());
    let ends = bars.chain([row.len()]);
    starts.zip(ends).map(move |(start, end)| {
        let cell = row.get(start..end).unwrap_or_default();
        let cell = cell.strip_prefix('|').unwrap_or(cell);
        let is_last = end == row.len();
        (start, cell.strip_suffix('|').filter(|_| is_last && is_bar(end - 1)).unwrap_or(cell).trim())
    })
}

/// Whether a line begins or ends a block of code between fences.
#[must_use]
pub fn is_fence(line: &str) -> bool {
    let words = line.trim_start();
    words.starts_with("```") || words.starts_with("~~~")
}
