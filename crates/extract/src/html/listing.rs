//! The numbers of lists, and names over their descriptions.

use super::{super::office::numeral, tree::Element};

/// Longest name over an indented block, in bytes.
const LONGEST_TERM: usize = 120;

/// Signs between a number and what it stands for.
const VALUE_SIGNS: [char; 4] = ['-', '–', '—', '='];

/// Highest numbers that a list writes in letters, and in Roman numerals.
const HIGHEST_LETTER: u32 = 26;
const HIGHEST_ROMAN: u32 = 399;

/// The open lists; the innermost last.
#[derive(Debug, Default)]
pub(super) struct OpenLists(Vec<Numbering>);

#[derive(Debug, Clone, Copy)]
enum Numbering {
    /// Bullets.
    None,
    /// The number of the next item, and whether they count down.
    Next { number: i64, step: i64, kind: Numerals },
}

/// The format of the numbers of a list, as [`numeral`] names it, and the highest that is written in it.
#[derive(Debug, Clone, Copy)]
struct Numerals {
    format: &'static str,
    highest: u32,
}

impl Numerals {
    fn of(list: &Element) -> Self {
        let (format, highest) = match list.attribute("type") {
            Some("a") => ("lowerLetter", HIGHEST_LETTER),
            Some("A") => ("upperLetter", HIGHEST_LETTER),
            Some("i") => ("lowerRoman", HIGHEST_ROMAN),
            Some("I") => ("upperRoman", HIGHEST_ROMAN),
            _ => ("decimal", u32::MAX),
        };
        Self { format, highest }
    }

    /// A number as the list writes it; in digits where its letters do not reach.
    fn write(self, number: i64) -> String {
        let reached = u32::try_from(number).ok().filter(|number| *number <= self.highest);
        reached.and_then(|number| numeral(number, self.format)).unwrap_or_else(|| number.to_string())
    }
}

impl OpenLists {
    /// Opens a list.
    pub(super) fn open(&mut self, list: &Element) {
        let is_numbered = list.name() == "ol";
        let start = list.attribute("start").and_then(|start| start.trim().parse().ok());
        let step = if list.attribute("reversed").is_some() { -1 } else { 1 };
        // A list that counts down from a number that it does not tell is rare.
        let numbered = is_numbered && (step > 0 || start.is_some());
        self.0.push(if numbered {
            Numbering::Next { number: start.unwrap_or(1), step, kind: Numerals::of(list) }
        } else {
            Numbering::None
        });
    }

    /// Closes the innermost list.
    pub(super) fn close(&mut self) {
        self.0.pop();
    }

    /// The bullet or the number before the next item.
    pub(super) fn mark(&mut self, item: &Element) -> String {
        let Some(Numbering::Next { number, step, kind }) = self.0.last_mut() else { return "- ".to_owned() };
        let own: i64 = item.attribute("value").and_then(|value| value.trim().parse().ok()).unwrap_or(*number);
        *number = own.saturating_add(*step);
        if own < 0 { "- ".to_owned() } else { format!("{}. ", kind.write(own)) }
    }
}

/// Whether a line begins with the number of an item. In Markdown one does not end the paragraph on the line before.
pub(super) fn is_number(line: &str) -> bool {
    line.split_once(". ")
        .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Fewest lines with a number that are a list.
const FEWEST_VALUES: usize = 3;

/// The lines of a paragraph, joined. Those that begin with a number and a sign after it ("2 - Wet") are items of a list, each
/// with the lines that it goes on in.
pub(super) fn joined(lines: &[&str]) -> String {
    let has_value = |line: &&&str| {
        let rest = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
        let sign = rest.trim_start();
        rest.len() < line.len()
            && sign.len() < rest.len()
            && sign.strip_prefix(VALUE_SIGNS).is_some_and(|value| value.starts_with(char::is_whitespace))
    };
    if lines.iter().filter(has_value).count() < FEWEST_VALUES {
        return lines.join("\n");
    }
    let mut text = String::new();
    let mut in_list = false;
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let is_item = has_value(&line);
        in_list |= is_item;
        text.push_str(match (is_item, in_list) {
            (true, _) => "\n- ",
            (false, true) => " ",
            (false, false) => "\n",
        });
        text.push_str(line);
    }
    text.trim_start_matches('\n').to_owned()
}

/// Whether an element is a block that mandoc shows indented: under a name, its description.
pub(super) fn is_indented(element: &Element) -> bool {
    element.name() == "div" && element.attribute("class") == Some("Bd-indent")
}

/// Whether a paragraph over an indented block can be the name of what the block describes: pages made from `DocBook` and
/// `AsciiDoc` have their options so.
pub(super) fn is_term(line: &str) -> bool {
    line.len() <= LONGEST_TERM
        && !is_number(line)
        && !line.starts_with("- ")
        // "Default: 1" ends the entry above.
        && !line.contains(": ")
        && !line.ends_with(['.', ':', ';', ',', '!', '?'])
}
