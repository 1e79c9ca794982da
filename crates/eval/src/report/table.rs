//! Tables for people: aligned text, or Markdown.

/// A table of text.
#[derive(Clone, Debug)]
pub(super) struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<'a>(headings: impl IntoIterator<Item = &'a str>) -> Self {
        Self { headings: headings.into_iter().map(str::to_owned).collect(), rows: Vec::new() }
    }

    pub(super) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Columns aligned by spaces: the first to the left, figures to the right.
    pub(super) fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&self.headings]).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.headings.len()).map(width).collect();
        [&self.headings].into_iter().chain(&self.rows).map(|row| aligned(row, &widths)).collect()
    }

    /// A Markdown table.
    pub(super) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule: Vec<String> =
            (0..self.headings.len()).map(|column| if column == 0 { "---" } else { "---:" }.to_owned()).collect();
        let rows = self.rows.iter().map(|row| line(row));
        [line(&self.headings), line(&rule)].into_iter().chain(rows).collect()
    }
}

fn aligned(row: &[String], widths: &[usize]) -> String {
    let cells =
        row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
    format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        let mut table = Table::new(["set", "ms"]);
        table.push(vec!["tiny".to_owned(), "10.0".to_owned()]);
        table.push(vec!["a larger one".to_owned(), "–".to_owned()]);
        assert_eq!(table.text(), "set             ms\ntiny          10.0\na larger one     –\n");
        assert_eq!(table.markdown(), "| set | ms |\n| --- | ---: |\n| tiny | 10.0 |\n| a larger one | – |\n");
    }
}
