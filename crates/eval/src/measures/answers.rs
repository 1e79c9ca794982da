//! Measures of answers over the questions of a set.

use std::collections::HashSet;

use domain::{
    citation::{Draft, PreparedSource},
    corrective::Grade,
};
use serde::Serialize;

use super::{
    attribution::Attribution,
    gold::GoldAnswers,
    grader::{GradedPassages, GraderFigures},
    metrics::{mean, ratio, roc_auc},
};
use crate::set::SetQuestion;

/// Number of sources that a reader would look at, including the first.
const FIRST_SOURCES: usize = 5;
/// Points of the curve of accuracy over coverage.
pub const CURVE_POINTS: usize = 10;

/// The reply to a question.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Outcome of the ask.
    pub end: ReplyEnd,
    /// Sources in marker order, then passages that were found and not used.
    pub sources: Vec<SourceSeen>,
    /// Duration of the ask.
    pub duration_ms: f64,
    /// Number of calls to configured models.
    pub llm_calls: u32,
    /// Cost of these calls.
    pub cost_usd: f64,
    /// Highest probability, over all rounds, that the passages found answer the question; `None` if the ask failed.
    pub answerability: Option<f32>,
}

/// A source as a reader sees it.
#[derive(Clone, Debug)]
pub struct SourceSeen {
    /// Name of its document in the set.
    pub document: String,
    /// Its title and headings.
    pub title: String,
    /// The header of the table whose later rows it begins with.
    pub table_header: Option<String>,
    /// Its words.
    pub text: String,
    /// Grade given by the grader.
    pub grade: Option<Grade>,
    /// The built-in grader's probability that it answers the question; `None` if the trace does not contain it.
    pub probability: Option<f32>,
    /// Whether a configured grading model would be asked about it; `None` if the trace does not contain this.
    pub is_doubtful: Option<bool>,
}

impl SourceSeen {
    fn prepare(&self) -> PreparedSource {
        PreparedSource::with_context(&self.text, &self.title).below(self.table_header.as_deref())
    }
}

/// The outcome of an ask.
#[derive(Clone, Debug)]
pub enum ReplyEnd {
    /// An answer, markers included.
    Answered(String),
    /// Passages instead of an answer, markers included.
    Passages(String),
    /// An abstention: "Not in these documents."
    Abstained,
    /// The citations were wrong after the retry.
    Rejected,
    /// The time limit was reached.
    TimedOut,
}

/// One question, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionFigures {
    is_answerable: bool,
    end: EndKind,
    /// Whether the passages found first are of a gold document, and whether the answer cites one; `None` if the set has
    /// none.
    gold: Option<GoldUse>,
    /// Whether the first source, and one of the first five, holds a right answer; `None` if the set has none.
    sources_hold: Option<(bool, bool)>,
    /// Whether the answer holds a right answer; an abstention holds none.
    answer_holds: Option<bool>,
    /// Share of the citations that lead to a gold document, and of the gold documents that are cited.
    citations: Option<(f64, f64)>,
    attribution: Attribution,
    grades: GradedPassages,
    support: Option<f64>,
    duration_ms: f64,
    llm_calls: u32,
    cost_usd: f64,
    answerability: Option<f32>,
}

/// The use that was made of the gold documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GoldUse {
    is_found: bool,
    is_cited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndKind {
    Answered,
    Passages,
    Abstained,
    Rejected,
    TimedOut,
}

