//! Retrieval in stages: dense and lexical at the same time, fused, the best reranked, then grouped.

mod rerank;
mod sources;
mod stages;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

pub use stages::{Coverage, FilterTrace, Fusion, ListTrace, Mode, RerankTrace, RerankedBy, StageTrace, Stages};

use super::{ServiceError, embedders::Embedders};
pub use crate::store::{Passage, VectorScan};
use crate::{
    domain::{
        budget::Budget,
        citation::Urn,
        evidence::Inquiry,
        filter::Filter,
        fusion::{self, DenseWeight, FUSION_DEPTH, Fused, Scored},
        identity::{ChunkKey, TenantId},
        lexical::{
            analyzer::Analyzer,
            bm25::{QueryProfile, TermCounts, evidence_score},
            candidates::{candidate_budget, select_candidates},
            term_id::TermSalt,
        },
        origin::Origin,
    },
    providers::{Embedder, reranker::Reranker},
    store::{DenseHit, DenseQuery, LexicalHit, LexicalQuery, ProfileId, Scope, SearchedCollection, Selection, Store},
};

/// What to look for.
#[derive(Clone, Debug)]
pub struct RetrievalQuery<'a> {
    /// Whose documents.
    pub tenant: TenantId,
    /// Where.
    pub collections: &'a [SearchedCollection],
    /// In words.
    pub text: &'a str,
    /// How.
    pub stages: Stages,
    /// At most this many results.
    pub top_k: usize,
    /// Results below this score are left out.
    pub min_score: Option<f64>,
    /// What may be found.
    pub filter: &'a Filter,
}

/// A passage that was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hit {
    /// The passage; a hit is handed from stage to stage, its text is not copied.
    pub passage: Arc<Passage>,
    /// Cosine similarity; `None` when the dense half did not find it.
    pub dense: Option<f64>,
    /// BM25; `None` when the lexical half did not find it.
    pub lexical: Option<f64>,
    /// Fused score, which orders what is not reranked.
    pub fused: f64,
    /// Score of the reranker, which orders the first; `None` for what it did not look at.
    pub reranked: Option<f64>,
    /// Ordinal of the last chunk that the passage is merged from; its first is in its key.
    pub last_ordinal: u32,
    /// Passages that say the same elsewhere and have no place of their own, best first.
    pub duplicates: Vec<Arc<Passage>>,
}

impl Hit {
    /// Names the passage for good.
    #[must_use]
    pub fn urn(&self) -> Urn {
        urn_of(&self.passage, self.last_ordinal)
    }

    /// The chunks that the passage is merged from.
    pub fn keys(&self) -> impl Iterator<Item = ChunkKey> + use<> {
        let ChunkKey { document_id, ordinal } = self.passage.key;
        (ordinal..=self.last_ordinal).map(move |ordinal| ChunkKey { document_id, ordinal })
    }
}

/// A source made of passages that say the same or stand together.
#[derive(Clone, Debug)]
pub struct GroupedHit {
    /// Position of the passage that leads it among those that were grouped.
    pub leader: usize,
    /// The source.
    pub hit: Hit,
}

