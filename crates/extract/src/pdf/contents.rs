//! Tables of contents with leaders, the dots between the title of an entry and the number of its page.
//!
//! Their titles are those of the sections, which stand in the text again.

use super::{glyphs::Page, lines::Line};

/// Fewest dots of a leader.
const FEWEST_DOTS: usize = 4;
/// Longest number of a page, in characters: `xviii`, `A-12`.
const LONGEST_NUMBER: usize = 6;
/// Fewest entries of a table of contents.
const FEWEST_ENTRIES: usize = 3;
/// Most lines between two entries: the beginning of a long title, a title over entries.
const MOST_BETWEEN: usize = 2;

/// Drops the entries of tables of contents and the lines between them.
pub(super) fn drop_contents(pages: &mut [Page]) {
    let count = pages.len();
    for page in pages {
        let entries: Vec<(usize, &str)> =
            page.lines.iter().enumerate().filter_map(|(place, line)| Some((place, page_number(line)?))).collect();
        let tables = entries.chunk_by(|(one, _), (next, _)| next - one <= MOST_BETWEEN + 1);
        let mut dropped: Vec<std::ops::RangeInclusive<usize>> = Vec::new();
        for table in tables.filter(|table| table.len() >= FEWEST_ENTRIES && counts_pages(table, count)) {
            if let [(first, _), .., (last, _)] = table {
                dropped.push(*first..=*last);
            }
        }
        let mut place = 0..;
        page.lines.retain(|_| place.next().is_none_or(|place| !dropped.iter().any(|lines| lines.contains(&place))));
    }
}

/// The number that a leader leads to at the end of a line.
fn page_number(line: &Line) -> Option<&str> {
    let text = line.text.trim_end();
    let is_of_number = |sign: char| sign.is_ascii_digit() || "ivxlcABCDEF-".contains(sign);
    let (before, number) = text.split_at_checked(text.trim_end_matches(is_of_number).len())?;
    let leader = before.chars().rev().take_while(|sign| *sign == '.' || sign.is_whitespace());
    let dots = leader.filter(|sign| *sign == '.').count();
    ((1..=LONGEST_NUMBER).contains(&number.len()) && dots >= FEWEST_DOTS).then_some(number)
}

/// Whether the numbers of entries are those of pages in order. Prices have leaders too.
fn counts_pages(entries: &[(usize, &str)], pages: usize) -> bool {
    let numbers: Vec<usize> = entries.iter().filter_map(|(_, number)| number.parse().ok()).collect();
    numbers.is_sorted() && numbers.iter().all(|number| *number <= pages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::lines::{LineBuilder, tests::drawn};

    /// The lines that are left on the first of so many pages.
    fn left(lines: &[&str], pages: usize) -> Vec<String> {
        let page = |lines: &[&str]| {
            let mut builder = LineBuilder::default();
            for (number, line) in (1_u32..).zip(lines) {
                drawn(&mut builder, line, 0.0, f64::from(number) * 12.0, 10.0);
            }
            Page { lines: builder.finish(None), height: 800.0 }
        };
        let mut pages: Vec<Page> = (0..pages).map(|number| page(if number == 0 { lines } else { &[] })).collect();
        drop_contents(&mut pages);
        pages.swap_remove(0).lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn entries_with_leaders_are_left_out() {
        let lines = [
            "Contents",
            "Preface ........ iv",
            "1 Paints .......... 1",
            "1.1 Oils . . . . . . 2",
            "2 A title that is longer than",
            "its line .......... 3",
            "Text.",
        ];
        assert_eq!(left(&lines, 3), ["Contents", "Text."]);
        // Numbers of pages that there are not.
        assert_eq!(left(&lines, 2).len(), lines.len());
    }

    #[test]
    fn prices_and_single_leaders_stay() {
        let prices = ["Oil ........ 12", "Chalk ........ 3", "Brush ........ 7"];
        assert_eq!(left(&prices, 20), prices);
        let single = ["Dots ..... 1", "Text.", "Text.", "Text.", "Dots ..... 2", "Dots ..... 3", "1... 2... 3"];
        assert_eq!(left(&single, 20), single);
    }
}