impl QuestionFigures {
    /// Compares a reply with the gold data of the question's set. `found` names the documents of the passages that
    /// retrieval finds first.
    #[must_use]
    pub fn of(question: &SetQuestion, found: &[String], reply: &Reply) -> Self {
        let gold = question.is_answerable.then(|| GoldAnswers::new(&question.answers, &question.spans)).flatten();
        let holds = |gold: &GoldAnswers, sources: usize| {
            reply.sources.iter().take(sources).any(|source| gold.are_in(&source.text))
        };
        let mut figures = Self {
            is_answerable: question.is_answerable,
            end: EndKind::of(&reply.end),
            gold: (!question.gold_documents.is_empty()).then(|| GoldUse {
                is_found: found.iter().any(|document| question.gold_documents.contains(document)),
                is_cited: false,
            }),
            sources_hold: gold.as_ref().map(|gold| (holds(gold, 1), holds(gold, FIRST_SOURCES))),
            answer_holds: gold.as_ref().map(|_| false),
            citations: None,
            attribution: Attribution::default(),
            grades: GradedPassages::of(question, gold.as_ref(), &reply.sources),
            support: None,
            duration_ms: reply.duration_ms,
            llm_calls: reply.llm_calls,
            cost_usd: reply.cost_usd,
            answerability: reply.answerability,
        };
        if let ReplyEnd::Answered(text) | ReplyEnd::Passages(text) = &reply.end {
            figures.read_answer(question, gold.as_ref(), text, &reply.sources);
        }
        figures
    }

    fn read_answer(
        &mut self,
        question: &SetQuestion,
        gold: Option<&GoldAnswers>,
        answer: &str,
        sources: &[SourceSeen],
    ) {
        let prepared: Vec<PreparedSource> = sources.iter().map(SourceSeen::prepare).collect();
        let draft = Draft::new(answer, &prepared);
        let cited: Vec<String> = draft
            .citations()
            .iter()
            .filter_map(|citation| sources.get(citation.source_index))
            .map(|source| source.document.clone())
            .collect();
        // Passages around a right answer leave it to the reader to find it.
        let is_answer = self.end == EndKind::Answered;
        self.answer_holds = gold.map(|gold| is_answer && gold.are_in(&without_markers(&draft)));
        self.citations = citation_figures(&cited, &question.gold_documents);
        if let Some(gold) = &mut self.gold {
            gold.is_cited = cited.iter().any(|document| question.gold_documents.contains(document));
        }
        self.attribution = Attribution::of(&draft, &prepared);
        self.support = mean(draft.claims().iter().map(|claim| f64::from(claim.support)));
    }

    /// Whether the question got a right answer; `None` if this cannot be decided. An answer to an unanswerable question
    /// is wrong.
    fn is_right(&self) -> Option<bool> {
        if self.is_answerable { self.answer_holds } else { Some(false) }
    }
}

impl EndKind {
    const fn of(end: &ReplyEnd) -> Self {
        match end {
            ReplyEnd::Answered(_) => Self::Answered,
            ReplyEnd::Passages(_) => Self::Passages,
            ReplyEnd::Abstained => Self::Abstained,
            ReplyEnd::Rejected => Self::Rejected,
            ReplyEnd::TimedOut => Self::TimedOut,
        }
    }
}

/// The answer's words, without the numbers of markers.
fn without_markers(draft: &Draft) -> String {
    let is_marker =
        |place: usize| draft.markers().iter().any(|marker| marker.span.start <= place && place < marker.span.end);
    draft.text().chars().enumerate().filter(|(place, _)| !is_marker(*place)).map(|(_, character)| character).collect()
}

fn citation_figures(cited: &[String], gold: &[String]) -> Option<(f64, f64)> {
    let gold: HashSet<&String> = gold.iter().collect();
    let found: HashSet<&String> = cited.iter().collect();
    let precision = share(cited, |document| gold.contains(document))?;
    let recall = share(&gold, |document| found.contains(*document))?;
    Some((precision, recall))
}

