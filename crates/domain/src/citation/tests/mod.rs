//! Tests of the citation domain through its public interface only.

mod claim;
mod contradiction;
mod exempt;
mod golden;
mod marker;
mod other_things;
mod rearranged;
mod streaming;
mod support;
mod tables_and_figures;
mod urn;
mod validator;
mod verification;

use crate::citation::{Basis, LexicalScorer, PreparedSource, SupportScorer};

/// Checks that claims of an answer to a question are supported, or not, by a source with this title.
#[track_caller]
fn assert_judged(question: &str, title: &str, rows: &[(&str, &str, bool)]) {
    let judged = rows.iter().map(|(source, claim, expected)| {
        let basis = Basis::new(vec![PreparedSource::with_context(source, title)], question);
        (claim, *expected, LexicalScorer::over(&basis).support(claim, &[0]))
    });
    let wrong: Vec<_> = judged.filter(|(_, expected, support)| support.is_enough() != *expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
