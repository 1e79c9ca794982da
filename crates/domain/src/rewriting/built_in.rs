//! The rewriter without a model: a fixed series of variations on the question's words.
//!
//! Each step changes an aspect that the former query may have failed on, gentlest first:
//!
//! 1. **Keywords**: only the terms that carry weight, without the words that frame a question. The
//!    dense side then compares subjects instead of a question with a statement.
//! 2. **Known words**: without the terms that no chunk of the collection holds, which pull the
//!    query's vector away and find nothing.
//! 3. **Feedback**: the known words and those that the best passages so far share (pseudo-relevance
//!    feedback, Lavrenko and Croft 2001, reduced to counting).
//! 4. **Core**: the two or three rarest known terms alone.
//!
//! A variation that was tried before is skipped; when all were, there is no new query.

use std::collections::BTreeMap;

use super::Tried;
use crate::evidence::{Question, QuestionTerm};
use crate::lexical::analyzer::Analyzer;

/// Words that feedback adds at most.
const FEEDBACK_WORDS: usize = 4;

/// Passages that feedback reads at most: the best ones.
const FEEDBACK_PASSAGES: usize = 3;

/// Terms of the core query.
const CORE_TERMS: usize = 3;

/// Weight, as a share of the heaviest term's, from which a term is a keyword.
const KEYWORD_SHARE: f32 = 0.35;

/// The next query, or `None` when there is no new one. `feedback` holds the texts of the best
/// passages of the last round that were not graded incorrect, best first; it may be empty.
#[must_use]
pub fn rewrite(analyzer: &Analyzer, question: &Question, tried: &Tried, feedback: &[&str]) -> Option<String> {
    let terms = question.terms.terms();
    let heaviest = terms.iter().map(|term| term.weight).fold(0.0, f32::max);
    let is_keyword = |term: &&QuestionTerm| term.weight >= heaviest * KEYWORD_SHARE;
    let is_known = |term: &&QuestionTerm| term.document_frequency > 0;

    let keywords: Vec<&QuestionTerm> = terms.iter().filter(is_keyword).collect();
    let known: Vec<&QuestionTerm> = terms.iter().filter(is_known).collect();
    let mut expanded = words(&known);
    expanded.extend(feedback_words(analyzer, question, feedback));
    let variations = [words(&keywords), words(&known), expanded, words(&rarest(&known))];
    variations.into_iter().map(|words| words.join(" ")).find(|query| !query.is_empty() && !tried.contains(query))
}

fn words(terms: &[&QuestionTerm]) -> Vec<String> {
    terms.iter().map(|term| term.word.clone()).collect()
}

/// The heaviest terms, in the order of the question.
fn rarest<'t>(known: &[&'t QuestionTerm]) -> Vec<&'t QuestionTerm> {
    let mut by_weight: Vec<(usize, &QuestionTerm)> = known.iter().copied().enumerate().collect();
    by_weight.sort_by(|(_, one), (_, two)| two.weight.total_cmp(&one.weight));
    by_weight.truncate(CORE_TERMS.min(known.len().saturating_sub(1)).max(1));
    by_weight.sort_by_key(|(place, _)| *place);
    by_weight.into_iter().map(|(_, term)| term).collect()
}

/// Words that the best passages have in common and the question lacks: those in most passages
/// first, then those most often used, then by spelling.
fn feedback_words(analyzer: &Analyzer, question: &Question, feedback: &[&str]) -> Vec<String> {
    let mut found: BTreeMap<String, FeedbackTerm> = BTreeMap::new();
    for (number, text) in feedback.iter().take(FEEDBACK_PASSAGES).enumerate() {
        analyzer.for_each_term(text, |stem, range| {
            let is_word = stem.len() > 2 && stem.chars().all(char::is_alphabetic);
            if !is_word || question.terms.position(stem).is_some() {
                return;
            }
            let term = found.entry(stem.to_owned()).or_insert_with(|| FeedbackTerm {
                word: text.get(range).unwrap_or(stem).to_owned(),
                passages: 0,
                occurrences: 0,
                last: None,
            });
            term.occurrences += 1;
            if term.last != Some(number) {
                term.passages += 1;
                term.last = Some(number);
            }
        });
    }
    let mut ranked: Vec<FeedbackTerm> = found.into_values().filter(|term| term.occurrences > 1).collect();
    ranked.sort_by_key(|term| std::cmp::Reverse((term.passages, term.occurrences)));
    ranked.into_iter().take(FEEDBACK_WORDS).map(|term| term.word).collect()
}

struct FeedbackTerm {
    /// The word as it first occurs in a passage.
    word: String,
    passages: usize,
    occurrences: usize,
    /// The passage that counted it last.
    last: Option<usize>,
}
