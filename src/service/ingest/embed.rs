//! Computes vectors for documents: reuses those that are already stored, and makes the others.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Instant,
};

use uuid::Uuid;

use super::{
    batch::{Batch, Target},
    document::Prepared,
    failure::is_transient,
    piece::TextToEmbed,
    pipeline::Processor,
};
use crate::{
    domain::{
        budget::{Budget, Limits},
        fingerprint::Hash,
        job::{Indexing, Stage},
    },
    providers::Embedder,
    service::ServiceError,
    store::{ItemKey, StoredVector},
};

/// Texts that the embedder is given at once: it has a copy of each.
const TEXTS_OF_A_CALL: usize = 4_096;

/// A document with its vectors, before BM25.
pub(super) struct Embedded {
    pub(super) prepared: Prepared,
    /// The vector of each piece; `None` if it is still to be made.
    pub(super) vectors: Vec<Option<StoredVector>>,
    pub(super) embedding_calls: i32,
}

/// Groups of documents that are processed together. A group that fails is divided by jobs, since nobody is to wait for
/// what others sent, and one that the model refuses permanently by documents, so that a document that cannot be embedded
/// fails alone.
pub(super) struct Groups<T>(Vec<Vec<T>>);

impl<T> Groups<T> {
    /// The groups, the last one first.
    pub(super) const fn of(groups: Vec<Vec<T>>) -> Self {
        Self(groups)
    }

    pub(super) fn next(&mut self) -> Option<Vec<T>> {
        self.0.pop()
    }

    /// Returns the group if it has failed; one that can be divided is queued again in parts.
    pub(super) fn failed(
        &mut self,
        group: Vec<T>,
        error: &ServiceError,
        item: impl Fn(&T) -> ItemKey,
    ) -> Option<Vec<T>> {
        let mut by_job: BTreeMap<Uuid, Vec<T>> = BTreeMap::new();
        for document in group {
            by_job.entry(item(&document).job).or_default().push(document);
        }
        if by_job.len() > 1 {
            self.0.extend(by_job.into_values());
            return None;
        }
        let group: Vec<T> = by_job.into_values().flatten().collect();
        if is_transient(error) || group.len() == 1 {
            return Some(group);
        }
        self.0.extend(group.into_iter().map(|document| vec![document]));
        None
    }
}

impl Processor {
    /// Assigns vectors to documents: all of them or, where documents are to be found lexically first, only those that
    /// are already stored.
    pub(super) async fn embed(
        &self,
        batch: &Batch<'_>,
        documents: Vec<Prepared>,
    ) -> Result<Vec<Embedded>, ServiceError> {
        let started = Instant::now();
        self.note_risk(batch, true).await?;
        let embedded = match batch.indexing {
            Indexing::Complete => self.embed_all(batch, documents).await?,
            Indexing::Progressive => {
                let by_hash = self.known_vectors(&batch.target(), &texts_of(&documents)).await?;
                attach(Vectors { by_hash, new: HashSet::new() }, documents)
            }
        };
        self.note_risk(batch, false).await?;
        let items = embedded.iter().map(|document| document.prepared.described.origin.item);
        batch.metrics.add(Stage::Embed, items, started);
        Ok(embedded)
    }

    async fn embed_all(&self, batch: &Batch<'_>, documents: Vec<Prepared>) -> Result<Vec<Embedded>, ServiceError> {
        let mut embedded = Vec::new();
        let mut groups = Groups::of(vec![documents]);
        while let Some(group) = groups.next() {
            match self.vectors_of(&batch.target(), &texts_of(&group)).await {
                Ok(vectors) => embedded.extend(attach(vectors, group)),
                Err(error) => {
                    let item = |document: &Prepared| document.described.origin.item;
                    let Some(failed) = groups.failed(group, &error, item) else { continue };
                    let items: Vec<ItemKey> = failed.iter().map(|document| document.described.origin.item).collect();
                    self.retry_or_fail(batch, &items, &(&error).into()).await?;
                }
            }
        }
        Ok(embedded)
    }

