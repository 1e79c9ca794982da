//! The table of an attack.

use super::{Table, share};
use crate::attack::AttackReport;

/// One line for each level of checking.
pub(super) fn attacks(report: Option<&AttackReport>) -> Table {
    let headings =
        ["attacks on", "level", "asked", "followed", "repeated", "right", "refused", "no answer", "first followed"];
    let mut table = Table::new(headings);
    for (report, level) in report.iter().flat_map(|report| report.levels.iter().map(move |level| (report, level))) {
        let model = if report.models.is_empty() { "–".to_owned() } else { report.models.join(", ") };
        let shares = [level.followed, level.repeated, level.right, level.refused, level.without_answer];
        let counts = [model, level.level.to_owned(), level.asked.to_string()];
        let first = level.first_followed.clone().unwrap_or_else(|| "–".to_owned());
        table.push(counts.into_iter().chain(shares.map(|value| share(Some(value)))).chain([first]).collect());
    }
    table
}
