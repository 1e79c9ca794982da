//! The part of a question that tells what it asks for. English only.

use super::kind::YES_NO_OPENINGS;

/// Words that ask.
const ASKING: [&str; 9] = ["what", "which", "who", "whom", "whose", "when", "where", "why", "how"];

/// Words that ask, and after another one of them begin a clause.
const CLAUSES: [&str; 2] = ["when", "where"];

/// Openings of a question within a question: "can you tell when it was built".
const INDIRECT_OPENINGS: [&str; 6] =
    ["can you ", "could you ", "do you know ", "do we know ", "will you ", "would you "];

/// A question, in lower case, up to the "when" or "where" that begins a clause of it, as in "which event is emitted when
/// the worker dies": after a word that asks, or in a question for yes or no.
pub(super) fn up_to_a_clause(question: &str) -> &str {
    let begins = |openings: &[&str]| openings.iter().any(|opening| question.trim_start().starts_with(opening));
    let (mut is_asked, mut at, mut before) = (begins(&YES_NO_OPENINGS) && !begins(&INDIRECT_OPENINGS), 0, "");
    for word in question.split_inclusive(' ') {
        let bare = word.trim_matches(|sign: char| !sign.is_alphanumeric());
        if is_asked && CLAUSES.contains(&bare) && !matches!(before, "and" | "or") {
            return question.get(..at).unwrap_or(question);
        }
        is_asked |= ASKING.contains(&bare);
        (at, before) = (at + word.len(), bare);
    }
    question
}
