//! Whether an answer is begun while a model is still grading.

use serde::{Deserialize, Serialize};

/// Least probability that the passages answer the question; below it a draft is likely to be thrown away.
const MIN_ANSWERABILITY: f32 = 0.5;

/// Whether an answer may be begun before the model's grades arrive. The words are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speculation {
    /// When the passages answer the question with more than even odds.
    #[default]
    Auto,
    /// Whenever there is a passage.
    On,
    /// Never.
    Off,
}

impl Speculation {
    /// Whether an answer is begun over a round of passages. `answerability` is the probability that they answer the
    /// question, by the calibrated grader; `None` if there are none.
    #[must_use]
    pub fn begins(self, answerability: Option<f32>) -> bool {
        match self {
            Self::Auto => answerability.is_some_and(|probability| probability >= MIN_ANSWERABILITY),
            Self::On => answerability.is_some(),
            Self::Off => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Speculation::{Auto, Off, On};

    #[test]
    fn a_draft_is_begun_over_likely_passages_or_on_request() {
        let rows = [
            (Auto, Some(0.5), true),
            (Auto, Some(0.49), false),
            (Auto, None, false),
            (On, Some(0.01), true),
            (On, None, false),
            (Off, Some(1.0), false),
        ];
        for (choice, answerability, expected) in rows {
            assert_eq!(choice.begins(answerability), expected, "{choice:?} at {answerability:?}");
        }
    }
}
