//! Currencies of a question in the amounts of a text: pounds in "£750".

use super::{QuestionTerm, QuestionTerms, TermMask};

/// Signs of currencies, and the words for them in lower case.
const CURRENCIES: [(char, &[&str]); 4] = [
    ('$', &["bucks", "dollar", "dollars", "usd"]),
    ('£', &["gbp", "pound", "pounds", "quid"]),
    ('€', &["eur", "euro", "euros"]),
    ('¥', &["jpy", "yen"]),
];

/// The sign of the currency that a word in lower case names.
pub(super) fn sign_of(word: &str) -> Option<char> {
    CURRENCIES.iter().find(|(_, words)| words.contains(&word)).map(|(sign, _)| *sign)
}

/// The positions of the terms that name a currency, each with its sign.
pub(super) fn currencies(terms: &[QuestionTerm]) -> Vec<(usize, char)> {
    let signed = terms.iter().enumerate();
    signed.filter_map(|(position, term)| Some((position, sign_of(&term.word.to_lowercase())?))).collect()
}

impl QuestionTerms {
    /// The terms that name a currency whose sign stands beside a number of `text`.
    #[must_use]
    pub fn in_currencies_of(&self, text: &str) -> TermMask {
        let is_in = |(_, sign): &&(usize, char)| text.split(*sign).skip(1).zip(text.split(*sign)).any(is_amount);
        self.currencies.iter().filter(is_in).fold(0, |mask, (position, _)| mask | 1 << position)
    }
}

/// Whether a number stands after or before a sign.
fn is_amount((after, before): (&str, &str)) -> bool {
    let is_digit = |sign: Option<char>| sign.is_some_and(|sign| sign.is_ascii_digit());
    is_digit(after.trim_start_matches(' ').chars().next()) || is_digit(before.trim_end_matches(' ').chars().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    #[test]
    fn currencies_are_found_in_amounts() {
        for (question, text, expected) in [
            ("Who may approve 600 pounds?", "Managers up to £750, others less.", true),
            ("Who may approve 600 quid?", "up to £ 750", true),
            ("What is it in euros?", "It is 20 €.", true),
            ("What is it in euros?", "It is £20.", false),
            ("How many pounds does it weigh?", "£ is a sign", false),
            ("How many dollars?", "set $HOME before", false),
            ("How much is it?", "It is £20.", false),
        ] {
            let terms = QuestionTerms::new(Analyzer::english(), question, 10, |_| 1);
            assert_eq!(terms.in_currencies_of(text) != 0, expected, "{question} {text}");
        }
    }
}
