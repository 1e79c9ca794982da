//! Entries of manuals that a question names: options of commands, settings, codes.

use super::{QuestionTerm, QuestionTerms, TermMask};
use crate::command_options::holds_entry;
use crate::entry_label::{entries_of_codes, holds_entry_named};
use crate::wording::lower_case_words;

/// Words before the number of a code, as in `exit status 3`.
const OF_CODES: [&str; 7] = ["code", "errno", "error", "exit", "return", "signal", "status"];

/// Fewest entries of a list of codes.
const FEWEST_LISTED: usize = 3;

/// Verbs before the number of a code, and words between: "I got 124 back", "it exits with 2".
const GIVING_CODES: [&str; 13] = [
    "died", "ended", "ends", "exited", "exits", "failed", "fails", "get", "getting", "gets", "got", "returned",
    "returns",
];
const BETWEEN: [&str; 5] = ["a", "an", "of", "the", "with"];

/// The codes that a question names by their numbers.
pub(super) fn codes(question: &str) -> Vec<String> {
    let words: Vec<String> = lower_case_words(question).collect();
    let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_given = |at: &usize| {
        let before = words.get(..*at).unwrap_or_default().iter().map(String::as_str);
        let giving = before.rev().find(|word| !BETWEEN.contains(word));
        giving.is_some_and(|word| OF_CODES.contains(&word) || GIVING_CODES.contains(&word))
    };
    let numbers = words.iter().enumerate().filter(|(_, word)| is_number(word));
    numbers.filter(|(at, _)| is_given(at)).map(|(_, number)| number.clone()).collect()
}

impl QuestionTerms {
    /// The codes that the question names by their numbers, as the entries of a manual are labelled.
    #[must_use]
    pub fn codes(&self) -> &[String] {
        &self.codes
    }

    /// The options of commands that the question names, as it writes them.
    #[must_use]
    pub fn options(&self) -> Vec<&str> {
        self.options.iter().map(String::as_str).collect()
    }

    /// If a text has the entry of an option or a code that the question names: the share of the rest of the question that the
    /// titles above the text hold, 1 if there is no rest. Terms that no chunk holds do not count.
    #[must_use]
    pub fn entry_share(&self, titles: TermMask, text: &str) -> Option<f32> {
        if !holds_entry(text, &self.options()) && !holds_entry_named(text, &self.codes) {
            return None;
        }
        let bare = |word: &str| word.trim_start_matches('-').to_lowercase();
        let options: Vec<String> = self.options.iter().map(|option| bare(option)).collect();
        let terms = self.terms.iter().enumerate();
        let is_rest = |term: &QuestionTerm| {
            term.document_frequency > 0 && !options.contains(&bare(&term.word)) && !self.codes.contains(&term.word)
        };
        let rest = terms.filter(|(_, term)| is_rest(term)).fold(0, |mask, (position, _)| mask | 1 << position);
        let all = self.weight_of(rest);
        Some(if all > 0.0 { self.weight_of(rest & titles) / all } else { 1.0 })
    }

    /// Whether a text has the entry of a code that the question names by its number.
    #[must_use]
    pub fn has_code_entry(&self, text: &str) -> bool {
        holds_entry_named(text, &self.codes)
    }

    /// Whether texts have entries of codes, and none of them the number of one that the question names.
    #[must_use]
    pub fn names_unlisted_code<'t>(&self, texts: &(impl Iterator<Item = &'t str> + Clone)) -> bool {
        let is_number_of = |code: &String| {
            texts.clone().any(|text| text.split(|sign: char| !sign.is_alphanumeric()).any(|word| word == code))
        };
        let are_listed = || texts.clone().any(|text| entries_of_codes(text) >= FEWEST_LISTED);
        !self.codes.is_empty() && !self.codes.iter().any(is_number_of) && are_listed()
    }

    /// Whether a text has the entry of something that the question names as in code.
    #[must_use]
    pub fn has_named_entry(&self, text: &str) -> bool {
        holds_entry_named(text, &self.code_names)
    }
}

#[cfg(test)]
mod tests {
    use super::codes;

    #[test]
    fn numbers_that_are_codes_are_told_by_the_words_before_them() {
        for (question, expected) in [
            ("What does exit status 3 mean?", &["3"][..]),
            ("my script got 124 back from the pump", &["124"]),
            ("it exits with 2, why", &["2"]),
            ("curl fails with error 7", &["7"]),
            ("exit code of 12", &["12"]),
            ("How many of the 30 jars are open?", &[]),
            ("a jar with 30 lids", &[]),
        ] {
            assert_eq!(codes(question), expected, "{question}");
        }
    }
}
