//! Derives a plan from the words of the question. English only; a question in another language is always a look-up.

use super::{MOST_SUB_QUESTIONS, Plan, PlannedBy, QuestionType, Strategy};
use crate::{
    answering::{compared, has_opening, questions},
    conversation::has_pronoun,
    evidence::clause::asking_sentence,
};

/// Beginnings of questions for the gist of something.
const SUMMARIES: [&str; 8] = [
    "summarise ",
    "summarize ",
    "give a summary",
    "give me a summary",
    "give an overview",
    "give me an overview",
    "what is the gist",
    "outline ",
];
/// Beginnings of questions that explore everything on a subject.
const EXPLORATIONS: [&str; 5] =
    ["tell me about ", "tell me everything", "what do we know about ", "what is known about ", "list all "];

/// Returns the plan of a question; there is one for every question.
#[must_use]
pub fn plan(question: &str) -> Plan {
    let plan = |question_type, strategy, sub_questions: Vec<String>| Plan {
        question_type,
        strategy,
        sub_questions: sub_questions.into_iter().take(MOST_SUB_QUESTIONS).collect(),
        reasoning: None,
        by: PlannedBy::BuiltIn,
    };
    let lower = asking_sentence(question).to_lowercase();
    let begins = |openings: &[&str]| openings.iter().any(|opening| lower.starts_with(opening));
    if begins(&SUMMARIES) {
        return plan(QuestionType::Summary, Strategy::BroadThenRerank, Vec::new());
    }
    if begins(&EXPLORATIONS) {
        return plan(QuestionType::Exploratory, Strategy::BroadThenRerank, Vec::new());
    }
    let several = questions(question);
    if several.len() > 1 {
        if several.iter().skip(1).any(|part| has_pronoun(part)) {
            return plan(QuestionType::MultiHop, Strategy::Direct, Vec::new());
        }
        let asked = several.into_iter().map(|part| format!("{}?", part.trim())).collect();
        return plan(QuestionType::Lookup, Strategy::Decompose, asked);
    }
    let both = compared(question);
    if both.is_empty() {
        plan(QuestionType::Lookup, Strategy::Direct, Vec::new())
    } else {
        plan(QuestionType::Compare, Strategy::Decompose, asked_of_each(both))
    }
}

/// The things compared as they are searched: of "what was revenue in 2019 vs 2018", and of "page size of A vs B", the second half
/// is asked for like the first.
fn asked_of_each(mut compared: Vec<String>) -> Vec<String> {
    if let [first, second] = compared.as_mut_slice()
        && (has_opening(first) || first.contains(" of "))
        && !second.contains(' ')
        && let Some((question, _)) = first.rsplit_once(' ')
    {
        *second = format!("{question} {second}");
    }
    compared
}
