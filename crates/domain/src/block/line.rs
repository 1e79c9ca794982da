//! What a single line is, once the marks of the lists and quotes around it are taken off.

/// An open code fence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    pub(super) sign: char,
    pub(super) length: usize,
}

/// White space at the start of a line. A tab counts as four columns.
pub(super) struct Indent {
    pub(super) columns: usize,
    pub(super) bytes: usize,
}

impl Indent {
    pub(super) fn of(line: &str) -> Self {
        let bytes = line.len() - line.trim_start_matches([' ', '\t']).len();
        let tabs = line.bytes().take(bytes).filter(|byte| *byte == b'\t').count();
        Self { columns: bytes + 3 * tabs, bytes }
    }

    /// The line after an indent of at most three columns; a deeper one makes no markup.
    pub(super) fn strip<'l>(&self, line: &'l str) -> Option<&'l str> {
        line.get(self.bytes..).filter(|_| self.columns <= 3)
    }
}

/// Bytes of leading white space that make up `columns`.
pub(super) fn bytes_of_columns(line: &str, columns: usize) -> usize {
    let mut seen = 0;
    line.bytes()
        .take_while(|byte| {
            let more = seen < columns;
            seen += if *byte == b'\t' { 4 } else { 1 };
            more && matches!(byte, b' ' | b'\t')
        })
        .count()
}

pub(super) fn quote_mark(line: &str, indent: &Indent) -> Option<usize> {
    let after = indent.strip(line)?.strip_prefix('>')?;
    Some(indent.bytes + 1 + usize::from(after.starts_with(' ')))
}

/// A bullet or number of a list: columns of indent that continue the item, and bytes to skip.
pub(super) fn list_mark(line: &str, indent: &Indent, interrupts: bool) -> Option<(usize, usize)> {
    let stripped = indent.strip(line)?;
    let digits = stripped.bytes().take_while(u8::is_ascii_digit).count();
    let mark = if digits > 0 {
        let number = stripped.get(..digits)?;
        let allowed = digits <= 9 && (!interrupts || number == "1");
        stripped.get(digits..).filter(|after| allowed && after.starts_with(['.', ')']))?;
        digits + 1
    } else {
        stripped.chars().next().filter(|sign| matches!(sign, '-' | '*' | '+' | '•'))?.len_utf8()
    };
    let after = stripped.get(mark..)?;
    let space = Indent::of(after);
    let empty = after.trim().is_empty();
    // An empty item cannot break into a paragraph, and words must not touch the mark.
    if if empty { interrupts } else { space.bytes == 0 } {
        return None;
    }
    let columns = if empty || space.columns > 4 { 1 } else { space.columns };
    let mark_columns = if digits > 0 { mark } else { 1 };
    let skipped = if empty { after.len() } else { space.bytes };
    Some((indent.columns + mark_columns + columns, indent.bytes + mark + skipped))
}

pub(super) fn opens_fence(line: &str) -> Option<Fence> {
    let stripped = Indent::of(line).strip(line)?;
    let sign = stripped.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let info = stripped.trim_start_matches(sign);
    let length = stripped.len() - info.len();
    let possible = length >= 3 && !(sign == '`' && info.contains('`'));
    possible.then_some(Fence { sign, length })
}

pub(super) fn closes(fence: Fence, line: &str) -> bool {
    Indent::of(line).strip(line).is_some_and(|stripped| {
        let after = stripped.trim_start_matches(fence.sign);
        stripped.len() - after.len() >= fence.length && after.trim_matches([' ', '\t']).is_empty()
    })
}

/// Bytes of indent, signs and space before the words of an ATX heading.
pub(super) fn heading_signs(line: &str) -> Option<usize> {
    let stripped = Indent::of(line).strip(line)?;
    let words = stripped.trim_start_matches('#');
    let signs = stripped.len() - words.len();
    let is_heading = (1..=6).contains(&signs) && (words.is_empty() || words.starts_with([' ', '\t']));
    is_heading.then(|| line.len() - words.trim_start().len())
}

pub(super) fn is_thematic_break(line: &str) -> bool {
    Indent::of(line).strip(line).is_some_and(|stripped| {
        ['-', '*', '_'].iter().any(|sign| {
            stripped.chars().all(|char| char == *sign || char == ' ' || char == '\t')
                && stripped.matches(*sign).count() >= 3
        })
    })
}

pub(super) fn is_setext_underline(line: &str) -> bool {
    Indent::of(line).strip(line).is_some_and(|stripped| {
        let stripped = stripped.trim_end();
        let all = |sign: char| !stripped.is_empty() && stripped.chars().all(|char| char == sign);
        all('=') || all('-')
    })
}

pub(super) fn is_table_delimiter(line: &str) -> bool {
    line.contains('|') && line.contains('-') && line.chars().all(|char| matches!(char, '|' | '-' | ':' | ' ' | '\t'))
}

pub(super) fn is_table_row(line: &str, in_table: bool) -> bool {
    let trimmed = line.trim();
    if in_table {
        return trimmed.contains('|');
    }
    trimmed.strip_prefix('|').is_some_and(|rest| rest.contains('|'))
}

/// Whether a line can only be running text, which may continue a paragraph without its marks.
pub(super) fn is_plain(line: &str) -> bool {
    opens_fence(line).is_none()
        && heading_signs(line).is_none()
        && !is_thematic_break(line)
        && !is_table_row(line, false)
}
