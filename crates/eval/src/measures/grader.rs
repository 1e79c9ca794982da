//! Accuracy of the grader, and calibration of its probabilities.

use domain::corrective::Grade;

use super::{
    answers::SourceSeen,
    gold::GoldAnswers,
    metrics::{mean, ratio},
};
use crate::set::SetQuestion;

/// Bins of equal width that the calibration error is taken over.
const BINS: usize = 10;

/// Passages shown for one question: their grades, and whether they are right.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GradedPassages(Vec<GradedPassage>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct GradedPassage {
    /// Whether it holds a right answer and, where the set names them, is of a document that does.
    is_right: bool,
    grade: Grade,
    probability: Option<f32>,
    is_doubtful: Option<bool>,
}

/// Measures of the grader over all passages of a set. A measure is `None` if no passage contributes to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GraderFigures {
    pub(super) accuracy: Option<f64>,
    pub(super) calibration_error: Option<f64>,
    pub(super) doubtful: Option<f64>,
    pub(super) gold_above_hardest: Option<f64>,
}

impl GradedPassages {
    /// No passage is right for a question without an answer. Without right answers to look for, this cannot be decided.
    pub(super) fn of(question: &SetQuestion, gold: Option<&GoldAnswers>, sources: &[SourceSeen]) -> Self {
        if question.is_answerable && gold.is_none() {
            return Self::default();
        }
        let is_of_gold = |source: &SourceSeen| {
            question.gold_documents.is_empty() || question.gold_documents.contains(&source.document)
        };
        let graded = sources.iter().filter_map(|source| {
            Some(GradedPassage {
                is_right: gold.is_some_and(|gold| is_of_gold(source) && gold.are_in(&source.text)),
                grade: source.grade?,
                probability: source.probability,
                is_doubtful: source.is_doubtful,
            })
        });
        Self(graded.collect())
    }

    /// Whether the best right passage is more probable than every other, a tie for half; `None` unless there are both.
    fn gold_above_hardest(&self) -> Option<f64> {
        let best = |is_right: bool| {
            let probabilities = self.0.iter().filter(|passage| passage.is_right == is_right);
            probabilities.filter_map(|passage| passage.probability).reduce(f32::max)
        };
        let (gold, hardest) = (best(true)?, best(false)?);
        Some(match gold.total_cmp(&hardest) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        })
    }
}

impl GraderFigures {
    /// Sums up questions.
    pub(super) fn of(asked: &[&GradedPassages]) -> Self {
        let passages = || asked.iter().flat_map(|graded| &graded.0);
        let share = |holds: bool| f64::from(u8::from(holds));
        Self {
            // Doubtful is not correct.
            accuracy: mean(passages().map(|passage| share((passage.grade == Grade::Correct) == passage.is_right))),
            calibration_error: calibration_error(
                passages().filter_map(|passage| Some((f64::from(passage.probability?), passage.is_right))),
            ),
            doubtful: mean(passages().filter_map(|passage| passage.is_doubtful).map(share)),
            gold_above_hardest: mean(asked.iter().filter_map(|graded| graded.gold_above_hardest())),
        }
    }
}

/// Expected calibration error (Naeini et al. 2015): the average, over all cases, of the difference between the mean
/// probability of a bin and the share of its cases that came true.
fn calibration_error(cases: impl Iterator<Item = (f64, bool)>) -> Option<f64> {
    // Sum of the probabilities, and how many came true.
    let mut bins = [(0.0, 0); BINS];
    let mut all = 0;
    for (probability, came_true) in cases {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a probability picks its bin")]
        let place = (probability.clamp(0.0, 1.0) * 10.0) as usize;
        let Some((sum, true_ones)) = bins.get_mut(place.min(BINS - 1)) else { continue };
        *sum += probability;
        *true_ones += usize::from(came_true);
        all += 1;
    }
    let gap = |(sum, came_true): &(f64, usize)| (sum - ratio(*came_true, 1)).abs();
    (all > 0).then(|| bins.iter().map(gap).sum::<f64>() / ratio(all, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(is_answerable: bool) -> SetQuestion {
        SetQuestion {
            id: "q".to_owned(),
            text: "which tea?".to_owned(),
            answers: vec!["green tea".to_owned()],
            spans: Vec::new(),
            is_answerable,
            gold_documents: Vec::new(),
        }
    }

    fn source(text: &str, grade: Grade, probability: f32, is_doubtful: bool) -> SourceSeen {
        SourceSeen {
            document: "d".to_owned(),
            title: String::new(),
            table_header: None,
            text: text.to_owned(),
            grade: Some(grade),
            probability: Some(probability),
            is_doubtful: Some(is_doubtful),
        }
    }

    fn figures(asked: &[(bool, Vec<SourceSeen>)]) -> GraderFigures {
        let gold = GoldAnswers::new(&["green tea".to_owned()], &[]).expect("an answer");
        let graded: Vec<GradedPassages> = asked
            .iter()
            .map(|(is_answerable, sources)| {
                GradedPassages::of(&question(*is_answerable), is_answerable.then_some(&gold), sources)
            })
            .collect();
        GraderFigures::of(&graded.iter().collect::<Vec<_>>())
    }

    #[test]
    fn figures_by_hand() {
        let right = |probability| source("They drink green tea.", Grade::Correct, probability, false);
        let wrong = |probability| source("Oats.", Grade::Ambiguous, probability, true);
        let found = figures(&[
            (true, vec![right(0.95), wrong(0.25)]),
            (true, vec![wrong(0.85), right(0.75)]),
            (false, vec![wrong(0.25)]),
        ]);
        let close = |left: Option<f64>, right: f64| left.is_some_and(|left| (left - right).abs() < 1e-6);
        assert_eq!(found.accuracy, Some(1.0), "{found:?}");
        assert_eq!(found.gold_above_hardest, Some(0.5));
        assert!(close(found.doubtful, 0.6), "{found:?}");
        // .95 and .75 came true, .85 and two times .25 did not: (.05 + .25 + .85 + .5) / 5.
        assert!(close(found.calibration_error, 0.33), "{found:?}");
    }

    #[test]
    fn one_bin_is_right_on_average() {
        let cases = [(0.55, true), (0.55, false)];
        let error = calibration_error(cases.into_iter()).expect("cases");
        assert!((error - 0.05).abs() < 1e-9, "{error}");
        assert_eq!(calibration_error(std::iter::empty()), None);
        assert_eq!(calibration_error([(1.0, true), (0.0, false)].into_iter()), Some(0.0));
    }
}
