//! Measures of answers over the questions of a set.

use std::collections::HashSet;

use serde::Serialize;

use super::{
    dataset::SetQuestion,
    gold::GoldAnswers,
    metrics::{auc, mean},
};

/// Sources that a reader would look at besides the first.
const FIRST_SOURCES: usize = 5;

/// What came back for a question.
#[derive(Clone, Debug)]
pub struct Reply {
    /// How it ended.
    pub end: ReplyEnd,
    /// Sources in the order they are shown.
    pub sources: Vec<SourceSeen>,
    /// How long it took.
    pub duration_ms: f64,
    /// Calls of a configured model.
    pub llm_calls: u32,
    /// Highest probability, of all rounds, that what was found answers the question; `None` if the ask failed.
    pub answerability: Option<f32>,
}

/// A source as a reader sees it.
#[derive(Clone, Debug)]
pub struct SourceSeen {
    /// Its document's name in the set.
    pub document: String,
    /// Its words.
    pub text: String,
}

/// How an ask ended.
#[derive(Clone, Debug)]
pub enum ReplyEnd {
    /// With an answer.
    Answered {
        /// Its words, without markers.
        text: String,
        /// Document of each citation.
        cited: Vec<String>,
        /// Support of each claim.
        supports: Vec<f32>,
    },
    /// "Not in these documents."
    Abstained,
    /// Citations were wrong after the retry.
    Rejected,
    /// The limit on time was reached.
    TimedOut,
}

/// One question, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionFigures {
    is_answerable: bool,
    end: EndKind,
    /// Whether the first source, and one of the first five, holds a right answer; `None` if the set has none.
    sources_hold: Option<(bool, bool)>,
    /// The same of the answer; an abstention holds none.
    answer_holds: Option<bool>,
    /// Share of the citations that lead to a gold document, and of the gold documents that are cited.
    citations: Option<(f64, f64)>,
    support: Option<f64>,
    duration_ms: f64,
    llm_calls: u32,
    answerability: Option<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndKind {
    Answered,
    Abstained,
    Rejected,
    TimedOut,
}

impl QuestionFigures {
    /// Holds a reply against what the question's set knows.
    #[must_use]
    pub fn of(question: &SetQuestion, reply: &Reply) -> Self {
        let gold = question.is_answerable.then(|| GoldAnswers::new(&question.answers)).flatten();
        let holds = |gold: &GoldAnswers, sources: usize| {
            reply.sources.iter().take(sources).any(|source| gold.are_in(&source.text))
        };
        let sources_hold = gold.as_ref().map(|gold| (holds(gold, 1), holds(gold, FIRST_SOURCES)));
        let (end, answer_holds, citations, support) = match &reply.end {
            ReplyEnd::Answered { text, cited, supports } => (
                EndKind::Answered,
                gold.as_ref().map(|gold| gold.are_in(text)),
                citation_figures(cited, &question.gold_documents),
                mean(supports.iter().copied().map(f64::from)),
            ),
            ReplyEnd::Abstained => (EndKind::Abstained, gold.as_ref().map(|_| false), None, None),
            ReplyEnd::Rejected => (EndKind::Rejected, gold.as_ref().map(|_| false), None, None),
            ReplyEnd::TimedOut => (EndKind::TimedOut, gold.as_ref().map(|_| false), None, None),
        };
        Self {
            is_answerable: question.is_answerable,
            end,
            sources_hold,
            answer_holds,
            citations,
            support,
            duration_ms: reply.duration_ms,
            llm_calls: reply.llm_calls,
            answerability: reply.answerability,
        }
    }
}

fn citation_figures(cited: &[String], gold: &[String]) -> Option<(f64, f64)> {
    let gold: HashSet<&String> = gold.iter().collect();
    let found: HashSet<&String> = cited.iter().collect();
    let precision = share(cited, |document| gold.contains(document))?;
    let recall = share(&gold, |document| found.contains(*document))?;
    Some((precision, recall))
}

