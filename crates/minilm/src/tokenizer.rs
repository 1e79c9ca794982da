//! BERT's uncased `WordPiece`: text to vocabulary ids.
//!
//! Written here because it is small and runs for every chunk boundary that the splitter tries: words of plain ASCII,
//! which is nearly all of them, are looked up without any Unicode table. Ids equal those of the published
//! tokenizer, except beside some 690 characters that became punctuation, marks or format characters after Unicode 8,
//! where that tokenizer's tables end; no wordpiece has any of them.

use hashbrown::HashMap;

use super::MiniLmError;
use super::normalise::each_word;

/// A longer word is unknown as a whole.
const LONGEST_WORD: usize = 100;

/// Written out in a text, these stand for themselves, as in the published tokenizer.
const SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/// The vocabulary, borrowed from the asset.
pub(super) struct Tokenizer {
    /// Pieces that begin a word.
    first: Pieces,
    /// Pieces that continue one, without their `##`.
    next: Pieces,
    special: [u32; 5],
}

impl Tokenizer {
    pub(crate) fn read(vocabulary: &'static str) -> Result<Self, MiniLmError> {
        let (mut first, mut next) = (Pieces::default(), Pieces::default());
        for (id, piece) in (0..).zip(vocabulary.lines()) {
            match piece.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => next.insert(rest, id),
                _ => first.insert(piece, id),
            }
        }
        let mut special = [0; 5];
        for (id, name) in special.iter_mut().zip(SPECIAL) {
            let missing = || MiniLmError::Asset(format!("the vocabulary lacks {name}"));
            *id = first.ids.get(name.as_bytes()).copied().ok_or_else(missing)?;
        }
        Ok(Self { first, next, special })
    }

    /// Ids of a text between `[CLS]` and `[SEP]`, cut so that all fit the window.
    pub(crate) fn encode(&self, text: &str, window: usize) -> Vec<u32> {
        let [_, _, begin, end, _] = self.special;
        let mut ids = vec![begin];
        self.each_piece(text, |id| {
            ids.push(id);
            ids.len() + 1 < window
        });
        ids.push(end);
        ids
    }

    /// Number of wordpieces of a text, without `[CLS]` and `[SEP]`.
    pub(crate) fn count(&self, text: &str) -> usize {
        let mut count = 0;
        self.each_piece(text, |_| {
            count += 1;
            true
        });
        count
    }

    /// Calls `found` with each id until it answers false.
    fn each_piece(&self, text: &str, mut found: impl FnMut(u32) -> bool) {
        let mut word = String::new();
        let mut rest = text;
        while let Some((start, which)) = find_special(rest) {
            if !self.each_plain_piece(&rest[..start], &mut word, &mut found) {
                return;
            }
            if !found(self.special[which]) {
                return;
            }
            rest = &rest[start + SPECIAL[which].len()..];
        }
        self.each_plain_piece(rest, &mut word, &mut found);
    }

    fn each_plain_piece(&self, text: &str, word: &mut String, found: &mut impl FnMut(u32) -> bool) -> bool {
        text.split([' ', '\t', '\n', '\r']).all(|part| {
            if part.is_ascii() {
                self.ascii_part(part, word, found)
            } else {
                each_word(part, word, |word| self.pieces(word, found))
            }
        })
    }

    /// Splits off punctuation, drops control characters, lowers the case.
    fn ascii_part(&self, part: &str, word: &mut String, found: &mut impl FnMut(u32) -> bool) -> bool {
        word.clear();
        for byte in part.bytes() {
            if byte.is_ascii_punctuation() {
                if !word.is_empty() && !self.pieces(word, found) {
                    return false;
                }
                word.clear();
                let alone = [byte];
                let alone = std::str::from_utf8(&alone).expect("ASCII is UTF-8");
                if !self.pieces(alone, found) {
                    return false;
                }
            } else if !byte.is_ascii_control() {
                word.push(char::from(byte.to_ascii_lowercase()));
            }
        }
        word.is_empty() || self.pieces(word, found)
    }

    /// Longest match first; a word that cannot be spelled to its end is unknown as a whole.
    fn pieces(&self, word: &str, found: &mut impl FnMut(u32) -> bool) -> bool {
        let unknown = self.special[1];
        if let Some(&id) = self.first.ids.get(word.as_bytes()) {
            return found(id);
        }
        if word.len() > LONGEST_WORD && word.chars().count() > LONGEST_WORD {
            return found(unknown);
        }
        let mut ids = [0; LONGEST_WORD];
        let mut count = 0;
        let mut rest = word;
        while !rest.is_empty() {
            let pieces = if count == 0 { &self.first } else { &self.next };
            let Some((id, length)) = pieces.longest(rest) else {
                return found(unknown);
            };
            ids[count] = id;
            count += 1;
            rest = &rest[length..];
        }
        ids[..count].iter().all(|&id| found(id))
    }
}

/// Ids by spelling.
#[derive(Default)]
struct Pieces {
    ids: HashMap<&'static [u8], u32>,
    longest: usize,
}

impl Pieces {
    fn insert(&mut self, piece: &'static str, id: u32) {
        self.longest = self.longest.max(piece.len());
        self.ids.insert(piece.as_bytes(), id);
    }

    /// The longest piece that `word` starts with, and its length in bytes.
    fn longest(&self, word: &str) -> Option<(u32, usize)> {
        let bytes = word.as_bytes();
        (1..=self.longest.min(bytes.len()))
            .rev()
            .filter(|&length| word.is_char_boundary(length))
            .find_map(|length| self.ids.get(&bytes[..length]).map(|&id| (id, length)))
    }
}

/// Where the first special token is written out, and which it is.
fn find_special(text: &str) -> Option<(usize, usize)> {
    text.match_indices('[').find_map(|(start, _)| {
        let which = SPECIAL.iter().position(|name| text[start..].starts_with(name))?;
        Some((start, which))
    })
}
