//! Retrieval in stages: dense and lexical at the same time, fused, the best reranked, then grouped.

mod bounded_cache;
mod dense;
mod fuse;
mod lexical;
mod passage_cache;
mod rerank;
mod result_cache;
mod sources;
mod stages;

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub(crate) use stages::{Coverage, FilterTrace, Fusion, ListTrace, Mode, RerankTrace, RerankedBy, StageTrace, Stages};

use self::{
    lexical::LexicalResult,
    passage_cache::PassageCache,
    result_cache::{ResultCache, ResultKey},
};
use super::{ServiceError, embedders::Embedders, principals::principal_numbers};
pub(crate) use crate::store::{Passage, VectorScan};
use crate::{
    domain::{
        access::Grant,
        budget::Budget,
        citation::Urn,
        evidence::Question,
        filter::Filter,
        fusion::DenseWeight,
        identity::{ChunkKey, TenantId},
        lexical::analyzer::Analyzer,
        origin::Origin,
    },
    providers::reranker::Reranker,
    store::{Scope, SearchedCollection, Store},
};

/// Largest collection, in chunks, of which it is counted how many a caller may see: each document is looked at.
const MOST_CHUNKS_COUNTED: u64 = 10_000;

/// One search.
#[derive(Clone, Debug)]
pub(crate) struct RetrievalQuery<'a> {
    /// The owner of the documents.
    pub(crate) tenant: TenantId,
    /// The collections to search.
    pub(crate) collections: &'a [SearchedCollection],
    /// The query text.
    pub(crate) text: &'a str,
    /// Another wording of the query, searched together with it: the scores for both are added.
    pub(crate) other_wording: Option<&'a str>,
    /// Which stages run.
    pub(crate) stages: Stages,
    /// At most this many results.
    pub(crate) top_k: usize,
    /// Results below this score are left out.
    pub(crate) min_score: Option<f64>,
    /// Restricts the passages that may be found.
    pub(crate) filter: &'a Filter,
}

impl<'a> RetrievalQuery<'a> {
    /// The query text, and the other wording if there is one.
    fn wordings(&self) -> Vec<&'a str> {
        std::iter::once(self.text).chain(self.other_wording).collect()
    }

    /// The filter that passages are searched by: without the caller where no document ever had an access control list. What
    /// is found is held against the lists again when it is read.
    fn searched_filter(&self) -> Cow<'a, Filter> {
        if self.may_hide_documents() || self.filter.caller.is_none() {
            return Cow::Borrowed(self.filter);
        }
        Cow::Owned(Filter { caller: None, ..self.filter.clone() })
    }

    /// Whether there may be documents that the caller may not see.
    fn may_hide_documents(&self) -> bool {
        self.filter.caller.is_some() && self.collections.iter().any(|searched| searched.collection.is_restricted)
    }
}

/// A passage found by retrieval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hit {
    /// The passage; shared, since a hit passes through the stages without its text being copied.
    pub(crate) passage: Arc<Passage>,
    /// Cosine similarity; `None` where vectors were not searched or it has none.
    pub(crate) dense: Option<f64>,
    /// BM25; `None` when the lexical half did not find it.
    pub(crate) lexical: Option<f64>,
    /// Fused score, by which hits that are not reranked are ordered.
    pub(crate) fused: f64,
    /// Score of the reranker, by which the first hits are ordered; `None` for hits that were not reranked.
    pub(crate) reranked: Option<f64>,
    /// Ordinal of the last chunk that the passage is merged from; its first is in its key.
    pub(crate) last_ordinal: u32,
    /// Duplicates of the passage elsewhere, which are not results of their own, best first.
    pub(crate) duplicates: Vec<Arc<Passage>>,
}

impl Hit {
    /// Permanent identifier of the passage.
    #[must_use]
    pub(crate) fn urn(&self) -> Urn {
        urn_of(&self.passage, self.last_ordinal)
    }

    /// The chunks that the passage is merged from.
    pub(crate) fn keys(&self) -> impl Iterator<Item = ChunkKey> + use<> {
        let ChunkKey { document_id, ordinal } = self.passage.key;
        (ordinal..=self.last_ordinal).map(move |ordinal| ChunkKey { document_id, ordinal })
    }

    /// Title of the passage as it was indexed.
    #[must_use]
    pub(crate) fn title(&self) -> String {
        let Passage { title, heading, table_header, .. } = self.passage.as_ref();
        full_title(title, heading, table_header.as_deref())
    }
}

/// The title of a passage: that of the document, the heading path, and the header of the table that it begins in.
#[must_use]
pub(crate) fn full_title(document: &str, heading: &[String], table_header: Option<&str>) -> String {
    let heading = heading.iter().map(String::as_str);
    std::iter::once(document).chain(heading).chain(table_header).collect::<Vec<_>>().join(" ")
}

/// A source made of passages that duplicate each other or are adjacent.
#[derive(Clone, Debug)]
pub(crate) struct GroupedHit {
    /// Position of its leading passage among those that were grouped.
    pub(crate) leader: usize,
    /// The source.
    pub(crate) hit: Hit,
}

