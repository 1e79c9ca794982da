//! How a question is gone about: as a whole, in parts that are looked for one by one, or broadly.

mod built_in;
mod coverage;
mod reply;

use serde::{Deserialize, Serialize};

pub use built_in::plan;
pub use coverage::{Said, missing};
pub use reply::read_reply;

/// Most sub-questions of a plan: each costs a search.
pub const MOST_SUB_QUESTIONS: usize = 4;

/// What a question asks for. The words are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionType {
    /// A fact, or several that do not depend on each other.
    Lookup,
    /// What two things have in common, or not.
    Compare,
    /// A fact that another one leads to.
    MultiHop,
    /// The gist of something long.
    Summary,
    /// Whatever there is on a subject.
    Exploratory,
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

/// Who made a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedBy {
    /// Rules over the words of the question.
    BuiltIn,
    /// The configured model.
    Model,
}

/// How a question is gone about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// What the question asks for.
    #[serde(rename = "type")]
    pub question_type: QuestionType,
    /// How passages are looked for.
    pub strategy: Strategy,
    /// What is looked for beside the question itself: sub-questions, or another wording. At most
    /// [`MOST_SUB_QUESTIONS`].
    pub sub_questions: Vec<String>,
    /// Who made it.
    pub by: PlannedBy,
}

impl Plan {
    /// Whether the answer may lack one of the sub-questions.
    #[must_use]
    pub fn is_decomposed(&self) -> bool {
        self.strategy == Strategy::Decompose
    }
}

#[cfg(test)]
mod tests;
