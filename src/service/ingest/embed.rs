//! Vectors for documents: those that are stored already, and new ones for the rest.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{
    batch::Batch,
    failure::{Trouble, is_transient},
    prepare::Prepared,
    process::Processor,
};
use crate::{
    domain::{
        budget::{Budget, Limits},
        fingerprint::Hash,
        identity::TenantId,
    },
    providers::Embedder,
    service::ServiceError,
    store::ProfileId,
};

/// A document with its vectors, before BM25.
pub(super) struct Embedded {
    pub(super) prepared: Prepared,
    /// For each piece its vector in the active space; none when it is yet to be made.
    pub(super) vectors: Vec<Option<Vec<f32>>>,
    /// For each piece its vectors in the spaces beside the active one, where they could be made.
    pub(super) companions: Vec<Vec<Option<Vec<f32>>>>,
    pub(super) embedding_calls: i32,
    /// Whether vectors are to be made once it is stored.
    pub(super) awaits_vectors: bool,
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
        batch: &Batch<'_>,
        documents: Vec<Prepared>,
    ) -> (Vec<Embedded>, Vec<Failed>) {
        let (mut embedded, mut failed) = (Vec::new(), Vec::new());
        let mut groups = vec![documents];
        while let Some(group) = groups.pop() {
            match self.vectors_of(batch, &group).await {
                Ok(vectors) => {
                    let companions = self.vectors_beside(batch, &self.companions, &texts_of(&group)).await;
                    embedded.extend(attach(vectors, group, &companions));
                }
                Err(error) if !is_transient(&error) && group.len() > 1 => {
                    groups.extend(group.into_iter().map(|document| vec![document]));
                }
                Err(error) => {
                    let items = group.iter().map(|document| document.described.origin.item).collect();
                    failed.push(Failed { items, error });
                }
            }
        }
        (embedded, failed)
    }

    /// Vectors of texts in each of the spaces beside the active one. A document does without what cannot be made
    /// there: it is searched in the active space, and no cut-over forgets what is missing.
    pub(super) async fn vectors_beside(
        &self,
        batch: &Batch<'_>,
        companions: &[ProfileId],
        texts: &[(Hash, &str)],
    ) -> Vec<HashMap<Hash, Vec<f32>>> {
        let mut spaces = Vec::new();
        for profile in companions {
            let made = match self.embedders.of(*profile) {
                Some(embedder) => {
                    let texts = readable(embedder.as_ref(), texts.to_vec());
                    self.vectors_in(batch, (*profile, embedder), &texts).await
                }
                None => Ok(InSpace::default()),
            };
            let made = made.unwrap_or_else(|error| {
                let cause = Trouble::from(&error).failure.cause;
                tracing::warn!(cause, job_id = %batch.handle.job_id, "documents do without vectors of a model beside the active one");
                InSpace::default()
            });
            spaces.push(made.vectors);
        }
        spaces
    }

    /// Vectors of texts in a space: those that are stored already, and new ones for the rest.
    pub(super) async fn vectors_in(
        &self,
        batch: &Batch<'_>,
        (profile, embedder): (ProfileId, &Arc<dyn Embedder>),
        texts: &[(Hash, &str)],
    ) -> Result<InSpace, ServiceError> {
        let vectors = self.known_vectors(batch.handle.tenant, profile, texts).await?;
        let mut made = InSpace { vectors, new: HashSet::new() };
        let (hashes, wanted): (Vec<Hash>, Vec<String>) = texts
            .iter()
            .filter(|(hash, _)| !made.vectors.contains_key(hash) && made.new.insert(*hash))
            .map(|(hash, text)| (*hash, (*text).to_owned()))
            .unzip();
        if !wanted.is_empty() {
            let budget = Budget::new(Limits::ingest());
            let allowance = budget.reserve_embedding(estimated_tokens(&wanted))?;
            let new = embedder.embed_passages(wanted, allowance).await;
            batch.meter.add_embedding(budget.spent().embedding);
            made.vectors.extend(hashes.into_iter().zip(new?));
        }
        Ok(made)
    }

    /// Vectors of texts that are stored in a space.
    pub(super) async fn known_vectors(
        &self,
        tenant: TenantId,
        profile: ProfileId,
        texts: &[(Hash, &str)],
    ) -> Result<HashMap<Hash, Vec<f32>>, ServiceError> {
        let hashes: HashSet<Hash> = texts.iter().map(|(hash, _)| *hash).collect();
        let hashes: Vec<Hash> = hashes.into_iter().collect();
        let known = self.store.vectors_by_hash(tenant, profile, &hashes).await?;
        Ok(known.into_iter().filter_map(|(hash, vector)| Some((Hash::try_from(hash).ok()?, vector))).collect())
    }

    /// Vectors for all pieces in the active space.
    async fn vectors_of(&self, batch: &Batch<'_>, documents: &[Prepared]) -> Result<InSpace, ServiceError> {
        let space = (batch.collection.profile_id, &self.embedder);
        self.vectors_in(batch, space, &texts_of(documents)).await
    }
}

/// What is embedded for all pieces.
pub(super) fn texts_of(documents: &[Prepared]) -> Vec<(Hash, &str)> {
    let pieces = documents.iter().flat_map(|document| &document.pieces);
    pieces.map(|piece| (piece.embedding_hash, piece.embedding_text.as_str())).collect()
}

/// Without those that the model cannot read whole.
pub(super) fn readable<'t>(embedder: &dyn Embedder, mut texts: Vec<(Hash, &'t str)>) -> Vec<(Hash, &'t str)> {
    let window = embedder.window();
    let most = window.tokens.saturating_sub(window.special_tokens);
    texts.retain(|(_, text)| embedder.count(text) <= most);
    texts
}

/// Vectors of one space by the hash of what they embed.
#[derive(Default)]
pub(super) struct InSpace {
    pub(super) vectors: HashMap<Hash, Vec<f32>>,
    /// Those that the model was asked for.
    pub(super) new: HashSet<Hash>,
}

fn estimated_tokens(texts: &[String]) -> u32 {
    let tokens = texts.iter().map(String::len).sum::<usize>() / 4;
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// Gives documents their vectors.
pub(super) fn attach(made: InSpace, documents: Vec<Prepared>, companions: &[HashMap<Hash, Vec<f32>>]) -> Vec<Embedded> {
    let InSpace { vectors, mut new } = made;
    let mut embedded = Vec::with_capacity(documents.len());
    for prepared in documents {
        let hashes = || prepared.pieces.iter().map(|piece| &piece.embedding_hash);
        embedded.push(Embedded {
            vectors: hashes().map(|hash| vectors.get(hash).cloned()).collect(),
            awaits_vectors: !hashes().all(|hash| vectors.contains_key(hash)),
            companions: hashes()
                .map(|hash| companions.iter().map(|space| space.get(hash).cloned()).collect())
                .collect(),
            // A text in two documents was embedded for the first.
            embedding_calls: i32::try_from(hashes().filter(|hash| new.remove(*hash)).count()).unwrap_or(i32::MAX),
            prepared,
        });
    }
    embedded
}
