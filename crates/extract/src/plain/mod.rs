//! The headings of plain text, told by its layout: manual pages, release notes, FAQs, READMEs.
//!
//! Ten styles of heading are known. Styles rank in the order in which a text first uses them, as in reStructuredText:
//! plain text has no levels of its own. Questions that are marked as such (`Q: … A: …`) stand below all of them.

mod aligned;
mod definitions;
mod hyphens;
mod pieces;
mod ruled;
mod sections;

use std::{borrow::Cow, ops::Range};

use domain::split::{Heading, marked_questions};

pub(super) use definitions::written_out;
pub(super) use hyphens::joined;

/// The text with its tables that no bars mark as rows between bars: those with a rule below their header, and those that are
/// aligned.
pub(super) fn with_bars(text: &str) -> Cow<'_, str> {
    match ruled::with_bars(text) {
        Cow::Borrowed(text) => aligned::with_bars(text),
        Cow::Owned(text) => Cow::Owned(aligned::with_bars(&text).into_owned()),
    }
}

/// Longest heading, in characters.
const LONGEST: usize = 100;

/// Fewest characters of a line under a heading.
const SHORTEST_UNDERLINE: usize = 3;

/// Columns by which a subsection of a manual page is indented.
const SUBSECTION_INDENT: usize = 3;

/// Words before the number of a release.
const RELEASE_WORDS: [&str; 3] = ["version", "release", "changes"];

/// Most lines of a numbered question.
const MOST_QUESTION_LINES: usize = 3;

/// Deepest level of a heading.
const MAX_LEVEL: u8 = 9;

/// How a line is marked as a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// As the first line of a manual page, which names the page at both ends.
    Page,
    /// By a line of this character under it.
    Underlined(char),
    /// By capitals, over indented text: `EXIT STATUS`.
    Capitals,
    /// By a slight indent, over text that is indented more, below a heading in capitals.
    Indented,
    /// By a number of so many parts: `2.1 Scope`.
    Numbered(usize),
    /// By a number after this one of the words for a section: `§ 3 Scope`, `Art. 4`.
    Named(usize),
    /// As a question, over indented text.
    Question,
    /// By so many stars, in a text that has headings of one star and of two: `* Changes in release 2.1`, `** Bug fixes`.
    Starred(usize),
    /// By the number of a release: `version 1.34 - A. Author`, `5.2.7 (2022-09-30)`.
    Release,
}

impl Style {
    /// The parts of its numbers.
    const fn parts(&self) -> Option<usize> {
        if let Self::Numbered(parts) = self { Some(*parts) } else { None }
    }
}

/// The headings of a text in order.
pub(super) fn headings(text: &str) -> Vec<Heading> {
    let questions = marked_questions(text);
    let mut headings = headings_by_layout(text);
    headings.retain(|heading| {
        // Both are in order: only the question before and the one after its beginning may overlap it.
        let next = questions.partition_point(|question| question.bytes.start <= heading.bytes.start);
        let before = next.checked_sub(1).and_then(|before| questions.get(before));
        let is_in_question = before.is_some_and(|question| question.bytes.contains(&heading.bytes.start));
        let holds_question = questions.get(next).is_some_and(|question| heading.bytes.contains(&question.bytes.start));
        !is_in_question && !holds_question
    });
    headings.extend(questions);
    headings.sort_by_key(|heading| heading.bytes.start);
    headings
}

