//! Messages that tell something before they ask: "I joined in March and my partner is expecting. How many weeks can I take off?"
//!
//! The sentences before the question say what it is about. No document holds them, so that passages cannot be expected to.

use crate::sentence::sentences;
use crate::wording::lower_case_words;

use super::without_instructions;

/// Fewest words that are told: less is part of the question.
const FEWEST_WORDS: usize = 12;

/// A message that tells something before it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Story<'q> {
    /// The sentences before the question.
    pub story: &'q str,
    /// The rest of the message.
    pub question: &'q str,
}

/// The parts of a message whose first sentences tell a story, and whose last one asks. Instructions to the writer of the
/// answer are no story.
#[must_use]
pub fn story(message: &str) -> Option<Story<'_>> {
    let found = sentences(message);
    let words = |range: std::ops::Range<usize>| message.get(range).unwrap_or_default().trim();
    let asks = |text: &str| text.ends_with('?');
    let first = found.iter().position(|sentence| asks(words(sentence.words())))?;
    let start = found.get(first)?.words().start;
    let rest = found.get(first..)?;
    let told: usize = found
        .get(..first)?
        .iter()
        .filter_map(|sentence| without_instructions(words(sentence.words())))
        .map(|sentence| lower_case_words(&sentence).count())
        .sum();
    let only_asks = rest.iter().all(|sentence| asks(words(sentence.words())));
    let (story, question) = message.split_at_checked(start)?;
    (told >= FEWEST_WORDS && only_asks).then(|| Story { story: story.trim(), question: question.trim() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_told_apart_from_what_is_asked() {
        let told =
            "I have a boat behind a lock that opens twice a day. It hardly ever moves, but sometimes I must go out.";
        let message = format!("{told} Which hours are sensible?");
        assert_eq!(story(&message), Some(Story { story: told, question: "Which hours are sensible?" }));
        let several = format!("{told} Who opens it? And when?");
        assert_eq!(story(&several).map(|story| story.question), Some("Who opens it? And when?"));
    }

    #[test]
    fn a_short_preamble_is_part_of_the_question() {
        for message in [
            "I joined in March. How many days do I get?",
            "How many days do I get? I joined in March, and nobody has told me so far what I may take in my first year.",
            "You are an analyst. Answer in USD millions. Do not guess, and use the following documents only. What were sales?",
            "Who opens the lock?",
            "",
        ] {
            assert_eq!(story(message), None, "{message}");
        }
    }
}
