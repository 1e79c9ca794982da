//! A row of a table as an answer quotes it: each cell after the name of its column.

use crate::markdown::{cells, is_table_delimiter, labelling_columns, only_label};
use crate::month::is_month;
use crate::wording::{has_digit, is_scale, lower_case_words};

/// Words and signs of a cell that tell whether something is so.
const ANSWERING_CELLS: [&str; 16] = [
    "yes", "no", "true", "false", "on", "off", "x", "✓", "✔", "✗", "✘", "always", "never", "none", "required",
    "optional",
];

/// Fewest words of a cell that states something.
const STATEMENT: usize = 5;

/// Whether a row may tell whether something is so: by a word for it, a number, or a statement in a cell.
pub(super) fn may_affirm(row: &str) -> bool {
    cells(row).any(|(_, cell)| {
        let first = lower_case_words(cell).next().unwrap_or_else(|| cell.trim().to_owned());
        ANSWERING_CELLS.contains(&first.as_str()) || has_digit(cell) || cell.split_whitespace().count() >= STATEMENT
    })
}

/// The cells of a row, named by a header of one or more rows.
pub(super) fn labelled(header: &str, row: &str) -> String {
    let Labels { unit, lead, mut columns } = Labels::of(header);
    if let Some(label) = columns.get_mut(1).filter(|_| !lead.is_empty()) {
        format!("{lead} {label}").trim_end().clone_into(label);
    }
    let is_named = cells(row).next().is_some_and(|(_, name)| !name.is_empty());
    let written = named_by(columns, row).enumerate().map(|(place, (label, cell))| {
        let unit = if place == 0 && is_named && !unit.is_empty() { format!(" {unit}") } else { String::new() };
        match label.as_str() {
            "" => format!("{cell}{unit}"),
            label => format!("{label}: {cell}{unit}"),
        }
    });
    written.collect::<Vec<_>>().join(" | ")
}

/// The names of the columns of a table.
#[derive(Default)]
struct Labels {
    /// The unit in the corner above the names of the rows, "(in millions)"; empty if there is none.
    unit: String,
    /// The label above all columns but the first, "Years ended June 30,"; empty if there is none.
    lead: String,
    /// One for each column, empty where the header has none.
    columns: Vec<String>,
}

impl Labels {
    fn of(header: &str) -> Self {
        let rows = header.lines().map(str::trim_start).filter(|line| line.contains('|') && !is_table_delimiter(line));
        let rows: Vec<&str> = rows.collect();
        let has_several = rows.len() > 1;
        let mut labels = Self::default();
        for (number, line) in rows.iter().enumerate() {
            let mut row: Vec<&str> = cells(line).map(|(_, words)| words).collect();
            labels.take_corner(&mut row, has_several);
            if has_several {
                labels.take_lead(&mut row);
            }
            if number + 1 < rows.len() && row.iter().any(|words| !words.is_empty()) {
                row =
                    labelling_columns(line).iter().map(|label| row.get(*label).copied().unwrap_or_default()).collect();
            }
            for (column, words) in row.iter().enumerate() {
                match labels.columns.get_mut(column) {
                    Some(label) if !label.is_empty() && !words.is_empty() => *label = format!("{label} {words}"),
                    Some(label) => label.push_str(words),
                    None => labels.columns.push((*words).to_owned()),
                }
            }
        }
        for label in &mut labels.columns {
            *label = without_mark(label.trim_end_matches(':')).to_owned();
        }
        labels
    }

    /// Takes from the corner of a table what names no row: a unit, "(in tons)" or "in EUR", the beginning of the dates that head the other columns, "Year
    /// ended May 31,", or the title of the table above the names of its columns.
    fn take_corner(&mut self, row: &mut [&str], has_several: bool) {
        let [corner, others @ ..] = row else { return };
        let is_title = has_several && others.iter().all(|words| words.is_empty());
        if corner.starts_with('(') && corner.ends_with(')') {
            (*corner).clone_into(&mut self.unit);
        } else if corner.starts_with("in ") {
            self.unit = format!("({corner})");
        } else if begins_dates(corner) && (is_title || others.iter().any(|words| begins_with_digit(words))) {
            self.add_lead(corner);
        } else if !is_title {
            return;
        }
        *corner = "";
    }

