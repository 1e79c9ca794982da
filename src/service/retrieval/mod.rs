//! Retrieval in stages: dense and lexical at the same time, fused, the best reranked, then grouped.

mod bounded_cache;
mod dense;
mod fuse;
mod hit;
mod lexical;
mod list;
mod passage_cache;
mod query;
mod rerank;
mod result_cache;
mod seen;
mod seen_frequencies;
mod sources;
mod stages;
mod whole;

use std::{collections::HashMap, sync::Arc};

pub(crate) use hit::{GroupedHit, Hit, full_title, urn_of};
pub(crate) use query::RetrievalQuery;
pub(crate) use stages::{Coverage, FilterTrace, Fusion, ListTrace, Mode, RerankTrace, RerankedBy, StageTrace, Stages};
pub(crate) use whole::Whole;

use self::{
    lexical::LexicalResult,
    passage_cache::PassageCache,
    result_cache::{ResultCache, ResultKey},
    seen::SeenCache,
    seen_frequencies::SeenFrequencies,
};
use super::{ServiceError, embedders::Embedders, principals::principal_numbers};
pub(crate) use crate::store::{Passage, VectorScan};
use crate::{
    domain::{
        access::Grant, budget::Budget, evidence::Question, filter::Filter, fusion::DenseWeight,
        lexical::analyzer::Analyzer,
    },
    providers::reranker::Reranker,
    store::{Scope, SearchedCollection, Seen, Selection, Store},
};

/// The passages found, and the statistics by which their answer to the question is judged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Retrieved {
    /// Best first.
    pub(crate) hits: Vec<Hit>,
    /// Chunks in the collections, as far as the caller may see them.
    pub(crate) chunks: u64,
    /// The same of each collection, by its name.
    pub(crate) sizes: HashMap<String, u64>,
    /// The analyzer of the first collection, used to judge the question.
    pub(crate) analyzer: &'static Analyzer,
    /// Share of the vectors in the fused ranking.
    pub(crate) dense_weight: DenseWeight,
    /// Best BM25 score over the query's idf mass: indicates whether the collections contain the requested information.
    pub(crate) evidence: f64,
    /// How many chunks hold each of the query's stems.
    pub(crate) document_frequencies: HashMap<String, u64>,
    /// How vectors were searched; `None` if they were not.
    pub(crate) scan: Option<VectorScan>,
    /// Figures of each stage.
    pub(crate) stages: StageTrace,
    /// The caller that they were found for, as in the filter.
    pub(crate) caller: Option<Vec<i32>>,
}

impl Retrieved {
    /// A question whose terms are weighted by their rarity in the collections.
    #[must_use]
    pub(crate) fn weigh(&self, analyzer: &Analyzer, question: &str) -> Question {
        Question::new(analyzer, question, self.chunks, |stem| self.document_frequency(stem))
    }

    /// The cosine to assume for a passage whose vector was not found: 0 where every chunk has one; unknown where vectors
    /// were not searched, or some are missing.
    #[must_use]
    pub(crate) fn dense_floor(&self) -> Option<f32> {
        let is_whole = self.stages.coverage.as_ref().is_some_and(|coverage| coverage.embedded == coverage.chunks);
        is_whole.then_some(0.0)
    }

    /// How many chunks hold a stem.
    fn document_frequency(&self, stem: &str) -> u64 {
        self.document_frequencies.get(stem).copied().unwrap_or(0)
    }
}

/// Retrieval over one store.
#[derive(Clone)]
pub(crate) struct Retriever {
    store: Store,
    embedders: Embedders,
    reranker: Option<Reranker>,
    fetch_k: usize,
    passages: Arc<PassageCache>,
    results: Arc<ResultCache>,
    seen: Arc<SeenCache>,
    seen_frequencies: Arc<SeenFrequencies>,
}

/// Settings of retrieval.
#[derive(Clone, Copy, Debug)]
pub struct RetrievalSettings {
    /// Number of passages that each half finds, and of fused ones that are reranked.
    pub fetch_k: usize,
    /// Bytes of passages, results and counts of what callers may see that are kept in memory for later questions.
    pub passage_cache_bytes: usize,
}

impl Retriever {
    /// Retrieval with these embedders and, if configured, this reranking model.
    #[must_use]
    pub(crate) fn new(
        store: Store,
        embedders: Embedders,
        reranker: Option<Reranker>,
        settings: RetrievalSettings,
    ) -> Self {
        let bytes = settings.passage_cache_bytes;
        let (for_results, for_counts) = (bytes / 4, bytes / 32);
        let results = Arc::new(ResultCache::new(for_results));
        let passages = Arc::new(PassageCache::new(bytes - for_results - 2 * for_counts));
        let seen = Arc::new(SeenCache::new(for_counts));
        let seen_frequencies = Arc::new(SeenFrequencies::new(for_counts));
        Self { store, embedders, reranker, fetch_k: settings.fetch_k, passages, results, seen, seen_frequencies }
    }

    /// How many passages each half finds for the query.
    fn depth(&self, query: &RetrievalQuery<'_>) -> usize {
        query.top_k.max(self.fetch_k)
    }

    /// The named collections, in this order, and a filter of them, both bound to what the caller may see. A collection that the
    /// caller may not see does not exist for it, and is not looked for: it takes no other time than one that does not exist.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for the first that does not exist.
    pub(crate) async fn bind(
        &self,
        grant: &Grant,
        names: &[String],
        filter: &Filter,
    ) -> Result<(Vec<SearchedCollection>, Filter), ServiceError> {
        let reached: Vec<String> = names.iter().filter(|name| grant.reaches(name)).cloned().collect();
        let found = self.store.collections().find_collections(grant.tenant(), &reached).await?;
        let by_name = |name: &String| {
            let found = found.iter().find(|searched| searched.collection.name == *name);
            found.cloned().ok_or_else(|| ServiceError::no_collection(name))
        };
        let mut collections = names.iter().map(by_name).collect::<Result<Vec<_>, _>>()?;
        // Read after the revisions: a principal that a later list names is known then.
        let caller = principal_numbers(&self.store, grant).await?;
        self.seen.count(&self.store, grant.tenant(), caller.as_deref(), &mut collections).await?;
        Ok((collections, Filter { caller, ..filter.clone() }))
    }

