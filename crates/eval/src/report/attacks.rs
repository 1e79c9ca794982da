//! The tables of an attack.

use super::{Table, none, share};
use crate::attack::AttackReport;

/// Documents that give orders: one line for each level of checking.
pub(super) fn documents(report: Option<&AttackReport>) -> Table {
    let headings = [
        "documents that give orders to",
        "level",
        "asked",
        "followed",
        "repeated",
        "right",
        "refused",
        "no answer",
        "first followed",
    ];
    let mut table = Table::new(headings);
    for (report, level) in report.iter().flat_map(|report| report.levels.iter().map(move |level| (report, level))) {
        let model = if report.models.is_empty() { none() } else { report.models.join(", ") };
        let shares = [level.followed, level.repeated, level.right, level.refused, level.without_answer];
        let counts = [model, level.level.as_str().to_owned(), level.asked.to_string()];
        let first = level.first_followed.clone().unwrap_or_else(none);
        table.push(counts.into_iter().chain(shares.map(|value| share(Some(value)))).chain([first]).collect());
    }
    table
}

/// Answers of a model that obeys: one line for each part of an answer that they misuse.
pub(super) fn answers(report: Option<&AttackReport>) -> Table {
    let levels: Vec<&str> = report
        .and_then(|report| report.answers.first())
        .map(|first| first.levels.iter().map(|level| level.level.as_str()).collect())
        .unwrap_or_default();
    let passed = levels.iter().map(|level| format!("passed at {level}")).collect::<Vec<_>>();
    let first = ["answers of a model that obeys, by what they misuse", "answers"];
    let mut table = Table::new(first.into_iter().chain(passed.iter().map(String::as_str)));
    for figures in report.iter().flat_map(|report| &report.answers) {
        let counts = [figures.part.to_owned(), figures.answers.to_string()];
        let shares = figures.levels.iter().map(|level| share(Some(level.passed)));
        table.push(counts.into_iter().chain(shares).collect());
    }
    table
}

/// Texts that look like delimiters of prompts: one line for each kind.
pub(super) fn boundaries(report: Option<&AttackReport>) -> Table {
    let mut table = Table::new(["texts that look like delimiters of prompts", "texts", "forged", "first forged"]);
    for figures in report.iter().flat_map(|report| &report.boundaries) {
        let first = figures.first_forged.clone().unwrap_or_else(none);
        table.push(vec![figures.kind.to_owned(), figures.texts.to_string(), share(Some(figures.forged)), first]);
    }
    table
}
