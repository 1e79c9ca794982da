//! The columns of a table that a question means without naming them: the weight for "How heavy is it?", the price for "Was kostet
//! es?", the owner for "Who has to do it?". English, German and French.

use super::super::measure::Measure;
use super::super::{Question, QuestionTerms, TermMask};
use super::AnswerKind;
use crate::column_names::{DATES, LENGTHS, Names, PEOPLE, PLACES, PRICES};
use crate::lexical::calendar::{days_in, days_of_column};
use crate::markdown::cells;
use crate::opening::is_about_closed;
use crate::wording::lower_case_words;

/// The columns that a question means by its wording.
pub(crate) struct Meant(Vec<&'static Names>);

impl Meant {
    pub(crate) fn by(question: &Question) -> Self {
        let of_kind = match (question.kind, question.measure) {
            (AnswerKind::Person, _) => Some(&PEOPLE),
            (AnswerKind::Date, _) => Some(&DATES),
            (AnswerKind::Place, _) => Some(&PLACES),
            (_, Some(Measure::Money)) => Some(&PRICES),
            (_, Some(Measure::Length)) => Some(&LENGTHS),
            _ => None,
        };
        let words = lower_case_words(&question.asked);
        let of_words = words.filter_map(|word| Names::meant_by(&word));
        Self(of_kind.into_iter().chain(of_words).collect())
    }

    /// Whether a column is meant.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.0.iter().any(|names| names.name(column))
    }
}

impl QuestionTerms {
    /// The terms that mean a column which a header of a table names, or a row that names its columns itself: "cost" in
    /// "| Job | Price |".
    #[must_use]
    pub(in crate::evidence) fn in_columns_of(&self, row: &str, is_header: bool) -> TermMask {
        let columns = cells(row).filter_map(|(_, cell)| match cell.split_once(": ") {
            Some((column, _)) => Some(column),
            None => is_header.then_some(cell),
        });
        let columns: Vec<&str> = columns.collect();
        let days: Vec<&str> = columns.iter().flat_map(|column| days_of_column(column)).collect();
        self.mask_where(|term| {
            let word = term.word.to_lowercase();
            let meant = Names::meant_by(&word);
            let is_of_days =
                || is_about_closed(&[&word]).is_some() || days_in(&word).iter().any(|day| days.contains(day));
            meant.is_some_and(|names| columns.iter().any(|column| names.name(column)))
                || !days.is_empty() && is_of_days()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    fn parsed(question: &str) -> Question {
        Question::new(Analyzer::english(), question, 100, |_| 5)
    }

    #[test]
    fn a_header_holds_the_words_that_mean_its_columns() {
        let held =
            |row: &str, is_header| parsed("What does a jar cost?").terms.in_columns_of(row, is_header).count_ones();
        assert_eq!(held("| Jar | List price |", true), 1);
        assert_eq!(held("| Jar | Priceless |", true), 0);
        assert_eq!(held("| Name: Jar | Price (EUR): 3 |", false), 1);
        assert_eq!(held("| Jar | Price |", false), 0);
        let open = |row: &str| parsed("Which shops are open on Tuesday?").terms.in_columns_of(row, true).count_ones();
        assert_eq!(open("| Shop | Mon–Fri | Sat |"), 2);
        assert_eq!(open("| Shop | Sat | Sun |"), 1);
        assert_eq!(open("| Shop | Open to all |"), 0);
    }

    #[test]
    fn wordings_mean_columns() {
        for (question, column, expected) in [
            ("How heavy is the jar?", "Weight (kg)", true),
            ("How heavy is the jar?", "Height", false),
            ("What does a jar cost?", "List price", true),
            ("Was kostet das Glas?", "Listenpreis", true),
            ("Combien coûte un bocal ?", "Prix", true),
            ("Wie lange dauert das?", "Lieferzeit", true),
            ("How long does it take?", "Baking time", true),
            ("Who sells jars?", "Owner", true),
            ("Who sells jars?", "Ownership", false),
            ("Wann ist der Kurs?", "Wochentag", true),
            ("Where are the jars?", "Room", true),
            ("Which jars are blue?", "Price", false),
        ] {
            assert_eq!(Meant::by(&parsed(question)).has(column), expected, "{question} {column}");
        }
    }
}
