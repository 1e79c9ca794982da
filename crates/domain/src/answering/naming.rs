//! Names in a question: the title of a document, a heading, the first cell of a row.

use crate::evidence::{Question, TermMask};
use crate::markdown::cells;
use crate::wording::lower_case_words;

/// Words of a title that name nothing.
const TITLE_FILLERS: [&str; 8] = ["a", "an", "and", "for", "in", "of", "on", "the"];

/// Share of the words of a title that a question holds: of "tar(1)", and of "tar - The GNU Manual", those before the
/// name of the book. A document whose whole title is in the question is about what it asks.
pub(super) fn about(question: &str, title: &str) -> f32 {
    let singular = |word: String| word.trim_end_matches('s').to_owned();
    let asked: Vec<String> = lower_case_words(question).map(singular).collect();
    let named = [" - ", " – ", " | "].iter().fold(title, |title, sign| title.split(sign).next().unwrap_or(title));
    let is_name = |word: &String| word.chars().any(char::is_alphabetic) && !TITLE_FILLERS.contains(&word.as_str());
    let words: Vec<String> = lower_case_words(named).filter(is_name).map(singular).collect();
    let held = words.iter().filter(|word| asked.contains(word)).count();
    #[expect(clippy::cast_precision_loss, reason = "titles are short")]
    let share = held as f32 / words.len().max(1) as f32;
    share
}

/// Share of the question's weight in the first cell of a row.
pub(super) fn named(question: &Question, row: &str) -> f32 {
    let name = cells(row).map(|(_, cell)| cell).find(|cell| !cell.is_empty()).unwrap_or_default();
    question.terms.share(words_in(question, name))
}

/// The question's terms that a text holds word for word, but for their number.
pub(super) fn words_in(question: &Question, text: &str) -> TermMask {
    let singular = |word: String| word.trim_end_matches('s').to_owned();
    let text = text.to_lowercase();
    let words = text.split(|sign: char| !sign.is_alphanumeric()).map(str::to_owned);
    let words: Vec<String> = words.map(singular).collect();
    let terms = question.terms.terms().iter().enumerate();
    // A term may be several words: "server.close".
    let held = terms.filter(|(_, term)| lower_case_words(&term.word).map(singular).all(|word| words.contains(&word)));
    held.fold(0, |mask, (position, _)| mask | 1 << position)
}