fn headings_by_layout(text: &str) -> Vec<Heading> {
    let lines = lines_of(text);
    let is_outline = [1, 2].iter().all(|stars| lines.iter().any(|line| stars_before(line) == Some(*stars)));
    let mut sections = sections::numbered(&lines);
    let mut styles: Vec<Style> = Vec::new();
    let mut found = Vec::new();
    let mut next = 0;
    for (number, line) in lines.iter().enumerate() {
        if number < next {
            continue;
        }
        let starred = stars_before(line).filter(|_| is_outline).map(|stars| (Style::Starred(stars), 1));
        let own = sections.remove(&number);
        let section = || own.as_ref().map(|section| (section.style, 1));
        let question = || numbered_question(&lines, number);
        let by_layout = || {
            let style = style_of(&lines, number, styles.contains(&Style::Capitals))?;
            Some((style, if matches!(style, Style::Underlined(_)) { 2 } else { 1 }))
        };
        let Some((style, length)) = starred.or_else(by_layout).or_else(section).or_else(question) else { continue };
        next = number + length;
        let rank = styles.iter().position(|known| *known == style).unwrap_or_else(|| {
            styles.push(style);
            styles.len() - 1
        });
        let end = lines.get(next - 1).map_or(line.bytes.end, |last| last.bytes.end);
        let titled = lines.get(number..next).unwrap_or_default().iter().map(|line| line.words);
        let own = own.filter(|section| section.style == style);
        let words: Vec<&str> =
            titled.filter(|words| words.contains(char::is_alphanumeric)).flat_map(str::split_whitespace).collect();
        let (bytes, text) = match (own, style) {
            (Some(section), _) => (section.bytes, section.text),
            (None, Style::Page) => (line.bytes.start..end, words.first().copied().unwrap_or_default().to_owned()),
            (None, Style::Starred(_)) => (line.bytes.start..end, words.get(1..).unwrap_or_default().join(" ")),
            (None, _) => (line.bytes.start..end, words.join(" ")),
        };
        found.push((Heading { bytes, level: 0, text }, style, rank));
    }
    let levels = levels(&styles);
    let mut headings = Vec::new();
    // Open headings with numbers, outermost first.
    let mut open: Vec<(u8, Vec<u32>)> = Vec::new();
    for (heading, style, rank) in found {
        let mut level = levels.get(rank).copied().unwrap_or(MAX_LEVEL);
        open.retain(|(above, _)| *above < level);
        if let Style::Numbered(_) = style {
            let number = parts_of(&heading.text);
            // 2.2.1 is no part of 2.1, also where the title of 2.2 is none to this reader.
            while let Some((above, _)) = open.pop_if(|(_, other)| !number.starts_with(other)) {
                level = above;
            }
            open.push((level, number));
        }
        headings.push(Heading { level, ..heading });
    }
    headings
}

/// The level of each style: in the order of their first use, but that numbers are one after the other, those with more parts
/// deeper.
fn levels(styles: &[Style]) -> Vec<u8> {
    let first = styles.iter().position(|style| style.parts().is_some());
    let mut order: Vec<usize> = (0..styles.len()).collect();
    order.sort_by_key(|rank| {
        let parts = styles.get(*rank).and_then(Style::parts);
        (first.filter(|_| parts.is_some()).unwrap_or(*rank), parts)
    });
    let level = |rank: usize| order.iter().position(|other| *other == rank).map_or(MAX_LEVEL, level_of);
    (0..styles.len()).map(level).collect()
}

/// The level of the style at a place, from 0.
fn level_of(place: usize) -> u8 {
    u8::try_from(place + 1).unwrap_or(MAX_LEVEL).min(MAX_LEVEL)
}

/// The parts of the number that a heading begins with.
fn parts_of(heading: &str) -> Vec<u32> {
    let number = heading.split_whitespace().next().unwrap_or_default().trim_end_matches(['.', ')']);
    number.split('.').filter_map(|part| part.parse().ok()).collect()
}

/// A line of a text.
struct Line<'t> {
    /// Its bytes, line end included.
    bytes: Range<usize>,
    /// Its text without white space at its ends; empty if it is blank.
    words: &'t str,
    /// Columns before its text.
    indent: usize,
}

