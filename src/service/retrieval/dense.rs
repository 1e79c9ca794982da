//! The dense half: passages whose vectors are near that of the query.

use std::sync::Arc;

use futures::future::try_join_all;
use tokio::time::Instant;

use super::{Coverage, ListTrace, RetrievalQuery, Retriever, VectorScan, coverage};
use crate::{
    domain::budget::Budget,
    providers::Embedder,
    service::ServiceError,
    store::{DenseHit, DenseQuery, ProfileId, Scope, SearchedCollection, Selection},
};

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

/// Passages found by their vectors, best first.
pub(super) struct DenseResult {
    pub(super) hits: Vec<DenseHit>,
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
            return Ok(DenseResult { hits: Vec::new(), scan: None, trace: ListTrace::since(started, 0) });
        }
        let vectors = try_join_all(query.wordings().into_iter().map(async |wording| {
            let tokens = u32::try_from(wording.len() / 4).unwrap_or(u32::MAX);
            let allowance = budget.reserve_embedding(tokens)?;
            Ok::<_, ServiceError>(embedder.embed_query(wording, allowance).await?)
        }))
        .await?;
        let vector = direction_of(vectors);
        let limit = i64::try_from(self.depth(query)).unwrap_or(i64::MAX);
        let dense_query = DenseQuery { scope, collections: query.collections, vector: &vector, selection, limit };
        let (hits, scan) = self.store.search().dense_search(query.tenant, &dense_query).await?;
        let trace = ListTrace::since(started, hits.len());
        Ok(DenseResult { hits, scan: Some(scan), trace })
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
