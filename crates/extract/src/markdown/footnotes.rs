//! Footnotes, which several dialects of Markdown have: `[^2]` in the text, and `[^2]: …` where they are.
//!
//! Their marks have the form of the markers that answers cite by. Each is written as a number in brackets, as printed
//! notes have it.

use std::{borrow::Cow, collections::HashSet, ops::Range};

/// Longest name of a note, in bytes.
const LONGEST_NAME: usize = 40;

/// Longest code between backticks, in bytes.
const LONGEST_SPAN: usize = 1_000;

/// The text with the marks of its notes written out. Marks without a note, and those in code, stay.
pub(super) fn written_out(text: &str) -> Cow<'_, str> {
    let code = code(text);
    let is_code = |byte: usize| {
        let next = code.partition_point(|range| range.end <= byte);
        code.get(next).is_some_and(|range| range.contains(&byte))
    };
    let marks: Vec<Mark<'_>> =
        text.match_indices("[^").filter(|(at, _)| !is_code(*at)).filter_map(|(at, _)| Mark::at(text, at)).collect();
    let notes: HashSet<&str> = marks.iter().filter(|mark| mark.is_note).map(|mark| mark.name).collect();
    if notes.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len());
    let mut end = 0;
    for mark in marks.iter().filter(|mark| notes.contains(mark.name)) {
        let before = text.get(end..mark.bytes.start).unwrap_or_default();
        written.push_str(before);
        let touches =
            !mark.is_note && text.get(..mark.bytes.start).is_some_and(|all| !all.ends_with(char::is_whitespace));
        written.extend([if touches { " (" } else { "(" }, mark.name, ")"]);
        end = mark.bytes.end;
    }
    written.push_str(text.get(end..).unwrap_or_default());
    Cow::Owned(written)
}

/// The mark of a note.
struct Mark<'t> {
    bytes: Range<usize>,
    name: &'t str,
    /// Whether the note follows.
    is_note: bool,
}

impl<'t> Mark<'t> {
    fn at(text: &'t str, at: usize) -> Option<Self> {
        let from = text.get(at + 2..)?;
        let length = from.find(|sign: char| !(sign.is_alphanumeric() || matches!(sign, '-' | '_' | '.')))?;
        let (name, rest) = from.split_at_checked(length).filter(|_| (1..=LONGEST_NAME).contains(&length))?;
        let rest = rest.strip_prefix(']')?;
        let above = text.get(..at)?.trim_end_matches(' ');
        let begins_line = above.is_empty() || above.ends_with('\n');
        let is_note = begins_line && at - above.len() < 4 && rest.starts_with(": ");
        let end = text.len() - rest.len() + usize::from(is_note);
        Some(Self { bytes: at..end, name, is_note })
    }
}

/// The byte ranges of code, in fences and between backticks, in order.
fn code(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    let mut fence: Option<(&str, usize)> = None;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let words = line.trim_start();
        let sign = ["```", "~~~"].into_iter().find(|sign| words.starts_with(sign));
        match (fence, sign) {
            (Some((open, from)), Some(sign)) if open == sign => {
                found.push(from..at);
                fence = None;
            }
            (None, Some(sign)) => fence = Some((sign, start)),
            (None, None) => found.extend(spans(line).map(|span| start + span.start..start + span.end)),
            (Some(_), _) => {}
        }
    }
    found.extend(fence.map(|(_, from)| from..text.len()));
    found
}

/// The code between backticks on a line.
fn spans(line: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line.get(at..)?.find('`')?;
        let rest = line.get(start..)?;
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        let within = rest.get(ticks..rest.floor_char_boundary(ticks + LONGEST_SPAN))?;
        let end = within.find(rest.get(..ticks)?).map_or(start + ticks, |end| start + end + 2 * ticks);
        at = end;
        Some(start..end)
    })
}
