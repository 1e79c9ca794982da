//! Vectors for documents: those that are stored already, and new ones for the rest.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{batch::ClaimHandle, failure::is_transient, prepare::Prepared, process::Processor};
use crate::{
    domain::{
        budget::{Allowance, Budget, Embedding, Limits},
        fingerprint::Hash,
        identity::TenantId,
    },
    providers::Embedder,
    service::ServiceError,
    store::{Collection, ProfileId},
};

/// A document with its vectors, before BM25.
pub(super) struct Embedded {
    pub(super) prepared: Prepared,
    pub(super) vectors: Vec<Vec<f32>>,
    /// For each piece its vectors in the spaces beside the active one, where they could be made.
    pub(super) companions: Vec<Vec<Option<Vec<f32>>>>,
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
                Ok(vectors) => {
                    let companions = self.companion_vectors(handle, &group).await;
                    embedded.extend(vectors.attach(group, &companions));
                }
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

    /// Vectors for the pieces in each space beside the active one. A document is stored without what cannot be made
    /// there: it is searched in the active space, and no cut-over forgets what is missing.
    async fn companion_vectors(&self, handle: ClaimHandle, documents: &[Prepared]) -> Vec<HashMap<Hash, Vec<f32>>> {
        let mut spaces = Vec::new();
        for profile in self.companions.iter() {
            let pieces = documents.iter().flat_map(|document| &document.pieces);
            let texts = pieces.map(|piece| (piece.embedding_hash, piece.embedding_text.clone())).collect();
            let made = match self.embedders.of(*profile) {
                Some(embedder) => self.vectors_in(handle.tenant, (*profile, embedder), texts).await,
                None => Ok(InSpace::default()),
            };
            let made = made.unwrap_or_else(|error| {
                tracing::warn!(error = %error, job_id = %handle.job_id, "documents are stored without vectors of a model beside the active one");
                InSpace::default()
            });
            spaces.push(made.vectors);
        }
        spaces
    }

    /// Vectors of texts in a space: those that are stored already, and new ones for the rest. Left out is what the
    /// model cannot read whole.
    pub(super) async fn vectors_in(
        &self,
        tenant: TenantId,
        (profile, embedder): (ProfileId, &Arc<dyn Embedder>),
        texts: Vec<(Hash, String)>,
    ) -> Result<InSpace, ServiceError> {
        let mut wanted: HashMap<Hash, String> = texts.into_iter().collect();
        let hashes: Vec<Hash> = wanted.keys().copied().collect();
        let known = self.store.vectors_by_hash(tenant, profile, &hashes).await?;
        let known = known.into_iter().filter_map(|(hash, vector)| Some((Hash::try_from(hash).ok()?, vector)));
        let mut made = InSpace { vectors: known.collect(), new: HashSet::new() };
        let window = embedder.window();
        let most = window.tokens.saturating_sub(window.special_tokens);
        wanted.retain(|hash, text| !made.vectors.contains_key(hash) && embedder.count(text) <= most);
        if !wanted.is_empty() {
            let (hashes, texts): (Vec<Hash>, Vec<String>) = wanted.into_iter().unzip();
            let allowance = allowance(&texts)?;
            let new = embedder.embed_passages(texts, allowance).await?;
            made.new.extend(&hashes);
            made.vectors.extend(hashes.into_iter().zip(new));
        }
        Ok(made)
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
            let allowance = allowance(&texts)?;
            let new = self.embedder.embed_passages(texts, allowance).await?;
            vectors.by_hash.extend(hashes.into_iter().zip(new));
        }
        Ok(vectors)
    }
}

/// Vectors of one space by the hash of what they embed.
#[derive(Default)]
pub(super) struct InSpace {
    pub(super) vectors: HashMap<Hash, Vec<f32>>,
    /// Those that the model was asked for.
    pub(super) new: HashSet<Hash>,
}

fn allowance(texts: &[String]) -> Result<Allowance<Embedding>, ServiceError> {
    let tokens = texts.iter().map(String::len).sum::<usize>() / 4;
    Ok(Budget::new(Limits::ingest()).reserve_embedding(u32::try_from(tokens).unwrap_or(u32::MAX))?)
}

/// Vectors by the hash of what they embed, and how many were made for which document.
struct Vectors {
    by_hash: HashMap<Hash, Vec<f32>>,
    embedded_for: Vec<i32>,
}

impl Vectors {
    fn attach(self, documents: Vec<Prepared>, companions: &[HashMap<Hash, Vec<f32>>]) -> Vec<Embedded> {
        let Self { by_hash, embedded_for } = self;
        let vector = |hash: &Hash| by_hash.get(hash).cloned().unwrap_or_default();
        documents
            .into_iter()
            .zip(embedded_for)
            .map(|(prepared, embedding_calls)| Embedded {
                vectors: prepared.pieces.iter().map(|piece| vector(&piece.embedding_hash)).collect(),
                companions: prepared
                    .pieces
                    .iter()
                    .map(|piece| companions.iter().map(|space| space.get(&piece.embedding_hash).cloned()).collect())
                    .collect(),
                prepared,
                embedding_calls,
            })
            .collect()
    }
}
