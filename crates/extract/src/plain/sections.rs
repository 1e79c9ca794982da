//! Sections with numbers in text that is not indented: `2. Rota`, `§3 Hedges`, `Art. 4  Reduced on request: …`.
//!
//! They are counted, as items of a list are, which have no text below them. A number after its word or sign may also begin
//! a paragraph; what it then says up to a colon or a dash is its title.

use std::{collections::BTreeMap, ops::Range};

use super::{Line, Style, begins_with_capital, may_be_title, parts_of_number};

/// Longest title with a number over text that is not indented, in characters.
const LONGEST_SECTION: usize = 60;

/// Fewest such titles, and fewest with nothing but a blank between number and title.
const FEWEST_SECTIONS: usize = 2;
const FEWEST_BARE: usize = 3;

/// Fewest sections of one paragraph that show where the last of them ends.
const FEWEST_OF_ONE_PARAGRAPH: usize = 3;

/// Fewest words of a line, its number included, that is a clause without a sign at its end.
const FEWEST_OF_CLAUSE: usize = 9;

/// Words and signs before the number of a section, with their capitals.
const WORDS: [&str; 17] = [
    "§",
    "Art.",
    "Article",
    "Artikel",
    "Art",
    "Section",
    "Clause",
    "Chapter",
    "Rule",
    "Part",
    "Abschnitt",
    "Kapitel",
    "Teil",
    "Ziffer",
    "Nr.",
    "No.",
    "Annex",
];

/// Words after a number that refers to a section.
const OF_REFERENCES: [&str; 5] = ["Abs", "Absatz", "Satz", "Nr", "Para"];

/// Signs between the title and the text of a section, on one line.
const SEPARATORS: [&str; 4] = [": ", " - ", " – ", " — "];

/// A heading that a number marks.
pub(super) struct Section {
    pub(super) style: Style,
    /// Its line, or its first words if its text is on the same line.
    pub(super) bytes: Range<usize>,
    /// Empty where text begins that belongs to no section.
    pub(super) text: String,
}

/// How a number is marked as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// By the word with this number before it.
    Word(usize),
    /// By a full stop or a bracket after it.
    Point,
    /// By nothing.
    Bare,
    /// By more parts: `2.1`.
    Parts(usize),
}

/// A line at the beginning of a paragraph, or after the end of a sentence, that begins with a number.
struct Item<'t> {
    line: usize,
    mark: Mark,
    number: usize,
    /// Bytes of the number with its word.
    label: usize,
    words: &'t str,
    /// Whether it is the title of the text below it; else it begins text.
    is_title: bool,
}

