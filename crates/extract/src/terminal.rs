//! Text that was written for a terminal: the sequences that set its type are dropped, and letters that were struck over.

use std::borrow::Cow;
use std::ops::Range;

const ESCAPE: char = '\u{1b}';
const BACKSPACE: char = '\u{8}';

/// What stands for the lost escape character in copies that show it.
const SHOWN_ESCAPES: [&str; 2] = ["^[", "␛"];

/// Longest sequence that links or names the window, in bytes.
const LONGEST_LINK: usize = 2_000;

/// The text as a terminal shows it, without colours and weights.
pub(super) fn shown(text: String) -> String {
    let text = if text.contains(ESCAPE) { without_sequences(&text) } else { text };
    let text = match without_remnants(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(rest) => rest,
    };
    if text.contains(BACKSPACE) { without_overstrikes(&text) } else { text }
}

/// The text without the sequences that begin with an escape character and are whole.
fn without_sequences(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(ESCAPE) {
        kept.push_str(before);
        if let Some(length) = sequence(after) {
            rest = after.get(length..).unwrap_or_default();
        } else {
            kept.push(ESCAPE);
            rest = after;
        }
    }
    kept.push_str(rest);
    kept
}

/// Bytes of the sequence after an escape character.
fn sequence(after: &str) -> Option<usize> {
    let bytes = after.as_bytes();
    let run = |from: usize, range: std::ops::RangeInclusive<u8>| {
        bytes.iter().skip(from).take_while(|byte| range.contains(byte)).count()
    };
    match bytes.first()? {
        b'[' => {
            let parameters = 1 + run(1, 0x30..=0x3f);
            let end = parameters + run(parameters, 0x20..=0x2f);
            bytes.get(end).filter(|last| (0x40..=0x7e).contains(*last)).map(|_| end + 1)
        }
        // A title of the window, or a link; it ends on its line.
        b']' => {
            let near = after.get(..after.floor_char_boundary(LONGEST_LINK))?;
            let line = near.split('\n').next()?;
            let end = line.find("\u{1b}\\").map(|end| end + 2);
            end.or_else(|| line.find('\u{7}').map(|end| end + 1))
        }
        // A set of characters.
        b'(' | b')' => bytes.get(1).filter(|set| set.is_ascii_alphanumeric()).map(|_| 2),
        _ => None,
    }
}

/// The text without what is left of sequences that lost their escape character, where one that sets the type is followed by
/// one that resets it in the same paragraph.
fn without_remnants(text: &str) -> Cow<'_, str> {
    let mut dropped: Vec<Range<usize>> = Vec::new();
    // Those that set the type and have not been reset, and how many resets may follow the first one.
    let (mut open, mut resets): (Vec<Range<usize>>, usize) = (Vec::new(), 0);
    let mut end = 0;
    for (at, _) in text.match_indices('[') {
        let Some(remnant) = Remnant::at(text, at) else { continue };
        if text.get(end..at).is_some_and(|between| between.contains("\n\n")) {
            open.clear();
            resets = 0;
        }
        end = remnant.bytes.end;
        if !remnant.is_reset {
            open.push(remnant.bytes);
        } else if !open.is_empty() {
            resets += open.len() - 1;
            dropped.append(&mut open);
            dropped.push(remnant.bytes);
        } else if resets > 0 {
            resets -= 1;
            dropped.push(remnant.bytes);
        }
    }
    if dropped.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut end = 0;
    for bytes in dropped {
        kept.push_str(text.get(end..bytes.start).unwrap_or_default());
        end = bytes.end;
    }
    kept.push_str(text.get(end..).unwrap_or_default());
    Cow::Owned(kept)
}

/// A sequence without its escape character: `[1m`, `[22m`.
struct Remnant {
    bytes: Range<usize>,
    is_reset: bool,
}

impl Remnant {
    /// The one that begins with the bracket at a byte.
    fn at(text: &str, bracket: usize) -> Option<Self> {
        let after = text.get(bracket + 1..)?;
        let length = after.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        let (numbers, rest) = after.split_at_checked(length)?;
        // `[5m]` is a length.
        let rest = rest.strip_prefix('m').filter(|rest| !rest.starts_with(']'))?;
        let are_known = numbers.split(';').all(|number| number.is_empty() || number.parse::<u8>().is_ok());
        let last = numbers.rsplit(';').next().unwrap_or_default();
        let is_reset = matches!(last, "" | "0" | "00" | "39" | "49") || last.len() == 2 && last.starts_with('2');
        let before = text.get(..bracket)?;
        let shown = SHOWN_ESCAPES.iter().find(|sign| before.ends_with(**sign)).map_or(0, |sign| sign.len());
        are_known.then(|| Self { bytes: bracket - shown..text.len() - rest.len(), is_reset })
    }
}

/// The text with the last of the letters that were written at one place: a bold letter is struck twice, an underlined one
/// together with a line.
fn without_overstrikes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign != BACKSPACE {
            kept.push(sign);
        } else if let Some(before) = kept.pop() {
            let is_underlined = before != '_' && signs.peek() == Some(&'_');
            let is_struck_over = signs.peek().is_some_and(|next| *next != '\n');
            if before == '\n' || is_underlined || !is_struck_over {
                kept.push(before);
            }
            if before != '\n' && is_underlined {
                signs.next();
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_for_a_terminal_are_dropped() {
        let cases = [
            ("\u{1b}[1mtins\u{1b}[0m of \u{1b}[38;5;12mred\u{1b}[39m", "tins of red"),
            ("\u{1b}]8;;https://host.example/a\u{1b}\\the lid\u{1b}]8;;\u{1b}\\ is \u{1b}(Bshut", "the lid is shut"),
            ("By default, [1mtin [22mis [4m[1mwet[22m[24m.", "By default, tin is wet."),
            ("a ^[[31mred^[[m tin", "a red tin"),
            ("t\u{8}ti\u{8}in\u{8}n _\u{8}l_\u{8}i_\u{8}d l\u{8}_ +\u{8}o b\u{8}", "tin lid l o b"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text.to_owned()), expected, "{text:?}");
        }
    }

    #[test]
    fn other_brackets_stay() {
        for text in [
            "an escape \u{1b} alone, and one [ at its end \u{1b}",
            "a wall of [5m] and one of [10m]",
            "the switch [1m comes alone",
            "the switch [1m is set.\n\nThe end [0m of it.",
            "a[0m] = b[22m];",
        ] {
            assert_eq!(shown(text.to_owned()), text);
        }
    }
}