/// Names the chunks from the passage's own to another of the same document.
#[must_use]
pub fn urn_of(passage: &Passage, last_ordinal: u32) -> Urn {
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

/// What was found, and what it says about the question.
#[derive(Clone, Debug, Default)]
pub struct Retrieved {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Chunks in the collections.
    pub chunks: u64,
    /// What the question is judged with: the analyzer of the first collection.
    pub analyzer: &'static Analyzer,
    /// Best BM25 score over the query's idf mass: whether the collections hold what was asked for.
    pub evidence: f64,
    /// How many chunks hold each of the query's stems.
    pub document_frequencies: HashMap<String, u64>,
    /// How vectors were searched; `None` when they were not.
    pub scan: Option<VectorScan>,
    /// What each stage did.
    pub stages: StageTrace,
}

impl Retrieved {
    /// A question with its terms weighed by how rare they are in the collections.
    #[must_use]
    pub fn weigh(&self, analyzer: &Analyzer, question: &str) -> Inquiry {
        Inquiry::new(analyzer, question, self.chunks, |stem| self.document_frequency(stem))
    }

    /// How many chunks hold a stem.
    fn document_frequency(&self, stem: &str) -> u64 {
        self.document_frequencies.get(stem).copied().unwrap_or(0)
    }
}

/// Retrieval over one store.
#[derive(Clone)]
pub struct Retriever {
    store: Store,
    embedders: Embedders,
    reranker: Option<Reranker>,
}

#[derive(Default)]
struct LexicalResult {
    hits: Vec<LexicalHit>,
    evidence: f64,
    document_frequencies: HashMap<String, u64>,
    trace: Option<ListTrace>,
}

/// The query side of BM25.
struct Statistics {
    lexical_query: LexicalQuery,
    profiles: Vec<QueryProfile>,
}

impl Retriever {
    /// Retrieval with these embedders and, if there is one, this reranking model.
    #[must_use]
    pub const fn new(store: Store, embedders: Embedders, reranker: Option<Reranker>) -> Self {
        Self { store, embedders, reranker }
    }

    /// The named collections, in this order.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for the first that does not exist.
    pub async fn collections(
        &self,
        tenant: TenantId,
        names: &[String],
    ) -> Result<Vec<SearchedCollection>, ServiceError> {
        let found = self.store.find_collections(tenant, names).await?;
        names
            .iter()
            .map(|name| {
                let known = found.iter().find(|searched| searched.collection.name == *name);
                known.cloned().ok_or_else(|| ServiceError::no_collection(name))
            })
            .collect()
    }

    /// Finds passages. The two halves run at the same time, each on its own connection.
    ///
    /// # Errors
    /// Provider and store errors; [`ServiceError::Conflict`] when a collection lives in a vector space that no
    /// embedder of this service makes, or collections live in different ones.
    pub async fn retrieve(&self, query: &RetrievalQuery<'_>, budget: &Budget) -> Result<Retrieved, ServiceError> {
        let scope = Scope {
            collections: query.collections.iter().map(|searched| searched.collection.id).collect(),
            indexes: query.collections.iter().map(|searched| searched.collection.index).collect(),
        };
        let scope = &scope;
        let chunks = query.collections.iter().map(|searched| searched.chunks).sum();
        let selection = self.store.select(query.tenant, scope, chunks, query.filter).await?;
        let selection = &selection;
        let (dense, lexical) = match query.stages.mode {
            Mode::Hybrid => {
                let (dense, lexical) = tokio::try_join!(
                    self.dense(query, selection, scope, budget),
                    self.lexical(query, selection, scope)
                )?;
                (Some(dense), lexical)
            }
            // Reranking needs to know how rare the words are, whoever searched.
            Mode::Dense if query.stages.rerank => {
                let (dense, (_, lexical)) = tokio::try_join!(
                    self.dense(query, selection, scope, budget),
                    self.statistics(query, selection, scope)
                )?;
                (Some(dense), lexical)
            }
            Mode::Dense => (Some(self.dense(query, selection, scope, budget).await?), LexicalResult::default()),
            Mode::Lexical => (None, self.lexical(query, selection, scope).await?),
        };
        let mut stages =
            StageTrace { filter: FilterTrace::of(selection), lexical: lexical.trace, ..StageTrace::default() };
        let (dense_hits, scan) = dense.map_or((Vec::new(), None), |(hits, scan, trace)| {
            stages.dense = Some(trace);
            stages.coverage = Some(coverage(query.collections));
            (hits, scan)
        });
        let weight = match query.stages.mode {
            Mode::Hybrid => self.space_of(query.collections)?.1.dense_weight(),
            Mode::Dense | Mode::Lexical => DenseWeight::default(),
        };
        let fused = fuse(query, weight, &dense_hits, &lexical.hits);
        stages.fused = fused.len();
        let mut found = Retrieved {
            hits: Vec::new(),
            chunks,
            analyzer: judging_analyzer(query.collections),
            evidence: lexical.evidence,
            document_frequencies: lexical.document_frequencies,
            scan,
            stages,
        };
        found.hits = self.best_sources(query, fused, &mut found, budget).await?;
        Ok(found)
    }

    async fn dense(
        &self,
        query: &RetrievalQuery<'_>,
        selection: &Selection<'_>,
        scope: &Scope,
        budget: &Budget,
    ) -> Result<(Vec<DenseHit>, Option<VectorScan>, ListTrace), ServiceError> {
        let started = Instant::now();
        let (profile, embedder) = self.space_of(query.collections)?;
        let Coverage { embedded, .. } = coverage(query.collections);
        // Where no vector has been made yet, no model needs to be there.
        if embedded == 0 {
            return Ok((Vec::new(), None, ListTrace::since(started, 0)));
        }
        let tokens = u32::try_from(query.text.len() / 4).unwrap_or(u32::MAX);
        let vector = embedder.embed_query(query.text, budget.reserve_embedding(tokens)?).await?;
        let dense_query =
            DenseQuery { scope, profile, vector: &vector, vectors: embedded, selection, limit: depth(query.top_k) };
        let (hits, scan) = self.store.dense_search(query.tenant, &dense_query).await?;
        let trace = ListTrace::since(started, hits.len());
        Ok((hits, Some(scan), trace))
    }

    /// The one vector space that these collections live in.
    fn space_of(&self, collections: &[SearchedCollection]) -> Result<(ProfileId, &Arc<dyn Embedder>), ServiceError> {
        let mismatch = |detail: String| ServiceError::Conflict { code: "embedding_profile_mismatch", detail };
        let mut spaces = collections.iter().map(|searched| &searched.collection);
        let Some(first) = spaces.next() else { return Ok(self.embedders.primary()) };
        if let Some(other) = spaces.find(|other| other.profile_id != first.profile_id) {
            return Err(mismatch(format!(
                "collections {:?} and {:?} were embedded with {} and {}, whose vectors cannot be compared; search them \
                 one after the other, or with mode \"lexical\"",
                first.name, other.name, first.profile.model, other.profile.model
            )));
        }
        let embedder = self.embedders.of(first.profile_id).ok_or_else(|| {
            mismatch(format!(
                "collection {:?} was embedded with {} ({} dimensions), the service is configured for {}; configure \
                 that model again, search with mode \"lexical\", or ingest into a new collection",
                first.name,
                first.profile.model,
                first.profile.dimension,
                self.embedders.models().collect::<Vec<_>>().join(", "),
            ))
        })?;
        Ok((first.profile_id, embedder))
    }

    async fn lexical(
        &self,
        query: &RetrievalQuery<'_>,
        selection: &Selection<'_>,
        scope: &Scope,
    ) -> Result<LexicalResult, ServiceError> {
        let started = Instant::now();
        let (Statistics { lexical_query, profiles }, mut result) = self.statistics(query, selection, scope).await?;
        let limit = i32::try_from(depth(query.top_k)).unwrap_or(i32::MAX);
        result.hits = self.store.lexical_search(query.tenant, scope, &lexical_query, selection, limit).await?;
        let has_too_few = result.hits.len() < query.top_k && !query.filter.is_empty();
        if has_too_few && !selection.is_narrow() && !lexical_query.looks_at_all() {
            // The chunks with the rarer words do not pass; those with the commoner ones may.
            result.hits = self.store.lexical_within(query.tenant, scope, &lexical_query, selection, limit).await?;
        }
        let best = result.hits.first().map_or(0.0, |hit| f64::from(hit.score));
        result.evidence = profiles.iter().map(|profile| evidence_score(best, profile)).fold(0.0, f64::max);
        result.trace = Some(ListTrace::since(started, result.hits.len()));
        Ok(result)
    }

    /// The query's terms as the collections weigh them.
    async fn statistics(
        &self,
        query: &RetrievalQuery<'_>,
        selection: &Selection<'_>,
        scope: &Scope,
    ) -> Result<(Statistics, LexicalResult), ServiceError> {
        let stems: BTreeSet<String> = judging_analyzer(query.collections).terms(query.text).into_iter().collect();
        let per_collection: Vec<(&SearchedCollection, TermSalt, TermCounts)> = query
            .collections
            .iter()
            .map(|searched| {
                let salt = TermSalt::new(searched.collection.index.as_bytes());
                let analyzer = Analyzer::of(searched.collection.language);
                (searched, salt, TermCounts::of_text(analyzer, salt, query.text))
            })
            .collect();
        let terms: Vec<i32> = per_collection.iter().flat_map(|(_, _, counts)| counts.ids()).collect();
        let frequencies = self.store.document_frequencies(query.tenant, &scope.indexes, &terms).await?;
        let mut lexical_query = LexicalQuery::default();
        let mut result = LexicalResult::default();
        let mut profiles = Vec::with_capacity(per_collection.len());
        for (searched, salt, counts) in &per_collection {
            let known = frequencies.get(&searched.collection.index).cloned().unwrap_or_default();
            let profile = QueryProfile::new(counts, searched.chunks, &known);
            for stem in &stems {
                let frequency = known.get(&salt.term_id(stem)).copied().unwrap_or(0);
                *result.document_frequencies.entry(stem.clone()).or_default() += frequency;
            }
            // Of the candidates only those that pass the filter count.
            let budget = candidate_budget(searched.chunks).saturating_mul(selection.chunks_per_match());
            let candidates = select_candidates(&profile, budget);
            lexical_query.rare_terms.extend(candidates.rare);
            lexical_query.term_pairs.extend(candidates.pairs);
            lexical_query.spare_terms.extend(candidates.spare);
            lexical_query.weights.extend(profile.weights());
            profiles.push(profile);
        }
        lexical_query.weights.sort_by_key(|(term, _)| *term);
        lexical_query.weights.dedup_by_key(|(term, _)| *term);
        Ok((Statistics { lexical_query, profiles }, result))
    }
}

/// How much of the collections has vectors.
fn coverage(collections: &[SearchedCollection]) -> Coverage {
    Coverage {
        chunks: collections.iter().map(|searched| searched.chunks).sum(),
        embedded: collections.iter().map(|searched| searched.embedded_chunks).sum(),
    }
}

/// Questions over collections in several languages are judged in that of the first.
#[must_use]
pub fn judging_analyzer(collections: &[SearchedCollection]) -> &'static Analyzer {
    collections.first().map(|searched| Analyzer::of(searched.collection.language)).unwrap_or_default()
}

