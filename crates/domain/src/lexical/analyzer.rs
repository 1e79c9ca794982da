//! Text to terms, the same way for documents and for questions.
//!
//! Words are those of Unicode Standard Annex 29. Each is lower-cased, put into compatibility form
//! (NFKD: ligatures and full-width letters of PDF files become plain ones), stripped of accents,
//! dropped if it is a stop word of the collection's language, and reduced to its stem in that language
//! (Snowball, Porter 2001). A language other than English stems words as they are written, with accents, and removes
//! the accents afterwards; documents also keep the stem of the word without accents, for questions that omit them.
//! Words in scripts that the language is not written in pass through unstemmed. Chinese, Japanese and Korean are
//! indexed by every two neighbouring characters, Thai, Lao, Khmer and Burmese by their words (see [`super::unspaced`]).
//!
//! Deviations from the annex, for the purposes of search:
//! - `snake_case`, `host.example` and `sentence.Next` are their parts;
//! - `U.S.` is `us`, written with or without stops;
//! - `1,000` is `1000`; `3.14` and `1.95.0` stay whole;
//! - `C++`, `C#` and `F#` keep their sign;
//! - `-z`, the option of a command, keeps its hyphen, so that it is neither any letter nor, as `-a`, an article;
//! - `IT` among words in small letters is no pronoun.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use frostem::Stemmer;
use unicode_normalization::UnicodeNormalization;

use super::compound::{capitalised_parts, hyphen_of_option, letter_before, number_and_unit};
use super::language::Language;
use super::openings::Openings;
use super::stop_words::{StopWords, is_abbreviation};
use super::unspaced::characters_of_bigram;
use super::words::for_each_word;

/// Raised whenever the same text may give other terms than before. A collection records the version
/// its chunks were analysed with, because terms of two versions do not match each other.
pub const ANALYZER_VERSION: u32 = 5;

/// Longest word, in bytes, that is stemmed: a longer word is data (base64, a hash), not language.
const LONGEST_STEMMED: usize = 64;

/// Turns text into terms. Stateless between calls.
pub struct Analyzer {
    language: Language,
    stemmer: Option<Stemmer>,
    stop_words: StopWords,
}

/// One analyzer for each language, indexed by its position in the enumeration, created at first use.
static ANALYZERS: [OnceLock<Analyzer>; Language::ALL.len()] = [const { OnceLock::new() }; Language::ALL.len()];

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Analyzer").field("language", &self.language).finish_non_exhaustive()
    }
}

impl Default for &'static Analyzer {
    fn default() -> Self {
        Analyzer::of(Language::default())
    }
}

