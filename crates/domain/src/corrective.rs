//! The route of the corrective loop as a pure function: [`next_step`].
//!
//! Corrective RAG (Yan et al. 2024, arXiv:2401.15884) grades the retrieved passages before anything is generated and
//! rewrites the question when the evidence is poor. The paper generates as soon as one passage is correct; here a share
//! of correct passages is required, with four refinements:
//!
//! - **The share is taken over candidates**, the passages not graded incorrect. An incorrect
//!   passage is padding up to `top_k`: it says that the collection holds little on the subject, not
//!   that what was found is doubtful. Counted over all passages, half of `top_k` = 8 could never be
//!   reached when one document holds the answer, and the decision would change with `top_k`.
//! - **A correct passage is never thrown away.** When no rewrite is left, or rewriting finds
//!   nothing new, one correct passage is enough to generate; the validator still stands behind it.
//! - **A rewrite must leave the means to answer.** It is affordable only if a generation can be
//!   paid for afterwards, and its one validation retry too once a correct passage is in hand.
//!
//! - **A fallback search comes last.** Only when no rewrite is left it adds its results, once; they are graded like
//!   all others, and the decision is then made anew over everything that was found.

use serde::{Deserialize, Serialize};

/// A grader's verdict on one retrieved passage with respect to the original question.
///
/// The order is that of worth: `Incorrect < Ambiguous < Correct`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The passage does not help to answer the question.
    Incorrect,
    /// It may help; an unreadable verdict counts as this too.
    Ambiguous,
    /// It holds the answer to the question, or part of it.
    Correct,
}

impl Grade {
    /// The word for the grade in the API, in prompts and in model replies.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Incorrect => "incorrect",
            Self::Ambiguous => "ambiguous",
            Self::Correct => "correct",
        }
    }
}

/// The action when all rewrites leave only ambiguous passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnInsufficient {
    /// Say that the documents do not answer the question.
    #[default]
    Abstain,
    /// Generate over the ambiguous passages. Never over incorrect ones.
    Generate,
}

/// The settings that the route depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopSettings {
    /// Share of correct passages among the candidates that is enough to generate, 0 to 1.
    /// At least one must be correct even at 0.
    pub min_correct_fraction: f32,
    /// Most rewrites of one question.
    pub max_rewrite_attempts: u32,
    /// The action when only ambiguous passages are left.
    pub on_insufficient: OnInsufficient,
}

impl Default for LoopSettings {
    fn default() -> Self {
        Self { min_correct_fraction: 0.5, max_rewrite_attempts: 3, on_insufficient: OnInsufficient::Abstain }
    }
}

/// One round of retrieve and grade, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Round {
    /// Passages graded correct.
    pub correct: usize,
    /// Passages graded ambiguous.
    pub ambiguous: usize,
    /// Passages graded incorrect.
    pub incorrect: usize,
    /// Passages that no earlier round retrieved; all of them in the first round.
    pub new: usize,
    /// Whether a model that read the passages says that nothing of what is asked for is missing.
    pub is_complete: bool,
}

impl Round {
    /// Counts the grades of a round of which `new` passages were not seen before.
    #[must_use]
    pub fn of(grades: &[Grade], new: usize) -> Self {
        let count = |wanted: Grade| grades.iter().filter(|grade| **grade == wanted).count();
        Self {
            correct: count(Grade::Correct),
            ambiguous: count(Grade::Ambiguous),
            incorrect: count(Grade::Incorrect),
            new,
            is_complete: false,
        }
    }

    /// Whether at least one passage is correct, and enough of the candidates are, or they leave nothing open. Passages that
    /// are on the subject beside the one that answers are no reason to search on.
    fn is_sufficient(self, min_correct_fraction: f32) -> bool {
        let candidates = self.correct + self.ambiguous;
        // Counts are bounded by `top_k`, far below where f32 loses whole numbers.
        #[expect(clippy::cast_precision_loss, reason = "counts of passages are small")]
        let needed = min_correct_fraction * candidates as f32;
        #[expect(clippy::cast_precision_loss, reason = "counts of passages are small")]
        let reached = self.correct as f32 >= needed;
        self.correct > 0 && (reached || self.is_complete)
    }
}

/// Model calls that each step would make: 0 where the built-in component does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepCalls {
    /// Calls to grade one round.
    pub grade: u32,
    /// Calls to rewrite once.
    pub rewrite: u32,
    /// Calls to generate once, without the validation retry.
    pub generate: u32,
}

/// A search elsewhere, for when the documents fall short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fallback {
    /// There is none.
    #[default]
    None,
    /// It was not made yet.
    Ready,
    /// Its results, if any, are the last round.
    Used,
}

/// All that the route depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct Situation<'r> {
    /// The settings of this ask.
    pub settings: LoopSettings,
    /// Whether the collections asked hold any passage at all, regardless of the filter.
    pub has_content: bool,
    /// The rounds so far, oldest first: the original question, then one per rewrite.
    pub rounds: &'r [Round],
    /// Whether the rewriter reported that it has no further query.
    pub rewriter_is_exhausted: bool,
    /// A search elsewhere.
    pub fallback: Fallback,
    /// The number of model calls that the steps cost.
    pub calls: StepCalls,
    /// Model calls that the budget still allows; `None` when it sets no limit.
    pub calls_left: Option<u32>,
}

/// Why nothing was answered. The words are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbstainReason {
    /// Every passage of every round was graded incorrect, or none was found.
    NoRelevantContent,
    /// Some passages may be relevant, none surely; or the built-in answerer finds no sentence in them to quote.
    LowSupport,
    /// The collections asked hold nothing.
    EmptyCollection,
    /// The next step needs more model calls than this ask has left.
    OutOfBudget,
    /// The answering model found no answer in the sources.
    ModelDeclined,
    /// The message greets or thanks, and asks nothing.
    NoQuestion,
}

