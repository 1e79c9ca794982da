//! Documents that are found by their words first: stored with the vectors that are known, which is often none, and
//! given the others when nothing else waits.

use serde_json::Value;

use super::{
    Payload,
    batch::{Batch, ClaimHandle},
    embed::{Embedded, InSpace, attach, texts_of},
    prepare::Prepared,
    process::Processor,
    reembed::Target,
};
use crate::{
    service::ServiceError,
    store::{ClaimedItem, Collection, Half},
};

/// What an item says whose document is stored and awaits vectors.
pub(super) fn second_half() -> Value {
    serde_json::to_value(Payload::V4 {}).expect("a payload of plain values is JSON")
}

impl Processor {
    /// Gives documents the vectors that are stored already. No model is asked.
    pub(super) async fn attach_known(
        &self,
        handle: ClaimHandle,
        collection: &Collection,
        documents: Vec<Prepared>,
    ) -> Result<Vec<Embedded>, ServiceError> {
        let texts = texts_of(&documents);
        let vectors = self.known_vectors(handle.tenant, collection.profile_id, &texts).await?;
        let mut companions = Vec::with_capacity(self.companions.len());
        for profile in self.companions.iter() {
            companions.push(self.known_vectors(handle.tenant, *profile, &texts).await?);
        }
        let mut embedded = attach(InSpace { vectors, ..InSpace::default() }, documents, &companions);
        for document in &mut embedded {
            document.awaits_vectors |= document.companions.iter().flatten().any(Option::is_none);
        }
        Ok(embedded)
    }

    /// Makes the vectors of stored documents, in all spaces of their collection.
    pub(super) async fn make_vectors(&self, batch: &Batch<'_>, items: &[ClaimedItem]) -> Result<(), ServiceError> {
        let space = (batch.collection.profile_id, &self.embedder);
        let target = Target { space, besides: &self.companions, half: Half::Vectors };
        let documents = self.read_stored(batch, &target, items).await?;
        self.fill_apart(batch, &target, documents).await
    }
}