    /// Takes the only label of a row.
    fn take_lead(&mut self, row: &mut [&str]) {
        if let Some(label) = only_label(row).and_then(|column| row.get_mut(column)) {
            self.add_lead(std::mem::take(label));
        }
    }

    fn add_lead(&mut self, label: &str) {
        let label = label.trim_end_matches(':');
        self.lead = if self.lead.is_empty() { label.to_owned() } else { format!("{} {label}", self.lead) };
    }
}

fn begins_with_digit(words: &str) -> bool {
    words.starts_with(|sign: char| sign.is_ascii_digit())
}

/// Whether a label names the time of which years follow in the other columns.
fn begins_dates(label: &str) -> bool {
    let words: Vec<String> = lower_case_words(label).collect();
    let begins = |word: &String| matches!(word.as_str(), "as" | "at" | "for" | "fiscal" | "year" | "years");
    words.first().is_some_and(|word| begins(word) || is_month(word))
        && (words.iter().any(|word| word == "ended" || is_month(word)) || label.ends_with(','))
}

/// Whether a line tells the scale of figures, as "in EUR thousand", and not that of one: "5 million".
pub(super) fn tells_scale(line: &str) -> bool {
    let words: Vec<String> = lower_case_words(line).collect();
    let is_of_figure = |before: Option<&String>| before.is_none_or(|word| has_digit(word));
    let mut scales = words.iter().enumerate().filter(|(_, word)| is_scale(word));
    scales.any(|(at, _)| !is_of_figure(at.checked_sub(1).and_then(|before| words.get(before))))
}

/// A label without what stands in parentheses at its end: "Price (EUR)".
pub(super) fn without_unit(label: &str) -> &str {
    label.split_once(" (").filter(|(_, unit)| unit.ends_with(')')).map_or(label, |(label, _)| label)
}

/// Whether a row, as [`labelled`] writes it, has a number in a column for things of this name: "Max. people: 6".
pub(super) fn counts_in_a_column(row: &str, counted: &str) -> bool {
    let names = |column: &str| lower_case_words(column).any(|word| word == counted);
    columns_and_values("", row).iter().any(|(column, value)| names(column) && has_digit(value))
}

/// The cells of a row that hold something, each after the name of its column, which is empty where the header has none.
fn named_by(columns: Vec<String>, row: &str) -> impl Iterator<Item = (String, &str)> {
    let columns = columns.into_iter().chain(std::iter::repeat(String::new()));
    columns.zip(cells(row).map(|(_, cell)| cell)).filter(|(_, cell)| !cell.is_empty())
}

/// The name of a column without the star or the dagger that refers to a note: `Reduced*`.
fn without_mark(label: &str) -> &str {
    let words = label.trim_end_matches(['*', '\\', '†', '‡', ' ']);
    if words.contains('*') || words.is_empty() { label } else { words }
}

