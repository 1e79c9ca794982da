//! Whether a passage says nothing that another does not.
//!
//! The same notice stands in five manuals, with another line above it, other line breaks, a comma more.
//! Last year's notice stands there too, and differs by one number. So the comparison is strict where
//! meaning hangs on a word: a passage with a number, a name or a negation that the other lacks is never
//! its duplicate, however much they have in common. Measures of similarity alone (shingles, cosines)
//! take the two years for the same.

use crate::lexical::term_id::{FNV_OFFSET_BASIS, fnv1a};

/// Words of a run that two passages must have in common: long enough that only copies share most.
const RUN: usize = 4;

/// Share of its runs that a duplicate has in common with the passage that stands for it.
const SHARED_RUNS: f64 = 0.8;

/// Passages of fewer words are the same only if all words are.
const SHORTEST_COMPARED: usize = 12;

/// Words that turn a statement around.
const NEGATIONS: [&str; 8] = ["no", "non", "not", "never", "neither", "nor", "without", "cannot"];

/// A passage's words, prepared to be compared with many.
#[derive(Debug, Clone)]
pub struct Wording {
    /// Hashes of the words in reading order.
    words: Vec<u64>,
    /// Those that meaning hangs on, as often as they stand there.
    decisive: Vec<u64>,
    /// Hashes of the runs.
    runs: Vec<u64>,
    /// The runs once more, to tell at a glance that a run is not among them (Bloom 1970).
    glance: [u64; GLANCE],
}

/// Words of a filter that a passage's hundreds of runs fill to a small part.
const GLANCE: usize = 32;

impl Wording {
    /// Takes a passage apart: words are runs of letters and digits, in lower case.
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

    /// Whether all that `other` says stands here too.
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
        // Next to all passages are no duplicates and end here.
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

/// Where a run is in [`Wording::glance`]: which word, which bit of it.
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

/// Numbers, names and negations. Capitals at the start of a sentence count as a name's: too strict is
/// safe here.
fn is_decisive(word: &str) -> bool {
    word.chars().any(|character| character.is_numeric() || character.is_uppercase()) || NEGATIONS.contains(&word)
}

/// Of the word in lower case. Nobody gains by two words that collide here.
fn hash_of(word: &str) -> u64 {
    fnv1a(FNV_OFFSET_BASIS, word.chars().flat_map(char::to_lowercase).map(u64::from))
}

/// Order matters: a run is its words and their places.
fn hash_of_run(run: &[u64]) -> u64 {
    run.iter().fold(0, |hash: u64, word| hash.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word)
}
