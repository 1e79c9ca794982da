//! The numbers of lists, and names over their descriptions.

use super::tree::Element;

/// Longest name over an indented block, in bytes.
const LONGEST_TERM: usize = 120;

/// Signs between a number and what it stands for.
const VALUE_SIGNS: [char; 4] = ['-', '–', '—', '='];

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

/// How a list writes its numbers.
#[derive(Debug, Clone, Copy)]
enum Numerals {
    Digits,
    Letters { are_capital: bool },
    Roman { are_capital: bool },
}

impl Numerals {
    fn of(list: &Element) -> Self {
        match list.attribute("type") {
            Some("a") => Self::Letters { are_capital: false },
            Some("A") => Self::Letters { are_capital: true },
            Some("i") => Self::Roman { are_capital: false },
            Some("I") => Self::Roman { are_capital: true },
            _ => Self::Digits,
        }
    }

    /// A number as the list writes it; in digits where its letters do not reach.
    fn write(self, number: i64) -> String {
        let (written, are_capital) = match self {
            Self::Digits => (None, false),
            Self::Letters { are_capital } => (letter(number), are_capital),
            Self::Roman { are_capital } => (roman(number), are_capital),
        };
        let written = written.unwrap_or_else(|| number.to_string());
        if are_capital { written.to_uppercase() } else { written }
    }
}

fn letter(number: i64) -> Option<String> {
    let place = u8::try_from(number.checked_sub(1)?).ok().filter(|place| *place < 26)?;
    Some(char::from(b'a' + place).to_string())
}

fn roman(mut number: i64) -> Option<String> {
    const VALUES: [(i64, &str); 9] =
        [(100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")];
    const HIGHEST: i64 = 399;
    if !(1..=HIGHEST).contains(&number) {
        return None;
    }
    let mut written = String::new();
    for (value, letters) in VALUES {
        while number >= value {
            written.push_str(letters);
            number -= value;
        }
    }
    Some(written)
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