    /// Finds passages, or knows from an earlier search which would be found.
    ///
    /// # Errors
    /// Provider and store errors; [`ServiceError::Conflict`] when a collection uses a vector space that no embedder of
    /// this service supports, or when the collections use different ones.
    pub(crate) async fn retrieve(
        &self,
        query: &RetrievalQuery<'_>,
        budget: &Budget,
    ) -> Result<Retrieved, ServiceError> {
        // A model that reranks may judge otherwise the next time.
        let is_of_model = self.reranker.is_some() && query.stages.rerank;
        let Some(key) = ResultKey::of(query).filter(|_| !is_of_model) else {
            return self.search(query, budget).await;
        };
        if let Some(kept) = self.results.get(key, query) {
            return Ok(kept);
        }
        let found = self.search(query, budget).await?;
        self.results.keep(key, &found);
        Ok(found)
    }

    /// How much passes the filter: known where the caller is all of it and what it may see is counted, else estimated.
    async fn select<'a>(
        &self,
        query: &RetrievalQuery<'_>,
        scope: &Scope,
        filter: &'a Filter,
    ) -> Result<Selection<'a>, ServiceError> {
        if filter.is_caller_alone() && query.collections.iter().all(|searched| searched.seen != Seen::Uncounted) {
            return Ok(Selection::counted(filter, query.chunks(), query.seen_chunks()));
        }
        Ok(self.store.search().select(query.tenant, scope, query.chunks(), filter).await?)
    }

    /// Searches. The two halves run at the same time, each on its own connection.
    async fn search(&self, query: &RetrievalQuery<'_>, budget: &Budget) -> Result<Retrieved, ServiceError> {
        let scope = Scope {
            collections: query.collections.iter().map(|searched| searched.collection.id).collect(),
            indexes: query.collections.iter().map(|searched| searched.collection.index).collect(),
        };
        let scope = &scope;
        let filter = query.searched_filter();
        let selection = &self.select(query, scope, &filter).await?;
        let (dense, lexical) = match query.stages.mode {
            Mode::Hybrid => {
                let (dense, lexical) = tokio::try_join!(
                    self.dense(query, selection, scope, budget),
                    self.lexical(query, selection, scope)
                )?;
                (Some(self.search_again(query, selection, scope, (dense, &lexical.hits)).await?), lexical)
            }
            // Reranking requires the rarity of the words even if only vectors are searched.
            Mode::Dense if query.stages.rerank => {
                let (dense, (_, lexical)) =
                    tokio::try_join!(self.dense(query, selection, scope, budget), self.statistics(query, selection))?;
                (Some(dense), lexical)
            }
            Mode::Dense => (Some(self.dense(query, selection, scope, budget).await?), LexicalResult::default()),
            Mode::Lexical => (None, self.lexical(query, selection, scope).await?),
        };
        let mut stages =
            StageTrace { filter: FilterTrace::of(selection), lexical: lexical.trace, ..StageTrace::default() };
        stages.hides_counts = query.may_hide_documents();
        if let Some(dense) = &dense {
            stages.dense = Some(dense.trace);
            stages.coverage = Some(coverage(query.collections));
        }
        let dense_hits = dense.as_ref().map_or(&[][..], |dense| &dense.hits);
        let lists = fuse::Lists::of(dense_hits, &lexical);
        let dense_weight = match query.stages.mode {
            Mode::Hybrid => self.space_of(query.collections)?.1.dense_weight().unwrap_or_else(|| lists.dense_weight()),
            Mode::Dense | Mode::Lexical => DenseWeight::default(),
        };
        let fused = lists.fuse(query, dense_weight);
        stages.fused = fused.len();
        let mut found = Retrieved {
            hits: Vec::new(),
            chunks: query.seen_chunks(),
            sizes: sizes(query.collections),
            analyzer: judging_analyzer(query.collections),
            dense_weight,
            evidence: lexical.evidence,
            document_frequencies: lexical.document_frequencies,
            scan: dense.as_ref().and_then(|dense| dense.scan),
            stages,
            caller: query.filter.caller.clone(),
        };
        found.hits = self.best_sources(query, fused, &mut found, budget).await?;
        if let Some(dense) = dense {
            self.compare(query, scope, dense, &mut found.hits).await?;
        }
        Ok(found)
    }
}

/// The size of each collection, as far as the caller may see it.
fn sizes(collections: &[SearchedCollection]) -> HashMap<String, u64> {
    collections.iter().map(|searched| (searched.collection.name.clone(), searched.seen_chunks().chunks)).collect()
}

/// The share of the collections that has vectors.
fn coverage(collections: &[SearchedCollection]) -> Coverage {
    Coverage {
        chunks: collections.iter().map(|searched| searched.seen_chunks().chunks).sum(),
        embedded: collections.iter().map(|searched| searched.seen_chunks().embedded_chunks).sum(),
    }
}

/// Questions over collections in several languages are judged in the language of the first.
#[must_use]
pub(crate) fn judging_analyzer(collections: &[SearchedCollection]) -> &'static Analyzer {
    collections.first().map(|searched| Analyzer::of(searched.collection.language)).unwrap_or_default()
}
