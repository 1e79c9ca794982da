//! A row of a table as an answer quotes it: each cell after the name of its column.

use crate::markdown::{cells, is_table_delimiter};

/// The cells of a row, named by a header of one or more rows.
pub(super) fn labelled(header: &str, row: &str) -> String {
    let named = named_cells(header, row).into_iter().map(|(label, cell)| match label.as_str() {
        "" => cell.to_owned(),
        label => format!("{label}: {cell}"),
    });
    named.collect::<Vec<_>>().join(" | ")
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
    let labels =
        labels.iter().map(|label| label.trim_end_matches(':').to_owned()).chain(std::iter::repeat(String::new()));
    labels.zip(cells(row).map(|(_, cell)| cell)).filter(|(_, cell)| !cell.is_empty()).collect()
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
