//! One evaluation: loads a set's documents into a separate collection, sends its queries and questions to the API, and
//! measures the results.

mod load;

use std::collections::HashSet;

use thiserror::Error;
use tokio::time::Instant;

pub use self::load::{Loaded, NotIndexed};

use crate::{
    client::{Client, MOST_PASSAGES, Mode},
    measures::{
        answers::{AnswerFigures, OffCorpusFigures, QuestionFigures, Reply},
        claims::ClaimFigures,
        conversations::{ConversationFigures, FollowUp},
        retrieval::{DEPTH, QueryFigures, RetrievalFigures},
    },
    report::{ClaimsReport, ModeReport, OffCorpusReport, SetReport},
    set::{ClaimSet, Dataset, JudgedQuery, OffCorpus, SetFollowUp},
};

/// The measurements to make.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Prefix of the collections: each set gets a separate collection, called PREFIX-SET.
    pub collection_prefix: String,
    /// Whether such a collection may already exist with the documents of the set, and is kept.
    pub keep: bool,
    /// Ways to search.
    pub modes: Vec<Mode>,
    /// Whether the questions of the sets are asked.
    pub answers: bool,
    /// Whether the follow-up questions of conversations are asked.
    pub conversations: bool,
    /// Questions that the sets do not answer.
    pub off_corpus: Option<OffCorpus>,
}

/// The reason why an evaluation failed.
#[derive(Debug, Error)]
pub enum EvaluationError {
    /// A collection of that name already exists.
    #[error("there is a collection {0:?} already")]
    CollectionExists(String),
    /// No document could be indexed.
    #[error("none of the {} documents could be indexed; the first: {}", .0.documents, .0.first)]
    NotIndexed(NotIndexed),
    /// The collection holds a document that is not in the set; nothing was sent to it.
    #[error("collection {collection:?} holds {document:?}, which is not in the set; nothing was stored")]
    ForeignDocument {
        /// Its name.
        collection: String,
        /// Name of the document.
        document: String,
    },
    /// The collection holds more or fewer documents than the set.
    #[error("collection {collection:?} holds {stored} documents and the set has {expected}")]
    ForeignDocuments {
        /// Its name.
        collection: String,
        /// Documents in it.
        stored: u64,
        /// Documents of the set.
        expected: u64,
    },
    /// The service cannot be reached, or refuses a request.
    #[error("{service}: {detail}")]
    Service {
        /// URL of the service.
        service: String,
        /// Description of the failure.
        detail: String,
    },
}

/// The current work of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Documents are being indexed.
    Index,
    /// Queries are searched.
    Search(Mode),
    /// Questions of the set are asked.
    Ask,
    /// Questions of another set are asked.
    AskOffCorpus,
    /// Follow-up questions of conversations are asked.
    Converse,
    /// Claims are checked.
    Check,
    /// Documents that give orders are asked about.
    Attack,
}

/// An event while a set is measured.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Progress of the current work.
    Progress {
        /// The current work.
        work: Work,
        /// Items done.
        done: usize,
        /// Items in all.
        of: usize,
    },
    /// All documents are indexed.
    Loaded(&'a Loaded),
    /// All queries were searched.
    Searched(Mode, &'a RetrievalFigures),
}

/// The evaluation of one set by one service.
pub struct Evaluation<'a> {
    client: &'a Client,
    plan: &'a Plan,
    set: &'a Dataset,
    collection: String,
    observe: &'a (dyn Fn(Event<'_>) + Send + Sync),
}

