//! Vectors that cost nearly nothing: a text is the sum of its words' fixed random vectors.
//!
//! Equal texts get equal vectors, different texts different ones, and texts that share words lie near
//! each other. The vectors of words lie in a subspace, so that an index has to do with them what it has to do with
//! a model's: by the estimate of Levina and Bickel (2004, k = 20) 39,000 such vectors have 18 dimensions, and those
//! that `MiniLM` makes of 39,000 sentences have 17. Vectors that fill all dimensions have no near neighbours.

use crate::random::Random;

/// Numbers in a vector.
pub const DIMENSION: usize = 384;
/// Words are hashed to so many vectors.
const ROWS: usize = 8_192;
/// Dimensions of the subspace.
const SUBSPACE: usize = 24;
/// Sums beyond this are cut off.
const LARGEST: i16 = 2_047;
/// Shorter words are function words, which say nothing.
const SHORTEST_WORD: usize = 5;

/// Tables for all texts.
pub struct Vectors {
    rows: Vec<[i16; DIMENSION]>,
    /// Every number that can occur, as JSON, with as many digits as real servers send.
    rendered: Vec<String>,
}

impl Vectors {
    /// Fills the tables.
    pub fn new() -> Self {
        let mut random = Random::new(384);
        let mut around_zero =
            |limit: i16| i16::try_from(random.below(2 * limit.unsigned_abs() as usize + 1)).expect("small") - limit;
        let axes: [[i16; DIMENSION]; SUBSPACE] = std::array::from_fn(|_| std::array::from_fn(|_| around_zero(1)));
        let rows = (0..ROWS)
            .map(|_| {
                let place: [i16; SUBSPACE] = std::array::from_fn(|_| around_zero(7));
                std::array::from_fn(|number| place.iter().zip(&axes).map(|(along, axis)| along * axis[number]).sum())
            })
            .collect();
        let rendered = (-LARGEST..=LARGEST).map(|sum| format!("{:.8}", f64::from(sum) / 4_096.37)).collect();
        Self { rows, rendered }
    }

    /// The vector of `text` with unit length, as the service stores it.
    pub fn unit(&self, text: &str) -> Vec<f32> {
        let sums = self.sums(text).map(|sum| f32::from(sum.clamp(-LARGEST, LARGEST)));
        let length = sums.iter().map(|sum| sum * sum).sum::<f32>().sqrt();
        sums.iter().map(|sum| sum / length).collect()
    }

    /// Writes the vector of `text` as a JSON array.
    pub fn write(&self, text: &str, json: &mut String) {
        json.push('[');
        for sum in self.sums(text) {
            let place = sum.clamp(-LARGEST, LARGEST) + LARGEST;
            json.push_str(&self.rendered[usize::from(place.unsigned_abs())]);
            json.push(',');
        }
        json.pop();
        json.push(']');
    }

    fn sums(&self, text: &str) -> [i16; DIMENSION] {
        let mut sums = [0_i16; DIMENSION];
        for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() >= SHORTEST_WORD) {
            for (sum, value) in sums.iter_mut().zip(&self.rows[row_of(word)]) {
                *sum = sum.saturating_add(*value);
            }
        }
        // A text without words still needs a direction.
        sums[0] = sums[0].saturating_add(1);
        sums
    }
}

/// FNV-1a over the lower-case letters.
fn row_of(word: &str) -> usize {
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3)
    });
    usize::try_from(hash >> 51).expect("13 bits")
}
