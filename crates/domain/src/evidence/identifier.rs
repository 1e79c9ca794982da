//! The identifiers of a question, and the words beside them that say less: of which kind a number is, or that something is
//! somewhere.

use std::ops::Range;

use super::{QuestionTerms, TermMask};
use crate::wording::is_year;

/// Most chunks that hold an identifier: so many, or one in so many of all.
const MOST_IDENTIFIED: u64 = 20;
const IDENTIFIED_SHARE: u64 = 100;

/// Most chunks that hold a rare name.
const MOST_NAMED: u64 = 2;

/// Words that say of a number after them of which kind it is, as stems.
const CLASSIFIERS: [&str; 10] =
    ["http", "status", "error", "code", "respons", "exit", "version", "number", "section", "chapter"];

/// Participles of being somewhere, as stems.
const BEING_THERE: [&str; 7] = ["found", "held", "kept", "locat", "situat", "store", "stand"];

impl QuestionTerms {
    /// The names that hardly any chunk holds.
    #[must_use]
    pub fn rare_names(&self) -> TermMask {
        self.named & self.mask_where(|term| (1..=MOST_NAMED).contains(&term.document_frequency))
    }

    /// The terms that are identifiers, however many chunks hold them.
    #[must_use]
    pub fn all_identifiers(&self) -> TermMask {
        self.mask_where(|term| is_identifier(&term.word))
    }

    /// The terms that are identifiers, such as a version, the number of an order or the code of an error, and that few chunks
    /// hold: those are about it.
    #[must_use]
    pub fn identifiers(&self) -> TermMask {
        let most = (self.chunks / IDENTIFIED_SHARE).max(MOST_IDENTIFIED);
        self.mask_where(|term| is_identifier(&term.word) && (1..=most).contains(&term.document_frequency))
    }

    /// The terms that are years or identifiers, and that no chunk holds. Amounts are none: whether 45 minutes are too long is
    /// told by a sentence about 30.
    #[must_use]
    pub fn unheard_of(&self) -> TermMask {
        self.mask_where(|term| term.document_frequency == 0 && (is_year(&term.word) || is_identifier(&term.word)))
    }
}

/// Whether a word has two digits and more, and is no amount. A word with one digit is as often written without: PS3.
fn is_identifier(word: &str) -> bool {
    word.bytes().filter(u8::is_ascii_digit).count() > 1 && !is_amount(word)
}

/// Whether a word is a number alone, or with a unit or the ending of an ordinal or a decade: 1,200, 50MB, 20th, 1990s. `2FA` is
/// none.
pub(super) fn is_amount(word: &str) -> bool {
    let digits = word.trim_end_matches(|sign: char| sign.is_alphabetic() || sign == '%');
    let unit = word.get(digits.len()..).unwrap_or_default();
    let is_unit = unit.ends_with('B') || !unit.contains(char::is_uppercase);
    is_unit && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}

/// Whether a word of a text says of the number after it of which kind it is: what "HTTP 429" means may be told by "429: …".
pub(super) fn is_classifier(text: &str, stem: &str, word: &Range<usize>) -> bool {
    let rest = text.get(word.end..).unwrap_or_default();
    let next = rest.split_whitespace().next().filter(|_| rest.starts_with(char::is_whitespace));
    CLASSIFIERS.contains(&stem) && next.is_some_and(|next| next.starts_with(|sign: char| sign.is_ascii_digit()))
}

/// Whether a word of a question for a place says no more than that something is there: "where is the key kept".
pub(super) fn is_of_being_there(text: &str, stem: &str) -> bool {
    let opens = text.trim_start().get(.."where".len()).is_some_and(|opening| opening.eq_ignore_ascii_case("where"));
    opens && BEING_THERE.contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    fn terms(question: &str) -> QuestionTerms {
        QuestionTerms::new(Analyzer::english(), question, 1000, |stem| if stem == "e0308" { 400 } else { 2 })
    }

    #[test]
    fn identifiers_hold_digits_and_something_else_and_are_rare() {
        let table = [
            ("When was 1.50.0 released?", "1.50.0"),
            ("What does E0382 mean?", "E0382"),
            ("What does the common E0308 mean?", ""),
            ("How many jars were sold in 2024?", ""),
            ("Which player is a PS3?", ""),
            ("Who ruled in the 20th century, before the 1990s?", ""),
            ("What is a jar?", ""),
        ];
        for (question, expected) in table {
            let terms = terms(question);
            let found = terms.terms().iter().enumerate();
            let found = found.filter(|(position, _)| terms.identifiers() & (1 << position) != 0);
            let words: Vec<&str> = found.map(|(_, term)| term.word.as_str()).collect();
            assert_eq!(words.concat(), expected, "{question}");
        }
    }

    #[test]
    fn the_kind_of_a_number_counts_less_than_the_number() {
        let weights = |question: &str| -> Vec<f32> { terms(question).terms().iter().map(|term| term.weight).collect() };
        let of_number = weights("HTTP 429 status");
        assert!(of_number[0] < of_number[1] && of_number[1] <= of_number[2], "{of_number:?}");
        let of_place = weights("Where are spare lids kept?");
        assert!(of_place[2] < of_place[1], "{of_place:?}");
        let of_name = weights("HTTP servers");
        assert!((of_name[0] - of_name[1]).abs() < 1e-6, "{of_name:?}");
    }
}