    /// Vectors of texts: those that are already stored, and new ones for the others.
    pub(super) async fn vectors_of(
        &self,
        target: &Target<'_>,
        texts: &[(Hash, TextToEmbed<'_>)],
    ) -> Result<Vectors, ServiceError> {
        let by_hash = self.known_vectors(target, texts).await?;
        let mut made = Vectors { by_hash, new: HashSet::new() };
        let wanted: Vec<&(Hash, TextToEmbed<'_>)> =
            texts.iter().filter(|(hash, _)| !made.by_hash.contains_key(hash) && made.new.insert(*hash)).collect();
        for part in wanted.chunks(TEXTS_OF_A_CALL) {
            let (hashes, wanted): (Vec<Hash>, Vec<String>) =
                part.iter().map(|(hash, text)| (*hash, text.compose())).unzip();
            let budget = Budget::new(Limits::ingest());
            let allowance = budget.reserve_embedding(estimated_tokens(&wanted))?;
            let new = self.embedder.embed_passages(wanted, allowance).await;
            target.metrics.add_embedding(budget.spent().embedding);
            made.by_hash.extend(hashes.into_iter().zip(new?.iter().map(|vector| StoredVector::of(vector))));
        }
        Ok(made)
    }

    /// Vectors of texts that are already stored, in any index of the same model, in documents that all may see who made the
    /// jobs: a vector that is there already tells that somebody has the same words.
    async fn known_vectors(
        &self,
        target: &Target<'_>,
        texts: &[(Hash, TextToEmbed<'_>)],
    ) -> Result<HashMap<Hash, StoredVector>, ServiceError> {
        let hashes: HashSet<Hash> = texts.iter().map(|(hash, _)| *hash).collect();
        let hashes: Vec<Hash> = hashes.into_iter().collect();
        let mut makers = target.makers.distinct().into_iter();
        let mut known = self.vectors_seen_by(target, &hashes, makers.next()).await?;
        for maker in makers {
            let theirs = self.vectors_seen_by(target, &hashes, Some(maker)).await?;
            known.retain(|hash, _| theirs.contains_key(hash));
        }
        Ok(known)
    }

    async fn vectors_seen_by(
        &self,
        target: &Target<'_>,
        hashes: &[Hash],
        maker: Option<&[i32]>,
    ) -> Result<HashMap<Hash, StoredVector>, ServiceError> {
        let profile = target.collection.profile_id;
        let known = self.store.documents().vectors_by_hash(target.tenant, profile, hashes, maker).await?;
        Ok(known.into_iter().filter_map(|(hash, vector)| Some((Hash::try_from(hash).ok()?, vector))).collect())
    }
}

/// Vectors by the hash of the text that they embed.
pub(super) struct Vectors {
    pub(super) by_hash: HashMap<Hash, StoredVector>,
    /// Number of those that were requested from the model.
    pub(super) new: HashSet<Hash>,
}

/// The texts that are embedded for all pieces.
pub(super) fn texts_of(documents: &[Prepared]) -> Vec<(Hash, TextToEmbed<'_>)> {
    let pieces =
        documents.iter().flat_map(|Prepared { pieces, text, .. }| pieces.iter().map(move |piece| (piece, text)));
    pieces.map(|(piece, text)| (piece.embedding_hash, piece.to_embed(text))).collect()
}

/// Removes texts that are too long for the model.
pub(super) fn readable<'t>(
    embedder: &dyn Embedder,
    mut texts: Vec<(Hash, TextToEmbed<'t>)>,
) -> Vec<(Hash, TextToEmbed<'t>)> {
    let window = embedder.window();
    let most = window.tokens.saturating_sub(window.special_tokens);
    texts.retain(|(_, text)| embedder.count(&text.compose()) <= most);
    texts
}

fn estimated_tokens(texts: &[String]) -> u32 {
    let tokens = texts.iter().map(String::len).sum::<usize>() / 4;
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// Assigns the vectors to the documents.
pub(super) fn attach(vectors: Vectors, documents: Vec<Prepared>) -> Vec<Embedded> {
    let Vectors { mut by_hash, mut new } = vectors;
    let mut uses: HashMap<Hash, usize> = HashMap::new();
    for piece in documents.iter().flat_map(|document| &document.pieces) {
        *uses.entry(piece.embedding_hash).or_default() += 1;
    }
    // A vector is copied only where several pieces have it.
    let mut vector = |hash: &Hash| {
        let left = uses.get_mut(hash)?;
        *left -= 1;
        if *left == 0 { by_hash.remove(hash) } else { by_hash.get(hash).cloned() }
    };
    let mut embedded = Vec::with_capacity(documents.len());
    for prepared in documents {
        let hashes = || prepared.pieces.iter().map(|piece| &piece.embedding_hash);
        embedded.push(Embedded {
            vectors: hashes().map(&mut vector).collect(),
            // A text in two documents is counted for the first.
            embedding_calls: i32::try_from(hashes().filter(|hash| new.remove(*hash)).count()).unwrap_or(i32::MAX),
            prepared,
        });
    }
    embedded
}