/// Answers over all questions of a set. A measure without a case to take it from is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AnswerFigures {
    /// Questions asked.
    pub questions: usize,
    /// Those that the documents answer.
    pub answerable: usize,
    /// Those that they do not.
    pub unanswerable: usize,
    /// Of the answerable ones: share whose first source holds a right answer.
    pub first_source_holds_answer: Option<f64>,
    /// Of the answerable ones: share of which one of the first five sources holds a right answer.
    pub first_five_hold_answer: Option<f64>,
    /// Of the answerable ones: share that got an answer.
    pub answered: Option<f64>,
    /// Of the answerable ones: share whose answer holds a right answer; an abstention does not.
    pub answer_holds_answer: Option<f64>,
    /// Of the answerable ones that got an answer: share whose answer holds a right one.
    pub given_answer_holds_answer: Option<f64>,
    /// Of the abstentions: share that were on unanswerable questions; `None` if there are no such questions.
    pub abstention_precision: Option<f64>,
    /// Of the unanswerable questions: share that were abstained from.
    pub abstention_recall: Option<f64>,
    /// How well the question-level evidence score tells answerable questions from unanswerable ones: ROC AUC.
    pub near_miss_auc: Option<f64>,
    /// Mean share of an answer's citations that lead to a document that answers the question.
    pub citation_precision: Option<f64>,
    /// Mean share of the documents that answer the question that its answer cites.
    pub citation_recall: Option<f64>,
    /// Mean support of the claims of an answer.
    pub support: Option<f64>,
    /// Answers refused for wrong citations.
    pub rejected: usize,
    /// Asks that reached the limit on time.
    pub timed_out: usize,
    /// Mean duration of an ask.
    pub mean_ms: Option<f64>,
    /// Mean calls of a configured model.
    pub llm_calls_per_ask: Option<f64>,
}

impl AnswerFigures {
    /// Sums up questions.
    #[must_use]
    pub fn of(asked: &[QuestionFigures]) -> Self {
        let (answerable, unanswerable): (Vec<&QuestionFigures>, Vec<&QuestionFigures>) =
            asked.iter().partition(|question| question.is_answerable);
        let count = |end: EndKind| asked.iter().filter(|question| question.end == end).count();
        let with_gold: Vec<(bool, bool)> = answerable.iter().filter_map(|question| question.sources_hold).collect();
        let held: Vec<bool> = answerable.iter().filter_map(|question| question.answer_holds).collect();
        let given: Vec<bool> = answerable
            .iter()
            .filter(|question| question.end == EndKind::Answered)
            .filter_map(|question| question.answer_holds)
            .collect();
        let abstained = asked.iter().filter(|question| question.end == EndKind::Abstained);
        let precision = share(abstained, |question| !question.is_answerable);
        let citations = || answerable.iter().filter_map(|question| question.citations);
        Self {
            questions: asked.len(),
            answerable: answerable.len(),
            unanswerable: unanswerable.len(),
            first_source_holds_answer: share(&with_gold, |held| held.0),
            first_five_hold_answer: share(&with_gold, |held| held.1),
            answered: share(&answerable, |question| question.end == EndKind::Answered),
            answer_holds_answer: share(&held, |holds| **holds),
            given_answer_holds_answer: share(&given, |holds| **holds),
            abstention_precision: if unanswerable.is_empty() { None } else { precision },
            abstention_recall: share(&unanswerable, |question| question.end == EndKind::Abstained),
            near_miss_auc: auc(&scores(&answerable), &scores(&unanswerable)),
            citation_precision: mean(citations().map(|(precision, _)| precision)),
            citation_recall: mean(citations().map(|(_, recall)| recall)),
            support: mean(asked.iter().filter_map(|question| question.support)),
            rejected: count(EndKind::Rejected),
            timed_out: count(EndKind::TimedOut),
            mean_ms: mean(asked.iter().map(|question| question.duration_ms)),
            llm_calls_per_ask: mean(asked.iter().map(|question| f64::from(question.llm_calls))),
        }
    }
}

fn scores(questions: &[&QuestionFigures]) -> Vec<f32> {
    questions.iter().filter_map(|question| question.answerability).collect()
}

/// Questions whose answers are elsewhere, put to a set's documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OffCorpusFigures {
    /// Questions asked.
    pub questions: usize,
    /// Share that were abstained from.
    pub abstained: Option<f64>,
}

