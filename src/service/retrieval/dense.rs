//! The dense half: passages whose vectors are near that of the query.

use std::sync::Arc;

use futures::future::try_join_all;
use tokio::time::Instant;

use super::{Coverage, Hit, ListTrace, RetrievalQuery, Retriever, VectorScan, coverage};
use crate::{
    domain::{budget::Budget, identity::ChunkKey},
    providers::Embedder,
    service::ServiceError,
    store::{Care, DenseHit, DenseQuery, LexicalHit, ProfileId, Scope, SearchedCollection, Selection},
};

/// Chunks found by their words whose vectors are compared with those that a walk brought.
const MOST_COMPARED_BY_WORDS: usize = 20;

/// Places of the nearest vectors that a walk finds with a recall of .99 where vectors are spread (docs/performance.md).
const SURE_PLACES: usize = 10;

/// The direction of the sum of vectors: nearness to it is nearness to all of them, added up.
fn direction_of(vectors: Vec<Vec<f32>>) -> Vec<f32> {
    let mut vectors = vectors.into_iter();
    let Some(mut sum) = vectors.next() else { return Vec::new() };
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(total, value)| *total += value);
        let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            for value in &mut sum {
                *value /= length;
            }
        }
    }
    sum
}

/// Whether one of the chunks that a walk did not find is among the nearest of all that are known. Walks find
/// [`SURE_PLACES`] of them nearly always, those behind less surely.
fn has_missed(found: &[DenseHit], others: &[DenseHit]) -> bool {
    let least = found.get(SURE_PLACES - 1).or(found.last()).map_or(f32::MIN, |hit| hit.similarity);
    others.iter().any(|other| other.similarity > least)
}

/// Passages found by their vectors, best first.
pub(super) struct DenseResult {
    pub(super) hits: Vec<DenseHit>,
    /// Similarities of other chunks that were looked up.
    others: Vec<DenseHit>,
    /// The query's vector; empty when nothing has one.
    vector: Vec<f32>,
    /// How vectors were searched; `None` when there were none.
    pub(super) scan: Option<VectorScan>,
    pub(super) trace: ListTrace,
}

impl Retriever {
    /// Runs the dense half.
    pub(super) async fn dense(
        &self,
        query: &RetrievalQuery<'_>,
        selection: &Selection<'_>,
        scope: &Scope,
        budget: &Budget,
    ) -> Result<DenseResult, ServiceError> {
        let started = Instant::now();
        let (_, embedder) = self.space_of(query.collections)?;
        let Coverage { embedded, .. } = coverage(query.collections);
        // Without any vectors no model is needed.
        if embedded == 0 {
            let trace = ListTrace::since(started, 0);
            return Ok(DenseResult { hits: Vec::new(), others: Vec::new(), vector: Vec::new(), scan: None, trace });
        }
        let vectors = try_join_all(query.wordings().into_iter().map(async |wording| {
            let tokens = u32::try_from(wording.len() / 4).unwrap_or(u32::MAX);
            let allowance = budget.reserve_embedding(tokens)?;
            Ok::<_, ServiceError>(embedder.embed_query(wording, allowance).await?)
        }))
        .await?;
        let vector = direction_of(vectors);
        let limit = i64::try_from(self.depth(query)).unwrap_or(i64::MAX);
        let care = Care::Usual;
        let dense_query = DenseQuery { scope, collections: query.collections, vector: &vector, selection, limit, care };
        let (hits, scan) = self.store.search().dense_search(query.tenant, &dense_query).await?;
        let trace = ListTrace::since(started, hits.len());
        Ok(DenseResult { hits, others: Vec::new(), vector, scan: Some(scan), trace })
    }

    /// Searches again, thoroughly, if a walk through a graph has missed vectors: where many chunks resemble one another, a
    /// walk that begins among them may not get out. Chunks found by their words show it.
    pub(super) async fn search_again(
        &self,
        query: &RetrievalQuery<'_>,
        selection: &Selection<'_>,
        scope: &Scope,
        (mut dense, lexical): (DenseResult, &[LexicalHit]),
    ) -> Result<DenseResult, ServiceError> {
        if dense.scan != Some(VectorScan::Iterative) {
            return Ok(dense);
        }
        let started = Instant::now();
        let is_found = |key: &ChunkKey| dense.hits.iter().any(|hit| hit.key == *key);
        let others = lexical.iter().map(|hit| hit.key).filter(|key| !is_found(key));
        let others: Vec<ChunkKey> = others.take(MOST_COMPARED_BY_WORDS).collect();
        if others.is_empty() {
            return Ok(dense);
        }
        dense.others = self.store.search().similarities(query.tenant, scope, &others, &dense.vector).await?;
        if !has_missed(&dense.hits, &dense.others) {
            return Ok(dense);
        }
        let limit = i64::try_from(self.depth(query)).unwrap_or(i64::MAX);
        let (collections, vector) = (query.collections, dense.vector.as_slice());
        let dense_query = DenseQuery { scope, collections, vector, selection, limit, care: Care::Thorough };
        let (hits, scan) = self.store.search().dense_search(query.tenant, &dense_query).await?;
        let again = ListTrace::since(started, hits.len());
        let trace = ListTrace { duration_ms: dense.trace.duration_ms + again.duration_ms, ..again };
        Ok(DenseResult { hits, scan: Some(scan), trace, ..dense })
    }

    /// Looks up the similarity of results that only the lexical half found: in a large collection the vectors that are
    /// nearest to a short question are many and beside the point, so that a passage which is not among them may answer it.
    pub(super) async fn compare(
        &self,
        query: &RetrievalQuery<'_>,
        scope: &Scope,
        DenseResult { mut others, vector, .. }: DenseResult,
        hits: &mut [Hit],
    ) -> Result<(), ServiceError> {
        let without = hits.iter().filter(|hit| hit.dense.is_none()).flat_map(Hit::keys);
        let unknown: Vec<ChunkKey> = without.filter(|key| !others.iter().any(|other| other.key == *key)).collect();
        if !unknown.is_empty() && !vector.is_empty() {
            others.extend(self.store.search().similarities(query.tenant, scope, &unknown, &vector).await?);
        }
        for hit in hits.iter_mut().filter(|hit| hit.dense.is_none()) {
            let own = hit.keys().filter_map(|key| others.iter().find(|other| other.key == key));
            // The part of a merged passage that comes nearest stands for it.
            hit.dense = own.map(|found| f64::from(found.similarity)).reduce(f64::max);
        }
        Ok(())
    }

    /// The single vector space that these collections use.
    pub(super) fn space_of(
        &self,
        collections: &[SearchedCollection],
    ) -> Result<(ProfileId, &Arc<dyn Embedder>), ServiceError> {
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
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn hits(similarities: &[f32]) -> Vec<DenseHit> {
        let key = ChunkKey { document_id: Uuid::nil(), ordinal: 0 };
        similarities.iter().map(|similarity| DenseHit { key, similarity: *similarity }).collect()
    }

    #[test]
    fn a_walk_has_missed_what_belongs_among_the_first_ten() {
        let found: Vec<f32> = (0..50_u8).map(|place| 0.8 - f32::from(place) / 100.0).collect();
        for (others, expected) in [(&[0.9_f32][..], true), (&[0.1, 0.72], true), (&[0.7, 0.5], false), (&[], false)] {
            assert_eq!(has_missed(&hits(&found), &hits(others)), expected, "{others:?}");
        }
        assert!(has_missed(&hits(&[0.3, 0.2]), &hits(&[0.25])), "of fewer the last one counts");
        assert!(has_missed(&[], &hits(&[0.1])));
    }
}
