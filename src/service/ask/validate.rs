//! Validation: decides whether a draft may be the answer.

use crate::domain::citation::{
    self, Attempt, CitationError, CitedAnswer, Draft, ErrorKind, Level, Role, Statement, Verdict, non_answer_code,
};

/// The verdict on a draft.
pub(super) enum Judgement {
    /// It is the answer.
    Accepted(CitedAnswer),
    /// It only states that the sources do not answer the question.
    NonAnswer,
    /// Its citations do not hold; another draft is to be written.
    Retry {
        errors: Vec<CitationError>,
        /// Explains the errors to the model.
        prompt: String,
    },
    /// Its citations do not hold, and it was the last draft.
    Rejected(Vec<CitationError>),
}

impl Judgement {
    /// The errors of the draft.
    pub(super) fn errors(&self) -> &[CitationError] {
        match self {
            Self::Accepted(_) | Self::NonAnswer => &[],
            Self::Retry { errors, .. } | Self::Rejected(errors) => errors,
        }
    }
}

/// Judges a draft at a level.
pub(super) fn validate(draft: &Draft, level: Level, attempt: Attempt) -> Judgement {
    if is_non_answer(draft, level) {
        return Judgement::NonAnswer;
    }
    match citation::validate(draft, level, attempt) {
        Verdict::Accept(_) if admits_ignorance(draft) => Judgement::NonAnswer,
        Verdict::Accept(answer) => Judgement::Accepted(answer),
        // Nothing of it is shown, so nothing need be written again.
        Verdict::Retry(prompt) if admits_ignorance(draft) && only_states(prompt.errors()) => Judgement::NonAnswer,
        Verdict::Reject(errors) if admits_ignorance(draft) && only_states(&errors) => Judgement::NonAnswer,
        Verdict::Retry(prompt) => {
            Judgement::Retry { errors: prompt.errors().to_vec(), prompt: prompt.text().to_owned() }
        }
        Verdict::Reject(errors) => Judgement::Rejected(errors),
    }
}

/// Whether the draft holds the code for "the sources do not answer", or, where nothing is demanded of it, without words.
fn is_non_answer(draft: &Draft, level: Level) -> bool {
    let is_empty = || !draft.text().chars().any(char::is_alphanumeric);
    non_answer_code::declines(draft.text()) || (level == Level::Off && is_empty())
}

/// Whether the errors are only that something is stated beside the markers.
fn only_states(errors: &[CitationError]) -> bool {
    errors.iter().all(|error| error.kind == ErrorKind::UncitedClaim)
}

/// Whether the draft makes no claim and states that the sources do not answer the question. A marker after such a
/// sentence proves nothing.
fn admits_ignorance(draft: &Draft) -> bool {
    let statements = draft.statements();
    let has = |role: Role| statements.iter().any(|statement| statement.role == role);
    let cites = |statement: &Statement| statement.role != Role::Ignorance && !statement.markers.is_empty();
    has(Role::Ignorance) && !has(Role::Claim) && !statements.iter().any(cites)
}
