//! Rich Text Format without the words that its author hid, or deleted while changes were tracked, and with raised digits as
//! such: the reader of the format does not tell any of them from other text.

use super::superscript::sign;

/// What is in force in a group; inner groups begin with it.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    is_hidden: bool,
    is_deleted: bool,
    is_raised: bool,
}

/// Control words that stand for text.
const TEXT_WORDS: [&[u8]; 16] = [
    b"bin",
    b"bullet",
    b"chdate",
    b"chftn",
    b"chpgn",
    b"chtime",
    b"emdash",
    b"emspace",
    b"endash",
    b"enspace",
    b"ldblquote",
    b"line",
    b"lquote",
    b"rdblquote",
    b"rquote",
    b"u",
];

/// The document without its hidden and deleted words, and with its raised digits; groups and formatting stay as they are.
pub(super) fn shown(document: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(document.len());
    let mut groups: Vec<State> = Vec::new();
    let mut state = State::default();
    let mut rest = document;
    while let Some((token, after)) = Token::split(rest) {
        let length = rest.len() - after.len();
        let source = rest.get(..length).unwrap_or_default();
        rest = after;
        let is_text = match token {
            Token::Open => {
                groups.push(state);
                false
            }
            Token::Close => {
                state = groups.pop().unwrap_or_default();
                false
            }
            Token::Word(word, is_on) => {
                state.apply(word, is_on);
                TEXT_WORDS.contains(&word)
            }
            Token::Text => true,
        };
        match (is_text, state.raised(source)) {
            (true, _) if state.is_hidden || state.is_deleted => {}
            // Nothing stands for the sign in programs that do not know it.
            (true, Some(sign)) => shown.extend_from_slice(format!("{{\\uc0\\u{} }}", u32::from(sign)).as_bytes()),
            _ => shown.extend_from_slice(source),
        }
    }
    shown
}

impl State {
    fn apply(&mut self, word: &[u8], is_on: bool) {
        match word {
            b"v" => self.is_hidden = is_on,
            b"deleted" => self.is_deleted = is_on,
            b"super" => self.is_raised = is_on,
            b"sub" | b"nosupersub" => self.is_raised = false,
            b"plain" => *self = Self::default(),
            _ => {}
        }
    }

    /// The sign for a digit, or for the sign of a number, that stands above the line.
    fn raised(self, source: &[u8]) -> Option<char> {
        match source {
            [byte] if self.is_raised && (byte.is_ascii_digit() || b"+-".contains(byte)) => sign(char::from(*byte)),
            _ => None,
        }
    }
}

enum Token<'document> {
    Open,
    Close,
    /// A control word, and whether it switches its property on.
    Word(&'document [u8], bool),
    /// A character, written in any way.
    Text,
}

impl<'document> Token<'document> {
    /// The first token, and what follows it.
    fn split(document: &'document [u8]) -> Option<(Self, &'document [u8])> {
        let (first, rest) = document.split_first()?;
        match first {
            b'{' => Some((Self::Open, rest)),
            b'}' => Some((Self::Close, rest)),
            b'\\' if rest.first().is_some_and(u8::is_ascii_alphabetic) => Some(Self::word(rest)),
            b'\\' => {
                // `\'` and two digits are one character. `\*` marks a group, which stays.
                let length = if rest.starts_with(b"'") { 3 } else { 1 };
                let token = if rest.starts_with(b"*") { Self::Word(b"*", true) } else { Self::Text };
                Some((token, rest.get(length..).unwrap_or_default()))
            }
            _ => Some((Self::Text, rest)),
        }
    }

    /// The control word whose letters begin `letters`, with its number, the space that ends it, and the bytes that it
    /// announces.
    fn word(letters: &'document [u8]) -> (Self, &'document [u8]) {
        let (word, rest) = split_where(letters, |byte| !byte.is_ascii_alphabetic());
        let digits = rest.strip_prefix(b"-").filter(|digits| digits.first().is_some_and(u8::is_ascii_digit));
        let (number, rest) = split_where(digits.unwrap_or(rest), |byte| !byte.is_ascii_digit());
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let is_zero = !number.is_empty() && number.iter().all(|digit| *digit == b'0');
        let announced = if word == b"bin" && digits.is_none() { number } else { b"" };
        let announced = std::str::from_utf8(announced).ok().and_then(|length| length.parse().ok()).unwrap_or(0);
        (Self::Word(word, !is_zero), rest.get(announced..).unwrap_or_default())
    }
}

/// Bytes before and from the first one that `ends` them.
fn split_where(bytes: &[u8], ends: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(ends).unwrap_or(bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(document: &str) -> String {
        String::from_utf8(shown(document.as_bytes())).expect("text")
    }

    #[test]
    fn hidden_and_deleted_words_are_left_out() {
        let cases = [
            (r"{\rtf1 Rent{\v : or less} is due.}", r"{\rtf1 Rent{\v } is due.}"),
            (r"{\rtf1 a{\deleted old\deleted0 }b}", r"{\rtf1 a{\deleted \deleted0 }b}"),
            (r"{\v\b x\'e4\u8364?\~{in}\v0 y}z", r"{\v\b {}\v0 y}z"),
            (r"\v x\plain y\v1 z{\v0 w}\par", r"\v \plain y\v1 {\v0 w}\par"),
            (r"{\*\v x}{\viewkind4 y}{\\v z}", r"{\*\v }{\viewkind4 y}{\\v z}"),
            (r"{\v\bin3 }}}a}b", r"{\v}b"),
            (r"{\pict\bin3 }}}\v a}b", r"{\pict\bin3 }}}\v }b"),
        ];
        for (document, expected) in cases {
            assert_eq!(read(document), expected, "{document}");
        }
    }

    #[test]
    fn raised_digits_are_written_as_such() {
        let cases = [
            (r"10{\super -3}, 2", r"10{\super {\uc0\u8315 }{\uc0\u179 }}, 2"),
            (r"\super st\nosupersub 2{\super\sub 2}", r"\super st\nosupersub 2{\super\sub 2}"),
            (r"{\super\v 2}{\super\u178?\'b2}", r"{\super\v }{\super\u178?\'b2}"),
        ];
        for (document, expected) in cases {
            assert_eq!(read(document), expected, "{document}");
        }
    }

    #[test]
    fn what_breaks_off_is_kept() {
        for document in [r"{\rtf1 a\", r"{\rtf1 a\'e", r"}}{a\bin99 x", r"", ""] {
            assert_eq!(read(document), document);
        }
    }
}
