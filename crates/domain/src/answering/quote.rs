//! A sentence of a source in the form in which an answer may hold it.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::markdown::{BlockKind, blocks, cells, is_fence, quote_marks};
use crate::sentence::sentences;
use crate::wording::named_value;

/// Longest sentence quoted, in bytes: longer text is a table or a list without full stops.
const LONGEST: usize = 1200;

/// Tags of HTML that lay a page out; those of words, such as `<b>`, are quoted as they are.
const TAGS: [&str; 13] =
    ["br", "center", "details", "div", "h1", "h2", "h3", "h4", "hr", "img", "p", "picture", "summary"];

/// Entities of HTML that are blanks.
const BLANKS: [&str; 5] = ["&nbsp;", "&ensp;", "&emsp;", "&thinsp;", "&#160;"];

/// Characters of a line that tell whether it opens HTML of several lines.
const LONGEST_TAG: usize = 9;

/// Fewest letters and digits: shorter text is a label or a stray mark.
const SHORTEST: usize = 12;

/// The same for a name with its value ("Bins: Tuesday.") and for a refusal ("No dogs.").
const SHORTEST_ENTRY: usize = 6;

/// The quotable form of a sentence: one line of running text whose markers are its own.
///
/// Returns `None` for text that cannot be quoted this way: too long or short, or read as another Markdown block.
#[must_use]
pub(super) fn quotable(words: &str) -> Option<String> {
    let is_row =
        || words.trim_start().starts_with('|') && cells(words).filter(|(_, cell)| !cell.is_empty()).count() > 1;
    let is_brief = named_value(words).is_some() || is_refusal(words) || is_row();
    let shortest = if is_brief { SHORTEST_ENTRY } else { SHORTEST };
    if words.len() > LONGEST || words.chars().filter(|c| c.is_alphanumeric()).count() < shortest {
        return None;
    }
    plain_line(words)
}

/// The same for text of any length that has words: a whole list is quoted with its short items.
#[must_use]
pub(super) fn plain_line(words: &str) -> Option<String> {
    let words = without_tags(without_callout(words));
    let words = with_plain_blanks(&words);
    if !words.chars().any(char::is_alphanumeric) {
        return None;
    }
    let unquoted = words.lines().enumerate().map(|(number, line)| match number {
        0 => line,
        // A sentence of a quotation goes on behind the mark of the next line.
        _ => line.get(quote_marks(line)..).unwrap_or(line),
    });
    let line = unquoted.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    let line = without_row_bars(&line);
    let line = escape_markers(line.trim());
    let as_read = blocks(&line);
    let [block] = as_read.as_slice() else {
        return None;
    };
    let is_plain = block.kind == BlockKind::Paragraph && block.content == 0 && block.range == (0..line.len());
    // An odd fence of code would swallow the marker after it.
    let has_fence = line.contains("```") || line.contains("~~~");
    (is_plain && !has_fence && !opens_html(&line)).then_some(line)
}

/// Whether a sentence says of something that there is none: "No dogs."
fn is_refusal(words: &str) -> bool {
    let words = words.trim();
    words.starts_with("No ") && words.ends_with('.')
}

/// A text without the mark of a callout that it begins with: "[!NOTE] Jars break."
fn without_callout(words: &str) -> &str {
    let after = words.trim_start().strip_prefix("[!").and_then(|rest| rest.split_once(']'));
    let is_kind = |kind: &str| !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphabetic());
    // The sign that folds it stands right behind its mark.
    let text = after.filter(|(kind, _)| is_kind(kind)).map(|(_, text)| text.trim_start_matches(['+', '-']));
    text.filter(|text| text.is_empty() || text.starts_with(char::is_whitespace)).unwrap_or(words)
}

/// A text with spaces for the entities of HTML that are blanks. Those in code stay.
fn with_plain_blanks(words: &str) -> Cow<'_, str> {
    if !BLANKS.iter().any(|blank| words.contains(blank)) {
        return Cow::Borrowed(words);
    }
    let plain = |text: &str| BLANKS.iter().fold(text.to_owned(), |text, blank| text.replace(blank, " "));
    let parts = words.split('`').enumerate();
    let parts = parts.map(|(number, part)| if number % 2 == 0 { plain(part) } else { part.to_owned() });
    Cow::Owned(parts.collect::<Vec<_>>().join("`"))
}

