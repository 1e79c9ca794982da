//! Vectors for documents: those that are stored already, and new ones for the rest.

use std::collections::{HashMap, HashSet};

use super::{
    failure::is_transient,
    prepare::Prepared,
    process::{ClaimHandle, Processor},
};
use crate::{
    domain::{
        budget::{Budget, Limits},
        fingerprint::Hash,
    },
    service::ServiceError,
    store::Collection,
};

/// A document with its vectors, before BM25.
pub(super) struct Embedded {
    pub(super) prepared: Prepared,
    pub(super) vectors: Vec<Vec<f32>>,
    pub(super) embedding_calls: i32,
}

/// Documents that could not be embedded.
pub(super) struct Failed {
    pub(super) items: Vec<i32>,
    pub(super) error: ServiceError,
}

impl Processor {
    /// Embeds all documents together, or, if a model refuses them for good, one by one: a document that
    /// cannot be embedded fails alone.
    pub(super) async fn embed_apart(
        &self,
        handle: ClaimHandle,
        collection: &Collection,
        documents: Vec<Prepared>,
    ) -> (Vec<Embedded>, Vec<Failed>) {
        let (mut embedded, mut failed) = (Vec::new(), Vec::new());
        let mut groups = vec![documents];
        while let Some(group) = groups.pop() {
            match self.vectors_of(handle, collection, &group).await {
                Ok(vectors) => embedded.extend(vectors.attach(group)),
                Err(error) if !is_transient(&error) && group.len() > 1 => {
                    groups.extend(group.into_iter().map(|document| vec![document]));
                }
                Err(error) => {
                    let items = group.iter().map(|document| document.described.item).collect();
                    failed.push(Failed { items, error });
                }
            }
        }
        (embedded, failed)
    }

    /// Vectors for all pieces: those that are stored already, and new ones for the rest.
    async fn vectors_of(
        &self,
        handle: ClaimHandle,
        collection: &Collection,
        documents: &[Prepared],
    ) -> Result<Vectors, ServiceError> {
        let mut hashes: Vec<Hash> =
            documents.iter().flat_map(|document| document.pieces.iter().map(|piece| piece.embedding_hash)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let known = self.store.vectors_by_hash(handle.tenant, collection.profile_id, &hashes).await?;
        let mut vectors = Vectors {
            by_hash: known
                .into_iter()
                .filter_map(|(hash, vector)| Some((Hash::try_from(hash).ok()?, vector)))
                .collect(),
            embedded_for: vec![0; documents.len()],
        };
        let mut wanted: Vec<(Hash, String)> = Vec::new();
        let mut seen = HashSet::new();
        for (document, calls) in documents.iter().zip(&mut vectors.embedded_for) {
            for piece in &document.pieces {
                if !vectors.by_hash.contains_key(&piece.embedding_hash) && seen.insert(piece.embedding_hash) {
                    wanted.push((piece.embedding_hash, piece.embedding_text.clone()));
                    *calls += 1;
                }
            }
        }
        if !wanted.is_empty() {
            let (hashes, texts): (Vec<Hash>, Vec<String>) = wanted.into_iter().unzip();
            let tokens = texts.iter().map(String::len).sum::<usize>() / 4;
            let allowance =
                Budget::new(Limits::ingest()).reserve_embedding(u32::try_from(tokens).unwrap_or(u32::MAX))?;
            let new = self.embedder.embed_passages(texts, allowance).await?;
            vectors.by_hash.extend(hashes.into_iter().zip(new));
        }
        Ok(vectors)
    }
}

/// Vectors by the hash of what they embed, and how many were made for which document.
struct Vectors {
    by_hash: HashMap<Hash, Vec<f32>>,
    embedded_for: Vec<i32>,
}

impl Vectors {
    fn attach(self, documents: Vec<Prepared>) -> Vec<Embedded> {
        let Self { by_hash, embedded_for } = self;
        let vector = |hash: &Hash| by_hash.get(hash).cloned().unwrap_or_default();
        documents
            .into_iter()
            .zip(embedded_for)
            .map(|(prepared, embedding_calls)| Embedded {
                vectors: prepared.pieces.iter().map(|piece| vector(&piece.embedding_hash)).collect(),
                prepared,
                embedding_calls,
            })
            .collect()
    }
}
