//! Whether a passage says nothing that another does not.
//!
//! The same notice stands in five manuals, with another line above it, other line breaks, a comma more.
//! Last year's notice stands there too, and differs by one number. So the comparison is strict where
//! meaning hangs on a word: a passage with a number, a name or a negation that the other lacks is never
//! its duplicate, however much they have in common. Measures of similarity alone (shingles, cosines)
//! take the two years for the same.

use std::hash::{DefaultHasher, Hash, Hasher};

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
    /// The same, ascending.
    sorted: Vec<u64>,
    /// Those that meaning hangs on, as often as they stand there, ascending.
    decisive: Vec<u64>,
    /// Hashes of the runs, ascending, each once.
    runs: Vec<u64>,
}

impl Wording {
    /// Takes a passage apart: words are runs of letters and digits, in lower case.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let (mut words, mut decisive) = (Vec::new(), Vec::new());
        let mut lowered = String::new();
        for word in text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
            lowered.clear();
            lowered.extend(word.chars().flat_map(char::to_lowercase));
            let hash = hash_of(&lowered);
            if is_decisive(word, &lowered) {
                decisive.push(hash);
            }
            words.push(hash);
        }
        let mut runs: Vec<u64> = words.windows(RUN).map(hash_of_run).collect();
        runs.sort_unstable();
        runs.dedup();
        decisive.sort_unstable();
        let mut sorted = words.clone();
        sorted.sort_unstable();
        Self { words, sorted, decisive, runs }
    }

    /// Whether all that `other` says stands here too.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        if other.words.len() < SHORTEST_COMPARED || self.words.len() < SHORTEST_COMPARED {
            return self.words == other.words;
        }
        if common(&other.decisive, &self.sorted) < other.decisive.len() {
            return false;
        }
        #[expect(clippy::cast_precision_loss, reason = "a passage has some hundreds of words")]
        let share = common(&other.runs, &self.runs) as f64 / other.runs.len() as f64;
        share >= SHARED_RUNS
    }
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
fn is_decisive(word: &str, lowered: &str) -> bool {
    word.chars().any(|character| character.is_numeric() || character.is_uppercase()) || NEGATIONS.contains(&lowered)
}

/// Hashes live as long as one request, so the standard library's need not be stable.
fn hash_of(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// Order matters: a run is its words and their places.
fn hash_of_run(run: &[u64]) -> u64 {
    run.iter().fold(0, |hash: u64, word| hash.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word)
}
