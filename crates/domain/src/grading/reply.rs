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

/// Whether a reply grades none of the sources.
#[must_use]
pub fn is_unusable(verdicts: &[Verdict]) -> bool {
    verdicts.iter().all(|verdict| verdict.reason == UNREADABLE)
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
