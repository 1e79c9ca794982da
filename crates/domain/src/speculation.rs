//! Whether an answer is begun while a model is still grading, and over which passages.

use serde::{Deserialize, Serialize};

use super::corrective::Grade;
use super::grading::Verdict;

/// Least probability of a correct guess; below it the tokens are not worth spending.
const MIN_LIKELIHOOD: f32 = 0.5;

/// Whether an answer may be begun before the model's grades arrive. The words are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speculation {
    /// When the model's grades can be predicted with more than even odds.
    #[default]
    Auto,
    /// Whenever there is a passage that is certainly correct.
    On,
    /// Never.
    Off,
}

/// The grades expected after the model has judged the doubtful passages; `None` if no answer is to be begun. The
/// calibrated verdicts are probabilities, so the probability of the guess is the product over the doubtful passages.
#[must_use]
pub fn guess<'v>(choice: Speculation, verdicts: impl Iterator<Item = &'v Verdict>) -> Option<Vec<Grade>> {
    let mut has_sure_source = false;
    let mut likelihood = 1.0;
    let grades = verdicts
        .map(|verdict| {
            if verdict.is_clear {
                has_sure_source |= verdict.grade == Grade::Correct;
                return verdict.grade;
            }
            let probability = verdict.probability.unwrap_or(0.5);
            likelihood *= probability.max(1.0 - probability);
            if probability > 0.5 { Grade::Correct } else { Grade::Incorrect }
        })
        .collect();
    let is_wanted = match choice {
        Speculation::Auto => likelihood >= MIN_LIKELIHOOD,
        Speculation::On => true,
        Speculation::Off => false,
    };
    (is_wanted && has_sure_source).then_some(grades)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(grade: Grade, probability: f32, is_clear: bool) -> Verdict {
        Verdict { grade, probability: Some(probability), is_clear, reason: String::new() }
    }

    #[test]
    fn what_is_likely_is_guessed_and_nothing_without_a_sure_source() {
        type Row<'v> = (Speculation, Vec<&'v Verdict>, Option<Vec<Grade>>);
        use Grade::{Ambiguous, Correct, Incorrect};
        use Speculation::{Auto, Off, On};
        let sure = verdict(Correct, 0.9, true);
        let beside = verdict(Incorrect, 0.01, true);
        let unlikely = verdict(Ambiguous, 0.1, false);
        let open = verdict(Correct, 0.45, false);
        let likely = verdict(Correct, 0.6, false);
        let rows: [Row<'_>; 9] = [
            (Auto, vec![&sure, &beside, &unlikely], Some(vec![Correct, Incorrect, Incorrect])),
            (Auto, vec![&sure, &open], Some(vec![Correct, Incorrect])),
            (Auto, vec![&sure, &open, &open], None),
            (On, vec![&sure, &open, &open], Some(vec![Correct, Incorrect, Incorrect])),
            (Off, vec![&sure, &unlikely], None),
            (Auto, vec![&likely], None),
            (On, vec![&likely, &beside], None),
            (On, vec![&sure, &likely], Some(vec![Correct, Correct])),
            (On, vec![], None),
        ];
        for (choice, verdicts, expected) in rows {
            assert_eq!(guess(choice, verdicts.iter().copied()), expected, "{choice:?} over {verdicts:?}");
        }
    }
}