impl Analyzer {
    /// The one analyzer of a language.
    #[must_use]
    pub fn of(language: Language) -> &'static Self {
        let analyzer = ANALYZERS.get(language as usize).expect("there is one for each");
        analyzer.get_or_init(|| Self::new(language))
    }

    /// The analyzer of English.
    #[must_use]
    pub fn english() -> &'static Self {
        Self::of(Language::English)
    }

    /// Its language.
    #[must_use]
    pub const fn language(&self) -> Language {
        self.language
    }

    fn new(language: Language) -> Self {
        Self { language, stemmer: language.stemmer(), stop_words: StopWords::of(language) }
    }

    /// The terms of `text` in reading order, repeated as often as they occur.
    #[must_use]
    pub fn terms(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.for_each_term(text, |term, _| terms.push(term.to_owned()));
        terms
    }

    /// Calls `visit` with each term of `text` and the byte range of the word it comes from.
    ///
    /// Several terms may share a range (`snake_case`).
    pub fn for_each_term(&self, text: &str, mut visit: impl FnMut(&str, Range<usize>)) {
        self.walk(text, |_| Need::Stem, |term, range| visit(term.unwrap_or_default(), range));
    }

    /// Calls `visit` with every term of `text` that is among `wanted`, perhaps with others, and with the byte
    /// range of its word. Words that cannot be wanted are neither folded nor stemmed, which is most of the cost.
    pub fn for_each_term_among(&self, wanted: &Openings, text: &str, mut visit: impl FnMut(&str, Range<usize>)) {
        let need = |word: &str| if self.may_hold(wanted, word) { Need::Stem } else { Need::Nothing };
        self.walk(text, need, |term, range| visit(term.unwrap_or_default(), range));
    }

    /// The same for callers that count all terms: `visit` gets `None` for a term that cannot be among `wanted`.
    pub fn for_each_term_or_other(&self, wanted: &Openings, text: &str, mut visit: impl FnMut(Option<&str>)) {
        let need = |word: &str| if self.may_hold(wanted, word) { Need::Stem } else { Need::Count };
        self.walk(text, need, |term, _| visit(term));
    }

    fn walk(&self, text: &str, need: impl Fn(&str) -> Need, mut visit: impl FnMut(Option<&str>, Range<usize>)) {
        let mut emit = |word: &str, raw: &str, range: Range<usize>| match need(word) {
            Need::Nothing => {}
            _ if word.is_empty() || self.stop_words.contains(word) && !is_abbreviation(text, &range) => {}
            Need::Stem => visit(Some(&self.stem_as_written(word, raw)), range),
            Need::Count => visit(None, range),
        };
        let mut word = String::with_capacity(64);
        for_each_word(text, |start, raw| {
            let end = start + raw.len();
            if let Some(hyphen) = hyphen_of_option(text, start..end) {
                let option = format!("-{}", raw.to_ascii_lowercase());
                emit(&option, &option, hyphen..end);
                // A digit may be a negative number.
                if raw.starts_with(|sign: char| sign.is_ascii_alphabetic()) {
                    return;
                }
            }
            if is_plain_ascii(raw) && need(raw) == Need::Nothing {
                return;
            }
            let shape = fold_into(raw, &mut word);
            if let Some(sign) = language_sign(&word, text.get(end..).unwrap_or_default()) {
                word.push_str(sign);
                emit(&word, &word, start..end + sign.len());
                return;
            }
            match shape {
                Shape::Plain => emit(&word, raw, start..end),
                Shape::Punctuated => {
                    let word = normalise_punctuated(&word);
                    for part in word.split(PART_SEPARATOR) {
                        emit(part, part, start..end);
                    }
                }
            }
        });
    }

    /// Calls `visit` with each term that an index keeps of `text`: those of [`Self::for_each_term`], and the
    /// other spellings of a word (see [`super::compound`]).
    ///
    /// Questions are weighed by their terms alone, so that another spelling does not count twice.
    pub fn for_each_index_term(&self, text: &str, mut visit: impl FnMut(&str)) {
        let mut folded = String::new();
        let mut last = 0..0;
        let mut characters_done = 0;
        self.for_each_term(text, |term, range| {
            visit(term);
            if range == last {
                return;
            }
            last = range.clone();
            let raw = text.get(range.clone()).unwrap_or_default();
            for (start, character) in characters_of_bigram(raw) {
                // Bigrams overlap: in all but the first, one character is new.
                if range.start + start >= characters_done {
                    characters_done = range.start + start + character.len();
                    fold_into(character, &mut folded);
                    visit(&folded);
                }
            }
            let mut add = |word: &str| {
                if !word.is_empty() && !self.stop_words.contains(word) {
                    visit(&self.stem(word));
                }
            };
            for part in capitalised_parts(raw) {
                add(&part.to_ascii_lowercase());
            }
            if let Some(letter) = term.strip_prefix('-').filter(|letter| letter.chars().all(char::is_alphabetic)) {
                add(letter);
            }
            fold_into(raw, &mut folded);
            if let Some((number, unit)) = number_and_unit(&folded) {
                add(&normalise_punctuated(number));
                add(unit);
            }
            if let Some(letter) = letter_before(text, range.start).filter(|_| raw.chars().all(char::is_alphabetic)) {
                add(&format!("{letter}{folded}"));
            }
            if self.keeps_accents() && !raw.is_ascii() && self.stem(&folded) != term {
                add(&folded);
            }
            if folded.trim_matches('_').contains('_') {
                visit(folded.trim_matches('_'));
            }
        });
    }

    /// The stem of a folded word. An option is no word of the language.
    fn stem<'w>(&self, word: &'w str) -> Cow<'w, str> {
        match &self.stemmer {
            _ if word.starts_with('-') => Cow::Borrowed(word),
            Some(stemmer) if word.len() <= LONGEST_STEMMED && (word.is_ascii() || self.keeps_accents()) => {
                // Stemming may leave nothing of a word that consists of an ending.
                Some(stemmer.stem(word)).filter(|stem| !stem.is_empty()).unwrap_or(Cow::Borrowed(word))
            }
            _ => Cow::Borrowed(word),
        }
    }

    /// The stem of a word with its accents; `folded` is the word without them.
    fn stem_as_written<'w>(&self, folded: &'w str, raw: &str) -> Cow<'w, str> {
        let Some(stemmer) = self.stemmer.as_ref().filter(|_| self.keeps_accents() && !raw.is_ascii()) else {
            return self.stem(folded);
        };
        if raw.len() > LONGEST_STEMMED {
            return Cow::Borrowed(folded);
        }
        // The compatibility form of a mark that stands alone begins with a space.
        let written: String =
            raw.nfkc().filter(|character| !character.is_whitespace()).flat_map(char::to_lowercase).collect();
        let mut stem = String::with_capacity(raw.len());
        fold_into(&stemmer.stem(&written), &mut stem);
        // Stemming may leave nothing of a word that consists of an ending.
        if stem.is_empty() { Cow::Borrowed(folded) } else { Cow::Owned(stem) }
    }

    /// Whether words are stemmed before they lose their accents. English words have hardly any accents.
    fn keeps_accents(&self) -> bool {
        !matches!(self.language, Language::English | Language::None)
    }

    /// Whether the stem of `word` may be among `wanted`. Stemmers other than the English one change beginnings too.
    fn may_hold(&self, wanted: &Openings, word: &str) -> bool {
        self.keeps_accents() || wanted.may_hold(word)
    }
}

