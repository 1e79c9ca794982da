//! Scores that a change of the code must leave as they are; only a new calibration moves them.

use crate::citation::{LexicalScorer, PreparedSource, SupportScorer};

/// Rows of score, source and claim. `\n` stands for a line end in a source.
const SCORES: &str = include_str!("support_scores.tsv");

/// The last digits of a logarithm or an exponential differ between machines.
const TOLERANCE: f32 = 1e-6;

#[test]
fn support_scores_are_those_of_the_calibration() {
    let mut moved = Vec::new();
    for row in SCORES.lines() {
        let [expected, source, claim] = row.split('\t').collect::<Vec<_>>().try_into().expect("three columns");
        let sources = [PreparedSource::new(&source.replace("\\n", "\n"))];
        let score = LexicalScorer::new(&sources).support(claim, &[0]).score;
        if (score - expected.parse::<f32>().expect("a score")).abs() > TOLERANCE {
            moved.push(format!("{score}\t{source}\t{claim}"));
        }
    }
    assert!(moved.is_empty(), "these scores moved:\n{}", moved.join("\n"));
}
