//! The numbers of lists in a word processor's document, which its text does not hold.

use std::collections::HashMap;

use super::super::{
    ExtractError,
    xml::{Element, Token, walk},
};

/// Levels of a list.
const MOST_LEVELS: usize = 9;

/// Highest number that is written in letters or Roman numerals.
const HIGHEST_LETTERED: u32 = 1_000;

/// The list that a paragraph is an entry of, as its own properties or those of its style name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListPlace {
    /// Identity of the list; `0` says that there is none.
    pub(super) list: Option<String>,
    pub(super) level: Option<usize>,
}

impl ListPlace {
    /// Reads one of the elements in `numPr`.
    pub(super) fn read(&mut self, element: &Element<'_>) {
        let value = element.attribute("val");
        match element.name() {
            "numId" => self.list = value,
            "ilvl" => self.level = value.and_then(|level| level.parse().ok()).filter(|level| *level < MOST_LEVELS),
            _ => {}
        }
    }

    /// What this one says, and of the rest what `other` says.
    pub(super) fn or(self, other: &Self) -> Self {
        Self { list: self.list.or_else(|| other.list.clone()), level: self.level.or(other.level) }
    }
}

/// How the entries of one level are numbered.
#[derive(Clone, Debug)]
struct Level {
    format: String,
    start: u32,
    /// The mark of an entry, with `%1` for the number of the first level.
    pattern: String,
}

impl Default for Level {
    fn default() -> Self {
        Self { format: "decimal".to_owned(), start: 1, pattern: String::new() }
    }
}

#[derive(Clone, Debug, Default)]
struct List {
    levels: HashMap<usize, Level>,
    /// Last numbers of the levels, as far as they are counted.
    counters: [Option<u32>; MOST_LEVELS],
}

/// The lists of a document by identity.
#[derive(Debug, Default)]
pub(super) struct Numbering(HashMap<String, List>);

impl Numbering {
    /// Reads the part `word/numbering.xml`.
    pub(super) fn read(xml: &str) -> Result<Self, ExtractError> {
        let mut kinds: HashMap<String, List> = HashMap::new();
        let mut lists: HashMap<String, List> = HashMap::new();
        let (mut kind, mut list, mut level): (Option<String>, Option<String>, usize) = (None, None, 0);
        walk(xml, |token| {
            match token {
                Token::Open(element) => {
                    let value = || element.attribute("val");
                    let index = || element.attribute("ilvl").and_then(|level| level.parse().ok()).unwrap_or(0);
                    match element.name() {
                        "abstractNum" => kind = element.attribute("abstractNumId"),
                        "num" => list = element.attribute("numId"),
                        "lvl" | "lvlOverride" => level = index(),
                        "abstractNumId" => {
                            let named = value().and_then(|kind| kinds.get(&kind)).cloned().unwrap_or_default();
                            lists.extend(list.clone().map(|list| (list, named)));
                        }
                        name => {
                            let owner = match (&list, &kind) {
                                (Some(list), _) => lists.get_mut(list),
                                (None, Some(kind)) => Some(kinds.entry(kind.clone()).or_default()),
                                (None, None) => None,
                            };
                            if let Some((owner, value)) = owner.zip(value()) {
                                owner.define(name, level, value);
                            }
                        }
                    }
                }
                Token::Close("abstractNum") => kind = None,
                Token::Close("num") => list = None,
                Token::Close(_) | Token::Text(_) => {}
            }
            Ok(())
        })?;
        Ok(Self(lists))
    }

    /// The mark of the next entry at a place: its number, or a bullet.
    pub(super) fn next_mark(&mut self, place: &ListPlace) -> String {
        let level = place.level.unwrap_or(0);
        let list = place.list.as_ref().and_then(|list| self.0.get_mut(list));
        list.and_then(|list| list.next_mark(level)).unwrap_or_else(|| "-".to_owned())
    }
}

