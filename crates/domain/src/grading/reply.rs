//! Parses a model's grading reply.
//!
//! An unreadable verdict counts as ambiguous, and so does a source that the reply does not name: a grade is never
//! invented.

use super::{Grade, Verdict};
use crate::numbered_verdicts::{self, Phrases};

/// Phrases by grade.
const PHRASES: &Phrases<Grade> = &[
    (Grade::Incorrect, &["incorrect", "not correct", "irrelevant", "not relevant", "unrelated"]),
    (Grade::Ambiguous, &["ambiguous", "partial", "unclear", "unsure", "uncertain"]),
    (Grade::Correct, &["correct", "relevant"]),
];

/// The verdicts on `sources` sources, in their order.
#[must_use]
pub fn read(reply: &str, sources: usize) -> Vec<Verdict> {
    let verdict = |grade, reason| Verdict { grade, probability: None, is_clear: true, reason };
    let missing = || verdict(Grade::Ambiguous, "the reply does not grade this source".to_owned());
    numbered_verdicts::read(reply, sources, PHRASES)
        .into_iter()
        .map(|read| read.map_or_else(missing, |read| verdict(read.verdict, read.reason)))
        .collect()
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