/// One ranking from both lists, best first, without what is below the request's score.
fn fuse(
    query: &RetrievalQuery<'_>,
    weight: DenseWeight,
    dense: &[DenseHit],
    lexical: &[LexicalHit],
) -> Vec<Fused<ChunkKey>> {
    let dense: Vec<Scored<ChunkKey>> =
        dense.iter().map(|hit| Scored { key: hit.key, score: f64::from(hit.similarity) }).collect();
    let lexical: Vec<Scored<ChunkKey>> =
        lexical.iter().map(|hit| Scored { key: hit.key, score: f64::from(hit.score) }).collect();
    let mut fused = match query.stages.fusion {
        Fusion::Weighted => fusion::fuse_weighted(&dense, &lexical, weight),
        Fusion::ReciprocalRank => fusion::fuse_reciprocal_rank(&dense, &lexical),
    };
    if query.stages.mode != Mode::Hybrid {
        // With one half there is nothing to fuse: its own score orders and is shown.
        for item in &mut fused {
            item.fused = item.dense.or(item.lexical).unwrap_or(0.0);
        }
    }
    if let Some(least) = query.min_score {
        fused.retain(|item| item.fused >= least);
    }
    fused
}

/// How deep each half searches: at least as deep as fusion scales scores over.
fn depth(top_k: usize) -> i64 {
    i64::try_from(top_k.max(FUSION_DEPTH)).unwrap_or(i64::MAX)
}
