//! Rules out words that cannot have one of a few stems, by their first two letters.
//!
//! The English stemmer changes the ends of words. It leaves the beginning alone, except for `y` and `i` (`dying`
//! becomes `die`); a few words are reduced to one letter (`b's` becomes `b`), and a single letter may get a sign
//! (`C++`). So a word whose first two letters begin no wanted stem needs no stemming.

/// Number of distinct low-five-bit values by which first and second letters are compared: other characters may be taken
/// for letters, which costs an unneeded stemming but never hides a term.
const LETTERS: usize = 32;

/// The openings of a set of terms: one bit for each second letter, by first letter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Openings([u32; LETTERS]);

impl Openings {
    /// The openings of these terms.
    #[must_use]
    pub fn of<'t>(terms: impl IntoIterator<Item = &'t str>) -> Self {
        let mut openings = Self::default();
        for term in terms {
            let (first, second) = opening(term);
            if let Some(seconds) = openings.0.get_mut(first) {
                // A word of one letter has no second letter, and a term of one letter matches every word.
                *seconds |= second.map_or(u32::MAX, |second| 1 << second | 1);
            }
        }
        openings
    }

    /// Whether the stem of `word`, in any case, may be one of the terms.
    pub(super) fn may_hold(&self, word: &str) -> bool {
        let (first, second) = opening(word);
        self.0.get(first).is_some_and(|seconds| seconds & 1 << second.unwrap_or(0) != 0)
    }
}

fn opening(word: &str) -> (usize, Option<usize>) {
    let letter = |byte: &u8| {
        let byte = if matches!(byte, b'y' | b'Y') { b'i' } else { *byte };
        usize::from(byte) % LETTERS
    };
    (word.as_bytes().first().map_or(0, letter), word.as_bytes().get(1).map(letter))
}
