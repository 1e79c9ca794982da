//! Running headers, footers and page numbers: lines at the edge of several pages, at one height, that say the same or
//! count the pages.
//!
//! A line that says the same stays where it comes first, so that nothing is lost; one that counts the pages is dropped
//! everywhere. On a page or two nothing is repeated so often: there a line counts them that is printed small and says
//! "Page 1", and it stays once if it tells numbers or addresses of its own.

use std::collections::{HashMap, HashSet};

use super::{
    glyphs::Page,
    headings::body_size,
    lines::{Cell, Line},
    tags::Kind,
};

/// Height of the edges, at the top and at the bottom, as a share of the page.
const EDGE: f64 = 0.12;
/// Number of pages that prove it.
const PAGES: usize = 3;
/// Lines are at one height if they are so many points apart, at most.
const HEIGHT: f64 = 2.0;
/// Size of a line that is printed smaller than the text, as a share of its size.
pub(super) const SMALLER: f64 = 0.95;
/// Words beside the number of a page.
const PAGE_WORDS: [&str; 12] = ["page", "pages", "of", "p", "pg", "seite", "von", "s", "de", "sur", "pagina", "página"];

/// Words before the number of a page.
const BEFORE_NUMBER: [&str; 8] = ["page", "p", "pg", "seite", "s", "pagina", "página", "blatt"];

/// Years, which a title may hold.
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2100;

/// The number of a page and of a line on it.
type Place = (usize, usize);

/// Drops running headers, footers and page numbers.
pub(super) fn drop_furniture(pages: &mut [Page]) {
    let body = body_size(pages.iter().flat_map(|page| &page.lines));
    let mut counting: HashMap<Count, Vec<Place>> = HashMap::new();
    let mut same: HashMap<(i64, &str), Vec<Place>> = HashMap::new();
    for (number, page) in pages.iter().enumerate() {
        for (place, line) in page.lines.iter().enumerate().filter(|(_, line)| is_at_edge(line, page.height)) {
            same.entry((height_of(line), line.text.as_str())).or_default().push((number, place));
            for count in Count::of(line, number, body) {
                counting.entry(count).or_default().push((number, place));
            }
        }
    }
    let mut dropped: HashSet<Place> = counting.into_values().filter(|places| places.len() >= PAGES).flatten().collect();
    for places in same.into_values().filter(|places| places.len() >= PAGES) {
        dropped.extend(places.into_iter().skip(1));
    }
    if pages.len() < PAGES {
        dropped.extend(counting_few(pages, body));
    }
    for (number, page) in pages.iter_mut().enumerate() {
        let mut place = 0..;
        page.lines.retain(|_| place.next().is_none_or(|place| !dropped.contains(&(number, place))));
    }
}

/// The lines that count the pages of a document that has few.
fn counting_few(pages: &[Page], body: f64) -> Vec<Place> {
    let mut said: HashSet<String> = HashSet::new();
    let mut dropped = Vec::new();
    for (number, page) in pages.iter().enumerate() {
        for (place, line) in page.lines.iter().enumerate().filter(|(_, line)| is_at_edge(line, page.height)) {
            if line.size >= body * SMALLER || !names_page(&line.text, number + 1) {
                continue;
            }
            let is_new = said.insert(line.text.chars().filter(|character| character.is_alphabetic()).collect());
            if !is_new || !tells_more(&line.text, [number + 1, pages.len()]) {
                dropped.push((number, place));
            }
        }
    }
    dropped
}

/// Whether a text begins or ends with the number of this page: "Page 1", "Seite 1 von 2".
fn names_page(text: &str, number: usize) -> bool {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    let at = words
        .iter()
        .zip(words.iter().skip(1))
        .rposition(|(word, count)| BEFORE_NUMBER.contains(&word.as_str()) && count.parse() == Ok(number));
    let is_of_all = |rest: &[String]| match rest {
        [] => true,
        [all] => is_number(all),
        [of, all] => PAGE_WORDS.contains(&of.as_str()) && is_number(all),
        _ => false,
    };
    at.is_some_and(|at| at == 0 || words.get(at + 2..).is_some_and(is_of_all))
}

