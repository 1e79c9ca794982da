//! Whether an answer bears on a sub-question.

use std::collections::BTreeSet;

use crate::domain::lexical::analyzer::Analyzer;

/// Whether an answer holds at least half of the words that only this sub-question has. One without words of its
/// own counts as covered: nothing could be said about it.
#[must_use]
pub fn is_covered(analyzer: &Analyzer, sub_questions: &[String], place: usize, answer: &str) -> bool {
    let terms = |text: &str| -> BTreeSet<String> { analyzer.terms(text).into_iter().collect() };
    let Some(asked) = sub_questions.get(place) else { return true };
    let others: BTreeSet<String> = sub_questions
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != place)
        .flat_map(|(_, other)| terms(other))
        .collect();
    let own: BTreeSet<String> = terms(asked).difference(&others).cloned().collect();
    let said = terms(answer);
    own.intersection(&said).count() * 2 >= own.len()
}