impl<'a> Evaluation<'a> {
    /// An evaluation that reports its progress to `observe`.
    #[must_use]
    pub fn new(
        client: &'a Client,
        plan: &'a Plan,
        set: &'a Dataset,
        observe: &'a (dyn Fn(Event<'_>) + Send + Sync),
    ) -> Self {
        let collection = format!("{}-{}", plan.collection_prefix, set.name);
        Self { client, plan, set, collection, observe }
    }

    /// Creates the collection of the set.
    ///
    /// # Errors
    /// [`EvaluationError::CollectionExists`] unless it may be kept, [`EvaluationError::ForeignDocument`] if it is one of
    /// other documents; failures of the service.
    pub async fn open(&self) -> Result<(), EvaluationError> {
        self.client.create_collection(&self.collection, self.plan.keep).await?;
        if !self.plan.keep {
            return Ok(());
        }
        match self.client.foreign_document(&self.collection, &self.set.documents).await? {
            None => Ok(()),
            Some(document) => Err(EvaluationError::ForeignDocument { collection: self.collection.clone(), document }),
        }
    }

    /// Deletes the collection of the set, unless it is kept.
    ///
    /// # Errors
    /// Failures of the service.
    pub async fn close(&self) -> Result<(), EvaluationError> {
        if self.plan.keep { Ok(()) } else { self.client.delete_collection(&self.collection).await }
    }

    /// The collection of the set.
    #[must_use]
    pub fn collection(&self) -> &str {
        &self.collection
    }

    /// Indexes the documents and measures everything that is planned.
    ///
    /// # Errors
    /// A set of which no document can be indexed, documents that are not of the set, failures of the service. A document
    /// that cannot be indexed, a rejected answer and a reached time limit are figures, not errors.
    pub async fn measure(&self) -> Result<SetReport, EvaluationError> {
        let loaded = self.load().await?;
        (self.observe)(Event::Loaded(&loaded));
        self.settle().await?;
        let mut report = SetReport {
            name: self.set.name.clone(),
            documents: loaded.documents,
            chunks: loaded.chunks,
            ingest_s: loaded.duration.as_secs_f64(),
            not_indexed: loaded.not_indexed,
            ..SetReport::default()
        };
        for mode in &self.plan.modes {
            if let Some(figures) = self.measure_retrieval(*mode).await? {
                (self.observe)(Event::Searched(*mode, &figures));
                report.retrieval.push(ModeReport { mode: mode.as_str(), figures });
            }
        }
        let mut asked = Vec::new();
        if self.plan.answers && !self.set.questions.is_empty() {
            asked = self.measure_answers().await?;
            report.answers = Some(AnswerFigures::of(&asked));
        }
        if let Some(foreign) = &self.plan.off_corpus
            && foreign.name != self.set.name
        {
            let figures = OffCorpusFigures::of(&self.ask_off_corpus(foreign).await?, &asked);
            report.off_corpus = Some(OffCorpusReport { from: foreign.name.clone(), figures });
        }
        if self.plan.conversations {
            report.conversations = self.measure_conversations().await?;
        }
        Ok(report)
    }

    /// Searches for each query and measures the rankings; `None` without queries. One after the other, so that
    /// durations are those of a search alone.
    async fn measure_retrieval(&self, mode: Mode) -> Result<Option<RetrievalFigures>, EvaluationError> {
        let queries = &self.set.queries;
        let mut measured = Vec::with_capacity(queries.len());
        for (done, query) in queries.iter().enumerate() {
            self.report_progress(Work::Search(mode), done, queries.len());
            let (ranked, duration_ms) = self.rank_documents(query, mode).await?;
            measured.extend(QueryFigures::of(&ranked, &query.judgements, duration_ms));
        }
        Ok(RetrievalFigures::of(&measured))
    }

    /// Documents by their best chunk, best first, repeated for each chunk: as many as are measured, if the collection
    /// has them. Several chunks may belong to one document, so the search goes deeper until there are enough; the
    /// duration is that of the first search alone.
    async fn rank_documents(&self, query: &JudgedQuery, mode: Mode) -> Result<(Vec<String>, f64), EvaluationError> {
        let (mut top_k, mut duration_ms) = (DEPTH, None);
        loop {
            let started = Instant::now();
            let found = self.client.search(&self.collection, &query.text, mode, top_k).await?;
            let duration_ms = *duration_ms.get_or_insert(started.elapsed().as_secs_f64() * 1_000.0);
            let ranked: Vec<String> = found.into_iter().map(|result| result.source).collect();
            let is_all = ranked.len() < top_k || top_k == MOST_PASSAGES;
            if is_all || ranked.iter().collect::<HashSet<_>>().len() >= DEPTH {
                return Ok((ranked, duration_ms));
            }
            top_k = (top_k * 2).min(MOST_PASSAGES);
        }
    }

    /// Asks each question and compares the reply with the set.
    async fn measure_answers(&self) -> Result<Vec<QuestionFigures>, EvaluationError> {
        let questions = &self.set.questions;
        let mut measured = Vec::with_capacity(questions.len());
        for (done, question) in questions.iter().enumerate() {
            self.report_progress(Work::Ask, done, questions.len());
            let found = self.client.first_documents(&self.collection, &question.text).await?;
            let reply = self.client.ask(&self.collection, &question.id, &question.text).await?;
            measured.push(QuestionFigures::of(question, &found, &reply));
        }
        Ok(measured)
    }

    /// Asks questions that the documents do not answer.
    async fn ask_off_corpus(&self, foreign: &OffCorpus) -> Result<Vec<Reply>, EvaluationError> {
        let mut replies = Vec::with_capacity(foreign.queries.len());
        for (done, query) in foreign.queries.iter().enumerate() {
            self.report_progress(Work::AskOffCorpus, done, foreign.queries.len());
            replies.push(self.client.ask(&self.collection, &query.id, &query.text).await?);
        }
        Ok(replies)
    }

    /// Asks each follow-up question alone and with the conversation before it, and compares what is found.
    async fn measure_conversations(&self) -> Result<Option<ConversationFigures>, EvaluationError> {
        let follow_ups = &self.set.follow_ups;
        let mut measured = Vec::with_capacity(follow_ups.len());
        for (done, SetFollowUp { messages, judgements, .. }) in follow_ups.iter().enumerate() {
            self.report_progress(Work::Converse, done, follow_ups.len());
            let question = messages.len().saturating_sub(1);
            let alone = messages.get(question..).unwrap_or_default();
            let found = FollowUp {
                alone: self.client.found_for(&self.collection, alone).await?,
                in_conversation: self.client.found_for(&self.collection, messages).await?,
            };
            measured.push((found, judgements));
        }
        Ok(ConversationFigures::of(&measured))
    }

    fn report_progress(&self, work: Work, done: usize, of: usize) {
        (self.observe)(Event::Progress { work, done, of });
    }
}

/// Checks the claims of a set, each against its own text.
///
/// # Errors
/// Failures of the service.
pub async fn measure_claims(
    client: &Client,
    set: &ClaimSet,
    observe: &(dyn Fn(Event<'_>) + Send + Sync),
) -> Result<ClaimsReport, EvaluationError> {
    let mut checked = Vec::with_capacity(set.claims.len());
    for (done, claim) in set.claims.iter().enumerate() {
        observe(Event::Progress { work: Work::Check, done, of: set.claims.len() });
        checked.push(client.check(claim).await?);
    }
    Ok(ClaimsReport { name: set.name.clone(), sources: ClaimFigures::by_source(&checked) })
}
