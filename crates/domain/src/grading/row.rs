//! Rows of tables that hold all that a question says.
//!
//! A row has few words and the vector of its chunk says little of it, so that the fitted models, which lean on vectors, take
//! the right row of a large table for improbable. Where one row holds, with its header and its titles, every word of the
//! question and the kind of thing asked for, words are enough.

use super::features::Passage;
use super::signs::{ALL, FEWEST_TERMS};
use crate::asking::office;
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::markdown::{BlockKind, cells};
use crate::wording::denies;

/// Most rows of a passage that hold all of it; of more, header and titles hold it, and no row is meant.
const MOST_ROWS: usize = 3;

/// Whether one of the rows of a passage holds, with what stands above it, all of the question.
pub(super) fn answers(question: &Question, passage: &Passage<'_>, evidence: &PassageEvidence) -> bool {
    let terms = &question.terms;
    let rows = evidence.sentences.iter().filter(|sentence| sentence.kind == BlockKind::TableRow);
    if tells_office(question, passage, rows.clone()) {
        return true;
    }
    let whole: Vec<_> = rows.filter(|row| terms.share(row.mask | evidence.title_mask) >= ALL).collect();
    // Most passages have no such row, and are done here.
    if whole.is_empty() || whole.len() > MOST_ROWS {
        return false;
    }
    let is_singled_out = terms.terms().len() >= FEWEST_TERMS && terms.share(evidence.title_mask) < ALL;
    let is_sought =
        matches!(question.kind, AnswerKind::Number | AnswerKind::Date | AnswerKind::Person | AnswerKind::Place);
    let holds_kind = whole.iter().any(|row| {
        let words = passage.text.get(row.range.clone()).unwrap_or_default();
        !is_sought || question.kind.is_held_by(&question.known, words)
    });
    is_singled_out && holds_kind && !denies(&question.text)
}

/// Whether one of some rows has the office or the calling of the one who is asked for as the whole of a value.
fn tells_office<'e>(
    question: &Question,
    passage: &Passage<'_>,
    mut rows: impl Iterator<Item = &'e SentenceEvidence>,
) -> bool {
    let Some(office) = office(&question.asked) else { return false };
    rows.any(|row| {
        let words = passage.text.get(row.range.clone()).unwrap_or_default();
        cells(words).any(|(_, cell)| {
            // A row of a CSV file names its columns itself.
            let value = cell.split_once(": ").map_or(cell, |(_, value)| value);
            value.to_lowercase() == office
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grading::Grade;
    use crate::grading::calibrated::grade;
    use crate::grading::features::evidence_of;
    use crate::lexical::analyzer::Analyzer;

    const RELEASES: &str = "| version | codename | release | eol |\n|---|---|---|---|\n\
        | 20.04 | Focal Fossa | 2020-04-23 | 2025-05-31 |\n| 22.04 | Jammy Jellyfish | 2022-04-21 | 2027-04-30 |\n\
        | 24.04 | Noble Numbat | 2024-04-25 | 2029-05-31 |\n| 26.04 | Resolute Raccoon | 2026-04-23 | 2031-05-29 |";

    fn grade_of(question: &str) -> Grade {
        let analyzer = Analyzer::english();
        let parsed = Question::new(analyzer, question, 1000, |_| 3);
        let passages = [Passage { title: "Ubuntu", text: RELEASES, dense: Some(0.2), lexical: 4.0, among: None }];
        let evidence = evidence_of(analyzer, &parsed, &passages);
        grade(&parsed, &passages, &evidence).verdicts.first().map_or(Grade::Incorrect, |verdict| verdict.grade)
    }

    #[test]
    fn the_row_of_an_office_is_correct_whatever_else_it_holds() {
        let analyzer = Analyzer::english();
        for (question, text, expected) in [
            ("Who is the mechanic?", "| Name | Role |\n|---|---|\n| Ada | Mechanic |\n| Bo | Clerk |", true),
            ("Who is the mechanic?", "| Name: Ada | Role: Mechanic |\n| Name: Bo | Role: Clerk |", true),
            ("Who is the mechanic?", "| Name | Role |\n|---|---|\n| Ada | Mechanic's friend |", false),
        ] {
            let parsed = Question::new(analyzer, question, 1000, |_| 3);
            let passage = Passage { title: "Staff", text, dense: Some(0.1), lexical: 1.0, among: None };
            let evidence = evidence_of(analyzer, &parsed, &[passage]);
            let is_told = evidence.first().is_some_and(|evidence| answers(&parsed, &passage, evidence));
            assert_eq!(is_told, expected, "{text}");
        }
    }

    #[test]
    fn a_row_that_holds_all_of_the_question_is_correct_whatever_its_vector() {
        for question in ["When was Ubuntu 22.04 released?", "What is the codename of Ubuntu 20.04?"] {
            assert_eq!(grade_of(question), Grade::Correct, "{question}");
        }
        for question in [
            "When was Ubuntu 23.04 released?",
            "When was Debian 22.04 released?",
            "When was Ubuntu released?",
            "Which Ubuntu release is not 22.04?",
            "Which Ubuntu release isn't 22.04?",
            "Which Ubuntu release isn’t 22.04?",
            "Who released Ubuntu 22.04 to its sponsors?",
            "",
        ] {
            assert_ne!(grade_of(question), Grade::Correct, "{question}");
        }
    }
}
