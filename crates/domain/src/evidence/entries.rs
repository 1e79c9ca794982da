//! Entries of manuals that a question names: options of commands, settings, codes.

use super::{QuestionTerm, QuestionTerms, TermMask};
use crate::command_options::holds_entry;
use crate::entry_label::holds_entry_named;
use crate::wording::lower_case_words;

/// Words before the number of a code, as in `exit status 3`.
const OF_CODES: [&str; 7] = ["code", "errno", "error", "exit", "return", "signal", "status"];

/// The codes that a question names by their numbers.
pub(super) fn codes(question: &str) -> Vec<String> {
    let words: Vec<String> = lower_case_words(question).collect();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [of, number] if OF_CODES.contains(&of.as_str()) && is_number(number) => Some(number.clone()),
        _ => None,
    });
    pairs.collect()
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

    /// Whether a text has the entry of something that the question names as in code.
    #[must_use]
    pub fn has_named_entry(&self, text: &str) -> bool {
        holds_entry_named(text, &self.code_names)
    }
}