impl AbstainReason {
    /// The name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoRelevantContent => "no_relevant_content",
            Self::LowSupport => "low_support",
            Self::EmptyCollection => "empty_collection",
            Self::OutOfBudget => "out_of_budget",
            Self::ModelDeclined => "model_declined",
            Self::NoQuestion => "no_question",
        }
    }
}

/// The passages to generate over, taken from all rounds: grades are relative to the original
/// question, so a correct passage of an earlier round is still correct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Enough is correct: the doubtful passages would be padding.
    Correct,
    /// Some is correct but not enough: the doubtful passages may hold the rest.
    CorrectAndAmbiguous,
    /// Nothing is correct and the caller asked for an answer all the same.
    Ambiguous,
}

impl Evidence {
    /// Whether a passage of this grade is handed to the generator. False for `Incorrect`, always.
    #[must_use]
    pub const fn admits(self, grade: Grade) -> bool {
        match grade {
            Grade::Correct => matches!(self, Self::Correct | Self::CorrectAndAmbiguous),
            Grade::Ambiguous => matches!(self, Self::Ambiguous | Self::CorrectAndAmbiguous),
            Grade::Incorrect => false,
        }
    }
}

/// The next step of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Retrieve and grade for the original question; only before the first round.
    Retrieve,
    /// Generate over the passages of these grades.
    Generate {
        /// Which passages.
        over: Evidence,
    },
    /// Rewrite the question, then retrieve and grade again.
    Rewrite,
    /// Search elsewhere and grade what that finds.
    Search,
    /// Answer that the documents do not answer the question.
    Abstain {
        /// Why.
        reason: AbstainReason,
    },
}

const fn abstain(reason: AbstainReason) -> Step {
    Step::Abstain { reason }
}

/// Decides what the loop does next. Total, pure, and sure to end: each `Rewrite` must be followed
/// by a further round or by `rewriter_is_exhausted`.
#[must_use]
pub fn next_step(state: &Situation<'_>) -> Step {
    if !state.has_content {
        return abstain(AbstainReason::EmptyCollection);
    }
    let Some(current) = state.rounds.last() else {
        return Step::Retrieve;
    };
    if current.is_sufficient(state.settings.min_correct_fraction) {
        return generate(state, Evidence::Correct);
    }
    match rewrite_obstacle(state, *current) {
        None => Step::Rewrite,
        Some(obstacle) => without_rewrites(state, obstacle),
    }
}

/// Rewrites after which a grading model that has found nothing correct ends the search: of 14 third ones none found anything
/// ([decision 126](../../../docs/decisions/0126-answers-checked-as-models-write-them.md)).
const MOST_IN_VAIN: usize = 2;

/// Why no further rewrite is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Obstacle {
    /// All attempts are made, the rewriter has no query left, the last one found nothing new, or a grading model has found
    /// nothing correct too often.
    NothingLeft,
    /// The budget does not allow it.
    Budget,
}

fn rewrite_obstacle(state: &Situation<'_>, current: Round) -> Option<Obstacle> {
    let attempts = state.rounds.len() - 1;
    let attempts_left = attempts < state.settings.max_rewrite_attempts as usize;
    // A repeated round of incorrect passages is no reason to stop: another wording may still leave the neighbourhood. A
    // repeated round with usable passages has converged.
    let has_converged = attempts > 0 && current.new == 0 && has_candidates(state);
    let has_searched = state.fallback == Fallback::Used;
    // A model has read what two further wordings found.
    let is_in_vain = state.calls.grade > 0 && attempts >= MOST_IN_VAIN && !has_correct(state);
    if !attempts_left || state.rewriter_is_exhausted || has_converged || has_searched || is_in_vain {
        return Some(Obstacle::NothingLeft);
    }
    let retry = if has_correct(state) { state.calls.generate } else { 0 };
    let needed =
        [state.calls.rewrite, state.calls.grade, state.calls.generate, retry].into_iter().fold(0, u32::saturating_add);
    (!can_afford(state, needed)).then_some(Obstacle::Budget)
}

fn without_rewrites(state: &Situation<'_>, obstacle: Obstacle) -> Step {
    let needed = state.calls.grade.saturating_add(state.calls.generate);
    if state.fallback == Fallback::Ready && can_afford(state, needed) {
        return Step::Search;
    }
    if has_correct(state) {
        return generate(state, Evidence::CorrectAndAmbiguous);
    }
    match (state.settings.on_insufficient, has_candidates(state), obstacle) {
        (OnInsufficient::Generate, true, _) => generate(state, Evidence::Ambiguous),
        (_, _, Obstacle::Budget) => abstain(AbstainReason::OutOfBudget),
        (OnInsufficient::Abstain, true, Obstacle::NothingLeft) => abstain(AbstainReason::LowSupport),
        (_, false, Obstacle::NothingLeft) => abstain(AbstainReason::NoRelevantContent),
    }
}

fn generate(state: &Situation<'_>, over: Evidence) -> Step {
    if can_afford(state, state.calls.generate) { Step::Generate { over } } else { abstain(AbstainReason::OutOfBudget) }
}

fn can_afford(state: &Situation<'_>, calls: u32) -> bool {
    state.calls_left.is_none_or(|left| calls <= left)
}

fn has_correct(state: &Situation<'_>) -> bool {
    state.rounds.iter().any(|round| round.correct > 0)
}

fn has_candidates(state: &Situation<'_>) -> bool {
    state.rounds.iter().any(|round| round.correct + round.ambiguous > 0)
}

#[cfg(test)]
#[path = "corrective_tests.rs"]
mod tests;