impl List {
    fn define(&mut self, name: &str, level: usize, value: String) {
        if level >= MOST_LEVELS || !matches!(name, "numFmt" | "start" | "startOverride" | "lvlText") {
            return;
        }
        let level = self.levels.entry(level).or_default();
        match name {
            "numFmt" => level.format = value,
            "lvlText" => level.pattern = value,
            _ => level.start = value.parse().unwrap_or(1),
        }
    }

    /// Counts an entry of a level; deeper levels begin anew. `None` if the level has no numbers.
    fn next_mark(&mut self, level: usize) -> Option<String> {
        let start = self.levels.get(&level)?.start;
        let counter = self.counters.get_mut(level)?;
        *counter = Some(counter.map_or(start, |last| last.saturating_add(1)));
        self.counters.iter_mut().skip(level + 1).for_each(|deeper| *deeper = None);
        let mut mark = self.levels.get(&level)?.pattern.clone();
        if !mark.contains('%') {
            return None;
        }
        for (index, counter) in self.counters.iter().enumerate() {
            let sign = format!("%{}", index + 1);
            if mark.contains(&sign) {
                let other = self.levels.get(&index)?;
                mark = mark.replace(&sign, &numeral(counter.unwrap_or(other.start), &other.format)?);
            }
        }
        let mark = mark.split_whitespace().collect::<Vec<_>>().join(" ");
        mark.contains(char::is_alphanumeric).then_some(mark)
    }
}

/// A number in a format; `None` for bullets and for scripts that are not known.
pub(in super::super) fn numeral(number: u32, format: &str) -> Option<String> {
    let is_lettered = (1..=HIGHEST_LETTERED).contains(&number);
    match format {
        "decimal" => Some(number.to_string()),
        "decimalZero" => Some(format!("{number:02}")),
        "lowerLetter" if is_lettered => Some(letters(number)),
        "upperLetter" if is_lettered => Some(letters(number).to_uppercase()),
        "lowerRoman" if is_lettered => Some(roman(number)),
        "upperRoman" if is_lettered => Some(roman(number).to_uppercase()),
        _ => None,
    }
}

/// `a` to `z`, then `aa` to `zz`.
fn letters(number: u32) -> String {
    let (place, times) = ((number - 1) % 26, (number - 1) / 26 + 1);
    let letter = u8::try_from(place).map_or('a', |place| char::from(b'a' + place));
    std::iter::repeat_n(letter, usize::try_from(times).unwrap_or(1)).collect()
}

fn roman(mut number: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    let mut written = String::new();
    for (value, sign) in SIGNS {
        while number >= value {
            number -= value;
            written.push_str(sign);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: &str = r#"<w:numbering>
        <w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
        <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>
        <w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>
        <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
        <w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
        </w:numbering>"#;

    #[test]
    fn each_list_and_level_is_counted_by_itself() {
        let mut numbering = Numbering::read(LISTS).expect("lists");
        let mut next = |list: &str, level: usize| {
            numbering.next_mark(&ListPlace { list: Some(list.to_owned()), level: Some(level) })
        };
        let marks = [
            ("1", 0),
            ("1", 1),
            ("1", 1),
            ("1", 0),
            ("1", 1),
            ("2", 0),
            ("3", 0),
            ("3", 0),
            ("1", 0),
            ("9", 0),
            ("1", 7),
        ];
        let marks = marks.map(|(list, level)| next(list, level));
        assert_eq!(marks, ["1.", "1.a)", "1.b)", "2.", "2.a)", "-", "5.", "6.", "3.", "-", "-"]);
    }

    #[test]
    fn numbers_have_other_forms() {
        let written =
            [(3, "lowerLetter"), (28, "upperLetter"), (1999, "decimal"), (944, "upperRoman"), (7, "decimalZero")]
                .map(|(number, format)| numeral(number, format).unwrap_or_default());
        assert_eq!(written, ["c", "BB", "1999", "CMXLIV", "07"]);
        assert_eq!((numeral(0, "lowerRoman"), numeral(1, "bullet")), (None, None));
    }
}
