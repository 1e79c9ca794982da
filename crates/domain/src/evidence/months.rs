//! Months of a question in the dates of a text, as ISO 8601 writes them: October in "2025-10" and "2025-10-31".

use super::{QuestionTerm, QuestionTerms, TermMask};
use crate::month::MONTHS;

/// Bytes of a year and its month.
const YEAR_AND_MONTH: usize = "2025-10".len();

/// The positions of the terms that name a month, each with its number from 1.
pub(super) fn months(terms: &[QuestionTerm]) -> Vec<(usize, usize)> {
    let number = |term: &QuestionTerm| MONTHS.iter().position(|month| term.word.eq_ignore_ascii_case(month));
    terms.iter().enumerate().filter_map(|(position, term)| Some((position, number(term)? + 1))).collect()
}

impl QuestionTerms {
    /// The terms that name a month.
    #[must_use]
    pub fn months(&self) -> TermMask {
        self.months.iter().fold(0, |mask, (position, _)| mask | 1 << position)
    }

    /// The terms that name a month in which a date of `text` lies.
    #[must_use]
    pub fn in_months_of(&self, text: &str) -> TermMask {
        if self.months.is_empty() {
            return 0;
        }
        let dated: Vec<usize> =
            text.split(|sign: char| !sign.is_ascii_digit() && sign != '-').filter_map(month_of).collect();
        let is_dated = |(_, month): &&(usize, usize)| dated.contains(month);
        self.months.iter().filter(is_dated).fold(0, |mask, (position, _)| mask | 1 << position)
    }
}

/// The month of a date that begins with its year and its month.
fn month_of(date: &str) -> Option<usize> {
    let (year, rest) = date.get(..YEAR_AND_MONTH)?.split_once('-')?;
    let is_whole = date.get(YEAR_AND_MONTH..).is_some_and(|day| day.is_empty() || day.starts_with('-'));
    (year.len() == 4 && rest.len() == 2 && is_whole).then(|| rest.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    #[test]
    fn months_are_found_in_dates() {
        let terms = QuestionTerms::new(Analyzer::english(), "Jars sold in October", 10, |_| 1);
        let october = terms.months();
        assert_eq!(october.count_ones(), 1);
        for text in ["2025-10", "sold on 2024-10-31.", "Month: 2025-10 | Jars: 3"] {
            assert_eq!(terms.in_months_of(text), october, "{text}");
        }
        for text in ["2025-11", "2025-101", "10-2025", "2025-1", "SP-2025-10", "October", ""] {
            assert_eq!(terms.in_months_of(text), 0, "{text}");
        }
    }
}