/// The cells of a row that hold something, each with its column: a row of a CSV file names its columns itself.
pub(super) fn columns_and_values(header: &str, row: &str) -> Vec<(String, String)> {
    let named = named_by(Labels::of(header).columns, row).map(|(column, cell)| match column.as_str() {
        "" => cell.split_once(": ").map_or((column, cell), |(column, value)| (column.to_owned(), value)),
        _ => (column, cell),
    });
    named.map(|(column, value)| (column, value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_affirms_by_a_word_a_number_or_a_statement() {
        for row in
            ["| Pump | yes |", "| Pump | ✓ |", "| Pump | 3 bar |", "| Pump | runs only while the lid is closed |"]
        {
            assert!(may_affirm(row), "{row}");
        }
        assert!(!may_affirm("| lid_limit | | Maximum height of lid |"));
    }

    #[test]
    fn names_of_columns_have_no_marks_of_notes() {
        let header = "| Tin | Reduced* | Family** | **Old** | Lid\\* | * |\n|---|---|---|---|---|---|";
        let row = labelled(header, "| a | b | c | d | e | f |");
        assert_eq!(row, "Tin: a | Reduced: b | Family: c | **Old**: d | Lid: e | *: f");
    }

    #[test]
    fn units_and_dates_of_a_header_stand_where_they_belong() {
        let tables = [
            (
                "| | | Years ended June 30, | |\n|---|---|---|---|\n| (in thousands) | 2019 | 2018 | 2017 |",
                "| Net sales | 3 | 2 | 1 |",
                "Net sales (in thousands) | Years ended June 30, 2019: 3 | 2018: 2 | 2017: 1",
            ),
            (
                "| ($ in millions) | | |\n|---|---|---|\n| For the year ended December 31: | 2019 | 2018 |",
                "| Revenue | 3 | 2 |",
                "Revenue ($ in millions) | For the year ended December 31 2019: 3 | 2018: 2",
            ),
            (
                "| All figures in USD | | |\n|---|---|---|\n| | Years ended May 31, | |\n| | 2019 | 2018 |",
                "| Revenue | 3 | 2 |",
                "Revenue | Years ended May 31, 2019: 3 | 2018: 2",
            ),
            (
                "| Weight | Zone 1 | | Zone 2 | |\n|---|---|---|---|---|\n| | Slow | Fast | Slow | Fast |",
                "| 1 kg | 3 | 5 | 4 | 7 |",
                "Weight: 1 kg | Zone 1 Slow: 3 | Zone 1 Fast: 5 | Zone 2 Slow: 4 | Zone 2 Fast: 7",
            ),
            ("| December 31, 2019 | Cost |\n|---|---|", "| Land | 3 |", "December 31, 2019: Land | Cost: 3"),
            ("| (in tons) | Cost |\n|---|---|", "| | 3 |", "Cost: 3"),
            ("| in EUR | Cost |\n|---|---|", "| Land | 3 |", "Land (in EUR) | Cost: 3"),
            ("| Year | Sales |\n|---|---|", "| 2019 | 3 |", "Year: 2019 | Sales: 3"),
            ("| | | 2019 |\n|---|---|---|", "| Net sales | 4.1 | 3 |", "Net sales | 4.1 | 2019: 3"),
        ];
        for (header, row, expected) in tables {
            assert_eq!(labelled(header, row), expected);
        }
        let of_columns = columns_and_values(tables[0].0, tables[0].1);
        let columns: Vec<&str> = of_columns.iter().map(|(column, _)| column.as_str()).collect();
        assert_eq!(columns, ["", "2019", "2018", "2017"]);
    }

    #[test]
    fn a_line_tells_the_scale_of_figures() {
        for line in ["Income (in EUR thousand)", "All figures in millions of dollars.", "Umsatz, in Millionen Euro:"] {
            assert!(tells_scale(line), "{line}");
        }
        for line in ["Income rose to 5 million.", "Income by region:", "Millions of people came."] {
            assert!(!tells_scale(line), "{line}");
        }
    }

    #[test]
    fn a_row_counts_what_a_column_is_named_for() {
        let row = "Tour: Lids | Max. people: 6 | Price: 20 per person";
        assert!(counts_in_a_column(row, "people"));
        assert!(!counts_in_a_column(row, "person") && !counts_in_a_column("Max. people: few", "people"));
    }

    #[test]
    fn cells_come_after_the_names_of_their_columns() {
        let cases = [
            ("| Name | Phone: |", "| Bob | 555-0102 |", "Name: Bob | Phone: 555-0102"),
            ("Staff\n| Name |  |", "| Bob |  | x |", "Name: Bob | x"),
            ("|  | Years |  |\n|---|---|---|\n|  | 2019 | 2018 |", "| Tea | 5 | 6 |", "Tea | Years 2019: 5 | 2018: 6"),
            ("", "| name: Bob | phone: 1 |", "name: Bob | phone: 1"),
        ];
        for (header, row, expected) in cases {
            assert_eq!(labelled(header, row), expected);
        }
    }
}