/// Whether a text holds an address or a number other than these and than a year: one of a telephone, of a bill, a date.
fn tells_more(text: &str, pages: [usize; 2]) -> bool {
    let is_own_number = |word: &str| {
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
        let has_digit = word.contains(|character: char| character.is_ascii_digit());
        let is_known = pages.iter().any(|page| word.parse() == Ok(*page))
            || word.parse().is_ok_and(|number| YEARS.contains(&number));
        has_digit && !word.contains(char::is_alphabetic) && !is_known
    };
    text.contains(['@']) || text.contains("www.") || text.split([' ', '\t', '/']).any(is_own_number)
}

fn is_at_edge(line: &Line, height: f64) -> bool {
    let y = line.origin.y;
    let is_cell = line.tag.is_some_and(|tag| matches!(tag.kind, Kind::Cell(_)));
    line.is_upright() && !is_cell && (y < height * EDGE || y > height * (1.0 - EDGE))
}

/// Whether a line stands at the upper edge of a page.
pub(super) fn is_at_top(line: &Line, height: f64) -> bool {
    is_at_edge(line, height) && line.origin.y < height * EDGE
}

#[expect(clippy::cast_possible_truncation, reason = "a step of a height; casts saturate")]
fn height_of(line: &Line) -> i64 {
    (line.origin.y / HEIGHT).round() as i64
}

/// How a line may count the pages.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Count {
    height: i64,
    /// Whether it is the last number of the line that counts, else it is the first.
    is_last: bool,
    /// How far the number is ahead of the page.
    ahead: i64,
    /// The letters beside the number, where they must be the same on each page.
    words: String,
}