/// A text without the tags of HTML that lay it out, as Markdown may hold them; a blank for each that breaks the line. Those in
/// code, and other words in angle brackets, stay.
fn without_tags(words: &str) -> Cow<'_, str> {
    if !words.contains('<') {
        return Cow::Borrowed(words);
    }
    let mut plain = String::with_capacity(words.len());
    let (mut rest, mut is_code) = (words, false);
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        is_code ^= before.matches('`').count() % 2 == 1;
        // `Vec<b>` is a type.
        let is_type = before.ends_with(char::is_alphanumeric) && from.as_bytes().get(2) == Some(&b'>');
        let length = tag_length(from).filter(|_| !is_code && !is_type);
        let (tag, after) = from.split_at(length.unwrap_or(1));
        plain.push_str(match length {
            None => tag,
            Some(_) if tag.starts_with("<br") => " ",
            Some(_) => "",
        });
        rest = after;
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Length of the tag that a text begins with, if it lays a page out.
fn tag_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let name = inner.strip_prefix('/').unwrap_or(inner);
    let name = name.get(..name.find(|sign: char| !sign.is_ascii_alphanumeric())?)?;
    let end = inner.find(['<', '>']).filter(|end| inner.as_bytes().get(*end) == Some(&b'>'))?;
    TAGS.contains(&name.to_ascii_lowercase().as_str()).then_some(end + 2)
}

/// Whether a line opens HTML that goes on over blank lines, and would swallow what is written after it.
fn opens_html(line: &str) -> bool {
    let opening = line.chars().take(LONGEST_TAG).collect::<String>().to_ascii_lowercase();
    ["<!", "<?", "<pre", "<script", "<style", "<textarea"].iter().any(|tag| opening.starts_with(tag))
}

/// A table row without the bars at its ends.
pub(super) fn without_row_bars(line: &str) -> &str {
    match line.strip_prefix('|') {
        Some(row) => row.strip_suffix('|').unwrap_or(row),
        None => line,
    }
}

/// Text on one line with a marker after each of its sentences: one of the source may read as two once it is on one line.
pub(super) fn marked(line: &str, number: usize) -> String {
    let mut marked = String::with_capacity(line.len() + 6);
    let mut written = 0;
    for sentence in sentences(line) {
        let words = line.get(written..sentence.range.end).unwrap_or_default();
        written = sentence.range.end;
        // Writing to a String cannot fail.
        let _ = write!(marked, "{words} [^{number}]");
    }
    marked
}

/// Puts a backslash before every `[^` that none precedes: an even number of them is no escape.
pub(super) fn escape_markers(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len() + 4);
    let mut backslashes = 0usize;
    let mut rest = line.chars().peekable();
    while let Some(character) = rest.next() {
        if character == '[' && rest.peek() == Some(&'^') && backslashes.is_multiple_of(2) {
            escaped.push('\\');
        }
        backslashes = if character == '\\' { backslashes + 1 } else { 0 };
        escaped.push(character);
    }
    // A backslash at the very end would escape the marker that follows.
    if !backslashes.is_multiple_of(2) {
        escaped.push('\\');
    }
    escaped
}

/// A block of code between fences of its own; `None` if it has fences within.
pub(super) fn code(block: &str) -> Option<String> {
    let lines: Vec<&str> = block.lines().collect();
    let inner = lines.get(1..)?;
    let inner = match inner.split_last() {
        Some((last, rest)) if is_fence(last) => rest,
        _ => inner,
    };
    let is_plain = !inner.iter().any(|line| line.contains("```") || line.contains("~~~") || line.contains('\r'));
    let has_words = inner.iter().any(|line| line.chars().any(char::is_alphanumeric));
    (is_plain && has_words).then(|| format!("```\n{}\n```", inner.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_that_lay_a_page_out_are_left_out() {
        let table = [
            ("<p align=\"center\">Paint<br/>is <b>wet</b>.</p>", "Paint is <b>wet</b>."),
            ("</div> It dries.<br>It stays.", "It dries. It stays."),
            ("<img alt=\"a jar\" src=\"a.png\" height=\"20\"> It dries.", "It dries."),
            (
                "Use `<b>` for a `Vec<u8>` of Vec<b> in <file>, if 1 < 2 > 0.",
                "Use `<b>` for a `Vec<u8>` of Vec<b> in <file>, if 1 < 2 > 0.",
            ),
            ("It is <p", "It is <p"),
            ("It fell\n> on the deck\n> > at 5 > 4.", "It fell on the deck at 5 > 4."),
        ];
        for (words, expected) in table {
            assert_eq!(plain_line(words).as_deref(), Some(expected));
        }
        assert_eq!(plain_line("<div class=\"badges\">"), None);
    }

    #[test]
    fn marks_of_callouts_and_entities_of_blanks_are_left_out() {
        let table = [
            ("[!IMPORTANT]\n> Close the&nbsp;lid.", "Close the lid."),
            ("[!Tip]- Close &nbsp;the lid.", "Close the lid."),
            ("[!NOTE](a.md) tells more.", "[!NOTE](a.md) tells more."),
            ("Write `&nbsp;` for a&ensp;blank.", "Write `&nbsp;` for a blank."),
        ];
        for (words, expected) in table {
            assert_eq!(plain_line(words).as_deref(), Some(expected));
        }
        assert_eq!(plain_line("[!WARNING]"), None);
    }
}