/// Measures of answers over all questions of a set. A measure is `None` if no question contributes to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AnswerFigures {
    /// Number of questions asked.
    pub questions: usize,
    /// Number of questions that the documents answer.
    pub answerable: usize,
    /// Number of questions that the documents do not answer.
    pub unanswerable: usize,
    /// Of the answerable ones: share whose first source holds a right answer.
    pub first_source_holds_answer: Option<f64>,
    /// Of the answerable ones: share of which one of the first five sources holds a right answer.
    pub first_five_hold_answer: Option<f64>,
    /// Of the answerable ones whose documents are known: share of which one is among the passages found first.
    pub gold_found: Option<f64>,
    /// Of the same ones: share that got an answer which cites such a document.
    pub answered_from_gold: Option<f64>,
    /// The second as a share of the first: how much of what retrieval found reaches the answer.
    pub answered_from_gold_of_found: Option<f64>,
    /// Of the answerable ones: share that got an answer.
    pub answered: Option<f64>,
    /// Of the answerable ones: share that got passages instead of an answer.
    pub given_passages: Option<f64>,
    /// Of the answerable ones: share whose answer holds a right answer; an abstention does not.
    pub answer_holds_answer: Option<f64>,
    /// Of the answerable ones that got an answer: share whose answer holds a right one.
    pub given_answer_holds_answer: Option<f64>,
    /// Of the abstentions: share that were on unanswerable questions; `None` if there are no such questions.
    pub abstention_precision: Option<f64>,
    /// Of the unanswerable questions: share that were abstained from.
    pub abstention_recall: Option<f64>,
    /// How well the question-level evidence score separates answerable questions from unanswerable ones: ROC AUC.
    pub near_miss_auc: Option<f64>,
    /// Mean share of an answer's citations that lead to a document that answers the question.
    pub citation_precision: Option<f64>,
    /// Mean share of the documents that answer the question that its answer cites.
    pub citation_recall: Option<f64>,
    /// Mean number of claims of an answer, which are sentences, items and rows; passages are none.
    pub claims_per_answer: Option<f64>,
    /// Of all claims: share that their cited sources support together ([`Attribution`], judged by the support scorer).
    pub claim_citation_recall: Option<f64>,
    /// Of all citations of claims: share that is needed, judged in the same way.
    pub claim_citation_precision: Option<f64>,
    /// Mean support of the claims of an answer.
    pub support: Option<f64>,
    /// Of the passages shown: share that was graded correct if it holds the answer, and not if it does not.
    pub grader_accuracy: Option<f64>,
    /// Of the questions with both kinds: share for which the built-in grader gives the best passage that holds the
    /// answer a higher probability than any other passage; a tie counts half.
    pub grader_gold_above_hardest: Option<f64>,
    /// Difference between the built-in grader's probabilities and the actual shares: expected calibration error, ten
    /// bins.
    pub grader_calibration_error: Option<f64>,
    /// Of the passages shown: share that is left to a configured grading model, if there is one.
    pub grader_doubtful: Option<f64>,
    /// Share of right answers among those given to the questions with the best evidence: to a tenth of all questions,
    /// to two tenths, and so on up to all; `None` from the point where fewer were answered.
    pub accuracy_at_coverage: [Option<f64>; CURVE_POINTS],
    /// Number of answers refused for wrong citations.
    pub rejected: usize,
    /// Number of asks that reached the time limit.
    pub timed_out: usize,
    /// Mean duration of an ask.
    pub mean_ms: Option<f64>,
    /// Mean number of calls to configured models.
    pub llm_calls_per_ask: Option<f64>,
    /// Mean cost of these calls.
    pub cost_usd_per_ask: Option<f64>,
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
        let answers = || answerable.iter().filter(|question| question.end == EndKind::Answered);
        let given: Vec<bool> = answers().filter_map(|question| question.answer_holds).collect();
        let gold: Vec<GoldUse> = answerable.iter().filter_map(|question| question.gold).collect();
        let (gold_found, answered_from_gold) = (share(&gold, |gold| gold.is_found), share(&gold, |gold| gold.is_cited));
        let abstained = asked.iter().filter(|question| question.end == EndKind::Abstained);
        let precision = share(abstained, |question| !question.is_answerable);
        let citations = || answerable.iter().filter_map(|question| question.citations);
        let claims = asked.iter().map(|question| question.attribution).fold(Attribution::default(), Attribution::and);
        let grader = GraderFigures::of(&asked.iter().map(|question| &question.grades).collect::<Vec<_>>());
        Self {
            questions: asked.len(),
            answerable: answerable.len(),
            unanswerable: unanswerable.len(),
            first_source_holds_answer: share(&with_gold, |held| held.0),
            first_five_hold_answer: share(&with_gold, |held| held.1),
            gold_found,
            answered_from_gold,
            answered_from_gold_of_found: quotient(answered_from_gold, gold_found),
            answered: share(&answerable, |question| question.end == EndKind::Answered),
            given_passages: share(&answerable, |question| question.end == EndKind::Passages),
            answer_holds_answer: share(&held, |holds| **holds),
            given_answer_holds_answer: share(&given, |holds| **holds),
            abstention_precision: if unanswerable.is_empty() { None } else { precision },
            abstention_recall: share(&unanswerable, |question| question.end == EndKind::Abstained),
            near_miss_auc: roc_auc(&scores(answerable.iter().copied()), &scores(unanswerable.iter().copied())),
            citation_precision: mean(citations().map(|(precision, _)| precision)),
            citation_recall: mean(citations().map(|(_, recall)| recall)),
            claims_per_answer: part(answers().map(|question| question.attribution.claims).sum(), answers().count()),
            claim_citation_recall: part(claims.supported, claims.claims),
            claim_citation_precision: part(claims.needed, claims.citations),
            support: mean(asked.iter().filter_map(|question| question.support)),
            grader_accuracy: grader.accuracy,
            grader_gold_above_hardest: grader.gold_above_hardest,
            grader_calibration_error: grader.calibration_error,
            grader_doubtful: grader.doubtful,
            accuracy_at_coverage: accuracy_at_coverage(asked),
            rejected: count(EndKind::Rejected),
            timed_out: count(EndKind::TimedOut),
            mean_ms: mean(asked.iter().map(|question| question.duration_ms)),
            llm_calls_per_ask: mean(asked.iter().map(|question| f64::from(question.llm_calls))),
            cost_usd_per_ask: mean(asked.iter().map(|question| question.cost_usd)),
        }
    }
}