/// The sections of a text by the numbers of their lines.
pub(super) fn numbered(lines: &[Line<'_>]) -> BTreeMap<usize, Section> {
    let items: Vec<Item<'_>> = (0..lines.len()).filter_map(|number| Item::at(lines, number)).collect();
    let is_series = |word: usize| {
        let own: Vec<&Item<'_>> = items.iter().filter(|item| item.mark == Mark::Word(word)).collect();
        own.len() >= FEWEST_SECTIONS && own.windows(2).all(|two| matches!(two, [one, next] if next.follows(one)))
    };
    let series: Vec<usize> = (0..WORDS.len()).filter(|word| is_series(*word)).collect();
    let mut found: Vec<(&Item<'_>, Style)> = Vec::new();
    for item in &items {
        let Mark::Word(word) = item.mark else { continue };
        // "Clause 8" goes on after "Section 7".
        let goes_on = found.last().filter(|(before, _)| item.number == before.number + 1).map(|(_, style)| *style);
        let own = series.contains(&word).then_some(Style::Named(word));
        found.extend(own.or(goes_on).map(|style| (item, style)));
    }
    if found.is_empty() {
        found = counted(&items, Mark::Point).or_else(|| counted(&items, Mark::Bare)).unwrap_or_default();
    }
    let after = after_last(lines, &found);
    let sections = found.iter().filter_map(|(item, style)| Some((item.line, item.section(lines, *style)?)));
    sections.chain(after).collect()
}

/// The titles that are counted from the first to the last, and the paragraphs with the numbers between them.
fn counted<'i, 't>(items: &'i [Item<'t>], mark: Mark) -> Option<Vec<(&'i Item<'t>, Style)>> {
    let own = || items.iter().filter(move |item| item.mark == mark);
    let are_counted =
        |of: &[&Item<'_>]| of.windows(2).all(|two| matches!(two, [one, next] if one.number + 1 == next.number));
    let titles: Vec<&Item<'_>> = own().filter(|item| item.is_title).collect();
    let all: Vec<&Item<'_>> = own().collect();
    let are_mostly_titles = titles.len() * 2 >= all.len() && are_counted(&all);
    let series = if are_mostly_titles { all } else { titles.clone() };
    let begins = mark == Mark::Point || series.first().is_some_and(|first| first.number == 1);
    let fewest = if mark == Mark::Point { FEWEST_SECTIONS } else { FEWEST_BARE };
    if titles.len() < fewest || !are_counted(&series) || !begins {
        return None;
    }
    let deeper = items.iter().filter_map(|item| match item.mark {
        Mark::Parts(parts) if item.is_title => Some((item, Style::Numbered(parts))),
        _ => None,
    });
    let mut found: Vec<(&Item<'_>, Style)> =
        series.into_iter().map(|item| (item, Style::Numbered(1))).chain(deeper).collect();
    found.sort_by_key(|(item, _)| item.line);
    Some(found)
}

/// The line after the last section where each before it has one paragraph: it begins text that belongs to none.
fn after_last(lines: &[Line<'_>], found: &[(&Item<'_>, Style)]) -> Option<(usize, Section)> {
    let ((last, style), before) = found.split_last()?;
    let second = |item: &Item<'_>, end: usize| {
        let own = lines.get(item.line..end)?;
        let begins = if item.is_title { 1 + own.iter().skip(1).position(|line| !line.words.is_empty())? } else { 0 };
        let length = own.iter().skip(begins).position(|line| line.words.is_empty())?;
        let gap = own.iter().skip(begins + length).position(|line| !line.words.is_empty())?;
        Some(item.line + begins + length + gap)
    };
    let ends = found.iter().skip(1).map(|(item, _)| item.line);
    let are_short = before.len() + 1 >= FEWEST_OF_ONE_PARAGRAPH
        && before.iter().zip(ends).all(|((item, _), end)| second(item, end).is_none());
    let line = second(last, lines.len()).filter(|_| are_short)?;
    let own = lines.get(line).filter(|own| own.indent == 0)?;
    let first = own.words.split_whitespace().next()?;
    let bytes = own.bytes.start..own.bytes.start + first.len();
    Some((line, Section { style: *style, bytes, text: String::new() }))
}

impl<'t> Item<'t> {
    /// The item that a line begins.
    fn at(lines: &[Line<'t>], number: usize) -> Option<Self> {
        let line = lines.get(number).filter(|line| line.indent == 0)?;
        let (mark, first, label) = number_of(line.words)?;
        let above = number.checked_sub(1).and_then(|at| lines.get(at)).map_or("", |above| above.words);
        let is_worded = matches!(mark, Mark::Word(_));
        let is_set_off = above.is_empty() || is_worded && above.ends_with(['.', '!', '?', ':', ';']);
        if !is_set_off {
            return None;
        }
        let rest = line.words.get(label..)?.trim_start_matches([' ', '\t', '-', '–', '—', ':']);
        let below = lines.get(number + 1..)?.iter().find(|below| !below.words.is_empty()).map(|below| below.words);
        let is_text = below.is_some_and(|below| {
            let is_item = number_of(below).is_some_and(|(other, ..)| other == mark);
            let is_counted = parts_of_number(below).is_some() || below.split_whitespace().count() == 1;
            !below.starts_with(char::is_lowercase)
                && !is_item
                && (is_worded || !is_counted || mark == Mark::Point && is_clause_of(first, below))
        });
        let is_title = is_text
            && above.is_empty()
            && may_be_title(line.words)
            && !line.words.ends_with('?')
            && line.words.chars().count() <= LONGEST_SECTION
            && (begins_with_capital(rest) || is_worded && rest.is_empty());
        let refers = OF_REFERENCES.contains(&rest.split([' ', '.']).next().unwrap_or_default());
        let begins_text = rest.starts_with(|sign: char| sign.is_uppercase() || "(\"“„".contains(sign)) && !refers;
        (is_title || begins_text).then_some(Self {
            line: number,
            mark,
            number: first,
            label,
            words: line.words,
            is_title,
        })
    }

    /// Whether its number is the next one, or the same with a letter, or begins to count again.
    const fn follows(&self, before: &Self) -> bool {
        self.number == before.number + 1 || self.number == before.number || self.number == 1
    }

    /// Its heading; none of a paragraph that says nothing but its number.
    fn section(&self, lines: &[Line<'_>], style: Style) -> Option<Section> {
        let bytes = lines.get(self.line)?.bytes.clone();
        if self.is_title {
            return Some(Section { style, bytes, text: on_one_line(self.words) });
        }
        let rest = self.words.get(self.label..)?;
        let title = SEPARATORS.iter().filter_map(|separator| rest.find(separator)).filter(|end| *end > 0).min();
        let title = title.and_then(|end| rest.get(..end)).filter(|title| {
            !title.trim().is_empty()
                && title.chars().count() <= LONGEST_SECTION
                && !title.contains([';', '?', '!'])
                && !title.contains(". ")
        });
        let end = match title {
            Some(title) => self.label + title.trim_end().len(),
            None if matches!(self.mark, Mark::Word(_)) => self.label,
            None => return None,
        };
        let text = self.words.get(..end)?;
        Some(Section { style, bytes: bytes.start..bytes.start + end, text: on_one_line(text) })
    }
}

/// Whether a line is a clause of a section with this number, "4.1 The lids are free." below "4. Lids": the entries of a table of
/// contents are no sentences.
fn is_clause_of(section: usize, line: &str) -> bool {
    let number = line.split_whitespace().next().unwrap_or_default().trim_end_matches(['.', ')']);
    let is_part = number.split_once('.').is_some_and(|(first, part)| {
        first.parse() == Ok(section)
            && !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    });
    is_part && (line.ends_with(['.', ';', ':', ',']) || line.split_whitespace().count() >= FEWEST_OF_CLAUSE)
}

/// How a line of words begins with a number, its first part, and the bytes up to its end.
fn number_of(words: &str) -> Option<(Mark, usize, usize)> {
    let worded = WORDS.iter().enumerate().find_map(|(word, name)| {
        let begins = words.get(..name.len()).filter(|begins| {
            let is_upper = || begins.eq_ignore_ascii_case(name) && !begins.contains(char::is_lowercase);
            begins == name || is_upper()
        })?;
        let after = words.get(begins.len()..)?;
        let digits = after.trim_start_matches([' ', '\t', '\u{a0}']);
        (digits.len() < after.len() || *name == "§").then_some((word, digits))
    });
    let (mark, from) = worded.map_or((None, words), |(word, digits)| (Some(Mark::Word(word)), digits));
    let rest = from.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let digits = from.get(..from.len() - rest.len()).filter(|digits| (1..=3).contains(&digits.len()))?;
    let number = digits.parse().ok()?;
    let (mark, rest) = if let Some(mark) = mark {
        // "4a", "4." and "4:".
        let rest = rest.strip_prefix(|letter: char| letter.is_ascii_lowercase()).unwrap_or(rest);
        (mark, rest.strip_prefix(['.', ':', ')']).unwrap_or(rest))
    } else {
        let parts = parts_of_number(words)?;
        let label = words.split(char::is_whitespace).next()?;
        let mark = match parts {
            1 if label.ends_with(['.', ')']) => Mark::Point,
            1 => Mark::Bare,
            _ => Mark::Parts(parts),
        };
        (mark, words.get(label.len()..)?)
    };
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| (mark, number, words.len() - rest.len()))
}

fn on_one_line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches([':', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::headings;

    /// Levels and texts of the headings of a text.
    fn found(text: &str) -> Vec<(u8, String)> {
        headings(text).into_iter().map(|heading| (heading.level, heading.text)).collect()
    }

    fn all(expected: &[&str]) -> Vec<(u8, String)> {
        expected.iter().map(|text| (1, (*text).to_owned())).collect()
    }

    #[test]
    fn words_and_signs_number_sections() {
        let rules = "Rules for painters\n\n§1 Oil\n(1) It is red.\n(2) It dries.\n\n§ 2 Brushes, tins\nThey shed.\n\n§3 End\nIt comes.\n\n\
            Waiting: three painters.\n";
        assert_eq!(found(rules), all(&["§1 Oil", "§ 2 Brushes, tins", "§3 End", ""]));
        let policy = "Section 1  OIL\n1.1 Tins are insured.\n1.2 Lids are not.\n\nSECTION 2 - Lime\n2.1 It is white. \nSection 3 You may \
            stop at the end of a year, and so may we.\n\nClause 4 (by hand): Chalk is insured, and so are the walls of it.\n";
        assert_eq!(found(policy), all(&["Section 1 OIL", "SECTION 2 - Lime", "Section 3", "Clause 4 (by hand)"]));
    }

    #[test]
    fn a_number_after_its_word_begins_a_paragraph() {
        let law = "LAW on paint (Art. 3)\n\nArt. 1  Whoever paints a wall pays for the paint. It is red.\n\n\
            Art. 2  Rates per year: oil 72; lime 108; each further one 132; chalk (see the list) 540.\n\n\
            Art. 3  Free: the walls of the town, of the county and of whoever lives behind one of them.\n\nIn force in May.\n";
        assert_eq!(found(law), all(&["Art. 1", "Art. 2 Rates per year", "Art. 3 Free", ""]));
        let second = headings(law).into_iter().nth(1).and_then(|heading| law.get(heading.bytes));
        assert_eq!(second, Some("Art. 2  Rates per year"));
    }

    #[test]
    fn titles_with_a_number_head_their_clauses() {
        let terms = "TERMS OF PAINT\nOf May\n\n1. Words\n1.1 A tin holds paint.\n1.2 Pots hold what tins do not hold, which is oil.\n\n\
            2. What is left out\n2.1 Lids, save those of tins.\n2.2 Walls that\n (a) are wet,\n (b) are old.\n\n3. End\n3.1 It comes in \
            May, or when the last of the tins is empty\n";
        assert_eq!(found(terms), all(&["1. Words", "2. What is left out", "3. End"]));
        let contents = "1. Words\n1.1 Tins\n1.2 Pots\n\n2. Left out\n2.1 Lids\n2.2 Walls\n\n3. End\n3.1 May\n";
        assert_eq!(found(contents), []);
    }

    #[test]
    fn bare_numbers_head_what_is_counted_from_one() {
        let minutes = "TOWN OF PAINT\nMinutes\n\n1  Minutes of May  -  approved, no changes at all were asked for.\n\n2  Oil\n   The tins are \
            empty. Ann\n   buys ten.\n\n3  Brushes\n   - They shed.\n\n4  Lime\n   White           3\n\n5  Walls (secret) - nobody was let \
            in for as long as they were painted.\n\nNext meeting in June.\n";
        let expected = ["1 Minutes of May", "2 Oil", "3 Brushes", "4 Lime", "5 Walls (secret)", ""];
        assert_eq!(found(minutes), all(&expected));
    }

    #[test]
    fn references_items_and_contents_are_no_sections() {
        for text in [
            "It is as told in\nArt. 1 of the law and in\nArt. 2 of the order.\n",
            "Das steht dort.\n\n§ 1 Abs. 2 gilt für Öl.\n\n§ 2 Satz 1 gilt für Kalk.\n",
            "Section 1 is about oil.\n\nSection 2 is about lime.\n",
            "Section 4  Oil\nIt dries.\n",
            "Art. 9 Oil\nIt dries.\n\nArt. 4 Lime\nIt shines.\n\nArt. 6 Chalk\nIt is dry.\n",
            "1 Open the tin.\n\n2 Stir the paint for as long as it takes.\n\n3 Paint: with care, and not too fast at the edges.\n",
            "1. Tins: three of them, with lids.\n2. Pots: two of them, without.\n3. Walls: none.\n",
            "1 Egg\n\n2 Tins\n\n3 Pots\n",
            "2 Oil\n\nIt is dry.\n\n3 Lime\n\nIt is wet.\n\n4 Chalk\n\nIt is old.\n",
        ] {
            assert_eq!(found(text), [], "{text:?}");
        }
    }
}
