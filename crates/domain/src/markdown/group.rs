//! Rows of a table that name the rows below them: "Americas:" with nothing in the other cells.

use std::collections::{HashMap, HashSet};

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

/// The name in the first cell of a row that names those below it, without its signs.
pub(crate) fn group_name(row: &str) -> Option<&str> {
    let (_, name) = cells(row).next()?;
    Some(name.trim_matches(['*', '_', ' ']).trim_end_matches([':', '*', '_'])).filter(|name| !name.is_empty())
}

/// Whether the signs of a row say that it names those below it. One without a colon and not in bold may as well be a row whose
/// values are missing.
fn is_marked(row: &str) -> bool {
    let name = cells(row).next().map(|(_, name)| name).filter(|_| has_no_value(row)).unwrap_or_default();
    let said = name.trim_matches(['*', '_', ' ']);
    (said.ends_with(':') || is_bold(name)) && group_name(row).is_some()
}

/// The names of those rows of a text that name others by their place alone: of two rows without values, below which rows of the
/// same name stand.
#[derive(Debug, Default)]
pub(crate) struct PlacedGroups<'t>(HashSet<&'t str>);

impl<'t> PlacedGroups<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let mut groups = HashSet::new();
        let mut heads_of: HashMap<&str, &str> = HashMap::new();
        let mut head = None;
        for line in text.lines().map(str::trim_start) {
            let Some(name) = Some(line).filter(|line| line.starts_with('|')).and_then(group_name) else {
                // A table ends.
                heads_of.clear();
                head = None;
                continue;
            };
            if has_no_value(line) {
                head = Some(name);
            } else if let Some(head) = head {
                let first = heads_of.entry(name).or_insert(head);
                if *first != head {
                    groups.extend([*first, head]);
                }
            }
        }
        Self(groups)
    }
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
    pub(crate) fn of(row: &str, placed: &PlacedGroups<'_>) -> Self {
        let name = cells(row).next().map(|(_, name)| name).unwrap_or_default();
        let is_placed = || has_no_value(row) && group_name(row).is_some_and(|name| placed.0.contains(name));
        if is_marked(row) || is_placed() {
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

    fn part_of(row: &str) -> RowOfGroup {
        RowOfGroup::of(row, &PlacedGroups::default())
    }

    #[test]
    fn a_row_names_those_below_it_by_a_colon_or_in_bold() {
        for (row, name) in [
            ("| Americas: | | |", "Americas"),
            ("| **Current assets** |  |", "Current assets"),
            ("| __Assets:__ |  |", "Assets"),
        ] {
            assert_eq!((part_of(row), group_name(row)), (RowOfGroup::Name, Some(name)));
        }
        // A day without hours names nothing, nor does a cell alone.
        for row in ["| Saturday | | |", "| Americas: | 3 | |", "| Americas: |", "| | | |", "| : | |"] {
            assert_ne!(part_of(row), RowOfGroup::Name, "{row}");
        }
    }

    #[test]
    fn rows_of_the_same_name_below_two_others_make_groups() {
        let sales = "| | 2024 |\n|---|---|\n| Shop | |\n| Bread | 3 |\n| Café | |\n| Bread | 2 |\n| Tea | 1 |";
        let placed = PlacedGroups::of(sales);
        for row in ["| Shop | |", "| Café | |"] {
            assert_eq!(RowOfGroup::of(row, &placed), RowOfGroup::Name, "{row}");
        }
        assert_eq!(RowOfGroup::of("| Bread | 3 |", &placed), RowOfGroup::Member);
        let hours = "| Day | Open |\n|---|---|\n| Saturday | |\n| Monday | 8–12 |\n| Sunday | |\n| Tuesday | 9–12 |\n\n\
            | Day | Open |\n|---|---|\n| Saturday | |\n| Friday | 8–12 |\n\n| Sunday | |\n| Friday | 9–12 |";
        assert_eq!(RowOfGroup::of("| Saturday | |", &PlacedGroups::of(hours)), RowOfGroup::Member);
    }

    #[test]
    fn a_sum_ends_a_group() {
        for row in ["| Total Americas | 3 |", "| | 3 |", "| **Summe** | 3 |"] {
            assert_eq!(part_of(row), RowOfGroup::Sum, "{row}");
        }
        assert_eq!(part_of("| Property | 3 |"), RowOfGroup::Member);
        assert_eq!(part_of("| Net sales: | |"), RowOfGroup::Name);
    }
}
