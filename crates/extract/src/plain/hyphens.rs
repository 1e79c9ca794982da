//! Words of plain text that the end of a line cuts at a hyphen: they would be read as two words, with the hyphen at the first.

use std::{borrow::Cow, collections::HashSet};

/// Shortest line, in bytes, that ends because it is full.
const SHORTEST_LINE: usize = 40;

/// The hyphen of typesetters.
const HYPHEN: char = '\u{2010}';

/// Fewest letters on each side.
const FEWEST_LETTERS: usize = 2;

/// Words after a hyphen that stands for a later part of a compound: `pre- and post-`.
const CONJUNCTIONS: [&str; 8] = ["and", "or", "to", "nor", "und", "oder", "bis", "et"];

/// The text with each cut word whole on the first of its lines: with its hyphen, unless the text has the word without one.
pub(crate) fn joined(text: &str) -> Cow<'_, str> {
    if !text.lines().zip(text.lines().skip(1)).any(|(line, next)| Cut::at(line, next).is_some()) {
        return Cow::Borrowed(text);
    }
    // A text that has the sign of typesetters at the ends of its lines alone has it where it divides words.
    let divides = !text.char_indices().any(|(at, sign)| sign == HYPHEN && is_within_word(text, at));
    let words: HashSet<String> = words(text).map(str::to_lowercase).collect();
    let mut whole = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n').peekable();
    // Bytes of the line that went up to the one before it.
    let mut taken = 0;
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let rest = line.get(indent + taken..).unwrap_or_default();
        let rest = if taken > 0 { rest.trim_start_matches([' ', '\t']) } else { rest };
        if taken > 0 && rest.trim().is_empty() {
            taken = 0;
            continue;
        }
        taken = 0;
        whole.push_str(line.get(..indent).unwrap_or_default());
        let Some(cut) = lines.peek().and_then(|next| Cut::at(line, next)) else {
            whole.push_str(rest);
            continue;
        };
        let content = rest.trim_end();
        let ending = line.get(line.trim_end().len()..).unwrap_or_default();
        let stem = content.get(..content.len() - cut.hyphen).unwrap_or_default();
        let is_word = words.contains(&format!("{}{}", cut.first, letters(cut.second)).to_lowercase());
        let is_division = divides && content.ends_with(HYPHEN);
        whole.push_str(if is_word || is_division { stem } else { content });
        whole.push_str(cut.second);
        whole.push_str(ending);
        taken = cut.second.len();
    }
    Cow::Owned(whole)
}

/// Whether letters stand on both sides of the sign at a byte.
fn is_within_word(text: &str, at: usize) -> bool {
    let after = text.get(at + HYPHEN.len_utf8()..).is_some_and(|after| after.starts_with(char::is_alphabetic));
    after && text.get(..at).is_some_and(|before| before.ends_with(char::is_alphabetic))
}

/// A word that the end of a line cuts.
struct Cut<'t> {
    /// Its letters before the hyphen.
    first: &'t str,
    /// Bytes of the hyphen.
    hyphen: usize,
    /// What is left of it on the next line, with the signs after it.
    second: &'t str,
}

impl<'t> Cut<'t> {
    fn at(line: &'t str, next: &'t str) -> Option<Self> {
        let line = line.trim_end();
        let stem = line.strip_suffix(['-', HYPHEN]).filter(|_| line.len() >= SHORTEST_LINE)?;
        let before = stem.trim_end_matches(char::is_alphabetic);
        let first = stem.get(before.len()..)?;
        let second = next.split_whitespace().next()?;
        let begins = letters(second);
        // Names of options and paths are no words.
        let is_word = before.ends_with(|sign: char| sign.is_whitespace() || "(\"'“-".contains(sign))
            && !before.ends_with("--")
            && [first, begins].iter().all(|part| part.chars().count() >= FEWEST_LETTERS)
            && begins.starts_with(char::is_lowercase)
            && !second.contains(['/', '_', '=', '(', '<'])
            && !CONJUNCTIONS.contains(&begins);
        is_word.then_some(Self { first, hyphen: line.len() - stem.len(), second })
    }
}

/// The letters that a word begins with.
fn letters(word: &str) -> &str {
    word.split(|sign: char| !sign.is_alphabetic()).next().unwrap_or_default()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !sign.is_alphabetic()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_whole_on_their_first_line() {
        let long = "The painters of the town have brought their own oil-";
        let cases = [
            (
                format!("{long}\n    based paint, and\n    it dries."),
                format!("{long}based\n    paint, and\n    it dries."),
            ),
            (
                format!("{long}\nskin.\n\nAn oilskin is dry."),
                "The painters of the town have brought their own oilskin.\n\nAn oilskin is dry.".to_owned(),
            ),
            (
                "The painters of the town have brought their own pa\u{2010}\npers, and they dry.\n".to_owned(),
                "The painters of the town have brought their own papers,\nand they dry.\n".to_owned(),
            ),
            (
                "It is oil\u{2010}based. The painters of the town have brought water\u{2010}\nbased paint.".to_owned(),
                "It is oil\u{2010}based. The painters of the town have brought water\u{2010}based\npaint.".to_owned(),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(joined(&text), expected);
        }
        for next in ["and water-based paint.", "Based on it.", "/path", "- based", ""] {
            let text = format!("{long}\n{next}");
            assert_eq!(joined(&text), text);
        }
        assert_eq!(joined("an oil-\nbased paint"), "an oil-\nbased paint");
    }

    proptest! {
        #[test]
        fn no_letter_is_lost(text in "([a-z ]{0,50}|[a-z]{2,4}-\r?\n|\u{2010}\n|[ \\t]{0,3}|\n){0,12}") {
            let signs = |text: &str| text.chars().filter(|sign| sign.is_alphabetic()).collect::<String>();
            prop_assert_eq!(signs(&joined(&text)), signs(&text));
        }
    }
}