impl Count {
    /// The ways in which a line may count the pages: its number stands by itself or beside words for it, or the line is
    /// printed smaller than the text. "Step 3" at the head of a slide is a title, and notes have other words each.
    fn of(line: &Line, page: usize, body: f64) -> Vec<Self> {
        let digits = line.text.split(|character: char| !character.is_ascii_digit());
        let numbers: Vec<i64> = digits.filter_map(|digits| digits.parse().ok()).collect();
        let mut words = line.text.split(|character: char| !character.is_alphabetic()).filter(|word| !word.is_empty());
        let is_number = |cell: &Cell| cell.text.bytes().all(|byte| byte.is_ascii_digit());
        let is_alone = words.all(|word| PAGE_WORDS.contains(&word.to_lowercase().as_str()))
            || [line.cells.first(), line.cells.last()].into_iter().flatten().any(is_number);
        if !is_alone && line.size >= body * SMALLER {
            return Vec::new();
        }
        let words: String = line.text.chars().filter(|character| !is_alone && character.is_alphabetic()).collect();
        let page = i64::try_from(page).unwrap_or(i64::MAX);
        let ends = [(false, numbers.first()), (true, numbers.last())];
        ends.into_iter()
            .filter_map(|(is_last, number)| {
                let ahead = number?.saturating_sub(page);
                Some(Self { height: height_of(line), is_last, ahead, words: words.clone() })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::lines::{LineBuilder, tests::drawn};

    /// Pages of lines at these heights, without furniture.
    fn read(pages: &[&[(f64, &str)]]) -> Vec<Vec<String>> {
        let page = |lines: &&[(f64, &str)]| {
            let mut builder = LineBuilder::default();
            for (y, text) in *lines {
                drawn(&mut builder, text, 50.0, *y, 10.0);
            }
            Page { lines: builder.finish(None), height: 800.0 }
        };
        let mut pages: Vec<Page> = pages.iter().map(page).collect();
        drop_furniture(&mut pages);
        pages.into_iter().map(|page| page.lines.into_iter().map(|line| line.text).collect()).collect()
    }

    #[test]
    fn headers_stay_once_and_page_numbers_go() {
        let pages = read(&[
            &[(30.0, "Annual report"), (400.0, "One."), (780.0, "Page 7 of 9")],
            &[(30.0, "Annual report"), (400.0, "One."), (780.0, "Page 8 of 9")],
            &[(780.0, "Page 9 of 9"), (400.0, "Three."), (30.0, "Annual report")],
        ]);
        assert_eq!(pages, [vec!["Annual report", "One."], vec!["One."], vec!["Three."]]);
    }

    #[test]
    fn numbers_of_pages_are_known_beside_changing_words_and_titles_are_not_numbers() {
        let pages = read(&[
            &[(30.0, "Step 1"), (400.0, "One."), (780.0, "4")],
            &[(30.0, "Step 2"), (400.0, "Two."), (780.0, "5")],
            &[(30.0, "Step 3"), (400.0, "Three."), (780.0, "6")],
        ]);
        assert_eq!(pages, [["Step 1", "One."], ["Step 2", "Two."], ["Step 3", "Three."]]);
        let note = |number: &str, words: &str, size: f64| {
            let mut builder = LineBuilder::default();
            drawn(&mut builder, "The text of the page.", 50.0, 400.0, 10.0);
            drawn(&mut builder, &format!("{number} {words}"), 50.0, 780.0, size);
            Page { lines: builder.finish(None), height: 800.0 }
        };
        let mut notes = [note("1", "One", 8.0), note("2", "Two", 8.0), note("3", "Three", 8.0)];
        drop_furniture(&mut notes);
        assert!(notes.iter().all(|page| page.lines.len() == 2), "{notes:?}");
        let mut feet = ["1", "2", "3"].map(|number| note(number, "Example Ltd", 8.0));
        drop_furniture(&mut feet);
        assert!(feet.iter().all(|page| page.lines.len() == 1), "{feet:?}");
        let page = |chapter: &str, number: &str| {
            let mut builder = LineBuilder::default();
            drawn(&mut builder, chapter, 50.0, 30.0, 10.0);
            drawn(&mut builder, number, 400.0, 30.0, 10.0);
            drawn(&mut builder, "Text.", 50.0, 400.0, 10.0);
            Page { lines: builder.finish(None), height: 800.0 }
        };
        let mut pages = [page("Chapter 2: Names", "14"), page("Chapter 2: Names", "15"), page("Chapter 3: Uses", "16")];
        drop_furniture(&mut pages);
        assert!(pages.iter().all(|page| page.lines.len() == 1), "{pages:?}");
    }

    #[test]
    fn a_page_or_two_have_running_lines_in_small_print() {
        let read = |pages: &[&str]| -> Vec<usize> {
            let page = |foot: &&str| {
                let mut builder = LineBuilder::default();
                drawn(&mut builder, "The text of the page, which is longer than its foot.", 50.0, 400.0, 10.0);
                drawn(&mut builder, foot, 50.0, 780.0, 8.0);
                Page { lines: builder.finish(None), height: 800.0 }
            };
            let mut pages: Vec<Page> = pages.iter().map(page).collect();
            drop_furniture(&mut pages);
            pages.iter().map(|page| page.lines.len()).collect()
        };
        assert_eq!(read(&["Example Ltd - Plan 2024_b - Page 1"]), [1]);
        assert_eq!(read(&["Example Ltd, Seite 1 von 2", "Example Ltd, Seite 2 von 2"]), [1, 1]);
        assert_eq!(read(&["Page 1/1 Example Ltd"]), [1]);
        // Facts stay, once.
        assert_eq!(read(&["Bill 4711 - Page 1 of 2", "Bill 4711 - Page 2 of 2"]), [2, 1]);
        assert_eq!(read(&["post@host.example - Page 1"]), [2]);
        // Other numbers count no pages.
        assert_eq!(read(&["Example Ltd, Page 7"]), [2]);
        assert_eq!(read(&["See page 1 of the plan"]), [2]);
    }

    #[test]
    fn what_two_pages_say_and_what_differs_stays() {
        let pages: [&[(f64, &str)]; 4] = [
            &[(30.0, "Twice"), (780.0, "Total 100"), (400.0, "Same")],
            &[(30.0, "Twice"), (780.0, "Total 250"), (400.0, "Same")],
            &[(780.0, "Total 90"), (400.0, "Same"), (50.0, "2024 2025")],
            &[(780.0, "Total 7"), (400.0, "Same"), (52.5, "2024 2025")],
        ];
        let all: usize = pages.iter().map(|page| page.len()).sum();
        assert_eq!(read(&pages).iter().map(Vec::len).sum::<usize>(), all);
        // Numbers that are the same on each page are the head of a table.
        let table: [&[(f64, &str)]; 3] = [&[(60.0, "2024 2025")], &[(60.0, "2024 2025")], &[(60.0, "2024 2025")]];
        assert_eq!(read(&table), [vec!["2024 2025".to_owned()], vec![], vec![]]);
    }
}
