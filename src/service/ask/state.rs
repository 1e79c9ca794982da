//! The state of the corrective loop: it starts empty and grows by a round at a time.

use super::{
    GradedHit, context::AskContext, continuation::Continuation, evidence_pool::EvidencePool, record::RoundTrace,
    retrieve::Corpus, rewrite::Rewording, sub_questions::SubQuestions,
};
use crate::{
    domain::{
        corrective::{self, Fallback, LoopSettings, Round, Step},
        evidence::{Question, TermMask},
        lexical::analyzer::Analyzer,
        planning::Plan,
        rewriting::Tried,
    },
    service::retrieval::Retrieved,
};

/// The state of the loop of one ask.
pub(super) struct LoopState {
    /// Extracts terms from texts, in the language of the collections.
    pub(super) analyzer: &'static Analyzer,
    pub(super) plan: Option<Plan>,
    /// The question, weighted by the collections once the first retrieval has shown how rare its words are.
    pub(super) question: Question,
    pub(super) sub_questions: SubQuestions,
    /// The document of the last answer of the conversation.
    pub(super) continuation: Continuation,
    /// Queries that were searched.
    pub(super) tried: Tried,
    /// Passages of all rounds.
    pub(super) pool: EvidencePool,
    /// Passages of the last round, in the order of retrieval.
    pub(super) last_round: Vec<GradedHit>,
    /// Probability that the passages of the best round answer the question; `None` before the first round.
    pub(super) answerability: Option<f32>,
    /// Aspects of the question that no correct passage of the last round holds.
    pub(super) missing: Vec<String>,
    pub(super) fallback: Fallback,
    rounds: Vec<Round>,
    /// Whether a search has shown that there is nothing to search.
    corpus_is_empty: bool,
    rewriter_is_exhausted: bool,
}

/// The first retrieval: what was found for the question and its sub-questions.
pub(super) struct PlannedRetrieval {
    pub(super) found: Retrieved,
    pub(super) sub_questions: SubQuestions,
    /// Searches for the sub-questions.
    pub(super) rounds: Vec<RoundTrace>,
}

/// The passages of a round, graded.
pub(super) struct GradedRound {
    pub(super) hits: Vec<GradedHit>,
    /// Probability that they answer the question.
    pub(super) answerability: f32,
    /// Terms of the question that each passage holds.
    pub(super) terms: Vec<TermMask>,
    /// Aspects of the question that no correct passage holds.
    pub(super) missing: Vec<String>,
    /// Whether a model says that none is missing.
    pub(super) is_complete: bool,
}

impl LoopState {
    pub(super) fn new(ask: &AskContext, corpus: &Corpus) -> Self {
        let (question, analyzer) = (ask.asked(), corpus.analyzer);
        Self {
            analyzer,
            plan: None,
            question: Question::new(analyzer, question, 0, |_| 0),
            sub_questions: SubQuestions::default(),
            continuation: Continuation::default(),
            tried: Tried::new(question),
            pool: EvidencePool::default(),
            last_round: Vec::new(),
            answerability: None,
            missing: Vec::new(),
            fallback: if corpus.may_search_web { Fallback::Ready } else { Fallback::None },
            rounds: Vec::new(),
            corpus_is_empty: false,
            rewriter_is_exhausted: false,
        }
    }

    /// Stores the first retrieval; returns its passages, which are to be graded. Queries of the plan count as tried.
    pub(super) fn begin(&mut self, plan: Plan, found: Retrieved, sub_questions: SubQuestions) -> Retrieved {
        for query in &plan.sub_questions {
            // One that repeats the question adds nothing.
            let _ = self.tried.add(query.clone());
        }
        self.plan = Some(plan);
        self.sub_questions = sub_questions;
        found
    }

    /// Weights the terms of the question by their rarity in what is searched.
    pub(super) fn weigh(&mut self, found: &Retrieved) {
        self.question = found.weigh(self.analyzer, &self.question.text);
        self.corpus_is_empty = found.chunks == 0;
    }

    /// Replaces the question before the first round; the former wording counts as tried.
    pub(super) fn ask_for(&mut self, question: &str) {
        self.question = Question::new(self.analyzer, question, 0, |_| 0);
        // One that equals the former wording adds nothing.
        let _ = self.tried.add(question.to_owned());
    }

    /// Words of the question that no document holds; none where there is nothing to search.
    pub(super) fn unknown_words(&self, ask: &AskContext) -> Vec<String> {
        let is_known = self.plan.is_some() && !self.corpus_is_empty && ask.knows_words();
        self.question.terms.unknown_words().filter(|_| is_known).map(str::to_owned).collect()
    }

    /// Adds a round; returns the number of its passages that no earlier round had found.
    pub(super) fn add_round(&mut self, found: &Retrieved, round: GradedRound) -> usize {
        let GradedRound { hits, answerability, missing, is_complete, .. } = round;
        let grades: Vec<_> = hits.iter().map(|hit| hit.verdict.grade).collect();
        let new = self.pool.add(hits.clone());
        self.rounds.push(Round { is_complete, ..Round::of(&grades, new) });
        self.last_round = hits;
        self.missing = missing;
        self.answerability = Some(self.answerability.map_or(answerability, |best| best.max(answerability)));
        self.corpus_is_empty = found.chunks == 0;
        new
    }

    /// Registers a rewritten query, unless it was tried. Without a new one the rewriter counts as exhausted.
    pub(super) fn add_query(&mut self, rewritten: Option<Rewording>) -> Option<Rewording> {
        let new = rewritten.filter(|rewording| self.tried.add(rewording.query.clone()).is_ok());
        self.rewriter_is_exhausted = new.is_none();
        new
    }

    pub(super) const fn is_first_round(&self) -> bool {
        self.rounds.is_empty()
    }

    pub(super) fn next_step(&self, ask: &AskContext) -> Step {
        corrective::next_step(&self.situation(ask, &self.rounds))
    }

    /// The step that would follow if this were the only round.
    pub(super) fn step_after(&self, ask: &AskContext, round: Round) -> Step {
        corrective::next_step(&self.situation(ask, &[round]))
    }

    fn situation<'s>(&'s self, ask: &AskContext, rounds: &'s [Round]) -> corrective::Situation<'s> {
        let settings = &ask.services.settings;
        corrective::Situation {
            settings: LoopSettings {
                min_correct_fraction: settings.min_correct_fraction,
                max_rewrite_attempts: settings.max_rewrite_attempts,
                on_insufficient: ask.request.on_insufficient,
            },
            has_content: !self.corpus_is_empty,
            rounds,
            rewriter_is_exhausted: self.rewriter_is_exhausted,
            fallback: self.fallback,
            calls: ask.step_calls(),
            calls_left: ask.budget.llm_calls_left(),
        }
    }
}
