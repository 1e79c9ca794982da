//! Words of scripts that are written without spaces between them, or glue particles to their words.
//!
//! - Chinese, Japanese and Korean: every two neighbouring characters (bigrams). They find as well as words do
//!   (Nie et al., "On the use of words and n-grams for Chinese information retrieval", 2000), need no dictionary,
//!   and `학교에서` is found by `학교`. One character that stands alone is a word.
//! - Thai, Lao, Khmer and Burmese: words as ICU's dictionaries cut them. Its recurrent networks cut a word in one
//!   way in a sentence and in another alone, so that a query would miss it.

use std::ops::Range;
use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

/// Longest piece, in bytes, that is looked up at once, which bounds the memory.
const LONGEST_PIECE: usize = 3_000;

static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()));

/// How words are separated in a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Chinese, Japanese, Korean.
    Ideographic,
    /// Thai, Lao, Khmer, Burmese.
    SouthEastAsian,
    /// Words stand apart.
    Spaced,
}

impl Script {
    pub(super) const fn of(character: char) -> Self {
        match character {
            // Hangul jamo and syllables; Hiragana, Katakana, Han and their extensions, half-width Katakana and Hangul.
            '\u{1100}'..='\u{11ff}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3031}'..='\u{3035}'
            | '\u{3041}'..='\u{3096}'
            | '\u{3099}'..='\u{309a}'
            | '\u{309d}'..='\u{309f}'
            | '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}'..='\u{30ff}'
            | '\u{3105}'..='\u{318e}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97c}'
            | '\u{ac00}'..='\u{d7fb}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9f}'
            | '\u{ffa1}'..='\u{ffdc}'
            | '\u{1b000}'..='\u{1b16f}'
            | '\u{20000}'..='\u{323af}' => Self::Ideographic,
            '\u{0e01}'..='\u{0e3a}'
            | '\u{0e40}'..='\u{0e4e}'
            | '\u{0e81}'..='\u{0ece}'
            | '\u{0edc}'..='\u{0edf}'
            | '\u{1000}'..='\u{103f}'
            | '\u{1050}'..='\u{109d}'
            | '\u{1780}'..='\u{17d3}'
            | '\u{a9e0}'..='\u{a9fe}'
            | '\u{aa60}'..='\u{aa7f}' => Self::SouthEastAsian,
            _ => Self::Spaced,
        }
    }

    /// The stretches of one script each, as byte ranges in order.
    pub(super) fn stretches(text: &str) -> impl Iterator<Item = (Self, Range<usize>)> {
        let mut rest = text.char_indices().peekable();
        std::iter::from_fn(move || {
            let (start, first) = rest.next()?;
            let script = Self::of(first);
            let mut end = start + first.len_utf8();
            while let Some((at, character)) = rest.next_if(|(_, character)| Self::of(*character) == script) {
                end = at + character.len_utf8();
            }
            Some((script, start..end))
        })
    }
}

/// Calls `visit` with every two neighbouring characters and their byte offset.
pub(super) fn for_each_bigram<'text>(text: &'text str, mut visit: impl FnMut(usize, &'text str)) {
    let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).chain([text.len()]).collect();
    if let [start, end] = starts.as_slice() {
        visit(*start, text.get(*start..*end).unwrap_or_default());
    }
    for bounds in starts.windows(3) {
        if let [start, _, end] = bounds {
            visit(*start, text.get(*start..*end).unwrap_or_default());
        }
    }
}

/// Whether a term is two neighbouring characters of a text without spaces, whatever words these belong to.
pub(crate) fn is_bigram(term: &str) -> bool {
    term.chars().count() == 2 && term.chars().all(|character| Script::of(character) == Script::Ideographic)
}

/// The characters of a bigram, with their byte offsets; none of another word.
pub(super) fn characters_of_bigram(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_bigram = is_bigram(word);
    let characters = word.char_indices().filter(move |_| is_bigram);
    characters.filter_map(|(start, character)| Some((start, word.get(start..start + character.len_utf8())?)))
}

/// Calls `visit` with every word of a text in South East Asian scripts and its byte offset.
pub(super) fn for_each_segment<'text>(text: &'text str, mut visit: impl FnMut(usize, &'text str)) {
    let mut offset = 0;
    while offset < text.len() {
        let end = text.floor_char_boundary(offset.saturating_add(LONGEST_PIECE));
        let piece = text.get(offset..end).unwrap_or_default();
        let mut start = 0;
        for cut in SEGMENTER.segment_str(piece).filter(|cut| *cut > 0) {
            visit(offset + start, piece.get(start..cut).unwrap_or_default());
            start = cut;
        }
        offset = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(each: impl Fn(&mut dyn FnMut(usize, &str))) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        each(&mut |start, word| found.push((start, word.to_owned())));
        found
    }

    #[test]
    fn neighbours_make_bigrams() {
        let bigrams = |text: &str| {
            collect(|visit| for_each_bigram(text, visit)).into_iter().map(|(_, word)| word).collect::<Vec<_>>()
        };
        assert_eq!(bigrams("東京都"), ["東京", "京都"]);
        assert_eq!(bigrams("水"), ["水"]);
        assert!(bigrams("").is_empty());
    }

    #[test]
    fn thai_is_cut_into_words() {
        let words = collect(|visit| for_each_segment("ภาษาไทยง่าย", visit));
        let text: String = words.iter().map(|(_, word)| word.as_str()).collect();
        assert_eq!(text, "ภาษาไทยง่าย");
        assert!(words.iter().any(|(_, word)| word == "ไทย"), "{words:?}");
        let long = "ภาษาไทย".repeat(2_000);
        let cut = collect(|visit| for_each_segment(&long, visit));
        assert_eq!(cut.iter().map(|(_, word)| word.len()).sum::<usize>(), long.len());
    }

    #[test]
    fn stretches_are_of_one_script() {
        let found: Vec<(Script, &str)> = Script::stretches("Tokyo東京ไทยé")
            .map(|(script, range)| (script, "Tokyo東京ไทยé".get(range).expect("a stretch")))
            .collect();
        let expected = [
            (Script::Spaced, "Tokyo"),
            (Script::Ideographic, "東京"),
            (Script::SouthEastAsian, "ไทย"),
            (Script::Spaced, "é"),
        ];
        assert_eq!(found, expected);
    }
}
