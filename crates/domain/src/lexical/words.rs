//! Words of Unicode Standard Annex 29, with a short cut for ASCII, and those of scripts without spaces.
//!
//! Finding words by the annex's state machine costs half of all analysis. No word crosses ASCII
//! white space, so the text is taken a run of other characters at a time, and a run that is all
//! ASCII is cut by the four rules that apply to it. A property test holds both paths equal.

use unicode_segmentation::UnicodeSegmentation;

use super::unspaced::{Script, for_each_bigram, for_each_segment};

/// Calls `visit` with every word of `text` and its byte offset, in order.
pub(super) fn for_each_word<'text>(text: &'text str, mut visit: impl FnMut(usize, &'text str)) {
    // A text that is all ASCII is one run: by the four rules white space is no part of a word either.
    if text.is_ascii() {
        return for_each_ascii_word(text, visit);
    }
    let mut offset = 0;
    for run in text.as_bytes().split(u8::is_ascii_whitespace) {
        if run.is_ascii() {
            let run = text.get(offset..offset + run.len()).unwrap_or_default();
            for_each_ascii_word(run, |start, word| visit(offset + start, word));
        } else {
            for_each_word_of_run(text.get(offset..offset + run.len()).unwrap_or_default(), |start, word| {
                visit(offset + start, word);
            });
        }
        offset += run.len() + 1;
    }
}

fn for_each_word_of_run<'text>(run: &'text str, mut visit: impl FnMut(usize, &'text str)) {
    for (script, range) in Script::stretches(run) {
        let stretch = run.get(range.clone()).unwrap_or_default();
        let visit = |start: usize, word: &'text str| visit(range.start + start, word);
        match script {
            Script::Ideographic => for_each_bigram(stretch, visit),
            Script::SouthEastAsian => for_each_segment(stretch, visit),
            Script::Spaced => stretch.unicode_word_indices().for_each({
                let mut visit = visit;
                move |(start, word)| visit(start, word)
            }),
        }
    }
}

/// The same for a text of ASCII.
fn for_each_ascii_word<'text>(text: &'text str, mut visit: impl FnMut(usize, &'text str)) {
    let mut rest = text.as_bytes();
    while let Some((start, end)) = first_ascii_word(rest) {
        let at = text.len() - rest.len();
        visit(at + start, text.get(at + start..at + end).unwrap_or_default());
        rest = rest.get(end..).unwrap_or_default();
    }
}

/// Start and end of the first word in `bytes`, all of them ASCII.
fn first_ascii_word(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut start = 0;
    loop {
        start += bytes.iter().skip(start).position(|byte| is_word_byte(*byte))?;
        let end = end_of_ascii_word(bytes, start);
        // A run of underscores is a segment of the annex, but no word.
        if bytes.get(start..end)?.iter().any(u8::is_ascii_alphanumeric) {
            return Some((start, end));
        }
        start = end;
    }
}

fn end_of_ascii_word(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    while let Some(byte) = bytes.get(end) {
        let goes_on = is_word_byte(*byte)
            || end
                .checked_sub(1)
                .and_then(|before| Some((bytes.get(before)?, bytes.get(end + 1)?)))
                .is_some_and(|(before, after)| joins(*before, *byte, *after));
        if !goes_on {
            break;
        }
        end += 1;
    }
    end
}

/// The bytes of words: letters, digits and the low line. A table, since the processor guesses comparisons of them wrong.
const WORD_BYTES: [bool; 256] = word_bytes();

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which rejects a place that is not there")]
const fn word_bytes() -> [bool; 256] {
    let mut bytes = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        bytes[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    bytes
}

fn is_word_byte(byte: u8) -> bool {
    WORD_BYTES.get(usize::from(byte)).copied().unwrap_or_default()
}

/// Rules WB6, WB7, WB11 and WB12 for ASCII: punctuation that holds letters or digits together.
const fn joins(before: u8, byte: u8, after: u8) -> bool {
    let between_letters = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let between_digits = before.is_ascii_digit() && after.is_ascii_digit();
    match byte {
        b'.' | b'\'' => between_letters || between_digits,
        b':' => between_letters,
        b',' | b';' => between_digits,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        for_each_word(text, |start, word| found.push((start, word)));
        found
    }

    /// Words of the annex. A mark after white space makes one word with it there (rule WB4), and here
    /// one without.
    fn annex(text: &str) -> Vec<(usize, &str)> {
        text.unicode_word_indices()
            .map(|(start, word)| {
                let bare = word.trim_ascii_start();
                (start + word.len() - bare.len(), bare)
            })
            .collect()
    }

    #[test]
    fn a_mark_after_white_space_is_a_word_without_it() {
        assert_eq!(words("\t\u{a3e}"), [(1, "\u{a3e}")]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn equals_the_annex(text in "[a-cA1-2_.,:;'\"# \\n\\t\u{c}\u{b}/+-]{0,24}|[a1_.' \u{301}éж\u{200d}\u{ad}\u{2019}\u{a0}\r\n]{0,16}|[^\u{e00}-\u{11ff}\u{1780}-\u{17ff}\u{3000}-\u{ffff}\u{1b000}-\u{3ffff}]*") {
            prop_assert_eq!(words(&text), annex(&text));
        }
    }
}
