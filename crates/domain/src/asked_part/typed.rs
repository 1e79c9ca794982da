//! Questions as people type them in a hurry: contractions without an apostrophe, no question mark. English only.

use crate::asking::{is_auxiliary, is_question_word};
use crate::sentence::sentences;
use crate::wording::{bare, lower_case_words};

/// Contractions without their apostrophe that are no words of their own ("cant", "wont" and "lets" are), abbreviations of chats,
/// and question words as slips of the keyboard leave them.
const CONTRACTIONS: [(&str, &str); 36] = [
    ("abt", "about"),
    ("arent", "are not"),
    ("b4", "before"),
    ("couldnt", "could not"),
    ("didnt", "did not"),
    ("doesnt", "does not"),
    ("dont", "do not"),
    ("hadnt", "had not"),
    ("hasnt", "has not"),
    ("havent", "have not"),
    ("hows", "how is"),
    ("im", "I am"),
    ("isnt", "is not"),
    ("ive", "I have"),
    ("mustnt", "must not"),
    ("pls", "please"),
    ("plz", "please"),
    ("ppl", "people"),
    ("shouldnt", "should not"),
    ("teh", "the"),
    ("thats", "that is"),
    ("theres", "there is"),
    ("theyre", "they are"),
    ("thru", "through"),
    ("ur", "your"),
    ("waht", "what"),
    ("wasnt", "was not"),
    ("werent", "were not"),
    ("whats", "what is"),
    ("whens", "when is"),
    ("wheres", "where is"),
    ("whos", "who is"),
    ("whys", "why is"),
    ("wich", "which"),
    ("wouldnt", "would not"),
    ("youre", "you are"),
];

/// Words that tell English from languages in which "im" and "dont" are words.
const ENGLISH: [&str; 8] = ["the", "my", "i", "to", "it", "of", "if", "a"];

/// The text with its contractions spelled out, and with a question mark if its last sentence asks without one.
pub(super) fn with_care(text: &str) -> String {
    let mut written = if is_english(text) { without_contractions(text) } else { text.to_owned() };
    if asks_unmarked(&written) {
        written.truncate(written.trim_end().len());
        written.push('?');
    }
    written
}

/// The words that one without its apostrophe stands for.
fn contraction(word: &str) -> Option<&'static str> {
    // "IM" and "IVE" are names.
    let is_shouted = word.len() > 1 && word.chars().all(char::is_uppercase);
    let known = || CONTRACTIONS.iter().find(|(contracted, _)| word.eq_ignore_ascii_case(contracted));
    if is_shouted { None } else { known().map(|(_, words)| *words) }
}

fn is_english(text: &str) -> bool {
    let begins =
        |word: &str| contraction(word).is_some_and(|words| words.split(' ').next().is_some_and(is_question_word));
    lower_case_words(text).any(|word| is_question_word(&word) || ENGLISH.contains(&word.as_str()) || begins(&word))
}

fn without_contractions(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = bare(piece);
        match (piece.find(word), contraction(word)) {
            (Some(at), Some(words)) => {
                written.push_str(piece.get(..at).unwrap_or_default());
                written.push_str(words);
                written.push_str(piece.get(at + word.len()..).unwrap_or_default());
            }
            _ => written.push_str(piece),
        }
    }
    written
}

/// Whether the last sentence begins like a question and ends without any sign.
fn asks_unmarked(text: &str) -> bool {
    let of_text = sentences(text);
    let Some(last) = of_text.last().and_then(|sentence| text.get(sentence.words())) else { return false };
    let words: Vec<String> = lower_case_words(last).collect();
    let asks = words.first().is_some_and(|word| is_question_word(word) || is_auxiliary(word));
    let is_unmarked = last.trim_end().ends_with(|sign: char| sign.is_alphanumeric() || ")\"'”’`".contains(sign));
    // An opening alone ("what about") asks nothing yet.
    asks && is_unmarked && !text.contains('?') && words.len() > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hasty_questions_are_read_as_careful_ones() {
        for (typed, meant) in [
            ("whats the fee", "what is the fee?"),
            ("Whos the first aider in leeds?", "who is the first aider in leeds?"),
            ("how do i tell bob im sick", "how do i tell bob I am sick?"),
            ("the lamp doesnt blink, whats wrong", "the lamp does not blink, what is wrong"),
            ("I moved. Where do i register", "I moved. Where do i register?"),
            ("wich pump is teh best", "which pump is the best?"),
            ("pls how many ppl work in leeds", "please how many people work in leeds"),
            ("can interns park (in winter)", "can interns park (in winter)?"),
        ] {
            assert_eq!(with_care(typed), meant, "{typed}");
        }
    }

    #[test]
    fn everything_else_stays() {
        for text in [
            "What is the fee?",
            "What's IM used for?",
            "Wie viele Tage im Jahr",
            "Dont il parle",
            "list the suppliers",
            "how to",
            "What is the fee:",
            "parking at night",
            "",
        ] {
            assert_eq!(with_care(text), text, "{text}");
        }
    }
}