fn lines_of(text: &str) -> Vec<Line<'_>> {
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        let words = line.trim();
        let indent = line.len() - line.trim_start().len();
        // A tab is as wide as any indent that matters here.
        let tabs = line.chars().take_while(|sign| sign.is_whitespace()).filter(|sign| *sign == '\t').count();
        Some(Line { bytes: start..*at, words, indent: indent + 7 * tabs })
    });
    lines.collect()
}

/// The style of a line as a heading, if it is one.
fn style_of(lines: &[Line<'_>], number: usize, has_capitals: bool) -> Option<Style> {
    let (line, below) = (lines.get(number)?, lines.get(number + 1)?);
    let under = underline(line, below);
    let is_below = |before: &Line<'_>| before.words.is_empty() || under.is_some() && ends_above(before, line, below);
    let is_set_off = number.checked_sub(1).and_then(|before| lines.get(before)).is_none_or(is_below);
    if !is_set_off || !may_be_title(line.words) {
        return None;
    }
    if let Some(sign) = under {
        return Some(Style::Underlined(sign));
    }
    if line.indent == 0 && below.words.is_empty() && names_release(line.words) {
        return Some(Style::Release);
    }
    if lines.iter().take(number).all(|before| before.words.is_empty()) && is_name_of_page(line.words) {
        return Some(Style::Page);
    }
    let is_over_text = !below.words.is_empty() && below.indent > line.indent;
    let following = lines.iter().skip(number + 1).find(|later| !later.words.is_empty());
    let is_over_indented = following.is_some_and(|later| later.indent > line.indent);
    if line.indent == 0 && is_over_indented && is_in_capitals(line.words) {
        return Some(parts_of_number(line.words).map_or(Style::Capitals, Style::Numbered));
    }
    if has_capitals && line.indent == SUBSECTION_INDENT && is_over_text && begins_with_capital(line.words) {
        return Some(Style::Indented);
    }
    if line.indent > SUBSECTION_INDENT || is_over_text || !is_over_indented {
        return None;
    }
    match parts_of_number(line.words) {
        Some(parts) => Some(Style::Numbered(parts)),
        None => (line.words.ends_with('?') && line.indent == 0).then_some(Style::Question),
    }
}

/// The style and the lines of a question with a number, set off from the text above it, whatever is below: its own
/// underline belongs to it.
fn numbered_question(lines: &[Line<'_>], number: usize) -> Option<(Style, usize)> {
    let first = lines.get(number)?;
    let is_set_off = number.checked_sub(1).and_then(|at| lines.get(at)).is_none_or(|before| before.words.is_empty());
    let parts = parts_of_number(first.words).filter(|_| is_set_off && first.indent <= SUBSECTION_INDENT)?;
    let later = lines.get(number + 1..)?.iter().take(MOST_QUESTION_LINES - 1);
    let rest = later.take_while(|line| !line.words.is_empty() && line.indent > first.indent);
    let own: Vec<&Line<'_>> = std::iter::once(first).chain(rest).collect();
    let length = own.iter().position(|line| line.words.ends_with('?'))? + 1;
    let below = lines.get(number + length)?;
    let under = below.words.chars().next().filter(|sign| below.words.chars().all(|other| other == *sign));
    match under.filter(|sign| sign.is_ascii_punctuation() && below.words.len() >= SHORTEST_UNDERLINE) {
        Some(sign) => Some((Style::Underlined(sign), length + 1)),
        // Questions in a list of nothing else are its items.
        None => parts_of_number(below.words).is_none().then_some((Style::Numbered(parts), length)),
    }
}

/// Whether a text ends with a sentence above an underlined line, so that no blank line need stand between: the underline is
/// as long as the line.
fn ends_above(before: &Line<'_>, line: &Line<'_>, below: &Line<'_>) -> bool {
    let [title, under] = [line, below].map(|line| line.words.chars().count());
    before.words.ends_with(['.', '!', '?']) && title.abs_diff(under) <= 1
}

/// The stars before a heading of an outline.
fn stars_before(line: &Line<'_>) -> Option<usize> {
    let (stars, title) = line.words.split_once(' ')?;
    let is_heading = line.indent == 0 && stars.bytes().all(|byte| byte == b'*') && may_be_title(title);
    is_heading.then_some(stars.len())
}

/// Whether a line is the name of a release: a number of two parts or more, at most after one word, and a date, an author or
/// nothing.
fn names_release(words: &str) -> bool {
    let mut words = words.split_whitespace();
    let Some(first) = words.next() else { return false };
    let is_number = |word: &str| {
        let parts: Vec<&str> = word.trim_start_matches('v').split('.').collect();
        let begins =
            parts.first().is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        begins && parts.len() > 1 && parts.iter().all(|part| part.starts_with(|sign: char| sign.is_ascii_digit()))
    };
    let is_named = RELEASE_WORDS.contains(&first.to_lowercase().as_str()) && words.next().is_some_and(is_number);
    is_named || is_number(first) && words.next().is_some_and(|next| next.starts_with('('))
}

/// Whether the words of a line could be a heading, whatever is below them.
fn may_be_title(words: &str) -> bool {
    let is_short = words.chars().count() <= LONGEST && words.chars().any(char::is_alphanumeric);
    is_short && !words.ends_with(['.', ',', ';', ':', '。', '：']) && !words.contains('|')
}

/// Whether a line begins and ends with the name of a manual page, such as `PAINT(1)`.
pub(super) fn is_name_of_page(words: &str) -> bool {
    let (mut first, mut last) = (words.split_whitespace(), words.split_whitespace().rev());
    let (first, last) = (first.next().unwrap_or_default(), last.next().unwrap_or_default());
    first == last && first.len() < words.len() && first.contains('(') && first.ends_with(')')
}

/// The character of the line under a heading.
fn underline(line: &Line<'_>, below: &Line<'_>) -> Option<char> {
    let sign = below.words.chars().next().filter(|sign| matches!(sign, '=' | '-' | '~' | '^' | '*' | '#' | '+'))?;
    let is_line = below.words.chars().all(|other| other == sign);
    let (title, under) = (line.words.chars().count(), below.words.chars().count());
    let is_long_enough = under >= SHORTEST_UNDERLINE && 2 * under >= title;
    (is_line && is_long_enough && line.indent == below.indent).then_some(sign)
}

fn is_in_capitals(words: &str) -> bool {
    let mut letters = words.chars().filter(|sign| sign.is_alphabetic());
    letters.clone().count() > 1 && letters.all(char::is_uppercase)
}

fn begins_with_capital(words: &str) -> bool {
    words.starts_with(char::is_uppercase)
}

/// How many parts the number has that a line of words begins with: two for `2.1 Scope`.
fn parts_of_number(words: &str) -> Option<usize> {
    let (number, title) = words.split_once(char::is_whitespace)?;
    let number = number.trim_end_matches(['.', ')']);
    let parts: Vec<&str> = number.split('.').collect();
    let is_number =
        parts.iter().all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()));
    (is_number && title.chars().any(char::is_alphabetic)).then_some(parts.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Levels and texts of the headings of a text.
    fn found(text: &str) -> Vec<(u8, String)> {
        headings(text).into_iter().map(|heading| (heading.level, heading.text)).collect()
    }

    fn all(expected: &[(u8, &str)]) -> Vec<(u8, String)> {
        expected.iter().map(|(level, text)| (*level, (*text).to_owned())).collect()
    }

    #[test]
    fn manual_pages_have_sections() {
        let page = "PAINT(1)            User Commands            PAINT(1)\n\nNAME\n       paint - colour a wall\n\n\
            DESCRIPTION\n       Paints the WALL.\n\n   Exit status:\n       0  if it is dry.\n\n   Kinds of paint\n       \
            Oil and water.\n\n       -v, --verbose\n              tell more\n\nSEE ALSO\n       brush(1)\n";
        let expected = [(1, "PAINT(1)"), (2, "NAME"), (2, "DESCRIPTION"), (3, "Kinds of paint"), (2, "SEE ALSO")];
        assert_eq!(found(page), all(&expected));
    }

    #[test]
    fn underlined_lines_rank_by_first_use() {
        let text = "Questions\n---------\n\nWhy paint?\n==========\n\nIt lasts.\n\nWhy oil?\n========\n\nIt shines.\n";
        assert_eq!(found(text), all(&[(1, "Questions"), (2, "Why paint?"), (2, "Why oil?")]));
        let bytes = headings(text).first().map(|heading| heading.bytes.clone());
        assert_eq!(bytes.and_then(|bytes| text.get(bytes)), Some("Questions\n---------\n"));
    }

    #[test]
    fn an_underlined_line_needs_no_blank_line_after_a_sentence() {
        let news = "Paint 1.1\n=========\n\nIt dries.\nPaint 1.0 (May)\n===============\n\nIt sticks.\n";
        assert_eq!(found(news), all(&[(1, "Paint 1.1"), (1, "Paint 1.0 (May)")]));
        for text in ["Paint of\nmany colours\n============\n", "It dries.\nPaint   Price\n-----\nOil     5\n"] {
            assert_eq!(found(text), [], "{text:?}");
        }
    }

    #[test]
    fn numbers_and_questions_head_indented_text() {
        let text = " 1. Is it dry?\n\n    Yes.\n\n 2. Where is it sold?\n\n    In shops.\n\n2.1\tScope\n\n\tAll walls.\n\n\
            Why oil?\n\n\tIt shines.\n";
        let expected = [(1, "1. Is it dry?"), (1, "2. Where is it sold?"), (2, "2.1 Scope"), (3, "Why oil?")];
        assert_eq!(found(text), all(&expected));
    }

    #[test]
    fn counted_titles_head_text_that_is_not_indented() {
        let minutes = "Meeting of May\n\n1. Oil\nThe tins are empty. Ann\nbuys ten.\n\n2. Brushes of all sizes\n\n\
            They shed.\n\n2.1. Cleaning\nIt comes later.\n\n3) Next meeting\nIn June.\n";
        let expected = [(1, "1. Oil"), (1, "2. Brushes of all sizes"), (2, "2.1. Cleaning"), (1, "3) Next meeting")];
        assert_eq!(found(minutes), all(&expected));
        // Items, steps that go on, and numbers that count nothing.
        for text in [
            "1. Oil\n2. Chalk\n\nAre paints.\n",
            "1. Open the tin and\nstir.\n\n2. Paint the wall and\nwait.\n",
            "1. Open the tin.\n\nWith care.\n\n2. Stir.\n\nFor long.\n",
            "3. Oil\n\nDries in days.\n\n8. Chalk\n\nDries in hours.\n",
            "1. Oil\n\nDries in days.\n",
        ] {
            assert_eq!(found(text), [], "{text:?}");
        }
    }

    #[test]
    fn numbers_with_more_parts_are_deeper() {
        let manual = "1.1. Oil\n\nIt dries.\n\n1.2.1. Old lime\n\nIt shines.\n\n1.2.2. New lime\n\nIt is wet.\n\n2. Walls\n\nThey \
            stand.\n\n2.1. Brick\n\nIt is red.\n\n3. Doors\n\nThey shut.\n";
        let expected = [
            (2, "1.1. Oil"),
            (2, "1.2.1. Old lime"),
            (2, "1.2.2. New lime"),
            (1, "2. Walls"),
            (2, "2.1. Brick"),
            (1, "3. Doors"),
        ];
        assert_eq!(found(manual), all(&expected));
        let capitals = "1.1. Oil\n\n   It dries.\n\nIs it dry?\n\n   Yes.\n\n1.2. OS/2\n\n   It is wet.\n\n2. LIME\n\n   It shines.\n";
        let expected = [(2, "1.1. Oil"), (3, "Is it dry?"), (2, "1.2. OS/2"), (1, "2. LIME")];
        assert_eq!(found(capitals), all(&expected));
    }

    #[test]
    fn questions_head_their_answers() {
        let marked = "Paint\n=====\n\nQ: Is it dry\n   in a day?\n\nA: Yes.\n\nQ: Where is it sold?\nA: In shops.\n";
        assert_eq!(found(marked), all(&[(1, "Paint"), (9, "Is it dry in a day?"), (9, "Where is it sold?")]));
        let numbered = "1. Is it dry?\n~~~~~~~~~~~~~\nYes.\n\n2. Where are tins,\n   and who sells them?\n~~~~~~~~~\nIn shops.\n\n\
            3. Does it shine?\nAt night.\n";
        let expected = [(1, "1. Is it dry?"), (1, "2. Where are tins, and who sells them?"), (2, "3. Does it shine?")];
        assert_eq!(found(numbered), all(&expected));
        assert_eq!(found("Ask yourself:\n\n1. Is it dry?\n2. Is it clean?\n"), []);
    }

    #[test]
    fn releases_head_their_changes() {
        let news = "GNU paint NEWS\n\n* Noteworthy changes in release 2.1 (2020-01-02)\n\n** Bug fixes\n\n  It dries.\n\n\
            * Noteworthy changes in release 2.0\n\n** Bug fixes\n\n  It sticks.\n";
        let expected = [
            (1, "Noteworthy changes in release 2.1 (2020-01-02)"),
            (2, "Bug fixes"),
            (1, "Noteworthy changes in release 2.0"),
            (2, "Bug fixes"),
        ];
        assert_eq!(found(news), all(&expected));
        let numbered = "version 1.34 - A. Author, 2021-02-13\n\n* Fix drying.\n\nversion 1.33\n\n* Fix more.\n";
        assert_eq!(found(numbered), all(&[(1, "version 1.34 - A. Author, 2021-02-13"), (1, "version 1.33")]));
        assert_eq!(found("5.2.7 (2022-09-30)\n\n    * It dries.\n"), all(&[(1, "5.2.7 (2022-09-30)")]));
        for text in ["* Paint\n\n* Oil\n\nIt dries.\n", "version 1\n\nIt dries.\n", "1.5 litres\n\nare enough\n"] {
            assert_eq!(found(text), [], "{text:?}");
        }
    }

    #[test]
    fn other_lines_are_text() {
        for text in [
            "Is it dry?\n\nYes.\n",
            "1. Open the tin.\n\n   With care.\n\n2. Stir.\n",
            "1. Stir\n2. Paint\n\n   Twice\n",
            "1 January\n\nIt rains.\n",
            "NOTE: it is wet.\n   Wait.\n",
            "It dries in a day.\nOIL\n   shines\n",
            "a | b\n-----\n",
            "Signed,\n--\nAnn\n",
            "A whole sentence that goes on for long and then has three signs under it for no reason\n---\n",
            "   Kinds of paint\n       Oil and water\n",
            "OIL\n",
            "",
        ] {
            assert_eq!(found(text), [], "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn headings_are_whole_lines_in_order(text in "([A-Z]{1,3}|[a-zé?.:1]{1,3}|[ \\t]{1,4}|\r?\n|\n\n|[=~-]{1,4}|1[.]2 A){0,40}") {
            let headings = headings(&text);
            prop_assert!(headings.is_sorted_by(|one, two| one.bytes.end <= two.bytes.start));
            for heading in headings {
                let lines = text.get(heading.bytes.clone()).expect("on characters");
                prop_assert!(lines.ends_with('\n') || heading.bytes.end == text.len());
                prop_assert!(heading.bytes.start == 0 || text.as_bytes().get(heading.bytes.start - 1) == Some(&b'\n'));
                prop_assert!(!heading.text.is_empty() && heading.level >= 1);
            }
        }
    }
}
