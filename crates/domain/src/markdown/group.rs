//! Rows of a table that name the rows below them: "Americas:" with nothing in the other cells.

use super::line::{cells, is_bold};
use crate::wording::lower_case_words;

/// First words of a row that sums up those above it.
const SUMS: [&str; 8] = ["gesamt", "net", "subtotal", "sum", "summe", "total", "totals", "zwischensumme"];

/// Whether a row has no value: nothing stands in its cells but the first.
#[must_use]
pub(crate) fn has_no_value(row: &str) -> bool {
    let mut cells = cells(row).map(|(_, cell)| cell);
    let has_name = cells.next().is_some_and(|name| !name.is_empty());
    let mut others = cells.peekable();
    has_name && others.peek().is_some() && others.all(str::is_empty)
}

/// The name that a row gives to those below it. One without a colon and not in bold may as well be a row whose values are missing.
pub(crate) fn group_name(row: &str) -> Option<&str> {
    let (_, name) = cells(row).next().filter(|_| has_no_value(row))?;
    let said = name.trim_matches(['*', '_', ' ']);
    (said.ends_with(':') || is_bold(name))
        .then(|| said.trim_end_matches([':', '*', '_']))
        .filter(|name| !name.is_empty())
}

/// The part of a row in the groups of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowOfGroup {
    /// It names those below it.
    Name,
    /// It sums up those above it, or has no name: the group ends.
    Sum,
    /// One of them.
    Member,
}

impl RowOfGroup {
    pub(crate) fn of(row: &str) -> Self {
        let name = cells(row).next().map(|(_, name)| name).unwrap_or_default();
        if group_name(row).is_some() {
            Self::Name
        } else if lower_case_words(name).next().is_none_or(|first| SUMS.contains(&first.as_str())) {
            Self::Sum
        } else {
            Self::Member
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_those_below_it_by_a_colon_or_in_bold() {
        assert_eq!(group_name("| Americas: | | |"), Some("Americas"));
        assert_eq!(group_name("| **Current assets** |  |"), Some("Current assets"));
        assert_eq!(group_name("| __Assets:__ |  |"), Some("Assets"));
        // A day without hours names nothing, nor does a cell alone.
        for row in ["| Saturday | | |", "| Americas: | 3 | |", "| Americas: |", "| | | |", "| : | |"] {
            assert_eq!(group_name(row), None, "{row}");
        }
    }

    #[test]
    fn a_sum_ends_a_group() {
        for row in ["| Total Americas | 3 |", "| | 3 |", "| **Summe** | 3 |"] {
            assert_eq!(RowOfGroup::of(row), RowOfGroup::Sum, "{row}");
        }
        assert_eq!(RowOfGroup::of("| Property | 3 |"), RowOfGroup::Member);
        assert_eq!(RowOfGroup::of("| Net sales: | |"), RowOfGroup::Name);
    }
}
