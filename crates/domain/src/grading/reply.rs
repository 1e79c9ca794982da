//! Parses a model's grading reply.
//!
//! An unreadable verdict counts as ambiguous, and so does a source that the reply does not name: a grade is never
//! invented.

use super::{Grade, Verdict, missing};
use crate::model_verdicts::{self, Stance};

/// The verdicts on `sources` sources, in their order.
#[must_use]
pub fn read(reply: &str, sources: usize) -> Vec<Verdict> {
    let verdict = |grade, reason| Verdict { grade, probability: None, is_clear: true, reason };
    let unread = || verdict(Grade::Ambiguous, UNREADABLE.to_owned());
    model_verdicts::read(&missing::without_line(reply), sources)
        .into_iter()
        .map(|read| read.map_or_else(unread, |read| verdict(grade_of(read.stance), read.reason)))
        .collect()
}

/// The reason of a source that the reply does not grade.
const UNREADABLE: &str = "the reply does not grade this source";

/// The number of sources that a reply does not grade.
#[must_use]
pub fn count_missing(verdicts: &[Verdict]) -> usize {
    verdicts.iter().filter(|verdict| verdict.reason == UNREADABLE).count()
}

const fn grade_of(stance: Stance) -> Grade {
    match stance {
        Stance::Assent => Grade::Correct,
        Stance::Hedge => Grade::Ambiguous,
        Stance::Dissent => Grade::Incorrect,
    }
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
