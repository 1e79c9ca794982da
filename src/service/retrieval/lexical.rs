//! The lexical half: passages that contain the words of the query, weighted by BM25.

use std::collections::{BTreeSet, HashMap};

use tokio::time::Instant;

use super::{ListTrace, RetrievalQuery, Retriever, fuse::depth, judging_analyzer};
use crate::{
    domain::lexical::{
        analyzer::Analyzer,
        bm25::{QueryProfile, TermCounts, evidence_score},
        candidates::{candidate_budget, select_candidates},
        term_id::TermSalt,
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
    profiles: Vec<QueryProfile>,
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
        let (Statistics { lexical_query, profiles }, mut result) = self.statistics(query, selection, scope).await?;
        let limit = i32::try_from(depth(query.top_k)).unwrap_or(i32::MAX);
        result.hits = self.store.search().lexical_search(query.tenant, scope, &lexical_query, selection, limit).await?;
        let has_too_few = result.hits.len() < query.top_k && !query.filter.is_empty();
        if has_too_few && !selection.is_narrow() && !lexical_query.looks_at_all() {
            // The chunks with the rarer words do not pass the filter; those with the commoner ones may.
            result.hits =
                self.store.search().lexical_within(query.tenant, scope, &lexical_query, selection, limit).await?;
        }
        let best = result.hits.first().map_or(0.0, |hit| f64::from(hit.score));
        result.evidence = profiles.iter().map(|profile| evidence_score(best, profile)).fold(0.0, f64::max);
        result.trace = Some(ListTrace::since(started, result.hits.len()));
        Ok(result)
    }

    /// The query's terms with their weights in the collections.
    pub(super) async fn statistics(
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
        let frequencies = self.store.search().document_frequencies(query.tenant, &scope.indexes, &terms).await?;
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
            // Only candidates that pass the filter count.
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
