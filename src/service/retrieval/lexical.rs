//! The lexical half: passages that contain the words of the query, weighted by BM25.

use std::{collections::HashMap, sync::Arc};

use tokio::time::Instant;
use uuid::Uuid;

use super::{ListTrace, RetrievalQuery, Retriever, judging_analyzer};
use crate::{
    domain::{
        conversation::Rarity,
        lexical::{
            analyzer::Analyzer,
            bm25::{AskedCollection, QueryProfile, QueryStems, evidence_score},
            candidates::{Candidates, candidate_budget, select_candidates},
            language::Language,
            question_words::question_stems,
            term_id::TermSalt,
        },
    },
    service::ServiceError,
    store::{LexicalHit, LexicalQuery, Scope, SearchedCollection, Selection},
};

/// Passages found by their words, with the rarity of these words.
#[derive(Default)]
pub(super) struct LexicalResult {
    pub(super) hits: Vec<LexicalHit>,
    pub(super) evidence: f64,
    pub(super) document_frequencies: HashMap<String, u64>,
    pub(super) trace: Option<ListTrace>,
}

/// The query side of BM25.
pub(super) struct Statistics {
    lexical_query: LexicalQuery,
    profile: QueryProfile,
}

/// A collection as the query meets it: its stems in the language of the collection, and the salt of its term ids.
struct Asked<'a> {
    searched: &'a SearchedCollection,
    stems: Arc<QueryStems>,
    salt: TermSalt,
}

impl Retriever {
    /// Runs the lexical half.
    pub(super) async fn lexical(
        &self,
        query: &RetrievalQuery<'_>,
        selection: &Selection<'_>,
        scope: &Scope,
    ) -> Result<LexicalResult, ServiceError> {
        let started = Instant::now();
        let (Statistics { lexical_query, profile }, mut result) = self.statistics(query, selection).await?;
        let limit = i32::try_from(self.depth(query)).unwrap_or(i32::MAX);
        result.hits = self.store.search().lexical_search(query.tenant, scope, &lexical_query, selection, limit).await?;
        let has_too_few = result.hits.len() < query.top_k && !query.searched_filter().is_empty();
        if has_too_few && !selection.is_narrow() && !lexical_query.looks_at_all() {
            // The chunks with the rarer words do not pass the filter; those with the commoner ones may.
            result.hits =
                self.store.search().lexical_within(query.tenant, scope, &lexical_query, selection, limit).await?;
        }
        let best = result.hits.first().map_or(0.0, |hit| f64::from(hit.score));
        result.evidence = evidence_score(best, &profile);
        result.trace = Some(ListTrace::since(started, result.hits.len()));
        Ok(result)
    }

    /// The query's terms with their weights in all collections, as if they were one.
    pub(super) async fn statistics(
        &self,
        query: &RetrievalQuery<'_>,
        selection: &Selection<'_>,
    ) -> Result<(Statistics, LexicalResult), ServiceError> {
        let asked = asked(query.collections, &query.wordings());
        let frequencies = self.frequencies(query, &asked).await?;
        let collections: Vec<AskedCollection<'_>> = asked
            .iter()
            .map(|each| AskedCollection {
                stems: &each.stems,
                salt: each.salt,
                chunks: each.searched.seen_chunks().chunks,
                document_frequencies: frequencies.of(each),
            })
            .collect();
        let profile = QueryProfile::new(&collections);
        let stems = question_stems(judging_analyzer(query.collections), query.text);
        let document_frequencies = frequencies.by_stem(&asked, stems);
        let result = LexicalResult { document_frequencies, ..LexicalResult::default() };
        // Only candidates that pass the filter count.
        let budget = candidate_budget(query.chunks()).saturating_mul(selection.chunks_per_match());
        let Candidates { rare, pairs, spare } = select_candidates(&profile, budget);
        let lexical_query =
            LexicalQuery { rare_terms: rare, term_pairs: pairs, spare_terms: spare, weights: profile.weights() };
        Ok((Statistics { lexical_query, profile }, result))
    }

    /// How rare the words of a query are in its collections.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn rarity(&self, query: &RetrievalQuery<'_>) -> Result<Rarity, ServiceError> {
        let asked = asked(query.collections, &[query.text]);
        let frequencies = self.frequencies(query, &asked).await?;
        let stems = question_stems(judging_analyzer(query.collections), query.text);
        Ok(Rarity { chunks: query.seen_chunks(), document_frequencies: frequencies.by_stem(&asked, stems) })
    }

    async fn frequencies(&self, query: &RetrievalQuery<'_>, asked: &[Asked<'_>]) -> Result<Frequencies, ServiceError> {
        let (indexes, terms): (Vec<Uuid>, Vec<i32>) = asked
            .iter()
            .flat_map(|Asked { searched, stems, salt }| stems.ids(*salt).map(|id| (searched.collection.index, id)))
            .unzip();
        let mut by_index = self.store.search().document_frequencies(query.tenant, &indexes, &terms).await?;
        if let Some(caller) = &query.searched_filter().caller {
            let of = (&self.store, query.tenant);
            self.seen_frequencies.lower(of, caller, query.collections, &mut by_index).await?;
        }
        Ok(Frequencies { by_index, unknown: HashMap::new() })
    }
}

/// The number of chunks that hold each term, by index and term id.
struct Frequencies {
    by_index: HashMap<Uuid, HashMap<i32, u64>>,
    /// Those of an index that has none of the terms.
    unknown: HashMap<i32, u64>,
}

impl Frequencies {
    fn of(&self, asked: &Asked<'_>) -> &HashMap<i32, u64> {
        self.by_index.get(&asked.searched.collection.index).unwrap_or(&self.unknown)
    }

    /// The number of chunks of all collections that hold each stem.
    fn by_stem(&self, asked: &[Asked<'_>], stems: Vec<String>) -> HashMap<String, u64> {
        let in_chunks = |stem: &str| asked.iter().filter_map(|each| self.of(each).get(&each.salt.term_id(stem))).sum();
        stems.into_iter().map(|stem| (stem.clone(), in_chunks(&stem))).collect()
    }
}

/// Collections with the stems of a query, in all its wordings, in the language of each.
fn asked<'a>(collections: &'a [SearchedCollection], wordings: &[&str]) -> Vec<Asked<'a>> {
    let mut by_language: HashMap<Language, Arc<QueryStems>> = HashMap::new();
    let mut stems_in = |language: Language| {
        let stems = by_language
            .entry(language)
            .or_insert_with(|| Arc::new(QueryStems::of_texts(Analyzer::of(language), wordings)));
        Arc::clone(stems)
    };
    collections
        .iter()
        .map(|searched| Asked {
            searched,
            stems: stems_in(searched.collection.language),
            salt: TermSalt::new(searched.collection.index.as_bytes()),
        })
        .collect()
}
