//! What a question names exactly: numbers, quoted phrases and proper names.
//!
//! A passage about the right subject but another year, version or person is the usual near miss.

use std::collections::BTreeSet;

/// The exact items of a question, each in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExactItems {
    /// Whole numbers and decimals, years included, thousands separators removed; identifiers that
    /// hold a digit.
    pub numbers: BTreeSet<String>,
    /// Words that are written with a capital within the question.
    pub names: BTreeSet<String>,
    /// Phrases in double quotes, of two characters or more.
    pub phrases: BTreeSet<String>,
}

impl ExactItems {
    /// Reads the exact items of a question.
    #[must_use]
    pub fn of(question: &str) -> Self {
        let mut items = Self::default();
        let mut starts_sentence = true;
        for raw in question.split_whitespace() {
            let word = bare(raw);
            if word.chars().any(|c| c.is_ascii_digit()) {
                items.numbers.insert(without_separators(&word.to_lowercase()));
            } else if !starts_sentence && is_name(word) {
                items.names.insert(without_possessive(&word.to_lowercase()).to_owned());
            }
            starts_sentence = raw.ends_with(['.', '?', '!', ':']) && word.len() > 1;
        }
        items.phrases = quoted(question);
        items
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len() + self.names.len() + self.phrases.len()
    }

    /// Whether the question names nothing exactly.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Share of the numbers, and of the names and phrases, that a text holds; `None` for a share of none.
    #[must_use]
    pub fn shares_in(&self, text: &str) -> ExactShares {
        if self.is_empty() {
            return ExactShares::default();
        }
        let text = text.to_lowercase();
        let words: BTreeSet<String> = text
            .split(|c: char| c.is_whitespace() || "-–—/()[]\"“”".contains(c))
            .map(bare)
            .flat_map(|word| [without_separators(word), without_possessive(word).to_owned()])
            .collect();
        let named = self.names.iter().filter(|name| words.contains(*name)).count()
            + self.phrases.iter().filter(|phrase| text.contains(*phrase)).count();
        let numbers = self.numbers.iter().filter(|number| words.contains(*number) || text.contains(*number));
        ExactShares {
            numbers: share(numbers.count(), self.numbers.len()),
            names: share(named, self.names.len() + self.phrases.len()),
        }
    }
}

/// See [`ExactItems::shares_in`]; each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExactShares {
    /// Share of the question's numbers.
    pub numbers: Option<f32>,
    /// Share of the question's names and quoted phrases.
    pub names: Option<f32>,
}

fn share(found: usize, all: usize) -> Option<f32> {
    #[expect(clippy::cast_precision_loss, reason = "a question names few things")]
    (all > 0).then(|| found as f32 / all as f32)
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '%' | '$' | '€' | '£' | '+' | '#'))
}

fn is_name(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(char::is_uppercase) && characters.next().is_some()
}

fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

fn without_separators(word: &str) -> String {
    word.chars().filter(|c| *c != ',').collect()
}

fn quoted(question: &str) -> BTreeSet<String> {
    let mut phrases = BTreeSet::new();
    let mut opened: Option<usize> = None;
    for (at, character) in question.char_indices() {
        if !matches!(character, '"' | '“' | '”' | '„') {
            continue;
        }
        if let Some(start) = opened.take() {
            let phrase = question.get(start..at).unwrap_or_default().trim().to_lowercase();
            if phrase.chars().count() > 1 {
                phrases.insert(phrase);
            }
        } else {
            opened = Some(at + character.len_utf8());
        }
    }
    phrases
}
