//! Grading of retrieved passages: by a calibrated model of features, or by reading a model's reply.

pub mod calibrated;
pub mod features;
mod headed;
pub mod missing;
mod model;
pub mod question;
mod question_model;
mod release;
pub mod reply;
mod row;
mod signs;
mod unnamed;

use serde::{Deserialize, Serialize};

pub use super::corrective::Grade;

/// The grade of one passage and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The grade.
    pub grade: Grade,
    /// Probability that the passage answers the question, 0 to 1; `None` if only a
    /// model graded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f32>,
    /// Whether it is a model's, or surely correct. Enough surely correct passages spare the call of a grading model;
    /// without such a model every verdict stands as it is.
    #[serde(skip)]
    pub is_clear: bool,
    /// Why, for the trace. Names features and question terms, never more of the passage than terms.
    pub reason: String,
}

impl Verdict {
    /// The verdict of a passage that holds nothing of the question but the name of its subject, or mentions that in passing: it is
    /// not correct.
    #[must_use]
    pub fn of_name_alone(self) -> Self {
        let reason = format!("{}; says little of the subject", self.reason);
        Self { grade: self.grade.min(Grade::Ambiguous), is_clear: false, reason, ..self }
    }

    /// That of a passage about another subject than the question names.
    #[must_use]
    pub fn elsewhere() -> Self {
        let reason = "about another subject than the question names".to_owned();
        Self { grade: Grade::Incorrect, probability: Some(0.0), is_clear: false, reason }
    }

    /// Whether it speaks more for the passage: by its grade, then by its probability.
    #[must_use]
    pub fn is_better_than(&self, other: &Self) -> bool {
        let worth = |verdict: &Self| (verdict.grade, verdict.probability.unwrap_or(0.0));
        let ((grade, probability), (other_grade, other_probability)) = (worth(self), worth(other));
        grade > other_grade || (grade == other_grade && probability > other_probability)
    }
}

#[cfg(test)]
mod tests;
