//! Whether a passage only repeats another passage.
//!
//! The same notice stands in five manuals, with another line above it, other line breaks, an extra comma. Last year's
//! notice stands there too, and differs by one number. So the comparison is strict where the meaning depends on a
//! single word: a passage with a number, a name or a negation that the other lacks is never its duplicate, however much
//! they have in common. Measures of similarity alone (shingles, cosines) would treat the notices of the two years as
//! the same.

use crate::lexical::term_id::{FNV_OFFSET_BASIS, fnv1a};

/// Words of a run that two passages must have in common: long enough that only copies share most.
const RUN: usize = 4;

/// Share of its runs that a duplicate has in common with the passage that stands for it.
const SHARED_RUNS: f64 = 0.8;

/// Passages of fewer words are duplicates only if all words are equal.
const SHORTEST_COMPARED: usize = 12;

/// Words that reverse a statement.
const NEGATIONS: [&str; 8] = ["no", "non", "not", "never", "neither", "nor", "without", "cannot"];

/// A passage's words, prepared to be compared with many.
#[derive(Debug, Clone)]
pub struct Shingles {
    /// Hashes of the words in reading order.
    words: Vec<u64>,
    /// Words on which the meaning depends, each as often as it occurs.
    decisive: Vec<u64>,
    /// Hashes of the runs.
    runs: Vec<u64>,
    /// A Bloom filter (Bloom 1970) of the runs, to rule out most absent runs quickly.
    glance: [u64; GLANCE],
}

/// Words of a filter that a passage's hundreds of runs fill to a small part.
const GLANCE: usize = 32;

impl Shingles {
    /// Parses a passage: words are runs of letters and digits, in lower case.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let (mut words, mut decisive) = (Vec::new(), Vec::new());
        for word in text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let hash = hash_of(word);
            if is_decisive(word) {
                decisive.push(hash);
            }
            words.push(hash);
        }
        let runs: Vec<u64> = words.windows(RUN).map(hash_of_run).collect();
        let mut glance = [0; GLANCE];
        for run in &runs {
            let (place, bit) = glance_at(*run);
            if let Some(word) = glance.get_mut(place) {
                *word |= bit;
            }
        }
        Self { words, decisive, runs, glance }
    }

    /// Whether this passage contains everything that `other` does.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        if other.words.len() < SHORTEST_COMPARED || self.words.len() < SHORTEST_COMPARED {
            return self.words == other.words;
        }
        let seen = |run: &&u64| {
            let (place, bit) = glance_at(**run);
            self.glance.get(place).is_some_and(|word| word & bit != 0)
        };
        #[expect(clippy::cast_precision_loss, reason = "a passage has some hundreds of words")]
        let is_enough = |shared: usize, all: usize| shared as f64 >= SHARED_RUNS * all as f64;
        // Almost all passages are no duplicates and end here.
        if !is_enough(other.runs.iter().filter(seen).count(), other.runs.len()) {
            return false;
        }
        let decisive = sorted(&other.decisive);
        let (mut runs, mut others) = (sorted(&self.runs), sorted(&other.runs));
        runs.dedup();
        others.dedup();
        common(&decisive, &sorted(&self.words)) == decisive.len() && is_enough(common(&others, &runs), others.len())
    }
}

fn sorted(hashes: &[u64]) -> Vec<u64> {
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Position of a run in [`Shingles::glance`]: index of the word and bit within it.
const fn glance_at(run: u64) -> (usize, u64) {
    ((run >> 59) as usize % GLANCE, 1 << ((run >> 53) % 64))
}

/// How many elements two ascending lists have in common, each as often as both hold it.
fn common(one: &[u64], other: &[u64]) -> usize {
    let mut others = other.iter().peekable();
    let is_met = |hash: &&u64| {
        while others.next_if(|next| *next < *hash).is_some() {}
        others.next_if_eq(hash).is_some()
    };
    one.iter().filter(is_met).count()
}

/// Whether a word is a number, a name or a negation. A capital at the start of a sentence counts as a name's: too
/// strict is safe here.
fn is_decisive(word: &str) -> bool {
    word.chars().any(|character| character.is_numeric() || character.is_uppercase()) || NEGATIONS.contains(&word)
}

/// Hash of the word in lower case. A collision of two words gives an attacker no advantage.
fn hash_of(word: &str) -> u64 {
    if word.is_ascii() {
        // Nearly all words of most texts: no table of other letters is asked.
        return fnv1a(FNV_OFFSET_BASIS, word.bytes().map(|byte| u64::from(byte.to_ascii_lowercase())));
    }
    fnv1a(FNV_OFFSET_BASIS, word.chars().flat_map(char::to_lowercase).map(u64::from))
}

/// Hash of a run: its words in their order.
fn hash_of_run(run: &[u64]) -> u64 {
    run.iter().fold(0, |hash: u64, word| hash.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word)
}
