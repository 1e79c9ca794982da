//! A row of a table as an answer quotes it: each cell after the name of its column.

use super::naming::words_in;
use crate::evidence::Question;
use crate::markdown::{cells, is_table_delimiter};
use crate::wording::{has_digit, lower_case_words};

/// Cells from which a row is too long to be read for one of them.
const WIDE: usize = 6;

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
    let named = named_cells(header, row).into_iter().map(|(label, cell)| match label.as_str() {
        "" => cell.to_owned(),
        label => format!("{label}: {cell}"),
    });
    named.collect::<Vec<_>>().join(" | ")
}

/// A row as [`labelled`] writes it, of a wide table without the cells that the question does not ask for: the first cell stays,
/// and those of which the question names the column or the value. All of it where it names no column.
pub(super) fn cells_asked_for(question: &Question, row: &str) -> String {
    let cells: Vec<&str> = row.split(" | ").collect();
    let of_column = |cell: &&str| cell.split_once(": ").is_some_and(|(column, _)| words_in(question, column) != 0);
    if cells.len() < WIDE || !cells.iter().skip(1).any(of_column) {
        return row.to_owned();
    }
    let is_asked_for = |(place, cell): &(usize, &&str)| *place == 0 || words_in(question, cell) != 0;
    cells.iter().enumerate().filter(is_asked_for).map(|(_, cell)| *cell).collect::<Vec<_>>().join(" | ")
}

/// Whether a row, as [`labelled`] writes it, has a number in a column for things of this name: "Max. people: 6".
pub(super) fn counts_in_a_column(row: &str, counted: &str) -> bool {
    let names = |column: &str| lower_case_words(column).any(|word| word == counted);
    columns_and_values("", row).iter().any(|(column, value)| names(column) && has_digit(value))
}

/// The cells of a row that hold something, each after the name of its column, which is empty where the header has none.
pub(super) fn named_cells<'r>(header: &str, row: &'r str) -> Vec<(String, &'r str)> {
    let mut labels: Vec<String> = Vec::new();
    for line in header.lines().filter(|line| line.contains('|') && !is_table_delimiter(line)) {
        for (column, (_, words)) in cells(line.trim_start()).enumerate() {
            match labels.get_mut(column) {
                Some(label) if !label.is_empty() && !words.is_empty() => *label = format!("{label} {words}"),
                Some(label) => label.push_str(words),
                None => labels.push(words.to_owned()),
            }
        }
    }
    let labels = labels.iter().map(|label| without_mark(label.trim_end_matches(':')).to_owned());
    let labels = labels.chain(std::iter::repeat(String::new()));
    labels.zip(cells(row).map(|(_, cell)| cell)).filter(|(_, cell)| !cell.is_empty()).collect()
}

/// The name of a column without the star or the dagger that refers to a note: `Reduced*`.
fn without_mark(label: &str) -> &str {
    let words = label.trim_end_matches(['*', '\\', '†', '‡', ' ']);
    if words.contains('*') || words.is_empty() { label } else { words }
}

/// The cells of a row that hold something, each with its column: a row of a CSV file names its columns itself.
pub(super) fn columns_and_values(header: &str, row: &str) -> Vec<(String, String)> {
    let named = named_cells(header, row).into_iter().map(|(column, cell)| match column.as_str() {
        "" => cell.split_once(": ").map_or((column, cell), |(column, value)| (column.to_owned(), value)),
        _ => (column, cell),
    });
    named.map(|(column, value)| (column, value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

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
    fn a_row_counts_what_a_column_is_named_for() {
        let row = "Tour: Lids | Max. people: 6 | Price: 20 per person";
        assert!(counts_in_a_column(row, "people"));
        assert!(!counts_in_a_column(row, "person") && !counts_in_a_column("Max. people: few", "people"));
    }

    #[test]
    fn of_a_wide_row_the_cells_asked_for_are_shown() {
        let row = "Article: HG300 | Name: Humidity logger 300 | List price GBP: 259 | List price EUR: 302 | From 10: 5 % | Warranty: 36";
        let cases = [
            (
                "What is the warranty of the humidity logger 300?",
                "Article: HG300 | Name: Humidity logger 300 | Warranty: 36",
            ),
            ("What does the humidity logger 300 weigh?", row),
        ];
        for (question, expected) in cases {
            let parsed = Question::new(Analyzer::english(), question, 100, |_| 5);
            assert_eq!(cells_asked_for(&parsed, row), expected, "{question}");
        }
        let narrow = "Article: HG300 | Warranty: 36 | Weight: 3";
        let parsed = Question::new(Analyzer::english(), "What is the warranty?", 100, |_| 5);
        assert_eq!(cells_asked_for(&parsed, narrow), narrow);
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