/// The curve of selective answering (El-Yaniv and Wiener 2010): how right the answers are if only those with the best
/// evidence are given, by the share of questions that then get one.
fn accuracy_at_coverage(asked: &[QuestionFigures]) -> [Option<f64>; CURVE_POINTS] {
    let judged = || asked.iter().filter_map(|question| Some((question, question.is_right()?)));
    let mut given: Vec<(f32, bool)> = judged()
        .filter(|(question, _)| question.end == EndKind::Answered)
        .map(|(question, is_right)| (question.answerability.unwrap_or(0.0), is_right))
        .collect();
    given.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let all = judged().count();
    std::array::from_fn(|place| {
        let wanted = (all * (place + 1)).div_ceil(CURVE_POINTS);
        given.get(..wanted).and_then(|best| share(best, |(_, is_right)| *is_right))
    })
}

fn quotient(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let whole = whole.filter(|whole| *whole > 0.0)?;
    part.map(|part| part / whole)
}

fn part(some: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| ratio(some, of))
}

fn scores<'q>(questions: impl IntoIterator<Item = &'q QuestionFigures>) -> Vec<f64> {
    questions.into_iter().filter_map(|question| question.answerability).map(f64::from).collect()
}

/// Questions whose answers are elsewhere, put to a set's documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OffCorpusFigures {
    /// Questions asked.
    pub questions: usize,
    /// Share that were abstained from.
    pub abstained: Option<f64>,
    /// How well the question-level evidence score separates the set's own answerable questions from these: ROC AUC;
    /// `None` if its own questions were not asked.
    pub auc: Option<f64>,
}

impl OffCorpusFigures {
    /// Sums up replies, compared with those to the set's own questions.
    #[must_use]
    pub fn of(foreign: &[Reply], own: &[QuestionFigures]) -> Self {
        let scores_of_foreign: Vec<f64> =
            foreign.iter().filter_map(|reply| reply.answerability).map(f64::from).collect();
        Self {
            questions: foreign.len(),
            abstained: share(foreign, |reply| matches!(reply.end, ReplyEnd::Abstained)),
            auc: roc_auc(&scores(own.iter().filter(|question| question.is_answerable)), &scores_of_foreign),
        }
    }
}

/// Share of the items that fulfil a condition; `None` without items.
fn share<T>(items: impl IntoIterator<Item = T>, holds: impl Fn(&T) -> bool) -> Option<f64> {
    mean(items.into_iter().map(|item| if holds(&item) { 1.0 } else { 0.0 }))
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