/// Identifies the chunks from the passage's own to another of the same document.
#[must_use]
pub(crate) fn urn_of(passage: &Passage, last_ordinal: u32) -> Urn {
    if passage.origin == Origin::Web {
        return Urn::web(&passage.uri, &passage.content_hash);
    }
    Urn::spanning(
        &passage.collection,
        passage.key.document_id.to_string(),
        passage.version,
        passage.key.ordinal..=last_ordinal,
    )
    .expect("collections have names and versions start at 1: the API and the schema see to it")
}

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
}

/// Settings of retrieval.
#[derive(Clone, Copy, Debug)]
pub struct RetrievalSettings {
    /// Number of passages that each half finds, and of fused ones that are reranked.
    pub fetch_k: usize,
    /// Bytes of passages and results that are kept in memory for later questions.
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
        let for_results = settings.passage_cache_bytes / 4;
        let results = Arc::new(ResultCache::new(for_results));
        let passages = Arc::new(PassageCache::new(settings.passage_cache_bytes - for_results));
        Self { store, embedders, reranker, fetch_k: settings.fetch_k, passages, results }
    }

    /// How many passages each half finds for the query.
    fn depth(&self, query: &RetrievalQuery<'_>) -> usize {
        query.top_k.max(self.fetch_k)
    }

    /// The named collections, in this order. One that the caller may not see does not exist for it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for the first that does not exist.
    pub(crate) async fn collections(
        &self,
        grant: &Grant,
        names: &[String],
    ) -> Result<Vec<SearchedCollection>, ServiceError> {
        let mut found = self.store.collections().find_collections(grant.tenant(), names).await?;
        self.count_seen(grant, &mut found).await?;
        names
            .iter()
            .map(|name| {
                let known = found.iter().find(|searched| searched.collection.name == *name);
                known.filter(|_| grant.reaches(name)).cloned().ok_or_else(|| ServiceError::no_collection(name))
            })
            .collect()
    }

    /// Counts what the caller may see of collections in which documents may be hidden from it. Else the number of hidden
    /// chunks would show in the weights of words, and a collection of hidden documents would not be an empty one.
    async fn count_seen(&self, grant: &Grant, found: &mut [SearchedCollection]) -> Result<(), ServiceError> {
        let is_counted = |one: &SearchedCollection| one.collection.is_restricted && one.chunks <= MOST_CHUNKS_COUNTED;
        let counted = found.iter().filter(|one| is_counted(one)).map(|one| one.collection.id);
        let counted: Vec<Uuid> = counted.collect();
        if counted.is_empty() {
            return Ok(());
        }
        let Some(caller) = principal_numbers(&self.store, grant).await? else { return Ok(()) };
        let seen = self.store.collections().seen_chunks(grant.tenant(), &counted, &caller).await?;
        for one in found.iter_mut().filter(|one| is_counted(one)) {
            let (chunks, unembedded) = seen.get(&one.collection.index).copied().unwrap_or_default();
            one.seen_chunks = chunks;
            one.seen_embedded_chunks = chunks.saturating_sub(unembedded);
        }
        Ok(())
    }

    /// The filter of a request, bound to what its caller may see.
    ///
    /// # Errors
    /// Store failures.
    pub(crate) async fn bound_filter(&self, grant: &Grant, filter: &Filter) -> Result<Filter, ServiceError> {
        let caller = principal_numbers(&self.store, grant).await?;
        Ok(Filter { caller, ..filter.clone() })
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

    /// Searches. The two halves run at the same time, each on its own connection.
    async fn search(&self, query: &RetrievalQuery<'_>, budget: &Budget) -> Result<Retrieved, ServiceError> {
        let scope = Scope {
            collections: query.collections.iter().map(|searched| searched.collection.id).collect(),
            indexes: query.collections.iter().map(|searched| searched.collection.index).collect(),
        };
        let scope = &scope;
        let chunks = query.collections.iter().map(|searched| searched.chunks).sum();
        let filter = query.searched_filter();
        let selection = self.store.search().select(query.tenant, scope, chunks, &filter).await?;
        let selection = &selection;
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
        stages.hides_counts = filter.caller.is_some();
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
            chunks: query.collections.iter().map(|searched| searched.seen_chunks).sum(),
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
    collections.iter().map(|searched| (searched.collection.name.clone(), searched.seen_chunks)).collect()
}

/// The share of the collections that has vectors.
fn coverage(collections: &[SearchedCollection]) -> Coverage {
    Coverage {
        chunks: collections.iter().map(|searched| searched.seen_chunks).sum(),
        embedded: collections.iter().map(|searched| searched.seen_embedded_chunks).sum(),
    }
}

/// Questions over collections in several languages are judged in the language of the first.
#[must_use]
pub(crate) fn judging_analyzer(collections: &[SearchedCollection]) -> &'static Analyzer {
    collections.first().map(|searched| Analyzer::of(searched.collection.language)).unwrap_or_default()
}
