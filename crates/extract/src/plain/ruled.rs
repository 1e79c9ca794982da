//! Tables of plain text whose header stands over a rule: over dashes with gaps, or over one rule with aligned rows below.
//!
//! They are written with bars: rows are then told from running text, and the header from a heading that is underlined.

use std::borrow::Cow;

use super::pieces::{Piece, pieces};
use crate::rows::write_table;

/// Fewest signs of a rule, and of a part of one.
const SHORTEST_RULE: usize = 4;
const SHORTEST_PART: usize = 2;

/// Fewest rows below one rule that show that it is no underline of a heading.
const FEWEST_ROWS: usize = 2;

/// Most columns by which the cell of a row may stand beside its name.
const MOST_SHIFT: usize = 1;

/// The text with such tables as rows between bars.
pub(crate) fn with_bars(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.lines().collect();
    if !lines.iter().any(|line| is_rule(line)) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + text.len() / 8);
    let mut at = 0;
    let mut has_table = false;
    while let Some(line) = lines.get(at) {
        if let Some((rows, length)) = table(lines.get(at..).unwrap_or_default()) {
            // Bars begin a table below a blank line only.
            if !written.is_empty() && !written.ends_with("\n\n") {
                written.push('\n');
            }
            write_table(&rows, &mut written);
            at += length;
            if lines.get(at).is_some_and(|next| !next.trim().is_empty()) {
                written.push('\n');
            }
            has_table = true;
        } else {
            written.push_str(line);
            written.push('\n');
            at += 1;
        }
    }
    if has_table { Cow::Owned(written) } else { Cow::Borrowed(text) }
}

/// The table that lines begin with, and how many of them it takes.
fn table(lines: &[&str]) -> Option<(Vec<Vec<String>>, usize)> {
    let (first, below) = lines.split_first()?;
    // Some have a rule above and at their end as well.
    if !is_rule(first) {
        return below_rules(lines, false);
    }
    parts(first)?;
    below_rules(below, true).map(|(rows, length)| (rows, length + 1))
}

/// The same of a table that begins with its header; a second rule ends one that `is_framed`.
fn below_rules(lines: &[&str], is_framed: bool) -> Option<(Vec<Vec<String>>, usize)> {
    let [first, rule, below @ ..] = lines else { return None };
    if is_rule(first) || !is_rule(rule) {
        return None;
    }
    let (columns, names) = (parts(rule), pieces(first));
    let read = |line: &str| match &columns {
        Some(columns) => in_columns(line, columns),
        None => below_names(line, &names),
    };
    let header = read(first).filter(|header| header.len() > 1 && header.iter().all(|name| !name.is_empty()))?;
    let mut rows = vec![header];
    let mut length = 2;
    for line in below {
        if is_rule(line) {
            length += 1;
            if is_framed {
                break;
            }
        } else {
            let Some(cells) = read(line) else { break };
            rows.push(cells);
            length += 1;
        }
    }
    let fewest = if columns.is_some() { 1 } else { FEWEST_ROWS };
    (rows.len() > fewest).then_some((rows, length))
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let is_of_rule = |sign: char| matches!(sign, '-' | '=' | '─' | ' ');
    line.chars().count() >= SHORTEST_RULE && line.chars().all(is_of_rule) && line.starts_with(['-', '=', '─'])
}

/// Where the parts of a rule with gaps begin; `None` of one without.
fn parts(rule: &str) -> Option<Vec<usize>> {
    let signs: Vec<char> = rule.trim_end().chars().collect();
    let is_sign = |place: usize| signs.get(place).is_some_and(|sign| *sign != ' ');
    let starts: Vec<usize> = (0..signs.len())
        .filter(|place| is_sign(*place) && place.checked_sub(1).is_none_or(|before| !is_sign(before)))
        .collect();
    if !starts.iter().all(|start| (*start..start + SHORTEST_PART).all(is_sign)) {
        return None;
    }
    (starts.len() > 1).then_some(starts)
}

/// The cells of a line in columns that begin at these places; `None` if a word stands across two of them.
fn in_columns(line: &str, columns: &[usize]) -> Option<Vec<String>> {
    let signs: Vec<char> = line.trim_end().chars().collect();
    if signs.is_empty() || signs.contains(&'\t') || signs.iter().take(*columns.first()?).any(|sign| *sign != ' ') {
        return None;
    }
    let ends = columns.iter().skip(1).copied().chain([usize::MAX]);
    columns
        .iter()
        .zip(ends)
        .map(|(start, end)| {
            let is_cut = *start > 0 && signs.get(start - 1).is_some_and(|before| *before != ' ');
            let cell: String = signs.iter().take(end).skip(*start).collect();
            (!is_cut).then(|| cell.trim().to_owned())
        })
        .collect()
}

/// The cells of a line below these names: each begins or ends where its name does.
fn below_names(line: &str, names: &[Piece]) -> Option<Vec<String>> {
    let mut cells = vec![String::new(); names.len()];
    let own = pieces(line);
    if own.len() < 2 || line.contains('\t') {
        return None;
    }
    for Piece { columns, words } in own {
        let is_free = |cell: &String, name: &Piece| {
            let is_near = |one: usize, other: usize| one.abs_diff(other) <= MOST_SHIFT;
            cell.is_empty() && (is_near(columns.start, name.columns.start) || is_near(columns.end, name.columns.end))
        };
        let (cell, _) = cells.iter_mut().zip(names).find(|(cell, name)| is_free(cell, name))?;
        *cell = words;
    }
    Some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_over_dashes_with_gaps_is_that_of_a_table() {
        let text = "EXTRACT  PAGE 1\nNo    Name of it   Tins\n----  -----------  -----\n0012  Oil, boiled  4.10\n0013               12.00\n\nText.\n";
        let table = "EXTRACT  PAGE 1\n\n| No | Name of it | Tins |\n|---|---|---|\n| 0012 | Oil, boiled | 4.10 |\n| 0013 |  | 12.00 |\n\nText.\n";
        assert_eq!(with_bars(text), table);
        let framed = "=====  ====\nSize   Kv\n=====  ====\nDN 25  8.4\n=====  ====\nText.\n";
        assert_eq!(with_bars(framed), "| Size | Kv |\n|---|---|\n| DN 25 | 8.4 |\n\nText.\n");
    }

    #[test]
    fn names_over_one_rule_with_aligned_rows_are_a_header() {
        let text = "Trip         Price   Seats\n--------------------------\nSeal island  24.00   12\nNight tour    5.50    6\n==========================\nTotal seats          18\n";
        let table = "| Trip | Price | Seats |\n|---|---|---|\n| Seal island | 24.00 | 12 |\n| Night tour | 5.50 | 6 |\n| Total seats |  | 18 |\n";
        assert_eq!(with_bars(text), table);
    }

    #[test]
    fn other_lines_over_a_rule_stay() {
        for text in [
            "A title\n-------\nSome text  with a gap\nand more of it\n",
            "Two  names\n----------\n\nText.\n",
            "Name   Tins\n-----------\nOil    4\n",
            "No    Name\n----  ----\nacross both of them\n",
            "----\n----\n",
            "a - b\n- - -\n",
        ] {
            assert_eq!(with_bars(text), text);
        }
    }
}
