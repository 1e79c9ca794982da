//! Which words cannot have one of a few stems, told by their first two letters.
//!
//! The English stemmer changes the ends of words. The beginning it leaves alone, but for `y` and `i`
//! (`dying` is `die`), of a few words one letter is left (`b's` is `b`), and one letter may be given a sign
//! (`C++`). So a word whose first two letters begin no stem that is looked for needs no stemming.

/// First two bytes, the second 0 for a word of one.
type Opening = [u8; 2];

/// The openings of a set of terms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Openings(Vec<Opening>);

impl Openings {
    /// Of these terms.
    #[must_use]
    pub fn of<'t>(terms: impl IntoIterator<Item = &'t str>) -> Self {
        let mut openings: Vec<Opening> = terms.into_iter().map(opening).collect();
        openings.sort_unstable();
        openings.dedup();
        Self(openings)
    }

    /// Whether the stem of `word`, in any case, may be one of the terms.
    pub(super) fn may_hold(&self, word: &str) -> bool {
        let [first, second] = opening(word);
        self.0.iter().any(|known| known[0] == first && (known[1] == second || known[1] == 0 || second == 0))
    }
}

fn opening(word: &str) -> Opening {
    let mut bytes = word.bytes().map(|byte| if matches!(byte, b'y' | b'Y') { b'i' } else { byte.to_ascii_lowercase() });
    [bytes.next().unwrap_or(0), bytes.next().unwrap_or(0)]
}