/// The processing that a word needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Its term is wanted.
    Stem,
    /// Only the fact that it is a term matters.
    Count,
    Nothing,
}

/// The result of [`fold_into`] for a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    /// Holds one of `. _ : , ;`, so that [`normalise_punctuated`] has to look at it.
    Punctuated,
}

const fn is_joining_punctuation(byte: u8) -> bool {
    matches!(byte, b'.' | b'_' | b':' | b',' | b';')
}

/// Whether folding changes nothing but the case.
fn is_plain_ascii(raw: &str) -> bool {
    raw.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'\'')
}

/// Writes the lower-case, accent-free form of `raw` over `word`.
fn fold_into(raw: &str, word: &mut String) -> Shape {
    word.clear();
    if raw.is_ascii() {
        word.push_str(raw);
        word.make_ascii_lowercase();
    } else {
        fold_unicode(raw, word);
    }
    if word.bytes().any(is_joining_punctuation) { Shape::Punctuated } else { Shape::Plain }
}

/// A word in the form that terms have before stemming: lower case, without accents.
pub(super) fn folded(raw: &str) -> String {
    let mut word = String::new();
    fold_into(raw, &mut word);
    word
}

/// The slow path of [`fold_into`].
fn fold_unicode(raw: &str, word: &mut String) {
    let mut base = '\0';
    for character in raw.nfkd().flat_map(char::to_lowercase) {
        match character {
            // Combining diacritics are removed, but и with a breve is й, a letter of its own.
            '\u{306}' if base == 'и' => word.push(character),
            // Soft hyphen, zero-width marks, word joiner and byte order mark are invisible anyway.
            '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => {}
            // Spaces come out of characters that decompose into one and a mark: a term holds none.
            character if character.is_whitespace() => {}
            '\u{2018}' | '\u{2019}' | '\u{2bc}' => word.push('\''),
            // Letters that do not decompose but are commonly written without their mark.
            'ß' => word.push_str("ss"),
            'æ' => word.push_str("ae"),
            'œ' => word.push_str("oe"),
            'ø' => word.push('o'),
            'ł' => word.push('l'),
            'đ' => word.push('d'),
            'ı' => word.push('i'),
            _ => word.push(character),
        }
        base = character;
    }
}

/// Stands between the parts of a word that [`normalise_punctuated`] takes apart.
const PART_SEPARATOR: char = ' ';

/// Splits or joins a word with punctuation inside (see the module's description).
fn normalise_punctuated(word: &str) -> String {
    let is_acronym = word.split('.').all(|part| part.chars().count() == 1);
    if is_acronym && !word.starts_with(|first: char| first.is_numeric()) {
        return word.replace('.', "");
    }
    let mut parts = String::with_capacity(word.len());
    let mut before = '\0';
    let mut rest = word.chars();
    while let Some(character) = rest.next() {
        let after = rest.as_str();
        let between_digits = before.is_ascii_digit() && after.starts_with(|next: char| next.is_ascii_digit());
        match character {
            ',' if between_digits && is_thousands_group(after) => {}
            '.' | ',' if between_digits => parts.push(character),
            '.' | ',' | '_' | ':' | ';' => parts.push(PART_SEPARATOR),
            _ => parts.push(character),
        }
        before = character;
    }
    parts
}

/// Whether the text after a comma is exactly three digits.
fn is_thousands_group(after: &str) -> bool {
    after.bytes().take_while(u8::is_ascii_digit).count() == 3
}

/// The sign of `C++`, `C#` or `F#`, if `word` is one letter and `rest`, the text after it, begins with one.
fn language_sign(word: &str, rest: &str) -> Option<&'static str> {
    if !matches!(word.as_bytes(), [b'a'..=b'z']) {
        return None;
    }
    ["++", "#"].into_iter().find(|sign| rest.starts_with(sign))
}

#[cfg(test)]
#[path = "analyzer_tests.rs"]
mod tests;
