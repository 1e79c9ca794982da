//! How well the questions of a conversation find what they are about.

use serde::Serialize;

use super::metrics::{Judgements, mean, ndcg_at, recall_at};

/// Ranked documents that a reader would look at.
const FIRST_PAGE: usize = 10;

/// Documents found for one follow-up question, best first, a document once for each of its passages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// With the question alone.
    pub alone: Vec<String>,
    /// With the conversation before it.
    pub in_conversation: Vec<String>,
}

/// Measures of one way to ask.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FollowUpFigures {
    /// Mean normalised discounted cumulated gain of the first ten documents.
    pub ndcg_at_10: f64,
    /// Mean share of the relevant documents among the first ten.
    pub recall_at_10: f64,
}

/// Measures of the follow-up questions of a set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConversationFigures {
    /// Follow-up questions measured.
    pub follow_ups: usize,
    /// Each asked alone.
    pub alone: FollowUpFigures,
    /// Each asked with the conversation before it.
    pub in_conversation: FollowUpFigures,
}

impl ConversationFigures {
    /// Compares what was found with the judgements; `None` without follow-ups.
    #[must_use]
    pub fn of(follow_ups: &[(FollowUp, &Judgements<String>)]) -> Option<Self> {
        let figures = |ranked: fn(&FollowUp) -> &[String]| {
            Some(FollowUpFigures {
                ndcg_at_10: mean(
                    follow_ups.iter().filter_map(|(found, judged)| ndcg_at(FIRST_PAGE, ranked(found), judged)),
                )?,
                recall_at_10: mean(
                    follow_ups.iter().filter_map(|(found, judged)| recall_at(FIRST_PAGE, ranked(found), judged)),
                )?,
            })
        };
        Some(Self {
            follow_ups: follow_ups.len(),
            alone: figures(|found| &found.alone)?,
            in_conversation: figures(|found| &found.in_conversation)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_measured_over_the_same_questions() {
        let found = |alone: &[&str], in_conversation: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            FollowUp { alone: owned(alone), in_conversation: owned(in_conversation) }
        };
        let judgements = Judgements::from([("leave".to_owned(), 1)]);
        let follow_ups = [
            (found(&["tea"], &["leave", "tea"]), &judgements),
            (found(&["tea", "tea", "leave"], &["leave"]), &judgements),
        ];
        let figures = ConversationFigures::of(&follow_ups).expect("two follow-ups");
        assert_eq!(figures.follow_ups, 2);
        let second_place = 1.0 / 3_f64.log2();
        assert!((figures.alone.ndcg_at_10 - second_place / 2.0).abs() < 1e-9, "{figures:?}");
        assert!((figures.alone.recall_at_10 - 0.5).abs() < 1e-9, "{figures:?}");
        assert!((figures.in_conversation.ndcg_at_10 - 1.0).abs() < 1e-9, "{figures:?}");
        assert_eq!(ConversationFigures::of(&[]), None);
    }
}
