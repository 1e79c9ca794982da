//! Sections whose titles are the question: "what are the panics of nest in axum", of a page on `axum::nest` the section "Panics".
//!
//! What a section says under such a heading repeats few words of it, so that the fitted models, which lean on sentences, take
//! it for improbable.

use super::signs::{ALL, FEWEST_TERMS};
use crate::evidence::Question;
use crate::evidence::passage::PassageEvidence;
use crate::wording::denies;

/// Probability of such a passage. Not fitted: the questions of the sets are not made of titles.
const PROBABILITY: f32 = 0.5;

/// Most passages of a round with such titles; of more, the title of their document is the question, and no section is meant.
const MOST: usize = 2;

/// For each passage of a round its probability by its title and its headings, if they hold all of the question, as those of few
/// others do; else 0.
pub(super) fn probabilities(question: &Question, evidence: &[PassageEvidence]) -> Vec<f32> {
    let is_named = |evidence: &PassageEvidence| question.terms.share(evidence.title_mask) >= ALL;
    let is_plain = question.terms.terms().len() >= FEWEST_TERMS && !denies(&question.text);
    let named: Vec<bool> = evidence.iter().map(is_named).collect();
    let are_few = named.iter().filter(|is_named| **is_named).count() <= MOST;
    named.into_iter().map(|is_named| if is_named && is_plain && are_few { PROBABILITY } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grading::Grade;
    use crate::grading::calibrated::grade;
    use crate::grading::features::{Passage, evidence_of};
    use crate::lexical::analyzer::Analyzer;

    fn grades_of(question: &str, titles: &[&str]) -> Vec<Grade> {
        let analyzer = Analyzer::english();
        let parsed = Question::new(analyzer, question, 1000, |_| 3);
        let passage = |title| Passage {
            title,
            text: "It stops if the name ends in a dot.",
            dense: Some(0.2),
            lexical: 4.0,
            among: None,
        };
        let passages: Vec<Passage<'_>> = titles.iter().map(|title| passage(title)).collect();
        let evidence = evidence_of(analyzer, &parsed, &passages);
        grade(&parsed, &passages, &evidence).verdicts.into_iter().map(|verdict| verdict.grade).collect()
    }

    #[test]
    fn a_section_whose_titles_are_the_question_is_correct() {
        let titles = ["jar::glaze Panics", "jar::glaze Example", "jar::glaze"];
        assert_eq!(grades_of("what are the panics of glaze in jar", &titles).first(), Some(&Grade::Correct));
        for question in [
            "what are the costs of glaze in jar",
            "which panics has glaze not in jar",
            "which panics hasn't glaze in jar",
            "which panics hasn’t glaze in jar",
            "panics",
            "glaze in jar",
        ] {
            assert!(!grades_of(question, &titles).contains(&Grade::Correct), "{question}");
        }
    }
}
