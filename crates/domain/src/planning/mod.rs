//! Plans how a question is answered: as a whole, in parts that are searched one by one, or broadly.

mod built_in;
mod coverage;
mod reply;

use serde::{Deserialize, Serialize};

use crate::spelling::{self, Correction};

pub use built_in::plan;
pub use coverage::{Said, missing};
pub use reply::read_reply;

/// Most sub-questions of a plan: each costs a search.
pub const MOST_SUB_QUESTIONS: usize = 4;

/// The type of a question. The words are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionType {
    /// A fact, or several that do not depend on each other.
    Lookup,
    /// The similarities or differences of two things.
    Compare,
    /// A fact that is reached by way of another one.
    MultiHop,
    /// The gist of something long.
    Summary,
    /// Everything there is on a subject.
    Exploratory,
}

impl QuestionType {
    /// All types.
    pub const ALL: [Self; 5] = [Self::Lookup, Self::Compare, Self::MultiHop, Self::Summary, Self::Exploratory];
}

/// How passages are looked for. The words are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// With the question as it is.
    Direct,
    /// With another wording of it as well.
    Rewrite,
    /// With each sub-question as well.
    Decompose,
    /// With the question as it is, and more passages than usual.
    BroadThenRerank,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 4] = [Self::Direct, Self::Rewrite, Self::Decompose, Self::BroadThenRerank];
}

/// The author of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedBy {
    /// Rules over the words of the question.
    BuiltIn,
    /// The configured model.
    Model,
}

/// The plan for answering a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The type of the question.
    #[serde(rename = "type")]
    pub question_type: QuestionType,
    /// How passages are looked for.
    pub strategy: Strategy,
    /// Queries in addition to the question itself: sub-questions, or another wording. At most [`MOST_SUB_QUESTIONS`].
    pub sub_questions: Vec<String>,
    /// The model's reason for this plan; `None` for a plan that follows from the words of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The author of the plan.
    pub by: PlannedBy,
}

impl Plan {
    /// The same plan for a question whose parts cannot be searched by themselves.
    #[must_use]
    pub fn undivided(self) -> Self {
        let strategy = if self.is_decomposed() { Strategy::Direct } else { self.strategy };
        Self { strategy, sub_questions: Vec::new(), ..self }
    }

    /// The same plan for a question whose words were corrected.
    #[must_use]
    pub fn corrected(self, corrections: &[Correction]) -> Self {
        let corrected = |text: &String| spelling::corrected(text, corrections);
        Self { sub_questions: self.sub_questions.iter().map(corrected).collect(), ..self }
    }

    /// Whether the answer may lack one of the sub-questions.
    #[must_use]
    pub fn is_decomposed(&self) -> bool {
        self.strategy == Strategy::Decompose
    }
}

#[cfg(test)]
mod tests;