impl OffCorpusFigures {
    /// Sums up replies.
    #[must_use]
    pub fn of(ends: &[ReplyEnd]) -> Self {
        Self { questions: ends.len(), abstained: share(ends, |end| matches!(end, ReplyEnd::Abstained)) }
    }
}

/// Share of the items that something holds of; `None` without items.
fn share<T>(items: impl IntoIterator<Item = T>, holds: impl Fn(&T) -> bool) -> Option<f64> {
    mean(items.into_iter().map(|item| if holds(&item) { 1.0 } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(answers: &[&str], gold: &[&str]) -> SetQuestion {
        SetQuestion {
            id: "q".to_owned(),
            text: "which tea?".to_owned(),
            answers: answers.iter().map(|&answer| answer.to_owned()).collect(),
            is_answerable: !gold.is_empty(),
            gold_documents: gold.iter().map(|&document| document.to_owned()).collect(),
        }
    }

    fn reply(end: ReplyEnd, sources: &[&str]) -> Reply {
        let sources =
            sources.iter().map(|&text| SourceSeen { document: "d".to_owned(), text: text.to_owned() }).collect();
        let answerability = if matches!(end, ReplyEnd::Abstained) { 0.25 } else { 0.75 };
        Reply { end, sources, duration_ms: 4.0, llm_calls: 1, answerability: Some(answerability) }
    }

    fn answered(text: &str, cited: &[&str]) -> ReplyEnd {
        let cited = cited.iter().map(|&document| document.to_owned()).collect();
        ReplyEnd::Answered { text: text.to_owned(), cited, supports: vec![1.0, 0.5] }
    }

    #[test]
    fn each_share_has_its_denominator() {
        let green = question(&["green tea"], &["d1", "d2"]);
        let never = question(&[], &[]);
        let asked = [
            QuestionFigures::of(&green, &reply(answered("Green tea.", &["d1", "x"]), &["Green tea.", "Milk."])),
            QuestionFigures::of(
                &green,
                &reply(answered("Milk.", &["d1", "d2"]), &["Milk.", "Oats.", "It is green tea."]),
            ),
            QuestionFigures::of(&green, &reply(ReplyEnd::Abstained, &["Oats."])),
            QuestionFigures::of(&green, &reply(ReplyEnd::Rejected, &["Green tea."])),
            QuestionFigures::of(&never, &reply(ReplyEnd::Abstained, &["Oats."])),
            QuestionFigures::of(&never, &reply(answered("Oats.", &["d1"]), &["Oats."])),
        ];
        let figures = AnswerFigures::of(&asked);
        let expected = AnswerFigures {
            questions: 6,
            answerable: 4,
            unanswerable: 2,
            first_source_holds_answer: Some(0.5),
            first_five_hold_answer: Some(0.75),
            answered: Some(0.5),
            answer_holds_answer: Some(0.25),
            given_answer_holds_answer: Some(0.5),
            abstention_precision: Some(0.5),
            abstention_recall: Some(0.5),
            near_miss_auc: Some(0.625),
            citation_precision: Some(0.75),
            citation_recall: Some(0.75),
            support: Some(0.75),
            rejected: 1,
            timed_out: 0,
            mean_ms: Some(4.0),
            llm_calls_per_ask: Some(1.0),
        };
        assert_eq!(figures, expected);
    }

    #[test]
    fn without_cases_there_is_no_figure() {
        let unlabelled = question(&[], &["d"]);
        let figures = AnswerFigures::of(&[QuestionFigures::of(&unlabelled, &reply(ReplyEnd::TimedOut, &[]))]);
        assert_eq!(figures.first_source_holds_answer, None);
        assert_eq!(figures.answer_holds_answer, None);
        assert_eq!(figures.abstention_precision, None);
        assert_eq!(figures.abstention_recall, None);
        assert_eq!((figures.answered, figures.timed_out), (Some(0.0), 1));
        assert_eq!(OffCorpusFigures::of(&[]).abstained, None);
        assert_eq!(OffCorpusFigures::of(&[ReplyEnd::Abstained, ReplyEnd::Rejected]).abstained, Some(0.5));
    }
}
